//! The turns of a log, and which of their lines are removed with their messages.

use super::planned_line::{LineRelation, PlannedLine};
use crate::model::session::Session;
use std::collections::HashSet;

/// Decides which lines to remove with removed messages.
#[derive(Default)]
pub struct TurnLines {
    turns: Vec<usize>,
    /// For each turn, whether all its messages are removed.
    removed: Vec<bool>,
    /// Ids of removed calls, and texts of removed messages by turn.
    calls: HashSet<String>,
    texts: HashSet<(usize, String)>,
}

impl TurnLines {
    /// Examines the turns of a log; `removed` returns whether the message at a line of the session is removed.
    pub fn of(session: &Session, planned: &[PlannedLine], removed: impl Fn(usize) -> bool) -> TurnLines {
        let mut turns = TurnLines {
            turns: Vec::with_capacity(planned.len()),
            ..TurnLines::default()
        };
        let (mut turn, mut set, mut begun) = (0, false, false);
        // Number of messages per turn, and of removed ones.
        let mut counts: Vec<[usize; 2]> = vec![[0, 0]];
        for planned_line in planned {
            let starts = match planned_line.what {
                LineRelation::Start => begun,
                LineRelation::Turn => std::mem::replace(&mut set, true),
                _ => false,
            };
            if starts {
                turn += 1;
                counts.push([0, 0]);
                set = planned_line.what == LineRelation::Turn;
            }
            begun |= !matches!(planned_line.what, LineRelation::Kept);
            turns.turns.push(turn);
            let Some(line) = planned_line.line() else { continue };
            counts[turn][0] += 1;
            if removed(line) {
                counts[turn][1] += 1;
                turns.forget(session, line, turn);
            }
        }
        let counts = counts.into_iter();
        turns.removed = counts.map(|[all, removed]| all > 0 && all == removed).collect();
        turns
    }

    fn forget(&mut self, session: &Session, line: usize, turn: usize) {
        let record = session.record(line);
        let Some(message) = record.message() else { return };
        self.calls
            .extend(message.tool_calls().into_iter().map(|call| call.id.into_owned()));
        let text = message.text();
        if !text.is_empty() {
            self.texts.insert((turn, text.into_owned()));
        }
    }

    /// Whether to keep a line that is not a message.
    pub fn keep(&self, at: usize, what: &LineRelation) -> bool {
        let turn = self.turns[at];
        if self.removed[turn] {
            return false;
        }
        match what {
            LineRelation::Related { call: Some(call), .. } => !self.calls.contains(call),
            LineRelation::Related { text: Some(text), .. } => !self.texts.contains(&(turn, text.clone())),
            _ => true,
        }
    }
}
