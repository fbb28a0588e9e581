//! Counts texts that share most of their lines, such as drafts of a summary; each line is only counted once.

use super::encoding::{Encoding, first_lines, last_lines};
use super::hash::fold;
use super::tokenizer::{Counting, Tokenizer};
use crate::model::summary::{is_quoted_as_is, quoted};
use crate::model::threads::over_cores;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::RwLock;

/// 96 bits of the hash of a line.
type LineKey = [u32; 3];

/// Counts texts line by line.
pub struct LineTokens {
    tokenizer: Tokenizer,
    /// Counts by hash of a line. Kept small because there are many.
    known: RwLock<HashMap<LineKey, u32, BuildHasherDefault<KeyHasher>>>,
    /// Random for each process, so that hash collisions cannot be prepared.
    seeds: [u64; 2],
}

impl LineTokens {
    /// Without any counts.
    pub fn of(tokenizer: Tokenizer) -> LineTokens {
        let random = RandomState::new();
        LineTokens {
            tokenizer,
            known: RwLock::default(),
            seeds: [0, 1].map(|nth: u64| random.hash_one(nth)),
        }
    }

    pub fn count(&self, text: &str) -> u64 {
        match self.tokenizer.0 {
            Counting::Encoding(encoding) => self.count_lines(encoding, text),
            Counting::Estimate(_) | Counting::External(_) => self.tokenizer.count(text),
        }
    }

    /// Finds where a text can be cut so that the counts of both parts add up, as near to its end as possible; 0 if it
    /// cannot.
    pub fn seam(&self) -> fn(&str) -> usize {
        match self.tokenizer.0 {
            Counting::Encoding(_) => |text| last_lines(text.as_bytes()),
            Counting::Estimate(_) | Counting::External(_) => |_| 0,
        }
    }

    /// Tokens of a summary as a message. Only the ends of a long one are copied.
    pub fn quoted_message_tokens(&self, role: &str, summary: &str) -> u64 {
        let start = first_lines(summary.as_bytes()).0.len();
        let end = self.seam()(summary);
        if start < end && is_quoted_as_is(summary) {
            let ends = [&summary[..start], &summary[end..]].concat();
            if is_quoted_as_is(&ends) {
                return self.message_tokens(role, &quoted(&ends)) + self.count(&summary[start..end]);
            }
        }
        self.message_tokens(role, &quoted(summary))
    }

    /// Tokens of a text as a message.
    pub fn message_tokens(&self, role: &str, text: &str) -> u64 {
        match self.tokenizer.0 {
            Counting::Encoding(_) => self.tokenizer.message_tokens(role, "") + self.count(text),
            Counting::Estimate(_) | Counting::External(_) => self.tokenizer.message_tokens(role, text),
        }
    }

    fn count_lines(&self, encoding: Encoding, text: &str) -> u64 {
        let (first, rest) = first_lines(text.as_bytes());
        let known = self.known.try_write().ok().filter(|_| !rest.is_empty());
        // Another thread is counting another text.
        let Some(mut known) = known else {
            return encoding.count(text);
        };
        let (mut tokens, mut new) = (0, Vec::new());
        let (mut line, mut rest) = (first, rest);
        while !line.is_empty() {
            let key = self.key(line);
            match known.get(&key) {
                Some(count) => tokens += u64::from(*count),
                None => new.push((key, line)),
            }
            (line, rest) = first_lines(rest);
        }
        // Counting is slower per byte than other work.
        let bytes: usize = new.iter().map(|(_, line)| line.len()).sum();
        let counts = over_cores(new.len(), bytes * 8, |nth| encoding.count_part(new[nth].1));
        for ((key, _), count) in new.into_iter().zip(counts) {
            tokens += count;
            if let Ok(count) = u32::try_from(count) {
                known.insert(key, count);
            }
        }
        tokens
    }

    /// The hash of a line.
    fn key(&self, line: &[u8]) -> LineKey {
        let [mut one, mut other] = self.seeds.map(|seed| seed ^ line.len() as u64);
        let mut take = |word: u64| {
            one = fold(one ^ word, 0xa076_1d64_78bd_642f);
            other = fold(other ^ word, 0xe703_7ed1_a0b4_28db);
        };
        let (words, rest) = line.as_chunks::<8>();
        words.iter().for_each(|word| take(u64::from_le_bytes(*word)));
        take(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        [one as u32, (one >> 32) as u32, other as u32]
    }
}

/// The hash of a key, which is one itself: its last eight bytes.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last_chunk::<8>() {
            self.0 = u64::from_ne_bytes(*last);
        }
    }

    // The length, which all keys share.
    fn write_usize(&mut self, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_with_lines_in_common_have_as_many_tokens_as_alone(
            texts in prop::collection::vec(prop::collection::vec(
                prop::sample::select(&["user: yes.", "a", "", " b", "1", "day 3:", "  x\r", "(c", "a</", "conversation_summary>", "\u{e9}t\u{e9}"][..]), 0..6), 1..6),
        ) {
            for tokenizer in Tokenizer::all() {
                let lines = LineTokens::of(tokenizer);
                for text in texts.iter().map(|text| text.join("\n")) {
                    prop_assert_eq!(lines.count(&text), tokenizer.count(&text), "{} of {:?}", tokenizer.name(), &text);
                    prop_assert_eq!(lines.message_tokens("user", &text), tokenizer.message_tokens("user", &text), "{} of {:?}", tokenizer.name(), &text);
                    let message_tokens = tokenizer.message_tokens("system", &quoted(&text));
                    prop_assert_eq!(lines.quoted_message_tokens("system", &text), message_tokens, "{} of {:?}", tokenizer.name(), &text);
                    let seam = lines.seam()(&text);
                    if seam > 0 {
                        let both = tokenizer.count(&text[..seam]) + tokenizer.count(&text[seam..]);
                        prop_assert_eq!(both, tokenizer.count(&text), "{} of {:?}", tokenizer.name(), text);
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_is_counted_once() {
        let lines = LineTokens::of(Tokenizer::DEFAULT);
        lines.count("user: one.\nuser: two.\n");
        lines.count("2026-03-02:\nuser: two.\nuser: one.\n");
        // The last line of the first text, including its line break, occurs again.
        assert_eq!(lines.known.read().map(|known| known.len()).ok(), Some(3));
    }
}
