//! opencode: a session whose records are files of their own.

use super::places::Home;
use std::path::{Path, PathBuf};

/// The files of a session's messages and of their parts.
pub fn records(home: &Home, id: &str) -> Vec<PathBuf> {
    if home.program.name != "opencode" || id.is_empty() || id.contains('/') || id.starts_with('.') {
        return Vec::new();
    }
    let storage = home.root.join("storage");
    let messages = files(&storage.join("message").join(id));
    // A message's id is in its record, not always in its name.
    let ids: Vec<String> = messages
        .iter()
        .filter_map(|message| {
            let record = std::fs::read(message).ok()?;
            let id = crate::model::json::text(crate::model::json::member(&record, "id")?)?;
            Some(id.into_owned()).filter(|id| !id.is_empty() && !id.contains('/') && !id.starts_with('.'))
        })
        .collect();
    let parts = ids.iter().flat_map(|id| files(&storage.join("part").join(id)));
    let parts: Vec<PathBuf> = parts.collect();
    messages.into_iter().chain(parts).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect()
}
