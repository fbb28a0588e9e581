//! Reads documents with several sessions one at a time: an array of them, or one per line. These are request bodies, the
//! documents of the kit's formats, and the conversations of exports.

use super::body;
use super::reader::DocumentReader;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::array::ElementReader;
use crate::format::json_entries::{Entries, JsonEntry};
use crate::format::read_window::ReadWindow;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::sessions::{SessionInput, SessionReader};
use crate::format::{DocumentSource, Format};
use crate::model::json::{self, Dialect};
use crate::model::record::without_mark;
use crate::model::session::Session;
use crate::model::source_bytes::SourceBytes;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io::Read;
use std::sync::Arc;

/// Opens an input that starts like one with several sessions; returns any other input unchanged.
pub fn open(
    api: Api,
    format: Format,
    input: SessionInput,
) -> Result<std::result::Result<Box<dyn SessionReader>, SessionInput>> {
    let cut = SectionRule {
        is_section: Box::new(move |value| body::is_body(api, value)),
        read: Box::new(move |piece, report| read(api, format, piece, report)),
        rest: None,
    };
    open_sections(cut, input)
}

/// A section of an input.
pub struct DocumentSection<'p> {
    /// Name of the input file.
    pub name: Option<&'p str>,
    pub bytes: &'p [u8],
    pub place: Position,
    /// Its number, from 1.
    pub number: usize,
    /// Number of sessions before it.
    pub sessions_before: usize,
}

impl DocumentSection<'_> {
    /// Whether it is a single value; reports the damage if not.
    pub fn is_value(&self, report: &mut Report) -> bool {
        let (offset, what) = match json::value_end(self.bytes, 0, Dialect::Python) {
            Ok(end) if end == self.bytes.len() => return true,
            Ok(end) => (end, "unexpected text after the value"),
            Err(fault) => (fault.offset.min(self.bytes.len()), fault.what),
        };
        let lines = memchr::memchr_iter(b'\n', &self.bytes[..offset]).count();
        let place = Position {
            line: self.place.line + lines as u64,
            offset: self.place.offset + offset as u64,
        };
        report.damage(place, what);
        false
    }
}

/// Tests whether an object is a section.
pub type IsSection = Box<dyn Fn(&[u8]) -> bool>;

