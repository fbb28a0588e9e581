//! From an operand to sessions: opens inputs, selects sessions and reads them one by one.

pub mod chain_reader;
pub mod file_discovery;
pub mod follow;
mod input_settings;
pub mod input_source;
pub mod open;
pub mod opencode_dir;
pub mod operands;
pub mod quiet;
pub mod regular;
pub mod selection;
mod sessions;
pub mod stdin_messages;

pub use input_settings::InputSettings;
pub use sessions::{InputSessions, each_session, each_session_and_format, report_and_continue};
