//! The file names of pages.

use crate::model::key;

/// The file names of the pages of a session.
pub struct PageNames {
    base: String,
}

impl PageNames {
    /// For an id. No id contains `~`, so no page has the name of another session's page or of the index.
    pub fn of_id(id: &str) -> PageNames {
        PageNames {
            base: match id {
                "" => "session".to_string(),
                id if key::is_id(id) => id.to_string(),
                id => key::id_for_key(id),
            },
        }
    }

    /// The name of a page, counted from 0.
    pub fn of(&self, page: usize) -> String {
        match (page, self.base.eq_ignore_ascii_case("index")) {
            (0, false) => format!("{}.html", self.base),
            (page, _) => format!("{}~{}.html", self.base, page + 1),
        }
    }
}
