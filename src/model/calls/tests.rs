use super::*;

fn summary(name: &str, arguments: &str) -> CallSummary {
    let call = ToolCall {
        id: "c".into(),
        name: name.into(),
        arguments: arguments.into(),
    };
    CallSummary::of(&call, Some("/home/ann/demo"), false)
}

fn added(text: &str) -> DetailLine {
    DetailLine::Added(text.to_string())
}

fn removed(text: &str) -> DetailLine {
    DetailLine::Removed(text.to_string())
}

#[test]
fn a_path_is_relative_to_the_working_directory() {
    for (arguments, subject) in [
        (r#"{"file_path":"/home/ann/demo/src/a.rs","limit":5}"#, "src/a.rs"),
        (r#"{"path":"/home/ann/demo"}"#, "."),
        (r#"{"pattern":"*.rs"}"#, "*.rs"),
        (r#"{"path":"/home/ann/demolition/x"}"#, "/home/ann/demolition/x"),
        (
            r#"{"pattern":"fn main","path":"/home/ann/demo/src"}"#,
            "fn main in src",
        ),
        (r#"{"command":"view","path":"/home/ann/demo/b"}"#, "view b"),
    ] {
        let summary = summary("Read", arguments);
        assert_eq!(summary.subject, subject);
        assert!(summary.arguments.is_empty(), "{summary:?}");
    }
}

#[test]
fn a_command_is_its_first_line_and_the_others() {
    assert_eq!(
        summary("shell", r#"{"command":["bash","-lc","ls -l"],"timeout_ms":9}"#).subject,
        "ls -l"
    );
    assert_eq!(
        summary("shell", r#"{"command":["git","status"]}"#).subject,
        "git status"
    );
    let bash = summary("Bash", r#"{"command":"cd x\nmake","description":"Build"}"#);
    assert_eq!(
        (bash.subject.as_str(), &bash.lines[..]),
        ("cd x", &[DetailLine::Text("make".into())][..])
    );
    assert!(bash.arguments.is_empty());
}

#[test]
fn a_change_of_a_file_is_a_diff() {
    let edit = summary(
        "Edit",
        r#"{"file_path":"/home/ann/demo/a","old_string":"one\ntwo\n","new_string":"one\n2\n"}"#,
    );
    assert_eq!((edit.subject.as_str(), edit.counts), ("a", Some((1, 1))));
    assert_eq!(edit.lines, [removed("two"), added("2")]);
    let multi = summary(
        "MultiEdit",
        r#"{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"z","new_string":""}]}"#,
    );
    assert_eq!(multi.counts, Some((1, 2)));
    let write = summary("Write", r#"{"file_path":"a","content":"x\ny\n"}"#);
    assert_eq!(
        (write.lines, write.counts),
        (vec![added("x"), added("y")], Some((2, 0)))
    );
}

#[test]
fn a_patch_is_a_diff_wherever_it_is_written() {
    let patch = r"*** Begin Patch\n*** Update File: /home/ann/demo/a\n@@ fn\n x\n-y\n+z\n*** End Patch";
    for arguments in [
        format!(r#"{{"input":"{patch}"}}"#),
        format!(r#"{{"command":["apply_patch","{patch}"]}}"#),
        format!(r#"{{"cmd":"apply_patch <<'EOF'\n{patch}\nEOF\n"}}"#),
        patch.replace("\\n", "\n"),
    ] {
        let summary = summary("apply_patch", &arguments);
        assert_eq!(
            (summary.subject.as_str(), summary.counts),
            ("a", Some((1, 1))),
            "{arguments}"
        );
        assert_eq!(summary.lines.len(), 4);
    }
}

#[test]
fn other_arguments_are_names_and_values() {
    assert_eq!(summary("weather", r#"{"city":"Paris"}"#).subject, "city: Paris");
    let two = summary("weather", r#"{"city":"Paris","days":[1, 2]}"#);
    assert_eq!(
        (two.subject.as_str(), two.arguments),
        ("", vec!["city: Paris".to_string(), "days: [1,2]".to_string()])
    );
    assert_eq!(summary("x", "").subject, "");
    assert_eq!(summary("x", "[1").subject, "[1");
    let todo = summary(
        "TodoWrite",
        r#"{"todos":[{"content":"a","status":"completed"},{"content":"b"}]}"#,
    );
    assert_eq!(
        todo.lines,
        [DetailLine::Text("[x] a".into()), DetailLine::Text("[ ] b".into())]
    );
}

/// Unknown arguments that resemble those of a known tool are kept.
#[test]
fn only_settings_are_omitted() {
    let odd = summary(
        "Edit",
        r#"{"file_path":"a","old_string":1,"new_string":null,"todos":3}"#,
    );
    assert_eq!(odd.arguments, ["old_string: 1", "new_string: null", "todos: 3"]);
    let full = |arguments: &str| {
        let call = ToolCall {
            id: "".into(),
            name: "Read".into(),
            arguments: arguments.into(),
        };
        CallSummary::of(&call, None, true).arguments
    };
    assert_eq!(full(r#"{"file_path":"a","limit":5}"#), ["limit: 5"]);
}
