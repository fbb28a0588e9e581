//! Applies changes to a log: kept lines keep their bytes, except that a removed parent is replaced.

use super::line::{ClaudeLineKind, LineId};
use super::line_changes::{LineChange, LineChanges};
use super::log::ClaudeLog;
use crate::error::Result;
use crate::format::written;
use crate::model::json;
use std::io::Write;

pub fn write_log(log: &ClaudeLog, mut changes: LineChanges, out: &mut dyn Write) -> Result<()> {
    let staying = nearest_kept_lines(log, &changes);
    let mut lines = ParentLines { out, open: false };
    for index in 0..=log.lines.len() {
        for new in changes.new.remove(&index).unwrap_or_default() {
            lines.write(&[&new.body, &b"\n"[..]].concat())?;
        }
        if index == log.lines.len() {
            break;
        }
        let own = match std::mem::take(&mut changes.lines[index]) {
            LineChange::Removed => continue,
            LineChange::Keep => None,
            LineChange::Replace(body) => Some(body),
        };
        let body = own.as_deref().unwrap_or(log.body(index));
        let linked = with_new_parent(
            log,
            index,
            body,
            changes.parents.get(&index).map(Vec::as_slice),
            &staying,
        );
        match linked.or(own) {
            None => lines.write(log.full(index))?,
            Some(body) => lines.write(&log.with_body(index, &body))?,
        }
    }
    Ok(())
}

/// For each line, the nearest kept line, starting at itself and following parents.
fn nearest_kept_lines(log: &ClaudeLog, changes: &LineChanges) -> Vec<Option<usize>> {
    let mut found: Vec<Option<Option<usize>>> = vec![None; log.lines.len()];
    let mut way = Vec::new();
    for index in 0..log.lines.len() {
        let mut at = index;
        let nearest = loop {
            if let Some(known) = found[at] {
                break known;
            }
            way.push(at);
            if changes.lines[at] != LineChange::Removed {
                break Some(at);
            }
            // Ends the search in a cycle.
            found[at] = Some(None);
            match log.lines[at].above {
                Some(above) => at = above,
                None => break None,
            }
        };
        for line in way.drain(..) {
            found[line] = Some(nearest);
        }
    }
    found.into_iter().map(Option::flatten).collect()
}

/// The line with its parent replaced; `None` if unchanged.
fn with_new_parent(
    log: &ClaudeLog,
    index: usize,
    body: &[u8],
    new_parent: Option<&[u8]>,
    staying: &[Option<usize>],
) -> Option<Vec<u8>> {
    let line = &log.lines[index];
    let uuid = |line: Option<usize>| {
        let uuid = line.and_then(|line| log.facts(line)?.uuid());
        uuid.map_or_else(|| b"null".to_vec(), <[u8]>::to_vec)
    };
    let (name, parent) = match (new_parent, line.above) {
        (Some(new_parent), _) => ("parentUuid", new_parent.to_vec()),
        (None, Some(above)) if staying[above] != Some(above) => {
            let own = json::member(body, "parentUuid").is_some_and(|raw| raw.starts_with(b"\""));
            (
                if own { "parentUuid" } else { "logicalParentUuid" },
                // A line of the main session would belong to a sidechain with such a parent.
                uuid(
                    staying[above]
                        .filter(|kept| line.sidechain.is_some() || log.lines[*kept].sidechain.is_none()),
                ),
            )
        }
        _ if line.kind == ClaudeLineKind::Other => {
            // A title refers to the latest line of its conversation, without which it is not found.
            let leaf = json::member(body, "leafUuid").and_then(LineId::of)?;
            let leaf = log.find(leaf).filter(|leaf| staying[*leaf] != Some(*leaf))?;
            let newest = || {
                (0..log.lines.len())
                    .rev()
                    .find(|line| log.lines[*line].is_message() && staying[*line] == Some(*line))
            };
            ("leafUuid", uuid(staying[leaf].or_else(newest)))
        }
        _ => return None,
    };
    if json::member(body, name) == Some(&parent) {
        return None;
    }
    json::with_members(body, &[(name, Some(&parent))]).ok()
}

/// Writes lines, adding a missing newline before the next line.
struct ParentLines<'w> {
    out: &'w mut dyn Write,
    open: bool,
}

impl ParentLines<'_> {
    fn write(&mut self, full: &[u8]) -> Result<()> {
        if self.open {
            written(self.out.write_all(b"\n"))?;
        }
        self.open = !full.ends_with(b"\n");
        written(self.out.write_all(full))
    }
}
