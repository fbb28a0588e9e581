//! A replacement for a session that is completely lost: a notice with the same id.

use super::super::{DocumentSource, Format, native};
use super::header;
use crate::error::Position;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::key::{self, Derive};
use crate::model::record::{Record, without_mark};
use crate::model::session::Session;

/// Whether a file name is that of a Penguin session: `session_YYYYMMDD_HHMMSS_` and eight hex digits.
pub fn is_session_name(name: &str) -> bool {
    let Some(stem) = name
        .strip_prefix("session_")
        .and_then(|rest| rest.strip_suffix(".json"))
    else {
        return false;
    };
    let pieces: Vec<&str> = stem.split('_').collect();
    let digits =
        |piece: &str, length| piece.len() == length && piece.bytes().all(|byte| byte.is_ascii_digit());
    match pieces.as_slice() {
        [day, time, chance] => {
            let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            digits(day, 8) && digits(time, 6) && chance.len() == 8 && chance.bytes().all(hex)
        }
        _ => false,
    }
}

/// The condition of a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A session that Penguin's parser reads.
    Whole,
    /// A session of the older format.
    Older,
    /// Not readable by Penguin's parser: damage, bytes that are not text, a byte order mark, a bare list.
    Damaged,
}

/// Determines the condition of a file.
pub fn condition(source: &DocumentSource<'_>) -> Condition {
    let Ok(text) = std::str::from_utf8(source.bytes) else {
        return Condition::Damaged;
    };
    let bytes = text.as_bytes();
    let start = json::skip_space(bytes, 0);
    let whole = json::value_end(bytes, start, Dialect::Python)
        .is_ok_and(|end| json::skip_space(bytes, end) == bytes.len());
    let is_list = bytes.get(start) == Some(&b'[');
    match bytes.get(start) {
        Some(b'{' | b'[') if whole && header::is_older(&bytes[start..], is_list, source) => Condition::Older,
        Some(b'{') if whole => Condition::Whole,
        _ => Condition::Damaged,
    }
}

/// Whether the bytes are damaged JSON or empty. Complete JSON is not lost, even if it is not a session.
pub fn is_lost(bytes: &[u8]) -> bool {
    let text = without_mark(bytes);
    let start = json::skip_space(text, 0);
    match json::value_end(text, start, Dialect::Python) {
        Ok(end) => {
            json::skip_space(text, end) < text.len() || matches!(&text[start..end], b"{}" | b"[]" | b"null")
        }
        Err(_) => true,
    }
}

/// A session with the id of a file that could not be read, and one message that says so. `others` are backups that are
/// unusable, too. The result is reproducible. `None` without a file name.
pub fn notice(source: &DocumentSource<'_>, others: &[(String, Vec<u8>)], why: &str) -> Option<Session> {
    let name = source.name?;
    let key = header::file_key(name);
    let id = key::id_for_key(&key);
    let copies: Vec<&[u8]> = others.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    let mut built = native::HeaderBuilder::default();
    built
        .text("key", (key != id).then_some(key.as_str()))
        .raw("source", native::source_member(Format::Penguin, source, &copies))
        .raw("metadata", br#"{"recovery":"notice"}"#.to_vec());
    let mut text = format!(
        "Nothing of this session could be recovered. {name} ({}) could not be read: {why}.",
        bytes(source.bytes.len())
    );
    for (name, copy) in others {
        text.push_str(&format!(" Nor could {name} ({}).", bytes(copy.len())));
    }
    text.push_str(match others {
        [] => " The file is unchanged.",
        _ => " The files are unchanged.",
    });
    let mut message = ObjectBuilder::default();
    message.text("role", "system").text("content", &text);
    let id_of_message = Derive::default().id(format!("{id}\n{text}").as_bytes());
    message
        .text("id", &id_of_message)
        .text("category", "system_output")
        .raw("metadata", br#"{"type":"recovery_notice"}"#);
    let mut session = Session::default();
    for mut line in [built.finish(&id), message.finish()] {
        line.push(b'\n');
        session.push(&Record::parse(&line, Position::default()));
    }
    Some(session)
}

fn bytes(count: usize) -> String {
    match count {
        1 => "1 byte".to_string(),
        count => format!("{count} bytes"),
    }
}
