//! Converts a log to sessions one at a time: header, and records in line order.

use super::line::{ClaudeLineKind, LineMembers};
use super::log::ClaudeLog;
use super::record::{self, ClaudeMessages, Covered};
use super::tree::{ClaudeSideSession, LineSet, groups};
use super::{NAME, ReadPurpose, title};
use crate::error::Position;
use crate::format::kit::records::passthrough;
use crate::format::native::HeaderBuilder;
use crate::format::workspace::Workspace;
use crate::model::json::{self, ObjectBuilder};
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
            let facts = self.log.facts(*line).filter(|facts| facts.message.is_some())?;
            Some(json::text(facts.other("sessionId")?)?.into_owned())
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
        records.push(
            self.header(nth, group, &id, &key),
            Position::default(),
            Vec::new(),
        );
        records.read();
        if self.returns {
            records.session.set_origin(self.log.origin.clone());
        }
        Some(BuiltSession {
            session: records.session,
            sources: records.sources,
            lines: group.lines.clone(),
            is_main: nth == 0,
        })
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
        let agent = text(facts.agent).filter(|_| facts.sidechain);
        match (agent, group.side) {
            (Some(agent), _) => format!("{}.agent-{agent}", self.id),
            (None, None) => self.id.clone(),
            (None, Some(_)) => match text(facts.uuid) {
                Some(uuid) => format!("{}.{uuid}", self.id),
                None => format!("{}.{}", self.id, self.next),
            },
        }
    }

    fn header(&self, nth: usize, group: &LineSet, id: &str, key: &str) -> Vec<u8> {
        let facts = |line: &usize| self.log.facts(*line).filter(|facts| facts.message.is_some());
        let first = group.lines.iter().find_map(facts);
        let time = group.lines.iter().find_map(|line| {
            let message = self.log.lines[*line].is_message();
            self.log.facts(*line).filter(|_| message)?.timestamp
        });
        let mut header = HeaderBuilder::default();
        if let Some(time) = time {
            header.raw("created_at", time.to_vec());
        }
        if id != key {
            header.text("key", Some(key));
        }
        if nth == 0 {
            header.text("title", title::of(&self.log).as_deref());
        }
        let mut source = ObjectBuilder::default();
        source.text("format", NAME);
        self.name.as_ref().map(|name| source.text("name", name));
        self.log.sha256.as_ref().map(|hash| source.text("sha256", hash));
        header.raw("source", source.finish());
        let mut metadata = ObjectBuilder::default();
        if let Some(first) = &first {
            let mut own = ObjectBuilder::default();
            Workspace::new(first.other("cwd"), first.other("gitBranch"), None).add_to(&mut metadata);
            for name in ["sessionId", "version", "slug"] {
                first.other(name).map(|value| own.raw(name, value));
            }
            first.agent.map(|agent| own.raw("agentId", agent));
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
            None if first.is_some_and(|first| first.sidechain) => ("sidechain", None),
            None => return None,
        };
        let mut lineage = ObjectBuilder::default();
        lineage
            .text("kind", kind)
            .text("parent", &key::id_for_key(&self.id));
        lineage.optional("at", at.and_then(|line| self.message_of(line)));
        Some(lineage.finish())
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
        Some(self.log.facts(lead)?.uuid?.to_vec())
    }
}

/// Builds the records of a session.
struct SessionRecords<'l> {
    log: &'l ClaudeLog,
    lines: &'l [usize],
    session: Session,
    sources: Vec<Vec<usize>>,
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
            session: Session::default(),
            sources: Vec::new(),
            messages: ClaudeMessages::new(log, purpose),
            pieces: record::message_lines(log, &group.lines),
            seen: HashMap::new(),
            covered: None,
            boundary: None,
            has_summary: false,
        }
    }

    fn push(&mut self, body: Vec<u8>, place: Position, sources: Vec<usize>) {
        self.session.push_made(body, place);
        self.sources.push(sources);
    }

    fn read(&mut self) {
        for &index in self.lines {
            let line = &self.log.lines[index];
            match line.kind {
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
                    self.push(
                        passthrough(NAME, self.log.body(index).trim_ascii()),
                        line.place,
                        vec![index],
                    );
                }
                ClaudeLineKind::Chain | ClaudeLineKind::Progress | ClaudeLineKind::Other => {
                    self.push(
                        passthrough(NAME, self.log.body(index).trim_ascii()),
                        line.place,
                        vec![index],
                    );
                }
                ClaudeLineKind::Unreadable => {
                    self.push(self.log.body(index).to_vec(), line.place, vec![index])
                }
                ClaudeLineKind::Blank => {}
            }
        }
        self.cut();
    }

    fn message(&mut self, pieces: Vec<usize>) {
        let place = self.log.lines[pieces[0]].place;
        for built in self.messages.of(&pieces) {
            let hidden = built.hidden.then(|| {
                let facts = self.log.facts(pieces[0]);
                record::hidden_event(&built, facts.and_then(|facts| facts.timestamp))
            });
            let times = self.seen.entry(built.id.clone()).or_default();
            *times += 1;
            let this = (built.id, *times);
            match &mut self.covered {
                Some([_, last]) => *last = this,
                None => self.covered = Some([this.clone(), this]),
            }
            self.push(built.body, place, pieces.clone());
            if let Some(event) = hidden {
                self.push(event, place, pieces.clone());
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
        self.push(event, self.log.lines[index].place, vec![index]);
    }

    /// Handles a boundary without a summary.
    fn cut(&mut self) {
        let Some(index) = self.boundary.take() else { return };
        self.covered = None;
        if let Some(facts) = self.log.facts(index) {
            let (body, place) = (self.log.body(index), self.log.lines[index].place);
            self.push(record::cut_event(body, &facts), place, vec![index]);
            if std::mem::take(&mut self.has_summary) {
                self.push(record::summary_removal(body, &facts), place, vec![index]);
            }
        }
    }
}
