//! Decides which lines of a session to keep, change or remove for a new view.

use super::blocks;
use super::encode_new::LineFactory;
use super::insert_lines::{hidden, insert};
use super::line::{self, ClaudeLineKind, block_type};
use super::line_changes::{LineChange, LineChanges, ParsedSource};
use super::tree::anchors;
use super::{envelope, record};
use crate::error::{Error, Position, Result};
use crate::model::json::{self, Dialect, array};
use crate::model::view::Item;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The visible records of a session; the new body of each that has changed.
type VisibleRecords<'s> = HashMap<usize, Option<&'s [u8]>>;

/// Decides for each line of a session.
///
/// # Errors
/// A usage error if messages that the program itself has hidden became visible.
pub fn decide(
    changes: &mut LineChanges,
    parsed: &ParsedSource<'_>,
    maker: &mut LineFactory<'_>,
) -> Result<()> {
    let was: HashSet<usize> = { parsed.before.items.iter() }
        .filter_map(|item| parsed.record(item))
        .collect();
    let visible = parsed.now.items.iter().filter_map(|item| {
        let body = match item {
            Item::Edited(_, body) => Some(body.as_slice()),
            _ => None,
        };
        Some((parsed.record(item)?, body))
    });
    let left: VisibleRecords<'_> = visible.collect();
    if let Some(back) = left.keys().filter(|record| !was.contains(record)).min() {
        let what = "cannot restore messages that Claude Code no longer sends";
        let place = parsed.session.record(*back).place;
        let error = Error {
            at: Some((String::new(), place)),
            ..Error::usage(what)
        };
        return Err(error.hint("omit -i and redirect the output"));
    }
    let hidden = hidden(parsed);
    let mut record = 0;
    while record < parsed.sources.len() {
        let first = record;
        // The records of one line, or of one message.
        let unit = parsed.sources(first);
        while record < parsed.sources.len() && parsed.sources(record) == unit {
            record += 1;
        }
        let records: Vec<usize> = (first..record).filter(|record| was.contains(record)).collect();
        let touched = |record: &usize| left.get(record) != Some(&None);
        if unit.is_empty() || !records.iter().any(touched) {
            continue;
        }
        if records.iter().any(|record| left.contains_key(record)) {
            part(changes, parsed, unit, &records, &left, maker);
        } else if unit.iter().any(|line| *line >= hidden) {
            // A new boundary hides the lines before it, so they can be kept.
            unit.iter()
                .for_each(|line| changes.lines[*line] = LineChange::Removed);
        }
    }
    drop_with_messages(changes, parsed, maker);
    insert(changes, parsed, maker);
    Ok(())
}

/// Removes the lines that are not messages and depend on a removed message.
fn drop_with_messages(changes: &mut LineChanges, parsed: &ParsedSource<'_>, maker: &mut LineFactory<'_>) {
    if !parsed.lines.iter().any(|line| changes.is_removed(*line)) {
        return;
    }
    let anchors = anchors(parsed.log);
    let mut went = 0;
    for &index in parsed.lines {
        if matches!(
            parsed.log.lines[index].kind,
            ClaudeLineKind::Chain | ClaudeLineKind::Progress
        ) && anchors[index].is_some_and(|anchor| changes.is_removed(anchor))
        {
            changes.lines[index] = LineChange::Removed;
            went += 1;
        }
    }
    if went > 0 {
        let lines = if went == 1 { "line" } else { "lines" };
        let what = format!("also dropped {went} {lines} that depend on dropped messages");
        maker.report.note(Position::default(), what);
    }
}

/// Changes the lines of which only some records are removed or changed.
fn part(
    changes: &mut LineChanges,
    parsed: &ParsedSource<'_>,
    unit: &[usize],
    records: &[usize],
    left: &VisibleRecords<'_>,
    maker: &mut LineFactory<'_>,
) {
    let content = |line: &usize| parsed.log.facts(*line)?.message?.content;
    let mut now = |record: usize| record::content((*left.get(&record)?)?, true, maker.report);
    let dealt = match records {
        [record] => {
            let contents: Vec<Option<&[u8]>> = unit.iter().map(content).collect();
            blocks::distribute_content(&contents, now(*record).as_deref())
        }
        // One line with several records.
        records => vec![several(unit.first().and_then(content), records, left, &mut now)],
    };
    for (line, change) in unit.iter().zip(dealt) {
        changes.lines[*line] = match change {
            LineChange::Replace(content) => envelope::with_content(parsed.log.body(*line), &content)
                .map_or(LineChange::Keep, LineChange::Replace),
            change => change,
        };
    }
}

/// The content of a line that is several messages: tool results, then the rest.
fn several(
    content: Option<&[u8]>,
    records: &[usize],
    left: &VisibleRecords<'_>,
    now: &mut dyn FnMut(usize) -> Option<Vec<u8>>,
) -> LineChange {
    let Some(blocks) = content.and_then(|raw| json::elements(raw, Dialect::Strict)) else {
        return LineChange::Keep;
    };
    let is_result = |block: &&&[u8]| block_type(block) == "tool_result";
    let rest = records.get(blocks.iter().filter(is_result).count());
    let mut results = records.iter();
    let mut is_written = false;
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for block in &blocks {
        let result = is_result(&block);
        let record = if result { results.next() } else { rest };
        let Some((record, edited)) = record.and_then(|record| left.get_key_value(record)) else {
            continue;
        };
        if edited.is_none() {
            kept.push(block.to_vec());
        } else if result || !std::mem::replace(&mut is_written, true) {
            let content = now(*record).unwrap_or_else(|| b"[]".to_vec());
            kept.extend(line::blocks(&content).into_iter().map(Cow::into_owned));
        }
    }
    match kept.is_empty() {
        true => LineChange::Removed,
        false => LineChange::Replace(array(&kept)),
    }
}
