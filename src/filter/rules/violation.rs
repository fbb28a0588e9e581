//! A violation of a rule.

/// A violation: the item of the view that it is about, if there is one, and a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The item of the view.
    pub item: Option<usize>,
    /// The difference between the rule and the session.
    pub message: String,
}

impl Violation {
    pub(super) fn new(item: Option<usize>, message: impl Into<String>) -> Violation {
        Violation {
            item,
            message: message.into(),
        }
    }
}
