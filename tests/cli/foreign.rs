//! Tests files of known but unsupported programs, and files with the envelope of a format but other content: they are
//! rejected or reported as damage, never read as empty messages.

mod hollow;
mod known;

use crate::env::Env;
use crate::sample_data;
use hollow::HOLLOW;
use known::KNOWN;
use serde_json::{Value, json};

#[test]
fn unsupported_formats_are_refused_by_name() {
    let env = Env::new();
    for (name, text) in KNOWN {
        let problem = format!("unsupported format '{name}'");
        env.pipe(&["detect"], text)
            .status(65)
            .says(&problem)
            .says("hint: ")
            .gives(format!("{name}\n"));
        for command in ["count", "cat", "show"] {
            env.pipe(&[command], text).status(65).says(&problem).gives("");
        }
        let run = env.pipe(&["detect", "--json"], text).status(65);
        let found: Value = serde_json::from_str(run.out()).unwrap();
        assert_eq!(found["confidence"], "unread", "{name}");
        assert_eq!(found["read"], false, "{name}");
    }
}

/// A damaged compressed rollout: the error names its kind and where to look.
#[test]
fn damaged_zstd_data_is_named() {
    let env = Env::new();
    let path = env.write("a.jsonl.zst", b"\x28\xb5\x2f\xfd\x00\x00");
    let path = path.to_str().unwrap();
    env.run(&["cat", path])
        .status(65)
        .says("damaged zstd data")
        .says("zstd -t");
}

#[test]
fn an_envelope_without_known_content_is_refused() {
    let env = Env::new();
    for (format, text) in HOLLOW {
        for command in ["count", "cat"] {
            env.pipe(&[command], text).status(65);
        }
        let run = env.pipe(&["detect", "--json"], text);
        let found: Value = serde_json::from_str(run.out()).unwrap();
        assert!(
            found["confidence"] != "certain" || *format == "openai-responses",
            "{format}: {run}"
        );
        env.pipe(&["cat", "--from", format], text).status(65);
    }
}

#[test]
fn messages_of_aichat_that_are_not_a_list_are_refused() {
    let yaml = "model: a:b\nmessages:\n  greeting: hello\n";
    Env::new()
        .pipe(&["cat", "--from", "aichat"], yaml)
        .status(65)
        .says("messages");
}

/// OpenClaw and other programs built on pi omit the working directory.
#[test]
fn a_header_of_pi_without_a_directory_is_pi() {
    let env = Env::new();
    let text = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z"}
{"type":"message","id":"1","message":{"role":"user","content":[{"type":"text","text":"Dig."}]}}
"#;
    env.pipe(&["detect"], text).fine().gives("pi\n");
    let out = env.pipe(&["cat"], text).status(0).out().to_string();
    assert!(out.contains("Dig."), "{out}");
    // A pi file may name a harness too.
    let named = text.replace("\"version\":3", "\"version\":3,\"harness\":\"h\"");
    env.pipe(&["detect"], named).fine().gives("pi\n");
}

/// The roles of a service log are not those of a conversation.
#[test]
fn roles_outside_of_conversations_are_refused() {
    let env = Env::new();
    let log =
        "{\"role\":\"replica\",\"content\":\"text/html\"}\n{\"role\":\"primary\",\"content\":\"text/css\"}\n";
    env.pipe(&["detect"], log).status(65);
    env.pipe(&["cat"], log).status(65).gives("");
    let list = r#"{"messages":[{"role":"replica","content":"a"}]}"#;
    env.pipe(&["cat"], list).status(65).gives("");
    // One valid role suffices.
    let mixed = format!("{log}{{\"role\":\"user\",\"content\":\"a\"}}\n");
    env.pipe(&["cat"], mixed).status(0);
    let narrated = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"narrator\",\"content\":\"b\"}\n";
    env.pipe(&["cat"], narrated).status(0);
}

/// A preference pair is not part of the conversation; each of its members is reported once per file.
#[test]
fn preferences_in_training_sets_are_reported_once() {
    let env = Env::new();
    let record = r#"{"conversations":[{"from":"human","value":"a"}],"chosen":{"from":"gpt","value":"b"},"rejected":{"from":"gpt","value":"c"}}"#;
    let run = env.pipe(&["cat"], format!("{record}\n{record}\n")).status(0);
    for name in ["'chosen'", "'rejected'"] {
        assert_eq!(run.stderr.matches(name).count(), 1, "{run}");
    }
}

/// Version 4 may have different texts in `content` and in its parts: the parts are converted, and the rest is
/// reported.
#[test]
fn a_vercel_content_that_differs_from_its_parts_is_a_loss() {
    let env = Env::new();
    let message = |content: &str| {
        json!([{"id": "1", "role": "user", "content": content, "parts": [{"type": "text", "text": "said"}]}])
            .to_string()
    };
    let convert = ["cat", "--from", "vercel-ui", "--to", "openai-chat"];
    let run = env.pipe(&convert, message("another")).says("part");
    assert!(run.out().contains("said"), "{run}");
    let same = env.pipe(&convert, message("said"));
    assert!(!same.stderr.contains("part"), "{same}");
    let back = env.pipe(
        &["cat", "--from", "vercel-ui", "--to", "vercel-ui-v4"],
        message("another"),
    );
    assert!(back.out().contains("another"), "{back}");
}

/// Every file of the collection ends with 65 or is read as an allowed format.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn files_of_the_collection_are_not_read_as_something_else() {
    let dir = sample_data::path("foreign");
    let env = Env::new();
    let expected = std::fs::read(dir.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    let files = expected["files"].as_object().unwrap();
    for (name, rule) in files {
        let path = dir.join(name);
        let path = path.to_str().unwrap();
        let found = env.run(&["detect", "--json", path]);
        let verdict: Value = serde_json::from_str(found.out()).unwrap();
        let format = verdict["format"].as_str();
        let allowed = rule["allowed"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one.as_str() == format));
        if allowed {
            continue;
        }
        assert_eq!(found.status, 65, "{found}");
        assert_ne!(verdict["confidence"], "certain", "{found}");
        for command in ["count", "cat"] {
            env.run(&[command, path]).status(65);
        }
        if let Some(program) = rule["by_name"].as_str() {
            assert!(found.stderr.contains(program), "{found}");
        }
    }
    eprintln!("{} foreign files", files.len());
}
