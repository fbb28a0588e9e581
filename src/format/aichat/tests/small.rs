//! Tests with small files: summaries, calls, changes in place, damage.

use super::{returned, session, shown, with, written};
use crate::format::report::Loss;
use crate::model::json;
use crate::model::session::{Class, Session};

const PLAIN: &str = "model: openai:gpt-4o
temperature: 0.2
messages:
- role: system
  content: Be terse.
- role: user
  content: 'yes: \"no\"'
- role: assistant
  content: |-
    one

    two # no comment
- role: user
  content: more # a comment
data_urls:
  0a1b: ./x.png
";

const PACKED: &str = "model: m
compressed_messages:
- role: user
  content: a
- role: assistant
  content: b
messages:
- role: system
  content: |-
    Rules.

    Summary: they talked.
- role: user
  content: c
";

const TOOLS: &str = "model: m
messages:
- role: tool
  content:
    tool_results:
    - call:
        name: f
        arguments:
          k: 1.50
        id: c1
      output: done
    - call:
        name: g
        arguments: {}
        id: null
      output:
        x: 1
    text: let me see
    sequence: true
";

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(role, text)| (role.to_string(), text.to_string()))
        .collect()
}

#[test]
fn an_unchanged_file_keeps_its_bytes() {
    let (read, report) = session(PLAIN);
    assert!(report.findings.is_empty(), "{report:?}");
    assert_eq!(
        shown(&read),
        pairs(&[
            ("system", "Be terse."),
            ("user", "yes: \"no\""),
            ("assistant", "one\n\ntwo # no comment"),
            ("user", "more")
        ])
    );
    assert_eq!(read.header_text("title").as_deref(), Some("talk"));
    assert_eq!(returned(&read, false).unwrap(), PLAIN);
    assert_eq!(returned(&read, true).unwrap(), PLAIN);
    let indented = PLAIN
        .replace("\n- role", "\n  - role")
        .replace("\n  content", "\n    content")
        .replace("\n    one", "\n      one")
        .replace("\n    two", "\n      two");
    assert_eq!(returned(&session(&indented).0, true).unwrap(), indented);
    assert_eq!(shown(&session(&indented).0), shown(&read));
}

