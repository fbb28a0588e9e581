//! The native format: a stream of records, one per line, which are passed on unchanged.

use super::lines::{AfterBlock, ByteLines, LineBlock, each_line};
use super::report::Report;
use super::{FormatSpec, ReadFn, Reader, SessionCount, packed};
use crate::error::{Error, Position, Result};
use crate::model::json::{self, ObjectBuilder, quoted};
use crate::model::record::{Record, RecordKind as Line, message_length};
use crate::model::session::Session;
use crate::model::{event, key};
use std::io::{self, Read};

/// The description of the format. It has no writer, because its sessions are written from their lines.
pub const SPEC: FormatSpec = FormatSpec {
    name: "native",
    about: "Record stream, see convo-format(5)",
    ending: ".jsonl",
    read: ReadFn::Records,
    session_count: SessionCount::Many,
    concatenable: true,
    note: "See convo-format(5). Packed sessions (--pack) are read too.",
    ..FormatSpec::BLANK
};

/// Reads lines as records, and expands packed sessions.
pub struct NativeReader<R> {
    lines: ByteLines<R>,
    packed: Packed,
    /// Whether there was a record.
    is_begun: bool,
}

impl<R: Read> NativeReader<R> {
    /// Reads an input whose first bytes, `head`, were already read.
    pub fn new(head: Vec<u8>, input: R) -> Self {
        NativeReader {
            lines: ByteLines::new(head, input),
            packed: Packed::default(),
            is_begun: false,
        }
    }
}

impl<'b> NativeReader<&'b [u8]> {
    /// Reads a block of lines; `place` is the number of the line before it, and the offset of the block. `is_begun` is
    /// whether there was a record before it.
    pub fn of_block(block: &'b [u8], place: Position, is_begun: bool) -> Self {
        NativeReader {
            lines: ByteLines::after(place, block),
            packed: Packed::default(),
            is_begun,
        }
    }
}

impl<R: Read> Reader for NativeReader<R> {
    fn next(&mut self, report: &mut Report) -> Result<Option<Record<'_>>> {
        if !self.packed.is_done() {
            return self.packed.next(report).map(Some);
        }
        let line = self
            .lines
            .next_line()
            .map_err(|error| Error::io("cannot read", error))?;
        let Some((full, place)) = line else {
            return Ok(None);
        };
        let record = Record::parse(full, place);
        if let Some(lines) = packed::unpack(&record) {
            if self.is_begun && packed::is_headless(&lines) {
                report.damage(
                    place,
                    "packed session without a header; read as part of the session before it",
                );
            }
            self.is_begun = true;
            self.packed = Packed {
                lines,
                at: 0,
                // A byte order mark is only valid at the start of an input.
                place: Position {
                    offset: place.offset.max(1),
                    ..place
                },
            };
            return self.packed.next(report).map(Some);
        }
        check(&record, report)?;
        self.is_begun |= !matches!(record.kind, Line::Blank);
        Ok(Some(record))
    }

    fn next_block(&mut self, block: &mut LineBlock) -> io::Result<Option<AfterBlock>> {
        match self.packed.is_done() {
            true => self.lines.next_block(block).map(Some),
            false => Ok(None),
        }
    }
}

/// The number of lines in a block if a reader would pass all of them on as they are and report nothing: records that are
/// neither damaged nor packed nor of a newer version. `at` is the offset of the block in its input.
pub fn sound_lines(block: &[u8], at: u64) -> Option<u64> {
    std::str::from_utf8(block).ok()?;
    let (mut rest, mut lines) = (block, 0);
    while !rest.is_empty() {
        lines += 1;
        let message = message_length(rest);
        if let Some((length, after)) = message.and_then(|length| Some((length, rest.get(length)?)))
            && *after == b'\n'
        {
            rest = &rest[length + 1..];
            continue;
        }
        let line = each_line(rest).next().unwrap_or(rest);
        let offset = at + (block.len() - rest.len()) as u64;
        let record = Record::parse_text(line, Position { line: lines, offset });
        let is_sound = match record.kind {
            Line::Message(_) => true,
            // A blank line is not JSON.
            Line::Unreadable(_) => line.trim_ascii().is_empty(),
            _ => packed::packed_event(&record).is_none() && check(&record, &mut Report::default()).is_ok(),
        };
        is_sound.then_some(())?;
        rest = &rest[line.len()..];
    }
    // A message that spans lines is damage.
    let newlines = memchr::memchr_iter(b'\n', block).count() as u64;
    let is_open = block.last().is_some_and(|last| *last != b'\n');
    (lines == newlines + u64::from(is_open)).then_some(lines)
}

