//! A session on one line, `{"type":"packed","id":...,"records":[...]}`, for tools that reorder lines.
//!
//! Each record is an element, with the bytes of its line. An unparsable line becomes a string; one that is not UTF-8
//! becomes an array with one Base64 string. Line endings and empty lines are not preserved. A line may have a member
//! `sha256`; it is not part of the session.

use super::base64::{self, Base64Style};
use super::lines::each_line;
use crate::error::Position;
use crate::model::event::Event;
use crate::model::json::{self, Dialect};
use crate::model::record::{Record, RecordKind, without_mark};
use crate::model::session::Session;
use memchr::memmem;
use std::io::{self, Write};

/// The type of such a line.
const TYPE: &str = "packed";

/// The event of a packed session; `None` if the record is not one.
pub(super) fn packed_event<'r>(record: &'r Record<'_>) -> Option<&'r Event<'r>> {
    record.event().filter(|event| event.name() == TYPE)
}

/// The lines of a packed session, each with its newline; `None` if the record is not one, or damaged.
pub fn unpack(record: &Record<'_>) -> Option<Vec<u8>> {
    let event = packed_event(record)?;
    let records = json::elements(json::member(event.raw, "records")?, Dialect::Strict)?;
    let mut lines = Vec::with_capacity(event.raw.len());
    for element in records {
        match element.first() {
            Some(b'{') => lines.extend_from_slice(element),
            Some(b'"') => lines.extend_from_slice(json::text(element)?.as_bytes()),
            _ => {
                let text = json::elements(element, Dialect::Strict)?;
                let [text] = text[..] else { return None };
                lines.extend(base64::decode(json::text(text)?.as_bytes())?.1);
            }
        }
        lines.push(b'\n');
    }
    // Each element is one line, and there is at least one.
    let count = memchr::memchr_iter(b'\n', &lines).count();
    let elements = json::elements(json::member(event.raw, "records")?, Dialect::Strict)?;
    (count == elements.len() && count > 0).then_some(lines)
}

/// Whether unpacked lines are a session without a header. A single line that is not an object was packed to be one, see
/// [`PackedObjects`].
pub fn is_headless(lines: &[u8]) -> bool {
    let first = each_line(lines).next().unwrap_or_default();
    let record = Record::parse(first, Position { line: 1, offset: 1 });
    let is_header = record.event().is_some_and(|event| event.is_header());
    let is_restored = lines.len() == record.full.len() && matches!(record.kind, RecordKind::Unreadable(_));
    !is_header && !is_restored
}

/// Removes the hash of a packed session whose line was changed; returns other lines as they are.
pub fn without_hash(line: Vec<u8>) -> Vec<u8> {
    let record = Record::parse(&line, Position { line: 1, offset: 1 });
    let without = packed_event(&record).and_then(|packed| {
        json::member(packed.raw, "sha256")?;
        json::with_members(packed.raw, &[("sha256", None)]).ok()
    });
    without.or_else(|| without_hash_of_damaged(&line)).unwrap_or(line)
}

