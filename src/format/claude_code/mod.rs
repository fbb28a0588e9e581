//! Claude Code: session logs, whose lines form a tree.
//!
//! Each block of a model message is a line; tool results are lines of the user. The latest message and its ancestors
//! are the main session. Messages abandoned by editing a prompt form a branch, and the messages of an agent a
//! sidechain; these become separate sessions after the main one. A compaction is a boundary line and a summary after
//! it.
//!
//! | `metadata.claude-code` | of | contents |
//! |---|---|---|
//! | `sessionId`, `cwd`, `gitBranch`, `version`, `slug`, `agentId` | header | as in the first line |
//! | `lines` | message, summary | its source lines, with a marker in place of the content |
//! | `raw` | message, summary | the complete source lines, if they cannot be restored from the message |
//! | `parts`, `part` | message | for a line with several messages: their number, and the index of this one |
//!
//! Attachments that are sent to the model are messages: a prompt typed while the agent works is a user message, a
//! memory file is a context message. A report of a failed request is a hidden message, because it is never sent.
//!
//! All other lines are `foreign` events. Logs may contain gigabytes of progress lines; up to 8 MiB are kept, the rest
//! is counted.
//!
//! The format uses the kit's losses, but is not one of its codecs, for the reasons that the module of pi lists: the lines
//! of a file form one tree, which decides what a compaction keeps, and a path is in the order of parents. Besides, the
//! kit keeps every element, and this format omits lines.

mod apply_edits;
mod attachment;
mod blocks;
mod change_plan;
mod encode_new;
mod envelope;
mod insert_lines;
mod line;
mod line_changes;
mod log;
mod parts;
mod record;
mod session;
mod slim;
#[cfg(test)]
mod tests;
mod title;
mod tree;
mod usage;
mod write;
mod write_back;

use super::detect::signature::has_content;
use super::detect::{LineKind, ObjectShape, Signature};
use super::report::{Loss, LossSet, Report};
use super::sessions::{SessionInput, SessionReader};
use super::{FormatSpec, LineKeys, ReadFn, SessionCount};
use crate::error::Result;
use crate::model::session::Session;
use log::ClaudeLog;
use parts::parts;
use record::ReadPurpose;
use session::LogConversion;
use std::collections::VecDeque;
pub use usage::request_id;

/// Claude Code's logs, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: line::NAME,
    about: "Claude Code session log, with branches and sidechains",
    ending: ".jsonl",
    read: ReadFn::Sessions(|input| open(input, ReadPurpose::Write)),
    display: Some(|input| open(input, ReadPurpose::Display)),
    session_count: SessionCount::Many,
    model: Some("MODEL"),
    write: Some(write::write),
    write_back: Some(write_back::write_back),
    unsupported: LossSet::USUAL.without(&[Loss::Timestamp]).with(&[Loss::Message]),
    keyed: Some(LineKeys {
        id: "uuid",
        session: "sessionId",
        time: "timestamp",
        message: "message",
        states: &[
            "custom-title", "ai-title", "agent-name", "last-prompt", "mode", "permission-mode", "pr-link",
            "worktree-state",
        ],
    }),
    note: "Branches (edited prompts) and sidechains (subagents) are sessions after the main one. In place, dropping a record also drops the records that depend on it; a summary is inserted as a compaction of the program, after the messages that it replaces.",
    slims: Some(slim::SLIMMING),
    ..FormatSpec::BLANK
};

/// The signature of a log.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a Claude Code log",
    line: |shape| {
        let typed = shape.is_text("type") && !shape.is_object("payload");
        let ids = ["leafUuid", "parentUuid", "uuid", "messageId", "sessionId"];
        typed && shape.any(&ids) && message(shape) != LineKind::Unknown
    },
    content: message,
    ..Signature::BLANK
};

/// The content of a line; lines of the user and the assistant are messages.
fn message(shape: &ObjectShape<'_>) -> LineKind {
    match shape.text_equals("type", "user") || shape.text_equals("type", "assistant") {
        true => LineKind::known(has_content(&shape.object("message"), "content")),
        false => LineKind::None,
    }
}

/// Opens a log, which is read when its first session is requested.
fn open(input: SessionInput, purpose: ReadPurpose) -> Result<Box<dyn SessionReader>> {
    Ok(Box::new(ClaudeLogReader {
        input: Some(input),
        purpose,
        logs: VecDeque::new(),
    }))
}

/// Reads the sessions of concatenated logs.
struct ClaudeLogReader {
    /// The input until it is read.
    input: Option<SessionInput>,
    purpose: ReadPurpose,
    logs: VecDeque<LogConversion>,
}

impl SessionReader for ClaudeLogReader {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        if let Some(mut input) = self.input.take() {
            let name = input.name.take();
            let (returns, purpose) = (input.returns, self.purpose);
            // The hash is data for writing, and the id of a session without a name.
            let hashes = purpose == ReadPurpose::Write || name.is_none();
            let parts = parts(ClaudeLog::read(input, hashes, report)?).into_iter();
            let logs = parts.map(|part| LogConversion::new(part, name.clone(), returns, purpose));
            self.logs = logs.collect();
        }
        while let Some(making) = self.logs.front_mut() {
            let built = making.next();
            // Release the log, which is as large as the session, before the caller processes the session.
            if built.is_none() || making.is_done() {
                self.logs.pop_front();
            }
            if let Some(built) = built {
                return Ok(Some(built.session));
            }
        }
        Ok(None)
    }
}
