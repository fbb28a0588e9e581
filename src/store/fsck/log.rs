//! Checks the lines of one log, and computes its repaired form.

use super::mend::mend;
use super::{Found, Links, Trouble, records};
use crate::error::{Error, Kind, Place};
use crate::format::native::HeaderBuilder;
use crate::model::event::{Event, VERSION};
use crate::model::json;
use crate::model::record::{Kind as Line, Record};
use crate::model::session::{Class, Session};
use crate::store::log::{Chain, Verdict, strip};
use std::collections::HashSet;
use std::ops::Range;

/// The result of checking a log.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub bytes: u64,
    /// Number of lines without a checksum.
    pub unchecked: u64,
    /// Why the log could not be read.
    pub unread: Option<Kind>,
    pub found: Vec<Found>,
    pub links: Links,
    /// The path of a copy of the log before its repair.
    pub copy: Option<String>,
    /// The repaired log; none if no repair is needed.
    pub mended: Option<Mended>,
}

/// A repaired log.
#[derive(Debug, Default)]
pub(super) struct Mended {
    /// Its lines in order, with newlines.
    pub lines: Vec<Vec<u8>>,
    /// Removed or changed lines in their original form, with their positions.
    pub moved: Vec<Moved>,
}

/// Bytes that a repair removes.
#[derive(Debug)]
pub(super) struct Moved {
    pub place: Place,
    pub why: String,
    pub bytes: Range<usize>,
}

impl Seen {
    /// Checks the bytes of a log.
    pub fn of(bytes: &[u8], id: &str, shown: &str) -> Seen {
        let mut look = Look {
            bytes,
            id,
            shown,
            lines: Vec::new(),
            fates: Vec::new(),
            origin: Vec::new(),
            found: Vec::new(),
            told: HashSet::new(),
            headless: false,
            unchecked: 0,
        };
        if let Some(version) = later_version(bytes) {
            let what = format!("unknown format version {version}");
            look.lines.push(0..bytes.len());
            look.tell(0, 0, Trouble::Header, what, None);
            return Seen {
                bytes: bytes.len() as u64,
                found: look.found,
                ..Seen::default()
            };
        }
        let session = look.lines();
        look.headless = !(0..session.len()).any(|index| session.class(index) == Class::Header);
        if look.headless {
            let remedy = "header with the id created";
            look.tell(0, 0, Trouble::Header, "missing header", Some(remedy));
        }
        for (index, trouble, what) in records::troubles(&session, id) {
            let line = look.origin.get(index).copied().unwrap_or_default();
            look.tell(line, 0, trouble, what, None);
        }
        let told = &look.told;
        look.found
            .retain(|found| found.trouble != Trouble::Checksum || !told.contains(&found.place.offset));
        look.found.sort_by_key(|found| found.place.offset);
        Seen {
            bytes: bytes.len() as u64,
            unchecked: look.unchecked,
            unread: None,
            links: records::links(&session),
            copy: None,
            mended: look.mended(),
            found: look.found,
        }
    }

    /// The result for a log that could not be read.
    pub fn unread(id: &str, shown: String, error: Error) -> Seen {
        let found = Found {
            session: Some(id.to_string()),
            file: shown,
            place: Place::default(),
            trouble: Trouble::Unreadable,
            what: error.message,
            remedy: None,
        };
        Seen {
            unread: Some(error.kind),
            found: vec![found],
            ..Seen::default()
        }
    }

    /// Whether a repair would change nothing.
    pub fn is_clean(&self) -> bool {
        self.mended.is_none()
    }
}

/// How a repair handles a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    /// Kept despite a wrong checksum.
    Vouched,
    /// Replaced with these bytes.
    Becomes(Vec<u8>, String),
    /// Moved to the quarantine.
    Leaves(String),
    /// Moved after the next line.
    Waits,
}

struct Look<'a> {
    bytes: &'a [u8],
    id: &'a str,
    shown: &'a str,
    lines: Vec<Range<usize>>,
    fates: Vec<Fate>,
    /// For each line of the session, the index of its line in the log.
    origin: Vec<usize>,
    found: Vec<Found>,
    /// Offsets of lines whose checksum is not reported, because another problem is.
    told: HashSet<u64>,
    /// Whether the header is missing.
    headless: bool,
    unchecked: u64,
}

