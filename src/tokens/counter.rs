//! Token counts stored in messages. They are only used if the session's header names the same tokenizer.

use super::tokenizer::{Counting, Tokenizer};
use crate::error::Position;
use crate::model::json;
use crate::model::message::Message;
use crate::model::record::{Record, RecordKind};
use crate::model::session::{Class, Session};

/// Counts the messages of one session. Uses the count in a message's `tokens` member if the header names the requested
/// tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    tokenizer: Tokenizer,
    believes: bool,
}

impl Counter {
    /// Counts with `tokenizer` in a session whose header has `header` as its `tokenizer`.
    pub fn new(tokenizer: Tokenizer, header: Option<&str>) -> Counter {
        Counter {
            tokenizer,
            believes: header == Some(tokenizer.name()),
        }
    }

    /// Counts with `tokenizer` in this session.
    pub fn of(tokenizer: Tokenizer, session: &Session) -> Counter {
        Counter::new(tokenizer, named_by(session).as_deref())
    }

    /// The tokenizer.
    pub const fn tokenizer(self) -> Tokenizer {
        self.tokenizer
    }

    /// Counts all messages of a session in few batches, for an external tokenizer with a delay per request.
    pub fn prepare(self, session: &Session) {
        let Counting::External(external) = self.tokenizer.0 else {
            return;
        };
        let indexes = session.messages().map(|(index, _)| index);
        let messages = indexes.filter_map(|index| match session.record(index).kind {
            RecordKind::Message(message) if !self.believes || cached(&message).is_none() => Some(message),
            _ => None,
        });
        external.prepare(messages);
    }

    /// Tokens of a message: the stored count, else computed.
    pub fn message(self, message: &Message<'_>) -> u64 {
        let named = if self.believes { cached(message) } else { None };
        named.unwrap_or_else(|| self.tokenizer.message(message))
    }
}

/// The count stored in the message. 0 means "not counted" in some systems and is ignored.
pub fn cached(message: &Message<'_>) -> Option<u64> {
    let count = json::number(message.tokens?)?;
    (count > 0).then_some(count)
}

/// The tokenizer in the session's header. Changes by `meta` events are ignored, because they would apply to counts that
/// were computed before.
pub fn named_by(session: &Session) -> Option<String> {
    let header = (0..session.len()).find(|index| session.class(*index) == Class::Header)?;
    name_in(session.record(header).body)
}

/// The tokenizer in a header line.
pub fn name_in(header: &[u8]) -> Option<String> {
    let place = Position { line: 1, offset: 0 };
    let record = Record::parse(header, place);
    record.event().filter(|event| event.is_header())?;
    json::member_string(record.body, "tokenizer")
}

/// Adds the count to the line of a message as `tokens`; any other line is unchanged.
pub fn with_tokens(line: Vec<u8>, tokenizer: Tokenizer) -> Vec<u8> {
    // Not at offset 0: a generated line has no byte order mark.
    let record = Record::parse(&line, Position { line: 1, offset: 1 });
    let Some(message) = record.message() else {
        return line;
    };
    let count = tokenizer.message(message).to_string();
    json::with_members(record.body, &[("tokens", Some(count.as_bytes()))]).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::session::of_lines as session;

    const MESSAGE: &str = r#"{"role":"user","content":"hello there","tokens":99}"#;

    fn counted(header: &str, tokenizer: &str, message: &str) -> u64 {
        let session = session(&[header, message]);
        let counter = Counter::of(Tokenizer::named(tokenizer).unwrap(), &session);
        counter.message(session.record(1).message().unwrap())
    }

    #[test]
    fn a_stored_count_is_used_for_its_tokenizer_only() {
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
    fn a_meta_event_does_not_invalidate_counts() {
        let header = r#"{"type":"session","version":1,"id":"s","tokenizer":"cl100k_base"}"#;
        let meta =
            r#"{"type":"meta","id":"evt_1","at":"2026-01-01T00:00:00Z","set":{"tokenizer":"o200k_base"}}"#;
        let session = session(&[header, meta, MESSAGE]);
        assert_eq!(session.header_text("tokenizer").unwrap(), "o200k_base");
        let counter = Counter::of(Tokenizer::DEFAULT, &session);
        assert_eq!(counter.message(session.record(2).message().unwrap()), 6);
    }

    #[test]
    fn counts_are_stored_in_messages_only() {
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