/// Converts a section to sessions.
pub type ReadSection = Box<dyn Fn(DocumentSection<'_>, &mut Report) -> Vec<Session>>;

/// How an input is split into sections.
pub struct SectionRule {
    /// Tests whether an object is a section.
    pub is_section: IsSection,
    /// Converts a section to sessions.
    pub read: ReadSection,
    /// Converts the rest of an input that cannot be split into sections; without it, an input that begins so is an error.
    pub rest: Option<ReadSection>,
}

/// Opens an input that starts with such a section; returns any other input unchanged.
pub fn open_sections(
    cut: SectionRule,
    input: SessionInput,
) -> Result<std::result::Result<Box<dyn SessionReader>, SessionInput>> {
    let SessionInput {
        name,
        head,
        rest,
        returns,
        neighbor,
    } = input;
    let text = without_mark(&head);
    let (is, (head, rest)) = match text.get(json::skip_space(text, 0)) {
        Some(b'[') => {
            let mut elements = ElementReader::new(head, rest);
            let is = match elements.next_element() {
                Ok(Some(first)) => is_piece(&cut, first.bytes),
                Ok(None) => false,
                // The reader of the complete document reports the damage.
                Err(error) if error.kind == ErrorKind::Data => false,
                Err(error) => return Err(error),
            };
            (is.then_some(true), elements.into_parts())
        }
        Some(b'{') => {
            let mut window = ReadWindow::new(head, rest);
            let is = begins_lines(&cut, &mut window)?;
            (is.then_some(false), window.into_parts())
        }
        _ => (None, (head, rest)),
    };
    let pieces = match is {
        Some(true) => Entries::array(head, rest),
        Some(false) => Entries::lines(head, rest),
        None => {
            return Ok(Err(SessionInput {
                name,
                head,
                rest,
                returns,
                neighbor,
            }));
        }
    };
    Ok(Ok(Box::new(SectionReader::new(cut, name, returns, pieces))))
}

/// Opens an input whose values are all sections: an array, one per line, or one after another.
pub fn open_all(cut: SectionRule, input: SessionInput) -> Result<Box<dyn SessionReader>> {
    let pieces = Entries::open(input.head, input.rest)?;
    Ok(Box::new(SectionReader::new(
        cut, input.name, input.returns, pieces,
    )))
}

fn is_piece(cut: &SectionRule, value: &[u8]) -> bool {
    value.starts_with(b"{")
        && json::value_end(value, 0, Dialect::Python) == Ok(value.len())
        && (cut.is_section)(value)
}

/// Whether the first line is a body and more lines follow.
fn begins_lines(cut: &SectionRule, window: &mut ReadWindow<Box<dyn Read>>) -> Result<bool> {
    let mut first = None;
    let mut searched = 0;
    loop {
        let bytes = window.bytes();
        if first.is_none() {
            first = memchr::memchr(b'\n', &bytes[searched..]).map(|at| searched + at);
            searched = bytes.len();
        }
        if let Some(end) = first {
            let line = without_mark(&bytes[..end]);
            if !is_piece(cut, line.trim_ascii()) {
                return Ok(false);
            }
            if bytes[end..].iter().any(|byte| !byte.is_ascii_whitespace()) {
                return Ok(true);
            }
        }
        if window.is_ended() {
            return Ok(false);
        }
        window.fill().map_err(|error| Error::io("cannot read", error))?;
    }
}

struct SectionReader {
    cut: SectionRule,
    name: Option<String>,
    returns: bool,
    pieces: Entries,
    /// Number of sections so far.
    sections: usize,
    /// Number of sessions so far.
    sessions_before: usize,
    /// Remaining sessions of the last section.
    ready: VecDeque<Session>,
    /// Bytes between the last section that became a session and the next, such as a damaged line.
    before: Vec<u8>,
    /// Notes that were already reported.
    noted: HashSet<String>,
    /// Losses that were not reported.
    losses: BTreeMap<Loss, u64>,
    done: bool,
}

impl SectionReader {
    fn new(cut: SectionRule, name: Option<String>, returns: bool, pieces: Entries) -> SectionReader {
        SectionReader {
            cut,
            name,
            returns,
            pieces,
            sections: 0,
            sessions_before: 0,
            ready: VecDeque::new(),
            before: Vec::new(),
            noted: HashSet::new(),
            losses: BTreeMap::new(),
            done: false,
        }
    }

    /// Appends the bytes after the last section to those of sections without a session.
    fn end(&mut self) {
        self.done = true;
        self.before.extend_from_slice(self.pieces.tail());
    }

    fn report_losses(&mut self, report: &mut Report) {
        for (loss, times) in std::mem::take(&mut self.losses) {
            report.count_loss(loss, times);
        }
    }

    /// Converts the rest of the input, which could not be split into sections.
    fn read_rest(&mut self, report: &mut Report) {
        let Some(read) = &self.cut.rest else { return };
        let rest = self.pieces.tail().trim_ascii_start();
        let bytes = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii();
        if bytes.is_empty() {
            return;
        }
        let section = DocumentSection {
            name: self.name.as_deref(),
            bytes,
            place: Position::default(),
            number: self.sections + 1,
            sessions_before: self.sessions_before,
        };
        self.ready.extend(read(section, report));
        self.sessions_before += self.ready.len();
    }

    /// Reads the sessions of the next section; `false` at the end.
    fn read_section(&mut self, report: &mut Report) -> Result<bool> {
        let Some(JsonEntry {
            before,
            bytes: piece,
            place,
            ending,
        }) = self.pieces.next()?
        else {
            return Ok(false);
        };
        let sessions = match piece {
            b"" => Vec::new(),
            bytes => {
                self.sections += 1;
                let piece = DocumentSection {
                    name: self.name.as_deref(),
                    bytes,
                    place,
                    number: self.sections,
                    sessions_before: self.sessions_before,
                };
                let mut own = Report::default();
                let sessions = (self.cut.read)(piece, &mut own);
                // Report each note once.
                let noted = &mut self.noted;
                own.findings
                    .retain(|finding| finding.damage || noted.insert(finding.what.to_string()));
                report.findings.append(&mut own.findings);
                for (loss, times) in own.losses {
                    *self.losses.entry(loss).or_default() += times;
                }
                sessions
            }
        };
        if self.returns {
            self.before.extend_from_slice(before);
            if sessions.is_empty() {
                self.before.extend_from_slice(piece);
            }
        }
        if !sessions.is_empty() {
            let origin = self.returns.then(|| {
                Arc::new(SourceBytes {
                    before: std::mem::take(&mut self.before),
                    bytes: piece.to_vec(),
                    value: Some(0..piece.len()),
                })
            });
            self.sessions_before += sessions.len();
            self.ready.extend(sessions.into_iter().map(|mut session| {
                if let Some(origin) = &origin {
                    session.set_origin(origin.clone());
                }
                session
            }));
        }
        if self.returns {
            self.before.extend_from_slice(ending);
        }
        Ok(true)
    }
}

fn read(api: Api, format: Format, piece: DocumentSection<'_>, report: &mut Report) -> Vec<Session> {
    let source = DocumentSource {
        name: piece.name,
        ..DocumentSource::alone(piece.bytes)
    };
    let mut reading = DocumentReader::new(api, format, &source);
    reading.base = piece.place;
    reading.many = true;
    reading.sessions_before = piece.sessions_before;
    if piece.is_value(report) {
        reading.value(piece.bytes, 0, report);
    }
    reading.sessions
}

impl SessionReader for SectionReader {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        while self.ready.is_empty() && !self.done {
            match self.read_section(report) {
                // An export has many sections; its losses are reported once.
                Ok(true) if self.cut.rest.is_some() => {}
                Ok(true) => self.report_losses(report),
                Ok(false) => self.end(),
                Err(error)
                    if error.kind == ErrorKind::Data
                        && (self.sessions_before > 0 || self.cut.rest.is_some()) =>
                {
                    let place = error.at.map(|(_, place)| place).unwrap_or_default();
                    report.damage(place, error.message);
                    self.read_rest(report);
                    self.end();
                }
                Err(error) => return Err(error),
            }
        }
        let session = self.ready.pop_front();
        if session.is_none() {
            if self.sessions_before == 0 {
                return Err(Error::data("contains no messages"));
            }
            self.report_losses(report);
        }
        Ok(session)
    }

    fn end_early(&mut self, report: &mut Report) {
        self.report_losses(report);
    }

    fn tail(&self) -> &[u8] {
        &self.before
    }
}
