//! Options of a split.

use std::time::Duration;

/// Conditions, each of which ends a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitConditions {
    /// Maximum messages of a part, copied ones included.
    pub max_messages: Option<u64>,
    /// Maximum tokens of a part, copied messages included.
    pub max_tokens: Option<u64>,
    /// Ids of messages at which a part begins.
    pub at: Vec<String>,
    /// A pause of at least this duration.
    pub gap: Option<Duration>,
    /// The end of a local day.
    pub per_day: bool,
    /// Number of exchanges.
    pub every_turns: Option<u64>,
}

/// Which earlier messages are copied to the beginning of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyPolicy {
    /// Messages of category system, so that every part can be sent as it is.
    #[default]
    System,
    /// Messages of category system and context.
    Context,
    /// Nothing.
    None,
}
