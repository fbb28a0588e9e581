//! Random texts in all scripts, generated from a number: the same number gives the same text.

use crate::model::json;
use proptest::prelude::*;

/// A random text.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The seed of the text.
    pub seed: u32,
    /// The approximate number of words.
    pub size: usize,
}

/// Standing instructions, some surrounded by other text.
pub const RULES: [&str; 4] = [
    "Please never touch the file src/0.rs.",
    "Thanks. From now on answer in Danish, and keep it short!",
    "The shed is red. Always run the tests before you commit.\nWhat is left?",
    "Don't call me, only write.",
];

const WORDS: [&str; 40] = [
    "garden", "roof", "seeds", "2026-04-01", "yesterday", "Anna", "the", "of", "and", "I", "bought",
    "error:", "23.50", "fn", "main()", "{", "}", "\"quoted\"", "back\\slash", "tab\there", "crlf\r\n",
    "последний", "мир", "日本語の", "文章です", "한국어", "مرحبا", "שלום", "ελληνικά", "हिन्दी", "ไทย", "🎉",
    "👩‍👩‍👧‍👦", "e\u{301}", "\u{feff}", "<|endoftext|>", "[convo:", "]", "https://e.org/a?b=c", "don't",
];

impl Text {
    /// Generates the text.
    pub fn say(&self) -> String {
        let mut state = u64::from(self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = |most: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most
        };
        let lines = next(3);
        let mut out = String::new();
        for nth in 0..self.size {
            if nth > 0 {
                out.push(if lines > 0 && next(6) == 0 { '\n' } else { ' ' });
            }
            out.push_str(WORDS[next(WORDS.len())]);
            if next(9) == 0 {
                out.push('.');
            }
        }
        out
    }
}

/// Any text: mostly short, occasionally 30 KB. Seeds repeat, so that texts do.
pub fn text() -> impl Strategy<Value = Text> {
    let size = prop_oneof![20 => 0usize..12, 16 => 12usize..90, 2 => 120usize..500];
    let size = prop_oneof![400 => size, 1 => 2000usize..5000];
    let seed = prop_oneof![1 => 0u32..6, 3 => any::<u32>()];
    (seed, size).prop_map(|(seed, size)| Text { seed, size })
}

/// Encodes a text as a JSON string.
pub fn quoted(text: &str) -> String {
    let mut raw = Vec::new();
    json::push_text(&mut raw, text);
    String::from_utf8(raw).unwrap()
}
