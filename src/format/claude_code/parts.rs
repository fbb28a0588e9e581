//! Splits the input into separate logs, as concatenated by `cat`.

use super::line::LineId;
use super::log::{ClaudeLog, LogLine};
use std::collections::HashMap;
use std::sync::Arc;

/// Splits a log at positions that no session and no parent reference crosses.
pub fn parts(log: ClaudeLog) -> Vec<ClaudeLog> {
    let ends = part_ends(&log);
    if ends.len() < 2 {
        return vec![log];
    }
    let mut parts: Vec<ClaudeLog> = Vec::with_capacity(ends.len());
    let (origin, sha256) = (log.origin, log.sha256);
    let mut lines = log.lines.into_iter();
    let mut first = 0;
    for end in ends {
        let mut own: Vec<LogLine> = lines.by_ref().take(end - first).collect();
        for line in &mut own {
            // The parent is in the same part.
            line.above = line.above.and_then(|above| above.checked_sub(first));
        }
        parts.push(ClaudeLog::part(Arc::clone(&origin), sha256.clone(), own));
        first = end;
    }
    parts
}

pub fn is_single(log: &ClaudeLog) -> bool {
    part_ends(log).len() < 2
}

/// The ends of the parts. Each part has messages; other lines between two parts belong to the second.
fn part_ends(log: &ClaudeLog) -> Vec<usize> {
    let count = log.lines.len();
    // For each line, the last line that must be in the same part.
    let mut reach: Vec<usize> = (0..count).collect();
    let mut first: HashMap<LineId, usize> = HashMap::new();
    for (index, line) in log.lines.iter().enumerate() {
        if let Some(session) = line.session {
            let first = *first.entry(session).or_insert(index);
            reach[first] = index;
        }
        if let Some(above) = line.above {
            let (one, other) = (above.min(index), above.max(index));
            reach[one] = reach[one].max(other);
        }
    }
    let mut ends = Vec::new();
    let (mut last, mut has_message) = (0, false);
    for (index, line) in log.lines.iter().enumerate() {
        last = last.max(reach[index]);
        // Without a session id, it is unknown whether another session begins.
        has_message |= line.is_message() && line.session.is_some();
        if last == index && has_message {
            ends.push(index + 1);
            has_message = false;
        }
    }
    match ends.last_mut() {
        Some(last) => *last = count,
        None => ends.push(count),
    }
    ends
}
