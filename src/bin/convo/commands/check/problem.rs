//! A violation as reports print it.

use convo::check::Level;

/// A violation as reports print it.
pub struct Problem<'c> {
    /// The API, `structure`, or `rules`.
    pub api: &'static str,
    pub rule: &'c str,
    pub level: Level,
    pub message: &'c str,
    /// The repair, if there can be one.
    pub fix: Option<&'static str>,
    /// The element.
    pub index: Option<usize>,
    /// The item of the view.
    pub item: Option<usize>,
}
