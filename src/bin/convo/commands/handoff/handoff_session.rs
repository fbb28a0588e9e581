//! A session that is ready for another program.

use convo::format::Format;
use convo::home::{AcceptMode, HomeProgram};

/// A session that is ready for another program.
pub struct HandoffSession<'r> {
    pub to: &'static HomeProgram,
    pub from: Format,
    pub id: String,
    pub project: String,
    pub model: Option<&'r str>,
    pub bytes: Vec<u8>,
    pub losses: Vec<(String, u64)>,
    pub takes: AcceptMode,
    pub resume: Option<String>,
}
