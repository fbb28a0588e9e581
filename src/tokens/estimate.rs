//! Estimates of token counts: formulas of other systems, for comparable results, and estimates for models without a
//! public tokenizer.

use super::encoding::Encoding;
use super::message_cost::characters;
use super::{image, message_cost};
use crate::model::json;
use crate::model::message::{Message, MessagePart};
use crate::model::named_enum::named_enum;

named_enum! {
    /// A formula.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Estimate {
        /// Bytes / 4.
        Chars4 = "chars4",
        /// Characters * 2 / 5, with PicoClaw's overhead per message.
        Picoclaw = "picoclaw",
        /// Characters / 4 + 1.
        Penguiflow = "penguiflow",
        /// Characters / 4, as Penguin counts content without a tokenizer.
        Quarter = "quarter",
        /// Characters / 4 + 1, as Penguin counts content when its tokenizer fails.
        QuarterPlusOne = "quarter_plus_one",
        /// The larger of characters / 3.5 (Anthropic's glossary, "token") and `o200k_base`.
        Claude = "claude",
        /// The larger of characters / 4 (Google's "Understand and count tokens") and `o200k_base`.
        Gemini = "gemini",
    }
}

impl Estimate {
    pub const fn note(self) -> Option<&'static str> {
        match self {
            Estimate::Claude => Some(
                "Claude's tokenizer is not public; counts are estimates, see `claude` in docs/compaction.md",
            ),
            Estimate::Gemini => Some(
                "Gemini's tokenizer is not public; counts are estimates, see `gemini` in docs/compaction.md",
            ),
            _ => None,
        }
    }

    pub fn count(self, text: &str) -> u64 {
        match self {
            Estimate::Chars4 => text.len() as u64 / 4,
            Estimate::Picoclaw => characters(text) * 2 / 5,
            Estimate::Penguiflow | Estimate::QuarterPlusOne => characters(text) / 4 + 1,
            Estimate::Quarter => characters(text) / 4,
            Estimate::Claude => (characters(text) * 2)
                .div_ceil(7)
                .max(Encoding::O200k.count(text)),
            Estimate::Gemini => characters(text).div_ceil(4).max(Encoding::O200k.count(text)),
        }
    }

    pub fn message(self, message: &Message<'_>) -> u64 {
        match self {
            Estimate::Chars4 => {
                let spread = message_cost::spread(message, image::ImageRule::OpenAi);
                spread.bytes / 4 + spread.tokens
            }
            Estimate::Picoclaw => picoclaw(message),
            Estimate::Penguiflow => {
                let spread = message_cost::spread(message, image::ImageRule::OpenAi);
                spread.characters / 4 + 1 + spread.tokens
            }
            Estimate::Quarter => message.parts().iter().map(quarter).sum(),
            Estimate::QuarterPlusOne => message.parts().iter().map(weight).sum::<u64>() / 4 + 1,
            Estimate::Claude => {
                message_cost::sent(message, image::ImageRule::Anthropic, &|text| self.count(text))
            }
            Estimate::Gemini => {
                message_cost::sent(message, image::ImageRule::Gemini, &|text| self.count(text))
            }
        }
    }

    /// Estimated tokens of a text as a separate message.
    pub fn message_tokens(self, role: &str, text: &str) -> u64 {
        match self {
            Estimate::Chars4 => (role.len() + text.len()) as u64 / 4,
            Estimate::Picoclaw => (characters(text) + PICOCLAW_FRAME) * 2 / 5,
            Estimate::Penguiflow => (characters(role) + characters(text)) / 4 + 1,
            Estimate::Quarter | Estimate::QuarterPlusOne => self.count(text),
            Estimate::Claude | Estimate::Gemini => message_cost::FRAME + self.count(role) + self.count(text),
        }
    }
}

/// Penguin's cost of an image, in tokens for `quarter` and in characters for `quarter_plus_one`.
const PENGUIN_IMAGE: u64 = 4000;

fn is_image(kind: &str, raw: &[u8]) -> bool {
    matches!(kind, "image" | "image_url") || json::member(raw, "image_path").is_some()
}

/// The cost of a part for `quarter`, which rounds each part separately.
fn quarter(part: &MessagePart<'_>) -> u64 {
    match part {
        MessagePart::Text(text) => characters(text) / 4,
        MessagePart::Other(kind, raw) if is_image(kind, raw) => PENGUIN_IMAGE,
        MessagePart::Other(_, raw) => characters(&String::from_utf8_lossy(raw)) / 4,
    }
}

/// The cost of a part for `quarter_plus_one`, in characters.
fn weight(part: &MessagePart<'_>) -> u64 {
    match part {
        MessagePart::Text(text) => characters(text),
        MessagePart::Other(kind, raw) if is_image(kind, raw) => PENGUIN_IMAGE,
        MessagePart::Other(kind, _) if kind.contains("audio") => 2000,
        MessagePart::Other(kind, _) if kind.contains("file") => 1000,
        MessagePart::Other(_, raw) => characters(&String::from_utf8_lossy(raw)),
    }
}

/// Characters that PicoClaw adds per message, and per part of a system text.
const PICOCLAW_FRAME: u64 = 12;
const PICOCLAW_PART: u64 = 20;
/// PicoClaw's cost of a media item, in tokens.
const PICOCLAW_MEDIA: u64 = 256;

/// PicoClaw's estimate (`pkg/tokenizer`): characters of the text, bytes of everything else. Members specific to its
/// messages are in the metadata.
fn picoclaw(message: &Message<'_>) -> u64 {
    let own = message.metadata.and_then(|raw| json::member(raw, "picoclaw"));
    let own = own.unwrap_or_default();
    let (mut text, mut media) = (0, json::list(own, "media").len() as u64);
    for part in message.parts() {
        match part {
            MessagePart::Text(one) => text += characters(&one),
            MessagePart::Other(..) => media += 1,
        }
    }
    let parts = json::list(own, "system_parts");
    let parts = parts.iter().map(|part| {
        let text = json::member_text(part, "text");
        PICOCLAW_PART + characters(&text.unwrap_or_default())
    });
    text = text.max(parts.sum());
    for part in json::items(message.reasoning) {
        let reasoning = json::member_text(part, "text");
        text += characters(&reasoning.unwrap_or_default());
    }
    for call in message.tool_calls() {
        // All calls are of the type `function`.
        text += (call.id.len() + "function".len() + call.name.len() + call.arguments.len()) as u64;
    }
    text += message.tool_call_id().map_or(0, |id| id.len() as u64);
    (text + PICOCLAW_FRAME) * 2 / 5 + PICOCLAW_MEDIA * media
}

#[cfg(test)]
mod tests;
