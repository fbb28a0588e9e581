//! `convo new`.

use crate::env::Env;

#[test]
fn prints_the_id_and_nothing_else() {
    let env = Env::new();
    let run = env.run(&["new"]).fine();
    assert_eq!(run.out(), "session_20261120_180203_20a85bdb7fd21742\n");
    env.run(&["new", "--id", "chat"]).fine().gives("chat\n");
    assert_eq!(
        std::fs::read_to_string(env.log("chat")).unwrap(),
        "{\"type\":\"session\",\"version\":1,\"id\":\"chat\",\"created_at\":\"2026-11-20T18:02:03Z\",\"_crc\":\"2259bc1f\"}\n"
    );
}

#[test]
fn every_option_is_in_the_log() {
    let env = Env::new();
    env.write("rules.md", "Be kind.\n");
    let requested = [
        "new", "--id", "chat", "--title", "A \"title\"", "--system", "@rules.md", "--meta", "n=1", "--meta",
        "t=x y", "--alias", "work", "--alias", "agent:main",
    ];
    env.run(&requested).fine().gives("chat\n");
    snapshot!("new_everything", env.run(&["cat", "agent:main"]).fine());
    env.run(&["alias", "list"])
        .fine()
        .gives("agent:main\tchat\nwork\tchat\n");
}

#[test]
fn as_a_filter_nothing_is_stored() {
    let env = Env::new();
    let run = env
        .run(&["new", "--id", "chat", "--system", "Hi.", "--stdout"])
        .fine();
    snapshot!("new_stdout", run);
    assert!(!env.store().exists());
    env.shell("convo new --id chat --stdout | convo append - 'hi' | convo context --to openai-chat")
        .status(0)
        .gives("[\n{\"role\":\"user\",\"content\":\"hi\"}\n]\n");
}

#[test]
fn a_session_can_be_held_in_a_shell_variable() {
    let env = Env::new();
    let line = r#"state=$(convo new --stdout)
for text in one two; do state=$(printf '%s\n' "$state" | convo append - "$text"); done
printf '%s\n' "$state" | convo truncate - --keep-last 1 | convo context --to openai-chat"#;
    env.shell(line)
        .status(0)
        .gives("[\n{\"role\":\"user\",\"content\":\"one\"},\n{\"role\":\"user\",\"content\":\"two\"}\n]\n");
    assert!(!env.store().exists());
}

#[test]
fn an_existing_name_is_73_and_nothing_is_created() {
    let env = Env::new();
    env.run(&["new", "--id", "chat", "--alias", "work"]).fine();
    env.run(&["new", "--id", "chat"])
        .status(73)
        .says("convo: chat: session already exists\n");
    let before = env.files();
    env.run(&["new", "--id", "other", "--alias", "free", "--alias", "work"])
        .status(73)
        .says("convo: work: name already used\n");
    env.run(&["new", "--id", "other", "--alias", "chat"]).status(73);
    assert_eq!(env.files(), before);
}

#[test]
fn a_missing_system_file_is_66_and_nothing_is_created() {
    let env = Env::new();
    env.run(&["new", "--id", "chat", "--system", "@rules.md"])
        .status(66)
        .says("cannot read rules.md");
    assert!(!env.store().exists());
}

#[test]
fn a_store_is_private_to_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::new();
    env.run(&["new", "--id", "chat", "--alias", "work"]).fine();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for dir in ["", "sessions", "aliases"] {
        assert_eq!(mode(&env.store().join(dir)), 0o700, "{dir:?}");
    }
    assert_eq!(mode(&env.log("chat")), 0o600);
    assert_eq!(mode(&env.store().join("aliases/work")), 0o600);
}

#[test]
fn a_usage_error_is_2() {
    let env = Env::new();
    env.run(&["new", "--meta", "novalue"])
        .status(2)
        .says("expected KEY=VALUE");
    env.run(&["new", "--stdout", "--alias", "x"]).status(2);
    env.run(&["new", "operand"]).status(2);
    assert!(!env.store().exists());
}

