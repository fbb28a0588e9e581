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
    let mut places = LineGroups::default();
    let mut references = Components::new(log.lines.len());
    join_abandoned(
        log,
        &anchors,
        |line| line.is_message() && is_main(line),
        &live,
        &mut references,
    );
    join_agents(log, is_main, &mut references);
    for (index, line) in log.lines.iter().enumerate() {
        if line.is_message() {
            match (is_main(line), live[index]) {
                (true, true) => places.main(index),
                (true, false) => {
                    let at = anchors[index].filter(|anchor| live[*anchor]);
                    places.side(index, references.of(index), ClaudeSideSession::Branch(at));
                }
                (false, _) => places.side(
                    index,
                    references.of(index),
                    ClaudeSideSession::Sidechain(anchors[index]),
                ),
            }
        } else {
            // A line that is not a message belongs to the session of its parent message, or of its agent.
            let group = match is_main(line) {
                false => places.sidechains.get(&references.of(index)).copied(),
                true => anchors[index].and_then(|anchor| places.of.get(&anchor).copied()),
            };
            places.push(index, group);
        }
    }
    places.finish()
}

/// The groups so far.
#[derive(Default)]
struct LineGroups {
    main: LineSet,
    others: Vec<LineSet>,
    /// The group of each message that is not in the main session.
    of: HashMap<usize, usize>,
    branches: HashMap<usize, usize>,
    sidechains: HashMap<usize, usize>,
}

impl LineGroups {
    fn main(&mut self, index: usize) {
        self.main.lines.push(index);
    }

    fn push(&mut self, index: usize, group: Option<usize>) {
        match group {
            Some(group) => self.others[group].lines.push(index),
            None => self.main(index),
        }
    }

    /// Adds a line to the side session of a component.
    fn side(&mut self, index: usize, component: usize, side: ClaudeSideSession) {
        let groups = match side {
            ClaudeSideSession::Branch(_) => &mut self.branches,
            ClaudeSideSession::Sidechain(_) => &mut self.sidechains,
        };
        let new = self.others.len();
        let group = *groups.entry(component).or_insert(new);
        if group == new {
            self.others.push(LineSet {
                lines: Vec::new(),
                side: Some(side),
            });
        }
        self.others[group].lines.push(index);
        self.of.insert(index, group);
    }

    fn finish(mut self) -> Vec<LineSet> {
        let is_branch = |group: &LineSet| matches!(group.side, Some(ClaudeSideSession::Branch(_)));
        // The sort is stable and keeps the file order.
        self.others.sort_by_key(|group| !is_branch(group));
        self.others.insert(0, self.main);
        self.others
    }
}

/// For each line, its nearest ancestor that is a message.
pub fn anchors(log: &ClaudeLog) -> Vec<Option<usize>> {
    let mut anchors: Vec<Option<Option<usize>>> = vec![None; log.lines.len()];
    let mut way = Vec::new();
    for index in 0..log.lines.len() {
        let mut at = index;
        let found = loop {
            if let Some(found) = anchors[at] {
                break found;
            }
            // Ends the search in a cycle.
            anchors[at] = Some(None);
            way.push(at);
            match log.lines[at].above {
                Some(above) if log.lines[above].is_message() => break Some(above),
                Some(above) => at = above,
                None => break None,
            }
        };
        for line in way.drain(..) {
            anchors[line] = Some(found);
        }
    }
    anchors.into_iter().map(Option::flatten).collect()
}

/// Marks the messages that the latest one depends on: its ancestors, the other lines of the same messages, and the
/// results of their calls, which are not ancestors.
fn live(log: &ClaudeLog, is_main: impl Fn(&LogLine) -> bool) -> Vec<bool> {
    let is_message = |index: usize| log.lines[index].is_message() && is_main(&log.lines[index]);
    let mut live = vec![false; log.lines.len()];
    if !log.linked {
        return (0..log.lines.len()).map(is_message).collect();
    }
    let mut before = None;
    let previous: Vec<Option<usize>> = (0..log.lines.len())
        .map(|index| {
            let previous = before;
            if is_message(index) {
                before = Some(index);
            }
            previous
        })
        .collect();
    let mut waiting = Vec::new();
    let mut at = before;
    let mut visited = vec![false; log.lines.len()];
    while let Some(index) = at.filter(|index| !visited[*index]) {
        visited[index] = true;
        if is_message(index) {
            live[index] = true;
            waiting.push(index);
        }
        let line = &log.lines[index];
        at = line.above.or(match line.parent {
            Some(_) => previous[index],
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

/// Joins abandoned lines into connected components.
fn join_abandoned(
    log: &ClaudeLog,
    anchors: &[Option<usize>],
    is_main: impl Fn(&LogLine) -> bool,
    live: &[bool],
    components: &mut Components,
) {
    let mut first: HashMap<(bool, LineId), usize> = HashMap::new();
    for (index, references) in all_references(log) {
        if live[index] || !is_main(&log.lines[index]) {
            continue;
        }
        if let Some(anchor) = anchors[index].filter(|anchor| !live[*anchor] && is_main(&log.lines[*anchor])) {
            components.join(index, anchor);
        }
        let pieces = references.message.map(|id| (false, id));
        let calls = references
            .calls
            .iter()
            .chain(&references.results)
            .map(|id| (true, *id));
        for key in pieces.into_iter().chain(calls) {
            let other = *first.entry(key).or_insert(index);
            components.join(index, other);
        }
    }
}

/// Joins the lines of each agent; without an agent id, connected lines.
fn join_agents(log: &ClaudeLog, is_main: impl Fn(&LogLine) -> bool, components: &mut Components) {
    let mut first: HashMap<LineId, usize> = HashMap::new();
    for (index, line) in log.lines.iter().enumerate().filter(|(_, line)| !is_main(line)) {
        match (line.sidechain.flatten(), line.above) {
            (Some(agent), _) => {
                let other = *first.entry(agent).or_insert(index);
                components.join(index, other);
            }
            (None, Some(above)) if !is_main(&log.lines[above]) => components.join(index, above),
            _ => {}
        }
    }
}

/// Connected components: each line points to another of its component, the first one to itself.
struct Components(Vec<usize>);

impl Components {
    fn new(lines: usize) -> Self {
        Components((0..lines).collect())
    }

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
