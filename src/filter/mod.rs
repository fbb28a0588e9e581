//! Sessions to sessions, without input or output. A change is planned as lines that are appended to the log;
//! a stream shows the result as a value: the session as if it had always been so.
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
pub mod cover;
pub mod diff;
pub mod drop;
pub mod dropped;
pub mod expand;
pub mod fork;
pub mod gc;
pub mod join;
pub mod memory;
pub mod merge;
pub mod metadata;
pub mod overview;
mod phrase;
pub mod promotion;
pub mod redact;
pub mod repair;
pub mod reply;
pub mod restore;
pub mod rules;
pub mod select;
pub mod settle;
pub mod sieve;
pub mod split;
pub mod stable;
pub mod summarize;
#[cfg(test)]
mod tests;
mod toml_error;
pub mod truncate;
pub mod usage;

/// What a filter found to do with one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Nothing, and why.
    Nothing(String),
    /// Nothing since it cannot be done: a stream keeps every line as it came.
    Refused(String),
    /// The lines to append, without their newlines, and what they do in a few words.
    Lines(Vec<Vec<u8>>, String),
}

/// Id and time of an event that is being made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// `evt_` and 16 hex digits.
    pub id: String,
    /// RFC 3339.
    pub at: String,
}
