//! The changes that a move of a project needs in a home.

use super::file_rule::FileRule;
use super::renames::Renames;
use super::rewrite::RenameCounts;
use std::path::{Path, PathBuf};

/// Paths that cannot be read, and the reasons.
pub type Problems = Vec<(PathBuf, String)>;

/// A file whose members refer to the project.
#[derive(Debug)]
pub struct RelocationChange {
    /// The current path of the file.
    pub path: PathBuf,
    /// The rule that selects the members.
    pub rule: &'static FileRule,
    /// The number of references per member.
    pub counts: RenameCounts,
}

/// The changes in a home.
#[derive(Debug, Default)]
pub struct HomePlan {
    /// Files to rewrite.
    pub files: Vec<RelocationChange>,
    /// Directories to create.
    pub makes: Vec<PathBuf>,
    /// Files and directories to move.
    pub moves: Vec<(PathBuf, PathBuf)>,
    /// Directories to remove if they are empty afterwards.
    pub removes: Vec<PathBuf>,
    /// Databases that contain the path of the project.
    pub databases: Vec<PathBuf>,
    /// Files that refer to the project, or may, but cannot be changed, with the reasons.
    pub left: Vec<(PathBuf, String)>,
    /// The old and new paths as written in files.
    pub renames: Renames,
}

impl HomePlan {
    /// Whether the plan is empty.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.moves.is_empty()
    }

    /// Returns the location of a path after the moves.
    pub fn moved(&self, path: &Path) -> PathBuf {
        let moved = self.moves.iter().find_map(|(from, to)| {
            let below = path.strip_prefix(from).ok()?;
            Some(match below.as_os_str().is_empty() {
                true => to.clone(),
                false => to.join(below),
            })
        });
        moved.unwrap_or_else(|| path.to_path_buf())
    }
}
