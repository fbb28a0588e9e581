//! `convo key`.

use crate::env::Env;
use serde_json::{Value, json};

const DIRECT: &str = "sk_v1_ce6b402a6d2d9cb751361dabe30ec8c11eeb284304e7d4c726d3fa10aa996b7f";

#[test]
fn options_define_the_key() {
    let env = Env::new();
    let message = [
        "key", "--channel", "Telegram", "--chat", "-100123", "--chat-type", "group",
    ];
    let key = |more: &[&str]| env.run(&[&message, more].concat()).fine().out().to_string();
    assert_eq!(key(&[]), "scope1.channel-telegram.chat-group__-100123\n");
    assert_eq!(
        key(&["--topic", "42"]),
        "scope1.channel-telegram.chat-group__-100123.topic-42\n"
    );
    assert_eq!(
        key(&["--sender", "U1", "--dimension", "sender,chat"]),
        "scope1.channel-telegram.sender-U1.chat-group__-100123\n"
    );
    assert_eq!(
        key(&["--sender", "U1", "--dm-scope", "per-peer"]),
        "scope1.channel-telegram.sender-U1\n"
    );
    assert_eq!(
        key(&["--dm-scope", "global", "--agent", "Ops"]),
        "scope1.agent-Ops.channel-telegram\n"
    );
    env.run(&["key", "--tenant", "acme", "--user", "ann", "--session", "7"])
        .fine()
        .gives("scope1.tenant-acme.user-ann.session-7\n");
    env.run(&["key", "--main"]).fine().gives("scope1.main-session\n");
    // The formats of peers.
    let direct = "--channel telegram --account default --chat dm-123 --chat-type direct --sender User123 --dimension sender";
    let direct = env.shell(&format!("convo key --form picoclaw {direct}")).fine();
    assert_eq!(direct.out().trim_end(), DIRECT);
    env.run(&["key", "--form", "picoclaw", "--main"])
        .fine()
        .gives("sk_v1_6d9217fe77c7f11d9cc992aabe81a2d09604e9c48babbda8fdad3791f9c19f3b\n");
    env.run(&[
        "key", "--form", "penguiflow", "--tenant", "t", "--user", "u", "--session", "s",
    ])
    .fine()
    .gives("t:u:s\n");
}

#[test]
fn many_requests_are_answered_line_by_line() {
    let env = Env::new();
    let questions = concat!(
        r#"{"channel":"telegram","chat_id":"1"}"#,
        "\n",
        r#"{"channel":"telegram","chat_id":2,"session_key":"agent:main:x"}"#,
        "\n",
        "\n{bad\n",
        r#"{"channel":"telegram","chat_id":"1","dimensions":["Chat"]}"#,
        "\n",
        r#"{"tenant_id":"t","user_id":"u","session_id":0}"#,
        "\n",
        r#"{"scope":{"agent_id":"main","channel":"x","account":"default","dimensions":["chat"],"values":{"chat":"direct:C"}}}"#,
    );
    let run = env.pipe(&["key"], questions).status(65);
    assert_eq!(
        run.out(),
        "scope1.channel-telegram.chat-direct__1\nagent:main:x\n\n\nscope1.tenant-t.user-u.session-0\n\
         scope1.channel-x.chat-direct__C\n"
    );
    snapshot!("key_lines", run);
    env.pipe(&["key", "--strict"], questions)
        .status(65)
        .gives("scope1.channel-telegram.chat-direct__1\nagent:main:x\n");
    let objects = env.pipe(&["key", "--json"], questions).status(65).objects();
    assert_eq!(objects.len(), 6);
    assert_eq!(
        (&objects[2]["key"], objects[1]["key"].as_str()),
        (&Value::Null, Some("agent:main:x"))
    );
    // A document on several lines, and options, which override its members.
    let document = "{\n  \"channel\": \"slack\",\n  \"chat_id\": \"C1\"\n}\n";
    env.pipe(&["key"], document)
        .fine()
        .gives("scope1.channel-slack.chat-direct__C1\n");
    env.pipe(
        &["key", "-", "--chat-type", "channel", "--account", "A"],
        document,
    )
    .fine()
    .gives("scope1.account-A.channel-slack.chat-channel__C1\n");
    // Repeated errors are summarized.
    let run = env.pipe(&["key"], "[]\n".repeat(100)).status(65);
    assert_eq!((run.stderr.lines().count(), run.out().len()), (11, 100), "{run}");
}

