//! What files next to an input say of its session.

use super::info::SessionInfo;
use std::collections::{HashMap, HashSet};

/// Facts of files next to an input. They are read and not written; what the input itself says comes first.
#[derive(Debug, Default)]
pub struct Sidecar {
    /// The session.
    pub info: SessionInfo,
    /// Further members of what the header keeps of the format.
    pub notes: Vec<(&'static str, Vec<u8>)>,
    /// Times in RFC 3339, by what the codec knows a message by.
    pub times: HashMap<String, String>,
    /// Calls that failed.
    pub failed: HashSet<String>,
}

impl Sidecar {
    /// Adds what an input does not say of its main session, or of one beside it.
    pub fn complete(&self, info: &mut SessionInfo, is_aside: bool) {
        let (own, other) = (&mut info.workspace, &self.info.workspace);
        for (own, other) in [
            (&mut own.cwd, &other.cwd),
            (&mut own.branch, &other.branch),
            (&mut own.model, &other.model),
        ] {
            *own = own.take().or_else(|| other.clone());
        }
        info.id = info.id.take().or_else(|| self.info.id.clone());
        if !is_aside {
            info.title = info.title.take().or_else(|| self.info.title.clone());
            info.created = info.created.take().or_else(|| self.info.created.clone());
            info.lineage = info.lineage.take().or_else(|| self.info.lineage.clone());
        }
    }
}
