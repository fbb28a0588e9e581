//! Reads the sessions of a file as native lines, or finds out why the file has none.

use super::archived::ArchivedLines;
use crate::args::InputArgs;
use crate::input::input_source::{BACKUP_SUFFIXES, detect_file};
use crate::input::selection::SessionSelection;
use crate::input::{InputSettings, input_source, regular};
use convo::error::{Error, ErrorKind, Position, Result};
use convo::format::native::{HeaderBuilder, NativeReader};
use convo::format::report::{Loss, ReadFinding, Report};
use convo::format::{DocumentSource, Format, Reader};
use convo::model::json::{self, ObjectBuilder};
use convo::model::key;
use convo::model::record::{Record, RecordKind as Line};
use convo::model::session::{Class, Session};
use convo::store::foreign;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

/// The result of reading a file.
pub struct ExaminedFile {
    /// Path of the file, or id of a stored session.
    pub path: PathBuf,
    /// Whether it is a stored session.
    pub stored: bool,
    pub format: Option<Format>,
    /// The sessions, or why there are none.
    pub found: std::result::Result<Vec<FoundSession>, Refusal>,
    pub findings: Vec<ReadFinding>,
    pub losses: BTreeMap<Loss, u64>,
}

/// Why a file has no sessions.
pub enum Refusal {
    /// The file is not a session.
    NotASession(Error),
    /// The file is a session without any readable content.
    Damaged(Error),
    /// The file cannot be read.
    Failed(Error),
}

/// A session found in a file.
pub struct FoundSession {
    /// The id in the target.
    pub id: String,
    /// The header line, generated if the session has none.
    pub header: Vec<u8>,
    /// The header to store instead.
    pub instead: Option<Vec<u8>>,
    /// Whether this run generated the header, so that its `source` describes this file.
    pub has_new_header: bool,
    /// Byte offset of the first line in a file of lines.
    pub offset: u64,
    /// Hash that identifies equal sessions.
    pub fingerprint: String,
    pub messages: u64,
    /// Number of its lines in the archive of a store.
    pub archived: u64,
    /// Whether this is a notice in place of an unrecoverable session.
    pub notice: bool,
    /// The lines, if memory allows; otherwise they are read again.
    pub session: Option<Session>,
}

/// Reads a file. `memory` is the number of bytes that may still be held.
pub fn examine(path: &Path, reading: &InputArgs, memory: &AtomicI64) -> ExaminedFile {
    let mut report = Report::default();
    let (mut format, strict) = (reading.from, reading.strict);
    let found = scan_file(path, &mut format, strict, memory, &mut report);
    let found = found.and_then(|found| picked(found, reading, format.unwrap_or(Format::Native)));
    let found = match found {
        Ok(_) if strict && report.is_damaged() => {
            Err(Refusal::Damaged(Error::data("damaged; not imported (--strict)")))
        }
        Ok(_) if strict && !report.losses.is_empty() => Err(Refusal::Damaged(Error::data(
            "lossy conversion; not imported (--strict)",
        ))),
        Ok(found) => Ok(found),
        Err(error) if error.kind == ErrorKind::Data && format.is_none() => Err(Refusal::NotASession(error)),
        Err(error) if error.kind == ErrorKind::Data => Err(Refusal::Damaged(error)),
        Err(error) => Err(Refusal::Failed(error)),
    };
    ExaminedFile {
        path: path.to_path_buf(),
        stored: false,
        format,
        found,
        findings: report.findings,
        losses: report.losses,
    }
}

/// Reads the sessions of an examined file again, with their lines.
pub fn reread(path: &Path, format: Format, reading: &InputArgs) -> Result<Vec<FoundSession>> {
    let memory = AtomicI64::new(i64::MAX);
    let found = scan_file(path, &mut Some(format), false, &memory, &mut Report::default());
    found.and_then(|found| picked(found, reading, format))
}

/// Returns the lines that the session had when its source had this hash; none if the current source does not begin with
/// those bytes.
pub fn lines_before(path: &Path, format: Format, hash: &str, id: &str) -> Option<HashSet<Vec<u8>>> {
    let mut file = regular::open(path).ok()?;
    let (mut head, whole, _) = input_source::unwrapped(&mut file).ok()?;
    if !whole {
        std::io::Read::read_to_end(&mut file, &mut head).ok()?;
    }
    let mut hasher = Sha256::new();
    let mut length = 0;
    let found = head.split_inclusive(|byte| *byte == b'\n').find_map(|line| {
        let is_it = |hasher: &Sha256| key::hex(&hasher.clone().finalize()) == hash;
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        hasher.update(bare);
        if is_it(&hasher) {
            return Some(length + bare.len());
        }
        hasher.update(&line[bare.len()..]);
        length += line.len();
        is_it(&hasher).then_some(length)
    })?;
    head.truncate(found);
    if format.is_lines() {
        return Some(head.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect());
    }
    let sessions = input_source::convert(format, Some(path), &head, &mut Report::default()).ok()?;
    let session = sessions
        .into_iter()
        .map(|session| converted(session, true))
        .find(|found| found.id == id)?;
    Some(stored_lines(&session).map(<[u8]>::to_vec).collect())
}

