//! Promotes the history of an older name to the session in use.

use super::names::SidecarNames;
use super::pair::{Pair, PairView};
use crate::error::{Error, ErrorKind, Result};
use crate::format::picoclaw;
use crate::format::report::Report;
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use crate::model::scope::picoclaw_normalize::AGENT;
use crate::model::scope::signature;
use crate::store::atomic;
use crate::store::directory::Directory;
use crate::store::foreign::files::{DIRS, bytes_of};
use rustix::fs::OFlags;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// The file that records promotions.
const RECORD: &str = "promotions.jsonl";

/// A completed promotion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotedFile {
    /// The older name.
    pub from: String,
    /// Number of messages.
    pub messages: u64,
    /// Whether there was a summary.
    pub summary: bool,
}

/// Parameters of a promotion.
#[derive(Clone, Debug)]
pub struct PromotionRequest<'a> {
    /// The key of the session without history.
    pub key: &'a str,
    /// Older names by priority; if empty, those that its sidecar lists.
    pub aliases: &'a [String],
    /// RFC 3339.
    pub now: &'a str,
    /// How long to wait for a lock.
    pub lock_timeout: Duration,
}

/// Copies the view and the summary of the first session found under an alias to another session, which must have an
/// empty view and no summary ([`ErrorKind::No`]). Names of main sessions, which every session lists, are skipped. The
/// promotion is recorded, so that each history is copied only once. None if there is no history.
pub fn promote(path: &Path, requested: &PromotionRequest<'_>) -> Result<Option<PromotedFile>> {
    let names = SidecarNames::read(path)?;
    let target_key = names
        .resolve(requested.key)?
        .unwrap_or_else(|| requested.key.trim().to_string());
    let mains = mains(&names, requested);
    let is_main = |alias: &str| signature::is_main_alias(alias) || mains.contains(alias.trim());
    if let Some(shared) = requested.aliases.iter().find(|alias| is_main(alias)) {
        let what = format!("{shared}: shared name of an agent's main session");
        return Err(Error::usage(what).hint("its history may belong to others and is never adopted"));
    }
    for alias in requested.aliases {
        names.refuse_claimed(alias, &target_key)?;
    }
    let directory = Directory::open(path)?;
    let record = PromotionRecord::read(&directory)?;
    let candidates: Vec<String> = match (requested.aliases, names.sidecar(&target_key)) {
        ([], Some(own)) => own
            .aliases()
            .into_iter()
            .filter(|alias| !is_main(alias))
            .collect(),
        (given, _) => given.to_vec(),
    };
    let mut found = None;
    for alias in candidates {
        if picoclaw::file_stem(&alias) == picoclaw::file_stem(&target_key) || !names.log(&alias).exists() {
            continue;
        }
        let source = Pair::open(&names.log(&alias), requested.lock_timeout)?.shown(&mut Report::default())?;
        let digest = source.digest();
        let went = record.of(&alias, &digest);
        let elsewhere = went.as_ref().is_some_and(|went| *went != target_key);
        if !(elsewhere || source.lines.is_empty() && source.summary.is_empty()) {
            found = Some((alias, source, digest, went.is_some()));
            break;
        }
    }
    let own = match names.log(&target_key).exists() {
        true => Pair::open(&names.log(&target_key), requested.lock_timeout)?.shown(&mut Report::default())?,
        false => PairView {
            lines: Vec::new(),
            summary: names
                .sidecar(&target_key)
                .map_or(String::new(), |own| own.summary().trim().to_string()),
        },
    };
    let empty = own.lines.is_empty() && own.summary.is_empty();
    let has_history = || {
        Error::new(
            ErrorKind::No,
            format!("{target_key}: not empty; history not adopted"),
        )
    };
    let Some((alias, source, digest, again)) = found else {
        return if empty { Ok(None) } else { Err(has_history()) };
    };
    if !again && !empty {
        return Err(has_history());
    }
    let mut target = Pair::open_or_new(&names.log(&target_key), &target_key, requested.lock_timeout)?;
    // Continue a promotion interrupted before any line was written; do not repeat a completed one whose messages were
    // hidden since.
    if !again || (empty && target.is_untouched()?) {
        target.change_aliases(requested.now, |aliases| {
            for alias in requested.aliases {
                if !aliases.contains(alias) && *alias != target_key {
                    aliases.push(alias.clone());
                }
            }
        })?;
        // Check under the lock: the session may have changed meanwhile.
        if target.shown(&mut Report::default())? != own {
            return Err(Error::new(
                ErrorKind::Locked,
                format!("{target_key}: modified by another program"),
            ));
        }
        if !again {
            record.add(&directory, &alias, &target_key, &digest, requested)?;
        }
        target.copy_view(&source, requested.now)?;
    } else if own.summary.is_empty() && !source.summary.is_empty() && own.lines.starts_with(&source.lines) {
        // The promotion was interrupted before it wrote the summary.
        target.change_summary(&source.summary, requested.now)?;
    }
    Ok(Some(PromotedFile {
        from: alias,
        messages: source.lines.len() as u64,
        summary: !source.summary.is_empty(),
    }))
}

