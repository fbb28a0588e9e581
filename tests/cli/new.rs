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
fn everything_that_was_asked_for_is_in_the_log() {
    let env = Env::new();
    env.write("rules.md", "Be kind.\n");
    let asked = [
        "new",
        "--id",
        "chat",
        "--title",
        "A \"title\"",
        "--system",
        "@rules.md",
        "--meta",
        "n=1",
        "--meta",
        "t=x y",
        "--alias",
        "work",
        "--alias",
        "agent:main",
    ];
    env.run(&asked).fine().gives("chat\n");
    snapshot!("new_everything", env.run(&["cat", "agent:main"]).fine());
    env.run(&["alias", "list"])
        .fine()
        .gives("agent:main\tchat\nwork\tchat\n");
}

#[test]
fn as_a_filter_it_makes_nothing() {
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
fn a_name_that_is_taken_is_73_and_leaves_nothing() {
    let env = Env::new();
    env.run(&["new", "--id", "chat", "--alias", "work"]).fine();
    env.run(&["new", "--id", "chat"])
        .status(73)
        .says("convo: there is a session chat already\n");
    let before = env.files();
    env.run(&["new", "--id", "other", "--alias", "free", "--alias", "work"])
        .status(73)
        .says("convo: the name \"work\" is taken\n");
    env.run(&["new", "--id", "other", "--alias", "chat"]).status(73);
    assert_eq!(env.files(), before);
}

#[test]
fn a_system_file_that_is_not_there_is_66_and_makes_nothing() {
    let env = Env::new();
    env.run(&["new", "--id", "chat", "--system", "@rules.md"])
        .status(66)
        .says("cannot read rules.md");
    assert!(!env.store().exists());
}

#[test]
fn a_store_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::new();
    env.run(&["new", "--id", "chat", "--alias", "work"]).fine();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for folder in ["", "sessions", "aliases"] {
        assert_eq!(mode(&env.store().join(folder)), 0o700, "{folder:?}");
    }
    assert_eq!(mode(&env.log("chat")), 0o600);
    assert_eq!(mode(&env.store().join("aliases/work")), 0o600);
}

#[test]
fn wrong_usage_is_2() {
    let env = Env::new();
    env.run(&["new", "--meta", "novalue"])
        .status(2)
        .says("this must be KEY=VALUE");
    env.run(&["new", "--stdout", "--alias", "x"]).status(2);
    env.run(&["new", "operand"]).status(2);
    assert!(!env.store().exists());
}
