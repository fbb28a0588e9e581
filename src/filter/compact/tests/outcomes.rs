//! The outcomes that a handoff attributes to commands.

use super::super::facts;
use super::super::state::CompactionState;
use super::super::{CompactOptions, Steps};
use super::case::Case;
use super::choices::Choices;
use crate::filter::summarize::handoff::SessionFacts;
use crate::model::session::Session;
use crate::model::view::View;
use crate::tokens::{Counter, Tokenizer};
use std::collections::HashSet;

/// A call and its result.
pub fn exchange(id: usize, name: &str, arguments: &str, result: &str) -> [String; 2] {
    let arguments = arguments.replace('"', "\\\"");
    [
        format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{id}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}]}}"#
        ),
        format!(r#"{{"role":"tool","tool_call_id":"c{id}","content":"{result}"}}"#),
    ]
}

/// Reads the facts of exchanges, those at `kept` being kept.
fn read<T>(
    exchanges: &[[String; 2]],
    kept: std::ops::Range<usize>,
    look: impl FnOnce(&SessionFacts<'_>) -> T,
) -> T {
    let mut session = Session::default();
    let lines = exchanges.concat();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    read_in(&session, kept, look)
}

fn read_in<T>(
    session: &Session,
    kept: std::ops::Range<usize>,
    look: impl FnOnce(&SessionFacts<'_>) -> T,
) -> T {
    let view = View::replay(session);
    let counter = Counter::new(Tokenizer::named("chars4").unwrap(), None);
    let work = CompactionState::new(session, &view, counter, &HashSet::new());
    look(&facts::of(&work, &|at| kept.contains(&(at / 2))))
}

/// The facts of a session, as lines.
pub fn lines_in(session: &Session, kept: std::ops::Range<usize>) -> Vec<String> {
    read_in(session, kept, lines_of)
}

/// The facts of exchanges, those at `kept` being kept, as lines.
pub fn lines(exchanges: &[[String; 2]], kept: std::ops::Range<usize>) -> Vec<String> {
    read(exchanges, kept, lines_of)
}

fn lines_of(facts: &SessionFacts<'_>) -> Vec<String> {
    let files = facts.files.in_order().into_iter().map(|(path, file)| {
        let failed = if file.failed { " failed" } else { "" };
        format!("{} {path} x{}{failed}", file.change.unwrap_or('R'), file.changes)
    });
    let commands = facts.commands.in_order().into_iter().map(|(text, command)| {
        let failure = command.failure.as_deref().unwrap_or_default();
        format!("$ {text} => {failure} / {}", command.last_line)
    });
    files.chain(commands).chain(facts.errors.lines()).collect()
}

#[test]
fn work_on_a_kept_request_is_marked() {
    let request = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let call = |id| exchange(id, "Bash", r#"{"command":"make"}"#, "ok").to_vec();
    let messages = [
        vec![request("Do it.")],
        call(1),
        vec![request("And this.")],
        call(2),
        call(3),
    ]
    .concat();
    let mut session = Session::default();
    messages.iter().for_each(|line| session.push_new(line.as_bytes()));
    let view = View::replay(&session);
    let counter = Counter::new(Tokenizer::named("chars4").unwrap(), None);
    let work = CompactionState::new(&session, &view, counter, &HashSet::new());
    let continues = |kept: &[usize]| facts::of(&work, &|at| kept.contains(&at)).continues_request;
    assert!(!continues(&[]));
    assert!(!continues(&[3, 4, 5, 6, 7]));
    assert!(continues(&[3, 6, 7]));
}

#[test]
fn an_output_that_reports_failed_tests_is_a_failure() {
    let failed = "test result: FAILED. 31 passed; 1 failed; 0 ignored";
    let calls = [
        exchange(1, "Bash", r#"{"command":"cargo test | tail -3"}"#, failed),
        exchange(2, "Bash", r#"{"command":"cargo build | tail -1"}"#, "Finished"),
        exchange(
            3,
            "Bash",
            r#"{"command":"pytest -q"}"#,
            r"48 passed in 3.0s\nWarning: error: old",
        ),
        exchange(4, "Bash", r#"{"command":"grep -rn x src"}"#, r"Exit code 1\n"),
        exchange(
            5,
            "Bash",
            r#"{"command":"ls logs"}"#,
            r"Exit code 2\nls: cannot access logs",
        ),
    ];
    assert_eq!(
        lines(&calls, 0..0),
        [
            &format!("$ cargo test | tail -3 => failed: {failed} / {failed}"),
            "$ cargo build | tail -1 =>  / Finished",
            "$ pytest -q =>  / 48 passed in 3.0s",
            "$ grep -rn x src => no match / ",
            "$ ls logs => 2: ls: cannot access logs / ls: cannot access logs",
            &format!("bash cargo test | tail -3 => failed: {failed}"),
        ]
    );
}

#[test]
fn kept_messages_resolve_earlier_errors() {
    let calls = [
        exchange(1, "Bash", r#"{"command":"pytest -q"}"#, r"Exit code 1\nE: one"),
        exchange(2, "Bash", r#"{"command":"make"}"#, r"Exit code 2\nstopped"),
        exchange(3, "Bash", r#"{"command":"python -m pytest"}"#, "48 passed"),
    ];
    let errors = [
        "bash pytest -q => 1: E: one (resolved)",
        "bash make => 2: stopped",
    ];
    for kept in [0..0, 2..3] {
        let lines = lines(&calls, kept);
        assert_eq!(lines[lines.len() - 2..], errors, "{lines:?}");
    }
}

#[test]
fn a_kept_plan_replaces_older_ones() {
    let plan = |id, step: &str| {
        let plan = format!(r#"{{"plan":[{{"step":"{step}","status":"pending"}}]}}"#);
        exchange(id, "update_plan", &plan, "ok")
    };
    let calls = [plan(1, "measure"), plan(2, "port"), plan(3, "document")];
    let steps = |kept| {
        read(&calls, kept, |facts| {
            let plan = facts.plan.iter().flatten();
            plan.map(|step| step.text.clone()).collect::<Vec<_>>()
        })
    };
    assert_eq!(steps(0..0), ["document"]);
    assert_eq!(steps(1..2), ["document"]);
    assert_eq!(steps(2..3), [""; 0]);
}

#[test]
fn an_emptied_plan_is_no_plan() {
    let calls = [
        exchange(
            1,
            "TodoWrite",
            r#"{"todos":[{"content":"port","status":"pending"}]}"#,
            "ok",
        ),
        exchange(2, "TodoWrite", r#"{"todos":[]}"#, "ok"),
    ];
    read(&calls, 0..0, |facts| assert_eq!(facts.plan, Some(Vec::new())));
    read(&calls, 1..2, |facts| assert_eq!(facts.plan, Some(Vec::new())));
}

#[test]
fn steps_of_single_calls_are_a_plan() {
    let calls = [
        exchange(
            1, "TaskCreate", r#"{"subject":"measure"}"#, "Task #1 created: measure",
        ),
        exchange(2, "TaskCreate", r#"{"subject":"port"}"#, "Task #2 created: port"),
        exchange(3, "TaskUpdate", r#"{"taskId":"1","status":"completed"}"#, "ok"),
        exchange(4, "TaskUpdate", r#"{"taskId":"2","owner":"me"}"#, "ok"),
        exchange(
            5,
            "TaskUpdate",
            r#"{"taskId":"1","subject":"measure twice"}"#,
            "ok",
        ),
    ];
    read(&calls, 0..0, |facts| {
        let steps = facts.plan.iter().flatten();
        let steps: Vec<_> = steps.map(|step| (step.state, &*step.text)).collect();
        assert_eq!(steps, [(Some('x'), "#1 measure twice"), (None, "#2 port")]);
    });
}

#[test]
fn a_closing_call_is_a_reply() {
    let closing = r#"{"result":"The importer retries a row three times."}"#;
    let calls = [
        exchange(1, "execute_command", r#"{"command":"make"}"#, "ok"),
        exchange(2, "attempt_completion", closing, ""),
    ];
    let text = "The importer retries a row three times.";
    read(&calls, 0..0, |facts| {
        assert_eq!(facts.reply.as_deref(), Some(text));
        assert_eq!(facts.notes[0].text, text);
        assert!(facts.tools.is_empty());
    });
    read(&calls, 1..2, |facts| {
        assert_eq!((&facts.reply, facts.notes.len()), (&None, 0))
    });
}

#[test]
fn failed_attempts_are_not_changes_and_shell_commands_are() {
    let failed = r#"{\"output\":\"error: patch failed: README.md\",\"metadata\":{\"exit_code\":1}}"#;
    let patch = r#"{"input":"*** Begin Patch\\n*** Add File: bin/a\\n*** Update File: README.md\\n"}"#;
    let calls = [
        exchange(1, "apply_patch", patch, failed),
        exchange(2, "write_file", r#"{"path":"bin/a"}"#, "ok"),
        exchange(3, "edit", r#"{"path":"b.py"}"#, "ok"),
        exchange(4, "Bash", r#"{"command":"git checkout -- b.py"}"#, ""),
        exchange(5, "write_file", r#"{"path":"c.py"}"#, "ok"),
        exchange(6, "Bash", r#"{"command":"git mv c.py d.py && rm e.py"}"#, ""),
        exchange(7, "Bash", r#"{"command":"sed -i s/a/b/ f.py"}"#, ""),
    ];
    let files: Vec<String> = lines(&calls, 0..0)
        .into_iter()
        .filter(|line| !line.starts_with('$'))
        .collect();
    assert_eq!(
        files,
        [
            "M README.md x0 failed",
            "A bin/a x1",
            "R b.py x0",
            "A d.py x1",
            "D c.py x2",
            "D e.py x1",
            "M f.py x1",
            "apply_patch README.md => 1: error: patch failed: README.md",
        ]
    );
}

#[test]
fn the_output_of_a_background_command_belongs_to_it() {
    let started = "Command running in background with ID: bash_1";
    let running = r"<status>running</status>\n<stdout>\nstarting\n</stdout>";
    let ended =
        r"<status>failed</status>\n<exit_code>1</exit_code>\n<stdout>\n12 passed, 1 failed: locks\n</stdout>";
    let calls = [
        exchange(
            1,
            "Bash",
            r#"{"command":"npm run e2e","run_in_background":true}"#,
            started,
        ),
        exchange(2, "BashOutput", r#"{"bash_id":"bash_1"}"#, running),
        exchange(3, "BashOutput", r#"{"bash_id":"bash_1"}"#, ended),
    ];
    let command = "$ npm run e2e => 1: 12 passed, 1 failed: locks / 12 passed, 1 failed: locks";
    assert_eq!(
        lines(&calls, 0..0),
        [command, "bash npm run e2e => 1: 12 passed, 1 failed: locks"]
    );
    // The result is kept.
    assert_eq!(lines(&calls, 2..3), [command]);
}

#[test]
fn the_result_of_a_process_belongs_to_its_command() {
    let head = r"Chunk ID: a\nWall time: 1.0 seconds\n";
    let runs = format!(r"{head}Process running with session ID 5\nOutput:\n");
    let fails = format!(r"{head}Process exited with code 101\nOutput:\nerror[E0308]: mismatched types\n");
    let lines = [
        exchange(1, "exec_command", r#"{"cmd":"cargo test"}"#, &runs),
        exchange(2, "write_stdin", r#"{"session_id":5,"chars":""}"#, &runs),
        exchange(3, "write_stdin", r#"{"session_id":5,"chars":""}"#, &fails),
    ]
    .concat();
    let user = r#"{"role":"user","category":"system_output","content":"a.rs b.rs"}"#.to_string();
    let mut session = Session::default();
    lines
        .iter()
        .chain([&user])
        .for_each(|line| session.push_new(line.as_bytes()));
    let view = View::replay(&session);
    let counter = Counter::new(Tokenizer::named("chars4").unwrap(), None);
    let work = CompactionState::new(&session, &view, counter, &HashSet::new());
    let facts = facts::of(&work, &|_| false);
    let commands = facts.commands.in_order();
    assert_eq!(commands.len(), 1);
    assert_eq!(commands[0].1.runs, 1);
    assert_eq!(
        commands[0].1.failure.as_deref(),
        Some("101: error[E0308]: mismatched types")
    );
    assert_eq!(
        facts.errors.lines(),
        ["exec_command cargo test => 101: error[E0308]: mismatched types"]
    );
    assert!(facts.tools.is_empty());
    // Command output of the user is not a request.
    assert!(facts.requests.is_empty());
}

#[test]
fn placeholders_keep_the_outcome_of_a_failed_call() {
    let lines = r"compiling a crate of the workspace\n".repeat(60);
    let codex = format!(
        r"Chunk ID: 1\nProcess exited with code 101\nOutput:\n{lines}error[E0308]: mismatched types\n{lines}"
    );
    let claude = format!(r"Exit code 2\n{lines}cp: cannot stat a, b: No such file or directory\n{lines}");
    let fine = format!(r"Process exited with code 0\nOutput:\n{lines}");
    let calls = [
        exchange(1, "exec_command", r#"{"cmd":"cargo test"}"#, &codex),
        exchange(2, "Bash", r#"{"command":"cp a, b"}"#, &claude),
        exchange(3, "exec_command", r#"{"cmd":"cargo fmt"}"#, &fine),
    ];
    let mut session = Session::default();
    session.push_new(br#"{"role":"user","content":"Build it."}"#);
    calls
        .concat()
        .iter()
        .for_each(|line| session.push_new(line.as_bytes()));
    let mut options = CompactOptions {
        steps: Steps {
            mask: true,
            ..Steps::NONE
        },
        ..CompactOptions::default()
    };
    (options.mask.keep, options.mask.min_gain) = (0, Some(0));
    let choices = Choices {
        options,
        budget: None,
        trigger: None,
        pins: Vec::new(),
        tokenizer: "chars4",
    };
    let (case, done) = Case::compacted(session, &choices);
    let (bytes, stream) = done.stream();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    for placeholder in [
        "tool output elided: exec_command => 101: error[E0308]: mismatched types, ",
        "tool output elided: Bash => 2: cp: cannot stat a, b: No such file or directory, ",
        "tool output elided: exec_command, ",
    ] {
        assert!(text.contains(placeholder), "{text}");
    }
    // The store has the results themselves, a stream has only the placeholders.
    for session in [&done.after, &stream] {
        let view = View::replay(session);
        let work = CompactionState::new(session, &view, case.counter(session), &HashSet::new());
        let facts = facts::of(&work, &|_| false);
        let commands = facts.commands.in_order().into_iter();
        let failures: Vec<_> = commands.map(|(_, command)| command.failure.as_deref()).collect();
        assert_eq!(
            failures,
            [
                Some("101: error[E0308]: mismatched types"),
                Some("2: cp: cannot stat a, b: No such file or directory"),
                None,
            ]
        );
        assert_eq!(
            facts.errors.lines(),
            [
                "exec_command cargo test => 101: error[E0308]: mismatched types",
                "bash cp a, b => 2: cp: cannot stat a, b: No such file or directory",
            ]
        );
    }
}