/// The keys of the main sessions of all agents named in the directory by a scope, a key or an alias.
fn mains(names: &SidecarNames, requested: &PromotionRequest<'_>) -> BTreeSet<String> {
    let mut agents: BTreeSet<String> = names.agents();
    let given = requested
        .aliases
        .iter()
        .map(String::as_str)
        .chain([requested.key]);
    agents.extend(given.filter_map(|name| Some(signature::legacy(name)?.0.to_string())));
    agents.insert(AGENT.to_string());
    agents.iter().map(|agent| signature::main_key(agent)).collect()
}

struct PromotionRecord {
    bytes: Vec<u8>,
}

impl PromotionRecord {
    fn read(directory: &Directory) -> Result<PromotionRecord> {
        let bytes = match directory.inner(DIRS[0])? {
            Some(dir) => bytes_of(&dir, RECORD)?,
            None => None,
        };
        Ok(PromotionRecord {
            bytes: bytes.unwrap_or_default(),
        })
    }

    /// The destination of a history that is unchanged since its promotion.
    fn of(&self, from: &str, digest: &str) -> Option<String> {
        let text = |line: &[u8], name: &str| json::member_string(line, name);
        let mut lines = self.bytes.split(|byte| *byte == b'\n').rev();
        let line = lines.find(|line| {
            text(line, "from").as_deref() == Some(from) && text(line, "sha256").as_deref() == Some(digest)
        })?;
        text(line, "to")
    }

    fn add(
        &self,
        directory: &Directory,
        from: &str,
        to: &str,
        digest: &str,
        requested: &PromotionRequest<'_>,
    ) -> Result<()> {
        let mut line = ObjectBuilder::default();
        line.text("from", from)
            .text("to", to)
            .text("at", requested.now)
            .text("sha256", digest);
        let mut line = line.finish();
        line.push(b'\n');
        let dir = atomic::dir(directory, DIRS[0])?;
        let access = OFlags::RDWR | OFlags::APPEND;
        loop {
            if let Some((file, facts)) =
                atomic::open_locked(&dir, RECORD, None, access, requested.lock_timeout)?
            {
                if self.bytes.last().is_some_and(|last| *last != b'\n') {
                    line.insert(0, b'\n'); // separates a partial record
                }
                let shown = dir.shown(RECORD);
                atomic::write_end(&file, &shown, facts.size, &line)?;
                return atomic::sync_end(&file, &shown, facts.size, line.len());
            }
            if atomic::create(&dir, RECORD, &line)? {
                return Ok(());
            }
        }
    }
}

impl PairView {
    /// A hash that identifies a history.
    fn digest(&self) -> String {
        let mut all = self.lines.concat();
        all.extend_from_slice(self.summary.as_bytes());
        key::sha256(&all)
    }
}
