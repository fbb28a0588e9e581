//! Of what other session a session is a piece or a copy, as `metadata.lineage` of its header says.

use super::json;
use super::session::Session;

/// What a session says of the one that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// How it comes from it: `branch`, `sidechain`, `fork`, `child`, `split`.
    pub kind: String,
    /// The id of the other session.
    pub parent: Option<String>,
    /// The id of the message behind which it begins.
    pub at: Option<String>,
    /// Which part of the other session it is, and of how many.
    pub part: Option<(usize, usize)>,
}

/// What stands beside the course that a session took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aside {
    /// A course that was left: an edited question, a second try. It begins behind a message of another session.
    Branch,
    /// What another model did meanwhile, as a subagent does.
    Sidechain,
}

impl Lineage {
    /// What a session says; none when it comes from no other one.
    pub fn of(session: &Session) -> Option<Lineage> {
        let header = session.header();
        let (_, metadata) = header.iter().find(|(name, _)| name == "metadata")?;
        Lineage::of_metadata(metadata)
    }

    /// The same for a header line.
    pub fn of_header(line: &[u8]) -> Option<Lineage> {
        Lineage::of_metadata(json::member(line, "metadata")?)
    }

    fn of_metadata(metadata: &[u8]) -> Option<Lineage> {
        let lineage = json::member(metadata, "lineage")?;
        let text = |name| {
            json::member(lineage, name)
                .and_then(json::text)
                .map(|text| text.into_owned())
        };
        let number = |name| -> Option<usize> {
            let digits = std::str::from_utf8(json::member(lineage, name)?).ok()?;
            digits.parse().ok()
        };
        Some(Lineage {
            kind: text("kind").unwrap_or_default(),
            parent: text("parent"),
            at: text("at"),
            part: number("part").zip(number("parts")),
        })
    }

    /// What it is beside its parent; none of one that stands for itself, as a fork does.
    pub fn aside(&self) -> Option<Aside> {
        Aside::of_kind(&self.kind)
    }
}

impl Aside {
    /// The same for a kind of lineage.
    pub fn of_kind(kind: &str) -> Option<Aside> {
        match kind {
            "branch" => Some(Aside::Branch),
            "sidechain" => Some(Aside::Sidechain),
            _ => None,
        }
    }
}
