//! The times of the lines of a session.

use super::{Class, Session};
use crate::model::json;

impl Session {
    /// The latest time in any line, as written.
    pub fn newest_time(&self) -> Option<String> {
        self.time(self.newest_timed()?)
    }

    /// The line with the latest time.
    pub(in crate::model) fn newest_timed(&self) -> Option<usize> {
        (0..self.len()).rev().find(|index| self.time(*index).is_some())
    }

    /// The time of a line.
    fn time(&self, index: usize) -> Option<String> {
        let name = match self.lines[index].class {
            Class::Message(_) if self.lines[index].is_timed() => "timestamp",
            Class::Event => "at",
            Class::Header => "created_at",
            Class::Message(_) | Class::Unreadable | Class::Blank => return None,
        };
        json::member_string(self.body(index), name)
    }
}
