//! The indexes of a home: titles and projects of its sessions.

use super::claude_code::read;
use super::gemini_cli;
use super::listing::matching;
use super::places::Home;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// Titles and projects by session.
#[derive(Clone, Debug, Default)]
pub struct HomeIndex {
    titles: HashMap<String, String>,
    projects: HashMap<String, String>,
}

impl HomeIndex {
    /// Reads the indexes of a home.
    pub fn of(home: &Home) -> HomeIndex {
        let mut index = HomeIndex::default();
        match home.program.name {
            "codex" => {
                let lines =
                    std::fs::read_to_string(home.root.join("session_index.jsonl")).unwrap_or_default();
                let entries = lines
                    .lines()
                    .filter_map(|line| serde_json::from_str::<Value>(line).ok());
                // The last line of a session takes precedence.
                entries.for_each(|entry| index.add(&entry, "id", &["thread_name"], &[]));
            }
            "cline" => {
                let tasks = read(&home.root.join("state/taskHistory.json"));
                for task in tasks.as_ref().and_then(Value::as_array).into_iter().flatten() {
                    index.add(task, "id", &["task"], &["cwdOnTaskInitialization", "workspace"]);
                }
            }
            "roo-code" => {
                let tasks = std::fs::read_dir(home.root.join("tasks"))
                    .into_iter()
                    .flatten()
                    .flatten();
                for task in tasks.filter_map(|task| read(&task.path().join("history_item.json"))) {
                    index.add(&task, "id", &["task"], &["workspace"]);
                }
            }
            "kimi" => index.add_work_dirs(home),
            "grok" => {
                for path in matching(&home.root, "*/*/summary.json", &mut Vec::new()) {
                    index.add_summary(&path);
                }
            }
            _ => {}
        }
        index
    }

    /// Adds the projects of Kimi CLI. Its sessions are in directories named after the MD5 of their projects, and its index
    /// names the last session of each project: all sessions next to that one have the same project.
    fn add_work_dirs(&mut self, home: &Home) {
        let Some(index) = home.root.parent().and_then(|base| read(&base.join("kimi.json"))) else {
            return;
        };
        let last = index["work_dirs"].as_array().into_iter().flatten();
        let last = last.filter_map(|work| Some((work["last_session_id"].as_str()?, work["path"].as_str()?)));
        let last: HashMap<&str, &str> = last.collect();
        let sessions = matching(&home.root, "*/*", &mut Vec::new());
        for dirs in sessions.chunk_by(|one, other| one.parent() == other.parent()) {
            let id = |dir: &Path| Some(dir.file_name()?.to_string_lossy().into_owned());
            let ids: Vec<String> = dirs.iter().filter_map(|dir| id(dir)).collect();
            if let Some(project) = ids.iter().find_map(|id| last.get(id.as_str())) {
                let all = ids.into_iter().map(|id| (id, (*project).to_string()));
                self.projects.extend(all);
            }
        }
    }

    /// Adds the summary next to a session of Grok, whose directory has its id.
    fn add_summary(&mut self, path: &Path) {
        let id = path.parent().and_then(Path::file_name).unwrap_or_default();
        let Some(summary) = read(path) else { return };
        let titles = ["generated_title", "session_summary"].map(|name| summary.get(name));
        let entry = json!({
            "id": id.to_string_lossy(), "title": titles[0], "summary": titles[1], "cwd": summary.pointer("/info/cwd"),
        });
        self.add(&entry, "id", &["title", "summary"], &["cwd"]);
    }

    fn add(&mut self, entry: &Value, id: &str, titles: &[&str], projects: &[&str]) {
        let text = |names: &[&str]| {
            let text = |name: &&str| entry.get(name)?.as_str().filter(|text| !text.trim().is_empty());
            names.iter().find_map(text).map(str::to_string)
        };
        let id = match entry.get(id) {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => return,
        };
        if let Some(title) = text(titles) {
            self.titles.insert(id.clone(), title);
        }
        if let Some(project) = text(projects) {
            self.projects.insert(id, project);
        }
    }

    /// Returns the title of a session.
    pub fn title(&self, id: &str) -> Option<&str> {
        self.titles.get(id).map(String::as_str)
    }

    /// Returns the project of a session whose records do not name it. `known` returns the projects of other sessions.
    pub fn project(
        &self,
        home: &Home,
        path: &Path,
        id: &str,
        known: &dyn Fn() -> Vec<String>,
    ) -> Option<String> {
        match home.program.name {
            "gemini-cli" => gemini_cli::project(path, known),
            // Its file is in the directory in which it was started.
            "aider" => Some(path.parent()?.to_string_lossy().into_owned()),
            _ => self.projects.get(id).cloned(),
        }
    }
}

/// Converts a project to a path: some programs write a `file://` URI.
pub fn plain_project(project: &str) -> String {
    let Some(path) = project.strip_prefix("file://") else {
        return project.to_string();
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Joins a title to one line and shortens it for a list.
pub fn folded(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(MAXIMUM).collect()
}

/// Maximum number of characters of a title.
const MAXIMUM: usize = 240;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_are_paths_and_titles_are_lines() {
        assert_eq!(plain_project("file:///src/a%20b%"), "/src/a b%");
        assert_eq!(plain_project("/src/a%20b"), "/src/a%20b");
        assert_eq!(folded(" one\n\ttwo  "), "one two");
        assert_eq!(folded(&"é".repeat(900)).chars().count(), MAXIMUM);
    }
}
