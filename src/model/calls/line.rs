//! Lines and arguments of a tool call summary.

use std::borrow::Cow;

/// One line of a call's details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DetailLine {
    /// Text.
    Text(String),
    /// A line that the call adds to a file.
    Added(String),
    /// A line that the call removes from a file.
    Removed(String),
    /// An unchanged line next to a change.
    Same(String),
    /// A note about the lines after it.
    Note(String),
}

/// The arguments of a call, in their order.
pub type CallArguments<'a> = Vec<(Cow<'a, str>, &'a [u8])>;

/// Arguments that are paths.
pub const PATHS: [&str; 7] = [
    "file_path", "path", "filePath", "absolute_path", "notebook_path", "target_file", "filename",
];
