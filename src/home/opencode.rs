//! opencode's sessions, which store each record in a separate file.

use super::places::Home;
use std::path::{Path, PathBuf};

/// Returns the files of a session's messages and of their parts.
pub fn records(home: &Home, id: &str) -> Vec<PathBuf> {
    if home.program.name != "opencode" || id.is_empty() || id.contains('/') || id.starts_with('.') {
        return Vec::new();
    }
    let storage = home.root.join("storage");
    let messages = files(&storage.join("message").join(id));
    // The id of a message is in its record and not always in its file name.
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

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect()
}
