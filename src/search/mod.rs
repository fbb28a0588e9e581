//! Search in the text of sessions: patterns, the bytes that decide whether an input is decoded, and the lines that match.
//!
//! ```
//! use convo::search::{Pattern, PatternOptions};
//!
//! let pattern = Pattern::new("retry", PatternOptions::default())?;
//! let mut lines = Vec::new();
//! pattern.lines("one\nRetry-After: 3\ntwo", |number, line, _| {
//!     lines.push((number, line.to_string()));
//!     true
//! });
//! assert_eq!(lines.len(), 1);
//! # convo::Result::Ok(())
//! ```

mod find;
mod literal;
mod pattern;
mod prefilter;
mod rank;
mod texts;

pub use find::{FoundText, Query, TextLine, find};
pub use pattern::{Case, Pattern, PatternOptions};
pub use prefilter::Prefilter;
pub use rank::{Question, Ranked, TermCounts, rank};
pub use texts::TextKind;
