//! Writes a session as a log. A session that was read from a log keeps its lines: hidden messages are removed with
//! their display events, edited ones are changed, new ones are inserted. A summary is written as Codex does: as one
//! compaction line with the remaining history, and all earlier lines are kept.

use super::line::{CodexLine, NAME};
use super::planned_line::{self, LineRelation, PlannedLine};
use super::turns::TurnLines;
use super::{compaction, encode_new, items, steps};
use crate::error::Result;
use crate::format::kit::{losses, records};
use crate::format::report::Report;
use crate::format::{EditedSession, WritePurpose, WriteTarget, written};
use crate::model::event::EPOCH_MILLIS;
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// Writes one session.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    if !planned_line::was_read_from_log(session) {
        return encode_new::write(session, view, WriteTarget(purpose, out, report));
    }
    let items = items::of_view(session, view, true, report);
    let planned = planned_line::of_session(session, view, &items);
    if purpose == WritePurpose::Export {
        losses::events(session, NAME, report);
    }
    CodexLogWriter::new(session, view, items, planned).write(out)
}

/// Writes a session back to its log.
pub fn write_back(sessions: &[EditedSession<'_>], out: &mut dyn Write, report: &mut Report) -> Result<()> {
    for returned in sessions {
        match returned.session.origin() {
            Some(origin) if !returned.changed => written(out.write_all(&origin.bytes))?,
            Some(origin) => {
                let items = items::of_view(returned.session, returned.view, true, report);
                let planned = planned_line::of_origin(&origin.bytes);
                CodexLogWriter::new(returned.session, returned.view, items, planned).write(out)?;
            }
            None => write(
                returned.session,
                returned.view,
                WriteTarget(WritePurpose::Return, out, report),
            )?,
        }
    }
    Ok(())
}

struct CodexLogWriter<'s> {
    session: &'s Session,
    view: &'s View,
    /// The active events, and those of them that are compactions of the log itself.
    live: Vec<usize>,
    compactions: Vec<usize>,
    /// The view that the log itself defines.
    own: View,
    /// The items of each item of the view.
    items: Vec<Vec<Vec<u8>>>,
    planned: Vec<PlannedLine>,
    /// The messages that have lines.
    has_line: HashSet<usize>,
    /// Whether user messages are only in display events.
    events: bool,
}

/// Items to insert, by the line of the session that they precede; `usize::MAX` is the end.
type CodexInserts = HashMap<usize, Vec<usize>>;

impl<'s> CodexLogWriter<'s> {
    fn new(
        session: &'s Session,
        view: &'s View,
        items: Vec<Vec<Vec<u8>>>,
        planned: Vec<PlannedLine>,
    ) -> Self {
        let live = session.live_events();
        let compactions = live.iter().copied().filter(|index| is_own(session, *index));
        let compactions: Vec<usize> = compactions.collect();
        CodexLogWriter {
            session,
            view,
            own: View::after(session, compactions.clone()),
            live,
            compactions,
            items,
            has_line: planned.iter().filter_map(PlannedLine::line).collect(),
            events: planned
                .iter()
                .any(|line| matches!(line.what, LineRelation::Event(_))),
            planned,
        }
    }

    fn write(self, out: &mut dyn Write) -> Result<()> {
        let is_new = |item: &Item| matches!(item, Item::Summary(index) if !is_own(self.session, *index));
        let lines = match self.view.items.iter().any(is_new) {
            true => self.compacted(),
            false => self.cut(),
        };
        // Only the last line of a log may lack a line ending.
        let last = lines.len();
        for (nth, line) in lines.iter().enumerate() {
            written(out.write_all(line))?;
            if nth + 1 < last && !line.ends_with(b"\n") {
                written(out.write_all(b"\n"))?;
            }
        }
        Ok(())
    }

