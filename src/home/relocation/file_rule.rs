//! A rule for the members of files that refer to a project.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEncoding {
    /// A JSON value per line. Other lines are unchanged.
    Lines,
    /// A JSON document.
    Document,
    /// The path and a line ending.
    Text,
}

/// A rule for files and their members.
#[derive(Debug)]
pub struct FileRule {
    /// A pattern of their paths, relative to the base of the home.
    pub files: &'static str,
    /// Their encoding; also applies to compressed files.
    pub shape: FileEncoding,
    /// The record types to which the rule applies; empty for all.
    pub types: &'static [&'static str],
    /// Paths of the members: `*` is each element of a list, `{}` each name in an object. A rule without members keeps
    /// later rules from its files.
    pub members: &'static [&'static str],
}
