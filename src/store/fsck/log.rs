//! Checks the lines of one log, and plans its repaired form.

use super::chain::{Damage, FIRST, LineRepair, Log, lines_from};
use super::problem::{FoundProblem, Problem};
use super::records;
use super::session_links::SessionLinks;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::native::HeaderBuilder;
use crate::model::event::VERSION;
use crate::model::json::{self, JsonError};
use crate::model::record::{Record, RecordKind as Line};
use crate::model::session::{Class, Session};
use crate::store::log::{LogChain, Verdict, strip_into};
use crate::store::patched::{Edit, Patched};
use std::collections::HashSet;
use std::ops::Range;

/// The result of checking a log.
#[derive(Debug, Default)]
pub(super) struct SeenIds {
    pub bytes: u64,
    /// A checksum of the bytes, if all were read.
    pub sum: Option<u32>,
    /// Number of lines without a checksum.
    pub unchecked: u64,
    /// Why the log could not be read.
    pub unread: Option<ErrorKind>,
    pub found: Vec<FoundProblem>,
    pub links: SessionLinks,
    /// The path of a copy of the log before its repair.
    pub copy: Option<String>,
    /// Whether a repair would change nothing.
    pub is_clean: bool,
}

#[derive(Debug)]
pub(super) struct RepairedLog<'f> {
    pub log: Patched<'f>,
    /// Removed or changed lines in their original form, with their positions.
    pub moved: Vec<Moved<'f>>,
}

/// Bytes that a repair removes.
#[derive(Debug)]
pub(super) struct Moved<'f> {
    pub place: Position,
    pub why: String,
    pub bytes: Patched<'f>,
}

impl SeenIds {
    /// The result for a log that could not be read.
    pub fn unread(id: &str, shown: String, error: Error) -> SeenIds {
        let found = FoundProblem {
            session: Some(id.to_string()),
            file: shown,
            place: Position::default(),
            problem: Problem::Unreadable,
            what: error.message,
            remedy: None,
        };
        SeenIds {
            unread: Some(error.kind),
            found: vec![found],
            is_clean: true,
            ..SeenIds::default()
        }
    }
}

/// Checks a log; also returns its repaired form if it needs a repair. Keeps no line in memory, only what the events
/// refer to.
pub(super) fn check<'f>(
    bytes: &Patched<'f>,
    id: &str,
    shown: &str,
) -> Result<(SeenIds, Option<RepairedLog<'f>>)> {
    let log = Log { bytes, id, shown };
    if let Some(version) = later_version(&log)? {
        let what = format!("unknown format version {version}");
        let seen = SeenIds {
            bytes: bytes.len(),
            found: vec![log.found(FIRST, Problem::Header, what, None)],
            is_clean: true,
            ..SeenIds::default()
        };
        return Ok((seen, None));
    }
    let damage = Damage::of(&log)?;
    let mut lines = Lines::of(&log, &damage, Session::of_ids())?;
    let mut problems = records::problems(&lines.session, id);
    // An event that refers to no message by its own id may use a derived id.
    if problems
        .iter()
        .any(|(_, problem, _)| *problem == Problem::DanglingEvent)
    {
        drop(lines);
        lines = Lines::of(&log, &damage, Session::of_digests())?;
        problems = records::problems(&lines.session, id);
    }
    let session = &lines.session;
    let is_headless = !(0..session.len()).any(|index| session.class(index) == Class::Header);
    let is_clean =
        !is_headless && damage.repairs.is_empty() && damage.corrections.is_empty() && lines.edits.is_empty();
    let mut found = [&damage.found[..], &lines.found].concat();
    if is_headless {
        let place = if bytes.len() > 0 {
            FIRST
        } else {
            Position::default()
        };
        let remedy = Some("header with the id created");
        found.push(log.found(place, Problem::Header, "missing header", remedy));
    }
    let of_line = |(index, problem, what)| log.found(session.place(index), problem, what, None);
    found.extend(problems.into_iter().map(of_line));
    found.retain(|found| found.problem != Problem::Checksum || !lines.reported.contains(&found.place.offset));
    found.sort_by_key(|found| found.place.offset);
    let seen = SeenIds {
        bytes: bytes.len(),
        sum: Some(damage.sum),
        unchecked: damage.unchecked,
        unread: None,
        found,
        links: records::links(session),
        copy: None,
        is_clean,
    };
    let repaired = (!is_clean).then(|| build_repaired(&log, damage, lines, is_headless));
    Ok((seen, repaired))
}

fn build_repaired<'f>(
    log: &Log<'_, 'f>,
    damage: Damage,
    lines: Lines<'f>,
    is_headless: bool,
) -> RepairedLog<'f> {
    let mut edits = lines.edits;
    if is_headless {
        let mut header = HeaderBuilder::default().finish(log.id);
        header.push(b'\n');
        edits.insert(0, Edit::insertion(0, header));
    }
    let corrections = damage.corrections.into_iter();
    let mut moved: Vec<Moved<'f>> = corrections
        .map(|corrected| (corrected.place, corrected.lines, corrected.why))
        .chain(lines.leaving)
        .map(|(place, range, why)| Moved {
            place,
            why,
            bytes: log.bytes.slice(range),
        })
        .collect();
    moved.sort_by_key(|moved| moved.place.offset);
    RepairedLog {
        log: lines.corrected.edited(&edits),
        moved,
    }
}

