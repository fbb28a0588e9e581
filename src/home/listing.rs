//! Names in directories, and patterns for them.

use crate::error::reason;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::DirEntry;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the paths below a root that match a pattern; the root itself if the pattern is empty.
pub(super) fn matching(root: &Path, pattern: &str, problems: &mut Vec<(PathBuf, String)>) -> Vec<PathBuf> {
    let mut found = vec![root.to_path_buf()];
    let mut components = pattern
        .split('/')
        .filter(|component| !component.is_empty())
        .peekable();
    while let Some(component) = components.next() {
        let is_last = components.peek().is_none();
        let mut next = Vec::new();
        for dir in found {
            if !component.contains('*') {
                next.push(dir.join(component));
                continue;
            }
            let inner = listed(&dir, is_last, problems).into_iter();
            next.extend(
                inner
                    .filter(|name| fits(name, component))
                    .map(|name| dir.join(name)),
            );
        }
        found = next;
    }
    found
}

/// Whether a relative path matches a pattern.
pub(super) fn is_match(path: &Path, pattern: &str) -> bool {
    let components = pattern.split('/').filter(|component| !component.is_empty());
    path.components().count() == components.clone().count()
        && path
            .iter()
            .zip(components)
            .all(|(name, component)| fits(name, component))
}

/// Returns the names in a directory, sorted; empty if it does not exist.
pub(super) fn names(dir: &Path, problems: &mut Vec<(PathBuf, String)>) -> Vec<OsString> {
    listed(dir, true, problems)
}

/// Like [`names`], optionally without files.
fn listed(dir: &Path, with_files: bool, problems: &mut Vec<(PathBuf, String)>) -> Vec<OsString> {
    let read = std::fs::read_dir(dir).and_then(|entries| {
        entries
            .filter(|entry| {
                let is_file = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
                with_files || !entry.as_ref().is_ok_and(is_file)
            })
            .map(|entry| Ok(entry?.file_name()))
            .collect::<std::io::Result<Vec<_>>>()
    });
    match read {
        Ok(mut names) => {
            names.sort();
            names
        }
        Err(error) => {
            if !is_absent(&error) {
                problems.push((dir.to_path_buf(), reason(&error)));
            }
            Vec::new()
        }
    }
}

/// A cache of directory listings, because sidecars of many sessions share a directory.
#[derive(Debug, Default)]
pub struct Directories(HashMap<PathBuf, Option<Vec<OsString>>>);

impl Directories {
    /// Returns the names in a directory that match a pattern, sorted; only the pattern if the directory cannot be read.
    pub(super) fn matching(
        &mut self,
        dir: &Path,
        pattern: &str,
        problems: &mut Vec<(PathBuf, String)>,
    ) -> Vec<OsString> {
        let is_plain = !pattern.contains('*');
        if !self.0.contains_key(dir) {
            let mut found = Vec::new();
            let names = names(dir, &mut found);
            self.0
                .insert(dir.to_path_buf(), found.is_empty().then_some(names));
            problems.extend(found.into_iter().filter(|_| !is_plain));
        }
        match self.0.get(dir) {
            Some(Some(names)) => {
                let beginning = pattern.split('*').next().unwrap_or_default().as_bytes();
                let first = names.partition_point(|name| name.as_bytes() < beginning);
                let candidates = names[first..].iter();
                let candidates = candidates.take_while(|name| name.as_bytes().starts_with(beginning));
                candidates.filter(|name| fits(name, pattern)).cloned().collect()
            }
            _ if is_plain => vec![OsString::from(pattern)],
            _ => Vec::new(),
        }
    }
}

/// Whether a name matches a pattern in which `*` matches any characters, but not a leading dot.
pub(super) fn fits(name: &OsStr, pattern: &str) -> bool {
    let (mut rest, mut parts) = (name.as_bytes(), pattern.split('*'));
    let first = parts.next().unwrap_or_default();
    if first.is_empty() && rest.starts_with(b".") {
        return false;
    }
    let Some(after) = rest.strip_prefix(first.as_bytes()) else {
        return false;
    };
    rest = after;
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match memchr::memmem::find(rest, part.as_bytes()) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last.as_bytes())
}

/// Whether a path does not exist, or lies behind a file.
pub(super) fn is_absent(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns() {
        for (name, pattern, expected) in [
            ("rollout-1.jsonl", "rollout-*.jsonl", true),
            ("rollout-1.jsonl.zst", "rollout-*.jsonl", false),
            ("x_y.jsonl", "*_*.jsonl", true),
            ("xy.jsonl", "*_*.jsonl", false),
            ("a", "a", true),
            ("ab", "a", false),
            (".hidden", "*", false),
            (".jsonl", "*.jsonl", false),
        ] {
            assert_eq!(fits(OsStr::new(name), pattern), expected, "{name} {pattern}");
        }
    }
}
