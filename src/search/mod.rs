//! Search in the text of sessions: patterns, the bytes that decide whether an input is decoded, and the lines that match.

mod find;
mod literal;
mod pattern;
mod prefilter;
mod rank;
mod texts;

pub use find::{Found, Line, Query, find};
pub use pattern::{Case, Pattern, Settings};
pub use prefilter::Prefilter;
pub use rank::{Counted, Question, Ranked, rank};
pub use texts::Part;
