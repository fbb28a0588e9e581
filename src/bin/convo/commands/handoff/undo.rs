//! Undoes an installation: removes the session and its entry in the index of the program. A journal for each id lists
//! the files that were written.

use super::handoff_session::HandoffSession;
use super::new_files::{DIR_MODE, remove_index, write_index};
use crate::context::Context;
use crate::errors::named;
use crate::homes::{long_path, names, short_path, state_path};
use crate::output::path_name;
use convo::error::{Error, ErrorKind, Result};
use convo::home::{IndexChange, SessionSlot, is_plain_id, program, without_project, without_session};
use convo::model::key;
use convo::store::{make_dirs, remove_file};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of an index in bytes whose old content is noted. In a larger one, the entry alone is removed.
const LARGEST: usize = 32 << 10;

/// Path of the file that lists the installed sessions with this id.
fn journal(id: &str) -> Result<PathBuf> {
    state_path(&format!("convo/handoff/{id}.jsonl"))
}

/// Notes the files that are about to be written.
pub fn note(context: &Context, ready: &HandoffSession<'_>, slot: &SessionSlot) -> anyhow::Result<()> {
    let journal = journal(&ready.id)?;
    let old = read_journal(&journal)?;
    let short = |path: &Path| path_name(&short_path(path));
    let created = slot.extra_files.iter().filter(|(path, _)| !path.exists());
    let created: Vec<String> = created.map(|(path, _)| short(path)).collect();
    let index = slot.index.as_ref().map(|index| {
        let old = index.old.as_deref().filter(|old| old.len() <= LARGEST);
        json!({
            "path": short(&index.path), "lock": index.lock.as_deref().map(short), "is_new": index.old.is_none(),
            "sha256": key::sha256(&index.new), "old": old.and_then(|old| std::str::from_utf8(old).ok()),
        })
    });
    let line = json!({
        "at": context.clock.now(), "id": ready.id, "program": ready.to.name, "path": short(&slot.path),
        "project": ready.project, "sha256": key::sha256(&ready.bytes), "created": created, "index": index,
    });
    let line = format!("{line}\n");
    let lines = old.as_deref().unwrap_or_default();
    if lines.ends_with(line.as_bytes()) {
        return Ok(());
    }
    if let Some(dir) = journal.parent() {
        make_dirs(dir, DIR_MODE)?;
    }
    let new = [lines, line.as_bytes()].concat();
    write_journal(context, journal, old, new)
}

fn write_journal(context: &Context, path: PathBuf, old: Option<Vec<u8>>, new: Vec<u8>) -> anyhow::Result<()> {
    let lock = None;
    write_index(context, &IndexChange { path, old, new, lock })
}

/// The lines of a journal; `None` if it does not exist.
fn read_journal(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(|error| Error::io(path_name(path), error)),
    }
}

