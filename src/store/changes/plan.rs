//! Planned changes of files.

use crate::error::Result;
use std::io::Write;
use std::path::PathBuf;

/// Writes the new content of a file; must write the same on each call.
pub type WriteNewContent<'c> = Box<dyn Fn(&mut dyn Write) -> Result<()> + 'c>;

/// The planned changes, in the order in which they are applied.
#[derive(Default)]
pub struct PlannedChanges<'c> {
    /// Files by their current paths, with their new content.
    pub writes: Vec<(PathBuf, WriteNewContent<'c>)>,
    /// Directories to create.
    pub makes: Vec<PathBuf>,
    /// Files and directories with their new paths, which must not exist.
    pub moves: Vec<(PathBuf, PathBuf)>,
    /// Directories to remove if they are empty.
    pub removes: Vec<PathBuf>,
}

impl PlannedChanges<'_> {
    /// Whether the plan is empty.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.moves.is_empty()
    }
}
