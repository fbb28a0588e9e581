//! The properties of a message that Anthropic's rules examine.

use crate::check::raw::{each, elements, is_blank, is_empty_array, is_filled, string};
use crate::model::json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum AnthropicRole {
    User,
    Assistant,
    Tool,
    System,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum AnthropicContent {
    /// Null, absent, an empty string or an empty list.
    Nothing,
    /// A blank string.
    Blank,
    /// A string that is not blank, or blocks.
    Text,
}

#[derive(Debug)]
pub(in crate::check) enum CheckedBlock {
    Text {
        blank: bool,
    },
    /// A call, with its id.
    Use(String),
    /// A result, with the id of its call.
    Result(String),
    Thinking {
        signed: bool,
    },
    Compaction {
        whole: bool,
    },
    Other,
}

#[derive(Debug)]
pub(in crate::check) struct AnthropicFacts {
    pub(in crate::check) role: AnthropicRole,
    /// The role as written.
    pub(in crate::check) name: String,
    pub(in crate::check) content: AnthropicContent,
    /// Empty for string content.
    pub(in crate::check) blocks: Vec<CheckedBlock>,
    /// The blocks with a `cache_control` mark, one entry per mark.
    pub(in crate::check) marks: Vec<usize>,
    /// The call that a message of role `tool` answers.
    pub(in crate::check) answers: String,
}

impl AnthropicFacts {
    /// The calls: block index and id.
    pub(in crate::check) fn uses(&self) -> impl Iterator<Item = (usize, &str)> {
        self.blocks
            .iter()
            .enumerate()
            .filter_map(|(part, block)| match block {
                CheckedBlock::Use(id) => Some((part, id.as_str())),
                _ => None,
            })
    }

    /// The results: block index and id of the call.
    pub(in crate::check) fn results(&self) -> impl Iterator<Item = (usize, &str)> {
        self.blocks
            .iter()
            .enumerate()
            .filter_map(|(part, block)| match block {
                CheckedBlock::Result(id) => Some((part, id.as_str())),
                _ => None,
            })
    }

    /// Whether the message only has results.
    pub(in crate::check) fn is_results(&self) -> bool {
        self.role == AnthropicRole::User
            && !self.blocks.is_empty()
            && self
                .blocks
                .iter()
                .all(|block| matches!(block, CheckedBlock::Result(_)))
    }
}

/// Extracts the properties of a message.
pub(in crate::check) fn read(raw: &[u8]) -> AnthropicFacts {
    let mut facts = AnthropicFacts {
        role: AnthropicRole::Other,
        name: String::new(),
        content: AnthropicContent::Nothing,
        blocks: Vec::new(),
        marks: Vec::new(),
        answers: String::new(),
    };
    let mut content: &[u8] = b"";
    each(raw, |name, value| match name {
        "role" => facts.name = string(value),
        "content" => content = value,
        "tool_use_id" | "tool_call_id" => facts.answers = string(value),
        _ => {}
    });
    facts.role = match facts.name.as_str() {
        "user" => AnthropicRole::User,
        "assistant" => AnthropicRole::Assistant,
        "tool" => AnthropicRole::Tool,
        "system" | "developer" => AnthropicRole::System,
        _ => AnthropicRole::Other,
    };
    facts.content = match content.first() {
        None | Some(b'n') => AnthropicContent::Nothing,
        Some(b'[') if is_empty_array(content) => AnthropicContent::Nothing,
        Some(b'"') if content.len() == 2 => AnthropicContent::Nothing,
        Some(b'"') if is_blank(content) => AnthropicContent::Blank,
        Some(_) => AnthropicContent::Text,
    };
    for (part, raw) in elements(content).into_iter().enumerate() {
        let (block, marks) = block(raw);
        facts.blocks.push(block);
        facts.marks.extend(std::iter::repeat_n(part, marks));
    }
    facts
}

/// A block, and its number of `cache_control` marks.
fn block(raw: &[u8]) -> (CheckedBlock, usize) {
    let mut kind = String::new();
    let (mut id, mut call, mut marks) = (String::new(), String::new(), 0);
    let (mut text, mut content, mut signature, mut data, mut sealed) = (None, None, None, None, None);
    each(raw, |name, value| match name {
        "type" => kind = string(value),
        "id" => id = string(value),
        "tool_use_id" => call = string(value),
        "text" => text = Some(value),
        "content" => content = Some(value),
        "signature" => signature = Some(value),
        "encrypted_content" => sealed = Some(value),
        "data" => data = Some(value),
        "cache_control" => marks += usize::from(value != b"null"),
        _ => {}
    });
    let block = match kind.as_str() {
        "text" => CheckedBlock::Text {
            blank: text.is_none_or(is_blank),
        },
        "tool_use" => CheckedBlock::Use(id),
        "tool_result" => {
            let inner = content.map(elements).unwrap_or_default().into_iter();
            marks += inner
                .filter(|part| json::member(part, "cache_control").is_some_and(|mark| mark != b"null"))
                .count();
            CheckedBlock::Result(call)
        }
        "thinking" => CheckedBlock::Thinking {
            signed: is_filled(signature),
        },
        "redacted_thinking" => CheckedBlock::Thinking {
            signed: is_filled(data),
        },
        "compaction" => CheckedBlock::Compaction {
            whole: content.is_some_and(|raw| raw == b"null" || !raw.is_empty() && raw != b"\"\"")
                && [signature, sealed]
                    .into_iter()
                    .flatten()
                    .all(|raw| raw != b"\"\""),
        },
        _ => CheckedBlock::Other,
    };
    (block, marks)
}

/// Start of the open loop: after the last user message with more than results. `None` if it is closed or has no calls.
pub(super) fn loop_start(elements: &[&AnthropicFacts]) -> Option<usize> {
    let by_user = |piece: &&AnthropicFacts| piece.role == AnthropicRole::User && !piece.is_results();
    let start = elements.iter().rposition(by_user).map_or(0, |at| at + 1);
    let calls = |piece: &&AnthropicFacts| piece.uses().next().is_some();
    let last = elements[start..].last()?;
    let closed = last.role == AnthropicRole::Assistant && last.uses().next().is_none();
    (!closed && elements[start..].iter().any(calls)).then_some(start)
}
