//! Checks a store for damage and repairs it: keeps a copy of the log, moves damaged lines to the quarantine, and
//! changes no undamaged line.

mod archives;
mod bit_repair;
mod chain;
mod dirs;
mod link_cycles;
mod links;
mod log;
mod marks;
mod records;
mod repair;
mod splits;

use super::patched::Patched;
use super::{FileStat, SESSIONS, Store, atomic, log_name};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::model::event::Stamp;
use crate::model::json::ObjectBuilder;
use crate::model::key;
use crate::model::named_enum::named_enum;
use marks::StoreMarkers;
use std::collections::{BTreeMap, HashSet};

named_enum! {
    /// The kind of a problem.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Problem {
        /// The last line has no newline.
        TruncatedTail = "torn-tail",
        /// A line that is not a record.
        Unreadable = "unreadable",
        /// A line that was modified or moved.
        Checksum = "checksum",
        /// Two messages or two events have the same id.
        DuplicateId = "duplicate-id",
        /// An event refers to something missing.
        DanglingEvent = "dangling-event",
        /// The header is missing, misplaced, or of a later version.
        Header = "header",
        /// A session continues a missing one.
        BrokenLink = "broken-link",
        /// A session was continued or split by a run that was interrupted before it recorded that.
        MissingLink = "missing-link",
        /// A session claims to belong to another one, which does not confirm it.
        Claim = "claim",
        /// An alias names no session.
        Alias = "alias",
        /// Data in the archive or the quarantine is damaged, missing, or belongs to a missing session.
        Piece = "piece",
        /// A leftover file of an interrupted change.
        Temporary = "temporary",
        /// Users other than the owner have access.
        Permissions = "permissions",
        /// An unexpected file in the store.
        UnexpectedFile = "stranger",
    }
}

impl Problem {
    /// Its meaning, as in the manual.
    pub const fn meaning(self) -> &'static str {
        match self {
            Problem::TruncatedTail => "last line is truncated",
            Problem::Unreadable => "line is not a record",
            Problem::Checksum => "line modified or misplaced",
            Problem::DuplicateId => "id used twice",
            Problem::DanglingEvent => "event refers to a missing record",
            Problem::Header => "missing, misplaced or newer header",
            Problem::BrokenLink => "link to a missing session or one that does not confirm it, or link cycle",
            Problem::MissingLink => "continuation or parts not recorded in the original",
            Problem::Claim => {
                "session claims to continue or to be a part of another one, which does not name it; not counted as damage"
            }
            Problem::Alias => "alias of a missing session",
            Problem::Piece => "damaged, missing or orphaned data in archive or quarantine",
            Problem::Temporary => "leftover of an interrupted change",
            Problem::Permissions => "accessible to other users",
            Problem::UnexpectedFile => "unexpected file",
        }
    }

    /// The repair by `--repair`; none if it is only reported.
    pub const fn remedy(self) -> Option<&'static str> {
        match self {
            Problem::TruncatedTail => Some("newline added, or fragment quarantined"),
            Problem::Unreadable => Some("quarantined"),
            Problem::Checksum => Some(
                "single-bit errors, duplicates and swaps corrected, other lines covered by a repair event",
            ),
            Problem::MissingLink => Some("link event added"),
            Problem::Claim => Some("link event added if `--link` names the session"),
            Problem::Alias => Some("quarantined"),
            Problem::Temporary => Some("removed unless in use"),
            Problem::Permissions => Some("restricted to the owner"),
            Problem::BrokenLink => Some("link undone"),
            Problem::Piece => Some("damaged data quarantined"),
            Problem::Header => Some("missing header created"),
            Problem::DuplicateId | Problem::DanglingEvent | Problem::UnexpectedFile => None,
        }
    }
}

/// A problem found by a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProblem {
    /// The session, if any.
    pub session: Option<String>,
    /// The path of the file.
    pub file: String,
    /// The position; line 0 means the whole file.
    pub place: Position,
    /// What kind.
    pub problem: Problem,
    /// Description.
    pub what: String,
    /// The repair, done or planned; none if there is none.
    pub remedy: Option<String>,
}

impl FoundProblem {
    /// A problem of a session's log as a whole.
    fn of(store: &Store, id: &str, problem: Problem, what: String, remedy: Option<&str>) -> FoundProblem {
        let file = store.path().join(SESSIONS).join(log_name(id));
        FoundProblem {
            session: Some(id.to_string()),
            file: file.display().to_string(),
            place: Position::default(),
            problem,
            what,
            remedy: remedy.map(str::to_string),
        }
    }
}

/// Creates id and time of a line that a repair adds; the argument distinguishes it from others.
pub type CreateStamp<'a> = &'a dyn Fn(&str) -> Result<Stamp>;

/// The beginning of the line of a run in the quarantine.
fn quarantined(stamp: CreateStamp<'_>, what: &str) -> Result<ObjectBuilder> {
    Ok(stamp(what)?.event("quarantine"))
}

/// Options of a check.
#[derive(Clone, Copy)]
pub struct FsckOptions<'a> {
    /// Check only these sessions; otherwise the whole store.
    pub ids: Option<&'a [String]>,
    /// Repair, with these stamps.
    pub repair: Option<CreateStamp<'a>>,
    /// Sessions whose claims to belong to others a repair accepts.
    pub link: &'a [String],
    /// Repair even if another program has a log open.
    pub force: bool,
}

/// The links of a session to others.
#[derive(Debug, Default)]
struct SessionLinks {
    continued_from: Option<String>,
    /// Sessions that continue it, with the event that says so; none if the header does.
    continued_to: Vec<(String, Option<String>)>,
    /// Former continuations whose events were undone.
    unlinked: HashSet<String>,
    /// The session of which it is a part.
    split_from: Option<PartReference>,
    /// Split events, with the parts.
    split_into: Vec<(String, Vec<String>)>,
    /// Gc events whose lines the archive must have.
    packed: Vec<String>,
}

