//! Plans a project move: finds references to its directory in the homes of programs, and the changes they need.

mod dirs;
mod file_rule;
mod plan;
mod renames;
mod rewrite;
mod rules;

pub use file_rule::FileRule;
pub use plan::{HomePlan, RelocationChange};
pub use renames::Renames;
pub use rewrite::{RenameCounts, rewrite};

use super::listing::{is_absent, matching};
use super::places::Home;
use crate::error::{Error, ErrorKind, Result, reason};
use dirs::ProjectDirs;
use plan::Problems;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

impl HomePlan {
    /// Plans the changes of a home for a move from one directory to another; both are absolute paths.
    ///
    /// # Errors
    /// [`ErrorKind::InputOutput`] for files that cannot be read, [`ErrorKind::Data`] for documents that cannot be parsed,
    /// [`ErrorKind::Exists`] if a new path already exists.
    pub fn of(home: &Home, old: &str, new: &str) -> Result<HomePlan> {
        let rules = rules::of(home.program.name);
        let mut plan = HomePlan {
            renames: Renames::new(old, new),
            ..HomePlan::default()
        };
        if !rules.left.is_empty() {
            plan.left.push((home.root.clone(), rules.left.to_string()));
        }
        let mut problems = Vec::new();
        let base = home.base();
        for path in databases(home, &mut problems) {
            if names(&path, old)? {
                plan.databases.push(path);
            }
        }
        match rules.dirs {
            ProjectDirs::None => {}
            ProjectDirs::Slug(slug) => slug.plan(home, &mut plan, &mut problems)?,
            ProjectDirs::Hash(parents) => dirs::hashed(base, parents, &mut plan)?,
        }
        let files = files(base, rules.files, &mut problems);
        if let Some((path, why)) = problems.into_iter().next() {
            return Err(Error::new(
                ErrorKind::InputOutput,
                format!("{}: {why}", path.display()),
            ));
        }
        for (path, rule) in files {
            let counts = rewrite(&path, rule, &plan.renames, &mut std::io::sink())?;
            for new in &counts.taken {
                plan.left.push((path.clone(), format!("has {new}, too")));
            }
            if !counts.members.is_empty() {
                plan.files.push(RelocationChange { path, rule, counts });
            }
        }
        Ok(plan)
    }
}

/// Returns the databases of a home that may contain project paths.
fn databases(home: &Home, problems: &mut Problems) -> Vec<PathBuf> {
    let patterns = rules::of(home.program.name).databases.iter();
    if let Some(database) = &home.database {
        return vec![database.clone()];
    }
    patterns
        .flat_map(|pattern| matching(home.base(), pattern, problems))
        .collect()
}

/// Whether a log next to a database contains changes: its program is running or was killed.
///
/// # Errors
/// [`ErrorKind::InputOutput`] if the log cannot be examined.
pub fn has_log(database: &Path) -> Result<bool> {
    for ending in ["-wal", "-journal"] {
        let mut log = database.as_os_str().to_os_string();
        log.push(ending);
        match Path::new(&log).metadata() {
            Ok(about) if about.len() > 0 => return Ok(true),
            Err(error) if !is_absent(&error) => {
                return Err(Error::io(database.display(), error).kind(ErrorKind::InputOutput));
            }
            _ => {}
        }
    }
    Ok(false)
}

/// Returns the files to which rules apply, each once.
fn files(
    base: &Path,
    rules: &'static [FileRule],
    problems: &mut Problems,
) -> Vec<(PathBuf, &'static FileRule)> {
    let mut found: Vec<(PathBuf, &FileRule)> = Vec::new();
    let mut known = HashSet::new();
    for rule in rules {
        let (base, pattern) = match rule.files.strip_prefix("../") {
            None => (base, rule.files),
            // Only the default home has files next to it.
            Some(pattern) if base.ends_with(".claude") => (base.parent().unwrap_or(base), pattern),
            Some(_) => continue,
        };
        for path in matching(base, pattern, problems) {
            match path.symlink_metadata() {
                Ok(about) if about.is_file() && known.insert(path.clone()) && !rule.members.is_empty() => {
                    found.push((path, rule));
                }
                Err(error) if !is_absent(&error) => problems.push((path, reason(&error))),
                _ => {}
            }
        }
    }
    found
}

/// Whether a database or its log contains this path.
fn names(path: &Path, old: &str) -> Result<bool> {
    let mut log = path.as_os_str().to_os_string();
    log.push("-wal");
    for path in [path, Path::new(&log)] {
        match File::open(path).and_then(|file| has(file, old.as_bytes())) {
            Ok(true) => return Ok(true),
            Err(error) if !is_absent(&error) => {
                return Err(Error::io(path.display(), error).kind(ErrorKind::InputOutput));
            }
            _ => {}
        }
    }
    Ok(false)
}

/// Whether a file of any size contains these bytes.
fn has(mut file: impl Read, wanted: &[u8]) -> io::Result<bool> {
    let mut block = vec![0; (1 << 20) + wanted.len()];
    let mut kept = 0;
    loop {
        let read = match file.read(&mut block[kept..]) {
            Ok(0) => return Ok(false),
            Ok(read) => kept + read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if memchr::memmem::find(&block[..read], wanted).is_some() {
            return Ok(true);
        }
        // The bytes may span two blocks.
        let rest = read.min(wanted.len());
        block.copy_within(read - rest..read, 0);
        kept = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_across_blocks() {
        let block = (1 << 20) + 4;
        for before in [0, 1, block - 6, block - 2, block - 1, block, 3 * block - 2] {
            let text = [&vec![b'.'; before][..], b"/src", &[b'.'; 9]].concat();
            assert!(has(text.as_slice(), b"/src").unwrap(), "{before}");
            assert!(!has(text.as_slice(), b"/srd").unwrap(), "{before}");
        }
    }
}