/// The lines of a packed session, and its position.
#[derive(Default)]
struct Packed {
    lines: Vec<u8>,
    at: usize,
    place: Position,
}

impl Packed {
    fn is_done(&self) -> bool {
        self.at == self.lines.len()
    }

    fn next(&mut self, report: &mut Report) -> Result<Record<'_>> {
        let line = each_line(&self.lines[self.at..]).next().unwrap_or_default();
        self.at += line.len();
        let record = Record::parse(line, self.place);
        check(&record, report)?;
        Ok(record)
    }
}

/// Reports an unparsable line; rejects a session of an unknown version.
pub fn check(record: &Record<'_>, report: &mut Report) -> Result<()> {
    match &record.kind {
        Line::Unreadable(fault) => report.damage_in_line(record.place, *fault),
        Line::Event(event) if event.is_header() => {
            if let Some(version) = newer_version(event.raw) {
                let message = format!(
                    "written by a newer version of convo (format version {version}; supported up to {})",
                    event::VERSION
                );
                return Err(Error {
                    at: Some((String::new(), record.place)),
                    ..Error::data(message)
                }
                .hint("update convo"));
            }
        }
        _ => {}
    }
    Ok(())
}

/// The version of a header, if it is newer than supported.
fn newer_version(header: &[u8]) -> Option<String> {
    let raw = json::member(header, "version")?;
    let text = String::from_utf8_lossy(raw).into_owned();
    let known = text.parse::<u64>().is_ok_and(|version| version <= event::VERSION);
    (!known && raw.first().is_some_and(u8::is_ascii_digit)).then_some(text)
}

/// The header's `lineage`: the kind of a session that belongs to another one, the id of that one, and the id of its
/// message that the session follows.
pub fn lineage(kind: &str, parent: &str, at: Option<&str>) -> Vec<u8> {
    let mut lineage = json::ObjectBuilder::default();
    lineage.text("kind", kind).text("parent", parent);
    if let Some(at) = at {
        lineage.text("at", at);
    }
    lineage.finish()
}

/// Builds the header of a session converted from another format.
#[derive(Debug, Default)]
pub struct HeaderBuilder {
    members: Vec<(&'static str, Vec<u8>)>,
}

impl HeaderBuilder {
    /// Sets a string member, if there is a value.
    pub fn text(&mut self, name: &'static str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.members.push((name, quoted(value)));
        }
        self
    }

    /// Sets a member to raw JSON.
    pub fn raw(&mut self, name: &'static str, value: impl Into<Vec<u8>>) -> &mut Self {
        self.members.push((name, value.into()));
        self
    }

    /// Sets the metadata, unless it is empty.
    pub fn metadata(&mut self, metadata: ObjectBuilder) -> &mut Self {
        if !metadata.is_empty() {
            self.members.push(("metadata", metadata.finish()));
        }
        self
    }

    /// Sets the members that describe the source, and returns the session's id: derived from its own name, else from
    /// the file name, with a number for the nth of several sessions, else from its bytes.
    pub fn named(&mut self, source: &HeaderSource, own: Option<&str>, nth: usize) -> String {
        let name = match (own.filter(|own| !own.is_empty()), nth) {
            (Some(own), _) => own.to_string(),
            (None, 0) => source.name.clone(),
            (None, nth) => format!("{}#{}", source.name, nth + 1),
        };
        let id = key::id_for_key(&name);
        self.text("key", (id != name).then_some(name.as_str()))
            .raw("source", source.member.as_slice());
        id
    }

