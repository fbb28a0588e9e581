//! Documents read and written.

mod arbitrary;
mod fixtures;
mod small;

use super::FORM;
use super::codec::Opencode;
use crate::format::Purpose;
use crate::format::kit;
use crate::format::report::Report;
use crate::format::sessions::Input;
pub use crate::format::tests::bed::{cut, through_lines, with};
use crate::format::tests::{bed, truth};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::{Item, View};

/// A document with whatever one may have: a file that is here, steps, a thought with a signature, a result that was
/// cleared, a compaction, one that came to nothing, a call without a result.
pub const DOCUMENT: &str = include_str!("document.json");

/// The sessions of an input as they come, with where they came from.
pub fn sessions(bytes: &[u8]) -> (Vec<Session>, Report) {
    let (sessions, report, _) = sessions_and_tail(bytes);
    (sessions, report)
}

/// The same, and what stands behind the last of them.
pub fn sessions_and_tail(bytes: &[u8]) -> (Vec<Session>, Report, Vec<u8>) {
    let mut report = Report::default();
    let mut reader = kit::open(
        &Opencode,
        Input {
            name: Some("tray.json".to_string()),
            head: Vec::new(),
            rest: Box::new(std::io::Cursor::new(bytes.to_vec())),
            returns: true,
            beside: None,
        },
    )
    .unwrap();
    let sessions = truth::all(reader.as_mut(), &mut report).unwrap_or_default();
    (sessions, report, reader.tail().to_vec())
}

/// A session as a document, made of its records alone.
pub fn written(session: &Session, purpose: Purpose) -> (Vec<u8>, Report) {
    bed::written(FORM.write.unwrap(), session, purpose)
}

/// Sessions as the input that they came from.
pub fn returned(sessions: &[Session], changed: bool) -> crate::error::Result<Vec<u8>> {
    bed::returned(FORM.back.unwrap(), sessions, changed)
}

/// What a model would be sent, without books and without what stands for cuts.
pub fn shown(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    assert!(view.dangling.is_empty(), "{:?}", view.dangling);
    let item = |item: &Item| {
        if item.summary(session).is_some() {
            return None;
        }
        let own = [
            "role",
            "content",
            "tool_calls",
            "tool_call_id",
            "reasoning",
            "category",
        ];
        let members = own
            .iter()
            .filter_map(|name| json::member(item.body(session), name));
        Some(String::from_utf8(members.collect::<Vec<_>>().join(&b'\n')).unwrap())
    };
    view.items.iter().filter_map(item).collect()
}
