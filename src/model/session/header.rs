//! The members of a session's header.

use super::{Class, Session};
use crate::model::{header, json};
use std::borrow::Cow;

impl Session {
    /// Discards the members of the header if a line of this class may change them.
    pub(super) fn forget_header(&mut self, class: Class) {
        if matches!(class, Class::Header | Class::Event) {
            self.header.take();
        }
    }

    /// Name and raw value of each header member, in order, after `meta` events.
    pub fn header(&self) -> &[(String, Vec<u8>)] {
        self.header.get_or_init(|| {
            let Some(first) = (0..self.len()).find(|index| self.class(*index) == Class::Header) else {
                return Vec::new();
            };
            // Most sessions have no such event, and others may be long.
            let is_meta = |index: &usize| {
                self.class(*index) == Class::Event
                    && self
                        .record(*index)
                        .event()
                        .is_some_and(|event| event.name() == "meta")
            };
            let live = match (0..self.len()).any(|index| is_meta(&index)) {
                true => self.live_events(),
                false => Vec::new(),
            };
            let events = live.iter().filter(|index| is_meta(index));
            header::of(self.body(first), events.map(|index| self.record(*index)))
        })
    }

    /// The raw value of a header member.
    pub fn header_member(&self, name: &str) -> Option<&[u8]> {
        header::member(self.header(), name)
    }

    /// A member of the header's metadata.
    pub fn metadata(&self, name: &str) -> Option<Vec<u8>> {
        json::member(self.header_member("metadata")?, name).map(<[u8]>::to_vec)
    }

    /// A string member of the header.
    pub fn header_text(&self, name: &str) -> Option<String> {
        json::text(self.header_member(name)?).map(Cow::into_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_changes_with_the_lines() {
        let title = |session: &Session| session.header_text("title");
        let header = r#"{"type":"session","version":1,"id":"s","title":"a"}"#;
        let renamed = r#"{"type":"meta","id":"e","at":"2026-01-01T00:00:00Z","set":{"title":"b"}}"#;
        let mut session = Session::default();
        assert_eq!(title(&session), None);
        session = session.with_first(header.as_bytes());
        assert_eq!(title(&session).as_deref(), Some("a"));
        let mut copy = session.clone();
        session.push_new(renamed.as_bytes());
        assert_eq!(title(&session).as_deref(), Some("b"));
        assert_eq!(title(&copy).as_deref(), Some("a"));
        copy.push_from(&session, 1);
        assert_eq!(title(&copy).as_deref(), Some("b"));
    }
}
