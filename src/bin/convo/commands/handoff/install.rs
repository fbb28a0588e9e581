//! Installs a session in another program's directory: writes the file, then the index. Also removes it again.

use super::HandoffSession;
use crate::context::Context;
use crate::environment::home;
use crate::errors::named;
use crate::homes::{complete_changes, long_path, short_path};
use crate::output::path_name;
use crate::owner::refuse_other_owner;
use convo::error::{Error, ErrorKind, Result};
use convo::home::{AcceptMode, IndexChange};
use convo::model::key;
use convo::store::{FileStat, Rewrite, make_folders, remove_file, sync_file};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Mode of created directories.
const MODE: u32 = 0o700;

/// Installs a session and prints the command that resumes it.
pub fn install(context: &Context, ready: HandoffSession<'_>, is_dry: bool, json: bool) -> anyhow::Result<()> {
    if !is_dry {
        complete_changes(context)?;
    }
    let mut ready = ready;
    let mut path = None;
    match std::mem::replace(&mut ready.takes, AcceptMode::Nothing("")) {
        AcceptMode::File(slot) => {
            refuse_other_owner(&slot.path)?;
            // A killed run may have written the same file.
            let there = std::fs::read(&slot.path).ok();
            let is_there = there.is_some_and(|there| there == ready.bytes);
            if !is_there && slot.path.symlink_metadata().is_ok() {
                return Err(named(
                    Error::new(ErrorKind::Exists, "already exists"),
                    &path_name(&slot.path),
                )
                .into());
            }
            path = Some(slot.path.clone());
            if !is_dry {
                // Record it first, so that it can be undone if anything below fails.
                note(context, &ready.id, &slot.path, &ready.bytes)?;
                for (path, bytes) in slot.beside.iter().filter(|(path, _)| !path.exists()) {
                    write_new(context, path, bytes)?;
                }
                if !is_there {
                    write_new(context, &slot.path, &ready.bytes)?;
                }
                if let Some(index) = &slot.index {
                    enter(context, index)?;
                }
                sync_file(&slot.path).map_err(|error| error.kind(ErrorKind::Unsure))?;
            }
        }
        AcceptMode::Import(command) if !is_dry => import(context, &mut ready, command)?,
        _ => {}
    }
    if let Some(path) = &path {
        let verb = if is_dry { "would write" } else { "written" };
        context
            .output
            .notice(ready.to.name, &format!("{verb}: {}", path_name(path)));
    }
    let resume = ready.resume.clone();
    if json {
        let losses: serde_json::Map<String, Value> = ready
            .losses
            .iter()
            .map(|(loss, count)| (loss.clone(), json!(count)))
            .collect();
        let object = json!({
            "schema": "convo.handoff/1", "from": ready.from.name(), "to": ready.to.name, "id": ready.id,
            "path": path.as_deref().map(path_name), "project": ready.project, "model": ready.model,
            "losses": losses, "resume": resume, "installed": !is_dry,
        });
        return context.output.print_done(&object.to_string());
    }
    match resume {
        Some(line) => context.output.print_done(&line),
        None => Ok(()),
    }
}

/// Writes a new file; an existing one is an error.
pub fn write_new(context: &Context, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let options = Rewrite {
        is_new: true,
        lock_timeout: context.lock_timeout(),
        ..Rewrite::default()
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folders(folder, MODE)?;
    }
    write(path, bytes, &options)
}

fn write(path: &Path, bytes: &[u8], options: &Rewrite) -> anyhow::Result<()> {
    crate::writing::rewrite(path, options, &path_name(path), |out| {
        let written = out.write_all(bytes);
        Ok(written.map_err(|error| Error::io("cannot write", error))?)
    })
}

/// Adds a session to an index, unless another program has changed the index in the meantime.
fn enter(context: &Context, index: &IndexChange) -> anyhow::Result<()> {
    let _lock = index.lock.as_deref().map(DirectoryLock::new).transpose()?;
    let changed = || {
        let error = Error::new(ErrorKind::Locked, "modified by another program");
        named(
            error.hint("the session can be resumed by its id"),
            &path_name(&index.path),
        )
    };
    let read = match std::fs::File::open(&index.path) {
        Ok(file) => Some(FileStat::of(&file).map_err(|error| Error::io(path_name(&index.path), error))?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io(path_name(&index.path), error).into()),
    };
    if std::fs::read(&index.path).ok() != index.old {
        return Err(changed().into());
    }
    let options = Rewrite {
        is_new: read.is_none(),
        read,
        lock_timeout: context.lock_timeout(),
        ..Rewrite::default()
    };
    write(&index.path, &index.new, &options)
}