    /// The header line with this id.
    pub fn finish(&self, id: &str) -> Vec<u8> {
        let mut built = event::begin_session(id);
        for (name, value) in &self.members {
            built.raw(name, value);
        }
        built.finish()
    }
}

/// The source in the headers of all sessions of an input, whose bytes are hashed once.
pub struct HeaderSource {
    /// The file name without its extension; for a pipe, a hash of the bytes.
    pub name: String,
    /// The `source` member.
    pub member: Vec<u8>,
}

impl HeaderSource {
    /// For sessions that are read from this source.
    pub fn of(format: super::Format, source: &super::DocumentSource<'_>) -> HeaderSource {
        let sha256 = key::sha256(source.bytes);
        HeaderSource {
            member: hashed_member(format, source, &sha256),
            name: source.name_or(|| sha256),
        }
    }
}

/// The name of the format that a session was read from, if its header has it.
pub fn source_format(session: &Session) -> Option<String> {
    json::member_string(session.header_member("source")?, "format")
}

/// The program that wrote the session, if its format stores its own members in the header.
pub fn program(session: &Session) -> Option<&'static str> {
    let metadata = session.header_member("metadata")?;
    let members = json::members(metadata, json::Dialect::Python)?;
    let format = members.iter().find_map(|(name, raw)| {
        let format = super::Format::from_name(name)?;
        raw.starts_with(b"{").then_some(format)
    });
    format.map(super::Format::name)
}

/// The `source` member of a converted session: its origin, and the SHA-256 of the source, by which a second migration
/// recognizes it.
pub fn source_member(format: super::Format, source: &super::DocumentSource<'_>, others: &[&[u8]]) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    hash.update(source.bytes);
    for other in others {
        hash.update(b"\n");
        hash.update(other);
    }
    hashed_member(format, source, &key::hex(&hash.finalize()))
}

fn hashed_member(format: super::Format, source: &super::DocumentSource<'_>, sha256: &str) -> Vec<u8> {
    let mut built = json::ObjectBuilder::default();
    built.text("format", format.name());
    if let Some(name) = source.name {
        built.text("name", name);
    }
    built.text("sha256", sha256);
    built.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of lines, if a reader passes all of them on and reports nothing.
    fn passed(text: &str) -> Option<u64> {
        let mut reader = NativeReader::new(text.as_bytes().to_vec(), io::empty());
        let (mut report, mut lines, mut bytes) = (Report::default(), 0, 0);
        while let Some(record) = reader.next(&mut report).ok()? {
            lines += record.full.iter().filter(|byte| **byte == b'\n').count() as u64;
            bytes += record.full.len();
        }
        let is_open = !text.is_empty() && !text.ends_with('\n');
        (report.findings.is_empty() && bytes == text.len()).then_some(lines + u64::from(is_open))
    }

    #[test]
    fn a_block_is_sound_if_a_reader_passes_all_its_lines_on() {
        let message = r#"{"role":"user","content":"a\nb"}"#;
        let parts = [
            message,
            r#" {"role" : "user" , "x" : [ { } , 1 ] } "#,
            r#"{"r\u006fle":"user"}"#,
            r#"{"role":1}"#,
            r#"{"role":"user","role":null}"#,
            r#"{"type":"session","version":1,"id":"s"}"#,
            r#"{"type":"session","version":99,"id":"s"}"#,
            r#"{"type":"packed","records":[{"role":"user"}]}"#,
            r#"{"type":"note"}"#,
            r#"{"content":"x"}"#,
            r#"{"role":"user""#,
            r#","content":"x"}"#,
            r#"{"role":"user"} {"role":"user"}"#,
            "{\"role\":\"user\"}\r",
            "{\"role\":\"us\u{1}er\"}",
            "[1]",
            "  ",
            "",
        ];
        let mut sound = 0;
        for first in parts {
            for second in parts {
                for end in ["", "\n"] {
                    let text = format!("{message}\n{first}\n{second}{end}");
                    let found = sound_lines(text.as_bytes(), 0);
                    assert_eq!(found, passed(&text), "{text}");
                    sound += u64::from(found.is_some());
                }
            }
        }
        assert!(sound > 90, "{sound}");
    }
}
