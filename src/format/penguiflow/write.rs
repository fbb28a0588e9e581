//! Writes a session as a PenguiFlow document, or as the memory that a model receives.

use super::state::PenguiflowState;
use super::turn::{PenguiflowTurn, TurnZone};
use super::{EXTRA_MEMBER, config, python};
use crate::model::json::{self, Dialect, push_text};
use crate::model::retention::RetentionStrategy;

impl PenguiflowState {
    /// The document.
    pub fn document(&self) -> Vec<u8> {
        let mut out = b"{\"version\": 1, \"health\": ".to_vec();
        push_text(&mut out, self.health.name());
        out.extend_from_slice(b", \"summary\": ");
        python::push(&mut out, self.source_summary());
        // The order in a file is not chronological.
        for zone in [TurnZone::Turns, TurnZone::Pending, TurnZone::Backlog] {
            out.extend_from_slice(b", ");
            push_text(&mut out, zone.name());
            out.extend_from_slice(b": ");
            list(&mut out, self.of_zone(zone), |turn, out| turn.write(out));
        }
        let mut member = |name: &str, value: &[u8]| {
            out.extend_from_slice(b", ");
            push_text(&mut out, name);
            out.extend_from_slice(b": ");
            python::push(&mut out, value);
        };
        if let Some(snapshot) = &self.snapshot {
            member("config_snapshot", snapshot);
        }
        let others = self
            .noted("members")
            .and_then(|raw| json::members(raw, Dialect::Strict));
        for (name, value) in others.unwrap_or_default() {
            member(&name, value);
        }
        let own = self.extra_members();
        if own != b"{}" {
            member(EXTRA_MEMBER, &own);
        }
        out.push(b'}');
        if self.noted("newline") != Some(b"false") {
            out.push(b'\n');
        }
        out
    }

    /// Data that PenguiFlow has no member for.
    fn extra_members(&self) -> Vec<u8> {
        let before = self.noted(EXTRA_MEMBER).unwrap_or(b"{}");
        let mut open = b"[".to_vec();
        for message in &self.open_messages {
            if open.len() > 1 {
                open.push(b',');
            }
            open.extend_from_slice(message);
        }
        open.push(b']');
        let open = (!self.open_messages.is_empty()).then_some(open);
        let waits = config::changed_delays(&self.memory);
        let [backoff, rest] = waits.each_ref().map(|(name, wait)| (*name, wait.as_deref()));
        let attempt = ("attempt", self.attempt.as_deref());
        json::with_members(before, &[backoff, rest, attempt, ("open", open.as_deref())])
            .unwrap_or_else(|_| before.to_vec())
    }

    /// The memory that a model receives: recent turns, and, unless summaries are degraded, turns waiting for a summary,
    /// and the summary.
    pub fn context(&self) -> Vec<u8> {
        if self.memory.strategy == RetentionStrategy::None {
            return b"{}".to_vec();
        }
        let digests = self.memory.digests;
        let mut out = b"{\"conversation_memory\": {\"recent_turns\": ".to_vec();
        list(&mut out, self.of_zone(TurnZone::Turns), |turn, out| {
            out.extend_from_slice(&turn.shown(digests));
        });
        if self.shows_summary() {
            if self.of_zone(TurnZone::Pending).next().is_some() {
                out.extend_from_slice(b", \"pending_turns\": ");
                list(&mut out, self.of_zone(TurnZone::Pending), |turn, out| {
                    out.extend_from_slice(&turn.shown(digests));
                });
            }
            if self.summary != b"\"\"" {
                out.extend_from_slice(b", \"summary\": ");
                python::push(&mut out, &self.summary);
            }
        }
        out.extend_from_slice(b"}}");
        out
    }
}

fn list<'t>(
    out: &mut Vec<u8>,
    turns: impl Iterator<Item = &'t PenguiflowTurn>,
    write: impl Fn(&PenguiflowTurn, &mut Vec<u8>),
) {
    out.push(b'[');
    for (nth, turn) in turns.enumerate() {
        if nth > 0 {
            out.extend_from_slice(b", ");
        }
        write(turn, out);
    }
    out.push(b']');
}

/// The input of a summarizer: the previous summary, and the turns to summarize.
pub fn request<'t>(summary: &str, turns: impl Iterator<Item = &'t PenguiflowTurn>, digests: bool) -> Vec<u8> {
    let mut out = b"{\"previous_summary\": ".to_vec();
    push_text(&mut out, summary);
    out.extend_from_slice(b", \"turns\": ");
    list(&mut out, turns, |turn, out| {
        out.extend_from_slice(&turn.sorted(digests))
    });
    out.push(b'}');
    out
}
