//! LangChain: serialized messages `{type, data}` (`messages_to_dict`) or `{lc, type, id, kwargs}` (`dumpd`), in an
//! array, one per line, or in rows with a `session_id`.
//!
//! `tool_calls`, followed by `invalid_tool_calls`, become calls; `metadata.invalid` of a message lists the ids of the
//! invalid ones. The `status` of a failed tool becomes `metadata.is_error`, thinking blocks become reasoning, and
//! `response_metadata.model_name` the model. Anthropic blocks already have native member names. Calls in the content,
//! which repeat `tool_calls`, have their type in `metadata.langchain.blocks`. `remove` and unknown types are
//! passthrough records.
//!
//! Calls in `additional_kwargs`, in OpenAI form, are only used if there are no others.

mod block;
mod codec;
mod read;
mod row;
#[cfg(test)]
mod tests;
mod write;

use super::detect::{ObjectShape, Signature};
use super::report::{Loss, LossSet};
use super::{FormatSpec, SessionCount, kit};
use crate::model::json::{self, Dialect};
use codec::DICT;

/// These messages, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    about: "LangChain messages (messages_to_dict or dumpd)",
    session_count: SessionCount::Many,
    unsupported: LossSet::of(&[
        Loss::Timestamp,
        Loss::Usage,
        Loss::Arguments,
        Loss::Category,
        Loss::Metadata,
        Loss::Summary,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ]),
    note: "Reads an array, one message per line, or rows with a session_id. Writes the form of messages_to_dict; in place, keeps the form of the file.",
    ..kit::spec!(&DICT)
};

pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "LangChain messages",
    line: |shape| {
        let row = shape.has("session_id").then(|| shape.get("message")).flatten();
        let text = row.and_then(json::text);
        let inner = text.as_deref().map(str::as_bytes).or(row);
        let inner = inner.and_then(|object| ObjectShape::of(object, Dialect::Python));
        is_element(shape) || inner.is_some_and(|inner| is_element(&inner))
    },
    message: |message| is_element(message.message),
    ..Signature::BLANK
};

/// Whether an object is a serialized message: of a known type, and with content.
fn is_element(shape: &ObjectShape<'_>) -> bool {
    let (kind, members) = match shape.begins("lc", b'1') {
        true => {
            let id = shape.get("id").and_then(|id| json::elements(id, Dialect::Python));
            let class = id.and_then(|id| json::text(id.last()?));
            (class, shape.object("kwargs"))
        }
        false => (shape.text("type"), shape.object("data")),
    };
    let removes = members.has("id") && !members.has("content");
    kind.and_then(|kind| read::kind_of(&kind))
        .is_some_and(|kind| members.has("content") || (kind == "remove" && removes))
}
