//! Compares copies with their checksums, and with the original files.

use super::archive::{ArchivedSession, Copies};
use super::line::ManifestLine;
use super::source::SnapshotFile;
use super::{copy_file, tree};
use crate::error::{Error, Result};
use crate::model::key::hex;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;

/// A problem of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyProblem {
    /// The bytes do not match the checksum.
    Damaged,
    /// The original file has other bytes now.
    Differs,
}

impl Copies {
    /// Lists the copies with problems; `homes` maps names to directories with original files.
    pub fn verify(
        &self,
        kept: &ArchivedSession,
        homes: &[(&Path, &Path)],
    ) -> Result<Vec<(ManifestLine, CopyProblem)>> {
        let mut found = Vec::new();
        let latest = kept.latest();
        for line in kept.versions() {
            if self.sum(kept, line)?.as_deref() != Some(&line.sha256) {
                found.push((line.clone(), CopyProblem::Damaged));
                continue;
            }
            let home = homes.iter().find(|(name, _)| *name == line.home);
            // No file of the home has records of a database.
            let Some((_, base)) = home.filter(|_| latest.contains(&line) && line.row.is_none()) else {
                continue;
            };
            if let Some(source) = SnapshotFile::open(base, &line.path)? {
                let sum = source.prefix(line.bytes)?.map(|(sum, _)| sum);
                if source.facts.size != line.bytes || sum.as_deref() != Some(&line.sha256) {
                    found.push((line.clone(), CopyProblem::Differs));
                }
            }
        }
        Ok(found)
    }

    /// The error of a damaged copy whose file its home no longer has.
    pub fn lost(&self, kept: &ArchivedSession, line: &ManifestLine) -> Error {
        let shown = self.directory.shown(kept.path(line));
        let error = Error::data(format!("{shown}: damaged copy, and its original is gone"));
        error.hint("restore the copy from a backup")
    }

    /// Whether a copy exists and is complete. Bytes beyond its length were written by an interrupted run.
    pub fn is_intact(&self, kept: &ArchivedSession, line: &ManifestLine) -> bool {
        if self.reads_copies {
            return matches!(self.sum(kept, line), Ok(Some(sum)) if sum == line.sha256);
        }
        let facts = tree::facts(&self.directory, &kept.path(line));
        matches!(facts, Ok(Some(facts)) if facts.regular && facts.size >= line.bytes)
    }

    /// The checksum of a copy; none if it is missing or too short.
    fn sum(&self, kept: &ArchivedSession, line: &ManifestLine) -> Result<Option<String>> {
        let path = kept.copy(line, line.version);
        let Some(file) = copy_file::open(self, &path, OFlags::RDONLY)? else {
            return Ok(None);
        };
        let mut hash = Sha256::new();
        let mut file = file.take(line.bytes);
        let mut block = vec![0; 256 * 1024];
        let mut length = 0;
        loop {
            match file.read(&mut block) {
                Ok(0) => break,
                Ok(count) => {
                    hash.update(&block[..count]);
                    length += count as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(self.directory.shown(&path), error)),
            }
        }
        Ok((length == line.bytes).then(|| hex(&hash.finalize())))
    }
}
