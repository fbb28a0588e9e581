//! A log in memory: its lines with their references, and the bytes that are needed.

use super::line::{ClaudeLineKind, LineId, LineMembers, block_type};
use crate::error::{Error, Position, Result};
use crate::format::content;
use crate::format::lines::{ByteLines, placed_lines};
use crate::format::report::Report;
use crate::format::sessions::SessionInput;
use crate::model::json;
use crate::model::record::{body_of, mark_length};
use crate::model::source_bytes::SourceBytes;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum bytes of progress lines to keep. Some logs contain gigabytes of them.
const MOST_PROGRESS: usize = 8 << 20;

#[derive(Debug, Default)]
pub struct LogLine {
    start: usize,
    end: usize,
    pub place: Position,
    pub kind: ClaudeLineKind,
    /// Its own id.
    pub uuid: Option<LineId>,
    pub parent: Option<LineId>,
    /// The index of its parent, if that is in the log.
    pub above: Option<usize>,
    /// For a line of a sidechain: the agent, if known.
    pub sidechain: Option<Option<LineId>>,
    /// The session that it names.
    pub session: Option<LineId>,
    pub references: Option<Box<MessageReferences>>,
}

/// The references between messages.
#[derive(Debug, Default)]
pub struct MessageReferences {
    /// The message of the model that it is part of.
    pub message: Option<LineId>,
    /// Ids of its calls.
    pub calls: Vec<LineId>,
    /// Ids of the calls that it answers.
    pub results: Vec<LineId>,
}

impl MessageReferences {
    /// The references of a line.
    pub fn of(facts: &LineMembers<'_>) -> MessageReferences {
        let mut references = MessageReferences::default();
        let Some(message) = &facts.message else {
            return references;
        };
        if facts.kind == ClaudeLineKind::Assistant {
            references.message = message.id.and_then(LineId::of);
        }
        for block in message.blocks().unwrap_or_default() {
            let id = |name| json::member(block, name).and_then(LineId::of);
            match block_type(block).as_ref() {
                "tool_use" => references.calls.extend(id("id")),
                "tool_result" => references.results.extend(id("tool_use_id")),
                _ => {}
            }
        }
        references
    }
}

impl LogLine {
    /// Whether it is a message or a summary.
    pub fn is_message(&self) -> bool {
        matches!(
            self.kind,
            ClaudeLineKind::User | ClaudeLineKind::Assistant | ClaudeLineKind::Summary
        )
    }
}

#[derive(Debug, Default)]
pub struct ClaudeLog {
    /// The bytes that were kept; the complete log if it may be written back.
    pub origin: Arc<SourceBytes>,
    /// The lines in file order.
    pub lines: Vec<LogLine>,
    /// The SHA-256 of the complete log, if needed.
    pub sha256: Option<String>,
    /// Whether any line has a parent in the log.
    pub linked: bool,
    ids: HashMap<LineId, usize>,
}

/// The line of each id so far; for a line that was not kept, its parent.
#[derive(Default)]
struct KnownLines {
    lines: HashMap<LineId, usize>,
    skipped: HashMap<LineId, Option<LineId>>,
}

impl KnownLines {
    /// The line with this id, or its nearest ancestor that was kept.
    fn find(&self, id: LineId) -> Option<usize> {
        let mut at = id;
        // Omitted lines may form a cycle.
        for _ in 0..=self.skipped.len() {
            if let Some(line) = self.lines.get(&at) {
                return Some(*line);
            }
            at = (*self.skipped.get(&at)?)?;
        }
        None
    }
}