/// A lock of another program, which is a directory.
struct DirectoryLock(PathBuf);

impl DirectoryLock {
    fn new(path: &Path) -> Result<DirectoryLock> {
        match std::fs::create_dir(path) {
            Ok(()) => Ok(DirectoryLock(path.to_path_buf())),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let error = Error::new(
                    ErrorKind::Locked,
                    format!("{}: locked by its program", path_name(path)),
                );
                Err(error.hint("the session can be resumed by its id"))
            }
            Err(error) => Err(Error::io(path_name(path), error).kind(ErrorKind::InputOutput)),
        }
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0); // on failure, the program considers the lock stale after ten seconds
    }
}

/// Runs the program's import command.
fn import(context: &Context, ready: &mut HandoffSession<'_>, command: &[&str]) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("convo-handoff-{}", ready.id));
    let file = folder.join("session.json");
    make_folders(&folder, MODE)?;
    let done = write_new(context, &file, &ready.bytes).and_then(|()| {
        let ran = Command::new(command[0])
            .args(&command[1..])
            .arg(&file)
            .current_dir(&ready.project)
            .stdin(Stdio::null())
            .output();
        match ran {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let error = Error::new(
                    ErrorKind::Unavailable,
                    format!("{}: program not found", command[0]),
                );
                Err(error
                    .hint("write the file with -o FILE and import it later")
                    .into())
            }
            Err(error) => Err(Error::io(command[0], error).kind(ErrorKind::Unavailable).into()),
            Ok(output) if !output.status.success() => {
                let text = String::from_utf8_lossy(&output.stderr);
                let why = text.lines().next().unwrap_or_default().to_string();
                Err(Error::new(
                    ErrorKind::Unavailable,
                    format!("{}: {}: {why}", command[0], output.status),
                )
                .into())
            }
            Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
    let printed = done?;
    // goose assigns its own session id.
    if ready.to.name == "goose" {
        let words = printed.split(|c: char| c.is_whitespace() || "()'\"".contains(c));
        let id = words
            .filter(|word| word.len() > 8 && word.starts_with(|c: char| c.is_ascii_digit()))
            .find(|word| word.contains('_'));
        ready.resume = id.and_then(|id| ready.to.resume_line(id, Some(&ready.project)));
        ready.id = id.unwrap_or(&ready.id).to_string();
    }
    Ok(())
}

/// Path of the file that lists installed sessions.
fn journal() -> Result<PathBuf> {
    let state = home("XDG_STATE_HOME", ".local/state");
    state
        .map(|state| state.join("convo/handoff.jsonl"))
        .ok_or_else(|| Error::new(ErrorKind::Config, "neither HOME nor XDG_STATE_HOME is set"))
}

fn note(context: &Context, id: &str, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let journal = journal()?;
    let mut lines = std::fs::read(&journal).unwrap_or_default();
    let path = path_name(&short_path(path));
    let line = json!({"at": context.clock.now(), "id": id, "path": path, "sha256": key::sha256(bytes)});
    let line = format!("{line}\n");
    if !lines.ends_with(line.as_bytes()) {
        lines.extend_from_slice(line.as_bytes());
    }
    if let Some(folder) = journal.parent() {
        make_folders(folder, MODE)?;
    }
    let options = Rewrite {
        lock_timeout: context.lock_timeout(),
        ..Rewrite::default()
    };
    write(&journal, &lines, &options)
}

/// Removes an installed session that has not changed since.
pub fn undo(context: &Context, id: &str, is_dry: bool) -> anyhow::Result<()> {
    let lines = std::fs::read_to_string(journal()?).unwrap_or_default();
    let entries = lines
        .lines()
        .rev()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let unknown = || {
        Error::new(
            ErrorKind::NotFound,
            format!("{id}: not a session that was handed over"),
        )
    };
    let entry = { entries }.find(|entry| entry["id"] == id).ok_or_else(unknown)?;
    let path = long_path(Path::new(entry["path"].as_str().unwrap_or_default()));
    let shown = path_name(&path);
    let bytes = std::fs::read(&path).map_err(|error| Error::io(&shown, error))?;
    if entry["sha256"] != key::sha256(&bytes) {
        let error = Error::new(ErrorKind::Locked, "changed since it was written");
        return Err(named(error.hint("nothing was removed"), &shown).into());
    }
    if !is_dry {
        remove_file(&path)?;
    }
    let verb = if is_dry { "would remove" } else { "removed" };
    context.output.notice("", &format!("{verb} {shown}"));
    Ok(())
}