    /// The log with a compaction line inserted; the lines after it are unchanged.
    fn compacted(&self) -> Vec<Vec<u8>> {
        let same =
            |pair: &(&Item, &Item)| matches!(pair, (Item::Line(one), Item::Line(other)) if one == other);
        let ends = self.view.items.iter().rev().zip(self.own.items.iter().rev());
        let count = self.view.items.len() - ends.take_while(same).count();
        let (replaced, rest) = self.view.items.split_at(count);
        let first = rest.first().and_then(Item::line);
        let end = self.planned.len();
        let is_first = |line: &PlannedLine| first.is_some() && line.line() == first;
        let at = self.planned.iter().position(is_first).unwrap_or(end);
        let text = replaced.iter().rev().find_map(|item| item.summary(self.session));
        let time = replaced
            .iter()
            .rev()
            .find_map(|item| compaction::time(item, self.session));
        let time = time.map_or_else(|| self.time_at(at), <[u8]>::to_vec);
        let payload = compaction::payload(&text.unwrap_or_default(), &self.items[..count]);
        let mut lines: Vec<Vec<u8>> = self.planned.iter().map(|line| line.bytes.clone()).collect();
        lines.insert(at, items::enveloped(&time, "compacted", &payload));
        // Messages that were added since have no line yet.
        for (item, added) in rest.iter().enumerate() {
            if added.line().is_some_and(|line| !self.has_line.contains(&line)) {
                lines.extend(self.new_lines(count + item, end));
            }
        }
        lines
    }

    /// The lines of visible messages, and of those that the log itself hides.
    fn cut(&self) -> Vec<Vec<u8>> {
        let shown = planned_line::shown(self.view);
        let before: HashSet<usize> = self.own.items.iter().filter_map(Item::line).collect();
        let were = self.compaction_inserts();
        let (mut inserts, history) = self.inserted_items(&were);
        let removed = |line: usize| before.contains(&line) && !shown.contains_key(&line);
        let turns = TurnLines::of(self.session, &self.planned, removed);
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut done: HashSet<usize> = HashSet::new();
        for (at, PlannedLine { what, bytes }) in self.planned.iter().enumerate() {
            if let LineRelation::Item(line) | LineRelation::Event(line) = what {
                for item in inserts.remove(line).unwrap_or_default() {
                    lines.extend(self.new_lines(item, at));
                }
            }
            match what {
                LineRelation::Compacted(line) if !self.live.contains(line) => {}
                LineRelation::Compacted(line) if self.compactions.last() == Some(line) => {
                    lines.push(self.compaction(bytes, *line, &were, &history));
                }
                LineRelation::Item(line) | LineRelation::Event(line) => match shown.get(line) {
                    _ if removed(*line) => {}
                    Some(item) if matches!(self.view.items[*item], Item::Edited(..)) => {
                        if done.insert(*line) {
                            lines.extend(self.edited(*item, *line));
                        }
                    }
                    _ => lines.push(bytes.clone()),
                },
                LineRelation::Start | LineRelation::Turn | LineRelation::Related { .. }
                    if !turns.keep(at, what) => {}
                _ => lines.push(bytes.clone()),
            }
        }
        // Without an item that the user wrote, Codex would read user messages from the display events.
        if !self.events && !lines.iter().any(|line| steps::is_user_item(&CodexLine::of(line))) {
            lines.retain(|line| !steps::is_user_event(&CodexLine::of(line)));
        }
        for item in inserts.remove(&usize::MAX).unwrap_or_default() {
            lines.extend(self.new_lines(item, self.planned.len()));
        }
        lines
    }

    /// The messages that the log's own last compaction inserted.
    fn compaction_inserts(&self) -> Vec<&[u8]> {
        let last = { self.compactions.last() }.map(|index| self.session.record(*index).body);
        let inserts = last.map(|body| json::list(body, "insert")).into_iter().flatten();
        let messages = inserts.filter_map(|insert| json::member(insert, "message"));
        messages
            .filter(|message| json::member_text(message, "id").is_some())
            .collect()
    }

    /// Whether the compaction at this line has a history.
    fn has_history(&self, line: usize) -> bool {
        json::member(self.session.record(line).body, "insert").is_some()
    }

    /// The positions of items without a line in the log, and the new history of the compaction that inserted these
    /// messages.
    fn inserted_items(&self, were: &[&[u8]]) -> (CodexInserts, Vec<usize>) {
        let id = |message| json::member_text(message, "id");
        let own: HashSet<_> = were.iter().filter_map(|message| id(message)).collect();
        let mut inserts = CodexInserts::new();
        let (mut history, mut waiting) = (Vec::new(), Vec::new());
        for (nth, item) in self.view.items.iter().enumerate() {
            match item {
                Item::Inserted(body) => {
                    waiting.push(nth);
                    if id(body).is_some_and(|id| own.contains(&id)) {
                        history.append(&mut waiting);
                    }
                }
                // The history of a compaction contains its summary, unless the summary is all of it.
                Item::Summary(line) if is_own(self.session, *line) && self.has_history(*line) => {
                    waiting.push(nth);
                    history.append(&mut waiting);
                }
                Item::Summary(_) => {}
                Item::Line(line) | Item::Edited(line, _) if self.has_line.contains(line) => {
                    inserts.entry(*line).or_default().append(&mut waiting);
                }
                Item::Line(_) | Item::Edited(..) => waiting.push(nth),
            }
        }
        inserts.insert(usize::MAX, waiting);
        (inserts, history)
    }

