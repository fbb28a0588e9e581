//! Reads a session of opencode's storage directory: its file and those of its messages.

use convo::error::{Error, Result};
use convo::format::opencode::storage;
use std::io;
use std::path::{Path, PathBuf};

/// Whether a file with this beginning is a session record in such a directory.
pub fn is_session(path: &Path, head: &[u8]) -> bool {
    let ending = path.extension().is_some_and(|ending| ending == "json");
    ending && storage::is_session(head) && dir(path).is_some()
}

/// The storage directory of a session file: `STORAGE/session/PROJECT/SESSION.json`.
fn dir(path: &Path) -> Option<PathBuf> {
    let path = std::fs::canonicalize(path).ok()?;
    let sessions = path.parent()?.parent()?;
    (sessions.file_name()? == "session").then(|| sessions.parent().map(Path::to_path_buf))?
}

/// Assembles the session with its messages, like its export.
pub fn document(path: &Path, record: &[u8]) -> Result<Vec<u8>> {
    let dir = dir(path).unwrap_or_default();
    storage::document(record, &|inner: &str| files(&dir.join(inner)))
}

/// The files of a directory, sorted by name.
fn files(dir: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let failed = |path: &Path| {
        let what = format!("cannot read {}", path.display());
        move |error| Error::io(what, error)
    };
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed(dir))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed(dir))?.path();
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

/// Rejects a change of such a file, because the result could not be stored in its directory.
pub fn refuse(path: &Path) -> Result<()> {
    let Ok(record) = std::fs::read(path) else {
        return Ok(());
    };
    if !is_session(path, &record) {
        return Ok(());
    }
    let error = Error::usage("opencode's storage directory is read-only");
    Err(error.hint("write an export that opencode imports: convo cat --to opencode FILE > EXPORT"))
}
