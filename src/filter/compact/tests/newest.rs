//! The newest messages are kept, even without a request, and even if they belong to an old exchange.

use super::super::CompactOptions;
use super::case::Case;
use super::choices::Choices;
use super::many::hold;
use crate::model::session::Session;

/// A tool call.
fn call(id: &str, words: usize) -> String {
    let text = "build the shed ".repeat(words);
    format!(
        r#"{{"role":"assistant","id":"m_{id}","content":"Now {id}.","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"bash","arguments":"{{\"command\":\"echo {text}\"}}"}}}}]}}"#
    )
}

/// Adds a call without arguments.
fn and_another(call: &str, id: &str) -> String {
    let another =
        format!(r#"}},{{"id":"{id}","type":"function","function":{{"name":"bash","arguments":"{{}}"}}}}]}}"#);
    call.replacen("}]}", &another, 1)
}

/// A tool result.
fn result(id: &str, words: usize) -> String {
    let text = "the shed is red and has a door ".repeat(words);
    format!(r#"{{"role":"tool","id":"r_{id}","tool_call_id":"{id}","content":"{text}"}}"#)
}

fn message(role: &str, nth: usize, more: &str, words: usize) -> String {
    let text = "a garden with seeds and a roof ".repeat(words);
    format!(r#"{{"role":"{role}","id":"s_{nth}"{more},"content":"{text}"}}"#)
}

fn holds(lines: &[String], pin_first_user: bool) {
    holds_with(
        lines,
        &CompactOptions {
            pin_first_user,
            ..CompactOptions::default()
        },
    );
}

fn holds_with(lines: &[String], options: &CompactOptions) {
    let mut session = Session::default();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    let mut compacted = 0;
    for share in (200..10_000).step_by(200) {
        for best_effort in [false, true] {
            let choices = Choices {
                options: CompactOptions {
                    best_effort,
                    retry: true,
                    ..options.clone()
                },
                budget: Some(share),
                trigger: None,
                pins: Vec::new(),
                tokenizer: "chars4",
            };
            match hold(session.clone(), &choices) {
                Ok(what) => compacted += usize::from(what == "compacted"),
                Err(why) => panic!("{share} of 10,000: {why}"),
            }
        }
    }
    assert!(compacted > 10);
}

#[test]
fn a_view_of_events_alone_begins_with_one() {
    let event = r#","category":"context""#;
    holds(
        &[
            message("user", 1, event, 30),
            call("c1", 30),
            result("c1", 60),
            message("user", 2, event, 30),
            call("c2", 30),
            result("c2", 60),
            message("assistant", 3, "", 40),
            call("c3", 30),
            result("c3", 60),
            message("assistant", 4, "", 40),
        ],
        false,
    );
}

#[test]
fn a_late_result_is_kept_with_its_call() {
    holds(
        &[
            message("user", 1, "", 30),
            call("c1", 30),
            message("user", 2, "", 30),
            call("c2", 30),
            result("c2", 60),
            message("assistant", 3, "", 40),
            message("user", 4, "", 30),
            call("c3", 30),
            result("c3", 60),
            message("assistant", 5, "", 40),
            result("c1", 60),
        ],
        false,
    );
}

#[test]
fn context_between_a_call_and_its_late_result_is_kept() {
    holds(
        &[
            message("user", 1, "", 30),
            message("assistant", 2, "", 40),
            message("user", 3, "", 3),
            and_another(&call("c1", 3), "c2"),
            result("c1", 6),
            message("user", 4, r#","category":"context""#, 30),
            message("assistant", 5, "", 40),
            message("assistant", 6, "", 20),
            result("c2", 60),
        ],
        false,
    );
}

#[test]
fn an_open_loop_begins_with_its_reasoning() {
    let thinks = |line: String, part: &str| {
        line.replacen("\"content\"", &format!("\"reasoning\":[{part}],\"content\""), 1)
    };
    let reasoning = r#"{"type":"thinking","thinking":"so","signature":"c2lnbmVk"}"#;
    let encrypted = r#"{"type":"encrypted","encrypted_content":"QUJDQUJD"}"#;
    holds(
        &[
            message("user", 1, "", 30),
            thinks(call("c1", 30), reasoning),
            result("c1", 60),
            thinks(call("c2", 3), encrypted),
            result("c2", 6),
            thinks(call("c3", 3), encrypted),
            result("c3", 6),
            thinks(call("c4", 3), encrypted),
            result("c4", 6),
        ],
        false,
    );
}

#[test]
fn an_open_loop_is_cut_before_a_call_that_waits() {
    let reasoning = r#""reasoning":[{"type":"thinking","thinking":"so","signature":"c2lnbmVk"}],"content""#;
    let thinks = |id: &str| call(id, 30).replacen("\"content\"", reasoning, 1);
    let mut lines = vec![message("user", 1, "", 5)];
    for nth in 0..20 {
        let id = format!("c{nth}");
        lines.extend([thinks(&id), result(&id, 30)]);
    }
    lines.push(thinks("waiting"));
    holds(&lines, false);
    let mut session = Session::default();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    let choices = Choices {
        options: CompactOptions::default(),
        budget: Some(400),
        trigger: None,
        pins: Vec::new(),
        tokenizer: "chars4",
    };
    let case = Case::new(session, &choices);
    case.plan(&case.before, &case.options).unwrap();
}

#[test]
fn a_final_pinned_question_is_the_only_newest_message() {
    let replies = (0..6).flat_map(|nth| {
        let id = format!("c{nth}");
        [call(&id, 10), result(&id, 20), message("assistant", nth, "", 20)]
    });
    let lines: Vec<String> = replies.chain([message("user", 9, "", 5)]).collect();
    holds(&lines, true);
}

#[test]
fn an_open_call_before_a_question_can_be_dropped() {
    let two = and_another(&call("p1", 30), "p2");
    // A result of a call before the question merges both exchanges.
    holds(
        &[
            message("user", 1, "", 30),
            message("assistant", 2, "", 30),
            message("user", 3, "", 30),
            two,
            result("p1", 60),
            call("q", 60),
            message("user", 4, "", 10),
            result("q", 60),
            message("assistant", 5, "", 20),
        ],
        false,
    );
}

/// The same case is planned twice each time, with different hashes.
#[test]
fn of_two_results_of_a_call_the_summary_has_the_first() {
    let mut lines: Vec<String> = (0..8).map(|nth| message("user", nth, "", 20)).collect();
    let failed = result("c1", 4).replacen("}", r#","metadata":{"is_error":true}}"#, 1);
    lines.splice(
        1..1,
        [
            call("c1", 3),
            failed,
            result("c1", 5),
            message("assistant", 9, "", 20),
        ],
    );
    holds(&lines, false);
}

#[test]
fn argument_placeholders_reach_no_budget_below_the_minimum() {
    let mut options = CompactOptions::default();
    options.mask.inputs = true;
    options.mask.keep = 0;
    // The results are no longer than placeholders, so that only the arguments can shrink.
    let lines = [
        message("user", 1, "", 3),
        and_another(&and_another(&call("c1", 19), "c2"), "c3"),
        result("c1", 2),
        result("c2", 2),
        result("c3", 2),
    ];
    holds_with(&lines, &options);
}

#[test]
fn head_and_tail_respect_the_line_limit_of_a_result() {
    let mut options = CompactOptions::default();
    options.tool_output.lines = 1;
    // Text that may be elided already gets no placeholder.
    let result = result("c1", 11).replacen("shed is", "[convo: is", 1);
    holds_with(&[message("user", 1, "", 3), call("c1", 3), result], &options);
}

#[test]
fn a_partly_answered_call_is_kept_with_its_late_result() {
    let event = r#","category":"context""#;
    for between in ["", event] {
        let first = message("user", 1, between, 30);
        let before = [
            first,
            message("assistant", 2, "", 30),
            message("user", 3, between, 30),
        ];
        let two = and_another(&call("p1", 30), "p2");
        let after = [
            message("user", 4, between, 10),
            message("assistant", 5, "", 20),
            result("p1", 60),
        ];
        let lines: Vec<String> = before.into_iter().chain([two]).chain(after).collect();
        holds(&lines, false);
    }
}

#[test]
fn messages_before_a_pinned_question_are_not_newest() {
    let reasoning = r#""reasoning":[{"type":"thinking","thinking":"so","signature":"c2lnbmVk"}],"content""#;
    let mut options = CompactOptions {
        pin_first_user: true,
        ..CompactOptions::default()
    };
    options.mask.inputs = true;
    let mut lines = vec![
        call("c1", 30).replacen("\"content\"", reasoning, 1),
        result("c1", 1),
        message("user", 1, "", 5),
    ];
    holds_with(&lines, &options);
    // After the question, a loop may be cut at its reasoning.
    for id in ["c2", "c3"] {
        let again = call(id, 30).replacen("\"content\"", reasoning, 1);
        lines.extend([again, result(id, 30)]);
    }
    holds_with(&lines, &options);
}

#[test]
fn messages_that_fit_next_to_a_pinned_question_are_kept() {
    let replies = (0..6).flat_map(|nth| {
        let id = format!("c{nth}");
        [call(&id, 10), result(&id, 20), message("assistant", nth, "", 20)]
    });
    let lines = replies.chain([message("user", 9, "", 5)]);
    let mut session = Session::default();
    lines.for_each(|line| session.push_new(line.as_bytes()));
    let choices = Choices {
        options: CompactOptions {
            pin_first_user: true,
            ..CompactOptions::default()
        },
        budget: Some(4000),
        trigger: None,
        pins: Vec::new(),
        tokenizer: "chars4",
    };
    let case = Case::new(session, &choices);
    let done = case
        .done(case.plan(&case.before, &case.options).unwrap())
        .unwrap();
    assert!(done.view.items.len() > 2, "not a summary and the question alone");
}

#[test]
fn results_are_shortened_next_to_a_call_that_waits() {
    let lines = [
        message("user", 1, "", 3),
        and_another(&call("c1", 3), "c2"),
        result("c1", 2000),
    ];
    let mut session = Session::default();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    let choices = Choices {
        options: CompactOptions::default(),
        budget: Some(500),
        trigger: None,
        pins: Vec::new(),
        tokenizer: "chars4",
    };
    let (case, done) = Case::compacted(session, &choices);
    let size = case.size(&done.after, &done.view).tokens;
    assert!(
        size <= case.was.tokens / 20 && size > case.was.tokens / 25,
        "{size}"
    );
    assert_eq!(done.view.items[1].body(&done.after), lines[1].as_bytes());
}
