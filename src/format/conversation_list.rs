//! Reads inputs that are lists of conversations, one conversation at a time. Each value of the input becomes a session,
//! or a session and its branches.

use super::json_entries::{Entries, EntryLine};
use super::kit::records::passthrough;
use super::native::{self, HeaderBuilder};
use super::report::{Loss, Report};
use super::sessions::{SessionInput, SessionReader};
use super::{DocumentSource, Format};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::model::json::{self, Dialect, ObjectBuilder, quoted};
use crate::model::key;
use crate::model::session::Session;
use crate::model::source_bytes::SourceBytes;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

/// Description of such a format.
#[derive(Clone, Copy)]
pub struct Kinds {
    pub format: Format,
    /// A phrase for one of its values: "a conversation of a ChatGPT export".
    pub what: &'static str,
    /// Converts a value to sessions; `None` if it is not such a value.
    pub read: fn(&InputValue<'_>, &mut Report) -> Option<Vec<Session>>,
}

pub struct InputValue<'i> {
    /// The value as JSON on one line.
    pub bytes: &'i [u8],
    pub place: Position,
    /// Its number, from 1.
    pub number: usize,
    /// Name of the input file.
    file: Option<&'i str>,
    /// Its unmodified bytes.
    whole: &'i [u8],
    /// The `source` member for the sessions that it becomes.
    pub source: Vec<u8>,
}

impl InputValue<'_> {
    /// A name for a session without one: that of the file and the number.
    pub fn name(&self) -> String {
        let source = DocumentSource {
            name: self.file,
            ..DocumentSource::alone(self.whole)
        };
        format!("{}#{}", source.name_or_hash(), self.number)
    }

    /// A header for a session of this name, with this metadata and the members already set.
    pub fn header(&self, name: &str, mut header: HeaderBuilder, metadata: ObjectBuilder) -> Vec<u8> {
        let id = key::id_for_key(name);
        header
            .text("key", (id != name).then_some(name))
            .raw("source", self.source.clone());
        header.metadata(metadata);
        header.finish(&id)
    }

    /// A header for the nth branch of a session of this name, which follows its message `at`.
    pub fn branch_header(
        &self,
        (name, nth): (&str, usize),
        title: Option<&str>,
        at: Option<&str>,
    ) -> Vec<u8> {
        let mut header = HeaderBuilder::default();
        header.text("title", title);
        let mut metadata = ObjectBuilder::default();
        metadata.raw("lineage", native::lineage("branch", &key::id_for_key(name), at));
        self.header(&format!("{name}.{nth}"), header, metadata)
    }

    /// A session with an unnamed header.
    fn session(&self) -> Session {
        let mut session = Session::default();
        session.push_new(&self.header(&self.name(), HeaderBuilder::default(), ObjectBuilder::default()));
        session
    }

    /// Appends a line converted from this value to a session.
    pub fn push(&self, session: &mut Session, body: Vec<u8>) {
        session.push_made(body, self.place);
    }
}

/// Opens an input of such a format.
pub fn open(kinds: Kinds, input: SessionInput) -> Result<Box<dyn SessionReader>> {
    Ok(Box::new(Collection {
        kinds,
        name: input.name,
        returns: input.returns,
        values: Entries::open(input.head, input.rest)?,
        ready: VecDeque::new(),
        made: 0,
        before: Vec::new(),
        reported_ids: HashSet::new(),
        losses: BTreeMap::new(),
        rest: None,
        done: false,
    }))
}

struct Collection {
    kinds: Kinds,
    name: Option<String>,
    returns: bool,
    values: Entries,
    /// Sessions of the last value that were not returned yet.
    ready: VecDeque<Session>,
    /// Number of values read.
    made: usize,
    /// Bytes between the last value and the next.
    before: Vec<u8>,
    /// Notes that were already reported.
    reported_ids: HashSet<String>,
    /// Losses, reported once after the last session.
    losses: BTreeMap<Loss, u64>,
    /// Bytes after the last session that could not be split into values.
    rest: Option<Vec<u8>>,
    done: bool,
}

