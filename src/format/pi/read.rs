//! Reads a file as sessions.

use super::entry::{self, EntryKind, NAME, PiEntry};
use super::record::RecordProblem;
use super::tree::EntryTree;
use super::{message, record};
use crate::error::{Position, Result};
use crate::format::branches::Path;
use crate::format::concatenated_logs::{self, ReadLog};
use crate::format::kit::records::passthrough;
use crate::format::native::{self, HeaderBuilder};
use crate::format::report::Report;
use crate::format::request::request_part::extra_object;
use crate::format::workspace::Workspace;
use crate::format::{DocumentSource, Format, SessionInput, SessionReader};
use crate::model::event::{self, EPOCH};
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use crate::model::key::{self, Derive};
use crate::model::session::Session;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Opens an input with one or more concatenated files. The messages of sessions that are only displayed get no residues.
pub fn open(input: SessionInput, is_displayed: bool) -> Result<Box<dyn SessionReader>> {
    let read: ReadLog = match is_displayed {
        true => |name, bytes, start, report| read(name, bytes, start, true, report),
        false => |name, bytes, start, report| read(name, bytes, start, false, report),
    };
    concatenated_logs::open(input, || Box::new(entry::starts_file), read)
}

/// Reads a file that starts at `start`.
pub fn read(
    name: Option<&str>,
    bytes: &[u8],
    start: Position,
    is_displayed: bool,
    report: &mut Report,
) -> Vec<Session> {
    let source = DocumentSource {
        name,
        ..DocumentSource::alone(bytes)
    };
    let entries = entry::entries(bytes, start);
    report_problems(&entries, report);
    let tree = EntryTree::of(&entries);
    let first = entry::first(&entries);
    let named = first.and_then(|first| first.id.as_deref());
    let reader = PiReader {
        tree: &tree,
        is_displayed,
        first,
        main: named.map_or_else(|| source.name_or_hash(), str::to_string),
        source: native::source_member(Format::Pi, &source, &[]),
    };
    let paths = tree.paths.iter().enumerate();
    paths
        .map(|(nth, path)| reader.session(nth, path, report))
        .collect()
}

/// The newest supported version of the format.
const NEWEST: u64 = 3;

/// Reports entries that cannot be read, and a file of a newer version, which is read as the newest supported one.
fn report_problems(entries: &[PiEntry<'_>], report: &mut Report) {
    // A newer pi may write entries of further types; a file with only such entries is not supported.
    let problems: Vec<Option<RecordProblem>> = entries.iter().map(record::problem).collect();
    let all = || entries.iter().zip(&problems);
    let has_messages = all().any(|(entry, problem)| entry.is_received() && problem.is_none());
    let unrecognized = all().filter(|(entry, problem)| {
        let is_unsupported = matches!(problem, Some(RecordProblem::Unsupported));
        entry.is_unrecognized() || is_unsupported || (!has_messages && entry.is_unknown())
    });
    report.report_unrecognized(unrecognized.map(|(entry, _)| entry.place), "a pi file");
    for (entry, problem) in entries.iter().zip(problems) {
        if let Some(RecordProblem::Fault(fault)) = problem {
            report.damage(entry.place, fault);
        }
    }
    let first = entry::first(entries);
    let version = first.and_then(|first| json::number::<u64>(first.get("version")?));
    if let (Some(first), Some(version)) = (first, version.filter(|version| *version > NEWEST)) {
        let what = format!("unknown format version {version}; read as version {NEWEST}");
        report.damage(first.place, what);
    }
}

struct PiReader<'a> {
    tree: &'a EntryTree<'a>,
    is_displayed: bool,
    /// The session entry.
    first: Option<&'a PiEntry<'a>>,
    /// The id of the main session.
    main: String,
    /// The `source` member of all headers.
    source: Vec<u8>,
}

impl<'a> PiReader<'a> {
    fn entries(&self, path: &'a Path) -> impl DoubleEndedIterator<Item = &'a PiEntry<'a>> {
        path.entries.iter().map(|nth| &self.tree.entries[*nth])
    }

    /// For each compaction on a path, by position, the position of the first entry that it keeps. No compaction keeps
    /// less than the last one.
    fn kept(&self, path: &'a Path) -> HashMap<usize, usize> {
        let compactions = self.entries(path).enumerate();
        let mut compactions = compactions
            .filter(|(_, entry)| entry.kind == EntryKind::Compaction)
            .peekable();
        if compactions.peek().is_none() {
            return HashMap::new();
        }
        let places = path.entries.iter().enumerate();
        let places: HashMap<usize, usize> = places.map(|(at, nth)| (*nth, at)).collect();
        let kept = compactions.map(|(at, entry)| {
            let first = match self.named(entry) {
                // The entry is before the branch point, so the branch is kept completely.
                Some(named) if path.joint.is_some_and(|joint| self.tree.is_before(named, joint)) => Some(0),
                named => named.and_then(|named| places.get(&named).copied()),
            };
            (at, first.filter(|first| *first < at).unwrap_or(at))
        });
        let kept: Vec<(usize, usize)> = kept.collect();
        let last = kept.last().map_or(0, |(_, first)| *first);
        kept.into_iter()
            .map(|(at, first)| (at, first.min(last)))
            .collect()
    }

    /// The entry that a compaction names as the first that it keeps.
    fn named(&self, compaction: &PiEntry<'_>) -> Option<usize> {
        if let Some(id) = compaction.text("firstKeptEntryId") {
            return self.tree.by_id.get(id.as_ref()).copied();
        }
        let index: usize = json::number(compaction.get("firstKeptEntryIndex")?)?;
        let entries = self.tree.entries;
        let at = entries.partition_point(|entry| entry.number <= index);
        Some(at).filter(|at| *at < entries.len())
    }

