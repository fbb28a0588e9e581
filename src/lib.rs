//! Reads, converts, changes and stores conversations of language models as streams of records.
//!
//! Data flows through these stages:
//!
//! ```text
//! bytes -> detect -> reader -> records -> filter -> writer -> bytes
//! ```
//!
//! - [`model`] defines a conversation: records over their own bytes, the view that results from replaying them, and the
//!   places where it can be cut. It does not depend on files or formats.
//! - [`format`](mod@format) turns bytes into records and back: one codec per format.
//! - [`check`](mod@check) checks a conversation against the rules of a provider, and repairs it.
//! - [`filter`] changes sessions, without input or output.
//! - [`home`] finds the sessions of other programs.
//! - [`search`] finds lines in the text of sessions.
//! - [`tokens`] counts the tokens of texts and messages.
//! - [`store`] stores sessions as append-only logs, each under a name.
//! - [`error`] defines the errors and their exit statuses.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::unwrap_used, missing_docs))]

#[forbid(unsafe_code)]
pub mod check;
#[forbid(unsafe_code)]
pub mod error;
#[forbid(unsafe_code)]
pub mod filter;
#[forbid(unsafe_code)]
pub mod format;
#[forbid(unsafe_code)]
pub mod home;
#[forbid(unsafe_code)]
pub mod model;
#[forbid(unsafe_code)]
pub mod search;
// Denied here too, with two exceptions: `store/open_writers.rs` and `store/mark.rs`.
pub mod store;
#[forbid(unsafe_code)]
pub mod tokens;

#[cfg(test)]
#[path = "../tests/sample_data.rs"]
mod sample_data;

pub use error::{Error, Result};
