//! Damaged, unusual and malicious logs.

use super::*;

#[test]
fn a_truncated_log_is_read_up_to_its_end() {
    let log = everything();
    for tenth in 0..=40 {
        let cut = &log[..log.len() * tenth / 40];
        let (sessions, report) = read(cut, true);
        let damaged = !cut.is_empty() && !cut.ends_with(b"\n") && !cut.ends_with(b"}");
        assert_eq!(report.is_damaged(), damaged, "{tenth}: {report:?}");
        assert!(!sessions.is_empty());
        assert_eq!(changed(cut, |_, _| false).unwrap(), cut);
        // Writing a change back keeps the damaged line.
        let out = changed(cut, |nth, session| {
            session.push_new(br#"{"role":"user","content":"more"}"#);
            nth == 0
        })
        .unwrap();
        assert!(out.starts_with(cut), "{tenth}");
    }
}

#[test]
fn damage_is_reported_with_its_line_and_preserved() {
    let log = log(&[
        user("u1", "", "one"),
        "{\"type\":\"user\",".to_string(),
        "42".to_string(),
        r#"{"silly":"this"}"#.to_string(),
        r#"{"type":"user","message":"error","uuid":"x"}"#.to_string(),
        user("u2", "u1", "two"),
    ]);
    let (sessions, report) = read(&log, false);
    let lines: Vec<u64> = report.findings.iter().map(|finding| finding.place.line).collect();
    assert_eq!(lines, [2, 3, 4, 5], "{report:?}");
    assert!(report.findings.iter().all(|finding| finding.damage));
    assert_eq!(sessions[0].messages().count(), 2);
    let text = sessions[0].text();
    assert!(text.contains("\n{\"type\":\"user\",\n42\n"), "{text}");
}

#[test]
fn cycles_of_parents_are_read() {
    for log in [
        log(&[user("u1", "u1", "one"), user("u2", "u1", "two")]),
        log(&[user("u1", "u2", "one"), user("u2", "u1", "two")]),
        log(&[
            user("u1", "u3", "one"),
            user("u2", "u1", "two"),
            user("u3", "u2", "three"),
        ]),
        log(&[
            user("u1", "", "one"),
            user("u1", "u1", "two"),
            user("u1", "u1", "three"),
        ]),
    ] {
        let (sessions, _) = read(&log, true);
        let count: usize = sessions.iter().map(|session| session.messages().count()).sum();
        assert_eq!(count, log.split(|byte| *byte == b'\n').count() - 1);
        changed(&log, |_, session| {
            session.push_new(br#"{"type":"truncate","id":"e","before":null}"#);
            true
        })
        .unwrap();
    }
    let ticks = log(&[
        r#"{"type":"progress","uuid":"p1","parentUuid":"p2"}"#.to_string(),
        r#"{"type":"progress","uuid":"p2","parentUuid":"p1"}"#.to_string(),
        user("u1", "p2", "one"),
    ]);
    assert_eq!(read(&ticks, false).0[0].messages().count(), 1);
}

/// Requires linear time: a quadratic traversal would not finish.
#[test]
fn long_chains_take_linear_time() {
    let many = 12_000;
    let mut lines = vec![user("u0", "", "x")];
    for nth in 1..many {
        lines.push(match nth % 3 {
            0 => user(&format!("u{nth}"), &format!("u{}", nth - 1), "x"),
            1 => format!(
                r#"{{"type":"attachment","uuid":"u{nth}","parentUuid":"u{}"}}"#,
                nth - 1
            ),
            _ => user(&format!("u{nth}"), &format!("u{}", nth / 2), "x"),
        });
    }
    let log = log(&lines);
    assert!(!read(&log, false).0.is_empty());
    changed(&log, |nth, session| {
        session.push_new(br#"{"type":"truncate","id":"e","before":null}"#);
        nth == 0
    })
    .unwrap();
}

#[test]
fn depth_is_unlimited() {
    let deep = "[".repeat(50_000) + &"]".repeat(50_000);
    let line = results("r", "u", &[("c", "x")]).replace("[1, 2]", &deep);
    let log = log(&[user("u", "", "x"), line]);
    let (sessions, report) = read(&log, true);
    assert!(report.findings.is_empty());
    assert_eq!(sessions[0].messages().count(), 2);
}
