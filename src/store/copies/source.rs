//! Reads a file that another program may be writing.

use super::tree;
use crate::error::{Error, ErrorKind, Result};
use crate::model::key::hex;
use crate::store::directory::{Directory, FileStat};
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Read size in bytes.
const BLOCK: usize = 256 * 1024;

/// A file that is read up to its length at the time of opening.
pub struct SnapshotFile<'p> {
    directory: Directory,
    name: &'p OsStr,
    file: File,
    /// Its metadata at the time of opening.
    pub facts: FileStat,
}

impl<'p> SnapshotFile<'p> {
    /// Opens the file; none if it is gone.
    pub fn open(base: &Path, path: &'p Path) -> Result<Option<SnapshotFile<'p>>> {
        let root = match Directory::open(base) {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            root => root?,
        };
        let Some((directory, name)) = tree::find(&root, path)? else {
            return Ok(None);
        };
        let Some(file) = directory.file(name, OFlags::RDONLY)? else {
            return Ok(None);
        };
        let facts = FileStat::of(&file).map_err(|error| Error::io(directory.shown(name), error))?;
        Ok(Some(SnapshotFile {
            directory,
            name,
            file,
            facts,
        }))
    }

    /// The name in messages.
    pub fn shown(&self) -> String {
        self.directory.shown(self.name)
    }

    /// Passes the bytes of a range to `each` and to a checksum; returns whether all of them exist.
    pub fn read(
        &self,
        (from, to): (u64, u64),
        hash: &mut Sha256,
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        let failed = |error| Error::io(self.shown(), error).kind(ErrorKind::InputOutput);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        let mut left = to.saturating_sub(from);
        let mut block = vec![0; BLOCK.min(usize::try_from(left).unwrap_or(BLOCK)).max(1)];
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(BLOCK).min(block.len());
            match file.read(&mut block[..most]) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    hash.update(&block[..count]);
                    each(&block[..count])?;
                    left -= count as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(true)
    }

    /// The checksum of the first `length` bytes, and the hash state after them; none if the file is shorter.
    pub fn prefix(&self, length: u64) -> Result<Option<(String, Sha256)>> {
        let mut hash = Sha256::new();
        let is_whole = self.read((0, length), &mut hash, |_| Ok(()))?;
        Ok(is_whole.then(|| (hex(&hash.clone().finalize()), hash)))
    }

    /// Whether the bytes read form a consistent state: the file may have grown or been deleted, but not rewritten or
    /// replaced.
    pub fn is_consistent(&self) -> Result<bool> {
        let failed = |error| Error::io(self.shown(), error).kind(ErrorKind::InputOutput);
        let now = FileStat::of(&self.file).map_err(failed)?;
        let is_same_name = match self.directory.facts(self.name)? {
            Some(there) => there.is_same_file(&self.facts),
            None => true,
        };
        let is_unchanged = now.size == self.facts.size && now.modified == self.facts.modified;
        Ok(is_same_name && (is_unchanged || now.size > self.facts.size))
    }
}
