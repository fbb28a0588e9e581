//! ShareGPT: training sets in which every record is a session. A record has either `conversations` with turns (`from`,
//! `value`), or `messages` whose content is parts with a `value`.
//!
//! | data | stored in |
//! |---|---|
//! | the definitions of tools, unchanged | `metadata.tools` of the header |
//! | whether calls share a turn, the order of parts | `metadata.sharegpt.array`, `.order` |
//! | all other data | as for every format on the kit |
//!
//! Undocumented cases: a user message closes all open calls. A message with several calls is written as a turn per
//! call, each followed by its result, so that senders alternate. A session of another format gives the record its `id`,
//! and the record has its first message as `system` if that has instructions.

mod call;
mod codec;
mod decode;
mod encode;
#[cfg(test)]
mod tests;

use super::detect::{ObjectShape, Signature};
use super::report::{Loss, LossSet};
use super::{FormatSpec, SessionCount, kit};
use codec::TURNS;

/// Training sets, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "ShareGPT training data",
    session_count: SessionCount::Many,
    concatenable: true,
    unsupported: LossSet::USUAL.without(&[Loss::Arguments]).with(&[
        Loss::Model,
        Loss::Summary,
        Loss::Orphan,
        Loss::Order,
    ]),
    note: "Each record is a session: an array, or one record per line. Written as one record per line; in place, an array remains an array and unchanged records keep their bytes. `order` reports consecutive user messages, which trainers drop.",
    ..kit::spec!(&TURNS)
};

/// The signature: turns, or messages whose parts have values.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "ShareGPT records",
    document: |shape| {
        let turn = |turn: &ObjectShape<'_>| turn.any(&["from", "role"]) && turn.any(&["value", "content"]);
        shape.has_element("conversations", turn)
    },
    message: |message| {
        let valued = |part: &ObjectShape<'_>| part.is_text("type") && part.is_text("value");
        !message.message.has("parts") && message.parts.iter().any(valued)
    },
    ..Signature::BLANK
};
