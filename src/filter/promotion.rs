//! Promotes the history of a session under an old key to an empty session under a new key.

use super::Stamp;
use super::materialize::remaining_lines;
use crate::model::json;
use crate::model::session::{DerivedLine, Session};
use crate::model::view::View;
use crate::tokens::counter;

/// The promotions that a session records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Promoted {
    /// The session whose history was copied into this one.
    pub from: Option<String>,
    /// The session that received this one's history, and the id of the event that records it.
    pub to: Option<(String, String)>,
}

impl Promoted {
    /// Reads the active events of a session.
    pub fn of(session: &Session) -> Promoted {
        let mut promoted = Promoted::default();
        for index in session.live_events() {
            let record = session.record(index);
            let Some(event) = record.event().filter(|event| event.name() == "link") else {
                continue;
            };
            let text = |name| json::member_string(event.raw, name);
            if let Some(from) = text("promoted_from") {
                promoted.from = Some(from);
            }
            if let Some(to) = text("promoted_to") {
                promoted.to = Some((to, event.id().unwrap_or_default().into_owned()));
            }
        }
        promoted
    }
}

/// Whether there is history to send: a message in the view, or a summary that is not blank.
pub fn has_history(session: &Session, view: &View) -> bool {
    view.items.iter().any(|item| match item.summary(session) {
        Some(text) => !text.trim().is_empty(),
        None => item.message(session).is_some(),
    })
}

/// Builds the lines that copy a history: the event that names the source, then its view. Messages keep their ids, and
/// their token counts if both sessions use the same tokenizer.
pub fn lines(source: &Session, view: &View, target: &Session, event: Vec<u8>) -> Vec<Vec<u8>> {
    let alike = counter::named_by(source) == counter::named_by(target);
    let mut lines = vec![event];
    for piece in remaining_lines(source, view, |_| false) {
        let line = match piece {
            DerivedLine::Line(index) => source.record(index).body.to_vec(),
            DerivedLine::Edited(_, line) | DerivedLine::Generated(line) => line,
        };
        let uncounted = (!alike).then(|| json::with_members(&line, &[("tokens", None)]));
        lines.push(match uncounted {
            Some(Ok(line)) if json::member(&line, "role").is_some() => line,
            _ => line,
        });
    }
    lines
}

/// The event in the session that receives a history.
pub fn adoption_event(stamp: &Stamp, source: &str, name: &str) -> Vec<u8> {
    let mut event = stamp.event("link");
    event.text("promoted_from", source).text("alias", name);
    event.finish()
}

/// The event in the session whose history is copied. It is written first, so that no history is copied twice.
pub fn reservation_event(stamp: &Stamp, target: &str) -> Vec<u8> {
    let mut event = stamp.event("link");
    event.text("promoted_to", target);
    event.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::session::of_lines as session;

    fn stamp() -> Stamp {
        Stamp {
            id: "evt_1".to_string(),
            at: "2026-11-20T18:02:03Z".to_string(),
        }
    }

    #[test]
    fn promotion_copies_only_the_view() {
        let source = session(&[
            r#"{"type":"session","version":1,"id":"old","tokenizer":"o200k_base"}"#,
            r#"{"role":"user","content":"gone","id":"m1"}"#,
            r#"{"role":"user","content":"a","id":"m2","tokens":7,"x":1.0}"#,
            r#"{"type":"truncate","id":"e1","before":"m2"}"#,
            r#"{"type":"summary","id":"e2","content":"Before.","covers":["m1","m1"]}"#,
            r#"{"role":"assistant","content":"b"}"#,
        ]);
        let view = View::replay(&source);
        let same = session(&[r#"{"type":"session","id":"new","tokenizer":"o200k_base"}"#]);
        let taken = lines(
            &source,
            &view,
            &same,
            adoption_event(&stamp(), "old", "agent:a:b"),
        );
        let text: Vec<_> = taken
            .iter()
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        assert_eq!(
            text,
            [
                r#"{"type":"link","id":"evt_1","at":"2026-11-20T18:02:03Z","promoted_from":"old","alias":"agent:a:b"}"#,
                r#"{"type":"summary","id":"e2","content":"Before.","here":true}"#,
                r#"{"role":"user","content":"a","id":"m2","tokens":7,"x":1.0}"#,
                r#"{"role":"assistant","content":"b"}"#,
            ]
        );
        let mut whole = same.clone();
        taken.iter().for_each(|line| whole.push_new(line));
        let shown = View::replay(&whole).shown(&whole);
        assert_eq!(shown, view.shown(&source));
        // A count by another tokenizer is dropped.
        let other = session(&[r#"{"type":"session","id":"new"}"#]);
        let taken = lines(&source, &view, &other, Vec::new());
        assert_eq!(taken[2], br#"{"role":"user","content":"a","id":"m2","x":1.0}"#);
    }

    #[test]
    fn a_blank_summary_is_not_a_history() {
        let history = |lines: &[&str]| {
            let session = session(lines);
            has_history(&session, &View::replay(&session))
        };
        assert!(!history(&[r#"{"type":"session","id":"a"}"#]));
        assert!(!history(&[r#"{"type":"summary","id":"e","content":" \n"}"#]));
        assert!(history(&[r#"{"type":"summary","id":"e","content":"x"}"#]));
        assert!(!history(&[
            r#"{"role":"user","content":"a","id":"m"}"#,
            r#"{"type":"truncate","id":"e","before":null}"#
        ]));
    }

    #[test]
    fn an_undone_promotion_does_not_count() {
        let to = String::from_utf8(reservation_event(&stamp(), "new")).unwrap();
        let back = r#"{"type":"restore","id":"evt_2","of":"evt_1"}"#;
        assert_eq!(
            Promoted::of(&session(&[&to])).to,
            Some(("new".to_string(), "evt_1".to_string()))
        );
        assert_eq!(Promoted::of(&session(&[&to, back])), Promoted::default());
    }
}
