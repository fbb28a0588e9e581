//! Tests context messages: they begin no exchange, are dropped with the newest exchange, and are sent with the next
//! request.

use crate::env::{BARE, Env, OPENAI};

/// Two exchanges of some length, one line each.
fn talk() -> String {
    let message = |role: &str, text: &str| {
        format!(
            "{{\"role\":{role:?},\"content\":\"{text} {}\"}}\n",
            "and so on ".repeat(30)
        )
    };
    ["user", "assistant", "user", "assistant"]
        .iter()
        .enumerate()
        .map(|(nth, role)| message(role, &format!("turn {nth}")))
        .collect()
}

const STATE: &str = r#"{"version":1,"provider":"openai","processed_length":2,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}"#;
const TURNS: &str = r#"{"system":"Be terse.","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"hello"}]}]}"#;
const CONTENTS: &str =
    r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"hello"}]}]}"#;
const ITEMS: &str = r#"{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}]}"#;

/// Commands that shorten a session as far as possible and keep the newest exchange.
const SMALLER: [&[&str]; 7] = [
    &["truncate", "-q", "--keep-last", "1"],
    &["truncate", "-q", "--keep-messages", "1"],
    &["compact", "-q", "--keep-last", "1"],
    &["compact", "-q", "--budget", "20", "--best-effort"],
    &[
        "compact", "-q", "--budget", "20", "--best-effort", "--drop-order", "context,dialog,system_output",
    ],
    &[
        "compact", "-q", "--compat", "goaitools", "--message-limit", "1", "--best-effort",
    ],
    &[
        "summarize", "-q", "--with", "extract", "--keep-last", "1", "--summary-budget", "40",
    ],
];

#[test]
fn an_event_is_written_in_every_format_and_can_be_dropped() {
    let env = Env::new();
    for (format, session) in [
        ("native", BARE),
        ("jsonl", BARE),
        ("openai-chat", OPENAI),
        ("openai-responses", ITEMS),
        ("anthropic", TURNS),
        ("gemini", CONTENTS),
        ("goaitools", STATE),
    ] {
        let both = ["--from", format, "--to", format];
        let run = env.pipe(
            &[&["append", "-q", "--event", "a door opened"][..], &both].concat(),
            session,
        );
        let grown = run.status(0);
        assert!(grown.out().contains("a door opened"), "{format}: {grown}");
        for to in ["native", "openai-chat", "anthropic", "gemini"] {
            let sent = env
                .pipe(&["context", "-q", "--from", format, "--to", to], &grown.stdout)
                .status(0);
            assert!(sent.out().contains("a door opened"), "{format} for {to}: {sent}");
        }
        for command in SMALLER {
            let run = env.pipe(&[command, &both].concat(), &grown.stdout);
            assert!(run.out().contains("a door opened"), "{format} {command:?}: {run}");
        }
    }
}

/// Between the newest reply and the next one: messages that the model has not seen are kept.
#[test]
fn an_event_is_kept_until_the_model_has_seen_it() {
    let env = Env::new();
    let event = env
        .pipe(&["append", "-", "--event", "a door opened"], talk())
        .fine();
    let second = env
        .pipe(&["append", "-", "--event", "it rained"], event.out())
        .fine();
    let requested = env.pipe(&["append", "-", "What now?"], second.out()).fine();
    for (session, what) in [
        (&event, &["turn 2", "a door opened"][..]),
        (&second, &["turn 2", "a door opened", "it rained"]),
        (&requested, &["a door opened", "it rained", "What now?"]),
    ] {
        // A number of messages counts context messages too.
        for command in SMALLER
            .iter()
            .filter(|command| !command.contains(&"--keep-messages"))
        {
            let run = env.pipe(command, session.out());
            for text in what
                .iter()
                .filter(|text| command[2] == "--keep-last" || !text.starts_with("turn"))
            {
                assert!(run.out().contains(text), "{text}, {command:?}: {run}");
            }
            let shrunk =
                !run.out().contains(&"and so on ".repeat(30)) || run.out().len() < session.out().len();
            assert!(shrunk || command[0] == "summarize", "{command:?}: {run}");
        }
        let run = env
            .pipe(&["context", "-q", "--budget", "400"], session.out())
            .status(0);
        for text in what.iter().filter(|text| !text.starts_with("turn")) {
            assert!(run.out().contains(text), "{text}: {run}");
        }
    }
    // Once answered, they are dropped like other old messages.
    let answered = env
        .pipe(&["append", "-", "-r", "assistant", "Close it."], requested.out())
        .fine();
    let run = env
        .pipe(&["truncate", "-q", "--keep-last", "1"], answered.out())
        .fine();
    assert!(
        run.out().contains("What now?") && !run.out().contains("a door opened"),
        "{run}"
    );
}

/// The same in the store and in PicoClaw's files.
#[test]
fn an_event_is_kept_in_stores_and_pairs() {
    let env = Env::with_chat();
    env.run(&["append", "trip", "--event", "a door opened"]).fine();
    env.run(&["append", "trip", "What now?"]).fine();
    for command in [
        &["truncate", "-q", "trip", "--keep-last", "1"][..],
        &["compact", "-q", "trip", "--keep-last", "1"],
    ] {
        env.run(command).status(0);
        let view = env.run(&["context", "trip"]).fine();
        assert!(
            view.out().contains("a door opened") && view.out().contains("What now?"),
            "{command:?}: {view}"
        );
        env.run(&["restore", "-q", "trip"]).status(0);
    }
    env.write("p.jsonl", BARE);
    env.write("p.meta.json", r#"{"key":"p","summary":"","skip":0,"count":2,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}"#);
    env.run(&["append", "-q", "-i", "p.jsonl", "--event", "a door opened"])
        .fine();
    env.run(&["append", "-q", "-i", "p.jsonl", "What now?"]).fine();
    env.run(&["truncate", "-q", "-i", "p.jsonl", "--keep-last", "1"])
        .fine();
    let view = env.run(&["context", "-q", "p.jsonl"]).fine();
    assert!(view.out().contains("a door opened"), "{view}");
}