#[test]
fn a_key_is_accepted_as_a_name() {
    let env = Env::new();
    let key = "scope1.channel-telegram.chat-direct__123";
    env.run(&["new", "--key", key, "--system", "Hi."])
        .fine()
        .gives(format!("{key}\n"));
    snapshot!("new_key", env.run(&["cat", key]).fine());
    snapshot!("new_key_taken", env.run(&["new", "--key", key]).status(73));
    env.run(&["new", "--key", key, "--if-missing"])
        .fine()
        .gives(format!("{key}\n"));
    env.shell("convo append \"$(convo key --channel telegram --chat 123)\" -q hello && convo count --json \"$(convo key --channel telegram --chat 123)\" | grep -c '\"messages\":2'")
        .status(0)
        .gives("1\n");
    // Keys of other systems, which are not ids.
    env.run(&["new", "--key", "agent:main:main"])
        .fine()
        .gives("key_agent_3amain_3amain\n");
    env.run(&["new", "--key", "agent:main:main", "--if-missing"])
        .fine()
        .gives("key_agent_3amain_3amain\n");
    env.run(&["append", "-q", "agent:main:main", "x"]).fine();
    // With an explicit id the key is an additional name.
    env.run(&["new", "--key", "t:u:s", "--id", "chat"])
        .fine()
        .gives("chat\n");
    env.run(&["new", "--key", "t:u:s", "--if-missing"])
        .fine()
        .gives("chat\n");
    env.run(&["alias", "list", "chat"]).fine().gives("t:u:s\tchat\n");
    let refused = [
        env.run(&["new", "--key", "t:u:s"]).status(73),
        env.run(&["new", "--key", "t:u:s", "--id", "other", "--if-missing"])
            .status(73),
        env.run(&["new", "--if-missing"]).status(2),
        env.run(&["new", "--key", "a/b"]).status(2),
        env.run(&["new", "--key", " "]).status(2),
        env.run(&["new", "--key", "@last"]).status(77),
        env.run(&["new", "--scope", "{}"]).status(2),
        env.run(&["new", "--scope", "@none.json"]).status(66),
    ];
    snapshot!("new_key_refused", refused.map(|run| run.to_string()).join("\n"));
    let ids = env.run(&["list"]).fine().out().lines().count();
    assert_eq!(ids, 3);
}

#[test]
fn a_scope_creates_its_aliases() {
    let env = Env::new();
    let question = "--channel slack --chat D1 --chat-type direct --sender U1 --dm-scope per-peer";
    let make = format!("convo key --form picoclaw --json {question} | convo new --scope @- --if-missing");
    let built = env.shell(&make).fine();
    let id = built.out().trim_end().to_string();
    assert!(id.starts_with("sk_v1_"));
    snapshot!("new_scope", env.run(&["cat", &id]).fine());
    snapshot!("new_scope_aliases", env.run(&["alias", "list"]).fine());
    env.shell(&make).fine().gives(built.out());
    // The name of the main session is shared, so it resolves to none.
    env.run(&["alias", "resolve", "agent:main:main"]).status(66);
    // An ambiguous name resolves to neither session.
    let other = make.replace("slack", "sms").replace("D1", "D2");
    snapshot!("new_scope_shared", env.shell(&other).status(0));
    env.shell(&other).fine();
    env.run(&["alias", "resolve", "agent:main:direct:u1"]).status(73);
    env.run(&["append", "agent:main:direct:u1", "for whom?"])
        .status(73)
        .says("claimed by 2 sessions");
    env.run(&["alias", "add", "-q", "--move", "agent:main:direct:u1", &id])
        .fine();
    env.run(&["alias", "resolve", "agent:main:direct:u1"])
        .fine()
        .gives(built.out());
    // The native form finds PicoClaw's name, and a scope alone suffices.
    let own = env
        .shell(&format!("convo key --json {}", question.replace("D1", "D3")))
        .fine();
    let own = own.objects()[0].clone();
    let run = env.run(&["new", "-q", "--scope", &own.to_string()]).fine();
    assert_eq!(run.out().trim_end(), "scope1.channel-slack.sender-U1");
    let bare = env
        .run(&["new", "--stdout", "--scope", &own["scope"].to_string()])
        .fine();
    assert_eq!(bare.objects()[0]["key"], own["key"]);
    assert_eq!(bare.objects()[0]["scope"], own["scope"]);
}

#[test]
fn concurrent_creations_of_one_session_create_one() {
    let env = Env::new();
    let key = "scope1.channel-cli.chat-direct__1";
    let names = r#"{"key":"scope1.channel-cli.chat-direct__1","scope":{"agent_id":"main"},"aliases":["a:1","a:2"],"shared":[]}"#;
    let mut children = Vec::new();
    for _ in 0..12 {
        let mut command = env.command(&["new", "--scope", names, "--if-missing"]);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        children.push(command.spawn().unwrap());
    }
    for child in children {
        let run = env.ended(child);
        assert_eq!((run.status, run.out()), (0, format!("{key}\n").as_str()), "{run}");
    }
    env.run(&["list"]).status(0);
    assert_eq!(env.run(&["cat", key]).fine().out().lines().count(), 1);
    env.run(&["alias", "list"])
        .fine()
        .gives(format!("a:1\t{key}\na:2\t{key}\n"));
}
