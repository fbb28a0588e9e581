//! The settings of a home.

use super::places::Home;
use super::retention::Retention;
use super::{claude_code, gemini_cli};

impl Home {
    /// Returns how long sessions are kept, by the settings of the home and of these projects; `None` if the program
    /// keeps all, or is not known to delete any.
    pub fn retention<'p>(&self, projects: impl Iterator<Item = &'p str>) -> Option<Retention> {
        match self.program.name {
            "claude-code" => Some(claude_code::retention(self.root.parent()?, projects)),
            "gemini-cli" => gemini_cli::retention(self.root.parent()?),
            _ => None,
        }
    }
}
