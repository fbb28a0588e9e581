//! What a source says about its session.

use crate::format::workspace::Workspace;

/// What a source says about its session.
#[derive(Debug, Default)]
pub struct SessionInfo {
    /// Its id.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// When it began, in RFC 3339.
    pub created: Option<String>,
    /// Its directory, branch and model.
    pub workspace: Workspace,
    /// The session that it belongs to.
    pub lineage: Option<Lineage>,
}

/// Where a session belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// A word of the record stream: `branch`, `sidechain`, `fork` or `child`.
    pub kind: &'static str,
    /// The id of the session that it belongs to.
    pub parent: String,
    /// The id of the message there that it follows.
    pub at: Option<String>,
}
