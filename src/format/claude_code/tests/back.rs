//! Tests of changes in place: untouched lines keep their bytes, and the changed log has the expected view.

use super::*;
use crate::error::ErrorKind;
use crate::filter::truncate::{self, CutPoint};
use crate::filter::{Plan, Stamp};
use crate::model::key;
use std::collections::HashSet;

fn stamp(content: &str) -> Result<Stamp> {
    Ok(Stamp {
        id: key::id_from("evt_", content),
        at: "2026-02-02T00:00:00Z".to_string(),
    })
}

fn push(session: &mut Session, cut: &CutPoint) -> bool {
    match truncate::plan(session, cut, stamp).unwrap() {
        Plan::Nothing(_) | Plan::Refused(_) => false,
        Plan::Lines(lines, _) => {
            lines.iter().for_each(|line| session.push_new(line));
            true
        }
    }
}

/// Checks that the changed log has the planned view, and that existing lines only differ in their parents.
pub fn hold(log: &[u8], mut change: impl FnMut(&mut Session) -> bool) -> Option<Vec<u8>> {
    let mut planned = None;
    let out = changed(log, |nth, session| {
        let changed = nth == 0 && change(session);
        if nth == 0 {
            planned = Some(shown(session));
        }
        changed
    })
    .unwrap();
    let (before, reported) = read(log, false);
    let (after, report) = read(&out, false);
    assert!(
        report.findings.len() <= reported.findings.len(),
        "{report:?}\n{}",
        String::from_utf8_lossy(&out)
    );
    let planned = planned.unwrap();
    assert_eq!(shown(&after[0]), planned, "{}", String::from_utf8_lossy(&out));
    if planned.is_empty() {
        return Some(out); // the last inactive branch takes the place of the main one, and is not in the view
    }
    // Side sessions are unchanged.
    assert_eq!(after.len(), before.len(), "{}", String::from_utf8_lossy(&out));
    for (one, other) in before.iter().zip(&after).skip(1) {
        assert_eq!(shown(one), shown(other));
    }
    Some(out)
}

/// Lines of the second log that the first does not have, described by the members that differ.
fn edits(log: &[u8], out: &[u8]) -> Vec<String> {
    let old: HashSet<&[u8]> = log.split(|byte| *byte == b'\n').collect();
    out.split(|byte| *byte == b'\n')
        .filter(|line| !old.contains(line))
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect()
}

#[test]
fn unchanged_lines_keep_their_bytes() {
    let log = everything();
    assert_eq!(changed(&log, |_, _| false).unwrap(), log);
    let crlf = String::from_utf8(log).unwrap().replace('\n', "\r\n").into_bytes();
    assert_eq!(changed(&crlf, |_, _| false).unwrap(), crlf);
    // Changing a branch does not affect the main session.
    let log = everything();
    let out = changed(&log, |nth, session| {
        nth == 1 && push(session, &CutPoint::LastMessages(1))
    })
    .unwrap();
    assert_eq!(edits(&log, &out).len(), 0, "{}", String::from_utf8_lossy(&out));
    assert_eq!(out.len(), log.len());
}

#[test]
fn a_cut_drops_lines_and_relinks_the_others() {
    let log = everything();
    let out = hold(&log, |session| push(session, &CutPoint::LastExchanges(1))).unwrap();
    let edits = edits(&log, &out);
    // The first remaining message becomes a child of the summary.
    assert_eq!(edits.len(), 1, "{edits:?}");
    assert!(
        edits[0].contains(r#""parentUuid":"k2""#) && edits[0].contains(r#""uuid":"u9""#),
        "{edits:?}"
    );
    assert!(!String::from_utf8(out).unwrap().contains("three"));
}

#[test]
fn a_log_with_two_session_ids_remains_one() {
    let line = |uuid: &str, session: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"parentUuid\":null,\"sessionId\":\"{session}\",\"message\":{{\"role\":\"user\",\"content\":\"{uuid}\"}}}}\n"
        )
    };
    let log = [line("a", "s"), line("b", "t"), line("c", "s")].concat();
    let out = hold(log.as_bytes(), |session| {
        event(
            session,
            r#"{"type":"compact","id":"evt_1","strategy":"x","drop":["c"]}"#,
        )
    })
    .unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), line("a", "s") + &line("b", "s"));
}

fn event(session: &mut Session, body: &str) -> bool {
    session.push_new(body.as_bytes());
    true
}

