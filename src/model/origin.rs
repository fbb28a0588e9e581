//! Where a session of another format came from: the bytes of it, so that what was not changed is written back as it
//! was.

/// A piece of an input that became one session, or several: an element of an array, a line, a whole log.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// What stood between it and the piece before, as a comma.
    pub lead: Vec<u8>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}
