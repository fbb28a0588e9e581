//! Applies changes to a log: kept lines keep their bytes, except that a removed parent is replaced.

use super::line::{ClaudeLineKind, LineId, parent_member};
use super::line_changes::{LineChange, LineChanges};
use super::log::ClaudeLog;
use super::parts;
use crate::error::Result;
use crate::format::written;
use crate::model::json;
use std::collections::HashSet;
use std::io::Write;

/// Writes a log with changes. If the lines that remain of several session ids would be read as several logs, all of them
/// get the latest id, by which the log is known.
pub fn write_log(log: &ClaudeLog, changes: LineChanges, out: &mut dyn Write) -> Result<()> {
    let ids: HashSet<LineId> = log.lines.iter().filter_map(|line| line.session).collect();
    if ids.len() < 2 {
        return write_lines(log, changes, out);
    }
    let mut bytes = Vec::new();
    write_lines(log, changes, &mut bytes)?;
    let new = ClaudeLog::of_bytes(bytes);
    if parts::is_single(&new) {
        return written(out.write_all(&new.origin.bytes));
    }
    let session_id = |log: &ClaudeLog, index: usize| Some(log.facts(index)?.get("sessionId")?.to_vec());
    let mut lines = (0..log.lines.len())
        .rev()
        .filter(|index| log.lines[*index].is_message());
    let latest = lines.find_map(|index| session_id(log, index));
    for index in 0..new.lines.len() {
        let body = session_id(&new, index).filter(|id| latest.as_ref() != Some(id));
        let body =
            body.and_then(|_| json::with_members(new.body(index), &[("sessionId", latest.as_deref())]).ok());
        match body {
            Some(body) => written(out.write_all(&new.with_body(index, &body)))?,
            None => written(out.write_all(new.full(index)))?,
        }
    }
    Ok(())
}

fn write_lines(log: &ClaudeLog, mut changes: LineChanges, out: &mut dyn Write) -> Result<()> {
    let staying = changes.nearest_kept(log);
    let mut is_open = false;
    // Adds a missing newline before the next line.
    let mut write = |full: &[u8]| {
        if is_open {
            written(out.write_all(b"\n"))?;
        }
        is_open = !full.ends_with(b"\n");
        written(out.write_all(full))
    };
    for index in 0..=log.lines.len() {
        for new in changes.new.remove(&index).unwrap_or_default() {
            write(&[&new.body, &b"\n"[..]].concat())?;
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
            None => write(log.full(index))?,
            Some(body) => write(&log.with_body(index, &body))?,
        }
    }
    Ok(())
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
        let uuid = line.and_then(|line| log.uuid(line));
        uuid.unwrap_or_else(|| b"null".to_vec())
    };
    let (name, parent) = match (new_parent, line.above) {
        (Some(new_parent), _) => ("parentUuid", new_parent.to_vec()),
        (None, Some(above)) if staying[above] != Some(above) => {
            (
                parent_member(body),
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
