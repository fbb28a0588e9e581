//! Copies one file: appends its new bytes to the copy, or creates a new version.

use super::archive::{ArchivedSession, Copies, WantedFile};
use super::line::{CopyOutcome, ManifestLine};
use super::source::SnapshotFile;
use super::{document, tree};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key::hex;
use crate::store::atomic::Temporary;
use crate::store::directory::{FILE_MODE, FileStat};
use crate::store::replace_file::hidden;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A file changed this shortly before it was read may change again with the same timestamp.
const TICK: Duration = Duration::from_secs(2);

/// Copies new content of a file. None if the file is gone.
pub fn copy_new_content(
    copies: &Copies,
    kept: &ArchivedSession,
    wanted: WantedFile<'_>,
    at: &str,
) -> Result<Option<ManifestLine>> {
    // Read once more if the file was rewritten or replaced meanwhile.
    for _ in 0..2 {
        let Some(source) = SnapshotFile::open(wanted.base, wanted.path)? else {
            return Ok(None);
        };
        let mut line = ManifestLine {
            at: at.to_string(),
            session: kept.session.clone(),
            home: wanted.home.to_path_buf(),
            path: wanted.path.to_path_buf(),
            version: 0,
            replaces: None,
            kind: wanted.kind.to_string(),
            bytes: source.facts.size,
            sha256: String::new(),
            // The time of a stream of records says nothing of the database.
            modified: certain(&source.facts).filter(|_| wanted.row.is_none()),
            outcome: CopyOutcome::Same,
            slimmed: None,
            row: wanted.row.map(str::to_string),
            unread: None,
        };
        let known = kept.of(wanted.home, wanted.path);
        let is_taken = match known {
            Some(known) if extend(copies, kept, known, &source, &mut line)? => true,
            known => copy(copies, kept, known, &source, &mut line)?,
        };
        if is_taken && source.is_consistent()? {
            return Ok(Some(line));
        }
    }
    Err(changed(&wanted.base.join(wanted.path).display().to_string()))
}

fn changed(shown: &str) -> Error {
    let error = Error::new(ErrorKind::Locked, format!("{shown}: changed while it was read"));
    error.hint("run the command again")
}

/// The modification time of a file, unless it may change again with the same time.
fn certain(facts: &FileStat) -> Option<(i64, i64)> {
    let age = SystemTime::now().duration_since(facts.modified_at());
    let is_certain = match age {
        Ok(age) => age > TICK,
        Err(before) => before.duration() > TICK,
    };
    is_certain.then_some(facts.modified)
}

/// Appends new bytes of a file to its copy; false if the copy is not a prefix of the file.
fn extend(
    copies: &Copies,
    kept: &ArchivedSession,
    known: &ManifestLine,
    source: &SnapshotFile<'_>,
    line: &mut ManifestLine,
) -> Result<bool> {
    if line.bytes < known.bytes {
        return Ok(false);
    }
    let Some((sum, mut hash)) = source.prefix(known.bytes)? else {
        return Ok(false);
    };
    if sum != known.sha256 {
        return Ok(false);
    }
    line.version = known.version;
    if !copies.is_intact(kept, known) {
        return repair(copies, kept, known, source, line).map(|()| true);
    }
    if line.bytes == known.bytes {
        line.sha256 = sum;
        return Ok(true);
    }
    let Some(mut file) = open(copies, &kept.copy(known, known.version), OFlags::RDWR)? else {
        return Ok(false);
    };
    let shown = source.shown();
    let failed = |error| Error::io(&shown, error).kind(ErrorKind::InputOutput);
    file.set_len(known.bytes).map_err(failed)?;
    file.seek(SeekFrom::End(0)).map_err(failed)?;
    let read = source.read((known.bytes, line.bytes), &mut hash, |block| {
        file.write_all(block).map_err(failed)
    });
    if !matches!(read, Ok(true)) {
        let _ = file.set_len(known.bytes); // on failure the next run truncates it
    }
    line.sha256 = hex(&hash.finalize());
    line.outcome = CopyOutcome::Grown;
    read
}