/// A damaged packed line without its hash, which [`Packer`] writes before the records.
fn without_hash_of_damaged(line: &[u8]) -> Option<Vec<u8>> {
    const MEMBER: &[u8] = br#""sha256":""#;
    if !is_packed(line) {
        return None;
    }
    let head = &line[..memmem::find(line, br#""records":"#).unwrap_or(line.len())];
    let at = memmem::find(head, MEMBER)?;
    let value = at + MEMBER.len();
    let end = memchr::memchr(b'"', &head[value..]).map_or(head.len(), |end| value + end + 1);
    let end = end + usize::from(line.get(end) == Some(&b','));
    Some([&line[..at], &line[end..]].concat())
}

/// Whether a line, or the start of one, is a packed session whose first member is its type.
pub fn is_packed(line: &[u8]) -> bool {
    let line = without_mark(line);
    let mut at = json::skip_space(line, 0);
    for token in [r"{", r#""type""#, ":", r#""packed""#] {
        if !line[at..].starts_with(token.as_bytes()) {
            return false;
        }
        at = json::skip_space(line, at + token.len());
    }
    line.get(at) == Some(&b',')
}

/// Whether the first session of an input is packed. Damaged lines, also as [`PackedObjects`] writes a single one, decide
/// nothing.
pub fn begins_packed(head: &[u8]) -> bool {
    let head = without_mark(head);
    let mut lines = head.split(|byte| *byte == b'\n');
    lines.find_map(is_packed_session).unwrap_or(false)
}

/// Whether a line, or the start of one, is a packed session; none if it is damaged or blank.
fn is_packed_session(line: &[u8]) -> Option<bool> {
    let record = Record::parse(line, Position { line: 1, offset: 1 });
    match record.kind {
        // Longer than the head, or damaged.
        RecordKind::Unreadable(_) => is_packed(line).then_some(true),
        RecordKind::Blank => None,
        _ => {
            let Some(event) = packed_event(&record) else {
                return Some(false);
            };
            let records = json::member(event.raw, "records");
            let records = records.and_then(|records| json::elements(records, Dialect::Strict));
            let is_session = |records: Vec<&[u8]>| {
                records.len() > 1 || records.iter().any(|first| first.starts_with(b"{"))
            };
            records.is_some_and(is_session).then_some(true)
        }
    }
}

/// A writer that takes a record stream and writes each session as one line.
pub struct Packer<'w> {
    out: &'w mut dyn Write,
    lines: LineBuffer,
    id: Option<String>,
    /// The records that are not written yet: of the whole session if it is hashed, because the hash precedes them.
    records: Vec<u8>,
    /// Whether the line of a session is begun.
    is_open: bool,
    /// The function that hashes a session, with the records received so far.
    hashed: Option<(HashFn, Session)>,
}

/// Returns the hash of a session.
pub type HashFn = fn(&Session) -> String;

impl<'w> Packer<'w> {
    /// Writes to an output.
    pub fn new(out: &'w mut dyn Write) -> Self {
        Packer {
            out,
            lines: LineBuffer::default(),
            id: None,
            records: Vec::new(),
            is_open: false,
            hashed: None,
        }
    }

    /// Also writes the member `sha256`: the hash of each session.
    #[must_use]
    pub fn hashing(self, hash: HashFn) -> Self {
        Packer {
            hashed: Some((hash, Session::default())),
            ..self
        }
    }

    /// The output, for data that is not packed.
    pub fn get_mut(&mut self) -> &mut dyn Write {
        self.out
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let is_first = self.records.is_empty() && !self.is_open;
        let line = if is_first { without_mark(line) } else { line };
        let record = Record::parse(line, Position { line: 1, offset: 1 });
        let separator = if is_first { b'[' } else { b',' };
        match record.kind {
            RecordKind::Blank => return Ok(()),
            RecordKind::Event(event) if event.is_header() => {
                self.session()?;
                self.id = json::member_string(event.raw, "id");
                self.records.push(b'[');
                self.records.extend_from_slice(record.body);
            }
            RecordKind::Message(_) | RecordKind::Event(_) => {
                self.records.push(separator);
                self.records.extend_from_slice(record.body);
            }
            RecordKind::Unreadable(_) => {
                self.records.push(separator);
                match std::str::from_utf8(record.body) {
                    Ok(text) => json::push_text(&mut self.records, text),
                    Err(_) => {
                        let encoded = base64::encode(record.body, &Base64Style::PLAIN);
                        self.records.push(b'[');
                        json::push_text(&mut self.records, &String::from_utf8_lossy(&encoded));
                        self.records.push(b']');
                    }
                }
            }
        }
        match &mut self.hashed {
            Some((_, session)) => {
                session.push(&record);
                Ok(())
            }
            None => self.write_records(),
        }
    }

    /// Ends the line of the session received so far.
    fn session(&mut self) -> io::Result<()> {
        if self.records.is_empty() && !self.is_open {
            return Ok(());
        }
        self.records.extend_from_slice(b"]}\n");
        self.write_records()?;
        self.is_open = false;
        Ok(())
    }

    /// Writes the records received so far.
    fn write_records(&mut self) -> io::Result<()> {
        if !self.is_open {
            self.begin()?;
            self.is_open = true;
        }
        self.out.write_all(&self.records)?;
        self.records.clear();
        Ok(())
    }

    /// Writes the members before the records.
    fn begin(&mut self) -> io::Result<()> {
        let mut line = br#"{"type":"packed","#.to_vec();
        if let Some(id) = self.id.take() {
            line.extend_from_slice(br#""id":"#);
            json::push_text(&mut line, &id);
            line.push(b',');
        }
        if let Some((hash, session)) = &mut self.hashed {
            line.extend_from_slice(br#""sha256":"#);
            json::push_text(&mut line, &hash(&std::mem::take(session)));
            line.push(b',');
        }
        line.extend_from_slice(br#""records":"#);
        self.out.write_all(&line)
    }

    /// Writes the last session.
    ///
    /// # Errors
    /// Write errors.
    pub fn finish(mut self) -> io::Result<()> {
        let mut lines = std::mem::take(&mut self.lines);
        lines.finish(|line| self.line(line))?;
        self.session()
    }
}

impl Write for Packer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = std::mem::take(&mut self.lines);
        lines.write(bytes, |line| self.line(line))?;
        self.lines = lines;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A writer that takes a record stream and writes only JSON objects: any other line is packed, and is restored on
/// reading; blank lines are dropped.
pub struct PackedObjects<'w> {
    out: &'w mut dyn Write,
    lines: LineBuffer,
}

impl<'w> PackedObjects<'w> {
    /// Writes to an output.
    pub fn new(out: &'w mut dyn Write) -> Self {
        PackedObjects {
            out,
            lines: LineBuffer::default(),
        }
    }

    /// Writes the last line.
    ///
    /// # Errors
    /// Write errors.
    pub fn finish(mut self) -> io::Result<()> {
        self.lines.finish(|line| write_object(line, self.out))
    }
}

impl Write for PackedObjects<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lines.write(bytes, |line| write_object(line, self.out))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a line as a JSON object with a newline; a blank line writes nothing.
///
/// # Errors
/// Write errors.
pub fn write_object(line: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let record = Record::parse(line, Position { line: 1, offset: 0 });
    let is_object =
        || std::str::from_utf8(record.body).is_ok() && json::members(record.body, Dialect::Strict).is_some();
    match record.kind {
        RecordKind::Blank => Ok(()),
        RecordKind::Unreadable(_) if !is_object() => {
            let mut packer = Packer::new(out);
            packer.write_all(line)?;
            packer.finish()
        }
        _ => {
            out.write_all(record.body)?;
            out.write_all(b"\n")
        }
    }
}

/// Assembles lines from chunks.
#[derive(Default)]
struct LineBuffer {
    /// The unfinished line.
    open: Vec<u8>,
}

impl LineBuffer {
    fn write(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let line;
            (line, rest) = rest.split_at(end + 1);
            if self.open.is_empty() {
                each(line)?;
            } else {
                let mut whole = std::mem::take(&mut self.open);
                whole.extend_from_slice(line);
                each(&whole)?;
            }
        }
        self.open.extend_from_slice(rest);
        Ok(())
    }

    fn finish(&mut self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let last = std::mem::take(&mut self.open);
        if last.is_empty() { Ok(()) } else { each(&last) }
    }
}

#[cfg(test)]
mod tests;
