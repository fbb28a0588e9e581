//! From an operand to sessions: opens inputs, selects sessions and reads them one by one.

pub mod chain_reader;
pub mod file_discovery;
pub mod follow;
pub mod open;
pub mod opencode_dir;
pub mod quiet;
mod reading;
pub mod regular;
pub mod selection;
mod sessions;
pub mod source;
pub mod stdin_messages;

pub use reading::Reading;
pub use sessions::{InputSessions, each_session, each_session_and_format, report_and_continue};
