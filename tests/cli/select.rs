//! Tests `--last`, `--role`, `--tool` and the other filters of `show`, `cat` and `context`.

use crate::env::Env;
use convo::format::Format;

fn roles(run: &crate::env::Run) -> String {
    let text = String::from_utf8(run.stdout.clone()).unwrap();
    let role = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["role"].as_str().unwrap_or("-").to_string()
    };
    text.lines().map(role).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_selected_role_separates_no_call_from_its_result() {
    let env = Env::with_chat();
    for command in ["cat", "context"] {
        let run = |arguments: &[&str]| roles(&env.run(&[&[command, "trip"], arguments].concat()).fine());
        assert_eq!(run(&["-r", "user"]), "- user user", "{command}");
        assert_eq!(run(&["--role", "tool"]), "- assistant tool", "{command}");
        assert_eq!(
            run(&["--role", "assistant"]),
            "- assistant tool assistant assistant"
        );
        assert_eq!(run(&["-r", "user", "-r", "system"]), "- system user user");
        assert_eq!(run(&["--category", "system"]), "- system");
        assert_eq!(run(&["--category", "system_output"]), "- assistant tool");
        assert_eq!(run(&["--category", "dialog", "--role", "user"]), "- user user");
    }
}

#[test]
fn exchanges_tools_texts_and_ids() {
    let env = Env::with_chat();
    for command in ["cat", "context"] {
        let run = |arguments: &[&str]| roles(&env.run(&[&[command, "trip"], arguments].concat()).fine());
        assert_eq!(run(&["-n", "1"]), "- user assistant", "{command}");
        assert_eq!(run(&["--last", "1", "-r", "user"]), "- user");
        assert_eq!(run(&["--first", "1"]), "- system user assistant tool assistant");
        assert_eq!(run(&["--tool", "weather"]), "- assistant tool");
        assert_eq!(run(&["--grep", "PARIS", "-r", "user"]), "- user");
        // The result of a call is always printed with the call.
        assert_eq!(run(&["--grep", "22 c, SUNNY"]), "- assistant tool");
        assert_eq!(
            run(&["--last", "99"]),
            "- system user assistant tool assistant user assistant"
        );
    }
    let shown = env.run(&["show", "trip", "-n", "1"]).fine();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.contains("And tomorrow?") && !shown.contains("Weather"),
        "{shown}"
    );
    for command in ["show", "cat", "context"] {
        let run = env.run(&[command, "trip", "--tool", "nosuch"]).status(1);
        assert!(run.stderr.contains("; tools: weather (1)"), "{run}");
        env.run(&[command, "trip", "--message", "msg_nosuch"]).status(1);
        env.run(&[command, "trip", "--grep", "no such text"]).status(1);
        env.run(&[command, "trip", "--grep", ""]).status(2);
        env.run(&[command, "trip", "--last", "0"]).status(2);
        env.run(&[command, "trip", "--last", "1", "--first", "1"])
            .status(2);
    }
}

#[test]
fn the_messages_in_another_format() {
    let env = Env::with_chat();
    let body = env
        .run(&["context", "trip", "-r", "user", "--to", "openai-chat"])
        .fine();
    let text = String::from_utf8(body.stdout).unwrap();
    assert!(
        text.contains("Weather in Paris?") && text.contains("And tomorrow?"),
        "{text}"
    );
    assert!(!text.contains("terse") && !text.contains("Rain."), "{text}");
    let exported = env
        .run(&["cat", "trip", "-r", "tool", "--to", "openai-chat"])
        .status(0);
    assert!(!exported.stderr.contains("event"), "{exported}");
    let text = String::from_utf8(exported.stdout).unwrap();
    assert!(
        text.contains("22 C, sunny") && text.contains("\"tool_calls\""),
        "{text}"
    );
    assert!(!text.contains("Rain."), "{text}");
    // A document converted back to its own format does not keep its bytes.
    env.write(
        "body.json",
        r#"{"messages":[{"role":"system","content":"terse"},{"role":"user","content":"hi"}]}"#,
    );
    let run = env
        .run(&["cat", "body.json", "--category", "system", "--to", "openai-chat"])
        .status(0);
    assert!(!String::from_utf8(run.stdout).unwrap().contains("\"user\""));
}

#[test]
fn hidden_messages_are_shown_only_with_all() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    assert_eq!(roles(&env.run(&["cat", "trip", "-r", "user"]).fine()), "- user");
    let shown = String::from_utf8(env.run(&["show", "trip", "-r", "user"]).fine().stdout).unwrap();
    assert!(
        shown.contains("And tomorrow?") && !shown.contains("Weather"),
        "{shown}"
    );
    assert!(!shown.contains("terse") && !shown.contains("Rain."), "{shown}");
    let all = env.run(&["show", "trip", "--all", "--role", "tool"]).fine();
    let all = String::from_utf8(all.stdout).unwrap();
    assert!(
        all.contains("22 C, sunny") && all.contains("weather city: Paris"),
        "{all}"
    );
    assert!(all.contains("tool weather"), "{all}");
    // Nothing matches in the view, so the status is 1.
    let run = env.run(&["cat", "trip", "-r", "tool"]).status(1);
    assert!(run.stdout.is_empty(), "{run}");
}

#[test]
fn without_a_match_the_existing_names_are_listed() {
    let env = Env::with_chat();
    for command in ["show", "cat", "context"] {
        let run = env.run(&[command, "trip", "--role", "developer"]).status(1);
        assert!(run.stdout.is_empty(), "{run}");
        assert!(run.stderr.contains("convo: trip: no message matches"), "{run}");
        assert!(
            run.stderr
                .contains("roles in view: assistant (3), system (1), tool (1), user (2)"),
            "{run}"
        );
        assert!(
            run.stderr
                .contains("categories: dialog (5), system (1), system_output (1)"),
            "{run}"
        );
        env.run(&[command, "trip", "--category", "nonsense"]).status(2);
        env.run(&[command, "trip", "--role", ""]).status(2);
    }
}

/// In the format of the file, the selected messages are written, and no other line of it.
#[test]
fn a_selection_is_written_in_the_format_of_its_file() {
    let env = Env::with_chat();
    let is_tested = |format: &Format| format.is_read() && format.is_written();
    for format in Format::ALL.into_iter().filter(is_tested).map(Format::name) {
        let whole = env.run(&["cat", "trip", "--to", format]).stdout;
        // Penguin's files are named after the session.
        let path = format!("{format}/trip.json");
        env.write(&path, &whole);
        let run = env.run(&[
            "cat",
            &format!("./{path}"),
            "--from",
            format,
            "--to",
            format,
            "--grep",
            "tomorrow?",
        ]);
        let text = String::from_utf8(run.status(0).stdout).unwrap();
        assert!(text.contains("And tomorrow?"), "{format}: {text}");
        assert!(!text.contains("Weather"), "{format}: {text}");
    }
}
