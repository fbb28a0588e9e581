//! Formats whose lines have an id and name the line before them, so that they can be processed without conversion.

/// The members that identify the lines of a format.
#[derive(Clone, Copy, Debug)]
pub struct LineKeys {
    /// Member with the id of a line.
    pub id: &'static str,
    /// Member with the id of the session, in the first line or in every line.
    pub session: &'static str,
    /// Member with the time of a line.
    pub time: &'static str,
    /// Member that only message lines have.
    pub message: &'static str,
    /// Types of lines without an id that record the current state; the last one of each type is effective.
    pub states: &'static [&'static str],
}
