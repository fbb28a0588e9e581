//! Restores copies to the homes that they come from.

use super::archive::{ArchivedSession, Copies};
use super::line::ManifestLine;
use super::{copy_file, tree};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use crate::store::atomic::{self, Temporary};
use crate::store::directory::{DIR_MODE, Directory, FILE_MODE};
use crate::store::replace_file::hidden;
use rustix::fs::OFlags;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

impl Copies {
    /// Writes these copies of files of a session to their original paths, below the directory that `base` returns;
    /// existing files with the same bytes are unchanged. Returns the written paths.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if another file has one of the paths; then nothing is written.
    pub fn restore_files(
        &self,
        (kept, lines): (&ArchivedSession, &[&ManifestLine]),
        base: &dyn Fn(&Path) -> PathBuf,
        keeps_times: bool,
        is_dry: bool,
    ) -> Result<Vec<PathBuf>> {
        let mut lines = lines.to_vec();
        // The transcript comes last because it makes the session visible.
        lines.sort_by_key(|line| line.kind == "transcript");
        let (mut missing, mut present) = (Vec::new(), Vec::new());
        for line in lines {
            let base = base(&line.home);
            let path = base.join(&line.path);
            let bytes = self.bytes(kept, line)?;
            let there = match Directory::open(&base) {
                Err(error) if error.kind == ErrorKind::NotFound => None,
                root => match tree::find(&root?, &line.path)? {
                    Some((dir, name)) => dir.file(name, OFlags::RDONLY)?,
                    None => None,
                },
            };
            let Some(mut there) = there else {
                missing.push((line, base, path, bytes));
                continue;
            };
            let mut own = Vec::new();
            there
                .read_to_end(&mut own)
                .map_err(|error| Error::io(path.display(), error))?;
            if own != bytes {
                let exists = format!("{}: exists with other content", path.display());
                return Err(
                    Error::new(ErrorKind::Exists, exists).hint("nothing was changed; move it away first")
                );
            }
            present.push((base, &line.path));
        }
        if is_dry {
            return Ok(missing.into_iter().map(|(_, _, path, _)| path).collect());
        }
        // A killed run may have written them without syncing or removing its temporary file.
        for (base, path) in &present {
            if let Some((dir, name)) = tree::find(&Directory::open(base)?, path)? {
                atomic::remove_dead_file(&dir, &hidden(name));
                atomic::sync_below(&dir)?;
            }
        }
        for (line, base, path, bytes) in &missing {
            super::super::make_dirs(base, DIR_MODE)?;
            let root = Directory::open(base)?;
            let (dir, name) = tree::make(&root, &line.path)?;
            let failed = |error| Error::io(path.display(), error).kind(ErrorKind::InputOutput);
            let mut temporary = Temporary::new(&dir, hidden(name), FILE_MODE, self.timeout)?;
            temporary.file.write_all(bytes).map_err(failed)?;
            if let Some((seconds, nanoseconds)) = line.modified.filter(|_| keeps_times) {
                let since = Duration::new(
                    u64::try_from(seconds).unwrap_or(0),
                    u32::try_from(nanoseconds).unwrap_or(0),
                );
                temporary
                    .file
                    .set_modified(SystemTime::UNIX_EPOCH + since)
                    .map_err(failed)?;
            }
            atomic::sync_below(&dir)?;
            if !temporary.keep_new(name)? {
                return Err(Error::new(
                    ErrorKind::Exists,
                    format!("{}: already exists", path.display()),
                ));
            }
            atomic::sync_below(&dir).map_err(|error| error.kind(ErrorKind::Unsure))?;
        }
        Ok(missing.into_iter().map(|(_, _, path, _)| path).collect())
    }

    /// The bytes of a copy, verified by checksum.
    ///
    /// # Errors
    /// [`ErrorKind::Data`] if the copy is damaged.
    pub fn bytes(&self, kept: &ArchivedSession, line: &ManifestLine) -> Result<Vec<u8>> {
        let path = kept.copy(line, line.version);
        let mut bytes = Vec::new();
        if let Some(file) = copy_file::open(self, &path, OFlags::RDONLY)? {
            let read = file.take(line.bytes).read_to_end(&mut bytes);
            read.map_err(|error| Error::io(self.directory.shown(&path), error))?;
        }
        match key::sha256(&bytes) == line.sha256 {
            true => Ok(bytes),
            false => Err(Error::data(format!(
                "{}: damaged copy",
                self.directory.shown(&path)
            ))),
        }
    }
}
