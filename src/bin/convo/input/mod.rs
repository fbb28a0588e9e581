//! From an operand to sessions: how an input is read, which of its sessions are selected, one after another.

mod reading;
pub mod selection;
mod sessions;

pub use reading::Reading;
pub use sessions::{InputSessions, each_session, each_session_and_format, report_and_continue};
