//! Messages as PicoClaw counts them: a line from which it reads an empty message is one.

use super::line::is_empty;
use crate::model::json;
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use std::borrow::Cow;
use std::collections::HashSet;

/// How many messages of the view are among the newest `keep` that PicoClaw counts, at least one of `keep` that is not 0.
/// In a session that did not come from PicoClaw these are all.
pub fn messages_among(session: &Session, keep: usize) -> usize {
    let header = session.header();
    let source = header.iter().find(|(name, _)| name == "source");
    let format = source.and_then(|(_, source)| json::member(source, "format"));
    if keep == 0 || format != Some(br#""picoclaw""#) {
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
            let raw = json::member(body, "raw").and_then(json::text);
            raw.map(Cow::into_owned)
                .is_some_and(|raw| is_empty(raw.as_bytes()))
        }
        _ => false,
    }
}
