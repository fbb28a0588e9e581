//! Writes a session as a log. A session that was read from a log keeps its lines: hidden messages are removed with
//! their display events, edited ones are changed, new ones are inserted. A summary is written as Codex does: as one
//! compaction line with the remaining history, and all earlier lines are kept.

use super::planned_line::{self, LineRelation, PlannedLine};
use super::turns::TurnLines;
use super::{NAME, encode_new, items};
use crate::error::Result;
use crate::format::kit::{losses, records};
use crate::format::report::Report;
use crate::format::{EditedSession, WritePurpose, WriteTarget, written};
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::{Class, Session};
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
    /// The view that the log itself defines.
    own: View,
    /// The items of each item of the view.
    items: Vec<Vec<Vec<u8>>>,
    planned: Vec<PlannedLine>,
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
        let compactions = session
            .live_events()
            .into_iter()
            .filter(|index| is_own(session, *index));
        CodexLogWriter {
            session,
            view,
            own: View::after(session, compactions.collect()),
            items,
            events: planned_line::has_only_display_events(&planned),
            planned,
        }
    }

    fn write(mut self, out: &mut dyn Write) -> Result<()> {
        let new = |item: &Item| matches!(item, Item::Summary(index) if !is_own(self.session, *index));
        let lines = if self.view.items.iter().any(new) {
            self.compacted()
        } else {
            self.cut()
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
    fn compacted(&mut self) -> Vec<Vec<u8>> {
        let same =
            |pair: &(&Item, &Item)| matches!(pair, (Item::Line(one), Item::Line(other)) if one == other);
        let ends = self.view.items.iter().rev().zip(self.own.items.iter().rev());
        let after = ends.take_while(same).count();
        let (replaced, rest) = self.view.items.split_at(self.view.items.len() - after);
        let first = rest.first().and_then(Item::line);
        let at = first.and_then(|line| {
            self.planned
                .iter()
                .position(|planned_line| planned_line.is_of(line))
        });
        let at = at.unwrap_or(self.planned.len());
        let text = replaced.iter().rev().find_map(|item| item.summary(self.session));
        let mut payload = ObjectBuilder::default();
        payload.text("message", &text.unwrap_or_default()).raw(
            "replacement_history",
            json::array(self.items[..replaced.len()].concat()),
        );
        let event = replaced.iter().rev().find_map(|item| match item {
            Item::Summary(index) => json::member(self.session.record(*index).body, "at"),
            _ => None,
        });
        let time = event.map_or_else(|| self.time_at(at), <[u8]>::to_vec);
        let mut lines: Vec<Vec<u8>> = self
            .planned
            .iter()
            .map(|planned_line| planned_line.bytes.clone())
            .collect();
        let known = lines.len();
        let mut line = items::enveloped(&time, "compacted", &payload.finish());
        line.push(b'\n');
        lines.insert(at, line);
        // Messages that were added since have no line yet.
        let added: Vec<usize> = (self.view.items.len() - after..self.view.items.len()).collect();
        let planned: HashSet<usize> = self.planned.iter().filter_map(PlannedLine::line).collect();
        for item in added {
            let missing = self.view.items[item]
                .line()
                .is_some_and(|line| !planned.contains(&line));
            if missing {
                lines.extend(self.new_lines(item, known));
            }
        }
        lines
    }

    /// The lines of visible messages, and of those that the log itself hides.
    fn cut(&mut self) -> Vec<Vec<u8>> {
        let shown: HashMap<usize, usize> = self
            .view
            .items
            .iter()
            .enumerate()
            .filter_map(|(nth, item)| Some((item.line()?, nth)))
            .collect();
        let before: HashSet<usize> = self.own.items.iter().filter_map(Item::line).collect();
        let has_line: HashSet<usize> = self.planned.iter().filter_map(PlannedLine::line).collect();
        let (mut inserts, history) = self.inserted_items(&has_line);
        let removed = |line: usize| before.contains(&line) && !shown.contains_key(&line);
        let turns = TurnLines::of(self.session, &self.planned, removed);
        let live: HashSet<usize> = self.session.live_events().into_iter().collect();
        let last = self.last_compaction();
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut done: HashSet<usize> = HashSet::new();
        for at in 0..self.planned.len() {
            let planned_line = &self.planned[at];
            if let Some(line) = planned_line.line() {
                for item in inserts.remove(&line).unwrap_or_default() {
                    lines.extend(self.new_lines(item, at));
                }
            }
            match &planned_line.what {
                LineRelation::Kept => lines.push(planned_line.bytes.clone()),
                LineRelation::Compacted(line) if !live.contains(line) => {}
                LineRelation::Compacted(line) if Some(*line) == last => {
                    lines.push(self.compaction(at, *line, &history))
                }
                LineRelation::Compacted(_) => lines.push(planned_line.bytes.clone()),
                LineRelation::Item(line) | LineRelation::Event(line) => match shown.get(line) {
                    _ if removed(*line) => {}
                    Some(item) if matches!(self.view.items[*item], Item::Edited(..)) => {
                        if done.insert(*line) {
                            lines.extend(self.edited(*item, *line));
                        }
                    }
                    _ => lines.push(planned_line.bytes.clone()),
                },
                LineRelation::Start | LineRelation::Turn | LineRelation::Related { .. }
                    if turns.keep(at, &planned_line.what) =>
                {
                    lines.push(planned_line.bytes.clone());
                }
                LineRelation::Start | LineRelation::Turn | LineRelation::Related { .. } => {}
            }
        }
        // Without an item that the user wrote, Codex would read user messages from the display events.
        if !self.events && planned_line::have_only_display_events(&lines) {
            lines.retain(|line| !planned_line::is_user_event(line));
        }
        let end = self.planned.len();
        for item in inserts.remove(&usize::MAX).unwrap_or_default() {
            lines.extend(self.new_lines(item, end));
        }
        lines
    }

    /// The log's own last compaction that is active.
    fn last_compaction(&self) -> Option<usize> {
        let mut own = self.session.live_events().into_iter();
        own.rfind(|index| is_own(self.session, *index))
    }

    /// Ids and bodies of the messages that the log's last compaction inserted.
    fn compaction_inserts(&self) -> Vec<(String, Vec<u8>)> {
        let Some(index) = self.last_compaction() else {
            return Vec::new();
        };
        let record = self.session.record(index);
        let messages = json::list(record.body, "insert")
            .into_iter()
            .filter_map(|insert| {
                let message = json::member(insert, "message")?;
                Some((json::member_text(message, "id")?.into_owned(), message.to_vec()))
            });
        messages.collect()
    }

    /// The positions of items without a line in the log, and the new history of the compaction.
    fn inserted_items(&self, has_line: &HashSet<usize>) -> (CodexInserts, Vec<usize>) {
        let own: HashSet<String> = self.compaction_inserts().into_iter().map(|(id, _)| id).collect();
        let mut inserts = CodexInserts::new();
        let (mut history, mut waiting) = (Vec::new(), Vec::new());
        for (nth, item) in self.view.items.iter().enumerate() {
            match item {
                Item::Inserted(body) => {
                    waiting.push(nth);
                    let id = json::member_text(body, "id");
                    if id.is_some_and(|id| own.contains(id.as_ref())) {
                        history.append(&mut waiting);
                    }
                }
                Item::Summary(_) => {}
                Item::Line(line) | Item::Edited(line, _) if has_line.contains(line) => {
                    inserts.entry(*line).or_default().append(&mut waiting);
                }
                Item::Line(_) | Item::Edited(..) => waiting.push(nth),
            }
        }
        inserts.entry(usize::MAX).or_default().append(&mut waiting);
        (inserts, history)
    }

    /// The line of the log's own compaction, with its current history.
    fn compaction(&self, at: usize, line: usize, history: &[usize]) -> Vec<u8> {
        let planned_line = &self.planned[at].bytes;
        let is_summary = self
            .own
            .items
            .iter()
            .any(|item| matches!(item, Item::Summary(index) if *index == line));
        let is_current = self
            .view
            .items
            .iter()
            .any(|item| matches!(item, Item::Summary(index) if *index == line));
        let were = self.compaction_inserts();
        let now = history
            .iter()
            .map(|item| self.view.items[*item].body(self.session));
        let same = were.iter().map(|(_, body)| body.as_slice()).eq(now);
        if same && (!is_summary || is_current) {
            return planned_line.clone();
        }
        let Some(payload) = items::payload(planned_line) else {
            return planned_line.clone();
        };
        let mut kept: Vec<Vec<u8>> = Vec::new();
        if is_summary {
            // Drop its text, but keep the other items.
            let extra = self.view.items.iter().enumerate();
            let extra = extra.filter(|(_, item)| item.line().is_some_and(|index| index < line));
            kept.extend(extra.flat_map(|(nth, _)| self.items[nth].clone()));
        }
        kept.extend(history.iter().flat_map(|item| self.items[*item].clone()));
        let changes = [("replacement_history", Some(json::array(kept)))];
        let changes = changes.each_ref().map(|(name, value)| (*name, value.as_deref()));
        match json::with_members(&payload, &changes) {
            Ok(payload) => items::with_payload(planned_line, &payload),
            Err(_) => planned_line.clone(),
        }
    }

    /// The lines of an edited message; unchanged items keep their lines.
    fn edited(&self, item: usize, line: usize) -> Vec<Vec<u8>> {
        let old: Vec<&PlannedLine> = self
            .planned
            .iter()
            .filter(|planned_line| planned_line.line() == Some(line))
            .collect();
        let new = &self.items[item];
        if let [
            PlannedLine {
                what: LineRelation::Event(_),
                bytes,
            },
        ] = old.as_slice()
        {
            let text = self.view.items[item]
                .message(self.session)
                .map(|message| items::display_text(&message));
            let payload = items::payload(bytes).unwrap_or_default();
            let payload = json::with_members(&payload, &[("message", text.as_deref())]);
            return payload
                .map(|payload| items::with_payload(bytes, &payload))
                .into_iter()
                .collect();
        }
        let payloads: Vec<Vec<u8>> = old
            .iter()
            .filter_map(|planned_line| items::payload(&planned_line.bytes))
            .collect();
        let paired = payloads.len() == new.len() && old.len() == new.len();
        let mut lines = Vec::new();
        for (nth, built) in new.iter().enumerate() {
            let same = payloads.iter().position(|payload| json::same(payload, built));
            lines.push(match same {
                Some(at) => old[at].bytes.clone(),
                None => {
                    let like = if paired { nth } else { 0 };
                    old.get(like).map_or_else(Vec::new, |planned_line| {
                        items::with_payload(&planned_line.bytes, built)
                    })
                }
            });
        }
        lines
    }

    /// New lines: items and their display events.
    fn new_lines(&self, item: usize, at: usize) -> Vec<Vec<u8>> {
        let Some(message) = self.view.items[item].message(self.session) else {
            return Vec::new();
        };
        let time = message.timestamp.map_or_else(|| self.time_at(at), <[u8]>::to_vec);
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let user = message.role_name() == "user";
        if !(user && self.events) {
            lines.extend(
                self.items[item]
                    .iter()
                    .map(|payload| items::enveloped(&time, "response_item", payload)),
            );
        }
        lines.extend(
            encode_new::display_event(&message).map(|event| items::enveloped(&time, "event_msg", &event)),
        );
        lines.iter_mut().for_each(|line| line.push(b'\n'));
        lines
    }

    /// The time of the nearest line before a position.
    fn time_at(&self, at: usize) -> Vec<u8> {
        let times = self.planned[..at].iter().rev();
        let mut times = times
            .filter_map(|planned_line| json::member(&planned_line.bytes, "timestamp").map(<[u8]>::to_vec));
        times.next().unwrap_or_else(|| EPOCH_MILLIS.to_vec())
    }
}

/// Whether an event is a compaction of the log itself.
fn is_own(session: &Session, index: usize) -> bool {
    let record = session.record(index);
    let own = |event: &crate::model::event::Event<'_>| {
        let named = matches!(event.name().as_ref(), "compact" | "summary");
        named && records::note(event.raw, NAME).is_some()
    };
    matches!(session.class(index), Class::Event) && record.event().is_some_and(own)
}
