//! Assigns lines to sessions: the main session, which is the latest message with its ancestors, and its branches and
//! sidechains.

use super::line::LineId;
use super::log::{ClaudeLog, LogLine};
use std::collections::HashMap;

/// The lines of one session.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LineSet {
    /// Line indexes, in file order.
    pub lines: Vec<usize>,
    /// Its relation to the main session; `None` for the main one.
    pub side: Option<ClaudeSideSession>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaudeSideSession {
    /// An abandoned branch, with the message of the main session after which it begins.
    Branch(Option<usize>),
    /// The messages of an agent, with their parent message if known.
    Sidechain(Option<usize>),
}

/// Splits a log into the main session, its branches and its sidechains.
pub fn groups(log: &ClaudeLog) -> Vec<LineSet> {
    // In the separate log of an agent, the sidechain is the main session.
    let alone = !log
        .lines
        .iter()
        .any(|line| line.is_message() && line.sidechain.is_none());
    let is_main = |line: &LogLine| alone || line.sidechain.is_none();
    let anchors = anchors(log);
    let live = live(log, is_main);
    let mut components = components(log, &anchors, is_main, &live);
    let mut groups = vec![LineSet::default()];
    // The group of each component with messages that are not in the main session.
    let mut side_sessions: HashMap<usize, usize> = HashMap::new();
    for (index, line) in log.lines.iter().enumerate() {
        let anchor = anchors[index];
        let side = match is_main(line) {
            true => ClaudeSideSession::Branch(anchor.filter(|anchor| live[*anchor])),
            false => ClaudeSideSession::Sidechain(anchor),
        };
        let group = match line.is_message() {
            true if live[index] => 0,
            true => *side_sessions.entry(components.of(index)).or_insert_with(|| {
                groups.push(LineSet {
                    lines: Vec::new(),
                    side: Some(side),
                });
                groups.len() - 1
            }),
            // A line that is not a message belongs to the session of its parent message, or of its agent.
            false => {
                let before = anchor.filter(|anchor| *anchor < index);
                let relative = if is_main(line) { before } else { Some(index) };
                let group = relative.and_then(|relative| side_sessions.get(&components.of(relative)));
                group.copied().unwrap_or(0)
            }
        };
        groups[group].lines.push(index);
    }
    // The sort is stable and keeps the file order.
    groups[1..].sort_by_key(|group| !matches!(group.side, Some(ClaudeSideSession::Branch(_))));
    groups
}

/// For each line, its nearest ancestor that is a message.
pub fn anchors(log: &ClaudeLog) -> Vec<Option<usize>> {
    let messages = log.nearest(|index| log.lines[index].is_message());
    let lines = log.lines.iter();
    lines.map(|line| messages[line.above?]).collect()
}

/// Marks the messages that the latest one depends on: its ancestors, the other lines of the same messages, and the
/// results of their calls, which are not ancestors.
fn live(log: &ClaudeLog, is_main: impl Fn(&LogLine) -> bool) -> Vec<bool> {
    let is_message = |index: usize| log.lines[index].is_message() && is_main(&log.lines[index]);
    let mut live = vec![false; log.lines.len()];
    if !log.linked {
        return (0..log.lines.len()).map(is_message).collect();
    }
    let messages: Vec<usize> = (0..log.lines.len()).filter(|index| is_message(*index)).collect();
    let mut waiting = Vec::new();
    let mut at = messages.last().copied();
    let mut visited = vec![false; log.lines.len()];
    while let Some(index) = at.filter(|index| !visited[*index]) {
        visited[index] = true;
        if is_message(index) {
            live[index] = true;
            waiting.push(index);
        }
        let line = &log.lines[index];
        at = line.above.or(match line.parent {
            Some(_) => { messages[..messages.partition_point(|message| *message < index)].last() }.copied(),
            None => None,
        });
    }
    let mut pieces: HashMap<LineId, Vec<usize>> = HashMap::new();
    let mut results: HashMap<LineId, Vec<usize>> = HashMap::new();
    for (index, references) in all_references(log).filter(|(index, _)| is_message(*index)) {
        if let Some(message) = references.message {
            pieces.entry(message).or_default().push(index);
        }
        for result in &references.results {
            results.entry(*result).or_default().push(index);
        }
    }
    while let Some(index) = waiting.pop() {
        let Some(references) = &log.lines[index].references else {
            continue;
        };
        // Remove each entry, so that it is visited once.
        let more = references
            .message
            .and_then(|id| pieces.remove(&id))
            .unwrap_or_default();
        let answers = references
            .calls
            .iter()
            .filter_map(|id| results.remove(id))
            .flatten();
        for other in more.into_iter().chain(answers) {
            if !live[other] {
                live[other] = true;
                waiting.push(other);
            }
        }
    }
    live
}

fn all_references(log: &ClaudeLog) -> impl Iterator<Item = (usize, &super::log::MessageReferences)> {
    let lines = log.lines.iter().enumerate();
    lines.filter_map(|(index, line)| Some((index, line.references.as_deref()?)))
}

/// Joins the lines of each side session: abandoned messages that are connected, and the lines of each agent; without an
/// agent id, connected lines.
fn components(
    log: &ClaudeLog,
    anchors: &[Option<usize>],
    is_main: impl Fn(&LogLine) -> bool,
    live: &[bool],
) -> Components {
    let is_abandoned = |index: usize| {
        let line = &log.lines[index];
        line.is_message() && is_main(line) && !live[index]
    };
    let mut components = Components((0..log.lines.len()).collect());
    let mut first: HashMap<(&str, LineId), usize> = HashMap::new();
    for (index, line) in log.lines.iter().enumerate() {
        let (mut neighbor, mut keys) = (None, Vec::new());
        if !is_main(line) {
            keys.extend(line.sidechain.flatten().map(|id| ("agent", id)));
            neighbor = line
                .above
                .filter(|above| keys.is_empty() && !is_main(&log.lines[*above]));
        } else if let Some(references) = line.references.as_ref().filter(|_| is_abandoned(index)) {
            neighbor = anchors[index].filter(|anchor| is_abandoned(*anchor));
            let calls = references.calls.iter().chain(&references.results);
            keys.extend(references.message.map(|id| ("message", id)));
            keys.extend(calls.map(|id| ("call", *id)));
        }
        let same = keys.into_iter().map(|key| *first.entry(key).or_insert(index));
        for other in same.chain(neighbor) {
            components.join(index, other);
        }
    }
    components
}

/// Connected components: each line points to another of its component, the first one to itself.
struct Components(Vec<usize>);

impl Components {
    /// The first line of the component.
    fn of(&mut self, mut index: usize) -> usize {
        while self.0[index] != index {
            self.0[index] = self.0[self.0[index]];
            index = self.0[index];
        }
        index
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one.max(other)] = one.min(other);
    }
}
