//! How a session compares with its target.

/// How a session compares with its target.
#[derive(Debug)]
pub enum TargetState {
    New,
    There,
    /// The target has the beginning of the session; the update appends the rest.
    Grown(TargetUpdate),
    Other,
}

/// The lines to append.
#[derive(Debug, Default)]
pub struct TargetUpdate {
    pub lines: Vec<Vec<u8>>,
    /// Expected size of the session in bytes before the append.
    pub length: u64,
}
