//! Sessions of opencode's storage folder: the file of one, and those of its messages.

use convo::error::{Error, Kind, Result};
use convo::format::opencode::storage;
use std::io;
use std::path::{Path, PathBuf};

/// Whether a file with this beginning is the record of a session in such a folder.
pub fn is_session(path: &Path, head: &[u8]) -> bool {
    let ending = path.extension().is_some_and(|ending| ending == "json");
    ending && storage::is_session(head) && folder(path).is_some()
}

/// The storage that a session's file is in: `STORAGE/session/PROJECT/SESSION.json`.
fn folder(path: &Path) -> Option<PathBuf> {
    let path = std::fs::canonicalize(path).ok()?;
    let sessions = path.parent()?.parent()?;
    (sessions.file_name()? == "session").then(|| sessions.parent().map(Path::to_path_buf))?
}

/// The session with its messages, as its export would be.
pub fn document(path: &Path, record: &[u8]) -> Result<Vec<u8>> {
    let folder = folder(path).unwrap_or_default();
    storage::document(record, &|inner: &str| files(&folder.join(inner)))
}

/// The files of a folder, by their names.
fn files(folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let failed = |path: &Path| {
        let what = format!("cannot read {}", path.display());
        move |error| Error::io(what, error)
    };
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed(folder))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed(folder))?.path();
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .map(str::to_string);
        if let (Some(stem), true) = (stem, path.extension().is_some_and(|ending| ending == "json")) {
            found.push((stem, std::fs::read(&path).map_err(failed(&path))?));
        }
    }
    found.sort();
    Ok(found)
}

/// Refuses to change such a file: what it would become is no file of that folder.
pub fn refuse(path: &Path) -> Result<()> {
    let Ok(record) = std::fs::read(path) else {
        return Ok(());
    };
    if !is_session(path, &record) {
        return Ok(());
    }
    let error = Error::new(Kind::Usage, "opencode's storage directory is read-only");
    Err(error.hint("write an export that opencode imports: convo cat --to opencode FILE > EXPORT"))
}
