//! Claude Code's settings and the markers of its running processes.

use super::retention::{DAY, Retention};
use serde_json::Value;
use std::path::Path;

/// The default in days if no settings file overrides it.
const DEFAULT: i64 = 30;

/// Returns how long sessions are kept: the smallest value in any settings file, because the program applies the
/// settings of the project in which it is started to the sessions of all projects.
pub fn retention<'p>(config: &Path, projects: impl Iterator<Item = &'p str>) -> Retention {
    let projects = projects.filter(|project| Path::new(project).is_absolute());
    let own = projects.map(|project| Path::new(project).join(".claude"));
    let values = std::iter::once(config.to_path_buf()).chain(own).flat_map(|dir| {
        ["settings.json", "settings.local.json"]
            .into_iter()
            .filter_map(move |name| read(&dir.join(name))?.get("cleanupPeriodDays")?.as_i64())
    });
    let value = values.min();
    Retention {
        // The program deletes nothing that is younger than a day.
        seconds: value.unwrap_or(DEFAULT).max(1).saturating_mul(DAY),
        setting: "cleanupPeriodDays",
        value: value.map(|days| days.to_string()),
        by: "mtime",
    }
}

/// Returns the markers of processes: process id, session, working directory.
pub fn marks(config: &Path) -> Vec<(i32, Option<String>, Option<String>)> {
    let entries = std::fs::read_dir(config.join("sessions"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter_map(|entry| {
            let mark = read(&entry.path())?;
            let text = |name: &str| mark.get(name).and_then(Value::as_str).map(str::to_string);
            let pid = i32::try_from(mark.get("pid")?.as_i64()?).ok()?;
            Some((pid, text("sessionId"), text("cwd")))
        })
        .collect()
}

/// Reads a JSON file of at most 64 MiB.
pub fn read(path: &Path) -> Option<Value> {
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > 64 << 20 {
        return None;
    }
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