#[test]
fn a_summary_is_a_boundary_and_a_following_line() {
    let log = everything();
    let out = hold(&log, |session| {
        event(
            session,
            r#"{"type":"summary","id":"evt_1","content":"so <far>","covers":["u3","a7"],"by":"x"}"#,
        )
    })
    .unwrap();
    let edits = edits(&log, &out);
    assert_eq!(edits.len(), 3, "{edits:?}");
    assert!(
        edits[0].contains(r#""subtype":"compact_boundary""#)
            && edits[0].contains(r#""logicalParentUuid":"a7""#)
    );
    assert!(edits[1].contains(r#""isCompactSummary":true"#));
    assert!(edits[2].contains(r#""uuid":"u9""#));
    // Covered messages are hidden, but kept.
    assert!(String::from_utf8(out.clone()).unwrap().contains("three"));
    // The same again, and then a summary that replaces the first one.
    let again = hold(&log, |session| {
        event(
            session,
            r#"{"type":"summary","id":"evt_1","content":"so <far>","covers":["u3","a7"],"by":"x"}"#,
        )
    });
    assert_eq!(again.unwrap(), out);
    hold(&out, |session| {
        event(
            session,
            r#"{"type":"summary","id":"evt_2","content":"all","covers":["u9","u9"],"by":"x"}"#,
        )
    });
}

#[test]
fn kept_parts_of_a_message_have_the_summary_as_parent() {
    let reasoning = r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#;
    let log = log(&[
        user("u1", "", "one"),
        assistant("a1", "u1", "m1", &text("1")),
        user("u2", "a1", "two"),
        assistant("a2", "u2", "m2", reasoning),
        assistant("a3", "a2", "m2", &text("2")),
        user("u3", "a3", "three"),
    ]);
    for new in [
        r#"{"type":"compact","id":"e","drop":["u1","a1","u2"],"summary":{"before":"a2","content":"so far"},"edit":[{"id":"a2","unset":["reasoning"]}]}"#,
        r#"{"type":"compact","id":"e","edit":[{"id":"a2","unset":["reasoning"]}],"insert":[{"before":"a2","message":{"role":"user","content":"note","id":"n1"}}]}"#,
    ] {
        let out = hold(&log, |session| event(session, new)).unwrap();
        assert!(
            edits(&log, &out)
                .iter()
                .any(|line| line.contains(r#""uuid":"a3""#))
        );
    }
}

#[test]
fn a_compaction_edits_only_changed_lines() {
    let log = everything();
    let out = hold(&log, |session| {
        event(
            session,
            r#"{"type":"compact","id":"evt_1","drop":["u3"],"edit":[{"id":"r3","content":"[gone]"}],"insert":[{"before":"a7","message":{"role":"user","content":"note","id":"n1","category":"context"}}]}"#,
        )
    })
    .unwrap();
    let edits = edits(&log, &out);
    assert_eq!(edits.len(), 4, "{edits:?}");
    assert!(edits[0].contains(r#""parentUuid":"k2""#) && edits[0].contains(r#""uuid":"a6""#));
    assert!(edits[1].contains("[gone]") && edits[1].contains(r#""toolUseResult":{"x":[1, 2]}"#));
    assert!(edits[2].contains("note") && edits[2].contains(r#""isMeta":true"#));
    assert!(edits[3].contains(r#""uuid":"a7""#));
}

#[test]
fn a_summary_after_messages_is_a_line_without_a_boundary() {
    hold(&everything(), |session| {
        event(
            session,
            r#"{"type":"compact","id":"evt_1","drop":["a6","r3"],"summary":{"before":"a7","content":"in short"}}"#,
        )
    });
}

#[test]
fn added_messages_are_the_newest() {
    let log = everything();
    let out = hold(&log, |session| {
        session.push_new(br#"{"role":"assistant","content":"I do","tool_calls":[{"id":"c7","type":"function","function":{"name":"n","arguments":"{}"}}],"id":"x1"}"#);
        session.push_new(br#"{"role":"tool","content":"it is","tool_call_id":"c7","id":"x2"}"#);
        event(session, r#"{"role":"user","content":"thanks","id":"x3"}"#)
    })
    .unwrap();
    assert_eq!(edits(&log, &out).len(), 4);
    assert!(out.starts_with(&log));
}

#[test]
fn parts_of_a_line_are_removed_and_changed() {
    let mixed = results("r1", "a2", &[("c1", "one"), ("c2", "two")])
        .replace("}]}", r#"},{"type":"text","text":"and"}]}"#);
    let log = log(&[
        user("u1", "", "go"),
        assistant("a1", "u1", "m", &call("c1")),
        assistant("a2", "a1", "m", &call("c2")),
        mixed,
        assistant("a3", "r1", "m2", &text("ok")),
    ]);
    for compact in [
        r#"{"type":"compact","id":"e","drop":["r1.3"]}"#,
        r#"{"type":"compact","id":"e","edit":[{"id":"r1.2","content":"2"},{"id":"r1.3","content":"&"}]}"#,
        r#"{"type":"compact","id":"e","drop":["r1"],"edit":[{"id":"a1","tool_calls":[{"id":"c2","type":"function","function":{"name":"n","arguments":"{}"}}]}]}"#,
        r#"{"type":"compact","id":"e","drop":["r1","r1.2"],"edit":[{"id":"a1","content":"looked","unset":["tool_calls"]}]}"#,
    ] {
        hold(&log, |session| event(session, compact));
    }
}

#[test]
fn a_log_without_parents_keeps_its_order() {
    let log = log(&[
        user("u1", "", "one"),
        user("u2", "", "two"),
        user("u3", "", "three"),
    ]);
    hold(&log, |session| {
        session.push_new(br#"{"role":"assistant","content":"four","id":"x"}"#);
        session.push_new(br#"{"role":"user","content":"five","id":"y"}"#);
        event(
            session,
            r#"{"type":"compact","id":"e","drop":["u2"],"insert":[{"before":"u3","message":{"role":"user","content":"2","id":"z"}}]}"#,
        )
    });
}

#[test]
fn undoing_a_compaction_of_the_program_is_refused() {
    let error = changed(&everything(), |nth, session| {
        let own = (0..session.len()).find_map(|index| {
            let record = session.record(index);
            let event = record.event().filter(|event| event.name() == "summary")?;
            Some(event.id()?.into_owned())
        });
        own.is_some_and(|id| {
            nth == 0 && event(session, &format!(r#"{{"type":"restore","id":"e","of":"{id}"}}"#))
        })
    })
    .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
}
