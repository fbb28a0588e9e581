//! Counts messages like PicoClaw, which reads some lines as empty messages.

use super::line::is_empty;
use crate::format::native;
use crate::model::json;
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use std::borrow::Cow;
use std::collections::HashSet;

/// The number of visible messages among the last `keep` messages that PicoClaw counts; at least 1 unless `keep` is 0.
/// Returns `keep` for a session that was not read from PicoClaw.
pub fn messages_among(session: &Session, keep: usize) -> usize {
    if keep == 0 || native::source_format(session).is_none_or(|format| format != "picoclaw") {
        return keep;
    }
    let view = View::replay(session);
    let shown: HashSet<usize> = view.items.iter().filter_map(Item::line).collect();
    let (mut counted, mut messages) = (0, 0);
    for index in (0..session.len()).rev() {
        let is_message = shown.contains(&index);
        counted += usize::from(is_message || is_empty_line(session, index));
        messages += usize::from(is_message);
        if counted == keep {
            return messages.max(1);
        }
    }
    keep
}

fn is_empty_line(session: &Session, index: usize) -> bool {
    let body = session.record(index).body;
    match session.class(index) {
        Class::Unreadable => is_empty(body),
        Class::Event if json::member(body, "format") == Some(br#""picoclaw""#) => {
            let raw = json::member_text(body, "raw");
            raw.map(Cow::into_owned)
                .is_some_and(|raw| is_empty(raw.as_bytes()))
        }
        _ => false,
    }
}
