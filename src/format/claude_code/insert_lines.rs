//! Inserts new lines and updates the parents of the lines around them.

use super::encode_new::LineFactory;
use super::line::{LineId, LineMembers};
use super::line_changes::{LineChanges, ParsedSource};
use super::log::{LogLine, MessageReferences};
use crate::model::message::Role;
use crate::model::session::Traits;
use crate::model::view::Item;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

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
    let items = &parsed.now.items;
    if items.iter().all(|item| parsed.record(item).is_some()) {
        return;
    }
    let last_old = items.iter().rposition(|item| parsed.record(item).is_some());
    // If no line has a parent, only the order of lines matters.
    let linked = parsed.log.linked || parsed.log.lines.iter().filter(|line| line.is_message()).count() < 2;
    let places = insertion_lines(parsed);
    // The ids of lines with calls, as parents of inserted results.
    let mut calls: HashMap<LineId, Vec<u8>> = HashMap::new();
    for &line in parsed.lines {
        let references = parsed.log.lines[line].references.iter();
        let own = references.flat_map(|references| &references.calls);
        calls.extend(own.filter_map(|call| Some((*call, parsed.log.uuid(line)?))));
    }
    let kept = changes.nearest_kept(parsed.log);
    // The lines before this one have passed on their time.
    let mut timed = 0;
    // The latest new line, the parent of the next one, and its position.
    let mut chain: Option<(usize, Vec<u8>)> = None;
    let mut before: Option<Traits> = None;
    for (nth, item) in items.iter().enumerate() {
        let at = places[nth];
        let traits = item.traits(parsed.session);
        if parsed.record(item).is_some() {
            before = traits;
            continue;
        }
        let time = (timed < at).then(|| latest_time(parsed, timed..at)).flatten();
        maker.envelope.time = time.or(maker.envelope.time.take());
        timed = timed.max(at);
        let above = match &chain {
            _ if !linked => None,
            Some((place, uuid)) if *place == at => Some(uuid.clone()),
            _ => above(parsed, &kept, at),
        };
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
                let (body, Some(message)) = (item.body(parsed.session), item.message(parsed.session)) else {
                    continue;
                };
                // The losses of messages inserted by a compaction are not reported.
                if !matches!(item, Item::Inserted(_)) {
                    maker.report_losses(&message, body);
                }
                let answered =
                    before.is_some_and(|traits| matches!(traits.role, Role::Assistant | Role::Tool));
                let call = message.tool_call_id.filter(|_| answered && linked);
                let call = call.and_then(LineId::of).and_then(|id| calls.get(&id));
                let parent = call.or(above.as_ref()).map(Vec::as_slice);
                maker.message(&message, body, parent, linked)
            }
        };
        before = traits;
        for line in &lines {
            let references = LineMembers::of(&line.body).map(|facts| MessageReferences::of(&facts));
            let own = references.unwrap_or_default().calls.into_iter();
            calls.extend(own.map(|call| (call, line.uuid.clone())));
        }
        if let Some(last) = lines.last().filter(|_| linked) {
            chain = Some((at, last.uuid.clone()));
            if last_old.is_some_and(|old| old > nth) {
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
    let mut removed: HashSet<usize> = Some(at)
        .filter(|at| changes.is_removed(*at))
        .into_iter()
        .collect();
    for &line in &parsed.lines[from..] {
        let own = &parsed.log.lines[line];
        if does(own) || own.above.is_some_and(|above| removed.contains(&above)) {
            match changes.is_removed(line) {
                true => _ = removed.insert(line),
                false => _ = changes.parents.insert(line, uuid.to_vec()),
            }
        }
    }
}

/// The parent of a new line at this position: that of the line after it, or the last line of the session.
fn above(parsed: &ParsedSource<'_>, kept: &[Option<usize>], at: usize) -> Option<Vec<u8>> {
    let uuid = |line: usize| parsed.log.uuid(line);
    let next = parsed
        .log
        .lines
        .get(at)
        .filter(|_| parsed.lines.binary_search(&at).is_ok());
    let Some(next) = next else {
        let mut own = parsed.lines.iter().rev();
        let is_kept = |line: &&usize| kept[**line] == Some(**line) && parsed.log.lines[**line].uuid.is_some();
        return own.find(is_kept).copied().and_then(uuid);
    };
    match next.above {
        Some(above) => kept[above].and_then(uuid),
        // If that parent is missing, the previous line replaces it, also for inserted lines.
        None => parsed.log.facts(at)?.parent().map(<[u8]>::to_vec),
    }
}

/// The latest time of the session's lines in this range.
fn latest_time(parsed: &ParsedSource<'_>, range: Range<usize>) -> Option<Vec<u8>> {
    let [start, end] = [range.start, range.end].map(|end| parsed.lines.partition_point(|line| *line < end));
    let lines = parsed.lines[start..end].iter().rev();
    let mut own = lines.filter(|line| parsed.log.lines[**line].uuid.is_some());
    own.find_map(|line| Some(parsed.log.facts(*line)?.timestamp()?.to_vec()))
}