/// Removes an installed session that has not changed since.
pub fn undo(context: &Context, id: &str, is_dry: bool) -> anyhow::Result<()> {
    let journal = journal(id)?;
    let old = match is_plain_id(id) {
        true => read_journal(&journal)?,
        false => None,
    };
    let noted_lines = old.as_deref().unwrap_or_default();
    let lines = noted_lines.split_inclusive(|byte| *byte == b'\n').rev();
    let entries = lines.filter_map(|line| Some((line, serde_json::from_slice::<Value>(line).ok()?)));
    let entries: Vec<(&[u8], Value)> = entries.collect();
    let Some((_, entry)) = entries.first() else {
        let error = format!("{id}: not a session that was handed over");
        return Err(Error::new(ErrorKind::NotFound, error).into());
    };
    let path = noted(&entry["path"]);
    let shown = path_name(&path);
    let bytes = match std::fs::read(&path) {
        // An undo that was killed has removed it, but perhaps not the files created with it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        bytes => Some(bytes.map_err(|error| Error::io(&shown, error))?),
    };
    let is_gone = bytes.is_none();
    let to = entry["program"].as_str().and_then(program);
    // Its program, or `relocate`, may have moved it.
    if let Some(to) = to.filter(|_| is_gone)
        && let Some(found) = names::path_of(context, to, id)?
    {
        let error = Error::new(ErrorKind::Locked, format!("moved to {}", path_name(&found)));
        return Err(named(error.hint("nothing was removed"), &shown).into());
    }
    if bytes.is_some_and(|bytes| entry["sha256"] != key::sha256(&bytes)) {
        let error = Error::new(ErrorKind::Locked, "changed since it was written");
        return Err(named(error.hint("nothing was removed"), &shown).into());
    }
    if !is_dry {
        // A run that was killed and repeated noted the index only once.
        let (same, others): (Vec<_>, Vec<_>) =
            entries.iter().partition(|(_, one)| one["path"] == entry["path"]);
        let same: Vec<&Value> = same.iter().map(|(_, one)| one).collect();
        let created: Vec<PathBuf> = same
            .iter()
            .flat_map(|one| one["created"].as_array().into_iter().flatten().map(noted))
            .collect();
        let dir = created.iter().find_map(|path| path.parent());
        // A directory in which the program wrote since remains its own.
        let is_kept = dir.is_some_and(|dir| !is_alone(dir, &path, &created));
        let index = same.iter().find(|one| one["index"].is_object());
        if let Some(one) = index.filter(|_| !is_kept) {
            remove_entry(
                context,
                &one["index"],
                id,
                one["project"].as_str().unwrap_or_default(),
            )?;
        }
        if !is_gone {
            remove_file(&path)?;
        }
        if let Some(dir) = dir.filter(|_| !is_kept) {
            created
                .iter()
                .filter(|path| path.exists())
                .try_for_each(|path| remove_file(path))?;
            let emptied = path
                .ancestors()
                .skip(1)
                .take_while(|place| place.starts_with(dir));
            emptied.for_each(|place| drop(std::fs::remove_dir(place))); // empty ones only
        }
        // The same id in another program can still be undone.
        let left: Vec<&[u8]> = others.iter().rev().map(|(line, _)| *line).collect();
        match left.is_empty() {
            true => remove_index(&journal, noted_lines, None)?,
            false => {
                let left = left.concat();
                write_journal(context, journal, old, left)?;
            }
        }
    }
    let verb = match (is_gone, is_dry) {
        (true, _) => "already removed:",
        (false, true) => "would remove",
        (false, false) => "removed",
    };
    context.output.notice("", &format!("{verb} {shown}"));
    Ok(())
}

fn noted(path: &Value) -> PathBuf {
    long_path(Path::new(path.as_str().unwrap_or_default()))
}

/// Whether a directory has no other files than the session and those that were created with it.
fn is_alone(dir: &Path, session: &Path, created: &[PathBuf]) -> bool {
    let below = session
        .parent()
        .and_then(Path::file_name)
        .unwrap_or(OsStr::new(""));
    let is_own = |path: &PathBuf| path == session || created.contains(path) || *path == dir.join(below);
    [dir.to_path_buf(), dir.join(below)]
        .iter()
        .all(|dir| match std::fs::read_dir(dir) {
            Ok(mut entries) => entries.all(|entry| entry.is_ok_and(|entry| is_own(&entry.path()))),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        })
}

/// Takes a session out of an index: restores its old content, or removes the entry if the index has changed since.
fn remove_entry(context: &Context, noted_index: &Value, id: &str, project: &str) -> anyhow::Result<()> {
    let path = noted(&noted_index["path"]);
    let now = match std::fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(|error| Error::io(path_name(&path), error))?,
    };
    let is_unchanged = noted_index["sha256"] == key::sha256(&now);
    let lock = noted_index["lock"]
        .is_string()
        .then(|| noted(&noted_index["lock"]));
    if is_unchanged && noted_index["is_new"] == true {
        return remove_index(&path, &now, lock.as_deref());
    }
    let old = noted_index["old"].as_str().filter(|_| is_unchanged);
    let new = match old {
        Some(old) => Some(old.as_bytes().to_vec()),
        None => without_session(&now, id).or_else(|| without_project(&now, project)),
    };
    let Some(new) = new else { return Ok(()) };
    let change = IndexChange {
        path,
        old: Some(now),
        new,
        lock,
    };
    write_index(context, &change)
}
