//! Tests that a document written in its own format keeps its bytes unless something of it changes.

use crate::env::Env;

/// A request with white space, members, a number and escapes that re-encoding would change.
const REQUEST: &str = "{ \"model\": \"m\",\n  \"messages\": [\n    {\"content\": \"h\\u0069\", \"role\":\"user\", \"x\": 1E5},\n    {\"role\":\"assistant\", \"content\":\"hello\"}\n  ]\n}\n\n";

/// An array without a final newline.
const TURNS: &str = "[ {\"role\":\"user\",\"content\":\"a\\/b\"},\n{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"c\"}]}]";

/// Two requests, one per line, with blank lines.
const REQUESTS: &str = "{\"messages\":[ {\"role\":\"user\",\"content\":\"1\"},{\"role\":\"assistant\",\"content\":\"2\"},{\"role\":\"user\",\"content\":\"3\"}]}\n\n{\"messages\" : [{\"role\":\"user\",\"content\":\"4\"}]}\n";

/// Commands that change nothing in these.
const IDLE: [&[&str]; 4] = [
    &["cat"],
    &["truncate", "-q", "--keep-last", "9"],
    &["compact", "-q", "--budget", "9000"],
    &["check", "-q", "--fix", "--for", "openai-chat"],
];

#[test]
fn an_unchanged_value_keeps_its_bytes() {
    let env = Env::new();
    for (format, value) in [
        ("openai-chat", REQUEST),
        ("openai-chat", TURNS),
        ("anthropic", TURNS),
    ] {
        for command in IDLE {
            let arguments = [command, &["--from", format, "--to", format]].concat();
            env.pipe(&arguments, value).fine().gives(value);
        }
    }
}

#[test]
fn a_file_changed_in_place_keeps_unchanged_bytes() {
    let env = Env::new();
    env.write("a.json", REQUEST);
    for command in &IDLE[1..] {
        env.run(&[*command, &["-i", "a.json"]].concat()).fine();
        assert_eq!(env.read("a.json"), REQUEST, "{command:?}");
    }
    env.run(&[
        "truncate", "-q", "--keep-last", "9", "--to", "openai-chat", "-o", "b.json", "a.json",
    ])
    .fine();
    assert_eq!(env.read("b.json"), REQUEST);
}

#[test]
fn changed_and_converted_values_are_encoded_again() {
    let env = Env::new();
    let run = env.pipe(&["truncate", "-q", "--all", "--to", "openai-chat"], REQUEST);
    assert!(!run.out().contains("h\\u0069"), "{run}");
    let run = env.pipe(&["cat", "--from", "openai-chat", "--to", "anthropic"], REQUEST);
    assert_ne!(run.out(), REQUEST, "{run}");
    let run = env.pipe(
        &["context", "--from", "openai-chat", "--to", "openai-chat"],
        REQUEST,
    );
    assert_ne!(run.out(), REQUEST, "what a model would be sent: {run}");
}

/// A file of several sessions is one value until one of them changes; then the format cannot hold them all.
#[test]
fn several_sessions_in_one_value_keep_their_bytes() {
    let env = Env::new();
    for command in IDLE {
        env.pipe(&[command, &["--to", "openai-chat"]].concat(), REQUESTS)
            .fine()
            .gives(REQUESTS);
    }
    env.write("many.jsonl", REQUESTS);
    env.run(&["truncate", "-q", "--keep-last", "1", "-i", "many.jsonl"])
        .fine();
    let cut = "{\"messages\":[ {\"role\":\"user\",\"content\":\"3\"}]}\n\n{\"messages\" : [{\"role\":\"user\",\"content\":\"4\"}]}\n";
    assert_eq!(env.read("many.jsonl"), cut);
    env.write("a.json", REQUEST);
    for inputs in [
        ["many.jsonl", "a.json"],
        ["a.json", "many.jsonl"],
        ["a.json", "a.json"],
    ] {
        env.run(&["cat", "--to", "openai-chat", inputs[0], inputs[1]])
            .status(2)
            .says("only one session per file");
        // The output file is written completely or not at all.
        env.run(&[
            "cat", "--to", "openai-chat", "-o", "out.json", inputs[0], inputs[1],
        ])
        .status(2);
        assert!(!env.work().join("out.json").exists());
    }
}

/// Damage is reported and preserved; unchanged content is not repaired.
#[test]
fn damage_is_reported_and_printed_unchanged() {
    let env = Env::new();
    let odd = "[{\"role\":\"user\",\"content\":\"a\"}, 7, {\"role\":\"assistant\",\"content\":NaN}]";
    let arguments = ["cat", "--from", "openai-chat", "--to", "openai-chat"];
    env.pipe(&arguments, odd)
        .status(65)
        .says("not a message")
        .gives(odd);
    env.pipe(&[&arguments[..], &["--strict"]].concat(), odd)
        .status(65)
        .gives("");
}