/// Replaces a missing or damaged copy by the file, which has the same bytes at its beginning.
fn repair(
    copies: &Copies,
    kept: &ArchivedSession,
    known: &ManifestLine,
    source: &SnapshotFile<'_>,
    line: &mut ManifestLine,
) -> Result<()> {
    let path = kept.copy(line, line.version);
    let mut hash = Sha256::new();
    create(copies, &path, |file| {
        let failed = |error| Error::io(copies.directory.shown(&path), error).kind(ErrorKind::InputOutput);
        let mut write = |block: &[u8]| file.write_all(block).map_err(failed);
        // A damaged copy may still be of use: only the same bytes replace it.
        let is_same = source.read((0, known.bytes), &mut hash, &mut write)?
            && hex(&hash.clone().finalize()) == known.sha256
            && source.read((known.bytes, line.bytes), &mut hash, &mut write)?;
        match is_same {
            true => file.set_modified(source.facts.modified_at()).map_err(failed),
            false => Err(changed(&source.shown())),
        }
    })?;
    line.sha256 = hex(&hash.finalize());
    line.outcome = CopyOutcome::Repaired;
    Ok(())
}

/// Copies a whole file as a new version; false if it became shorter meanwhile.
fn copy(
    copies: &Copies,
    kept: &ArchivedSession,
    known: Option<&ManifestLine>,
    source: &SnapshotFile<'_>,
    line: &mut ManifestLine,
) -> Result<bool> {
    line.version = kept.next_version(&line.path);
    let path = kept.copy(line, line.version);
    let mut hash = Sha256::new();
    let mut is_whole = false;
    let file = create(copies, &path, |file| {
        let failed = |error| Error::io(copies.directory.shown(&path), error).kind(ErrorKind::InputOutput);
        is_whole = source.read((0, line.bytes), &mut hash, |block| {
            file.write_all(block).map_err(failed)
        })?;
        file.set_modified(source.facts.modified_at()).map_err(failed)
    })?;
    line.sha256 = hex(&hash.finalize());
    line.outcome = match known {
        None => CopyOutcome::New,
        Some(known) if is_whole && continues(copies, kept, known, file, line)? => {
            line.replaces = Some(known.version);
            CopyOutcome::Grown
        }
        Some(_) => CopyOutcome::Diverged,
    };
    Ok(is_whole)
}

/// Whether a document extends its last copy.
fn continues(
    copies: &Copies,
    kept: &ArchivedSession,
    known: &ManifestLine,
    new: File,
    line: &ManifestLine,
) -> Result<bool> {
    let is_document = line.path.extension().is_some_and(|extension| extension == "json");
    if !is_document && line.row.is_none() || line.bytes.max(known.bytes) > document::LARGEST {
        return Ok(false);
    }
    let read = |mut file: File| {
        let mut bytes = Vec::new();
        let whole = file
            .seek(SeekFrom::Start(0))
            .and_then(|_| file.read_to_end(&mut bytes));
        whole
            .map(|_| bytes)
            .map_err(|error| Error::io(line.path.display(), error))
    };
    let Some(old) = open(copies, &kept.copy(known, known.version), OFlags::RDONLY)? else {
        return Ok(false);
    };
    let old = read(old)?;
    let is_intact = crate::model::key::sha256(&old) == known.sha256;
    let continues = match line.row {
        Some(_) => document::continues_records,
        None => document::continues,
    };
    Ok(is_intact && continues(&old, &read(new)?))
}

/// Opens a file of the archive; none if it is missing.
pub fn open(copies: &Copies, path: &Path, access: OFlags) -> Result<Option<File>> {
    match tree::find(&copies.directory, path)? {
        Some((dir, name)) => dir.file(name, access),
        None => Ok(None),
    }
}

/// Creates a file in the archive; a partial one never has its name. The caller syncs.
pub fn create(copies: &Copies, path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<File> {
    let (dir, name) = tree::make(&copies.directory, path)?;
    let mut temporary = Temporary::new(&dir, hidden(name), FILE_MODE, copies.timeout)?;
    write(&mut temporary.file)?;
    let file = temporary.file.try_clone();
    let file = file.map_err(|error| Error::io(dir.shown(name), error))?;
    temporary.keep(name)?;
    Ok(file)
}
