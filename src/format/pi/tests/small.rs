//! Tests with small files: trees, compactions, and sessions from other formats.

use super::{bed, cut, returned, sessions, shown, with, written};
use crate::format::report::{Loss, Report};
use crate::format::{Format, WritePurpose, write};
use crate::model::json;
use crate::model::session::Session;
use crate::model::session::of_lines;
use crate::model::view::View;

const FIRST: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;

fn entry(id: &str, parent: &str, role: &str, text: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_string()
    } else {
        format!("{parent:?}")
    };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"timestamp":1}}}}"#
    )
}

fn compaction(id: &str, parent: &str, kept: &str) -> String {
    format!(
        r#"{{"type":"compaction","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:02.000Z","summary":"sum {id}","firstKeptEntryId":"{kept}","tokensBefore":9}}"#
    )
}

fn file(entries: &[String]) -> Vec<u8> {
    let mut text = format!("{FIRST}\n");
    for entry in entries {
        text.push_str(entry);
        text.push('\n');
    }
    text.into_bytes()
}

/// The texts in the view, including that of a summary.
fn texts(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    let text = |item: &crate::model::view::Item| match item.summary(session) {
        Some(text) => text.into_owned(),
        None => item.message(session).unwrap().text().into_owned(),
    };
    view.items.iter().map(text).collect()
}

fn lineage(session: &Session, name: &str) -> Option<String> {
    let header = session.header();
    let (_, metadata) = header.iter().find(|(name, _)| name == "metadata")?;
    let lineage = json::member(metadata, "lineage")?;
    json::member_string(lineage, name)
}

#[test]
fn the_last_entry_is_active_and_abandoned_ones_are_branches() {
    let bytes = file(&[
        entry("a", "", "user", "1"),
        entry("b", "a", "assistant", "2"),
        entry("c", "b", "user", "left"),
        entry("d", "c", "assistant", "left too"),
        entry("e", "b", "user", "3"),
        r#"{"type":"label","id":"f","parentId":"e","timestamp":"2026-01-01T00:00:02.000Z","label":"x"}"#
            .to_string(),
    ]);
    let (all, report) = sessions(&bytes);
    assert!(report.findings.is_empty());
    assert_eq!(all.len(), 2);
    assert_eq!(texts(&all[0]), ["1", "2", "3"]);
    assert_eq!(texts(&all[1]), ["left", "left too"]);
    assert_eq!(lineage(&all[1], "kind").as_deref(), Some("branch"));
    assert_eq!(lineage(&all[1], "parent").as_deref(), Some("s"));
    assert_eq!(lineage(&all[1], "at").as_deref(), Some("b"));
    assert_eq!(returned(&all, &bytes).unwrap(), bytes);
}

#[test]
fn the_last_compaction_defines_the_kept_messages() {
    let ids = ["a", "b", "c", "d"];
    let mut entries: Vec<String> = Vec::new();
    for (nth, id) in ids.iter().enumerate() {
        let parent = if nth == 0 { "" } else { ids[nth - 1] };
        entries.push(entry(id, parent, "user", id));
    }
    let cases = [
        (vec![compaction("x", "d", "c")], vec!["sum x", "c", "d", "e"]),
        // A compaction that names an entry not on the path keeps nothing.
        (vec![compaction("x", "d", "nowhere")], vec!["sum x", "e"]),
        (
            vec![compaction("x", "d", "a")],
            vec!["sum x", "a", "b", "c", "d", "e"],
        ),
        // The second compaction keeps more than the first, which is no longer effective.
        (
            vec![compaction("x", "d", "d"), compaction("y", "x", "b")],
            vec!["sum y", "b", "c", "d", "e"],
        ),
        (
            vec![compaction("x", "d", "b"), compaction("y", "x", "d")],
            vec!["sum y", "d", "e"],
        ),
    ];
    for (compactions, wanted) in cases {
        let last = if compactions.len() == 2 { "y" } else { "x" };
        let mut entries = entries.clone();
        entries.extend(compactions);
        entries.push(entry("e", last, "user", "e"));
        let (all, _) = sessions(&file(&entries));
        assert_eq!(texts(&all[0]), wanted);
    }
}

