//! Session information in companion files.

use super::info::SessionInfo;
use std::collections::{HashMap, HashSet};

/// Information from companion files. They are read but not written; the input itself takes precedence.
#[derive(Debug, Default)]
pub struct Sidecar {
    /// Session information.
    pub info: SessionInfo,
    /// Further members for the format's metadata in the header.
    pub notes: Vec<(&'static str, Vec<u8>)>,
    /// Times in RFC 3339, by the codec's key of a message.
    pub times: HashMap<String, String>,
    /// Ids of failed calls.
    pub failed: HashSet<String>,
}

impl Sidecar {
    /// Adds information that the input lacks about its main session or a side session.
    pub fn complete(&self, info: &mut SessionInfo, is_side_session: bool) {
        let (own, other) = (&mut info.workspace, &self.info.workspace);
        for (own, other) in [
            (&mut own.cwd, &other.cwd),
            (&mut own.branch, &other.branch),
            (&mut own.model, &other.model),
        ] {
            *own = own.take().or_else(|| other.clone());
        }
        info.id = info.id.take().or_else(|| self.info.id.clone());
        if !is_side_session {
            info.title = info.title.take().or_else(|| self.info.title.clone());
            info.created = info.created.take().or_else(|| self.info.created.clone());
            info.lineage = info.lineage.take().or_else(|| self.info.lineage.clone());
        }
    }
}
