//! Tests of writing sessions as logs: sessions read from logs, and others.

use super::*;
use crate::model::json::same;
use std::collections::VecDeque;

/// A conversion to the record stream and back restores the lines, with the lines of a message next to each other.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_log_is_restored_line_by_line() {
    let mut files = vec![("everything".to_string(), everything())];
    for truth in truth::files("claude-code") {
        files.push((truth.name, std::fs::read(truth.path).unwrap()));
    }
    let (mut lines, mut exact) = (0, 0);
    for (name, log) in &files {
        let (sessions, _) = read(log, false);
        let mut built: Vec<Vec<u8>> = Vec::new();
        for session in &sessions {
            let mut again = Session::default();
            for index in 0..session.len() {
                again.push_new(session.record(index).body);
            }
            let (out, _) = written(&again, WritePurpose::Export);
            built.extend(out.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
        }
        // The order is that of the log except within messages, so the wanted line is near the front.
        let mut built: VecDeque<Vec<u8>> = built.into_iter().filter(|line| !line.is_empty()).collect();
        for line in log
            .split(|byte| *byte == b'\n')
            .filter(|line| line.starts_with(b"{"))
        {
            lines += 1;
            if let Some(at) = built.iter().position(|other| same(other, line)) {
                exact += 1;
                built.remove(at);
                continue;
            }
            // A branch has a parent in another session, which is replaced.
            let free = |line: &[u8]| json::with_members(line, &[("parentUuid", None)]).unwrap();
            let linked = built.iter().position(|other| same(&free(other), &free(line)));
            let Some(at) = linked else {
                panic!("{name}: {}", String::from_utf8_lossy(line));
            };
            built.remove(at);
        }
    }
    eprintln!(
        "claude-code: {exact} of {lines} lines in {} logs come back, the rest tied anew",
        files.len()
    );
}

fn session(lines: &[&str]) -> Session {
    let mut session = Session::default();
    session.push_new(br#"{"type":"session","version":1,"id":"chat","title":"T"}"#);
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    session
}

const OTHER: [&str; 8] = [
    r#"{"role":"user","content":"hi","id":"m1","timestamp":"2026-01-01T00:00:01.000Z"}"#,
    r#"{"role":"assistant","content":"I look","tool_calls":[{"id":"c1","type":"function","function":{"name":"a","arguments":"{\"x\":9007199254740993}"}},{"id":"c2","type":"function","function":{"name":"b","arguments":"{}"}}],"id":"m2","model":"gpt"}"#,
    r#"{"role":"tool","tool_call_id":"c2","content":"two","id":"m3"}"#,
    r#"{"role":"tool","tool_call_id":"c1","content":"one","id":"m4","metadata":{"is_error":true}}"#,
    r#"{"role":"assistant","content":"so","reasoning":[{"type":"thinking","text":"hm","signature":"s=="}],"id":"m5"}"#,
    r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}],"id":"m6"}"#,
    r#"{"role":"user","content":"by the way","category":"context","id":"m7"}"#,
    r#"{"role":"assistant","content":"yes","id":"m8"}"#,
];

#[test]
fn any_session_written_as_a_log_reads_back_equal() {
    let session = session(&OTHER);
    let (out, report) = written(&session, WritePurpose::Export);
    let text = String::from_utf8_lossy(&out).into_owned();
    let (again, reported) = read(&out, false);
    assert!(reported.findings.is_empty(), "{reported:?}");
    assert_eq!(again.len(), 1, "{text}");
    assert_eq!(shown(&again[0]), shown(&session), "{text}");
    assert_eq!(again[0].header_text("title").as_deref(), Some("T"));
    // Ids that are not UUIDs are replaced; nothing else is lost.
    let losses: Vec<(&str, u64)> = report
        .losses
        .iter()
        .map(|(loss, times)| (loss.name(), *times))
        .collect();
    assert_eq!(losses, [("id", 8)]);
    // Each block is a line, a result is a child of its call's line, and all lines have one session id.
    assert_eq!(text.lines().count(), 8 + 3 + 1);
    assert_eq!(written(&session, WritePurpose::Export).0, out);
    let uuid = |line: &str| json::member(line.as_bytes(), "uuid").map(<[u8]>::to_vec);
    let lines: Vec<&str> = text.lines().collect();
    let parent = |line: &str| json::member(line.as_bytes(), "parentUuid").map(<[u8]>::to_vec);
    assert_eq!(
        parent(lines[4]),
        uuid(lines[3]),
        "c2 is on the fourth line: {text}"
    );
    assert_eq!(
        parent(lines[5]),
        uuid(lines[2]),
        "c1 is on the third line: {text}"
    );
    assert_eq!(parent(lines[6]), uuid(lines[5]));
}

