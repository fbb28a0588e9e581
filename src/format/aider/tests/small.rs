//! Tests with small histories: runs of lines, and round trips.

use super::{role_texts, sessions, written};
use crate::format::report::Loss;
use crate::model::session::Class;
use crate::model::session::of_lines as session;
use crate::model::view::View;
use proptest::prelude::*;

const HEAD: &str = "\n# aider chat started at 2026-06-01 10:00:00\n\n";

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(role, text)| (role.to_string(), text.to_string()))
        .collect()
}

#[test]
fn runs_are_messages() {
    let text = format!(
        "{HEAD}> aider v1  \n>\n\n> more  \n#### one  \n####   \n#### two\n\n#### three  \nanswer\n\n# not a session  \n\n\n> end  "
    );
    let (all, report) = sessions(&text);
    assert_eq!(all.len(), 1);
    assert_eq!(
        role_texts(&all[0]),
        pairs(&[
            ("console", "> aider v1  \n>\n\n> more  "),
            ("user", "one\n\ntwo"),
            ("user", "three"),
            ("assistant", "answer\n\n# not a session  "),
            ("console", "> end  "),
        ])
    );
    assert!(report.findings.iter().all(|finding| !finding.damage));
    assert_eq!(report.findings.len(), 2, "{report:?}");
}

#[test]
fn sessions_follow_one_another_and_have_numbers() {
    let empty = "# aider chat started at 2026-06-02 10:00:00\n";
    let text = format!("said before\n{HEAD}#### a  \n{empty}{empty}");
    let (all, _) = sessions(&text);
    let ids: Vec<_> = all
        .iter()
        .map(|session| session.header_text("key").unwrap())
        .collect();
    assert_eq!(ids, [1, 2, 3, 4].map(|nth| format!(".aider.chat.history#{nth}")));
    assert_eq!(all[0].header_text("created_at"), None);
    assert!(
        all[1]
            .header_text("created_at")
            .unwrap()
            .starts_with("2026-06-01T10:00:00")
    );
    assert_eq!(all[3].len(), 1);
    // Empty lines before the first session are not a session.
    assert_eq!(sessions(&format!("\n \n{HEAD}")).0.len(), 1);
    assert!(sessions("\n\n").0.is_empty());
    // An invalid date does not start a session.
    let (all, report) = sessions("# aider chat started at noon\n#### a  \n");
    assert_eq!(all.len(), 1);
    assert!(
        report
            .findings
            .iter()
            .any(|finding| finding.what.contains("read as chat history"))
    );
}

#[test]
fn cleared_messages_are_hidden_by_later_messages() {
    let cleared = "#### a  \n\nb\n\n#### /clear  \n> All chat history cleared.  \n";
    let view = |text: &str| {
        let (all, _) = sessions(&format!("{HEAD}{text}"));
        View::replay(&all[0]).items.len()
    };
    assert_eq!(view(cleared), 3);
    assert_eq!(view(&format!("{cleared}\n#### c  \n\nd\n")), 2);
    // Requested, but not executed.
    assert_eq!(view("#### a  \n\n#### /clear  \n\n#### c  \n"), 3);
    assert_eq!(
        view("#### a  \n\n#### all?  \n> All chat history cleared.  \n#### c  \n"),
        3
    );
}

#[test]
fn a_line_that_is_not_utf8_is_reported_and_preserved() {
    let bytes = [HEAD.as_bytes(), b"#### a  \nb\n\xff\nc\n"].concat();
    let mut report = crate::format::report::Report::default();
    let source = crate::format::DocumentSource::alone(&bytes);
    let all = crate::format::convert(crate::format::Format::Aider, &source, &mut report).unwrap();
    let damage: Vec<_> = report.findings.iter().filter(|finding| finding.damage).collect();
    assert_eq!(damage.len(), 1);
    assert_eq!((damage[0].place.line, damage[0].what.as_ref()), (6, "not UTF-8"));
    assert_eq!(
        role_texts(&all[0]),
        pairs(&[("user", "a"), ("assistant", "b"), ("assistant", "c")])
    );
    let kept = (0..all[0].len())
        .find(|index| all[0].class(*index) == Class::Unreadable)
        .unwrap();
    assert_eq!(all[0].full(kept), b"\xff\n");
}

#[test]
fn a_converted_session_is_shown() {
    let session = session(&[
        r#"{"type":"session","version":1,"id":"x","created_at":"2026-01-02T03:04:05Z"}"#,
        r#"{"role":"system","content":"Be terse."}"#,
        r#"{"role":"user","content":"a\n\nb"}"#,
        r#"{"role":"assistant","content":"ok\n> quoted\n#### heading","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"r"}"#,
        r#"{"role":"assistant","content":"one"}"#,
        r#"{"role":"assistant","content":"two"}"#,
    ]);
    let (text, report) = written(&session);
    assert!(text.ends_with(
        "\n\n> system: Be terse.  \n\n#### a  \n####   \n#### b  \n\nok\n > quoted\n #### heading\n\n> Call: f({})  \n> Result: r  \n\none\n\n>\n\ntwo\n"
    ), "{text}");
    assert_eq!(report.losses[&Loss::Part], 4);
    assert_eq!(report.losses[&Loss::Message], 1);
    let again = role_texts(&sessions(&text).0[0]);
    let texts: Vec<&str> = again
        .iter()
        .filter(|(role, _)| role != "console")
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(texts, ["a\n\nb", "ok\n > quoted\n #### heading", "one", "two"]);
}

proptest! {
    #[test]
    fn messages_read_back_equal(texts in prop::collection::vec((any::<bool>(), "[a-c#> \r\n\u{e9}]{0,12}"), 0..6)) {
        let mut session = session(&[r#"{"type":"session","version":1,"id":"x","created_at":"2026-01-02T03:04:05Z"}"#]);
        let mut wanted = Vec::new();
        for (user, text) in &texts {
            let role = if *user { "user" } else { "assistant" };
            let line = serde_json::json!({"role": role, "content": text});
            session.push_new(line.to_string().as_bytes());
            wanted.push((role.to_string(), text.clone()));
        }
        let (text, report) = written(&session);
        let (all, _) = sessions(&text);
        let again: Vec<_> = role_texts(&all[0]).into_iter().filter(|(role, _)| role != "console").collect();
        // Nothing is lost without being reported.
        let reported = report.losses.contains_key(&Loss::Part) || report.losses.contains_key(&Loss::Message);
        prop_assert!(reported || again == wanted, "{text:?}: {again:?} and not {wanted:?}");
    }
}