/// Returns the selected sessions.
fn picked(mut found: Vec<FoundSession>, reading: &InputArgs, format: Format) -> Result<Vec<FoundSession>> {
    // A migration includes branches.
    let reading = InputSettings {
        include_branches: true,
        ..reading.into()
    };
    let mut selection = SessionSelection::new(reading, format);
    found.retain(|found| selection.selects_header(&found.header));
    selection.finish()?;
    Ok(found)
}

fn scan_file(
    path: &Path,
    format: &mut Option<Format>,
    strict: bool,
    memory: &AtomicI64,
    report: &mut Report,
) -> Result<Vec<FoundSession>> {
    let (mut file, size) = open(path)?;
    let (head, whole, _) = match &mut file {
        Some(file) => input_source::unwrapped(file)?,
        None => (Vec::new(), true, None),
    };
    let detected = match *format {
        Some(named) => named,
        None => {
            let verdict = detect_file(&head, whole, Some(path));
            let unknown = || match verdict.name {
                Some(_) => Error::data(verdict.evidence.clone()),
                None => Error::data(format!("not a session: {}", verdict.evidence)),
            };
            let lost = match verdict.format.is_none() && !strict {
                true => foreign::format_of_damaged(path, &verdict, &head),
                false => None,
            };
            if verdict.damaged {
                *format = Some(Format::Native); // a damaged file is reported as damaged, whether it is a session or not
            }
            lost.or(verdict.format).ok_or_else(unknown)?
        }
    };
    *format = Some(detected);
    let keep = memory.fetch_sub(size, Ordering::Relaxed) >= size;
    if detected.is_lines() {
        return match file {
            Some(file) => lines(path, detected, NativeReader::new(head, file), keep, report),
            None => Err(Error::data("contains no session")),
        };
    }
    let mut bytes = head;
    if let Some(mut file) = file {
        std::io::Read::read_to_end(&mut file, &mut bytes).map_err(|error| Error::io("cannot read", error))?;
    }
    let sessions = match input_source::convert(detected, Some(path), &bytes, report) {
        Err(error) if error.kind == ErrorKind::Data && !strict => {
            let session = notice(path, detected, &bytes, &error).ok_or(error)?;
            let what = "nothing is recoverable; a notice takes the session's place";
            report.damage(Position::default(), what);
            return Ok(vec![FoundSession {
                notice: true,
                ..converted(session, true)
            }]);
        }
        sessions => sessions?,
    };
    Ok(sessions
        .into_iter()
        .map(|session| converted(session, keep))
        .collect())
}

/// Creates a notice in place of an unrecoverable session; none if the file is an intact file of another kind.
fn notice(path: &Path, format: Format, bytes: &[u8], why: &Error) -> Option<Session> {
    let system = foreign::system_of_format(format)?;
    let name = path.file_name()?.to_str()?;
    let copies: Vec<_> = BACKUP_SUFFIXES
        .iter()
        .filter_map(|ending| {
            let name = format!("{name}{ending}");
            let bytes = regular::read(&path.with_file_name(&name)).ok()?;
            Some((name, bytes))
        })
        .collect();
    let source = DocumentSource {
        name: Some(name),
        bytes,
        neighbor: &|_| Ok(None),
    };
    system.notice(&source, &copies, &why.message)
}

/// Opens a file; none if only its backup copies exist.
fn open(path: &Path) -> Result<(Option<File>, i64)> {
    match regular::open(path) {
        Ok(file) => {
            let size = file
                .metadata()
                .map(|about| about.len())
                .map_err(|error| Error::io("cannot read", error))?;
            Ok((Some(file), i64::try_from(size).unwrap_or(i64::MAX)))
        }
        Err(error) if error.kind == ErrorKind::NotFound => Ok((None, 0)),
        Err(error) => Err(error),
    }
}

fn converted(session: Session, keep: bool) -> FoundSession {
    let header = if session.is_empty() {
        b"{}".to_vec()
    } else {
        session.record(0).body.to_vec()
    };
    let text = |raw: Option<&[u8]>| raw.and_then(json::text).unwrap_or_default().into_owned();
    let source = json::member(&header, "source").unwrap_or(b"{}");
    FoundSession {
        id: text(json::member(&header, "id")),
        fingerprint: text(json::member(source, "sha256")),
        messages: session.messages().count() as u64,
        archived: 0,
        session: keep.then_some(session),
        header,
        instead: None,
        has_new_header: true,
        notice: false,
        offset: 0,
    }
}