impl<'a> Look<'a> {
    fn line(&self, index: usize) -> &'a [u8] {
        &self.bytes[self.lines[index].clone()]
    }

    fn place(&self, index: usize) -> Place {
        match self.lines.get(index) {
            Some(line) => Place {
                line: index as u64 + 1,
                offset: line.start as u64,
            },
            None => Place::default(), // an empty log
        }
    }

    fn tell(
        &mut self,
        index: usize,
        within: usize,
        trouble: Trouble,
        what: impl Into<String>,
        remedy: Option<&str>,
    ) {
        let mut place = self.place(index);
        place.offset += within as u64;
        self.found.push(Found {
            session: Some(self.id.to_string()),
            file: self.shown.to_string(),
            place,
            trouble,
            what: what.into(),
            remedy: remedy.map(str::to_string),
        });
    }

    /// Checks the lines and their checksums.
    fn lines(&mut self) -> Session {
        let mut start = 0;
        for line in self.bytes.split_inclusive(|byte| *byte == b'\n') {
            self.lines.push(start..start + line.len());
            start += line.len();
        }
        self.fates = vec![Fate::Stays; self.lines.len()];
        let (mut chain, mut base, mut from) = (Chain::default(), Chain::default(), 0);
        let mut index = 0;
        while index < self.lines.len() {
            let before = chain;
            match chain.verify(self.line(index)) {
                Verdict::Sealed => (base, from) = (chain, index + 1),
                Verdict::Unchecked => {}
                Verdict::Broken => {
                    let (next, behind) = self
                        .broken(index, from, base, before)
                        .unwrap_or((index + 1, chain));
                    (base, chain, from, index) = (behind, behind, next, next);
                    continue;
                }
            }
            index += 1;
        }
        self.unchecked = (from..self.lines.len())
            .filter(|index| !matches!(self.record(*index).kind, Line::Blank))
            .count() as u64;
        self.tail(base, from);
        let mut session = Session::default();
        for index in 0..self.lines.len() {
            self.readable(index);
            // A corrected line counts in its corrected form, which may consist of several lines.
            let lines = match &self.fates[index] {
                Fate::Becomes(lines, _) => lines,
                Fate::Leaves(_) => continue,
                _ => self.line(index),
            };
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                session.push(&Record::parse(&strip(line), self.place(index)));
                self.origin.push(index);
            }
        }
        session
    }

    fn record(&self, index: usize) -> Record<'a> {
        Record::parse(self.line(index), self.place(index))
    }

    /// Handles a line with a wrong checksum; `from` is the first line after the last valid one, where the chain state
    /// is `base`. Returns where and with which state the chain continues, unless it continues after this line with
    /// its stored checksum.
    fn broken(&mut self, index: usize, from: usize, base: Chain, before: Chain) -> Option<(usize, Chain)> {
        let changed = "the checksum does not match: this line or the one before was modified";
        if from == index && index > 0 && self.line(index) == self.line(index - 1) {
            self.tell(
                index,
                0,
                Trouble::Checksum,
                "duplicate line",
                Some("second copy quarantined"),
            );
            self.fates[index] = Fate::Leaves("a line that stands twice".into());
            return Some((index + 1, base));
        }
        if from == index && index + 1 < self.lines.len() {
            let mut turned = before;
            if turned.verify(self.line(index + 1)) == Verdict::Sealed
                && turned.verify(self.line(index)) == Verdict::Sealed
            {
                let what = format!("misplaced: belongs after line {}", index + 2);
                self.tell(index, 0, Trouble::Checksum, what, Some("lines swapped"));
                self.fates[index] = Fate::Waits;
                return Some((index + 2, turned));
            }
        }
        let stretch = self.lines[from].start..self.lines[index].end;
        if let Some((mended, at)) = mend(base, &self.bytes[stretch.clone()]) {
            let offset = stretch.start + at;
            let hurt = self.lines.partition_point(|line| line.end <= offset);
            let what = format!("byte {offset} was modified");
            let within = offset - self.lines[hurt].start;
            self.tell(hurt, within, Trouble::Checksum, what.clone(), Some("corrected"));
            let mut chain = base;
            mended.split_inclusive(|byte| *byte == b'\n').for_each(|line| {
                chain.verify(line);
            });
            // The corrected lines become one piece, which replaces the first of them.
            for other in from + 1..=index {
                self.fates[other] = Fate::Leaves(String::new());
            }
            self.fates[from] = Fate::Becomes(mended, what);
            return Some((index + 1, chain));
        }
        self.tell(
            index,
            0,
            Trouble::Checksum,
            changed,
            Some("kept; covered by a repair event"),
        );
        self.fates[index] = Fate::Vouched;
        None
    }

    /// Handles a last line without newline.
    fn tail(&mut self, base: Chain, from: usize) {
        let Some(last) = self.lines.len().checked_sub(1) else {
            return;
        };
        if self.line(last).ends_with(b"\n") || self.fates[last] != Fate::Stays {
            return;
        }
        if from <= last
            && let Some((mended, at)) = mend(base, &self.bytes[self.lines[from].start..])
        {
            let what = "the newline was modified";
            let within = (self.lines[from].start + at).saturating_sub(self.lines[last].start);
            self.tell(last, within, Trouble::Checksum, what, Some("newline added"));
            for other in from + 1..=last {
                self.fates[other] = Fate::Leaves(String::new());
            }
            self.fates[from] = Fate::Becomes(mended, what.into());
            return;
        }
        let what = "truncated last line";
        if matches!(self.record(last).kind, Line::Unreadable(_)) {
            self.tell(
                last,
                0,
                Trouble::TornTail,
                format!("{what}; not a record"),
                Some("quarantined"),
            );
            self.fates[last] = Fate::Leaves("a fragment at the end".into());
        } else {
            self.tell(last, 0, Trouble::TornTail, what, Some("newline added"));
            let ended = [self.line(last), b"\n"].concat();
            self.fates[last] = Fate::Becomes(ended, String::new());
        }
    }

    /// Handles lines that are not records.
    fn readable(&mut self, index: usize) {
        let fault = |line: &[u8]| match &Record::parse(&strip(line), Place::default()).kind {
            Line::Unreadable(fault) => Some((fault.offset, fault.what.to_string())),
            _ => None,
        };
        let gone = Some("quarantined");
        match self.fates[index].clone() {
            Fate::Stays | Fate::Vouched => {
                let Some((offset, what)) = fault(self.line(index)) else {
                    return;
                };
                let mut also = "";
                if self.fates[index] == Fate::Vouched {
                    // Report only one problem per line.
                    self.told.insert(self.place(index).offset);
                    also = "; the checksum does not match";
                }
                self.tell(index, offset, Trouble::Unreadable, format!("{what}{also}"), gone);
                self.fates[index] = Fate::Leaves(what);
            }
            // A corrected line may contain lines that were never records.
            Fate::Becomes(lines, why) => {
                let all = || lines.split_inclusive(|byte| *byte == b'\n');
                let Some((_, what)) = all().find_map(fault) else {
                    return;
                };
                self.tell(index, 0, Trouble::Unreadable, what, gone);
                let good: Vec<u8> = all()
                    .filter(|line| fault(line).is_none())
                    .flatten()
                    .copied()
                    .collect();
                self.fates[index] = Fate::Becomes(good, why);
            }
            Fate::Leaves(_) | Fate::Waits => {}
        }
    }

    /// Computes the log without the problems of its lines.
    fn mended(&self) -> Option<Mended> {
        if !self.headless && self.fates.iter().all(|fate| *fate == Fate::Stays) {
            return None;
        }
        let mut mended = Mended::default();
        if self.headless {
            let mut header = HeaderBuilder::default().finish(self.id);
            header.push(b'\n');
            mended.lines.push(header);
        }
        let mut waiting = None;
        for (index, fate) in self.fates.iter().enumerate() {
            match fate {
                Fate::Stays | Fate::Vouched => mended.lines.push(self.line(index).to_vec()),
                Fate::Waits => {
                    waiting = Some(index);
                    continue;
                }
                Fate::Becomes(bytes, why) => {
                    mended
                        .lines
                        .extend(bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec));
                    // A newline at the end removes nothing that must be preserved.
                    if !why.is_empty() {
                        mended.moved.push(self.moved(index, why));
                    }
                }
                // The rest of a piece that is corrected as a whole.
                Fate::Leaves(why) if why.is_empty() => {
                    if let Some(last) = mended.moved.last_mut() {
                        last.bytes.end = self.lines[index].end;
                    }
                }
                Fate::Leaves(why) => mended.moved.push(self.moved(index, why)),
            }
            mended
                .lines
                .extend(waiting.take().map(|index: usize| self.line(index).to_vec()));
        }
        for line in mended.lines.iter_mut().filter(|line| !line.ends_with(b"\n")) {
            line.push(b'\n');
        }
        Some(mended)
    }

    fn moved(&self, index: usize, why: &str) -> Moved {
        Moved {
            place: self.place(index),
            why: why.to_string(),
            bytes: self.lines[index].clone(),
        }
    }
}

/// The version of a log whose header states a later version than this program supports; such a log cannot be judged.
fn later_version(bytes: &[u8]) -> Option<u64> {
    let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    if Chain::default().verify(&bytes[..(end + 1).min(bytes.len())]) == Verdict::Broken {
        return None; // the version itself may be damaged
    }
    let record = Record::parse(&bytes[..end], Place { line: 1, offset: 0 });
    let header = record.event().filter(|event| event.is_header())?;
    version(header).filter(|version| *version > VERSION)
}

/// The version in a header.
pub(super) fn version(header: &Event<'_>) -> Option<u64> {
    let version = std::str::from_utf8(json::member(header.raw, "version")?).ok()?;
    version.parse().ok()
}