    /// The line of the log's own compaction, which is at this line of the session, with its current history.
    fn compaction(&self, old: &[u8], line: usize, were: &[&[u8]], history: &[usize]) -> Vec<u8> {
        let is_in = |view: &View| {
            let mut items = view.items.iter();
            items.any(|item| matches!(item, Item::Summary(index) if *index == line))
        };
        let is_summary = is_in(&self.own);
        let now = history.iter().map(|item| &self.view.items[*item]);
        let now = now.filter(|item| !matches!(item, Item::Summary(_)));
        let now = now.map(|item| item.body(self.session));
        if were.iter().copied().eq(now) && (!is_summary || is_in(self.view)) {
            return old.to_vec();
        }
        let items = self.view.items.iter().enumerate();
        // Drop the text of a summary, but keep the other items.
        let extra = items.filter(|(_, item)| is_summary && item.line().is_some_and(|index| index < line));
        let kept = extra.map(|(nth, _)| nth).chain(history.iter().copied());
        let kept = json::array(kept.flat_map(|item| &self.items[item]));
        let changes = [("replacement_history", Some(&kept[..]))];
        let payload = CodexLine::of(old).payload();
        match payload.map(|payload| json::with_members(payload, &changes)) {
            Some(Ok(payload)) => items::with_payload(old, &payload),
            _ => old.to_vec(),
        }
    }

    /// The lines of an edited message; unchanged items keep their lines.
    fn edited(&self, item: usize, line: usize) -> Vec<Vec<u8>> {
        let old: Vec<&PlannedLine> = { self.planned.iter() }
            .filter(|planned_line| planned_line.line() == Some(line))
            .collect();
        let payloads = old.iter().map(|line| CodexLine::of(&line.bytes).payload());
        let payloads: Vec<&[u8]> = payloads.map(Option::unwrap_or_default).collect();
        if let LineRelation::Event(_) = old[0].what {
            let message = self.view.items[item].message(self.session);
            let text = message.map(|message| items::display_text(&message));
            let payload = json::with_members(payloads[0], &[("message", text.as_deref())]);
            let line = payload.map(|payload| items::with_payload(&old[0].bytes, &payload));
            return Vec::from_iter(line);
        }
        let new = &self.items[item];
        let lines = new.iter().enumerate().map(|(nth, built)| {
            let same = payloads.iter().position(|payload| json::same(payload, built));
            let like = if old.len() == new.len() { nth } else { 0 };
            match same {
                Some(at) => old[at].bytes.clone(),
                None => items::with_payload(&old[like].bytes, built),
            }
        });
        lines.collect()
    }

    /// New lines: items and their display events.
    fn new_lines(&self, item: usize, at: usize) -> Vec<Vec<u8>> {
        let Some(message) = self.view.items[item].message(self.session) else {
            return Vec::new();
        };
        let time = message.timestamp.map_or_else(|| self.time_at(at), <[u8]>::to_vec);
        let has_items = !(self.events && message.role_name() == "user");
        let items = self.items[item].iter().filter(|_| has_items);
        let items = items.map(|payload| items::enveloped(&time, "response_item", payload));
        let event = encode_new::display_event(&message);
        let event = event.map(|event| items::enveloped(&time, "event_msg", &event));
        items.chain(event).collect()
    }

    /// The time of the nearest line before a position.
    fn time_at(&self, at: usize) -> Vec<u8> {
        let times = self.planned[..at].iter().rev();
        let mut times = times.filter_map(|line| json::member(&line.bytes, "timestamp"));
        times.next().unwrap_or(EPOCH_MILLIS).to_vec()
    }
}

/// Whether an event is a compaction of the log itself.
fn is_own(session: &Session, index: usize) -> bool {
    records::is_own(session, index, NAME)
}
