//! The state of files and commands that a handoff reports.

use super::outcomes::{exchange, lines, lines_in};
use crate::model::session::Session;

/// The lines of files and errors after these calls.
fn state(calls: &[(&str, &str, &str)]) -> Vec<String> {
    let calls = calls.iter().enumerate();
    let calls: Vec<_> = calls
        .map(|(id, (name, arguments, result))| exchange(id, name, arguments, result))
        .collect();
    let mut lines = lines(&calls, 0..0);
    lines.retain(|line| !line.starts_with('$'));
    lines
}

fn shell(command: &str) -> String {
    format!(r#"{{"command":"{command}"}}"#)
}

#[test]
fn files_in_the_home_directory_are_files() {
    let edit = r#"{"path":"~/.pi/nord.json"}"#;
    let copied = shell("cp a.json ~/.pi/light.json");
    let removed = shell("rm ~/.pi/nord.json");
    let calls = [
        ("edit", edit, "ok"),
        ("bash", &copied, ""),
        ("bash", &removed, ""),
    ];
    assert_eq!(state(&calls), ["A ~/.pi/light.json x1", "D ~/.pi/nord.json x2"]);
}

#[test]
fn files_of_a_moved_directory_have_new_paths() {
    let (edit, read) = (r#"{"path":"old dir/o.ts"}"#, r#"{"path":"lib/a.ts"}"#);
    let moved = shell("mv 'old dir' newdir && mv new.ts lib");
    let calls = [("edit", edit, "ok"), ("read", read, "text"), ("bash", &moved, "")];
    assert_eq!(
        state(&calls),
        [
            "R lib/a.ts x0", "A newdir/o.ts x1", "D old dir/o.ts x2", "A lib/new.ts x1"
        ]
    );
    let missing = shell("rm -r lib && mv lib src");
    let calls = [("read", read, "text"), ("bash", &missing, "")];
    assert_eq!(state(&calls), ["D lib/a.ts x1", "A src x1"]);
}

#[test]
fn a_text_reports_the_failure_of_a_file_tool() {
    let path = r#"{"path":"a"}"#;
    for (tool, result) in [
        ("edit_file", "Error: old_string not found in file"),
        (
            "edit_file",
            r"Could not find the exact text in a.\nIt must match.",
        ),
        ("str_replace", r"ERROR:\nNo replacement was performed."),
        ("write_file", "EACCES: permission denied, open 'a'"),
        ("read_file", "Error: ENOENT: no such file or directory, open 'a'"),
        ("read_file", "a: No such file or directory (os error 2)"),
        ("read_file", "File not found: a"),
    ] {
        let lines = state(&[(tool, path, result)]);
        assert_eq!(lines.len(), 2, "{result}: {lines:?}");
        assert!(lines[0].ends_with("a x0 failed"), "{result}: {lines:?}");
        assert!(
            lines[1].starts_with(&format!("{tool} a => failed: ")),
            "{lines:?}"
        );
    }
    let read = ("read_file", path, "text");
    assert_eq!(state(&[("read_file", path, "ENOENT: a"), read])[0], "R a x0");
    for (tool, result) in [
        ("read_file", r"Error: a class\nclass Error {}"),
        ("read_file", "Errors: see below"),
        ("read_file", "Could not find the answer"),
        ("read_file", r"1\tError: x"),
        (
            "read_file",
            r#"{\"output\":\"Error: x\",\"metadata\":{\"exit_code\":0}}"#,
        ),
        ("edit_file", "Error handling was added"),
        ("write_file", r"Wrote a\nNo such file or directory"),
    ] {
        let lines = state(&[(tool, path, result)]);
        assert!(
            lines.len() == 1 && !lines[0].contains("failed"),
            "{result}: {lines:?}"
        );
    }
}

#[test]
fn calls_that_an_earlier_record_counts_are_not_counted_again() {
    let record = r#"{"type":"summary","id":"e1","at":"2026-01-01T00:00:00Z","content":"[summary of 1 message]\nfiles:\nM a.rs\ncommands:\n$ make","covers":["m1","m1"]}"#;
    let mut session = Session::default();
    session.push_new(br#"{"role":"user","id":"m1","content":"Make it."}"#);
    session.push_new(record.as_bytes());
    let shortened = r"begin\n[convo: 2,606 of 2,744 bytes elided]\nend";
    let calls = [
        ("bash", r#"{"command":"make"}"#, shortened),
        ("edit", r#"{"path":"a.rs"}"#, shortened),
        ("bash", r#"{"command":"make all"}"#, shortened),
        ("edit", r#"{"path":"a.rs"}"#, "ok"),
    ];
    for (id, (name, arguments, result)) in calls.into_iter().enumerate() {
        exchange(id, name, arguments, result)
            .iter()
            .for_each(|line| session.push_new(line.as_bytes()));
    }
    assert_eq!(lines_in(&session, 0..0), ["M a.rs x1", "$ make all =>  / end"]);
}

#[test]
fn another_result_of_a_recorded_call_is_listed() {
    let record = r#"{"type":"summary","id":"e1","at":"2026-01-01T00:00:00Z","content":"[summary of 1 message]\nfiles:\nM a.rs\ncommands:\n$ cargo test => 101: failed","covers":["m1","m1"]}"#;
    let mut session = Session::default();
    session.push_new(br#"{"role":"user","id":"m1","content":"Make it."}"#);
    session.push_new(record.as_bytes());
    let passed = r"begin\n[convo: 2,606 of 2,744 bytes elided]\ntest result: ok. 24 passed";
    let calls = [
        ("bash", r#"{"command":"cargo test"}"#, passed),
        (
            "bash",
            r#"{"command":"rm a.rs"}"#,
            "[convo: 2,606 of 2,744 bytes elided]",
        ),
    ];
    for (id, (name, arguments, result)) in calls.into_iter().enumerate() {
        exchange(id, name, arguments, result)
            .iter()
            .for_each(|line| session.push_new(line.as_bytes()));
    }
    let lines = lines_in(&session, 0..0);
    assert!(lines.iter().any(|line| line.starts_with("D a.rs")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("cargo test")), "{lines:?}");
}
