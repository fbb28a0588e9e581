//! A budget that one large message exceeds is spent: on older exchanges, and on the middle of the large message.

use super::super::CompactOptions;
use super::case::{Case, Done};
use super::choices::Choices;
use crate::model::session::Session;

fn compacted(lines: &[String], share: u64) -> (Case, Done, u64, u64) {
    let mut session = Session::default();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    let choices = Choices {
        options: CompactOptions::default(),
        budget: Some(share),
        trigger: None,
        pins: Vec::new(),
        tokenizer: "chars4",
    };
    let (case, done) = Case::compacted(session, &choices);
    let budget = case.options.budget.unwrap();
    let now = case.size(&done.after, &done.view).tokens;
    (case, done, now, budget)
}

fn message(role: &str, text: &str) -> String {
    format!(r#"{{"role":"{role}","content":"{text}"}}"#)
}

const CALL: &str = r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"make\"}"}}]}"#;

const RESULT: &str = r#"{"role":"tool","tool_call_id":"c1","content":"ok"}"#;

/// A conversation whose newest request has a large text.
fn pasted() -> Vec<String> {
    let large: String = (0..8000)
        .map(|nth| format!("{nth} is a line of a log\\n"))
        .collect();
    vec![
        message(
            "user",
            "Plan the release: the deadline is 4 June, and nobody may work on Sunday.",
        ),
        message("assistant", "The plan has three steps."),
        message("user", &large),
        message("assistant", "I have read it."),
    ]
}

#[test]
fn a_large_newest_message_leaves_the_budget_to_others() {
    for share in [100, 1000, 2500] {
        let (_, done, now, budget) = compacted(&pasted(), share);
        let view = done.view.shown(&done.after);
        let text = String::from_utf8_lossy(&view.concat()).into_owned();
        assert!(text.contains("the deadline is 4 June"), "{share}: {text}");
        assert!(
            now <= budget && now * 10 >= budget * 8,
            "{share}: {now} of {budget}"
        );
    }
}

#[test]
fn a_large_message_among_calls_leaves_the_budget_to_others() {
    let mut lines = pasted();
    lines.insert(1, CALL.to_string());
    lines.insert(2, RESULT.to_string());
    let (_, done, now, budget) = compacted(&lines, 1000);
    let text = done.shown();
    assert!(text.contains("the deadline is 4 June"), "{text}");
    assert!(now <= budget && now * 10 >= budget * 8, "{now} of {budget}");
}

#[test]
fn code_that_no_summary_quotes_is_kept_shortened() {
    let code: String = (0..400).map(|nth| format!("    f{nth}(x);\\n")).collect();
    let lines = [
        message("user", "Write the module, please."),
        message("assistant", &format!("Here it is:\\n```\\n{code}```")),
        message("user", "Thanks, what next?"),
        message("assistant", "Nothing."),
    ];
    for share in [2000, 5000, 8000] {
        let (_, done, now, budget) = compacted(&lines, share);
        let text = done.shown();
        assert!(
            text.contains("f0(x);") && text.contains("f399(x);"),
            "{share}: {text}"
        );
        assert!(
            now <= budget && now * 10 >= budget * 8,
            "{share}: {now} of {budget}"
        );
    }
}

#[test]
fn a_summary_does_not_quote_what_a_shortened_reply_shows() {
    let sentences: String = (0..200)
        .map(|nth| format!("Chapter {nth} describes the component number {nth}. "))
        .collect();
    let closing = format!(r#"{{\"result\":\"{sentences}\"}}"#);
    let calling = |name: &str, arguments: &str| {
        format!(
            r#"{{"role":"assistant","content":"","tool_calls":[{{"id":"{name}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}]}}"#
        )
    };
    let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"ok"}}"#);
    for reply in [
        vec![message("assistant", &sentences)],
        vec![
            calling("attempt_completion", &closing),
            result("attempt_completion"),
        ],
    ] {
        let mut lines = vec![
            message("user", "Make a report."),
            calling("bash", r#"{\"command\":\"make\"}"#),
            result("bash"),
            message("user", &"Here is a part of it. ".repeat(200)),
            message("assistant", &"It is in the report now. ".repeat(200)),
            message("user", "Finish it."),
        ];
        lines.extend(reply);
        let (_, done, ..) = compacted(&lines, 1000);
        let summary = done.summary();
        assert!(
            !summary.contains("last reply:") && summary.contains("- Chapter "),
            "{summary}"
        );
        let view = done.shown();
        for nth in 0..200 {
            let sentence = format!("Chapter {nth} describes the component number {nth}.");
            assert!(view.matches(&sentence).count() <= 1, "{sentence} {view}");
        }
        assert!(
            view.contains("Chapter 0 describes") && view.contains("number 199."),
            "{view}"
        );
    }
}

#[test]
fn the_newest_reply_has_what_a_summary_leaves() {
    let sentences = |of: &str, number: usize| -> String {
        let all = (0..number).map(|nth| format!("Chapter {nth} of the {of} describes the component {nth}. "));
        all.collect()
    };
    let mut lines = vec![
        message("user", "Make a report."),
        CALL.to_string(),
        RESULT.to_string(),
    ];
    for nth in 0..20 {
        lines.push(message("user", "Go on."));
        lines.push(message("assistant", &sentences(&format!("part {nth}"), 40)));
    }
    lines.push(message("user", "Finish it."));
    lines.push(message("assistant", &sentences("end", 200)));
    for share in (150..500).step_by(50) {
        let (case, done, _, budget) = compacted(&lines, share);
        let last = done.view.items.last().unwrap().message(&done.after).unwrap();
        let tokens = case.counter(&done.after).message(&last);
        assert!(tokens * 6 >= budget, "{share}: {tokens} of {budget}");
    }
}

#[test]
fn a_smaller_summary_leaves_tokens_to_the_newest_reply() {
    let sentences = |of: &str| -> String {
        let all = (0..400).map(|nth| format!("Chapter {nth} of the {of} describes the component {nth}. "));
        all.collect()
    };
    let summary = format!(
        r#"{{"type":"summary","id":"e1","at":"2026-01-01T00:00:00Z","content":"{}","covers":["m1","m1"]}}"#,
        sentences("summary")
    );
    let first = r#"{"role":"user","id":"m1","content":"Make a report."}"#;
    let lines = [
        first.to_string(),
        CALL.to_string(),
        RESULT.to_string(),
        message("user", "Finish it."),
        message("assistant", &sentences("end")),
        summary,
    ];
    let (case, done, _, budget) = compacted(&lines, 3000);
    let last = done.view.items.last().unwrap().message(&done.after).unwrap();
    let tokens = case.counter(&done.after).message(&last);
    assert!(tokens > 120, "{tokens} of {budget}");
}
