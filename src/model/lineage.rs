//! The relation of a session to the session that it was derived from, stored in `metadata.lineage` of its header.

use super::json;
use super::named_enum::named_enum;
use super::session::Session;

/// Origin of a session that was derived from another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// The relation: `branch`, `sidechain`, `fork`, `child` or `split`.
    pub kind: String,
    /// Id of the parent session.
    pub parent: Option<String>,
    /// Id of the parent's message after which this session begins.
    pub at: Option<String>,
    /// For a part of a split session: its number and the number of parts.
    pub part: Option<(usize, usize)>,
}

named_enum! {
    /// A side branch of a session, by the kind of its lineage.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum SideBranch {
        /// An inactive branch after an edit or retry. It begins after a message of the parent session.
        Branch = "branch",
        /// The messages of another model, such as a subagent.
        Sidechain = "sidechain",
    }
}

impl Lineage {
    /// The lineage of a session, if it has one.
    pub fn of(session: &Session) -> Option<Lineage> {
        Lineage::of_metadata(session.header_member("metadata")?)
    }

    /// The lineage in a header line.
    pub fn of_header(line: &[u8]) -> Option<Lineage> {
        Lineage::of_metadata(json::member(line, "metadata")?)
    }

    fn of_metadata(metadata: &[u8]) -> Option<Lineage> {
        let lineage = json::member(metadata, "lineage")?;
        let text = |name| json::member_string(lineage, name);
        let number = |name| json::number(json::member(lineage, name)?);
        Some(Lineage {
            kind: text("kind").unwrap_or_default(),
            parent: text("parent"),
            at: text("at"),
            part: number("part").zip(number("parts")),
        })
    }

    /// The kind of side branch; `None` for an independent session, such as a fork.
    pub fn side_branch(&self) -> Option<SideBranch> {
        SideBranch::from_name(&self.kind)
    }
}