impl ClaudeLog {
    /// Reads a log: completely if it may be written back, otherwise only the bytes that its sessions need. Damage goes
    /// to the report.
    pub fn read(input: SessionInput, hashes: bool, report: &mut Report) -> Result<ClaudeLog> {
        let mut lines = ByteLines::new(input.head, input.rest);
        let mut reading = LogReading {
            whole: input.returns,
            hash: hashes.then(Sha256::new),
            ..LogReading::default()
        };
        let mut bytes = Vec::new();
        while let Some((full, place)) = lines
            .next_line()
            .map_err(|error| Error::io("cannot read", error))?
        {
            if let Some(hash) = &mut reading.hash {
                hash.update(full);
            }
            if reading.line(full, bytes.len(), place, report) {
                bytes.extend_from_slice(full);
            }
        }
        let origin = SourceBytes {
            bytes,
            ..SourceBytes::default()
        };
        Ok(reading.finish(Arc::new(origin), report))
    }

    /// Reads a log that was generated.
    pub fn of_bytes(bytes: Vec<u8>) -> ClaudeLog {
        ClaudeLog::of(Arc::new(SourceBytes {
            bytes,
            ..SourceBytes::default()
        }))
    }

    /// Parses the log in these bytes.
    pub fn of(origin: Arc<SourceBytes>) -> ClaudeLog {
        let mut reading = LogReading {
            whole: true,
            hash: Some(Sha256::new_with_prefix(&origin.bytes)),
            ..LogReading::default()
        };
        let mut report = Report::default();
        for (full, place) in placed_lines(&origin.bytes, Position::default()) {
            let start = usize::try_from(place.offset).unwrap_or(usize::MAX);
            reading.line(full, start, place, &mut report);
        }
        reading.finish(origin, &mut report)
    }

    /// A log of some lines of another log.
    pub fn part(origin: Arc<SourceBytes>, sha256: Option<String>, lines: Vec<LogLine>) -> ClaudeLog {
        let ids = lines.iter().enumerate();
        ClaudeLog {
            origin,
            sha256,
            ids: ids
                .filter_map(|(index, line)| Some((line.uuid?, index)))
                .collect(),
            linked: lines.iter().any(|line| line.above.is_some()),
            lines,
        }
    }

    /// The line with this id; the last one if repeated.
    pub fn find(&self, id: LineId) -> Option<usize> {
        self.ids.get(&id).copied()
    }

    /// Whether there is a line with this id.
    pub fn has(&self, id: LineId) -> bool {
        self.ids.contains_key(&id)
    }

    /// The bytes of a line, including its ending.
    pub fn full(&self, index: usize) -> &[u8] {
        let line = &self.lines[index];
        &self.origin.bytes[line.start..line.end]
    }

    /// A line without byte order mark and ending.
    pub fn body(&self, index: usize) -> &[u8] {
        body_of(self.full(index), self.lines[index].place)
    }

    /// A line with another body, and its original byte order mark and ending.
    pub fn with_body(&self, index: usize, body: &[u8]) -> Vec<u8> {
        let (full, old) = (self.full(index), self.body(index));
        let mark = match self.lines[index].place.offset {
            0 => mark_length(full),
            _ => 0,
        };
        [&full[..mark], body, &full[mark + old.len()..]].concat()
    }

    /// The members of a line; `None` if it is not an object.
    pub fn facts(&self, index: usize) -> Option<LineMembers<'_>> {
        LineMembers::of(self.body(index)).ok()
    }

    /// The members of a line with a message.
    pub fn message_facts(&self, index: usize) -> Option<LineMembers<'_>> {
        self.facts(index).filter(|facts| facts.message.is_some())
    }

    /// The id of a line, as raw JSON.
    pub fn uuid(&self, index: usize) -> Option<Vec<u8>> {
        self.facts(index)?.uuid().map(<[u8]>::to_vec)
    }

    /// For each line, the nearest one for which `is` holds, starting at itself and following parents.
    pub fn nearest(&self, is: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
        let mut found: Vec<Option<Option<usize>>> = vec![None; self.lines.len()];
        let mut way = Vec::new();
        for index in 0..self.lines.len() {
            let mut at = index;
            let nearest = loop {
                if let Some(known) = found[at] {
                    break known;
                }
                way.push(at);
                if is(at) {
                    break Some(at);
                }
                // Ends the search in a cycle.
                found[at] = Some(None);
                match self.lines[at].above {
                    Some(above) => at = above,
                    None => break None,
                }
            };
            for line in way.drain(..) {
                found[line] = Some(nearest);
            }
        }
        found.into_iter().map(Option::flatten).collect()
    }
}

