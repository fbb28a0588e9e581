//! Token costs of audio and files, by length, or by typical values if that is unknown.

use super::image::ImageRule;
use super::inline_data::{self, Payload};

/// Tokens per second of audio. Sources: OpenAI, "Managing costs" of the Realtime API (one per 100 ms of the user's
/// audio); Google, "Understand and count tokens". Anthropic accepts no audio; Google's figure is used.
const fn audio_second(rule: ImageRule) -> u64 {
    match rule {
        ImageRule::OpenAi => 10,
        ImageRule::Anthropic | ImageRule::Gemini => 32,
    }
}

/// Bytes per second of audio other than WAV: 128 kbit/s, the usual rate of MP3.
const USUAL_RATE: u64 = 16_000;

/// Assumed seconds of audio whose data is not available.
const UNKNOWN_LENGTH: u64 = 60;

pub fn audio(part: &[u8], rule: ImageRule) -> u64 {
    let seconds = Payload::of(part).map(|payload| {
        let head = payload.decoded(44);
        // Source: Microsoft and IBM, "Multimedia Programming Interface": bytes per second are at offset 28.
        let rate = match head.first_chunk::<32>() {
            Some([b'R', b'I', b'F', b'F', .., a, b, c, d]) => u32::from_le_bytes([*a, *b, *c, *d]).into(),
            _ => USUAL_RATE,
        };
        payload.len().div_ceil(rate.max(1))
    });
    seconds.unwrap_or(UNKNOWN_LENGTH) * audio_second(rule)
}

pub enum FileCost {
    /// The cost is that of this text.
    Text(String),
    /// Tokens by file type, if the content is not readable.
    Tokens(u64),
}

/// Tokens per page. Sources: Anthropic, "PDF support" (1,500 to 3,000 with the page's image); Google, "Document
/// understanding" (258).
const fn page(rule: ImageRule) -> u64 {
    match rule {
        ImageRule::OpenAi | ImageRule::Anthropic => 3000,
        ImageRule::Gemini => 258,
    }
}

/// Tokens per second of video at one frame per second. Source: Google, "Understand and count tokens". Other providers
/// accept no video; Google's figure is used.
const VIDEO_SECOND: u64 = 263;

/// The cost of the file in a part: its text if readable, else one page, or a minute of video.
pub fn file(kind: &str, part: &[u8], rule: ImageRule) -> FileCost {
    let named = inline_data::find(part, &["text"]);
    let payload = Payload::of(part).filter(|payload| payload.kind.starts_with("text/"));
    match (payload, named) {
        (Some(payload), _) => {
            FileCost::Text(String::from_utf8_lossy(&payload.decoded(usize::MAX)).into_owned())
        }
        (None, Some(text)) => FileCost::Text(text.into_owned()),
        _ if kind.contains("video") => FileCost::Tokens(UNKNOWN_LENGTH * VIDEO_SECOND),
        _ => FileCost::Tokens(page(rule)),
    }
}