/// The lines of a log after corrections.
struct Lines<'f> {
    session: Session,
    corrected: Patched<'f>,
    /// Changes of the corrected log.
    edits: Vec<Edit>,
    /// Lines that these changes move to the quarantine.
    leaving: Vec<(Position, Range<u64>, String)>,
    found: Vec<FoundProblem>,
    /// Offsets of lines whose checksum is not reported, because another problem is.
    reported: HashSet<u64>,
}

impl<'f> Lines<'f> {
    /// Reads the records into this session. Corrections do not change offsets.
    fn of(log: &Log<'_, 'f>, damage: &Damage, mut session: Session) -> Result<Lines<'f>> {
        session.reserve(damage.lines);
        let edits: Vec<Edit> = damage.corrections.iter().map(|one| one.edit.clone()).collect();
        let mut all = Lines {
            session,
            corrected: log.bytes.edited(&edits),
            edits: Vec::new(),
            leaving: Vec::new(),
            found: Vec::new(),
            reported: HashSet::new(),
        };
        let (mut corrections, mut newlines) = (damage.corrections.iter().peekable(), 0);
        let (mut bare, mut waiting) = (Vec::new(), None);
        let corrected = all.corrected.clone();
        let mut lines = lines_from(&corrected, FIRST);
        while let Some((line, place)) = lines.next_line().map_err(|error| log.failed(error))? {
            let range = place.offset..place.offset + line.len() as u64;
            while let Some(past) = corrections.next_if(|corrected| corrected.at < range.start) {
                newlines += past.newlines;
            }
            // Problems are reported with the line numbers of the log as it is.
            let place = Position {
                line: place.line.saturating_add_signed(-newlines),
                ..place
            };
            let change = damage.repairs.get(&range.start);
            let text = match strip_into(line, &mut bare) {
                true => &bare[..],
                false => line,
            };
            let record = Record::parse(text, place);
            match change {
                Some(LineRepair::Quarantined(why)) => all.leave(place, range.clone(), why.to_string()),
                Some(LineRepair::Moved) => {
                    all.session.push_reduced(&record);
                    all.edits.push(Edit::removal(range));
                    waiting = Some(line.to_vec());
                    continue;
                }
                _ => match fault(&record) {
                    Some(fault) => all.unreadable(log, damage, &fault, (place, range.clone())),
                    None => {
                        all.session.push_reduced(&record);
                        if !line.ends_with(b"\n") {
                            all.edits.push(Edit::insertion(range.end, b"\n".to_vec()));
                        }
                    }
                },
            }
            all.edits
                .extend(waiting.take().map(|line| Edit::insertion(range.end, line)));
        }
        Ok(all)
    }

    fn leave(&mut self, place: Position, range: Range<u64>, why: String) {
        self.edits.push(Edit::removal(range.clone()));
        self.leaving.push((place, range, why));
    }

    /// Removes a line that is not a record.
    fn unreadable(
        &mut self,
        log: &Log<'_, '_>,
        damage: &Damage,
        fault: &JsonError,
        (place, range): (Position, Range<u64>),
    ) {
        let what = fault.what.to_string();
        let mut also = "";
        if let Some(LineRepair::Accepted) = damage.repairs.get(&range.start) {
            // Report only one problem per line.
            self.reported.insert(range.start);
            also = "; the checksum does not match";
        }
        let at = Position {
            offset: place.offset + fault.offset as u64,
            ..place
        };
        let found = log.found(
            at,
            Problem::Unreadable,
            format!("{what}{also}"),
            Some("quarantined"),
        );
        self.found.push(found);
        // The quarantine gets lines in their original form, corrected ones as a whole.
        let corrections = &damage.corrections;
        let next = corrections.partition_point(|corrected| corrected.lines.end <= range.start);
        match corrections
            .get(next)
            .filter(|corrected| corrected.lines.start < range.end)
        {
            Some(_) => self.edits.push(Edit::removal(range)),
            None => self.leave(place, range, what),
        }
    }
}

/// Why a line is not a record. A byte order mark is accepted in front of any line.
fn fault(record: &Record<'_>) -> Option<JsonError> {
    match &record.kind {
        Line::Unreadable(_) => match Record::parse(record.full, Position::default()).kind {
            Line::Unreadable(fault) => Some(fault),
            _ => None,
        },
        _ => None,
    }
}

/// The version of a log whose header states a later version than this program supports; such a log cannot be judged.
fn later_version(log: &Log<'_, '_>) -> Result<Option<u64>> {
    let mut lines = lines_from(log.bytes, FIRST);
    let Some((line, _)) = lines.next_line().map_err(|error| log.failed(error))? else {
        return Ok(None);
    };
    if LogChain::default().verify(line) == Verdict::Broken {
        return Ok(None); // the version itself may be damaged
    }
    let record = Record::parse(line, FIRST);
    let header = record.event().filter(|event| event.is_header());
    let version = header.and_then(|header| {
        let version = std::str::from_utf8(json::member(header.raw, "version")?).ok()?;
        version.parse().ok()
    });
    Ok(version.filter(|version| *version > VERSION))
}
