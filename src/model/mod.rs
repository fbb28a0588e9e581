//! The data model: messages, events, sessions and views. No file access and no knowledge of other formats.
//!
//! ```
//! use convo::model::{session::Session, view::View};
//!
//! let mut session = Session::default();
//! session.push_new(br#"{"role":"user","content":"hi","id":"m1"}"#);
//! session.push_new(br#"{"role":"assistant","content":"hello","id":"m2"}"#);
//! session.push_new(br#"{"type":"truncate","id":"e1","before":"m2"}"#);
//! assert_eq!(session.messages().count(), 2);
//! assert_eq!(View::replay(&session).items.len(), 1);
//! ```

pub mod calls;
pub mod chain;
mod derived;
pub mod display_role;
pub mod event;
pub mod exchange;
pub mod header;
pub mod health;
pub mod key;
pub mod lineage;
pub mod message;
pub(crate) mod named_enum;
pub mod note;
pub mod partial_lines;
pub mod partial_session;
pub mod record;
pub mod reduced;
pub mod replay;
pub mod retention;
pub mod scope;
pub mod session;
pub mod source_bytes;
pub mod stats;
pub mod summary;
pub mod threads;
pub mod time;
pub mod title;
pub mod view;
pub mod visible;

/// The scanner of raw JSON: `crates/json/`.
pub use convo_json as json;
