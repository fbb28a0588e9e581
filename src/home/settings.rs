//! The settings of a home.

use super::places::Home;
use super::retention::Retention;
use super::{claude_code, gemini_cli};

impl Home {
    /// Returns how long sessions are kept; `None` if the program keeps all, or is not known to delete any.
    pub fn retention(&self) -> Option<Retention> {
        match self.program.name {
            "claude-code" => Some(claude_code::retention(self.root.parent()?)),
            "gemini-cli" => gemini_cli::retention(self.root.parent()?),
            _ => None,
        }
    }
}
