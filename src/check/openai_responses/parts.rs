//! Content parts of an item: their types and sources.

use crate::check::raw::{is_filled, mark, set, text_member, text_part};
use crate::model::json::{self, quoted};

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum ItemKind {
    /// A user message or instructions: first letter of the role.
    Message(u8),
    /// A model message.
    Assistant,
    /// A call; index of its type.
    Call(usize),
    /// A result; index of its call's type.
    Output(usize),
    Reasoning,
    Compaction,
    /// A reference to an item that the provider stores.
    Reference,
    /// Created by the provider: call and result in one.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum PartFault {
    /// Its type does not fit the role.
    Type,
    /// It has no source for its data.
    Source,
}

/// The type of a text part, by sender.
pub(super) fn text_type(kind: ItemKind) -> &'static str {
    if kind == ItemKind::Assistant {
        "output_text"
    } else {
        "input_text"
    }
}

/// The fault of a part, if any.
pub(super) fn fault(kind: ItemKind, part: &[u8]) -> Option<PartFault> {
    let own = text_member(part, "type").unwrap_or_default();
    let fits = match kind {
        ItemKind::Message(_) => own.starts_with("input_"),
        ItemKind::Assistant => matches!(own.as_str(), "output_text" | "refusal"),
        _ => true,
    };
    let has = |names: &[&str]| names.iter().any(|name| is_filled(json::member(part, name)));
    match own.as_str() {
        _ if !fits => Some(PartFault::Type),
        "input_image" if !has(&["image_url", "file_id"]) => Some(PartFault::Source),
        "input_file" if !has(&["file_data", "file_url", "file_id"]) => Some(PartFault::Source),
        _ => None,
    }
}

/// The part with a valid type, or a placeholder if there is none.
pub(super) fn fitting(kind: ItemKind, part: &[u8]) -> Vec<u8> {
    let text_type = text_type(kind);
    if part.starts_with(b"\"") {
        return text_part(text_type, part);
    }
    let own = text_member(part, "type").unwrap_or_default();
    match own.as_str() {
        "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text"
            if json::member(part, "text").is_some() =>
        {
            let own: [(&str, Option<&[u8]>); 3] = [
                ("type", Some(&quoted(text_type))),
                // Only texts of the model have these members.
                ("annotations", None),
                ("logprobs", None),
            ];
            set(part, &own)
        }
        "refusal" => text_part(text_type, json::member(part, "refusal").unwrap_or(b"\"\"")),
        _ => part_placeholder(kind, part),
    }
}

/// The placeholder for a part that must be removed.
pub(super) fn part_placeholder(kind: ItemKind, part: &[u8]) -> Vec<u8> {
    text_part(text_type(kind), &quoted(&mark(part)))
}