impl SessionLinks {
    /// Whether it claims to belong to another session.
    fn claims(&self) -> bool {
        self.continued_from.is_some() || self.split_from.is_some()
    }
}

/// A reference to the session that was split.
#[derive(Debug)]
struct PartReference {
    parent: String,
    part: usize,
    parts: usize,
}

/// Statistics of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FsckStats {
    /// Sessions.
    pub sessions: u64,
    /// Size of their logs in bytes.
    pub bytes: u64,
    /// Lines without a checksum, written by other programs and not yet followed by a line of convo.
    pub unchecked: u64,
    /// Repaired logs: the session, and the path of a copy of the original.
    pub copies: Vec<(String, String)>,
    /// The worst error of logs that could not be read.
    pub unread: Option<ErrorKind>,
}

impl Store {
    /// Checks sessions, or the whole store, and reports each problem. Changes nothing without `repair`.
    pub fn check(&self, check: &FsckOptions<'_>, report: &mut dyn FnMut(FoundProblem)) -> Result<FsckStats> {
        let mut changed = false;
        let mut forward = |found: FoundProblem| {
            changed |= found.remedy.is_some() && check.repair.is_some();
            report(found);
        };
        self.run_check(check, &mut forward)
            .map_err(|error| match changed {
                true => error
                    .kind(ErrorKind::Unsure)
                    .hint("some problems are repaired already; run the command again"),
                false => error,
            })
    }

    fn run_check(&self, check: &FsckOptions<'_>, report: &mut dyn FnMut(FoundProblem)) -> Result<FsckStats> {
        let mut checked = FsckStats::default();
        let mut links = BTreeMap::new();
        for id in check.link {
            if !self.examine(id, false)?.is_some_and(|seen| seen.links.claims()) {
                let what = format!("{id} does not claim to continue or to be a part of a session");
                return Err(Error::usage(what));
            }
        }
        let mut ids = match check.ids {
            Some(ids) => ids.to_vec(),
            None => self.ids()?.into_iter().map(|entry| entry.id).collect(),
        };
        ids.sort();
        ids.dedup();
        if check.ids.is_none() {
            dirs::check(self, check.repair.is_some(), report)?;
        }
        for id in &ids {
            let seen = match check.repair {
                None => self.examine(id, false)?,
                Some(stamp) => match self.examine(id, true)? {
                    Some(seen) if seen.is_clean => Some(seen),
                    Some(_) => match self.repair_log(id, stamp, check.force) {
                        // The other logs can still be repaired.
                        Err(error) if error.kind != ErrorKind::Unsure => {
                            let shown = self
                                .path()
                                .join(SESSIONS)
                                .join(log_name(id))
                                .display()
                                .to_string();
                            Some(log::SeenIds::unread(id, shown, error))
                        }
                        seen => seen?,
                    },
                    None => None,
                },
            };
            // A session removed meanwhile is skipped unless it was requested.
            let Some(mut seen) = seen else {
                if check.ids.is_some() {
                    return Err(super::no_session(id));
                }
                continue;
            };
            checked.sessions += 1;
            checked.bytes += seen.bytes;
            checked.unchecked += seen.unchecked;
            checked.unread = checked.unread.max(seen.unread);
            checked.copies.extend(seen.copy.map(|copy| (id.clone(), copy)));
            std::mem::take(&mut seen.found).into_iter().for_each(&mut *report);
            if seen.unread.is_none() {
                checked.unread = checked
                    .unread
                    .max(self.check_pieces(id, &seen.links, check, report)?);
            }
            links.insert(id.clone(), seen.links);
        }
        let marks = StoreMarkers::of(self, &links)?;
        links::check(self, check, &links, &marks, report)?;
        link_cycles::check(self, &links, report)?;
        splits::check(self, check, &links, &marks, report)?;
        if check.ids.is_none() {
            marks.sweep(self, check.repair.is_some(), report)?;
            self.check_aliases(check.repair, report)?;
        }
        Ok(checked)
    }

    /// Checks a log between two changes; none when there is no such session.
    fn examine(&self, id: &str, repair: bool) -> Result<Option<log::SeenIds>> {
        let id = key::checked_id(id)?;
        let Some(sessions) = self.sessions()? else {
            return Ok(None);
        };
        let name = log_name(id);
        let shown = sessions.shown(&name);
        // A reader does not wait for a writer.
        let opened = match repair {
            true => atomic::open_unlocked(sessions, &name, self.lock_timeout),
            false => atomic::open_complete(sessions, &name),
        };
        let read = opened.and_then(|opened| {
            let Some((file, length)) = opened else {
                return Ok(None);
            };
            if repair {
                // Sync the name first: a valid result must not depend on a name that a power failure could remove.
                let facts = FileStat::of(&file).map_err(|error| Error::io(&shown, error))?;
                self.sync_name(sessions, &facts)?;
            }
            let (seen, _) = log::check(&Patched::new(Some(&file), length), id, &shown)?;
            Ok(Some(seen))
        });
        let seen = match read {
            Ok(Some(seen)) => seen,
            Ok(None) => return Ok(None),
            Err(error)
                if matches!(
                    error.kind,
                    ErrorKind::InputOutput | ErrorKind::Unsafe | ErrorKind::Locked
                ) =>
            {
                return Ok(Some(log::SeenIds::unread(id, shown, error)));
            }
            Err(error) => return Err(error),
        };
        Ok(Some(seen))
    }
}
