//! Inserts new lines and updates the parents of the lines around them.

use super::encode_new::{LineFactory, NewLine};
use super::line::block_type;
use super::line_changes::{LineChange, LineChanges, ParsedSource};
use super::log::LogLine;
use crate::model::json;
use crate::model::message::Role;
use crate::model::session::Traits;
use crate::model::view::Item;
use std::collections::{HashMap, HashSet};

/// The line before which a new boundary is inserted; the first line if there is none.
pub fn hidden(parsed: &ParsedSource<'_>) -> usize {
    match parsed.now.items.first() {
        Some(item @ Item::Summary(_)) if parsed.record(item).is_none() => insertion_lines(parsed)[0],
        _ => 0,
    }
}

/// For each item of the view, the line before which it is inserted if new: the first line of the next old item.
fn insertion_lines(parsed: &ParsedSource<'_>) -> Vec<usize> {
    let mut place = match parsed.last {
        true => parsed.log.lines.len(),
        false => parsed.lines.last().map_or(0, |last| last + 1),
    };
    let mut places = vec![place; parsed.now.items.len()];
    for (nth, item) in parsed.now.items.iter().enumerate().rev() {
        if let Some(record) = parsed.record(item) {
            place = parsed.sources(record).iter().copied().min().unwrap_or(place);
        }
        places[nth] = place;
    }
    places
}

/// Inserts the lines for new items in the view of a session.
pub fn insert(changes: &mut LineChanges, parsed: &ParsedSource<'_>, maker: &mut LineFactory<'_>) {
    if parsed.now.items.iter().all(|item| parsed.record(item).is_some()) {
        return;
    }
    // If no line has a parent, only the order of lines matters.
    let linked = parsed.log.linked || parsed.log.lines.iter().filter(|line| line.is_message()).count() < 2;
    let places = insertion_lines(parsed);
    let mut calls = CallLines::of(parsed);
    let mut times = InsertTimes::new(parsed);
    // The latest new line, the parent of the next one, and its position.
    let mut chain: Option<(usize, Vec<u8>)> = None;
    let mut before: Option<Traits> = None;
    for (nth, item) in parsed.now.items.iter().enumerate() {
        let at = places[nth];
        let traits = item.traits(parsed.session);
        if parsed.record(item).is_some() {
            before = traits;
            continue;
        }
        maker.envelope.time = times.before(at).or(maker.envelope.time.take());
        let above = match &chain {
            Some((place, uuid)) if *place == at => Some(uuid.clone()),
            _ => above(changes, parsed, at),
        };
        let above = above.filter(|_| linked);
        let lines = match item.summary(parsed.session) {
            Some(text) => {
                // All lines that a boundary hides must precede it.
                let boundary = (nth == 0 && at > 0).then_some(above.as_deref());
                let lines = maker.summary(&text, boundary, above.as_deref());
                if let (Some(_), Some(last), true) = (boundary, lines.last(), linked) {
                    // After a boundary, no line may have a hidden parent.
                    reparent(changes, parsed, at, &last.uuid, |line| {
                        line.above.is_some_and(|above| above < at)
                    });
                }
                lines
            }
            None => {
                // The losses of messages inserted by a compaction are not reported.
                if !matches!(item, Item::Inserted(_)) {
                    maker.report_losses(item.body(parsed.session));
                }
                let answered =
                    before.is_some_and(|traits| matches!(traits.role, Role::Assistant | Role::Tool));
                let call = item
                    .message(parsed.session)
                    .and_then(|message| message.tool_call_id());
                let call = call
                    .filter(|_| answered && linked)
                    .and_then(|id| calls.0.get(id.as_ref()));
                maker.message(
                    item.body(parsed.session),
                    call.map(Vec::as_slice).or(above.as_deref()),
                    linked,
                )
            }
        };
        before = traits;
        calls.note(&lines);
        if let Some(last) = lines.last().filter(|_| linked) {
            chain = Some((at, last.uuid.clone()));
            let next = parsed.now.items[nth..]
                .iter()
                .any(|item| parsed.record(item).is_some());
            if next {
                changes.parents.insert(at, last.uuid.clone());
                reparent(changes, parsed, at, &last.uuid, |_| false);
            }
        }
        changes.new.entry(at).or_default().extend(lines);
    }
}

