//! Claude Code: the log of a session, lines that hang on one another.
//!
//! What the model says in one message is several lines, one a block; results are lines of the user. The newest message
//! and what it rests on are the session; what was left behind when a prompt was edited is a branch, what an agent did
//! is a sidechain: sessions of their own, behind the main one. A compaction is a boundary and the summary behind it.
//!
//! | `metadata.claude-code` | of | holds |
//! |---|---|---|
//! | `sessionId`, `cwd`, `gitBranch`, `version`, `slug`, `agentId` | header | as the first line has them |
//! | `lines` | message, summary | the lines that it was made of, a mark in the place of the content |
//! | `raw` | message, summary | these lines whole, where they cannot be made again from the message |
//! | `parts`, `part` | message | of one line: how many messages it became, and which this is |
//!
//! Attachments that the model is sent are messages: a prompt typed while the agent works is the user's, a memory file is a
//! context message. A report of a failed request is a message out of view, since the program never sends it.
//!
//! All other lines are `foreign` events. Of ticks of running tools, of which a log may hold gigabytes, eight megabytes
//! are carried along and the rest is counted.

mod attachment;
mod blocks;
mod decide;
mod fate;
mod insert;
mod line;
mod log;
mod made;
mod parts;
mod patch;
mod record;
mod session;
mod shell;
mod slim;
#[cfg(test)]
mod tests;
mod title;
mod tree;
mod usage;
mod weave;
mod write;

use super::detect::signature::has_content;
use super::detect::{Content, Shape, Signature};
use super::report::{Loss, Report};
use super::sessions::{Input, SessionReader};
use super::{Form, Holds, Keyed, Reading};
use crate::error::Result;
use crate::model::session::Session;
use log::Log;
use parts::parts;
use session::Making;
use std::collections::VecDeque;
pub use usage::request_id;

/// Claude Code's logs, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "Claude Code session log, with branches and sidechains",
    ending: ".jsonl",
    read: Reading::Sessions(open),
    holds: Holds::Many,
    model: Some("MODEL"),
    write: Some(write::write),
    back: Some(patch::back),
    loses: &[
        Loss::Id,
        Loss::Usage,
        Loss::Reasoning,
        Loss::Signature,
        Loss::Arguments,
        Loss::Attachment,
        Loss::Part,
        Loss::Name,
        Loss::Category,
        Loss::Metadata,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    keyed: Some(Keyed {
        id: "uuid",
        session: "sessionId",
        time: "timestamp",
        message: "message",
        states: &[
            "custom-title",
            "ai-title",
            "agent-name",
            "last-prompt",
            "mode",
            "permission-mode",
            "pr-link",
            "worktree-state",
        ],
    }),
    note: "Branches (edited prompts) and sidechains (subagents) are sessions after the main one. In place, dropping a record also drops the records that depend on it; a summary is inserted as a compaction of the program, after the messages that it replaces.",
    slims: Some(slim::SLIMMING),
    ..Form::BLANK
};

/// What a log looks like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "a Claude Code log",
    line: |shape| {
        let typed = shape.is_text("type") && !shape.is_object("payload");
        let ids = ["leafUuid", "parentUuid", "uuid", "messageId", "sessionId"];
        typed && shape.any(&ids) && message(shape) != Content::Unknown
    },
    content: message,
    ..Signature::BLANK
};

/// What a line says of the content of a log: those of the user and the assistant are messages.
fn message(shape: &Shape<'_>) -> Content {
    match shape.says("type", "user") || shape.says("type", "assistant") {
        true => Content::known(has_content(&shape.object("message"), "content")),
        false => Content::None,
    }
}

/// The name of the format, and the word under which leftovers are kept.
const NAME: &str = "claude-code";

/// Opens a log; it is read when its first session is asked for.
fn open(input: Input) -> Result<Box<dyn SessionReader>> {
    Ok(Box::new(LogReader::Waiting(Some(input))))
}

/// Reads the sessions of logs that stand behind one another.
enum LogReader {
    Waiting(Option<Input>),
    Open(VecDeque<Making>),
}

impl SessionReader for LogReader {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        if let LogReader::Waiting(input) = self
            && let Some(mut input) = input.take()
        {
            let name = input.name.take();
            let returns = input.returns;
            let parts = parts(Log::read(input, report)?);
            let making = |part| Making::new(part, name.clone(), returns);
            *self = LogReader::Open(parts.into_iter().map(making).collect());
        }
        let LogReader::Open(logs) = self else {
            return Ok(None);
        };
        while let Some(making) = logs.front_mut() {
            let built = making.next();
            // The log is as large as the session, which may be changed for long.
            if built.is_none() || making.is_done() {
                logs.pop_front();
            }
            if let Some(built) = built {
                return Ok(Some(built.session));
            }
        }
        Ok(None)
    }
}
