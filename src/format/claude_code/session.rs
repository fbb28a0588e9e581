//! Converts a log to sessions one at a time: header, and records in line order.

use super::line::{ClaudeLineKind, LineMembers, NAME};
use super::log::ClaudeLog;
use super::record::{self, ClaudeMessages, Covered, ReadPurpose};
use super::title;
use super::tree::{ClaudeSideSession, LineSet, groups};
use crate::format::kit::records::passthrough;
use crate::format::native::{self, HeaderBuilder};
use crate::format::workspace::Workspace;
use crate::model::json::{self, ObjectBuilder, quoted};
use crate::model::key;
use crate::model::session::Session;
use std::collections::{HashMap, HashSet};

/// A log that is converted to sessions.
pub struct LogConversion {
    pub log: ClaudeLog,
    name: Option<String>,
    /// Whether sessions keep their source bytes.
    returns: bool,
    purpose: ReadPurpose,
    groups: Vec<LineSet>,
    next: usize,
    id: String,
    ids: HashSet<String>,
}

/// A session, with the lines that each of its records was read from.
#[derive(Default)]
pub struct BuiltSession {
    pub session: Session,
    /// Line indexes by record.
    pub sources: Vec<Vec<usize>>,
    /// All its lines, in file order.
    pub lines: Vec<usize>,
    pub is_main: bool,
}

impl LogConversion {
    /// Assigns the lines of a log to sessions. `name` is the file name; `returns` if it may be written back.
    pub fn new(log: ClaudeLog, name: Option<String>, returns: bool, purpose: ReadPurpose) -> LogConversion {
        let groups = groups(&log);
        let mut making = LogConversion {
            log,
            name,
            returns,
            purpose,
            groups,
            next: 0,
            id: String::new(),
            ids: HashSet::new(),
        };
        making.id = making.main_id();
        making
    }

    /// The id of the main session: that of its latest line, else one derived from the file name or the bytes.
    fn main_id(&self) -> String {
        let lines = self.groups.first().map_or(&[][..], |group| &group.lines);
        let session_id = lines.iter().rev().find_map(|line| {
            let facts = self.log.message_facts(*line)?;
            Some(json::text(facts.get("sessionId")?)?.into_owned())
        });
        let name = || {
            let name = self.name.as_deref()?;
            Some(name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_string())
        };
        let digest = |hash: &String| format!("session_{}", &hash[..16]);
        session_id
            .filter(|id| !id.is_empty())
            .or_else(name)
            .or_else(|| self.log.sha256.as_ref().map(digest))
            .unwrap_or_default()
    }

    pub fn next(&mut self) -> Option<BuiltSession> {
        let nth = self.next;
        let group = self.groups.get(nth)?;
        self.next += 1;
        let mut records = SessionRecords::new(&self.log, group, self.purpose);
        let key = self.key(group);
        let mut id = key::id_for_key(&key);
        while !self.ids.insert(id.clone()) {
            id.push_str("-2");
        }
        records.push(self.header(nth, group, &id, &key), Vec::new());
        records.read();
        let mut built = records.built;
        if self.returns {
            built.session.set_origin(self.log.origin.clone());
        }
        built.lines = group.lines.clone();
        built.is_main = nth == 0;
        Some(built)
    }

    pub fn is_done(&self) -> bool {
        self.next >= self.groups.len()
    }

    /// The key of a session: the main id, with the agent or the first message appended for a branch or sidechain.
    fn key(&self, group: &LineSet) -> String {
        let first = group
            .lines
            .iter()
            .find(|line| self.log.lines[**line].is_message());
        let facts = first.and_then(|line| self.log.facts(*line));
        let text = |raw: Option<&[u8]>| raw.and_then(json::text).map(|text| text.into_owned());
        let Some(facts) = facts else {
            return self.id.clone();
        };
        let agent = text(facts.agent()).filter(|_| facts.is_sidechain());
        match (agent, group.side) {
            (Some(agent), _) => format!("{}.agent-{agent}", self.id),
            (None, None) => self.id.clone(),
            (None, Some(_)) => match text(facts.uuid()) {
                Some(uuid) => format!("{}.{uuid}", self.id),
                None => format!("{}.{}", self.id, self.next),
            },
        }
    }

    fn header(&self, nth: usize, group: &LineSet, id: &str, key: &str) -> Vec<u8> {
        let mut lines = group.lines.iter();
        let first = lines.clone().find_map(|line| self.log.message_facts(*line));
        let time = lines.find_map(|line| {
            let is_message = self.log.lines[*line].is_message();
            let facts = is_message.then(|| self.log.facts(*line)).flatten();
            facts?.timestamp()
        });
        let title = (nth == 0).then(|| title::of(&self.log)).flatten();
        let mut source = ObjectBuilder::default();
        source
            .text("format", NAME)
            .optional("name", self.name.as_deref().map(quoted))
            .optional("sha256", self.log.sha256.as_deref().map(quoted));
        let mut header = HeaderBuilder::default();
        time.map(|time| header.raw("created_at", time));
        header
            .text("key", (id != key).then_some(key))
            .text("title", title.as_deref())
            .raw("source", source.finish());
        let mut metadata = ObjectBuilder::default();
        if let Some(first) = &first {
            let mut own = ObjectBuilder::default();
            Workspace::new(first.get("cwd"), first.get("gitBranch"), None).add_to(&mut metadata);
            for name in ["sessionId", "version", "slug"] {
                own.optional(name, first.get(name));
            }
            own.optional("agentId", first.agent());
            metadata.members(NAME, own);
        }
        metadata.optional("lineage", self.lineage(group, first.as_ref()));
        header.metadata(metadata);
        header.finish(id)
    }

