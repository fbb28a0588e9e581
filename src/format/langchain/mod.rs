//! Messages as LangChain's libraries serialise them: `{type, data}` (`messages_to_dict`), or `{lc, type, id, kwargs}`
//! (`dumpd`); in an array, one a line, or in rows beside a `session_id`.
//!
//! `tool_calls`, and `invalid_tool_calls` after them, are calls; `metadata.invalid` of a message lists the ids of the invalid
//! ones. `status` of a failed tool is `metadata.is_error`. Blocks of thinking are reasoning; an Anthropic block has the names
//! of the record stream. `response_metadata.model_name` is the model. Calls in the content, which repeat `tool_calls`, have
//! their type in `metadata.langchain.blocks`. `remove`, and types that nobody knows, are passthrough records.
//!
//! Calls in `additional_kwargs`, in OpenAI's shape, count only where there are no others.

mod block;
mod codec;
mod read;
mod row;
#[cfg(test)]
mod tests;
mod write;

use super::detect::{Shape, Signature};
use super::kit;
use super::report::Loss;
use super::{Form, Holds};
use crate::model::json::{self, Dialect};
use codec::DICT;

/// These messages, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "LangChain messages (messages_to_dict or dumpd)",
    holds: Holds::Many,
    loses: &[
        Loss::Timestamp,
        Loss::Usage,
        Loss::Arguments,
        Loss::Category,
        Loss::Metadata,
        Loss::Summary,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    note: "Reads an array, one message per line, or rows with a session_id. Writes the form of messages_to_dict; in place, keeps the form of the file.",
    ..kit::form!(&DICT)
};

/// The word under which leftovers are kept.
const NAME: &str = "langchain";

/// What they look like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "LangChain messages",
    line: |shape| {
        let row = shape.has("session_id").then(|| shape.get("message")).flatten();
        let text = row.and_then(json::text);
        let inner = text.as_deref().map(str::as_bytes).or(row);
        let inner = inner.and_then(|object| Shape::of(object, Dialect::Python));
        is_element(shape) || inner.is_some_and(|inner| is_element(&inner))
    },
    message: |said| is_element(said.message),
    ..Signature::BLANK
};

/// Whether an object is a message as LangChain's libraries serialize them: of a known type, and with a content.
fn is_element(shape: &Shape<'_>) -> bool {
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
