//! One line of a record stream, with its original bytes, so that unchanged lines are written back unchanged.

use super::event::Event;
use super::json::{self, Dialect, JsonError, Members};
use super::message::Message;
use crate::error::Position;

/// A line of a record stream.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The original line, including a byte order mark and the line ending.
    pub full: &'a [u8],
    /// The line without byte order mark and line ending.
    pub body: &'a [u8],
    /// Its position in the input.
    pub place: Position,
    /// The parsed content.
    pub kind: RecordKind<'a>,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug)]
pub enum RecordKind<'a> {
    /// A message.
    Message(Message<'a>),
    /// An event.
    Event(Event<'a>),
    /// Not JSON, not an object, or neither message nor event: preserved unchanged.
    Unreadable(JsonError),
    /// An empty line, or only white space.
    Blank,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The length of a byte order mark at the start of these bytes.
pub fn mark_length(bytes: &[u8]) -> usize {
    bytes.len() - without_mark(bytes).len()
}

/// The bytes after a byte order mark.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BOM).unwrap_or(bytes)
}

/// The line without byte order mark (at the start of an input) and line ending.
pub fn body_of(full: &[u8], place: Position) -> &[u8] {
    let body = if place.offset == 0 {
        without_mark(full)
    } else {
        full
    };
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    body.strip_suffix(b"\r").unwrap_or(body)
}

impl<'a> Record<'a> {
    /// The length of the byte order mark before the line.
    pub fn mark(&self) -> usize {
        match self.full.starts_with(self.body) {
            true => 0,
            false => BOM.len(),
        }
    }

    /// Parses a line; `full` may end in a newline.
    pub fn parse(full: &'a [u8], place: Position) -> Record<'a> {
        let body = body_of(full, place);
        let kind = if body.trim_ascii_start().is_empty() {
            RecordKind::Blank
        } else {
            parse(body).unwrap_or_else(RecordKind::Unreadable)
        };
        Record {
            full,
            body,
            place,
            kind,
        }
    }

    /// Parses a line that is not blank and is known to be UTF-8.
    pub(crate) fn parse_text(full: &'a [u8], place: Position) -> Record<'a> {
        Record::of_members(full, place, Dialect::Strict)
    }

    /// Parses a line that was found to be a message or an event before.
    pub(crate) fn reparse(full: &'a [u8], place: Position) -> Record<'a> {
        Record::of_members(full, place, Dialect::Checked)
    }

    fn of_members(full: &'a [u8], place: Position, dialect: Dialect) -> Record<'a> {
        let body = body_of(full, place);
        Record {
            full,
            body,
            place,
            kind: parse_members(body, dialect).unwrap_or_else(RecordKind::Unreadable),
        }
    }

    /// The message, if the line is one.
    pub fn message(&self) -> Option<&Message<'a>> {
        if let RecordKind::Message(message) = &self.kind {
            Some(message)
        } else {
            None
        }
    }

    /// The event, if the line is one.
    pub fn event(&self) -> Option<&Event<'a>> {
        if let RecordKind::Event(event) = &self.kind {
            Some(event)
        } else {
            None
        }
    }
}

/// The length of the message that UTF-8 text begins with; `None` if it begins with anything else, even white space, or a
/// member's name has an escape. This is faster than finding the end of the line first.
pub(crate) fn message_length(text: &[u8]) -> Option<usize> {
    text.strip_prefix(b"{")?;
    let mut members = Members::leading(text, Dialect::Strict).ok()?;
    let mut role = None;
    while let Some(member) = members.next().ok()? {
        match member.key {
            b"role" => role = Some(member.value),
            key if key.contains(&b'\\') => return None,
            _ => {}
        }
    }
    role.filter(|role| role.first() == Some(&b'"'))
        .and_then(|_| members.end())
}

fn parse(body: &[u8]) -> Result<RecordKind<'_>, JsonError> {
    if let Err(error) = std::str::from_utf8(body) {
        return Err(JsonError {
            offset: error.valid_up_to(),
            what: "not UTF-8",
        });
    }
    parse_members(body, Dialect::Strict)
}

fn parse_members(body: &[u8], dialect: Dialect) -> Result<RecordKind<'_>, JsonError> {
    let mut members = match Members::new(body, dialect) {
        Ok(members) => members,
        Err(fault) if json::value_end(body, fault.offset, Dialect::Strict).is_ok() => {
            return Err(JsonError {
                offset: 0,
                what: "not a JSON object",
            });
        }
        Err(_) => {
            return Err(JsonError {
                offset: 0,
                what: "not valid JSON",
            });
        }
    };
    let mut message = Message::default();
    let (mut role, mut kind) = (None, None);
    while let Some(member) = members.next()? {
        let value = Some(member.value);
        let mut take = |key: &[u8]| match key {
            b"role" => role = value,
            b"content" => message.content = value,
            b"tool_calls" => message.tool_calls = value,
            b"tool_call_id" => message.tool_call_id = value,
            b"name" => message.name = value,
            b"reasoning" => message.reasoning = value,
            b"refusal" => message.refusal = value,
            b"id" => message.id = value,
            b"timestamp" => message.timestamp = value,
            b"category" => message.category = value,
            b"tokens" => message.tokens = value,
            b"metadata" => message.metadata = value,
            b"type" => kind = value,
            _ => {}
        };
        if memchr::memchr(b'\\', member.key).is_some() {
            take(member.name().as_bytes());
        } else {
            take(member.key);
        }
    }
    let is_text = |value: &[u8]| value.first() == Some(&b'"');
    match (role, kind) {
        (Some(role), _) if is_text(role) => {
            message.role = role;
            Ok(RecordKind::Message(message))
        }
        (Some(_), _) => Err(JsonError {
            offset: 0,
            what: "\"role\" is not a string",
        }),
        (None, Some(kind)) if is_text(kind) => Ok(RecordKind::Event(Event {
            kind,
            id: message.id,
            raw: body,
        })),
        (None, Some(_)) => Err(JsonError {
            offset: 0,
            what: "\"type\" is not a string",
        }),
        (None, None) => Err(JsonError {
            offset: 0,
            what: "object has neither \"role\" nor \"type\"",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> RecordKind<'_> {
        Record::parse(line.as_bytes(), Position { line: 1, offset: 0 }).kind
    }

    #[test]
    fn messages_and_events_are_distinguished() {
        assert!(matches!(
            kind("{\"role\":\"user\",\"type\":\"message\"}\n"),
            RecordKind::Message(_)
        ));
        assert!(matches!(
            kind("{\"r\\u006fle\":\"user\"}\r\n"),
            RecordKind::Message(_)
        ));
        assert!(matches!(
            kind("{\"type\":\"truncate\",\"before\":null}"),
            RecordKind::Event(_)
        ));
        assert!(matches!(
            kind("\u{feff}{\"type\":\"session\"}"),
            RecordKind::Event(_)
        ));
        for blank in ["\r\n", " ", " \t\n"] {
            assert!(matches!(kind(blank), RecordKind::Blank), "{blank:?}");
        }
        for bad in [
            "null", "{}", "[]", "42", "x", "{\"role\":5}", "{\"role\":\"u\"} x", "{\"type\":1}",
        ] {
            assert!(matches!(kind(bad), RecordKind::Unreadable(_)), "{bad}");
        }
    }

    #[test]
    fn the_last_of_repeated_members_counts() {
        let RecordKind::Message(message) = kind(r#"{"role":"user","role":"tool"}"#) else {
            panic!()
        };
        assert_eq!(message.role_name(), "tool");
    }
}