#[test]
fn printed_keys_give_the_same_key_again() {
    let env = Env::new();
    for form in ["convo", "picoclaw"] {
        let question = r#"{"channel":"Slack","account":"Team A","chat_id":"C001","chat_type":"channel","topic_id":"7","dimensions":["chat","topic"]}"#;
        let answer = env.pipe(&["key", "--json", "--form", form], question).fine();
        let key = answer.objects()[0]["key"].as_str().unwrap().to_string();
        env.pipe(&["key", "--form", form], answer.out())
            .fine()
            .gives(format!("{key}\n"));
        let scope = answer.objects()[0]["scope"].to_string();
        env.pipe(&["key", "--form", form], &scope)
            .fine()
            .gives(format!("{key}\n"));
        if form == "convo" {
            let parsed = env.run(&["key", "--parse", &key]).fine().objects();
            assert_eq!(parsed[0], answer.objects()[0]["scope"]);
        }
    }
    let owner = env
        .run(&["key", "--tenant", "a:b", "--user", "c", "--session", "d"])
        .fine();
    let parsed = env.run(&["key", "--parse", owner.out().trim_end()]).fine();
    assert_eq!(
        parsed.objects()[0],
        json!({"tenant": "a:b", "user": "c", "session": "d"})
    );
    env.pipe(&["key"], parsed.out()).fine().gives(owner.out());
    env.run(&["key", "--parse", "agent:main:x"])
        .fine()
        .gives("{\"agent_id\":\"main\",\"rest\":\"x\"}\n");
    snapshot!("key_parse_hash", env.run(&["key", "--parse", DIRECT]).status(1));
}

#[test]
fn a_tool_context_without_an_owner_gives_no_key() {
    let env = Env::new();
    env.write(
        "tool.json",
        "{\n  \"auth\": {\"tenant\": {\"id\": \" T9 \"}, \"user\": 7},\n  \"session_id\": \"S9\"\n}",
    );
    let paths = [
        "key", "--context", "tool.json", "--tenant-path", "auth.tenant.id", "--user-path", "auth.user",
    ];
    env.run(&paths)
        .fine()
        .gives("scope1.tenant-T9.user-7.session-S9\n");
    env.run(&[&paths[..], &["--form", "penguiflow"]].concat())
        .fine()
        .gives("T9:7:S9\n");
    // Options override values from the input; defaults apply last.
    env.run(&[&paths[..], &["--tenant", "pinned", "--default-user", "x"]].concat())
        .fine()
        .gives("scope1.tenant-pinned.user-7.session-S9\n");
    let contexts = concat!(
        r#"{"tenant_id":"t","user_id":"u"}"#,
        "\n",
        r#"{"tenant_id":"t","user_id":"u","session_id":" "}"#,
        "\n",
        r#"{"tenant_id":"t","user_id":"u","session_id":"s"}"#,
        "\n",
    );
    env.pipe(&["key", "--context", "-", "--require-explicit"], contexts)
        .status(1)
        .gives("\n\nscope1.tenant-t.user-u.session-s\n");
    env.pipe(&["key", "--context", "-"], contexts)
        .status(2)
        .says("no session given");
    env.pipe(&["key", "--context", "-", "--session", "x"], contexts)
        .fine()
        .gives("scope1.tenant-t.user-u.session-x\n".repeat(3));
    let mut reported = String::new();
    for context in [
        r#"{"session_id":"s"}"#,
        r#"{"session_id":"s","tenant_id":" ","user_id":"u"}"#,
        r#"{"session_id":false,"tenant_id":"t","user_id":"u"}"#,
        r#"{"session_id":["a"],"tenant_id":"t","user_id":"u"}"#,
    ] {
        reported += &env
            .pipe(&["key", "--context", "-", "--strict"], context)
            .status(2)
            .gives("")
            .to_string();
    }
    snapshot!("key_context_refused", reported);
    env.pipe(
        &[
            "key", "--context", "-", "--default-tenant", "d", "--default-user", "a", "--form", "penguiflow",
        ],
        r#"{"session_id":"s"}"#,
    )
    .fine()
    .gives("d:a:s\n");
}

