//! PenguiFlow's short-term memory: a JSON object with turns in three zones, a summary, and the configuration.
//!
//! A document becomes a header, a `summary` event if it has a summary, and a user and an assistant message per turn,
//! oldest first. Data without a native member is stored in `metadata.penguiflow`:
//!
//! | of the header | contents |
//! |---|---|
//! | `health`, `config_snapshot` | as in the document |
//! | `attempt` | the id of the `attempt` event for a health other than healthy |
//! | `summary` | as in the document, if it is not a string |
//! | `members` | members unknown to PenguiFlow |
//! | `convo` | delays that PenguiFlow does not store |
//! | `newline` | false if the document had no final newline |
//!
//! | of a turn's assistant message | contents |
//! |---|---|
//! | `zone` | `backlog`, `pending` or `turns` |
//! | `ts`, `trajectory_digest`, `artifacts_shown`, `artifacts_hidden_refs` | as in the document, unless empty |
//! | `members` | members unknown to PenguiFlow |
//! | `raw` | the original turn, if it cannot be restored; used as long as both texts are unchanged |
//!
//! An unanswered turn and the last failed attempt are stored in the document's member `convo`, which PenguiFlow
//! ignores.
//!
//! Not built on the kit: the turns are in three lists, between which they move with the health of the summarizer, and a
//! turn is a question and its answer instead of an element per message.

mod config;
mod digest;
mod python;
mod read;
pub mod reply;
mod state;
#[cfg(test)]
mod tests;
mod turn;
mod write;

pub use config::{memory, snapshot, with_memory};
pub use digest::{Observation, digest};
pub use read::read;
pub use state::{PenguiflowState, PlacedTurn};
pub use turn::{PenguiflowTurn, TurnZone, artifacts};
pub use write::request;

use super::report::{Loss, LossSet, Report};
use super::request::request_part::has_unknown_members;
use super::{FormatSpec, ReadFn, WritePurpose, WriteTarget, written};
use crate::error::{Error, Position, Result};
use crate::model::health::Health;
use crate::model::json::{self, Dialect};
use crate::model::message::{Category, Message, MessagePart, Role};
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};

/// The document member for data that PenguiFlow does not have and ignores.
const EXTRA_MEMBER: &str = "convo";

/// PenguiFlow's memories, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: "penguiflow",
    about: "PenguiFlow memory state",
    read: ReadFn::Document(read),
    write: Some(write),
    unsupported: LossSet::USUAL
        .without(&[Loss::Timestamp])
        .with(&[Loss::Model, Loss::Message]),
    note: "Holds exchanges of one question and one answer; other messages are lost.",
    ..FormatSpec::BLANK
};

/// The memory as PenguiFlow shows it to a model.
pub const CONTEXT: FormatSpec = FormatSpec {
    name: "penguiflow-context",
    about: "PenguiFlow model input (write-only)",
    write: Some(write_context),
    unsupported: LossSet::of(&[Loss::Message, Loss::Event, Loss::Header, Loss::Unreadable]),
    ..FormatSpec::BLANK
};

/// Writes one session as a document.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let state = PenguiflowState::of(session, view)?;
    if purpose == WritePurpose::Return && !state.unplaced.is_empty() {
        let what = "PenguiFlow memory cannot represent system messages";
        return Err(Error::data(what).hint("add the text to the next exchange with --event"));
    }
    report.count_loss(Loss::Message, (state.unplaced.len() + messages(&state)) as u64);
    if purpose == WritePurpose::Export {
        count_losses(session, &state, view, report);
    }
    if purpose != WritePurpose::Context {
        count_turn_losses(session, view, &state, purpose, report);
        report_trailing_context(session, view, &state, report);
    }
    written(out.write_all(&state.document()))
}

/// Writes the session's memory as PenguiFlow would show it to a model.
pub fn write_context(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    if purpose == WritePurpose::Export {
        report.count_line_losses(session);
    }
    let state = PenguiflowState::of(session, view)?;
    // An unanswered question is part of the request, not of the memory.
    report.count_loss(Loss::Message, state.unplaced.len() as u64);
    let mut context = state.context();
    context.push(b'\n');
    written(out.write_all(&context))
}

/// Whether a session was read from a PenguiFlow document.
pub fn is_own(session: &Session) -> bool {
    session.metadata("penguiflow").is_some()
}

/// The digest of tool calls in a turn's message; `None` if the message was not read from a document.
pub fn digest_of<'a>(message: &Message<'a>) -> Option<&'a [u8]> {
    json::member(turn::noted(message)?, "trajectory_digest").filter(|raw| *raw != b"null")
}

/// Number of messages in turns that the strategy drops.
fn messages(state: &PenguiflowState) -> usize {
    state.dropped.iter().map(|placed| placed.items.len()).sum()
}

