//! aider's chat history: a Markdown log for human readers, with all sessions in one file. The prefix of a line
//! determines its kind, so a reply with quotations or level-four headings is mistaken for console output or user input.
//!
//! Not on the kit, whose elements are JSON values. Here an element ends where the kind of the line changes, and a history
//! is only written as a whole.
//!
//! | line starts with | meaning |
//! |---|---|
//! | `# aider chat started at DATE TIME` | the start of a session, in local time |
//! | `#### ` | a line of a user message, which ends with two spaces |
//! | `> `, or is `>` | console output: an event with the original lines |
//! | anything else | a line of a model message |
//!
//! Adjacent lines of one kind form one message. An empty line separates two user messages; within one, it is written as
//! `####` and spaces. Empty lines within a model message are kept, those around it are dropped.
//!
//! Console output shows that `/clear` or `/reset` was executed, which hides earlier messages once another message
//! follows. `# ` lines and the last lines are kept, although aider's own reader drops them.

mod line;
mod read;
#[cfg(test)]
mod tests;
mod write;

use super::detect::Signature;
use super::report::{Loss, LossSet};
use super::{FormatSpec, ReadFn, SessionCount};

/// aider's chat history, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: line::NAME,
    about: "aider chat history in Markdown",
    read: ReadFn::Sessions(read::open),
    session_count: SessionCount::Many,
    write: Some(write::write),
    concatenable: true,
    export: true,
    unsupported: LossSet::USUAL.without(&[Loss::Arguments]).with(&[
        Loss::Model,
        Loss::Summary,
        Loss::Message,
    ]),
    note: "Messages are recognized by the beginnings of lines. Calls, results and system messages become console output.",
    ..FormatSpec::BLANK
};

/// The signature of a history; without the line that starts a session it is a guess, which the reader reports.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "an aider chat history",
    text: |text| {
        let mut lines = text.split(|byte| *byte == b'\n').take(MAX_EXAMINED);
        lines.any(|line| {
            line::start_time(line).is_some() || (line.starts_with(b"#### ") && line.ends_with(b"  "))
        })
    },
    ..Signature::BLANK
};

/// Maximum number of lines to examine.
const MAX_EXAMINED: usize = 10_000;