#[test]
fn identity_links_merge_several_ids() {
    let env = Env::new();
    env.write(
        "people.json",
        r#"{"identity_links":{"alice":["telegram:123"],"Zoe":["U1"],"bob":["u1"]}}"#,
    );
    env.write("people.toml", "[identity_links]\nalice = [\"telegram:123\"]\n");
    env.write("flat.toml", "alice = [\"telegram:123\"]\n");
    for file in ["people.json", "people.toml", "flat.toml"] {
        env.run(&[
            "key", "--channel", "telegram", "--sender", "123", "--dm-scope", "per-peer", "--identity-links",
            file,
        ])
        .fine()
        .gives("scope1.channel-telegram.person-alice\n");
    }
    let both = [
        "key", "--channel", "slack", "--dm-scope", "per-peer", "--identity-links", "people.json",
    ];
    let run = env
        .pipe(
            &[&both[..], &["-"]].concat(),
            "{\"sender_id\":\"U1\"}\n".repeat(3),
        )
        .status(0);
    snapshot!("key_two_names", run);
    env.write("bad.json", "[1]");
    env.write("bad.toml", "alice = 1");
    for file in ["bad.json", "bad.toml"] {
        env.run(&["key", "--channel", "x", "--identity-links", file])
            .status(78);
    }
    env.run(&["key", "--channel", "x", "--identity-links", "none.json"])
        .status(66);
}

#[test]
fn possible_key_collisions_are_reported() {
    let env = Env::new();
    let questions = concat!(
        r#"{"agent_id":"Équipe","channel":"irc","account":"ÀÉ","chat_id":"X|sender=u1","chat_type":"a:b","topic_id":"t"}"#,
        "\n",
        r#"{"channel":"sms","sender_id":"slack:555","dimensions":["sender"],"identity_links":{"dave":["555"]}}"#,
        "\n",
        r#"{"channel":"cli","sender_id":"","dimensions":["sender"]}"#,
        "\n",
    );
    snapshot!(
        "key_explain",
        env.pipe(&["key", "--form", "picoclaw", "--explain"], questions)
            .status(0)
    );
    snapshot!(
        "key_explain_own",
        env.pipe(&["key", "--explain"], questions).status(0)
    );
    let long = "x".repeat(200);
    let run = env
        .run(&["key", "--channel", "x", "--chat", &long, "--explain", "--json"])
        .fine();
    let answer = &run.objects()[0];
    assert!(answer["key"].as_str().unwrap().starts_with("scope1.sha256-"));
    assert!(answer["notes"].to_string().contains("hash"), "{answer}");
    snapshot!(
        "key_owner_explain",
        env.run(&[
            "key", "--tenant", "a:b", "--user", "c", "--session", "d", "--explain", "--json"
        ])
        .fine()
    );
}

#[test]
fn errors() {
    let env = Env::new();
    let runs: [&[&str]; 9] = [
        &["key", "--channel", "x", "--dimension", "Chat"],
        &["key", "--channel", "x", "--tenant", "t"],
        &["key", "--tenant", "t", "--user", "u"],
        &["key", "--session", "s"],
        &[
            "key", "--form", "penguiflow", "--tenant", "kv", "--user", "v1", "--session", "s",
        ],
        &["key", "--form", "penguiflow", "--channel", "x"],
        &[
            "key", "--form", "picoclaw", "--tenant", "t", "--user", "u", "--session", "s",
        ],
        &["key", "none.json"],
        &["key", "--parse", "x"],
    ];
    let all: Vec<String> = runs.iter().map(|run| env.run(run).to_string()).collect();
    snapshot!("key_errors", all.join("\n"));
    env.pipe(&["key"], "").fine().gives("");
    env.pipe(
        &["key", "--account", "x"],
        r#"{"agent_id":"a","channel":"c","dimensions":null,"values":null}"#,
    )
    .status(2)
    .says("options of a conversation conflict with a given scope");
    env.pipe(
        &["key", "--form", "penguiflow"],
        "{\"tenant\":\"a\\nb\",\"user\":\"u\",\"session\":\"s\"}",
    )
    .status(2)
    .says("control character");
    assert!(!env.store().exists());
}

#[test]
fn answers_are_printed_as_requests_arrive() {
    use std::io::{BufRead, BufReader, Write};
    let env = Env::new();
    let mut command = env.command(&["key"]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut questions, mut answers) = (
        child.stdin.take().unwrap(),
        BufReader::new(child.stdout.take().unwrap()),
    );
    for nth in 0..3 {
        writeln!(questions, "{{\"channel\":\"cli\",\"chat_id\":{nth}}}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, format!("scope1.channel-cli.chat-direct__{nth}\n"));
    }
    drop(questions);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_missing_part_of_a_key_is_reported() {
    let env = Env::new();
    for channel in [&["--chat", "1"][..], &["--chat", "1", "--channel", " "]] {
        env.run(&[&["key"], channel].concat())
            .status(0)
            .gives("scope1.channel-unknown.chat-direct__1\n")
            .says("no channel given: messages without channel share 'unknown'");
    }
    env.run(&["key", "--channel", "telegram"])
        .status(0)
        .gives("scope1.channel-telegram\n")
        .says("no dimension applies: all sessions of this agent, channel and account share the key");
    env.run(&["key", "--channel", "telegram", "--chat", "1"]).fine();
}

fn configured(text: &str) -> Env {
    let env = Env::new();
    let dir = env.root().join("config/convo");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), text).unwrap();
    env
}