    fn lineage(&self, group: &LineSet, first: Option<&LineMembers<'_>>) -> Option<Vec<u8>> {
        let (kind, at) = match group.side {
            Some(ClaudeSideSession::Branch(at)) => ("branch", at),
            Some(ClaudeSideSession::Sidechain(at)) => ("sidechain", at),
            // A sidechain in its own file.
            None if first.is_some_and(|first| first.is_sidechain()) => ("sidechain", None),
            None => return None,
        };
        let at = at.and_then(|line| self.message_of(line));
        let at = at.as_deref().and_then(json::text);
        Some(native::lineage(kind, &key::id_for_key(&self.id), at.as_deref()))
    }

    /// The id of the model message that a line of the main session is part of.
    fn message_of(&self, line: usize) -> Option<Vec<u8>> {
        let message = self.log.lines[line].references.as_ref()?.message;
        let is = |other: &&usize| {
            let references = self.log.lines[**other].references.as_ref();
            references.is_some_and(|references| references.message == message)
        };
        let lead = match message {
            Some(_) => *self.groups.first()?.lines.iter().find(is)?,
            None => line,
        };
        self.log.uuid(lead)
    }
}

/// Builds the records of a session.
struct SessionRecords<'l> {
    log: &'l ClaudeLog,
    lines: &'l [usize],
    built: BuiltSession,
    messages: ClaudeMessages<'l>,
    pieces: HashMap<usize, Vec<usize>>,
    /// Number of occurrences of each id.
    seen: HashMap<String, u64>,
    /// The messages since the last compaction.
    covered: Option<Covered>,
    /// A boundary that is not followed by a record yet.
    boundary: Option<usize>,
    /// Whether the view has a summary.
    has_summary: bool,
}

impl<'l> SessionRecords<'l> {
    fn new(log: &'l ClaudeLog, group: &'l LineSet, purpose: ReadPurpose) -> Self {
        SessionRecords {
            log,
            lines: &group.lines,
            built: BuiltSession::default(),
            messages: ClaudeMessages::new(log, purpose),
            pieces: record::message_lines(log, &group.lines),
            seen: HashMap::new(),
            covered: None,
            boundary: None,
            has_summary: false,
        }
    }

    /// Adds a record that was read from these lines.
    fn push(&mut self, body: Vec<u8>, lines: Vec<usize>) {
        let place = lines.first().map(|line| self.log.lines[*line].place);
        self.built.session.push_generated(body, place.unwrap_or_default());
        self.built.sources.push(lines);
    }

    fn read(&mut self) {
        for &index in self.lines {
            let body = self.log.body(index);
            match self.log.lines[index].kind {
                ClaudeLineKind::User | ClaudeLineKind::Assistant | ClaudeLineKind::Attachment => {
                    if let Some(pieces) = self.pieces.remove(&index) {
                        self.cut();
                        self.message(pieces);
                    }
                }
                ClaudeLineKind::Summary => self.summary(index),
                ClaudeLineKind::Boundary => {
                    self.cut();
                    self.boundary = Some(index);
                    self.push(passthrough(NAME, body.trim_ascii()), vec![index]);
                }
                ClaudeLineKind::Chain | ClaudeLineKind::Progress | ClaudeLineKind::Other => {
                    self.push(passthrough(NAME, body.trim_ascii()), vec![index]);
                }
                ClaudeLineKind::Unreadable => self.push(body.to_vec(), vec![index]),
                ClaudeLineKind::Blank => {}
            }
        }
        self.cut();
    }

    fn message(&mut self, pieces: Vec<usize>) {
        for built in self.messages.of(&pieces) {
            let times = self.seen.entry(built.id.clone()).or_default();
            *times += 1;
            let this = (built.id, *times);
            match &mut self.covered {
                Some([_, last]) => *last = this,
                None => self.covered = Some([this.clone(), this]),
            }
            self.push(built.body, pieces.clone());
            if let Some(event) = built.hidden {
                self.push(event, pieces.clone());
            }
        }
    }

    fn summary(&mut self, index: usize) {
        let Some(facts) = self.log.facts(index) else {
            return;
        };
        let boundary = self.boundary.take().and_then(|line| self.log.facts(line));
        let covered = self.covered.take().filter(|_| boundary.is_some());
        self.has_summary = true;
        let event = record::summary_event(self.log.body(index), &facts, boundary.as_ref(), covered.as_ref());
        self.push(event, vec![index]);
    }

    /// Handles a boundary without a summary.
    fn cut(&mut self) {
        let Some(index) = self.boundary.take() else { return };
        self.covered = None;
        if let Some(facts) = self.log.facts(index) {
            let body = self.log.body(index);
            self.push(record::cut_event(body, &facts), vec![index]);
            if std::mem::take(&mut self.has_summary) {
                self.push(record::summary_removal(body, &facts), vec![index]);
            }
        }
    }
}
