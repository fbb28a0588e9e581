//! Gemini CLI: chat recordings. A log is a list of operations on messages by id: a line adds a message or replaces the
//! one with its id, `$rewindTo` removes one and all after it, `$set` changes the description of the session or replaces
//! all messages. The session is the result. An older recording is a document with `messages`.
//!
//! | content | annotation of its message |
//! |---|---|
//! | a list although it is a single text | `metadata.gemini-cli.parts` |
//! | contains calls and reasoning | `metadata.gemini-cli.inline` |
//!
//! Messages that Gemini CLI does not resend when it resumes (commands, generated context) are hidden; notices, errors
//! and warnings are passthrough records. Only the directory shows which session a subagent belongs to, so no parent is
//! set.

mod codec;
mod content;
mod decode;
mod editor;
mod encode;
mod line;
mod repeats;
mod replay;
mod slim;
#[cfg(test)]
mod tests;
mod usage;

use super::detect::{LineKind, Signature};
use super::report::{Loss, LossSet};
use super::{FormatSpec, ReadFn, SessionCount, SessionInput, SessionReader, kit};
use crate::error::{Error, Result};
use crate::model::record::without_mark;
use codec::GeminiCli;
use std::io::Read;
pub(super) use usage::tokens;

/// The recordings, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "Gemini CLI chat recording",
    read: ReadFn::Sessions(|input| open(input, kit::open)),
    display: Some(|input| open(input, kit::open_displayed)),
    session_count: SessionCount::Many,
    unsupported: LossSet::USUAL.without(&[Loss::Timestamp]).with(&[
        Loss::Summary,
        Loss::Message,
        Loss::Orphan,
    ]),
    note: "In place, only appends lines to a log: a rewind, a replacement record, or a new list of all messages. The program finds sessions by project: an imported session gets the project of its `metadata.cwd`.",
    slims: Some(slim::SLIMMING),
    ..kit::spec!(&GeminiCli)
};

/// The signature of a recording.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a Gemini CLI log",
    header: |shape| shape.all(&["sessionId", "projectHash"]),
    content: |shape| match shape.text("type").as_deref() {
        Some("user" | "gemini") => LineKind::known(shape.has("content")),
        Some("info" | "error" | "warning") => LineKind::None,
        _ if shape.any(&["sessionId", "$set", "$rewindTo"]) => match shape.has("messages") {
            true => LineKind::known(shape.has_element("messages", |message| message.has("content"))),
            false => LineKind::None,
        },
        _ => LineKind::Unknown,
    },
    document: |shape| {
        let whole = shape.all(&["sessionId", "projectHash"]);
        let is_message =
            !shape.has("messages") || shape.has_element("messages", |message| message.has("content"));
        (whole && is_message) || shape.is_object("$set") || shape.is_text("$rewindTo")
    },
    line: |shape| shape.text_equals("type", "gemini") && shape.has("content"),
    ..Signature::BLANK
};

/// How the kit opens an input.
type OpenLogFn = fn(&'static dyn kit::AnyCodec, SessionInput) -> Result<Box<dyn SessionReader>>;

fn open(mut input: SessionInput, open: OpenLogFn) -> Result<Box<dyn SessionReader>> {
    let begun = input.rest.by_ref().take(64).read_to_end(&mut input.head);
    begun.map_err(|error| Error::io("cannot read", error))?;
    let head = without_mark(&input.head);
    if head.trim_ascii_start().starts_with(b"[") {
        let error = Error::data("not a Gemini CLI recording");
        return Err(error.hint("logs.json contains prompts, not sessions; give a file in chats/"));
    }
    open(&GeminiCli, input)
}
