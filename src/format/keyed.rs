//! Formats whose lines have ids, and name the line before them: what works on lines needs no conversion of them.

/// How the lines of a format are known.
#[derive(Clone, Copy, Debug)]
pub struct Keyed {
    /// Member that is the id of a line.
    pub id: &'static str,
    /// Member that is the id of the session, in its first line or in each line.
    pub session: &'static str,
    /// Member that is the time of a line.
    pub time: &'static str,
    /// Member of lines that are messages.
    pub message: &'static str,
    /// Types of lines without an id that hold the present state: the last one of a type counts.
    pub states: &'static [&'static str],
}
