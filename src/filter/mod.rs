//! Transformations of sessions, without input or output. A filter plans a change as lines to append to the log; a
//! stream instead prints the session with the change applied.
//!
//! ```
//! use convo::filter::sieve::fingerprint;
//! use convo::model::{session::Session, view::View};
//!
//! let of = |line: &str| {
//!     let mut session = Session::default();
//!     session.push_new(line.as_bytes());
//!     fingerprint(&session, &View::replay(&session))
//! };
//! assert_eq!(of(r#"{"role":"user","content":"hi","id":"m1"}"#), of(r#"{"role":"user","content":"hi","id":"m2"}"#));
//! ```

mod appended;
pub mod branch;
pub mod compact;
pub mod compat;
pub mod continuation;
mod copies;
pub mod diff;
pub mod drop;
pub mod dropped;
pub mod expand;
pub mod fork;
pub mod gc;
pub mod join;
pub mod materialize;
pub mod merge;
pub mod metadata;
pub mod overview;
mod phrase;
pub mod promotion;
pub mod redact;
pub mod repair;
pub mod reply;
pub mod restore;
pub mod retention;
pub mod rules;
pub mod select;
mod shell_command;
pub mod sieve;
pub mod split;
pub mod stable;
pub mod summarize;
pub mod summarize_range;
#[cfg(test)]
mod tests;
pub mod toml_error;
pub mod truncate;
pub mod usage;

pub use crate::model::event::Stamp;

/// The planned change of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// No change, with the reason.
    Nothing(String),
    /// The change is impossible; a stream keeps every line unchanged.
    Refused(String),
    /// The lines to append, without newlines, and a short description.
    Lines(Vec<Vec<u8>>, String),
}
