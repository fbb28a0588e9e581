//! Reads a file as sessions.

use super::entry::{self, EntryKind, PiEntry};
use super::record::RecordProblem;
use super::tree::{EntryTree, first_by_id};
use super::{NAME, message, record};
use crate::error::{Position, Result};
use crate::format::branches::Path;
use crate::format::concatenated_logs::{self, ReadLog};
use crate::format::kit::records::passthrough;
use crate::format::native::{self, HeaderBuilder};
use crate::format::report::Report;
use crate::format::request::request_part::extra_object;
use crate::format::workspace::Workspace;
use crate::format::{DocumentSource, Format, SessionInput, SessionReader};
use crate::model::event;
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
    // A newer pi may write entries of further types; a file with only such entries is not supported.
    let problems: Vec<Option<RecordProblem>> = entries.iter().map(record::problem).collect();
    let has_messages =
        { entries.iter().zip(&problems) }.any(|(entry, problem)| entry.is_received() && problem.is_none());
    let unrecognized = entries.iter().zip(&problems).filter(|(entry, problem)| {
        let is_unsupported = matches!(problem, Some(RecordProblem::Unsupported));
        entry.is_unrecognized() || is_unsupported || (!has_messages && entry.is_unknown())
    });
    report.report_unrecognized(unrecognized.map(|(entry, _)| entry.place), "a pi file");
    for (entry, problem) in entries.iter().zip(problems) {
        if let Some(RecordProblem::Fault(fault)) = problem {
            report.damage(entry.place, fault);
        }
    }
    report_newer_version(&entries, report);
    let tree = EntryTree::of(&entries);
    let reading = PiReader {
        is_displayed,
        ..PiReader::of(&source, &entries, &tree)
    };
    tree.paths
        .iter()
        .enumerate()
        .map(|(nth, path)| reading.session(nth, path, report))
        .collect()
}

/// The newest supported version of the format.
const NEWEST: u64 = 3;

/// Reports a file of a newer version, which is read as the newest supported one.
fn report_newer_version(entries: &[PiEntry<'_>], report: &mut Report) {
    let first = entries.iter().find(|entry| entry.kind == EntryKind::Session);
    let version = first.and_then(|first| json::number::<u64>(first.get("version")?));
    if let (Some(first), Some(version)) = (first, version.filter(|version| *version > NEWEST)) {
        let what = format!("unknown format version {version}; read as version {NEWEST}");
        report.damage(first.place, what);
    }
}

struct PiReader<'a> {
    entries: &'a [PiEntry<'a>],
    tree: &'a EntryTree,
    is_displayed: bool,
    /// The session entry.
    first: Option<&'a PiEntry<'a>>,
    /// The first entry with each id.
    by_id: HashMap<&'a str, usize>,
    /// The id of the main session.
    main: String,
    /// The `source` member of all headers.
    source: Vec<u8>,
}

impl<'a> PiReader<'a> {
    fn of(source: &DocumentSource<'_>, entries: &'a [PiEntry<'a>], tree: &'a EntryTree) -> PiReader<'a> {
        let first = entries.iter().find(|entry| entry.kind == EntryKind::Session);
        let named = first.and_then(|entry| entry.id.as_deref());
        let main = named.map_or_else(|| source.name_or_hash(), str::to_string);
        PiReader {
            entries,
            tree,
            is_displayed: false,
            first,
            by_id: first_by_id(entries),
            main,
            source: native::source_member(Format::Pi, source, &[]),
        }
    }

    /// The first entry that a compaction keeps, if it precedes the compaction on the path.
    fn first_kept(&self, path: &Path, at: usize, place: &HashMap<usize, usize>) -> Option<usize> {
        let compaction = &self.entries[path.entries[at]];
        let named = match compaction.get("firstKeptEntryId").and_then(json::text) {
            Some(id) => self.by_id.get(id.as_ref()).copied(),
            None => {
                let index = compaction.get("firstKeptEntryIndex")?;
                let index: usize = json::number(index)?;
                let at = self.entries.partition_point(|entry| entry.number <= index);
                Some(at).filter(|at| *at < self.entries.len())
            }
        }?;
        // The entry is before the branch point, so the branch is kept completely.
        if path.joint.is_some_and(|joint| self.tree.is_before(named, joint)) {
            return Some(0);
        }
        let place = place.get(&named).copied();
        place.filter(|place| *place < at)
    }