/// Makes a new line the parent of lines from `at` on: those for which `does` holds, and those whose parent is the line
/// at `at` or one of these, if removed.
fn reparent(
    changes: &mut LineChanges,
    parsed: &ParsedSource<'_>,
    at: usize,
    uuid: &[u8],
    does: impl Fn(&LogLine) -> bool,
) {
    let from = parsed.lines.partition_point(|line| *line < at);
    let is_removed =
        |changes: &LineChanges, line: usize| changes.lines.get(line) == Some(&LineChange::Removed);
    let mut removed: HashSet<usize> = Some(at)
        .filter(|at| is_removed(changes, *at))
        .into_iter()
        .collect();
    for &line in &parsed.lines[from..] {
        let own = &parsed.log.lines[line];
        if does(own) || own.above.is_some_and(|above| removed.contains(&above)) {
            match is_removed(changes, line) {
                true => _ = removed.insert(line),
                false => _ = changes.parents.insert(line, uuid.to_vec()),
            }
        }
    }
}

/// The parent of a new line at this position: that of the line after it, or the last line of the session.
fn above(changes: &LineChanges, parsed: &ParsedSource<'_>, at: usize) -> Option<Vec<u8>> {
    let uuid = |line: usize| parsed.log.facts(line)?.uuid().map(<[u8]>::to_vec);
    let next = parsed
        .log
        .lines
        .get(at)
        .filter(|_| parsed.lines.binary_search(&at).is_ok());
    let Some(next) = next else {
        let mut own = parsed.lines.iter().rev();
        let is_kept = |line: &&usize| {
            changes.lines[**line] != LineChange::Removed && parsed.log.lines[**line].uuid.is_some()
        };
        return own.find(is_kept).copied().and_then(uuid);
    };
    match next.above {
        Some(above) => changes.nearest_kept(parsed.log, above).and_then(uuid),
        // If that parent is missing, the previous line replaces it, also for inserted lines.
        None => parsed.log.facts(at)?.parent().map(<[u8]>::to_vec),
    }
}

/// The ids of lines with calls, as parents of inserted results.
struct CallLines(HashMap<String, Vec<u8>>);

impl CallLines {
    fn of(parsed: &ParsedSource<'_>) -> CallLines {
        let mut calls = CallLines(HashMap::new());
        for &line in parsed.lines {
            if parsed.log.lines[line]
                .references
                .as_ref()
                .is_some_and(|references| !references.calls.is_empty())
                && let Some(uuid) = parsed.log.facts(line).and_then(|facts| facts.uuid())
            {
                calls.add(parsed.log.body(line), uuid);
            }
        }
        calls
    }

    fn note(&mut self, lines: &[NewLine]) {
        for line in lines {
            self.add(&line.body, &line.uuid);
        }
    }

    fn add(&mut self, body: &[u8], uuid: &[u8]) {
        let content = json::member(body, "message").and_then(|message| json::member(message, "content"));
        for block in json::items(content) {
            if block_type(block) == "tool_use"
                && let Some(id) = json::member_text(block, "id")
            {
                self.0.insert(id.into_owned(), uuid.to_vec());
            }
        }
    }
}

/// The times of lines, in order.
struct InsertTimes<'s> {
    parsed: &'s ParsedSource<'s>,
    next: usize,
    time: Option<Vec<u8>>,
}

impl<'s> InsertTimes<'s> {
    fn new(parsed: &'s ParsedSource<'s>) -> Self {
        InsertTimes {
            parsed,
            next: 0,
            time: None,
        }
    }

    /// The latest time before a line, returned once.
    fn before(&mut self, at: usize) -> Option<Vec<u8>> {
        let lines = self.parsed.lines;
        while let Some(line) = lines.get(self.next).filter(|line| **line < at) {
            self.next += 1;
            if self.parsed.log.lines[*line].uuid.is_some()
                && let Some(time) = self.parsed.log.facts(*line).and_then(|facts| facts.timestamp())
            {
                self.time = Some(time.to_vec());
            }
        }
        self.time.take()
    }
}