const MESSAGE: [&str; 7] = ["key", "--channel", "telegram", "--chat", "7", "--sender", "Ann"];

#[test]
fn dimensions_of_the_configuration_are_the_default() {
    let plain = |arguments: &[&str]| {
        let run = Env::new().run(&[&MESSAGE[..], arguments].concat()).fine();
        run.out().to_string()
    };
    let by = |config: &str, arguments: &[&str]| {
        let run = configured(config).run(&[&MESSAGE[..], arguments].concat()).fine();
        run.out().to_string()
    };
    let both = plain(&["--dimension", "chat,sender"]);
    let dimensions = "[key]\ndimensions = [\"chat\", \"sender\"]\n";
    assert_ne!(both, plain(&[]));
    assert_eq!(by(dimensions, &[]), both);
    assert_eq!(by("[key]\ndm-scope = \"per-channel-peer\"\n", &[]), both);
    // As in PicoClaw: dm-scope applies if there are no dimensions.
    let two = "[key]\ndimensions = [\"chat\"]\ndm-scope = \"global\"\n";
    assert_eq!(by(two, &[]), plain(&[]));
    assert_eq!(
        by(dimensions, &["--dimension", "sender"]),
        plain(&["--dimension", "sender"])
    );
    assert_eq!(
        by(dimensions, &["--dm-scope", "global"]),
        plain(&["--dm-scope", "global"])
    );
    // An object's members override the configuration.
    let object = r#"{"channel":"telegram","chat_id":"7","sender_id":"Ann","dimensions":["sender"]}"#;
    let run = configured(dimensions).pipe(&["key"], object).fine();
    assert_eq!(run.out(), plain(&["--dimension", "sender"]));
    // `new --scope` creates the same key.
    let object = r#"{"channel":"telegram","chat_id":"7","sender_id":"Ann"}"#;
    let env = configured(dimensions);
    env.run(&["new", "--scope", object]).fine();
    env.run(&["append", both.trim(), "hi"]).fine();
}

#[test]
fn identity_links_of_the_configuration_are_a_table_or_a_file() {
    let env = Env::new();
    env.write("links.json", r#"{"dave":["telegram:ann"]}"#);
    let links = env.work().join("links.json");
    let linked = |env: &Env, more: &[&str]| {
        let run = env.run(&[&MESSAGE[..], &["--dimension", "sender"], more].concat());
        run.fine().out().to_string()
    };
    let by_option = linked(&env, &["--identity-links", links.to_str().unwrap()]);
    assert!(by_option.contains("dave"), "{by_option}");
    let table = "[key.identity-links]\ndave = [\"telegram:ann\", \"U7\"]\n";
    assert_eq!(linked(&configured(table), &[]), by_option);
    // A relative path is relative to the configuration file.
    let extra = configured("[key]\nidentity-links = \"links.toml\"\n");
    let dir = extra.root().join("config/convo");
    std::fs::write(dir.join("links.toml"), "dave = [\"telegram:ann\"]\n").unwrap();
    assert_eq!(linked(&extra, &[]), by_option);
}

#[test]
fn an_invalid_key_table_is_a_configuration_error() {
    for (config, says) in [
        (
            "[key]\ndimensions = [\"chats\"]\n",
            "dimensions in the configuration file",
        ),
        (
            "[key]\ndm-scope = \"per-moon\"\n",
            "dm-scope in the configuration file",
        ),
        ("[key]\nidentity-links = \"nowhere.json\"\n", "nowhere.json"),
        (
            "[key]\nidentity-links = 5\n",
            "config.toml: line 2, column 18: expected the path of a file",
        ),
        ("key = 5\n", "invalid type: integer `5`, expected a table"),
        ("hooks = 5\n", "invalid type: integer `5`, expected a table"),
        ("[key]\nforms = \"picoclaw\"\n", "forms"),
    ] {
        let run = configured(config).run(&MESSAGE).status(78);
        assert!(run.stderr.contains(says), "{run}");
    }
}
