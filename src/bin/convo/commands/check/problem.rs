//! A violation as it is reported.

use convo::check::Severity;

/// A violation as it is reported.
pub struct CheckProblem<'c> {
    /// The API, `structure`, or `rules`.
    pub api: &'static str,
    pub rule: &'c str,
    pub level: Severity,
    pub message: &'c str,
    /// The repair, if one is possible.
    pub fix: Option<&'static str>,
    /// Index of the element in the request.
    pub index: Option<usize>,
    /// Index of the item in the view.
    pub item: Option<usize>,
}
