//! Removes data that Gemini CLI does not need to resume a session.

use super::line::LogOperation;
use crate::format::object::Object;
use crate::format::slim::part::{PartNames, SlimPart, Slimmed, Slimmer, Slimming};
use crate::model::json::{self, Dialect, ObjectBuilder};
use std::borrow::Cow;
use std::collections::HashMap;

const REPLACED: &str = "replaced";
const REWOUND: &str = "rewound";
const SET: &str = "$set";
const DISPLAY: &str = "resultDisplay";

pub const SLIMMING: Slimming = Slimming {
    parts: &[
        SlimPart::usual(REPLACED, "earlier versions of messages"),
        SlimPart::usual(REWOUND, "messages that were taken back"),
        SlimPart::usual(SET, "earlier values of the description"),
        SlimPart::named(DISPLAY, "results as the screen shows them"),
    ],
    open: |chosen| {
        Box::new(GeminiSlimmer {
            chosen,
            ..GeminiSlimmer::default()
        })
    },
};

/// The operation of a line.
enum Operation {
    Message(String),
    Rewind(String),
    /// Replaces all messages.
    Checkpoint(Vec<Option<String>>),
}

/// A recording in its first pass.
#[derive(Default)]
struct GeminiSlimmer {
    chosen: PartNames,
    operations: Vec<(u64, Operation)>,
    /// The last line that sets each member of the description.
    set: HashMap<String, u64>,
    /// Whether a description contains messages, as in older recordings.
    is_older: bool,
    removed: HashMap<u64, &'static str>,
}

/// A remaining message: the lines of its versions, of which the first determines its position.
struct LiveLines {
    id: Option<String>,
    lines: Vec<u64>,
    /// Whether a checkpoint added it.
    is_set: bool,
}

impl Slimmer for GeminiSlimmer {
    fn inspect(&mut self, number: u64, line: &[u8]) {
        let mut describe = |object: &[u8]| {
            for (name, _) in Object::parse(object).unwrap_or_default().members() {
                self.set.insert(name.to_string(), number);
            }
        };
        match LogOperation::of(line) {
            LogOperation::Message(id) => self
                .operations
                .push((number, Operation::Message(id.into_owned()))),
            LogOperation::Rewind(id) => self.operations.push((number, Operation::Rewind(id.into_owned()))),
            LogOperation::Set(set) => {
                describe(set);
                if let Some(list) =
                    json::member(set, "messages").and_then(|list| json::elements(list, Dialect::Strict))
                {
                    let id = |message: &[u8]| json::member_string(message, "id");
                    let ids = list.into_iter().map(id).collect();
                    self.operations.push((number, Operation::Checkpoint(ids)));
                }
            }
            LogOperation::Session => {
                describe(line);
                self.is_older |= json::member(line, "messages").is_some();
            }
            LogOperation::Blank | LogOperation::Unreadable | LogOperation::Unrecognized => {}
        }
    }