#[test]
fn a_view_with_a_summary_becomes_a_summary_line() {
    let mut session = session(&OTHER);
    session.push_new(br#"{"type":"summary","id":"evt_1","content":"they looked","covers":["m1","m4"]}"#);
    let (out, _) = written(&session, WritePurpose::Export);
    let (again, _) = read(&out, false);
    assert_eq!(
        shown(&again[0]),
        shown(&session),
        "{}",
        String::from_utf8_lossy(&out)
    );
    assert!(String::from_utf8_lossy(&out).contains("isCompactSummary"));
}

#[test]
fn a_log_truncated_as_a_stream_is_relinked() {
    let (sessions, _) = read(&everything(), false);
    let mut materialized = Session::default();
    // As `truncate` prints it: the remaining lines.
    for index in 0..sessions[0].len() {
        let body = sessions[0].record(index).body;
        let text = String::from_utf8_lossy(body);
        if !["third", "\"id\":\"a6\"", "\"id\":\"r3\""]
            .iter()
            .any(|removed| text.contains(removed))
        {
            materialized.push_new(body);
        }
    }
    let (out, _) = written(&materialized, WritePurpose::Export);
    let (again, _) = read(&out, false);
    assert_eq!(again.len(), 1, "{}", String::from_utf8_lossy(&out));
    assert_eq!(shown(&again[0]), shown(&materialized));
}

#[test]
fn unsupported_data_is_reported_as_lost() {
    let session = session(&[
        r#"{"role":"system","content":"be terse","id":"m1"}"#,
        r#"{"role":"user","name":"eve","content":"hi","id":"m2","tokens":3,"metadata":{"own":1}}"#,
        r#"{"type":"note","id":"evt_1"}"#,
        r#"{"role":"assistant","content":"x","reasoning":[{"type":"reasoning","encrypted_content":"zz"}],"id":"m3"}"#,
    ]);
    let (out, report) = written(&session, WritePurpose::Export);
    let losses: Vec<(&str, u64)> = report
        .losses
        .iter()
        .map(|(loss, times)| (loss.name(), *times))
        .collect();
    assert_eq!(
        losses,
        [
            ("id", 3),
            ("usage", 1),
            ("reasoning", 1),
            ("signature", 1),
            ("name", 1),
            ("category", 1),
            ("metadata", 1),
            ("event", 1),
        ],
        "{}",
        String::from_utf8_lossy(&out)
    );
    let (again, _) = read(&out, false);
    let roles: Vec<String> = shown(&again[0]).into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["user", "user", "assistant"]);
}

/// If no line has a parent, the line order defines the session; a missing parent remains missing.
#[test]
fn a_log_without_parents_remains_one_session() {
    let log = log(&[
        user("u1", "", "one"),
        user("u2", "", "two"),
        user("u3", "gone", "three"),
    ]);
    let (sessions, _) = read(&log, false);
    assert_eq!((sessions.len(), shown(&sessions[0]).len()), (1, 3));
    let mut native = Session::default();
    (0..sessions[0].len()).for_each(|index| native.push_new(sessions[0].record(index).body));
    let (out, _) = written(&native, WritePurpose::Export);
    let (again, _) = read(&out, false);
    assert_eq!(again.len(), 1, "{}", String::from_utf8_lossy(&out));
    assert_eq!(shown(&again[0]), shown(&native));
    // Also with an additional message.
    native.push_new(br#"{"role":"assistant","content":"four","id":"x"}"#);
    let (out, _) = written(&native, WritePurpose::Export);
    let (again, _) = read(&out, false);
    assert_eq!(again.len(), 1, "{}", String::from_utf8_lossy(&out));
    assert_eq!(shown(&again[0]).len(), 4);
}
