//! Conversations of language models as a stream of records, and as a store that loses nothing.
//!
//! The way of the data is
//!
//! ```text
//! bytes -> detect -> reader -> records -> filter -> writer -> bytes
//! ```
//!
//! - [`model`] says what a conversation is: records over their own bytes, the view that replays them, what may
//!   be cut where. It knows no file and no format.
//! - [`format`](mod@format) turns bytes into records and back: one file a format.
//! - [`check`](mod@check) says what a provider takes of a conversation, and repairs it.
//! - [`filter`] changes sessions, without input or output.
//! - [`home`] knows where other programs keep their sessions.
//! - [`search`] finds lines in the text of sessions.
//! - [`tokens`] counts what text and messages cost.
//! - [`store`] keeps sessions under a name.
//! - [`error`] is what can go wrong, and the exit status that tells it.
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
// Denied here too, but for the one file that asks the kernel for leases: `store/lease.rs`.
pub mod store;
#[forbid(unsafe_code)]
pub mod tokens;

#[cfg(test)]
#[path = "../tests/sample_data.rs"]
mod sample_data;

pub use error::{Error, Result};