impl Collection {
    /// Reads the next value; `false` at the end.
    fn value(&mut self, report: &mut Report) -> Result<bool> {
        let Some(value) = self.values.next()? else {
            return Ok(false);
        };
        if self.returns {
            self.before.extend_from_slice(value.before);
        }
        if !value.bytes.is_empty() {
            self.made += 1;
            let mut reported = Report::default();
            let reading = ValueConverter {
                kinds: self.kinds,
                name: self.name.as_deref(),
                number: self.made,
            };
            let mut sessions = reading.sessions(value.bytes, value.place, &mut reported);
            // Report each note once.
            let known = &mut self.reported_ids;
            reported
                .findings
                .retain(|finding| finding.damage || known.insert(finding.what.to_string()));
            report.findings.append(&mut reported.findings);
            for (loss, times) in reported.losses {
                *self.losses.entry(loss).or_default() += times;
            }
            if self.returns {
                let origin = Arc::new(SourceBytes {
                    before: std::mem::take(&mut self.before),
                    bytes: value.bytes.to_vec(),
                    value: Some(0..value.bytes.len()),
                });
                sessions
                    .iter_mut()
                    .for_each(|session| session.set_origin(origin.clone()));
            }
            self.ready.extend(sessions);
        }
        if self.returns {
            self.before.extend_from_slice(value.ending);
        }
        Ok(true)
    }

    /// Preserves the rest of the input, which could not be split into values.
    fn keep_rest(&mut self, error: Error, report: &mut Report) {
        let rest = self.values.tail().to_vec();
        report.damage(
            error.at.map(|(_, place)| place).unwrap_or_default(),
            error.message,
        );
        let text = rest.trim_ascii_start();
        let text = text.strip_prefix(b",").unwrap_or(text).trim_ascii();
        if !text.is_empty() {
            self.made += 1;
            let reading = ValueConverter {
                kinds: self.kinds,
                name: self.name.as_deref(),
                number: self.made,
            };
            self.ready.push_back(reading.unreadable(text));
        }
        self.rest = Some(rest);
    }
}

impl SessionReader for Collection {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        while self.ready.is_empty() && !self.done {
            match self.value(report) {
                Ok(more) => self.done = !more,
                Err(error) if error.kind == ErrorKind::Data => {
                    self.done = true;
                    self.keep_rest(error, report);
                }
                Err(error) => return Err(error),
            }
        }
        let session = self.ready.pop_front();
        if session.is_none() {
            if self.made == 0 {
                let what = format!("contains no {}", self.kinds.what);
                return Err(Error::data(what));
            }
            for (loss, times) in std::mem::take(&mut self.losses) {
                report.count_loss(loss, times);
            }
        }
        Ok(session)
    }

    fn tail(&self) -> &[u8] {
        match &self.rest {
            Some(rest) => rest,
            None if self.before.is_empty() => self.values.tail(),
            None => &self.before,
        }
    }
}

/// Converts one value to sessions.
struct ValueConverter<'r> {
    kinds: Kinds,
    name: Option<&'r str>,
    number: usize,
}

impl ValueConverter<'_> {
    fn item<'i>(&'i self, whole: &'i [u8], bytes: &'i [u8], place: Position) -> InputValue<'i> {
        let source = DocumentSource {
            name: self.name,
            ..DocumentSource::alone(whole)
        };
        InputValue {
            bytes,
            place,
            number: self.number,
            file: self.name,
            whole,
            source: native::source_member(self.kinds.format, &source, &[]),
        }
    }

    fn sessions(&self, value: &[u8], place: Position, report: &mut Report) -> Vec<Session> {
        let fault = match json::value_end(value, 0, Dialect::Python) {
            Ok(end) if end == value.len() => None,
            Ok(end) => Some((end, "unexpected text after the value")),
            Err(fault) => Some((fault.offset.min(value.len()), fault.what)),
        };
        if let Some((offset, what)) = fault {
            let before = &value[..offset];
            let place = Position {
                line: place.line + memchr::memchr_iter(b'\n', before).count() as u64,
                offset: place.offset + offset as u64,
            };
            report.damage(place, what);
            return vec![self.unreadable(value)];
        }
        let line = EntryLine::of(value);
        line.report(place, report);
        let item = self.item(value, &line.bytes, place);
        if let Some(sessions) = (self.kinds.read)(&item, report) {
            return sessions;
        }
        report.damage(place, format!("not {}; kept unchanged", self.kinds.what));
        let mut session = item.session();
        item.push(&mut session, passthrough(self.kinds.format.name(), item.bytes));
        vec![session]
    }

    /// A session that only contains unparsable bytes.
    fn unreadable(&self, value: &[u8]) -> Session {
        let item = self.item(value, value, Position::default());
        let mut session = item.session();
        match memchr::memchr2(b'\n', b'\r', value) {
            None => session.push_new(value),
            // A record must be on one line.
            Some(_) => {
                let text = quoted(&String::from_utf8_lossy(value));
                session.push_new(&passthrough(self.kinds.format.name(), &text));
            }
        }
        session
    }
}
