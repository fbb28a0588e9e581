//! Session information in a source.

use crate::format::workspace::Workspace;

/// Session information in a source.
#[derive(Debug, Default)]
pub struct SessionInfo {
    pub id: Option<String>,
    pub title: Option<String>,
    /// Its start time, in RFC 3339.
    pub created: Option<String>,
    /// Its working directory, branch and model.
    pub workspace: Workspace,
    /// The session that it belongs to.
    pub lineage: Option<LineageInfo>,
}

/// The relation of a session to its parent session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineageInfo {
    /// A kind of the native format: `branch`, `sidechain`, `fork` or `child`.
    pub kind: &'static str,
    /// The id of the parent session.
    pub parent: String,
    /// The id of the parent's message that it follows.
    pub at: Option<String>,
}
