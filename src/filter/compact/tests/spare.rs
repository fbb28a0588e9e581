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
    let call = r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"make\"}"}}]}"#;
    lines.insert(1, call.to_string());
    lines.insert(
        2,
        r#"{"role":"tool","tool_call_id":"c1","content":"ok"}"#.to_string(),
    );
    let (_, done, now, budget) = compacted(&lines, 1000);
    let text = String::from_utf8_lossy(&done.view.shown(&done.after).concat()).into_owned();
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
        let text = String::from_utf8_lossy(&done.view.shown(&done.after).concat()).into_owned();
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
