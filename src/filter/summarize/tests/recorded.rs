//! Tests what a small record of a handoff lists first, and what a further one reports of an earlier one.

use super::super::handoff::{Command, SessionError, SessionFacts};
use super::handed::handed;
use super::*;

fn ran(facts: &mut SessionFacts<'static>, text: &str, failure: Option<&str>, last_line: &'static str) {
    *facts.commands.seen(text) = Command {
        runs: 1,
        failure: failure.map(str::to_string),
        last_line: last_line.into(),
        ..Command::default()
    };
}

/// Facts of which a small record lists few.
fn busy(is_further: bool) -> SessionFacts<'static> {
    let mut facts = SessionFacts {
        is_further,
        ..SessionFacts::default()
    };
    for nth in 0..20 {
        facts
            .requests
            .push(format!("Describe the importer {nth}.").into());
        facts.files.seen(&format!("src/{nth}.rs")).attempt('M', false);
    }
    let failure = "1: ERROR: the build of the remote importer is refused by the policy";
    let error = SessionError::new("bash", "deploy --to the staging importer", failure.to_string());
    facts.errors.push(error);
    let edit = SessionError::parse("edit a.rs => failed: no match (resolved)");
    facts.errors.push(edit);
    ran(
        &mut facts,
        "pytest tests --of the whole importer -q",
        None,
        "24 passed in 2 s",
    );
    for nth in 0..20 {
        ran(&mut facts, &format!("mkdir {nth}"), None, "");
    }
    facts
}

#[test]
fn open_errors_and_the_newest_result_come_first() {
    for is_further in [false, true] {
        let text = handed(busy(is_further), None, 60).text;
        assert!(
            text.contains("\n- bash deploy --to the staging importer => 1: ERROR: "),
            "{text}"
        );
        let result = "\n$ pytest tests --of the whole importer -q: 24 passed in 2 s";
        assert!(text.contains(result), "{text}");
        let request = if is_further { 19 } else { 0 };
        assert!(
            text.contains(&format!("\n- Describe the importer {request}.")),
            "{text}"
        );
    }
}

#[test]
fn all_tokens_of_a_small_record_are_used() {
    let mut unused = 0;
    for budget in 40..240 {
        unused += budget - words(&handed(busy(true), None, budget).text);
    }
    // The shortest lines have two.
    assert!(unused <= 200 * 2, "{unused}");
}

#[test]
fn a_further_record_reports_what_it_resolves_once() {
    let mut first = SessionFacts::default();
    let error = |command, failure: &str| SessionError::new("bash", command, failure.to_string());
    first.errors.push(error("pytest -q", "1: E: one"));
    first.errors.push(error("npm test", "1: E: two"));
    let first = handed(first, None, 1000).text;
    let further = |earlier: &str| {
        let mut newer = SessionFacts::default();
        ran(&mut newer, "pytest -q", None, "24 passed");
        newer.follow(recorded_facts(earlier));
        handed(newer, None, 1000).text
    };
    let second = further(&first);
    assert!(
        second.contains("\nerrors:\n- bash pytest -q => 1: E: one (resolved)"),
        "{second}"
    );
    assert!(!second.contains("npm test"), "{second}");
    let third = further(&format!("{first}\n{second}"));
    assert!(!third.contains("errors:"), "{third}");
}

#[test]
fn a_failed_command_is_resolved_by_a_later_one() {
    let mut facts = SessionFacts::default();
    ran(&mut facts, "pytest tests/a.py", Some("1: E: one"), "");
    ran(&mut facts, "npm test", Some("1: FAIL"), "");
    ran(&mut facts, "pytest", None, "24 passed");
    let first = handed(facts, None, 1000).text;
    let again = handed(SessionFacts::default(), Some(&first), 1000).text;
    for text in [first, again] {
        assert!(text.contains("\n$ pytest tests/a.py => 1 (resolved)\n"), "{text}");
        assert!(text.contains("\n$ npm test => 1: FAIL\n"), "{text}");
    }
}

#[test]
fn existing_files_come_before_deleted_ones() {
    let mut facts = SessionFacts::default();
    facts.files.seen("src/read.rs");
    facts.files.seen("src/new.rs").attempt('A', false);
    facts.files.seen("src/old.rs").attempt('D', false);
    let text = handed(facts, None, 1000).text;
    assert!(
        text.contains("files:\nA src/new.rs\nD src/old.rs\nR src/read.rs"),
        "{text}"
    );
}