#[test]
fn empty_lines_have_no_number_in_the_first_version() {
    let entry = |text: &str| {
        format!(
            r#"{{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{text}","timestamp":1}}}}"#
        )
    };
    let first = FIRST.replace(r#""version":3,"#, "");
    let compaction = r#"{"type":"compaction","timestamp":"2026-01-01T00:00:02.000Z","summary":"sum","firstKeptEntryIndex":2,"tokensBefore":9}"#;
    let lines = ["", &first, "", &entry("1"), "", "", &entry("2"), &entry("3")].join("\n");
    let bytes = format!("{lines}\n{compaction}\n").into_bytes();
    let (mut all, _) = sessions(&bytes);
    assert_eq!(texts(&all[0]), ["sum", "2", "3"]);
    // The number of a new compaction counts the same way.
    let plain = format!("{lines}\n").into_bytes();
    all = sessions(&plain).0;
    all[0] = cut(&all[0], 1).unwrap();
    let after = returned(&all, &plain).unwrap();
    let last = after[plain.len()..].trim_ascii_end();
    assert_eq!(json::member(last, "firstKeptEntryIndex"), Some(&b"3"[..]));
    assert_eq!(texts(&sessions(&after).0[0])[1..], ["3"]);
}

#[test]
fn entries_excluded_from_the_context_are_hidden() {
    let bash = r#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"bashExecution","command":"ls","output":"x","exitCode":0,"excludeFromContext":true,"timestamp":1}}"#;
    let bytes = file(&[
        entry("a", "", "user", "1"),
        bash.to_string(),
        entry("c", "b", "user", "2"),
    ]);
    let (all, _) = sessions(&bytes);
    assert_eq!(texts(&all[0]), ["1", "2"]);
    assert_eq!(written(&all[0]), bytes);
}

#[test]
fn an_added_message_has_the_last_entry_as_parent() {
    let bytes = file(&[entry("a", "", "user", "1"), entry("b", "a", "assistant", "2")]);
    let (mut all, _) = sessions(&bytes);
    all[0] = with(&all[0], &[br#"{"role":"user","content":"3"}"#.to_vec()]);
    let after = returned(&all, &bytes).unwrap();
    assert!(after.starts_with(&bytes));
    let last = after[bytes.len()..].trim_ascii_end();
    assert_eq!(json::member(last, "parentId"), Some(&b"\"b\""[..]));
    let (again, _) = sessions(&after);
    assert_eq!(again.len(), 1);
    assert_eq!(texts(&again[0]), ["1", "2", "3"]);
}

#[test]
fn a_changed_branch_does_not_become_active() {
    let bytes = file(&[
        entry("a", "", "user", "1"),
        entry("b", "a", "user", "left"),
        entry("c", "a", "user", "2"),
    ]);
    let (all, _) = sessions(&bytes);
    let grown = with(&all[1], &[br#"{"role":"user","content":"more"}"#.to_vec()]);
    let pair = bed::read_from(&bytes, &[all[0].clone(), grown]);
    let out = bed::returned(Format::Pi, &pair, |nth| nth == 1).unwrap();
    let (again, _) = sessions(&out);
    assert_eq!(texts(&again[0]), ["1", "2"]);
    assert_eq!(texts(&again[1]), ["left", "more"]);
}

#[test]
fn a_converted_session_reads_back_equal() {
    let session = of_lines(&[
        r#"{"type":"session","version":1,"id":"x","created_at":"2026-01-01T00:00:00Z","title":"t"}"#,
        r#"{"role":"user","content":"hi","timestamp":"2026-01-01T00:00:01Z"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"d","type":"function","function":{"name":"g","arguments":"no json"}}],"usage":{"input_tokens":5,"output_tokens":2}}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"r"}"#,
        r#"{"role":"tool","tool_call_id":"d","content":"s","metadata":{"is_error":true}}"#,
        r#"{"role":"assistant","content":"done","reasoning":[{"type":"thinking","text":"hm","signature":"xx"}]}"#,
    ]);
    let view = View::replay(&session);
    let (mut out, mut report) = (Vec::new(), Report::default());
    write(
        Format::Pi,
        &session,
        &view,
        WritePurpose::Export,
        &mut out,
        &mut report,
    )
    .unwrap();
    let file = String::from_utf8_lossy(&out);
    let block = r#"{"type":"thinking","thinking":"hm","thinkingSignature":"xx"}"#;
    assert!(file.contains(block), "{file}");
    // Arguments that are not an object are wrapped and reported.
    assert_eq!(report.losses.get(&Loss::Arguments), Some(&1));
    let (again, damage) = sessions(&out);
    assert!(damage.findings.is_empty(), "{damage:?}");
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].header_text("title").as_deref(), Some("t"));
    assert_eq!(texts(&again[0]), ["hi", "", "r", "s", "done"]);
    let shown = shown(&again[0]);
    let text = shown.concat();
    assert!(text.contains(r#"{\"a\": 1}"#), "{text}");
    assert!(text.contains(r#"{"type":"thinking","text":"hm","#), "{text}");
    let names: Vec<_> = View::replay(&again[0])
        .messages(&again[0])
        .filter_map(|message| message.name.map(<[u8]>::to_vec))
        .collect();
    assert_eq!(names, [b"\"f\"".to_vec(), b"\"g\"".to_vec()]);
}

#[test]
fn a_result_has_the_name_of_the_last_call_before_it() {
    let mut session = Session::default();
    let call = |name: &str| {
        format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}]}}"#
        )
    };
    let result = r#"{"role":"tool","tool_call_id":"c","content":"r"}"#.to_string();
    for line in [call("Read"), result.clone(), call("Bash"), result] {
        session.push_new(line.as_bytes());
    }
    let (view, mut out) = (View::replay(&session), Vec::new());
    let report = &mut Report::default();
    write(
        Format::Pi,
        &session,
        &view,
        WritePurpose::Export,
        &mut out,
        report,
    )
    .unwrap();
    let text = String::from_utf8(out).unwrap();
    let names: Vec<&str> = text
        .split("\"toolName\":\"")
        .skip(1)
        .map(|rest| &rest[..4])
        .collect();
    assert_eq!(names, ["Read", "Bash"]);
}

#[test]
fn concatenated_files_are_separate_sessions() {
    let one = file(&[entry("a", "", "user", "1")]);
    let two = String::from_utf8(file(&[entry("b", "", "user", "2")])).unwrap();
    let bytes = [one, two.replace("\"id\":\"s\"", "\"id\":\"t\"").into_bytes()].concat();
    let (all, ..) = bed::read(Format::Pi, "session.jsonl", &bytes);
    let all = all.unwrap();
    let found: Vec<_> = { all.iter() }
        .map(|session| (session.header_text("id").unwrap(), texts(session)))
        .collect();
    assert_eq!(
        found,
        [
            ("s".to_string(), vec!["1".to_string()]),
            ("t".to_string(), vec!["2".to_string()])
        ]
    );
}
