//! Tests of reading lines.

use super::super::ReadPurpose;
use super::*;
use crate::model::session::Class;

fn bodies(session: &Session) -> Vec<String> {
    (0..session.len())
        .map(|index| String::from_utf8_lossy(session.record(index).body).into_owned())
        .collect()
}

#[test]
fn a_log_contains_a_session_its_branches_and_sidechains() {
    let (sessions, report) = read(&everything(), false);
    assert!(report.findings.is_empty(), "{report:?}");
    let ids: Vec<String> = sessions
        .iter()
        .filter_map(|session| session.header_text("id"))
        .collect();
    assert_eq!(ids, ["s", "s.b1", "s.agent-a1"]);
    assert_eq!(sessions[0].header_text("title").as_deref(), Some("A title"));
    let lineage = |nth: usize| bodies(&sessions[nth])[0].clone();
    assert!(!lineage(0).contains("lineage"));
    assert!(lineage(1).contains(r#""lineage":{"kind":"branch","parent":"s","at":"a4"}"#));
    assert!(lineage(2).contains(r#""lineage":{"kind":"sidechain","parent":"s"}"#));
    let roles: Vec<String> = shown(&sessions[0]).into_iter().map(|(role, _)| role).collect();
    assert_eq!(
        roles,
        ["summary", "user", "assistant", "tool", "assistant", "user"]
    );
    assert_eq!(shown(&sessions[1])[1].1, r#"[{"type":"text","text":"lost"}]"#);
}

#[test]
fn sessions_for_display_have_the_same_messages_without_their_lines_and_the_hash_of_the_log() {
    let log = everything();
    let (whole, _) = read(&log, false);
    let (displayed, report) = read_for(&log, false, ReadPurpose::Display);
    assert!(report.findings.is_empty(), "{report:?}");
    let plain = |body: &[u8]| -> serde_json::Value {
        let mut value: serde_json::Value = serde_json::from_slice(body).unwrap();
        let is_message = value.get("role").is_some();
        if let Some(source) = value.get_mut("source") {
            source.as_object_mut().unwrap().remove("sha256");
        }
        if let Some(metadata) = value.get_mut("metadata").filter(|_| is_message) {
            metadata.as_object_mut().unwrap().remove("claude-code");
            if metadata == &serde_json::json!({}) {
                value.as_object_mut().unwrap().remove("metadata");
            }
        }
        value
    };
    assert_eq!(whole.len(), displayed.len());
    let is_hashed = |session: &Session| {
        let source = session.header_member("source").unwrap();
        json::member(source, "sha256").is_some()
    };
    assert!(is_hashed(&whole[0]) && !is_hashed(&displayed[0]));
    for (whole, displayed) in whole.iter().zip(&displayed) {
        assert_eq!(whole.len(), displayed.len());
        for index in 0..whole.len() {
            let (one, other) = (whole.record(index), displayed.record(index));
            assert_eq!(plain(one.body), plain(other.body));
            assert_eq!(one.place, other.place);
        }
        assert!(displayed.size() < whole.size());
    }
}

/// Long lines are built without copies of them.
#[test]
fn a_long_message_is_read_as_a_short_one() {
    let log = |word: &str| {
        log(&[
            user("u1", "", word),
            assistant("a1", "u1", "m", &text(word)),
            assistant(
                "a2",
                "a1",
                "m",
                &call("c1").replace("\"n\"", &format!("\"{word}\"")),
            ),
            results("r1", "a2", &[("c1", word), ("c2", "short")]),
            user("u2", "r1", "end"),
        ])
    };
    let long = "valve ".repeat(250_000);
    for purpose in [ReadPurpose::Write, ReadPurpose::Display] {
        let (short, _) = read_for(&log("valve "), false, purpose);
        let (read, _) = read_for(&log(&long), false, purpose);
        let expected = bodies(&short[0]).into_iter().skip(1);
        let expected: Vec<String> = expected.map(|body| body.replace("valve ", &long)).collect();
        // Comparing without printing them.
        assert!(bodies(&read[0])[1..] == expected, "{purpose:?}");
    }
}

#[test]
fn message_parts_are_merged_with_the_last_usage() {
    let lines = log(&[
        user("u1", "", "go"),
        assistant("a1", "u1", "m", &text("I look.")),
        results("r0", "a1", &[("c9", "late")]),
        assistant("a2", "a1", "m", &call("c1")).replace("\"output_tokens\":1", "\"output_tokens\":77"),
        results("r1", "a2", &[("c1", "one")]),
    ]);
    let (sessions, _) = read(&lines, false);
    let body = bodies(&sessions[0])
        .into_iter()
        .find(|body| body.contains("I look."))
        .unwrap();
    assert!(
        body.starts_with(r#"{"role":"assistant","content":"I look.","tool_calls":["#),
        "{body}"
    );
    assert!(
        body.contains(r#""arguments":"{\"a\" : 9007199254740993}""#),
        "{body}"
    );
    assert!(
        body.contains(r#""usage":{"input_tokens":10,"output_tokens":77},"metadata""#),
        "{body}"
    );
    assert!(body.contains(r#""id":"a1""#), "{body}");
}

#[test]
fn a_line_with_several_results_is_several_messages() {
    let mixed = results("r1", "a2", &[("c1", "one"), ("c2", "two")])
        .replace("}]}", r#"},{"type":"text","text":"and"}]}"#);
    let lines = log(&[
        user("u1", "", "go"),
        assistant("a1", "u1", "m", &call("c1")),
        assistant("a2", "a1", "m", &call("c2")),
        mixed,
    ]);
    let (sessions, _) = read(&lines, false);
    let session = &sessions[0];
    let ids: Vec<String> = session
        .messages()
        .filter_map(|(index, _)| session.id(index))
        .collect();
    assert_eq!(ids, ["u1", "a1", "r1", "r1.2", "r1.3"]);
    let roles: Vec<&str> = session.messages().map(|(_, traits)| traits.role.name()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
}

#[test]
fn messages_of_the_program_are_not_dialog() {
    let lines = log(&[
        user("u1", "", "caveat").replace("\"type\":\"user\"", "\"type\":\"user\",\"isMeta\":true"),
        user("u2", "u1", "<local-command-stdout>x</local-command-stdout>"),
        user("u3", "u2", "really"),
    ]);
    let (sessions, _) = read(&lines, false);
    let categories: Vec<&str> = sessions[0]
        .messages()
        .map(|(_, traits)| traits.category.name())
        .collect();
    assert_eq!(categories, ["context", "system_output", "dialog"]);
}

#[test]
fn a_boundary_without_a_summary_is_a_cut() {
    let lines = log(&[
        user("u1", "", "old"),
        r#"{"type":"system","subtype":"compact_boundary","uuid":"k1","parentUuid":null,"logicalParentUuid":"u1"}"#.to_string(),
        user("u2", "k1", "new"),
    ]);
    let (sessions, _) = read(&lines, false);
    let shown = shown(&sessions[0]);
    assert!(shown.len() == 1 && shown[0].1.contains("new"), "{shown:?}");
}

#[test]
fn a_missing_parent_is_the_previous_message() {
    let lines = log(&[
        user("u1", "", "one"),
        assistant("a1", "u1", "m", &text("two")),
        user("u2", "gone", "three"),
    ]);
    assert_eq!(read(&lines, false).0.len(), 1);
    assert_eq!(read(&lines, false).0[0].messages().count(), 3);
}

#[test]
fn progress_lines_are_preserved_up_to_a_limit() {
    let tick = |nth: usize| {
        format!(
            r#"{{"type":"progress","uuid":"p{nth}","parentUuid":"{}","data":"{}"}}"#,
            if nth == 0 {
                "u1".to_string()
            } else {
                format!("p{}", nth - 1)
            },
            "x".repeat(400_000)
        )
    };
    let mut lines = vec![user("u1", "", "go")];
    lines.extend((0..50).map(tick));
    lines.push(assistant("a1", "p49", "m", &text("done")));
    let (sessions, report) = read(&log(&lines), false);
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].messages().count(), 2);
    let ticks = (0..sessions[0].len())
        .filter(|index| sessions[0].class(*index) == Class::Event)
        .count();
    assert!((20..22).contains(&ticks), "{ticks}");
    assert!(
        report.findings[0].what.contains("skipped 30 progress lines"),
        "{report:?}"
    );
    // A log that is written back is kept completely.
    assert_eq!(read(&log(&lines), true).0[0].len(), 53);
}

#[test]
fn concatenated_logs_are_separate_sessions() {
    let other = String::from_utf8(everything()).unwrap();
    let other = other.replace("\"sessionId\":\"s\"", "\"sessionId\":\"z\"");
    // Replace the other ids too, because each log has its own.
    let other = ["u1", "a1", "a4", "u9", "k1"].iter().fold(other, |log, id| {
        log.replace(&format!("\"{id}\""), &format!("\"{id}z\""))
    });
    let both = [everything(), other.into_bytes()].concat();
    let (sessions, _) = read(&both, true);
    let ids: Vec<String> = sessions
        .iter()
        .filter_map(|session| session.header_text("id"))
        .collect();
    assert_eq!(ids, ["s", "s.b1", "s.agent-a1", "z", "z.b1", "z.agent-a1z"]);
    assert_eq!(shown(&sessions[0]), shown(&sessions[3]));
    // A change of one log does not affect the other.
    let out = changed(&both, |nth, session| {
        session.push_new(br#"{"role":"user","content":"more","id":"x"}"#);
        nth == 0
    })
    .unwrap();
    let first = everything().len();
    assert!(out.starts_with(&both[..first]) && out.ends_with(&both[first..]));
    assert_eq!(shown(&read(&out, false).0[0]).len(), 7);
}