    fn end_of_scan(&mut self) {
        if self.is_older {
            return;
        }
        let is_checkpoint = |(_, operation): &(u64, Operation)| matches!(operation, Operation::Checkpoint(_));
        let from = self.operations.iter().rposition(is_checkpoint).unwrap_or(0);
        for (number, operation) in &self.operations[..from] {
            match operation {
                Operation::Message(_) => self.removed.insert(*number, REPLACED),
                Operation::Rewind(_) => self.removed.insert(*number, REWOUND),
                Operation::Checkpoint(_) => None,
            };
        }
        let mut live: Vec<LiveLines> = Vec::new();
        let mut removed = Vec::new();
        for (number, operation) in &self.operations[from..] {
            match operation {
                Operation::Checkpoint(ids) => live.extend(ids.iter().map(|id| LiveLines {
                    id: id.clone(),
                    lines: vec![*number],
                    is_set: true,
                })),
                Operation::Message(id) => match live.iter_mut().find(|known| known.id.as_ref() == Some(id)) {
                    Some(known) => known.lines.push(*number),
                    None => live.push(LiveLines {
                        id: Some(id.clone()),
                        lines: vec![*number],
                        is_set: false,
                    }),
                },
                Operation::Rewind(id) => {
                    let at = live
                        .iter()
                        .position(|known| known.id.as_ref() == Some(id))
                        .unwrap_or(0);
                    // Messages of a checkpoint cannot be removed, so the line that rewinds them is needed.
                    if live[at..].iter().any(|rewound| rewound.is_set) {
                        return;
                    }
                    removed.extend(
                        live.drain(at..)
                            .flat_map(|rewound| rewound.lines)
                            .map(|line| (line, REWOUND)),
                    );
                    removed.push((*number, REWOUND));
                }
            }
        }
        if !self.chosen.has(REWOUND) && !removed.is_empty() {
            return; // undoing a moved message would undo others
        }
        // For each message, keep the last version, and of the others the one that determines its position before the
        // next message.
        let mut next = u64::MAX;
        for LiveLines { lines, is_set, .. } in live.iter().rev() {
            let last = lines.len() - 1;
            let place = match is_set {
                true => 0,
                false => lines.iter().rposition(|line| *line < next).unwrap_or(0),
            };
            let is_gone = |at: &usize| *at != place && *at != last;
            removed.extend((0..lines.len()).filter(is_gone).map(|at| (lines[at], REPLACED)));
            next = lines[place];
        }
        self.removed.extend(removed);
    }

    fn slim<'l>(&mut self, number: u64, line: &'l [u8]) -> Slimmed<'l> {
        let removed = self.removed.get(&number).and_then(|part| self.chosen.part(part));
        match LogOperation::of(line) {
            LogOperation::Message(_) => {
                let kind = json::member_text(line, "type").map_or("message".to_string(), Cow::into_owned);
                match (removed, self.chosen.part(DISPLAY)) {
                    (Some(part), _) => Slimmed::without(kind, part),
                    (None, Some(part)) if is_displayed(line) => {
                        Slimmed::changed(kind, Some(part), without_display(line))
                    }
                    _ => Slimmed::same(kind),
                }
            }
            LogOperation::Rewind(_) => match removed {
                Some(part) => Slimmed::without("$rewindTo", part),
                None => Slimmed::same("$rewindTo"),
            },
            LogOperation::Set(set) => {
                let Some(part) = self.chosen.part(SET) else {
                    return Slimmed::same(SET);
                };
                let set = Object::parse(set).unwrap_or_default();
                let all: Vec<_> = set.members().collect();
                let is_last =
                    |name: &str| self.set.get(name) == Some(&number) || self.is_older && name == "messages";
                let count = all.iter().filter(|(name, _)| is_last(name)).count();
                match count {
                    _ if count == all.len() => Slimmed::same(SET),
                    0 => Slimmed::without(SET, part),
                    _ => {
                        let mut kept = ObjectBuilder::default();
                        let last = all.iter().filter(|(name, _)| is_last(name));
                        last.for_each(|(name, value)| {
                            kept.raw(name, value);
                        });
                        let line = json::with_members(line, &[(SET, Some(&kept.finish()))]);
                        Slimmed::changed(SET, Some(part), line)
                    }
                }
            }
            LogOperation::Session => Slimmed::same("session"),
            LogOperation::Blank | LogOperation::Unreadable => Slimmed::same("unreadable"),
            LogOperation::Unrecognized => Slimmed::same("other"),
        }
    }
}

/// The calls of a message.
fn calls(line: &[u8]) -> Vec<&[u8]> {
    json::list(line, "toolCalls")
}

fn is_displayed(line: &[u8]) -> bool {
    calls(line)
        .into_iter()
        .any(|call| json::member(call, DISPLAY).is_some())
}

fn without_display(line: &[u8]) -> Result<Vec<u8>, json::JsonError> {
    let calls: Vec<Vec<u8>> = calls(line)
        .into_iter()
        .map(|call| json::with_members(call, &[(DISPLAY, None)]).unwrap_or_else(|_| call.to_vec()))
        .collect();
    let list = [&b"["[..], &calls.join(&b','), b"]"].concat();
    json::with_members(line, &[("toolCalls", Some(&list))])
}
