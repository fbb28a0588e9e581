//! Copies of files of other programs, kept when those programs delete them: `PROGRAM/SESSION/VERSION/PATH`, with a
//! manifest per session. Nothing is deleted except a document that a longer version replaced.

mod archive;
mod copy_file;
mod document;
mod line;
mod restore;
mod source;
mod tree;
mod verify;

pub use archive::{ArchivedSession, Copies, SHARED, WantedFile};
pub use line::{CopyOutcome, ManifestLine};
pub use verify::CopyProblem;

use super::atomic;
use super::directory::FILE_MODE;
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use archive::{MANIFEST, UNFINISHED};
use rustix::fs::OFlags;
use std::io::{Seek, SeekFrom, Write};

impl Copies {
    /// Copies new content of a file; the returned line commits it. None if the file is gone.
    pub fn take(
        &self,
        kept: &ArchivedSession,
        wanted: WantedFile<'_>,
        at: &str,
    ) -> Result<Option<ManifestLine>> {
        copy_file::copy_new_content(self, kept, wanted, at)
    }

    /// Commits these lines after syncing the copies. Sessions without lines are unchanged.
    pub fn commit(&self, sessions: &[(&ArchivedSession, &[ManifestLine])]) -> Vec<Result<()>> {
        let all = |error: &Error| {
            let again = |_| Err(Error::new(error.kind, error.message.clone()));
            sessions.iter().map(again).collect()
        };
        if let Err(error) = atomic::sync_below(&self.directory) {
            return all(&error.kind(ErrorKind::InputOutput));
        }
        if let Err(error) = self.directory.create(UNFINISHED, FILE_MODE) {
            return all(&error);
        }
        let written: Vec<Result<()>> = sessions
            .iter()
            .map(|(kept, lines)| self.write(kept, lines))
            .collect();
        if let Err(error) = atomic::sync_below(&self.directory) {
            return all(&error.kind(ErrorKind::Unsure));
        }
        let _ = atomic::unlink(&self.directory, UNFINISHED); // on failure the next run syncs again
        let done = sessions
            .iter()
            .zip(&written)
            .filter(|(_, written)| written.is_ok());
        done.for_each(|((kept, lines), _)| self.clean(kept, lines));
        written
    }

    fn write(&self, kept: &ArchivedSession, lines: &[ManifestLine]) -> Result<()> {
        let text: String = lines.iter().map(ManifestLine::written).collect();
        let path = kept.place.join(MANIFEST);
        let failed = |error| Error::io(self.directory.shown(&path), error).kind(ErrorKind::InputOutput);
        if kept.length == 0 {
            return copy_file::create(self, &path, |file| {
                file.write_all(text.as_bytes()).map_err(failed)
            })
            .map(drop);
        }
        let missing = || failed(std::io::ErrorKind::NotFound.into());
        let mut file = self.directory.file(&path, OFlags::RDWR)?.ok_or_else(missing)?;
        file.set_len(kept.length)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .and_then(|_| file.write_all(text.as_bytes()))
            .map_err(|error| {
                let _ = file.set_len(kept.length); // remove a partial line
                failed(error)
            })
    }

    /// Removes copies that other versions replaced, in case an earlier run was interrupted.
    pub fn clean_up(&self, kept: &ArchivedSession) {
        self.clean(kept, &kept.lines);
    }

    fn clean(&self, kept: &ArchivedSession, lines: &[ManifestLine]) {
        for line in lines {
            let Some(version) = line.replaces else { continue };
            let path = kept.copy(line, version);
            if let Ok(Some((dir, name))) = tree::find(&self.directory, &path) {
                let _ = atomic::unlink(&dir, name); // harmless on failure
            }
        }
    }
}

/// The name of the directory of a session.
pub fn directory_name(session: Option<&str>) -> String {
    match session {
        None => SHARED.to_string(),
        Some(SHARED) => format!("key_{SHARED}"),
        Some(id) => key::id_for_key(id),
    }
}