#[test]
fn only_changed_lines_change() {
    let (read, _) = session(PLAIN);
    let grown = with(
        &read,
        &[
            r#"{"role":"assistant","content":"no\nmore: of it"}"#,
            r#"{"role":"user","content":"no"}"#,
        ],
    );
    let added = "- role: assistant\n  content: |-\n    no\n    more: of it\n- role: user\n  content: \"no\"\ndata_urls";
    assert_eq!(returned(&grown, true).unwrap(), PLAIN.replace("data_urls", added));
    let cut = with(
        &read,
        &[r#"{"type":"truncate","id":"e","at":"2026-01-01T00:00:00Z","before":null,"keep_system":false}"#],
    );
    let text = returned(&cut, true).unwrap();
    assert_eq!(
        text,
        "model: openai:gpt-4o\ntemperature: 0.2\nmessages: []\ndata_urls:\n  0a1b: ./x.png\n"
    );
    assert!(shown(&session(&text).0).is_empty());
}

#[test]
fn a_summary_covers_the_compressed_messages() {
    let (read, _) = session(PACKED);
    assert_eq!(
        shown(&read),
        pairs(&[("summary", "Rules.\n\nSummary: they talked."), ("user", "c")])
    );
    assert_eq!(returned(&read, true).unwrap(), PACKED);
    assert_eq!(written(&read).0, PACKED);
    // After undoing the compaction, everything is live.
    let event = (0..read.len())
        .find(|index| read.class(*index) == Class::Event)
        .unwrap();
    let id = read
        .id(event)
        .or_else(|| json::member_string(read.record(event).body, "id"));
    let restored = with(
        &read,
        &[&format!(
            r#"{{"type":"restore","id":"r","at":"2026-01-01T00:00:00Z","of":"{}"}}"#,
            id.unwrap()
        )],
    );
    let text = returned(&restored, true).unwrap();
    assert_eq!(
        text,
        "model: m\nmessages:\n- role: user\n  content: a\n- role: assistant\n  content: b\n- role: user\n  content: c\n"
    );
    // A first message with another role is not a summary.
    let (odd, _) = session(&PACKED.replace("role: system", "role: user"));
    assert_eq!(shown(&odd).len(), 2);
    assert_eq!(shown(&odd)[0].0, "user");
}

#[test]
fn a_native_summary_becomes_an_aichat_summary() {
    let (read, _) = session(PLAIN);
    let ids: Vec<String> = read.derived_ids().map(|(_, id)| id).collect();
    let event = format!(
        r#"{{"type":"summary","id":"e","at":"2026-01-01T00:00:00Z","content":"They talked.","covers":["{}","{}"]}}"#,
        ids[1], ids[2]
    );
    let text = returned(&with(&read, &[&event]), true).unwrap();
    let (again, report) = session(&text);
    assert!(report.findings.is_empty(), "{text}");
    assert_eq!(
        shown(&again),
        pairs(&[("summary", "Be terse.\n\nThey talked."), ("user", "more")]),
        "{text}"
    );
    assert!(text.contains("compressed_messages:\n- role: system\n  content: Be terse.\n- role: user\n  content: 'yes: \"no\"'\n"), "{text}");
    assert!(text.contains("content: more # a comment\n"), "{text}");
}

#[test]
fn a_system_message_inserted_before_a_summary_is_written_once() {
    let (read, _) = session(PLAIN);
    let ids: Vec<String> = read.derived_ids().map(|(_, id)| id).collect();
    let event = format!(
        r#"{{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"s","drop":[["{}","{}"]],"insert":[{{"before":"{}","message":{{"role":"system","content":"Be kind."}}}}],"summary":{{"content":"They talked.","before":"{}"}}}}"#,
        ids[1], ids[2], ids[1], ids[3]
    );
    let text = returned(&with(&read, &[&event]), true).unwrap();
    assert_eq!(
        shown(&session(&text).0),
        pairs(&[
            ("summary", "Be terse.\n\nBe kind.\n\nThey talked."),
            ("user", "more")
        ])
    );
}

#[test]
fn calls_and_results_share_one_message() {
    let (read, report) = session(TOOLS);
    assert!(report.findings.is_empty(), "{report:?}");
    assert_eq!(
        shown(&read),
        pairs(&[
            ("assistant", "let me see"),
            ("tool", "done"),
            ("tool", "{\"x\":1}")
        ])
    );
    let call = crate::model::view::View::replay(&read);
    let calls = call
        .messages(&read)
        .next()
        .unwrap()
        .tool_calls()
        .iter()
        .map(|call| (call.id.to_string(), call.arguments.to_string()))
        .collect::<Vec<_>>();
    assert_eq!(calls[0], ("c1".to_string(), "{\"k\":1.50}".to_string()));
    assert!(calls[1].0.starts_with("call_"));
    assert_eq!(returned(&read, true).unwrap(), TOOLS);
    assert_eq!(written(&read).0, TOOLS);
    // Without its results, it is a text message.
    let cut = with(
        &read,
        &[&format!(
            r#"{{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"s","drop":["{}"]}}"#,
            read.derived_ids().nth(1).unwrap().1
        )],
    );
    assert!(written(&cut).1.losses.contains_key(&Loss::Orphan));
}

#[test]
fn a_converted_session_reads_back_equal() {
    let mut built = Session::default();
    for line in [
        r#"{"type":"session","version":1,"id":"x","metadata":{"model":"openai:m"}}"#,
        r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":[1,\"x\\ny\"]}"}},{"id":"d","type":"function","function":{"name":"g","arguments":"no json"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","name":"f","content":"r"}"#,
        r#"{"role":"tool","tool_call_id":"d","name":"g","content":"s\n"}"#,
        r#"{"role":"assistant","content":"done","model":"openai:m"}"#,
    ] {
        built.push_new(line.as_bytes());
    }
    let (text, report) = written(&built);
    assert_eq!(
        report.losses.keys().copied().collect::<Vec<_>>(),
        [Loss::Model],
        "{text}"
    );
    let (again, reported) = session(&text);
    assert!(reported.findings.is_empty(), "{text}\n{reported:?}");
    let body = |session: &Session| -> Vec<String> {
        let own = |record: &[u8]| {
            let names = ["role", "content", "tool_calls", "tool_call_id", "name"];
            names
                .map(|name| json::member(record, name).map(|raw| String::from_utf8_lossy(raw).into_owned()))
                .map(|raw| raw.unwrap_or_default())
                .join("|")
        };
        let lines = (1..session.len()).map(|index| own(session.record(index).body));
        lines.collect()
    };
    assert_eq!(body(&again), body(&built), "{text}");
    assert!(text.starts_with("model: openai:m\n"), "{text}");
}

#[test]
fn compressed_messages_without_a_summary_are_kept() {
    let text = PACKED.replace(
        "- role: system\n  content: |-\n    Rules.\n\n    Summary: they talked.\n",
        "",
    );
    let (read, _) = session(&text);
    assert_eq!(returned(&read, true).unwrap(), text);
    let more = with(&read, &[r#"{"role":"user","content":"and?"}"#]);
    assert_eq!(
        returned(&more, true).unwrap(),
        format!("{text}- role: user\n  content: and?\n")
    );
}

#[test]
fn an_empty_list_keeps_its_comments() {
    let grown = |text: &str| {
        let (read, report) = session(text);
        assert!(report.findings.is_empty(), "{text}");
        returned(&with(&read, &[r#"{"role":"user","content":"a"}"#]), true).unwrap()
    };
    let added = "- role: user\n  content: a\n";
    for (empty, before) in [
        ("messages: []\n# none\n", "messages:\n# none\n"),
        ("messages: # none\n", "messages: # none\n"),
        (
            "compressed_messages: []\nmessages:\n",
            "compressed_messages: []\nmessages:\n",
        ),
    ] {
        assert_eq!(grown(empty), format!("{before}{added}"));
        assert_eq!(
            grown(&format!("\u{feff}{empty}")),
            format!("\u{feff}{before}{added}")
        );
    }
    // An element without a newline moves before other lines.
    let file = "messages: []\ncompressed_messages:\n- role: user\n  content: b";
    assert_eq!(
        grown(file),
        format!("messages:\n{added}compressed_messages:\n- role: user\n  content: b")
    );
}

#[test]
fn text_in_place_of_a_list_is_reported_and_kept() {
    for (text, is_refused) in [
        ("messages: []\n  odd\n", true),
        ("messages: odd\n", true),
        ("messages:\n  odd\n- role: user\n  content: a\n", false),
    ] {
        let (read, report) = session(text);
        assert_eq!(report.findings.len(), 1, "{text}");
        assert_eq!(returned(&read, true).unwrap(), text);
        let grown = returned(&with(&read, &[r#"{"role":"user","content":"b"}"#]), true);
        assert_eq!(
            grown.ok(),
            (!is_refused).then(|| format!("{text}- role: user\n  content: b\n"))
        );
    }
}

#[test]
fn a_list_that_becomes_empty_keeps_its_comments_and_no_text_is_removed() {
    let truncated = |text: &str| {
        let (read, _) = session(text);
        let event = r#"{"type":"truncate","id":"e","at":"2026-01-01T00:00:00Z","before":null}"#;
        returned(&with(&read, &[event]), true)
    };
    let element = "- role: user\n  content: one\n";
    let kept = truncated(&format!("model: a:b\nmessages:\n# keep\n{element}"));
    assert_eq!(kept.unwrap(), "model: a:b\nmessages: []\n# keep\n");
    let refused = truncated(&format!("model: a:b\nmessages:\n# keep\n  odd\n{element}"));
    assert!(refused.is_err(), "{refused:?}");
    let (_, report) = session(&format!("messages:\n# a\n  odd\n{element}"));
    let found = &report.findings[0];
    assert_eq!(
        (&*found.what, found.place.line, found.place.offset),
        ("text before the first element of messages", 3, 14)
    );
}

#[test]
fn damage_in_one_element_does_not_affect_others() {
    let damaged = PLAIN.replace("content: 'yes: \"no\"'", "content: &x yes");
    let (read, report) = session(&damaged);
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].place.line, 7);
    assert_eq!(
        &damaged[report.findings[0].place.offset as usize..][..9],
        "  content"
    );
    assert_eq!(shown(&read).len(), 3);
    assert_eq!(returned(&read, false).unwrap(), damaged);
    // A change preserves unreadable elements, each after its predecessor.
    let more = with(&read, &[r#"{"role":"user","content":"and?"}"#]);
    let added = "- role: user\n  content: and?\n";
    assert_eq!(
        returned(&more, true).unwrap(),
        damaged.replace("data_urls:", &format!("{added}data_urls:"))
    );
    let ids: Vec<_> = read.messages().filter_map(|(line, _)| read.id(line)).collect();
    let drop = format!(
        r#"{{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"s","drop":[["{}","{}"]]}}"#,
        ids[0], ids[2]
    );
    assert_eq!(
        returned(&with(&read, &[&drop]), true).unwrap(),
        "model: openai:gpt-4o\ntemperature: 0.2\nmessages:\n- role: user\n  content: &x yes\ndata_urls:\n  0a1b: ./x.png\n"
    );
    let (read, report) = session(&PLAIN.replace("content: Be terse.", "content: 7"));
    assert_eq!((shown(&read).len(), report.findings.len()), (3, 1));
    for text in [
        "model: m\nmessages:\n",
        "messages: []",
        "model: m\nmessages: ~\ncompressed_messages: []\n",
    ] {
        let (read, report) = session(text);
        assert!(report.findings.is_empty() && shown(&read).is_empty(), "{text}");
    }
    for end in 0..PLAIN.len() {
        let source = crate::format::DocumentSource::alone(&PLAIN.as_bytes()[..end]);
        let _ = super::read::read(&source, &mut crate::format::report::Report::default());
    }
}
