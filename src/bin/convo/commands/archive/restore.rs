//! Restores archived sessions to their homes.

use super::report::{ArchiveRow, SessionOutcome};
use crate::context::Context;
use crate::errors::named;
use crate::homes::{self, archived};
use crate::owner::refuse_other_owner;
use convo::error::{Error, ErrorKind, Result};
use convo::home::{FileKind, Home, RunningMarkers, Transcript};
use convo::store::copies::{Copies, CopyOutcome, ManifestLine};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Restores a session to its home.
pub fn restore_session(
    context: &Context,
    homes: &[Home],
    copies: &Copies,
    name: &str,
    keeps_times: bool,
    is_dry: bool,
) -> ArchiveRow {
    let row = |name: &str| ArchiveRow::new(name, SessionOutcome::Of(CopyOutcome::Same));
    let (program, kept) = match archived::find(copies, name) {
        Ok(found) => found,
        Err(error) => return row(name).failed(&error),
    };
    let id = kept.session.clone().unwrap_or_default();
    let mut latest = kept.latest();
    if latest.iter().any(|line| line.row.is_some()) {
        let own = homes::archived_name(program.name, Some(&id));
        let error = Error::usage("a session of a database, which only its program writes");
        let hint = format!("continue it in another program with: convo handoff {own} --to PROGRAM --install");
        return row(&own).failed(&named(error.hint(hint), &own));
    }
    // A session that was moved is restored to its last place.
    let transcripts = archived::transcripts(program, &kept);
    let is_kept = |line: &ManifestLine| transcripts.values().flatten().any(|own| std::ptr::eq(*own, line));
    latest.retain(|line| line.kind != archived::TRANSCRIPT || is_kept(line));
    let mut row = row(&homes::archived_name(program.name, Some(&id)));
    let own: Vec<&Home> = homes
        .iter()
        .filter(|home| home.program.name == program.name)
        .collect();
    // If the home was moved, its sessions are written to its new location.
    let base = |name: &Path| match own
        .iter()
        .find(|home| homes::short_path(home.base()) == name)
        .or(own.first())
    {
        Some(home) => home.base().to_path_buf(),
        None => homes::long_path(name),
    };
    let restore = |is_dry| copies.restore_files((&kept, &latest), &base, keeps_times, is_dry);
    let missing = restore(true);
    // Where nothing is missing, nothing is written into the session, which may be running: a killed run may have restored
    // its files, which are only synced.
    if missing.as_ref().is_ok_and(Vec::is_empty) {
        let synced = if is_dry { missing } else { restore(false) };
        return match synced {
            Ok(_) => row,
            Err(error) => row.failed(&error),
        };
    }
    // A directory that does not exist is created in one that may be of another user.
    let written = latest.iter().map(|line| base(&line.home));
    let mut written = written.chain(missing.unwrap_or_default());
    if let Err(error) = written.try_for_each(|path| refuse_other_owner(&path)) {
        return row.refused(&error);
    }
    let copied = latest
        .iter()
        .map(|line| (base(&line.home).join(&line.path), line.bytes));
    let refused = refuse_running(context, &own, &id, &copied.collect());
    match refused.and_then(|()| restore(is_dry)) {
        Ok(paths) => {
            if !paths.is_empty() {
                row.word = SessionOutcome::Back;
                row.bytes = size(&latest, &base, &paths);
            }
            row
        }
        Err(error) => row.failed(&error),
    }
}

fn size(lines: &[&ManifestLine], base: &dyn Fn(&Path) -> PathBuf, paths: &[PathBuf]) -> u64 {
    lines
        .iter()
        .filter(|line| paths.contains(&base(&line.home).join(&line.path)))
        .map(|line| line.bytes)
        .sum()
}

/// Fails if a program is writing the session or one of its subagents. `copied` are the files to restore, with their
/// sizes.
fn refuse_running(
    context: &Context,
    homes: &[&Home],
    id: &str,
    copied: &HashMap<PathBuf, u64>,
) -> Result<()> {
    for home in homes {
        let files = home.files().transcripts;
        let own = files.iter().filter(|file| file.id.as_deref() == Some(id));
        let missing = Transcript {
            path: PathBuf::new(),
            kind: FileKind::Session,
            id: None,
            parent: None,
            bytes: 0,
            modified: SystemTime::UNIX_EPOCH,
            is_in_database: false,
        };
        let transcript = own.max_by_key(|file| file.modified).unwrap_or(&missing);
        let running = RunningMarkers::of(home, homes::clock(context));
        // A run that was killed may have just restored files of subagents.
        let others = files
            .iter()
            .filter(|file| copied.get(&file.path) != Some(&file.bytes));
        if let Some(mark) = running.mark_with_subagents(transcript, id, None, others) {
            let error = Error::new(ErrorKind::Locked, format!("session is running: {}", mark.name()));
            return Err(error.hint("nothing was changed; end the program first"));
        }
    }
    Ok(())
}