    fn session(&self, nth: usize, path: &'a Path, report: &mut Report) -> Session {
        let mut session = Session::default();
        session.push_new(&self.header(nth, path));
        let kept = self.kept(path);
        // Ids are only needed if messages are covered or hidden.
        let needs_ids = !kept.is_empty() || self.entries(path).any(is_hidden);
        // The id of each message so far, with its index on the path.
        let mut ids: Vec<(usize, String)> = Vec::new();
        let mut derive = Derive::default();
        let mut known: HashSet<&str> = HashSet::new();
        for (at, (entry, nth)) in self.entries(path).zip(&path.entries).enumerate() {
            if let EntryKind::Unreadable(fault) = entry.kind {
                report.damage_in_line(entry.place, fault);
                session.push_ended(entry.full, entry.place);
                continue;
            }
            if entry.kind == EntryKind::Compaction {
                let covered = &ids[..ids.partition_point(|(place, _)| *place < kept[&at])];
                session.push_generated(summary(entry, *nth, covered), entry.place);
                continue;
            }
            let Some(mut draft) = record::of_entry(entry, self.is_displayed) else {
                session.push_generated(passthrough(NAME, entry.body.trim_ascii()), entry.place);
                continue;
            };
            let own = entry.id.as_deref().filter(|id| known.insert(id));
            draft
                .optional("id", own.map(quoted))
                .optional("timestamp", entry.timestamp());
            let body = draft.body_of(NAME);
            let id = match own {
                Some(id) => id.to_string(),
                None if needs_ids => derive.id(&body),
                None => String::new(),
            };
            session.push_generated(body, entry.place);
            if is_hidden(entry) {
                session.push_generated(hidden(entry, *nth, &id), entry.place);
            }
            ids.push((at, id));
        }
        session
    }

    fn header(&self, nth: usize, path: &'a Path) -> Vec<u8> {
        let name = match nth {
            0 => self.main.clone(),
            nth => format!("{}.{nth}", self.main),
        };
        let id = key::id_for_key(&name);
        let first = self.first;
        let get = |name: &str| first.and_then(|first| first.get(name));
        let mut header = HeaderBuilder::default();
        if let Some(time) = first.and_then(PiEntry::timestamp).filter(|_| nth == 0) {
            header.raw("created_at", time.to_vec());
        }
        header
            .text("title", self.title(path).as_deref())
            .text("key", (id != name).then_some(name.as_str()))
            .raw("source", self.source.clone());
        let mut metadata = ObjectBuilder::default();
        Workspace::new(get("cwd"), None, None).add_to(&mut metadata);
        let lineage = if nth > 0 {
            let at = path.joint.and_then(|joint| self.tree.received[joint]);
            let at = at.and_then(|at| self.tree.entries[at].id.as_deref());
            Some(native::lineage("branch", &key::id_for_key(&self.main), at))
        } else {
            let parent = parent(get("parentSession").or(get("branchedFrom")));
            parent.map(|parent| native::lineage("fork", &parent, None))
        };
        metadata.optional("lineage", lineage);
        if let (Some(first), 0) = (first, nth) {
            metadata.raw(NAME, wrapped("session", first.body.trim_ascii()));
        }
        header.metadata(metadata);
        header.finish(&id)
    }

    /// The last name given to the session.
    fn title(&self, path: &'a Path) -> Option<Cow<'a, str>> {
        self.entries(path).rev().find_map(|entry| {
            let is_named = entry.kind == EntryKind::Other && entry.get("type") == Some(b"\"session_info\"");
            entry.text("name").filter(|_| is_named)
        })
    }
}

/// Whether an entry is a message that the model does not receive. An event after it hides it.
pub fn is_hidden(entry: &PiEntry<'_>) -> bool {
    entry.message().is_some_and(|message| {
        json::member(message, "excludeFromContext") == Some(b"true") && message::of_message(message).is_some()
    })
}

/// The id of the parent session: the end of its file name.
fn parent(raw: Option<&[u8]>) -> Option<String> {
    let text = raw.and_then(json::text).filter(|text| !text.is_empty())?;
    let file = text.rsplit(['/', '\\']).next().unwrap_or(&text);
    let stem = file.strip_suffix(".jsonl").unwrap_or(file);
    let id = stem.rsplit('_').next().unwrap_or(stem);
    Some(id.to_string())
}

/// The start of the event for the nth entry of a file.
fn event(kind: &str, entry: &PiEntry<'_>, nth: usize) -> ObjectBuilder {
    let name = format!("{nth}\n{}", String::from_utf8_lossy(entry.body));
    let mut event = event::begin(kind, &key::id_from("evt_", &name));
    let epoch = quoted(EPOCH);
    event.raw("at", entry.timestamp().unwrap_or(&epoch));
    event
}

/// The event for a compaction of these messages.
fn summary(entry: &PiEntry<'_>, nth: usize, covered: &[(usize, String)]) -> Vec<u8> {
    let mut event = event("summary", entry, nth);
    event.raw("content", entry.get("summary").unwrap_or(b"\"\""));
    if let ([(_, first), ..], [.., (_, last)]) = (covered, covered) {
        event.raw("covers", array([quoted(first), quoted(last)]));
    }
    event.text("by", NAME);
    let rest = extra_object(entry.body, &["type", "summary"]);
    let rest = rest.unwrap_or_else(|| b"{}".to_vec());
    event.raw("metadata", wrapped(NAME, rest));
    event.finish()
}

/// The event that hides a message that the model does not receive.
fn hidden(entry: &PiEntry<'_>, nth: usize, message: &str) -> Vec<u8> {
    let mut event = event("compact", entry, nth);
    event.text("strategy", NAME).raw("drop", array([quoted(message)]));
    event.finish()
}
