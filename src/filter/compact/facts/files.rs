//! The files that calls and shell commands read and change.

use super::FactReader;
use super::near_path::near;
use super::shell_changes::ShellChange;
use crate::filter::summarize::handoff::Success;

impl FactReader<'_, '_, '_> {
    /// Adds an access to a file; `failed` is unknown for a call without a result.
    pub(super) fn file(&mut self, change: Option<char>, path: String, failed: Option<bool>, is_shown: bool) {
        if failed == Some(false) {
            let success = match change {
                Some(_) => Success::Change(path.clone()),
                None => Success::Reading(path.clone()),
            };
            self.succeed(success, is_shown);
        }
        let failed = failed == Some(true);
        if is_shown {
            if let Some(change) = change.filter(|_| !failed) {
                self.facts.kept_changes.insert(path, change == 'D');
            }
            return;
        }
        // The summary counts the change, unless it is about an earlier one.
        let recorded = self.recorded.files.known(&path).filter(|_| self.was_recorded);
        if recorded.is_some_and(|file| file.change.is_some() && file.failed == failed && change != Some('D'))
        {
            return;
        }
        let file = self.facts.files.seen(&path);
        let Some(change) = change else {
            if file.change.is_none() {
                file.failed = failed;
            }
            return;
        };
        file.attempt(change, failed);
        if !failed {
            self.facts.changes += 1;
            self.facts.kept_changes.remove(&path);
        }
    }

    /// Adds a change by a shell command.
    pub(super) fn shell_change(&mut self, change: ShellChange, is_shown: bool) {
        let near = |path: &str| near(self.place.as_deref(), path).to_string();
        match change {
            ShellChange::File(change, path) => {
                let path = near(&path);
                // Output to a known file changes it.
                let known = self.facts.files.known(&path).map(|file| file.change);
                let change = match (change, known) {
                    ('A', Some(Some('A' | 'D')) | None) => 'A',
                    ('A', _) => 'M',
                    (change, _) => change,
                };
                self.file(Some(change), path, Some(false), is_shown);
            }
            ShellChange::Moved(from, to) => self.moved(&near(&from), to.map(|to| near(&to)), is_shown),
            ShellChange::DeletedDirectory(path) => {
                for path in self.known_files_in(&near(&path), false) {
                    self.file(Some('D'), path, Some(false), is_shown);
                }
            }
            ShellChange::Reverted(path) => {
                for path in self.known_files_in(&near(&path), true) {
                    if is_shown {
                        self.facts.kept_changes.insert(path, true);
                    } else {
                        self.facts.files.seen(&path).revert();
                        self.facts.changes += 1;
                    }
                }
            }
        }
    }

    /// Moves a file or the known files of a directory. The new paths are listed; an old one only if it was listed before.
    fn moved(&mut self, from: &str, to: Option<String>, is_shown: bool) {
        let is_there = |path: &String| {
            let file = self.facts.files.known(path);
            file.is_some_and(|file| file.change != Some('D'))
        };
        let files_in = |path: &str| {
            let mut files = self.known_files_in(path, false);
            files.retain(|file| file != path && is_there(file));
            files
        };
        // A target with files is a directory.
        let to = to.map(|to| match files_in(&to).is_empty() {
            true => to,
            false => format!("{to}/{}", from.rsplit('/').next().unwrap_or_default()),
        });
        let mut files = files_in(from);
        if files.is_empty() {
            files.push(from.to_string());
        }
        for path in files {
            if let Some(to) = &to {
                let to = format!("{to}{}", &path[from.len()..]);
                self.shell_change(ShellChange::File('A', to), is_shown);
            }
            if self.facts.files.known(&path).is_some() {
                self.file(Some('D'), path, Some(false), is_shown);
            }
        }
    }

    /// The known files at or in a path; if they are to be reverted, those that were changed.
    fn known_files_in(&self, path: &str, reverts: bool) -> Vec<String> {
        let is_inside = |name: &str| {
            let rest = name.strip_prefix(path);
            path == "." && !name.starts_with('/')
                || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let chosen = self
            .facts
            .files
            .unordered()
            .filter(|(name, file)| is_inside(name) && (!reverts || file.change.is_some()));
        chosen.map(|(name, _)| name.to_string()).collect()
    }
}