/// Reads a file of lines: each session starts with its header; lines before the first header get one.
fn lines(
    path: &Path,
    format: Format,
    mut reader: NativeReader<File>,
    keep: bool,
    report: &mut Report,
) -> Result<Vec<FoundSession>> {
    let mut building: Vec<SessionScan> = Vec::new();
    let mut whole = Sha256::new();
    while let Some(record) = reader.next(report)? {
        whole.update(record.full);
        let header = record.event().is_some_and(|event| event.is_header());
        if header || (building.is_empty() && !matches!(record.kind, Line::Blank)) {
            // The first session includes everything before its header, e.g. a byte order mark.
            let offset = if building.is_empty() {
                0
            } else {
                record.place.offset
            };
            building.push(SessionScan::new(&record, header, offset));
        }
        if let Some(last) = building.last_mut() {
            last.add(&record, keep);
        }
    }
    let whole = key::hex(&whole.finalize());
    if building.iter().all(|session| session.readable == 0) {
        return Err(Error::data("contains no readable line"));
    }
    building
        .into_iter()
        .map(|session| session.finish(path, format, &whole))
        .collect()
}

struct SessionScan {
    header: Option<Vec<u8>>,
    offset: u64,
    hash: Sha256,
    messages: u64,
    archived: ArchivedLines,
    readable: u64,
    session: Option<Session>,
}

impl SessionScan {
    fn new(first: &Record<'_>, header: bool, offset: u64) -> Self {
        let header = header.then(|| first.body.to_vec());
        SessionScan {
            header,
            offset,
            hash: Sha256::new(),
            messages: 0,
            archived: ArchivedLines::default(),
            readable: 0,
            session: None,
        }
    }

    fn add(&mut self, record: &Record<'_>, keep: bool) {
        self.hash.update(record.body);
        self.hash.update(b"\n");
        match Class::of(record) {
            Class::Message(_) => {
                self.messages += 1;
                self.readable += 1;
            }
            Class::Header | Class::Event => {
                self.archived.add(record.body);
                self.readable += 1;
            }
            Class::Unreadable | Class::Blank => {}
        }
        if keep {
            self.session.get_or_insert_default().push_read(record);
        }
    }

    fn finish(self, path: &Path, format: Format, whole: &str) -> Result<FoundSession> {
        if let Some(header) = self.header {
            let id = json::member_text(&header, "id").unwrap_or_default().into_owned();
            if !key::is_id(&id) {
                let message = format!("the header has an invalid id: '{id}'");
                return Err(Error::new(ErrorKind::Unsafe, message).hint(
                    "use up to 128 letters, digits, '.', '_' and '-', starting with a letter or digit",
                ));
            }
            let fingerprint = key::hex(&self.hash.finalize());
            return Ok(FoundSession {
                id,
                header,
                instead: None,
                has_new_header: false,
                offset: self.offset,
                fingerprint,
                messages: self.messages,
                archived: self.archived.count(),
                notice: false,
                session: self.session,
            });
        }
        // A name that is not UTF-8 is escaped, so that different names have different ids.
        let escaped = |name: &OsStr| name.as_encoded_bytes().escape_ascii().to_string();
        let file = path.file_name().map_or_else(
            || Cow::Borrowed("session"),
            |name| name.to_str().map_or_else(|| escaped(name).into(), Cow::from),
        );
        let file = file.as_ref();
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let id = key::id_for_key(stem);
        let mut source = ObjectBuilder::default();
        source
            .text("format", format.name())
            .text("name", file)
            .text("sha256", whole);
        let mut header = HeaderBuilder::default();
        header
            .text("key", (id != stem).then_some(stem))
            .raw("source", source.finish());
        Ok(FoundSession {
            header: header.finish(&id),
            id,
            instead: None,
            has_new_header: true,
            offset: self.offset,
            fingerprint: whole.to_string(),
            messages: self.messages,
            archived: self.archived.count(),
            notice: false,
            session: self.session,
        })
    }
}

/// Returns a line as it is stored: without newline and byte order mark, but with its carriage return.
pub fn stored<'r>(record: &Record<'r>) -> &'r [u8] {
    let end = record.full.strip_suffix(b"\n").unwrap_or(record.full);
    if end.ends_with(b"\r") && record.body.len() < end.len() {
        let start = end.len() - 1 - record.body.len();
        return &end[start..];
    }
    record.body
}

/// The lines of a session as they are stored, starting with its header, which is generated if missing.
pub fn stored_lines(found: &FoundSession) -> impl Iterator<Item = &[u8]> {
    let session = found.session.as_ref();
    let own = session.is_some_and(|session| !session.is_empty() && session.class(0) == Class::Header);
    let length = session.map_or(0, Session::len);
    let built = (!own).then_some(found.header.as_slice());
    let line = move |index| {
        let session = session?;
        // Empty lines and a byte order mark belong to the file, not to the session.
        (session.class(index) != Class::Blank).then(|| stored(&session.record(index)))
    };
    built.into_iter().chain((0..length).filter_map(line))
}
