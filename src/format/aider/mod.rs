//! aider's chat history: a log for people in Markdown, all sessions of all time in one file. What a line is is told by
//! how it begins, so that an answer which quotes or has headings of the fourth level looks like the console's or the
//! user's.
//!
//! | line begins with | is |
//! |---|---|
//! | `# aider chat started at DATE TIME` | a session begins, in local time |
//! | `#### ` | what the user says, a line of it; two blanks end it |
//! | `> `, or is `>` | what the console shows: an event, the lines as they stand |
//! | anything else | what the model says |
//!
//! Lines of one kind that follow one another are one message. An empty line between two of the user's makes two of them:
//! within one they are written as `####` and blanks. Within what the model says empty lines stay, around it they go.
//!
//! That `/clear` and `/reset` were done is what the console tells; what was said before is out of view then, once
//! something follows. `# ` lines and what stands last are kept, where aider's own reader drops them.

mod line;
mod read;
#[cfg(test)]
mod tests;
mod write;

use super::detect::Signature;
use super::report::Loss;
use super::{Form, Holds, Reading};

/// aider's chat history, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "aider chat history in Markdown",
    read: Reading::Sessions(read::open),
    holds: Holds::Many,
    write: Some(write::write),
    joins: true,
    export: true,
    loses: &[
        Loss::Id,
        Loss::Timestamp,
        Loss::Usage,
        Loss::Model,
        Loss::Reasoning,
        Loss::Signature,
        Loss::Attachment,
        Loss::Part,
        Loss::Name,
        Loss::Category,
        Loss::Metadata,
        Loss::Summary,
        Loss::Message,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    note: "Messages are recognized by the beginnings of lines. Calls, results and system messages become console output.",
    ..Form::BLANK
};

/// What such a file looks like; without the line that begins a session it is a guess, which the reader tells.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "an aider chat history",
    text: |text| {
        let mut lines = text.split(|byte| *byte == b'\n').take(LOOKED_AT);
        lines.any(|line| line::began(line).is_some() || (line.starts_with(b"#### ") && line.ends_with(b"  ")))
    },
    ..Signature::BLANK
};

/// Lines of a head that are looked at.
const LOOKED_AT: usize = 10_000;

/// The word under which leftovers are kept.
const NAME: &str = "aider";

/// What is shown of a session that begins.
const BEGINS: &str = "# aider chat started at ";
