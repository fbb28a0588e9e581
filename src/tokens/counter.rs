//! Counts that lines carry: written where a session's first line names a tokenizer, and believed under that one
//! alone.

use super::{Tokenizer, Way};
use crate::error::Place;
use crate::model::json;
use crate::model::message::Message;
use crate::model::record::{Kind, Record};
use crate::model::session::{Class, Session};

/// Counts the messages of one session. What a line says of itself in `tokens` is believed where the session's
/// own line names the tokenizer that is asked for, so that nothing is counted twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    tokenizer: Tokenizer,
    believes: bool,
}

impl Counter {
    /// Counts by `tokenizer` in a session whose own line has `header` for its `tokenizer`.
    pub fn new(tokenizer: Tokenizer, header: Option<&str>) -> Counter {
        Counter {
            tokenizer,
            believes: header == Some(tokenizer.name()),
        }
    }

    /// Counts by `tokenizer` in this session.
    pub fn of(tokenizer: Tokenizer, session: &Session) -> Counter {
        Counter::new(tokenizer, named_by(session).as_deref())
    }

    /// The tokenizer.
    pub const fn tokenizer(self) -> Tokenizer {
        self.tokenizer
    }

    /// Has all messages of a session counted in few steps, where each step takes its time: by a tokenizer that is asked.
    pub fn prepare(self, session: &Session) {
        let Way::External(external) = self.tokenizer.0 else {
            return;
        };
        let indexes = session.messages().map(|(index, _)| index);
        let messages = indexes.filter_map(|index| match session.record(index).kind {
            Kind::Message(message) if !self.believes || cached(&message).is_none() => Some(message),
            _ => None,
        });
        external.prepare(messages);
    }

    /// Tokens of a message: those that its line names, else counted.
    pub fn message(self, message: &Message<'_>) -> u64 {
        let named = if self.believes { cached(message) } else { None };
        named.unwrap_or_else(|| self.tokenizer.message(message))
    }
}

/// The count that the message's line carries. 0 is what some systems write for "not counted".
pub fn cached(message: &Message<'_>) -> Option<u64> {
    let count = std::str::from_utf8(message.tokens?).ok()?.parse().ok()?;
    (count > 0).then_some(count)
}

/// The name in `tokenizer` of the session's own line. A `meta` event does not change it: the lines that were
/// counted before it would be believed under the wrong name.
pub fn named_by(session: &Session) -> Option<String> {
    let header = (0..session.len()).find(|index| session.class(*index) == Class::Header)?;
    name_in(session.record(header).body)
}

/// The name in `tokenizer` of a session's line.
pub fn name_in(header: &[u8]) -> Option<String> {
    let place = Place { line: 1, offset: 0 };
    let record = Record::parse(header, place);
    record.event().filter(|event| event.is_header())?;
    json::member(record.body, "tokenizer")
        .and_then(json::text)
        .map(|name| name.into_owned())
}

/// A message's line with its count in `tokens`; any other line as it is.
pub fn with_tokens(line: Vec<u8>, tokenizer: Tokenizer) -> Vec<u8> {
    // Not at offset 0: no byte order mark belongs to a line that is made here.
    let record = Record::parse(&line, Place { line: 1, offset: 1 });
    let Some(message) = record.message() else {
        return line;
    };
    let count = tokenizer.message(message).to_string();
    json::with_members(record.body, &[("tokens", Some(count.as_bytes()))]).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(lines: &[&str]) -> Session {
        let mut session = Session::default();
        for line in lines {
            session.push_new(line.as_bytes());
        }
        session
    }

    const MESSAGE: &str = r#"{"role":"user","content":"hello there","tokens":99}"#;

    fn counted(header: &str, tokenizer: &str, message: &str) -> u64 {
        let session = session(&[header, message]);
        let counter = Counter::of(Tokenizer::named(tokenizer).unwrap(), &session);
        counter.message(session.record(1).message().unwrap())
    }

    #[test]
    fn a_count_is_believed_under_the_same_tokenizer_alone() {
        let own = r#"{"type":"session","version":1,"id":"s","tokenizer":"o200k_base"}"#;
        let none = r#"{"type":"session","version":1,"id":"s"}"#;
        assert_eq!(counted(own, "o200k_base", MESSAGE), 99);
        assert_eq!(counted(own, "gpt-4o", MESSAGE), 99);
        assert_eq!(counted(own, "cl100k_base", MESSAGE), 6);
        assert_eq!(counted(none, "o200k_base", MESSAGE), 6);
        for no_count in ["0", "-1", "1.5", "\"7\"", "null", "99999999999999999999999"] {
            let line = MESSAGE.replace("99", no_count);
            assert_eq!(counted(own, "o200k_base", &line), 6, "{no_count}");
        }
    }

    #[test]
    fn a_meta_event_changes_nothing_of_what_was_counted() {
        let header = r#"{"type":"session","version":1,"id":"s","tokenizer":"cl100k_base"}"#;
        let meta =
            r#"{"type":"meta","id":"evt_1","at":"2026-01-01T00:00:00Z","set":{"tokenizer":"o200k_base"}}"#;
        let session = session(&[header, meta, MESSAGE]);
        assert_eq!(session.header_text("tokenizer").unwrap(), "o200k_base");
        let counter = Counter::of(Tokenizer::DEFAULT, &session);
        assert_eq!(counter.message(session.record(2).message().unwrap()), 6);
    }

    #[test]
    fn counts_are_written_into_messages_alone() {
        let line = with_tokens(
            br#"{"role":"user","content":"hello there","x":1.0}"#.to_vec(),
            Tokenizer::DEFAULT,
        );
        assert_eq!(
            line,
            br#"{"role":"user","content":"hello there","x":1.0,"tokens":6}"#
        );
        for other in [&b"{\"type\":\"meta\"}"[..], b"broken"] {
            assert_eq!(with_tokens(other.to_vec(), Tokenizer::DEFAULT), other);
        }
    }
}
