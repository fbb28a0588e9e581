//! The lines that an extract quotes of tool results.

use super::super::CompactOptions;
use super::super::facts::line;
use super::super::sources::content_tokens;
use super::super::state::CompactionState;
use super::case::Case;
use super::choices::Choices;
use super::outcomes::exchange;
use crate::filter::summarize::SummaryStyle;
use crate::model::session::Session;
use crate::model::view::View;
use crate::tokens::{Counter, Tokenizer};
use std::collections::HashSet;

#[test]
fn a_result_is_a_line_with_its_outcome() {
    let many = r"a line of it\n".repeat(120);
    let edits = r#"{"file_path":"/w/src/x.rs","old_string":"a","new_string":"b"}"#;
    for (name, arguments, result, tool, expected) in [
        (
            "Read",
            r#"{"file_path":"/w/src/x.rs"}"#,
            &*many,
            None,
            "Read src/x.rs (120 lines)",
        ),
        ("Read", r#"{"file_path":"/x.rs"}"#, "", None, "Read /x.rs"),
        ("Edit", edits, &many, None, "Edited src/x.rs"),
        (
            "Edit",
            edits,
            r"Exit code 1\nthe text\nString not found in file",
            None,
            "Edited src/x.rs => 1: String not found in file",
        ),
        ("write_file", r#"{"path":"a"}"#, "ok", None, "Added a"),
        (
            "bash",
            r#"{"command":"cargo test"}"#,
            r"Process exited with code 101\nOutput:\nerror[E0308]: mismatched types\nmore",
            None,
            "$ cargo test => 101: error[E0308]: mismatched types",
        ),
        (
            "bash",
            r#"{"command":"cargo test"}"#,
            r"running\ntest result: ok. 3 passed",
            None,
            "$ cargo test: test result: ok. 3 passed",
        ),
        (
            "bash", r#"{"command":"cat a b"}"#, &many, None, "$ cat a b (120 lines)",
        ),
        (
            "bash", r#"{"command":"git push"}"#, "Done.", None, "$ git push: Done.",
        ),
        (
            "bash",
            r#"{"command":"cat <<E > a\nb\nE"}"#,
            "",
            None,
            "$ cat <<E > a b E",
        ),
        (
            "update_plan", r#"{"plan":[{"step":"go"}]}"#, "ok", None, "Plan (1 step)",
        ),
        (
            "grep",
            r#"{"pattern":"retry","path":"src","-n":true,"glob":null}"#,
            &many,
            Some("grep"),
            "retry, src (120 lines)",
        ),
        (
            "weather",
            r#"{"city":"Oslo"}"#,
            "12 degrees",
            Some("weather"),
            "Oslo: 12 degrees",
        ),
        ("weather", "{}", "12 degrees", Some("weather"), "12 degrees"),
        (
            "weather",
            "{}",
            "[convo: tool output elided: weather, 9 bytes, 3 tokens, sha256 x, id y]",
            Some("weather"),
            "",
        ),
    ] {
        let mut session = Session::default();
        session.push_new(br#"{"type":"session","version":1,"id":"s","metadata":{"cwd":"/w"}}"#);
        session.push_new(br#"{"role":"user","content":"Go."}"#);
        // The argument text is JSON in JSON.
        let arguments = arguments.replace('\\', r"\\");
        exchange(1, name, &arguments, result)
            .iter()
            .for_each(|line| session.push_new(line.as_bytes()));
        let view = View::replay(&session);
        let counter = Counter::new(Tokenizer::named("chars4").unwrap(), None);
        let work = CompactionState::new(&session, &view, counter, &HashSet::new());
        let line = line::of(&work, view.items.len() - 1, Some("/w"));
        assert_eq!((line.tool.as_deref(), &*line.text), (tool, expected));
    }
}

#[test]
fn an_extract_quotes_no_line_of_a_search() {
    let mut session = Session::default();
    for nth in 0..30 {
        let found =
            format!(r"src/file_{nth}.rs:3: let yesterday = {nth};\nsrc/other_{nth}.rs:9: Anna met {nth};\n")
                .repeat(8);
        let question = format!(r#"{{"role":"user","content":"Where is value {nth} of the garden set?"}}"#);
        let reply = format!(r#"{{"role":"assistant","content":"Value {nth} is set in two files."}}"#);
        session.push_new(question.as_bytes());
        exchange(nth, "grep", &format!(r#"{{"pattern":"value_{nth}"}}"#), &found)
            .iter()
            .for_each(|line| session.push_new(line.as_bytes()));
        session.push_new(reply.as_bytes());
    }
    for handoff in [true, false] {
        let choices = Choices {
            options: CompactOptions {
                style: SummaryStyle {
                    handoff,
                    ..SummaryStyle::default()
                },
                ..CompactOptions::default()
            },
            budget: Some(1500),
            trigger: None,
            pins: Vec::new(),
            tokenizer: "chars4",
        };
        let (_, done) = Case::compacted(session.clone(), &choices);
        let summary = done.summary();
        assert!(
            !summary.contains("Anna met") && !summary.contains("yesterday"),
            "{summary}"
        );
        for line in summary.lines().filter(|line| line.starts_with("tool ")) {
            assert!(
                line.starts_with("tool grep: value_") && line.ends_with(" (16 lines)"),
                "{summary}"
            );
        }
    }
}

#[test]
fn the_tokens_of_a_content_are_those_of_its_text() {
    let text = r#"Zoë said: \"no\"\n\n\tlet x = 1;"#;
    let known = [
        format!(r#"{{"role":"user","content":"{text}"}}"#),
        format!(r#"{{"role":"assistant","name":"Zoë","content":"{text}"}}"#),
        format!(r#"{{"role":"tool","tool_call_id":"call_1","content":"{text}"}}"#),
    ];
    let call = r#"{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}"#;
    let unknown = [
        format!(r#"{{"role":"assistant","content":"{text}","tool_calls":[{call}]}}"#),
        format!(r#"{{"role":"user","content":"{text}","tokens":3}}"#),
        format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#),
    ];
    let mut session = Session::default();
    let lines = known.iter().chain(&unknown);
    lines.for_each(|line| session.push_new(line.as_bytes()));
    let view = View::replay(&session);
    for tokenizer in Tokenizer::all().filter(|tokenizer| tokenizer.is_exact()) {
        let work = CompactionState::new(&session, &view, Counter::new(tokenizer, None), &HashSet::new());
        let found = |at: usize| content_tokens(&work, at, &work.message(at).unwrap());
        let tokens = Some(tokenizer.count(&work.message(0).unwrap().text()));
        assert_eq!([0, 1, 2].map(found), [tokens; 3], "{}", tokenizer.name());
        assert_eq!([3, 4, 5].map(found), [None; 3], "{}", tokenizer.name());
    }
}