#[derive(Default)]
struct LogReading {
    log: ClaudeLog,
    known: KnownLines,
    /// Of the lines so far, if needed.
    hash: Option<Sha256>,
    /// Whether all lines are kept.
    whole: bool,
    /// Bytes of progress lines.
    progress: usize,
    /// Number and bytes of those that were not kept.
    skipped: (u64, u64),
    /// Lines whose parent has not been read yet.
    waiting: Vec<usize>,
}

impl LogReading {
    /// Adds a line, whose bytes begin at `start` if kept; returns whether they are kept.
    fn line(&mut self, full: &[u8], start: usize, place: Position, report: &mut Report) -> bool {
        let body = body_of(full, place);
        let mut line = LogLine {
            start,
            end: start + full.len(),
            place,
            kind: ClaudeLineKind::Unreadable,
            ..LogLine::default()
        };
        match LineMembers::of(body) {
            Err(_) if body.trim_ascii().is_empty() => line.kind = ClaudeLineKind::Blank,
            Err(fault) => {
                let inside = (full.len() - body.len()).min(mark_length(full));
                let place = Position {
                    offset: place.offset + (fault.offset + inside) as u64,
                    ..place
                };
                report.damage(place, fault.what);
            }
            Ok(facts) => {
                if let Some(fault) = facts.fault {
                    report.damage(place, fault);
                }
                let content = facts.message.as_ref().and_then(|message| message.content);
                if let Some(fault) = content.and_then(content::unknown_parts) {
                    report.damage(place, fault);
                }
                line.kind = facts.kind;
                line.uuid = facts.uuid().and_then(LineId::of);
                line.parent = facts.parent().and_then(LineId::of);
                line.sidechain = facts.is_sidechain().then(|| facts.agent().and_then(LineId::of));
                line.session = facts.get("sessionId").and_then(LineId::of);
                line.references = { facts.message.as_ref() }.map(|_| Box::new(MessageReferences::of(&facts)));
            }
        }
        if line.kind == ClaudeLineKind::Progress && !self.whole {
            self.progress += full.len();
            if self.progress > MOST_PROGRESS {
                self.skipped.0 += 1;
                self.skipped.1 += full.len() as u64;
                if let Some(uuid) = line.uuid {
                    self.known.skipped.insert(uuid, line.parent);
                }
                return false;
            }
        }
        let index = self.log.lines.len();
        // A repeated id refers to its last line.
        if let Some(parent) = line.parent {
            line.above = self.known.find(parent);
            if line.above.is_none() {
                self.waiting.push(index);
            }
        }
        if let Some(uuid) = line.uuid {
            self.known.lines.insert(uuid, index);
        }
        self.log.linked |= line.above.is_some();
        self.log.lines.push(line);
        true
    }

    fn finish(mut self, origin: Arc<SourceBytes>, report: &mut Report) -> ClaudeLog {
        self.log.origin = origin;
        for index in self.waiting {
            let above = self.log.lines[index].parent.and_then(|id| self.known.find(id));
            self.log.lines[index].above = above.filter(|above| *above != index);
            self.log.linked |= self.log.lines[index].above.is_some();
        }
        self.log.ids = self.known.lines;
        self.log.sha256 = self.hash.map(|hash| crate::model::key::hex(&hash.finalize()));
        let (lines, bytes) = self.skipped;
        if lines > 0 {
            report.note(
                Position::default(),
                format!("skipped {lines} progress lines ({bytes} bytes)"),
            );
        }
        self.log
    }
}
