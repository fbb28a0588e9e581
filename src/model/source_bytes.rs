//! The source bytes of a session of another format, so that unchanged parts are written back unchanged.

use std::ops::Range;

/// A section of an input that became one or more sessions: an array element, a line, or a whole log.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SourceBytes {
    /// The bytes between the previous section and this one, such as a comma.
    pub before: Vec<u8>,
    /// The bytes of the section.
    pub bytes: Vec<u8>,
    /// The range in `bytes` that was read as a JSON value; `None` if the section was read as lines.
    pub value: Option<Range<usize>>,
}
