//! The working directory, Git branch and model of a session. They are members of the header's metadata that every
//! format reads and writes, so that conversions preserve them.

use super::request::request_part::extra_members;
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::Session;
use crate::model::view::View;

/// The directory of a session without one: absolute on every machine, and not specific to a user.
pub const NO_DIRECTORY: &[u8] = b"\"/\"";

/// Names in `metadata`.
const MEMBERS: [(&str, WorkspaceMember); 4] = [
    ("cwd", WorkspaceMember::Directory),
    ("git_branch", WorkspaceMember::Branch),
    ("model", WorkspaceMember::Model),
    ("tools", WorkspaceMember::Tools),
];

/// One of these members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceMember {
    /// The working directory.
    Directory,
    /// The Git branch.
    Branch,
    /// The model of the session.
    Model,
    /// The definitions of its tools.
    Tools,
}

/// The three members as raw JSON; each is a string that is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    /// The working directory.
    pub cwd: Option<Vec<u8>>,
    /// The Git branch.
    pub branch: Option<Vec<u8>>,
    /// The model.
    pub model: Option<Vec<u8>>,
}

impl Workspace {
    /// From the members of a file.
    pub fn new(cwd: Option<&[u8]>, branch: Option<&[u8]>, model: Option<&[u8]>) -> Workspace {
        Workspace {
            cwd: filled(cwd),
            branch: filled(branch),
            model: filled(model),
        }
    }

    /// Adds the members to the metadata of a header.
    pub fn add_to(&self, metadata: &mut ObjectBuilder) {
        for ((name, _), value) in MEMBERS.iter().zip([&self.cwd, &self.branch, &self.model]) {
            metadata.optional(name, value.as_ref());
        }
    }

    /// The workspace of a session. Headers of older versions have the directory and the branch among the members of
    /// their format.
    pub fn of(session: &Session) -> Workspace {
        let Some(metadata) = session.header_member("metadata") else {
            return Workspace::default();
        };
        let own = |name| json::member(metadata, name);
        let mut workspace = Workspace::new(own("cwd"), own("git_branch"), own("model"));
        for (_, object) in extra_members(metadata, &["lineage"]) {
            let member = |name| filled(json::member(object, name));
            workspace.cwd = workspace.cwd.or_else(|| member("cwd"));
            workspace.branch = workspace.branch.or_else(|| member("gitBranch"));
        }
        workspace
    }

    /// The directory, for a format that requires one.
    pub fn directory(&self) -> &[u8] {
        self.cwd.as_deref().unwrap_or(NO_DIRECTORY)
    }

    /// The model of the session, else that of the last reply.
    pub fn last_model(&self, session: &Session, view: &View) -> Option<Vec<u8>> {
        let answered = || {
            let mut models = view.items.iter().rev().filter_map(|item| {
                let model = json::member(item.body(session), "model");
                filled(model).filter(|model| model != br#""<synthetic>""#)
            });
            models.next()
        };
        self.model.clone().or_else(answered)
    }
}

/// The metadata of a header without the members that a format can represent, and without its member `own`.
pub fn unplaced<'m>(
    metadata: &'m [u8],
    placed: &[WorkspaceMember],
    own: &str,
) -> impl Iterator<Item = std::borrow::Cow<'m, str>> {
    let known: Vec<&str> = MEMBERS
        .iter()
        .filter(|(_, member)| placed.contains(member))
        .map(|(name, _)| *name)
        .chain([own])
        .collect();
    extra_members(metadata, &known).map(|(name, _)| name)
}

fn filled(raw: Option<&[u8]>) -> Option<Vec<u8>> {
    raw.filter(|raw| raw.starts_with(b"\"") && raw.len() > 2)
        .map(<[u8]>::to_vec)
}