    fn session(&self, nth: usize, path: &Path, report: &mut Report) -> Session {
        let mut session = Session::default();
        session.push_new(&self.header(nth, path));
        let is_compaction = |at: &usize| self.entries[path.entries[*at]].kind == EntryKind::Compaction;
        let compactions: Vec<usize> = (0..path.entries.len()).filter(is_compaction).collect();
        // The first kept entry by compaction; none keeps less than the last compaction.
        let mut kept: HashMap<usize, usize> = HashMap::new();
        let place: HashMap<usize, usize> = path
            .entries
            .iter()
            .enumerate()
            .map(|(at, nth)| (*nth, at))
            .collect();
        let last = compactions.last();
        let last = last.map(|at| self.first_kept(path, *at, &place).unwrap_or(*at));
        for at in compactions {
            let own = self.first_kept(path, at, &place).unwrap_or(at);
            kept.insert(at, own.min(last.unwrap_or(own)));
        }
        // Ids are only needed if messages are covered or hidden.
        let names = last.is_some() || path.entries.iter().any(|nth| is_hidden(&self.entries[*nth]));
        // The id of each message so far, with its index on the path.
        let mut ids: Vec<(usize, String)> = Vec::new();
        let mut derive = Derive::default();
        let mut known: HashSet<Cow<'_, str>> = HashSet::new();
        for (at, nth) in path.entries.iter().enumerate() {
            let entry = &self.entries[*nth];
            if let EntryKind::Unreadable(fault) = entry.kind {
                report.damage_in_line(entry.place, fault);
                session.push_ended(entry.full, entry.place);
                continue;
            }
            if entry.kind == EntryKind::Compaction {
                let covered = &ids[..ids.partition_point(|(place, _)| *place < kept[&at])];
                let ends = covered
                    .first()
                    .zip(covered.last())
                    .map(|((_, first), (_, last))| (first, last));
                session.push_made(summary(entry, ends, &self.id_of(entry, *nth)), entry.place);
                continue;
            }
            let Some(mut draft) = record::of_entry(entry, self.is_displayed) else {
                session.push_made(passthrough(NAME, entry.body.trim_ascii()), entry.place);
                continue;
            };
            let own = entry.id.clone().filter(|id| known.insert(id.clone()));
            if let Some(id) = &own {
                draft.raw("id", quoted(id));
            }
            draft.optional("timestamp", entry.timestamp());
            let body = draft.body_of(NAME);
            let id = match own {
                Some(id) => id.into_owned(),
                None if names => derive.id(&body),
                None => String::new(),
            };
            session.push_made(body, entry.place);
            if is_hidden(entry) {
                session.push_made(hidden(entry, &id, &self.id_of(entry, *nth)), entry.place);
            }
            ids.push((at, id));
        }
        session
    }

    /// An id for the event of an entry.
    fn id_of(&self, entry: &PiEntry<'_>, nth: usize) -> String {
        let name = format!("{nth}\n{}", String::from_utf8_lossy(entry.body));
        key::id_from("evt_", &name)
    }

    fn header(&self, nth: usize, path: &Path) -> Vec<u8> {
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
        if nth > 0 {
            let at = path.joint.and_then(|joint| self.tree.nearest_received(joint));
            let at = at.and_then(|at| self.entries[at].id.as_deref());
            metadata.raw(
                "lineage",
                native::lineage("branch", &key::id_for_key(&self.main), at),
            );
        } else if let Some(parent) = parent(get("parentSession").or(get("branchedFrom"))) {
            metadata.raw("lineage", native::lineage("fork", &parent, None));
        }
        if let (Some(first), 0) = (first, nth) {
            metadata.raw(NAME, wrapped("session", first.body.trim_ascii()));
        }
        header.metadata(metadata);
        header.finish(&id)
    }

    /// The last name given to the session.
    fn title(&self, path: &Path) -> Option<Cow<'a, str>> {
        path.entries.iter().rev().find_map(|nth| {
            let entry = &self.entries[*nth];
            let named = entry.kind == EntryKind::Other && entry.get("type") == Some(b"\"session_info\"");
            entry.get("name").filter(|_| named).and_then(json::text)
        })
    }
}

/// Maps the lines of a session to entries; events that hide messages have no entry.
pub fn lines_of(entries: &[PiEntry<'_>], path: &Path) -> Vec<(usize, usize)> {
    let mut line = 1;
    let mut lines = Vec::with_capacity(path.entries.len());
    for at in &path.entries {
        lines.push((line, *at));
        line += 1 + usize::from(is_hidden(&entries[*at]));
    }
    lines
}

/// Whether an entry is a message that the model does not receive.
fn is_hidden(entry: &PiEntry<'_>) -> bool {
    let message = entry.get("message").filter(|_| entry.kind == EntryKind::Message);
    message.is_some_and(|message| {
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

/// The time of an event's entry.
fn at<'a>(entry: &PiEntry<'a>) -> &'a [u8] {
    entry.timestamp().unwrap_or(b"\"1970-01-01T00:00:00Z\"")
}

/// The event for a compaction.
fn summary(entry: &PiEntry<'_>, covers: Option<(&String, &String)>, id: &str) -> Vec<u8> {
    let mut event = event::begin("summary", id);
    event
        .raw("at", at(entry))
        .raw("content", entry.get("summary").unwrap_or(b"\"\""));
    if let Some((first, last)) = covers {
        event.raw("covers", array([quoted(first), quoted(last)]));
    }
    event.text("by", NAME);
    let rest = extra_object(entry.body, &["type", "summary"]);
    let rest = rest.unwrap_or_else(|| b"{}".to_vec());
    event.raw("metadata", wrapped(NAME, rest));
    event.finish()
}

/// The event that hides a message that the model does not receive.
fn hidden(entry: &PiEntry<'_>, message: &str, id: &str) -> Vec<u8> {
    let mut event = event::begin("compact", id);
    event
        .raw("at", at(entry))
        .text("strategy", NAME)
        .raw("drop", array([quoted(message)]));
    event.finish()
}
