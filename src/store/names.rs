//! Which session a name means.

use super::{Store, no_session};
use crate::error::{Error, Kind, Result};
use crate::model::key;
use std::time::SystemTime;

/// So many candidates are told.
const TOLD: usize = 10;

/// A name is compared with so many others for a likely one; more would make a typing error slow.
const COMPARED: usize = 2000;

/// A session of a store, without a look at its content.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// When its log was last changed.
    pub modified: SystemTime,
    /// Length of its log.
    pub bytes: u64,
}

impl Store {
    /// The id that a name means: `@last`, an id, an alias, a key, or the beginning of one id.
    pub fn resolve(&self, name: &str) -> Result<String> {
        if name == "@last" {
            let newest = self
                .ids()?
                .into_iter()
                .max_by(|a, b| (a.modified, &a.id).cmp(&(b.modified, &b.id)));
            let none = || Error::new(Kind::NotFound, "the store has no session").hint("convo new makes one");
            return newest.map(|entry| entry.id).ok_or_else(none);
        }
        match self.exactly(name)? {
            Some(id) => Ok(id),
            None => self.beginning(name),
        }
    }

    /// The id that a name means in full: an id, an alias or a key. For what cannot be undone, and where something else
    /// of exactly this name goes before a session that only begins so.
    pub fn exactly(&self, name: &str) -> Result<Option<String>> {
        if key::is_id(name) && self.has(name)? {
            return Ok(Some(name.to_string()));
        }
        if let Some(ids) = self.alias_ids(name)? {
            return self.only(name, ids).map(Some);
        }
        let spelled = key::id_for_key(name);
        let is_key = spelled != name && !name.is_empty() && self.has(&spelled)?;
        Ok(is_key.then_some(spelled))
    }

    fn only(&self, name: &str, ids: Vec<String>) -> Result<String> {
        let [id] = &ids[..] else {
            return Err(Error::new(
                Kind::Exists,
                format!("the alias {name} is claimed by {}", told(&ids)),
            )
            .hint("use an id, or take the alias away and add it for one of them"));
        };
        if self.has(id)? {
            return Ok(id.clone());
        }
        Err(Error::new(
            Kind::NotFound,
            format!("the alias {name} names {id}, which is gone"),
        )
        .hint("it may be in the trash"))
    }

    fn beginning(&self, name: &str) -> Result<String> {
        let ids = self.session_names()?;
        let mut found: Vec<String> = match key::is_id(name) {
            true => ids.iter().filter(|id| id.starts_with(name)).cloned().collect(),
            false => Vec::new(),
        };
        match &found[..] {
            [id] => Ok(id.clone()),
            [] => {
                let aliases = self.aliases().unwrap_or_default(); // only for a hint
                let all = aliases.iter().map(|(alias, _)| alias).chain(&ids).take(COMPARED);
                let near: Vec<String> = all
                    .filter(|other| is_near(name, other))
                    .take(3)
                    .cloned()
                    .collect();
                Err(no_session(name).hint(match near.is_empty() {
                    true => "convo list tells which there are".to_string(),
                    false => format!("did you mean {}?", near.join(" or ")),
                }))
            }
            _ => {
                found.sort();
                Err(Error::new(
                    Kind::NotFound,
                    format!("{name} is the beginning of {}", told(&found)),
                )
                .hint("write more of the id"))
            }
        }
    }

    /// All sessions, in no order.
    pub fn ids(&self) -> Result<Vec<Entry>> {
        let Some(sessions) = self.sessions()? else {
            return Ok(Vec::new());
        };
        let mut entries = Vec::new();
        for id in self.session_names()? {
            // One that is removed meanwhile is none any more; what is no file is for fsck to tell.
            if let Some(facts) = sessions.facts(super::log_name(&id))?
                && facts.regular
            {
                entries.push(Entry {
                    id,
                    modified: facts.modified_at(),
                    bytes: facts.size,
                });
            }
        }
        Ok(entries)
    }

    /// Names in the folder that are those of logs.
    fn session_names(&self) -> Result<Vec<String>> {
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

fn told(ids: &[String]) -> String {
    let more = if ids.len() > TOLD { ", …" } else { "" };
    format!(
        "{} sessions: {}{more}",
        ids.len(),
        ids[..ids.len().min(TOLD)].join(", ")
    )
}

/// Whether two names are within two edits of each other (Levenshtein), and have more than that in common.
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
