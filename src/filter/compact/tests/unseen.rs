//! Messages that the model has not seen: as many of the newest are kept as fit, and the summary quotes the others.

use super::super::CompactOptions;
use super::case::Case;
use super::choices::Wish;
use super::many::hold;
use crate::model::session::Session;

fn said(nth: usize, more: &str, text: &str) -> String {
    format!(r#"{{"role":"user","id":"u{nth}"{more},"content":"{text}"}}"#)
}

/// A user who writes many messages, one of them perhaps large, without a reply.
fn notes(large: bool) -> Vec<String> {
    let note = |nth: usize| {
        format!(
            "Note {nth}: the shed needs {} bolts, and the roof {} tiles.",
            nth * 3,
            nth * 7
        )
    };
    let mut lines: Vec<String> = (0..120).map(|nth| said(nth, "", &note(nth))).collect();
    if large {
        let text: String = (0..900)
            .map(|nth| format!("{nth} is a line of a log\\n"))
            .collect();
        lines[60] = said(60, "", &text);
    }
    lines
}

fn case(lines: &[String], share: u64) -> (Session, Wish) {
    let mut session = Session::default();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    let wish = Wish {
        options: CompactOptions::default(),
        budget: Some(share),
        trigger: None,
        pins: Vec::new(),
        tokenizer: "chars4",
    };
    (session, wish)
}

#[test]
fn user_messages_alone_fit_any_budget() {
    for large in [false, true] {
        for share in [200, 500, 1000, 2500, 5000, 9000] {
            let (session, wish) = case(&notes(large), share);
            assert_eq!(
                hold(session.clone(), &wish).unwrap(),
                "compacted",
                "{large} {share}"
            );
            let case = Case::new(session, &wish);
            let outcome = case.plan(&case.before, &case.options).unwrap();
            let done = case.done(outcome).unwrap();
            let view = done.view.shown(&done.after);
            let text = String::from_utf8_lossy(&view.concat()).into_owned();
            // The newest messages are kept, the older ones quoted as lines of the summary.
            assert!(
                view.last()
                    .unwrap()
                    .starts_with(b"{\"role\":\"user\",\"id\":\"u119\""),
                "{text}"
            );
            let quotes = text.contains("\nuser: Note ") && view.len() > 4;
            // At most the large message is shortened if that suffices.
            let whole = large && view.len() == 120;
            assert!(share < 1000 || quotes || whole, "{large} {share}: {text}");
        }
    }
}

#[test]
fn unseen_messages_after_a_reply_and_events_fit_a_budget() {
    let event = r#","category":"context""#;
    let reply = r#"{"role":"assistant","id":"a","content":"The roof is done."}"#.to_string();
    let mut lines = notes(false);
    lines.insert(20, reply);
    for (nth, line) in notes(true).into_iter().enumerate().skip(70) {
        let id = format!(r#""id":"u{nth}""#);
        lines.push(line.replacen(&id, &format!(r#""id":"e{nth}"{event}"#), 1));
    }
    for share in (200..10_000).step_by(700) {
        let (session, wish) = case(&lines, share);
        assert_eq!(hold(session, &wish).unwrap(), "compacted", "{share}");
    }
}
