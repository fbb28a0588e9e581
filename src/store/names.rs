//! Resolves names to sessions.

use super::{Store, no_session};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

/// Maximum number of candidates listed.
const MAX_LISTED: usize = 10;

/// Maximum number of names compared for a suggestion, which bounds the cost of a typing error.
const COMPARED: usize = 2000;

/// Maximum number of sessions whose parents are looked up for one name.
const MOST_PARENTS: usize = 4096;

/// A session of a store, without its content.
#[derive(Clone, Debug)]
pub struct SessionEntry {
    /// Its id.
    pub id: String,
    /// When its log was last changed.
    pub modified: SystemTime,
    /// Length of its log.
    pub bytes: u64,
}

/// The newest of these sessions.
pub(super) fn newest(entries: Vec<SessionEntry>) -> Result<String> {
    let newest = entries
        .into_iter()
        .max_by(|a, b| (a.modified, &a.id).cmp(&(b.modified, &b.id)));
    let none = || {
        Error::new(ErrorKind::NotFound, "@last: the store is empty").hint("create a session with: convo new")
    };
    newest.map(|entry| entry.id).ok_or_else(none)
}

/// The only session that an alias names; fails if there are several.
pub(super) fn only<'i>(name: &str, ids: &'i [String]) -> Result<&'i str> {
    match ids {
        [id] => Ok(id),
        ids => Err(Error::new(
            ErrorKind::Exists,
            format!("{name}: ambiguous alias, claimed by {}", join_ids(ids)),
        )
        .hint("use an id, or assign it with: convo alias add --move")),
    }
}

/// The error for an alias of a missing session.
pub(super) fn missing_session(name: &str, id: &str) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("{name}: alias of missing session {id}"),
    )
    .hint("look in the trash with: convo restore --list")
}

/// The only one of these ids with this prefix.
pub(super) fn beginning(
    name: &str,
    ids: &[String],
    aliases: impl FnOnce() -> Vec<(String, Vec<String>)>,
    parent: impl Fn(&str) -> Option<String>,
) -> Result<String> {
    let mut found: Vec<&String> = match key::is_id(name) {
        true => ids.iter().filter(|id| id.starts_with(name)).collect(),
        false => Vec::new(),
    };
    if found.is_empty() {
        found = inside(name, ids);
    }
    if (2..=MOST_PARENTS).contains(&found.len()) {
        // A session takes precedence over its own branches, subagents and parts.
        let parents: HashMap<&str, String> = found
            .iter()
            .filter_map(|id| Some((id.as_str(), parent(id)?)))
            .collect();
        let all: HashSet<&str> = found.iter().map(|id| id.as_str()).collect();
        let is_inner = |id: &str| {
            let next = |id: &&str| parents.get(*id).map(String::as_str);
            let mut outer = std::iter::successors(Some(id), next).skip(1).take(found.len());
            outer.any(|outer| outer != id && all.contains(outer))
        };
        let roots: Vec<&String> = found.iter().copied().filter(|id| !is_inner(id)).collect();
        // Sessions in a cycle have no root.
        if !roots.is_empty() {
            found = roots;
        }
    }
    match &found[..] {
        [id] => Ok((*id).clone()),
        [] => {
            let aliases = aliases(); // needed only for a hint
            let all = aliases.iter().map(|(alias, _)| alias).chain(ids).take(COMPARED);
            let near: Vec<String> = all
                .filter(|other| is_near(name, other))
                .take(3)
                .cloned()
                .collect();
            Err(no_session(name).hint(match near.is_empty() {
                true => "list sessions with: convo list".to_string(),
                false => format!("did you mean '{}'?", near.join("' or '")),
            }))
        }
        _ => {
            found.sort();
            let what = format!("{name}: ambiguous: matches {}", join_ids(&found));
            Err(Error::new(ErrorKind::NotFound, what).hint("give more characters of the id"))
        }
    }
}

/// Sessions whose id has a suffix, found by prefixes of both parts: `4c2d.1` matches `4c2ddfdc.1`.
fn inside<'i>(name: &str, ids: &'i [String]) -> Vec<&'i String> {
    let is_joint = |b: &u8| matches!(b, b'.' | b'_' | b'-');
    let joints = |text: &str| -> Vec<usize> {
        let bytes = text.as_bytes();
        (1..bytes.len()).filter(|at| is_joint(&bytes[*at])).collect()
    };
    let splits: Vec<(&str, &str)> = joints(name).into_iter().map(|at| name.split_at(at)).collect();
    if splits.is_empty() || !key::is_id(name) {
        return Vec::new();
    }
    let all: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let fits = |id: &&String| {
        joints(id).into_iter().any(|at| {
            let (outer, addition) = id.split_at(at);
            let begins = |(one, other): &(&str, &str)| outer.starts_with(one) && addition.starts_with(other);
            splits.iter().any(begins) && all.contains(outer)
        })
    };
    ids.iter().filter(fits).collect()
}

impl Store {
    /// All sessions, unsorted.
    pub fn ids(&self) -> Result<Vec<SessionEntry>> {
        let Some(sessions) = self.sessions()? else {
            return Ok(Vec::new());
        };
        let mut entries = Vec::new();
        for id in self.session_names()? {
            // Skip sessions removed meanwhile; fsck reports entries that are not files.
            if let Some(facts) = sessions.facts(super::log_name(&id))?
                && facts.regular
            {
                entries.push(SessionEntry {
                    id,
                    modified: facts.modified_at(),
                    bytes: facts.size,
                });
            }
        }
        Ok(entries)
    }

    /// Names of logs in the directory.
    pub(super) fn session_names(&self) -> Result<Vec<String>> {
        let Some(sessions) = self.sessions()? else {
            return Ok(Vec::new());
        };
        let mut ids = Vec::new();
        for name in sessions.names()? {
            if let Some(id) = name.strip_suffix(".jsonl")
                && key::is_id(id)
            {
                ids.push(id.to_string());
            }
        }
        Ok(ids)
    }
}

fn join_ids(ids: &[impl AsRef<str>]) -> String {
    let more = if ids.len() > MAX_LISTED { ", …" } else { "" };
    let first: Vec<&str> = ids.iter().take(MAX_LISTED).map(AsRef::as_ref).collect();
    format!("{} sessions: {}{more}", ids.len(), first.join(", "))
}

/// Whether two names are within two edits of each other (Levenshtein) and have more than that in common.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len().min(other.len()) < 3 || one.len().abs_diff(other.len()) > 2 {
        return false;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, byte) in one.iter().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (column, with) in other.iter().enumerate() {
            let changed = corner + usize::from(byte != with);
            corner = row[column + 1];
            row[column + 1] = changed.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()] <= 2
}