/// Counts the losses of a document.
fn count_losses(session: &Session, state: &PenguiflowState, view: &View, report: &mut Report) {
    let summaries = view
        .items
        .iter()
        .filter(|item| matches!(item, Item::Summary(_)))
        .count();
    let count = |class: Class| {
        let lines = (0..session.len()).filter(|at| session.class(*at) == class);
        lines.count()
    };
    // The latest attempt is represented by the health, and the visible summary by the summary.
    let kept = summaries + usize::from(Health::of(session).line.is_some());
    report.count_loss(Loss::Event, count(Class::Event).saturating_sub(kept) as u64);
    report.count_loss(Loss::Unreadable, count(Class::Unreadable) as u64);
    if !state.is_own() {
        report.count_loss(Loss::Header, count(Class::Header) as u64);
    }
}

/// Counts the losses of turns that were not read from a document.
fn count_turn_losses(
    session: &Session,
    view: &View,
    state: &PenguiflowState,
    purpose: WritePurpose,
    report: &mut Report,
) {
    for placed in state.turns.iter().filter(|placed| placed.turn.zone.is_none()) {
        let of_turn: Vec<Message<'_>> = placed
            .items
            .iter()
            .filter_map(|item| view.items[*item].message(session))
            .collect();
        for item in &placed.items {
            let item = &view.items[*item];
            if let Some(message) = item.message(session) {
                count_message_losses(&message, item.body(session), purpose, report);
            }
        }
        // A turn has a question, answers and the results of calls.
        let is_other = |role: Role| matches!(role, Role::System | Role::Developer | Role::Other);
        let others = of_turn.iter().filter(|message| is_other(message.role()));
        report.count_missing(Loss::Message, others.count() as u64);
        // Only the last reasoning and the last text of the answers are kept.
        let answers = of_turn.iter().filter(|message| message.role() == Role::Assistant);
        let texts = answers
            .clone()
            .filter(|message| !message.text().is_empty())
            .count();
        report.count_loss(Loss::Message, texts.saturating_sub(1) as u64);
        count_lost_reasoning(answers, placed.turn.digest.is_some(), report);
    }
}

/// Counts lost reasoning parts: all but the texts of the last message, which the digest contains, if there is one.
fn count_lost_reasoning<'m>(
    answers: impl Iterator<Item = &'m Message<'m>>,
    has_digest: bool,
    report: &mut Report,
) {
    let has = |part: &&&[u8], names: &[&str]| names.iter().any(|name| json::member(part, name).is_some());
    let (mut parts, mut kept, mut signed) = (0, 0, 0);
    for reasoning in answers.filter_map(|message| json::elements(message.reasoning?, Dialect::Strict)) {
        let texts = reasoning.iter().filter(|part| has(part, &["text"])).count();
        let own = ["signature", "encrypted_content", "data"];
        signed += reasoning.iter().filter(|part| has(part, &own)).count();
        parts += reasoning.len();
        kept = if texts > 0 { texts } else { kept };
    }
    report.count_loss(
        Loss::Reasoning,
        (parts - if has_digest { kept } else { 0 }) as u64,
    );
    report.count_loss(Loss::Signature, signed as u64);
}

/// Reports trailing context messages, which are stored where PenguiFlow does not look for them.
fn report_trailing_context(session: &Session, view: &View, state: &PenguiflowState, report: &mut Report) {
    let messages = state
        .open
        .iter()
        .filter_map(|item| view.items[*item].message(session));
    let categories: Vec<Category> = messages.map(|message| message.category()).collect();
    if !categories.is_empty() && categories.iter().all(|category| *category == Category::Context) {
        let what = "PenguiFlow sees the last context messages after the next answered exchange";
        report.note(Position::default(), what);
    }
}

/// Counts the losses of a message. On return to a document, ids, times and categories are not losses, because they were
/// added by the conversion; calls are in the digest.
fn count_message_losses(message: &Message<'_>, body: &[u8], purpose: WritePurpose, report: &mut Report) {
    let own = |is: bool| u64::from(is);
    let metadata = message
        .metadata
        .and_then(|raw| json::members(raw, Dialect::Strict));
    let metadata = metadata.unwrap_or_default();
    if purpose == WritePurpose::Export {
        report.count_loss(Loss::Id, own(message.id.is_some()));
        report.count_loss(
            Loss::Metadata,
            own(message.metadata.is_some() || has_unknown_members(body)),
        );
        report.count_loss(
            Loss::Category,
            own(message.category() != message.role().category()),
        );
        report.count_loss(Loss::Arguments, message.tool_calls().len() as u64);
    } else {
        let noted = metadata.iter().any(|(name, _)| name != "penguiflow");
        report.count_loss(Loss::Metadata, own(noted || has_unknown_members(body)));
    }
    report.count_loss(Loss::Name, own(message.name.is_some()));
    report.count_loss(Loss::Usage, own(json::member(body, "usage").is_some()));
    report.count_loss(Loss::Model, own(json::member(body, "model").is_some()));
    for part in message.parts() {
        if let MessagePart::Other(kind, _) = part {
            let attached = matches!(kind.as_ref(), "image_url" | "input_audio" | "file");
            report.count_loss(if attached { Loss::Attachment } else { Loss::Part }, 1);
        }
    }
}
