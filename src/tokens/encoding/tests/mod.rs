//! Compares counts with tiktoken-rs.

use super::*;
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

fn encodings() -> [(Encoding, &'static CoreBPE); 6] {
    [
        (Encoding::O200k, tiktoken_rs::o200k_base_singleton()),
        (Encoding::O200kHarmony, tiktoken_rs::o200k_harmony_singleton()),
        (Encoding::Cl100k, tiktoken_rs::cl100k_base_singleton()),
        (Encoding::P50k, tiktoken_rs::p50k_base_singleton()),
        (Encoding::P50kEdit, tiktoken_rs::p50k_edit_singleton()),
        (Encoding::R50k, tiktoken_rs::r50k_base_singleton()),
    ]
}

#[track_caller]
fn compare(text: &str) {
    for (encoding, reference) in encodings() {
        let theirs = reference.encode_ordinary(text).len() as u64;
        assert_eq!(encoding.count(text), theirs, "{} of {text:?}", encoding.name());
    }
    assert_eq!(Encoding::Gpt2.count(text), Encoding::R50k.count(text));
}

/// Characters of every class that a pattern distinguishes, and their neighbors.
const ODD: &[&str] = &[
    "a", "s", "S", "t", "re", "LL", "'", "\u{2019}", "\u{17f}", "\u{212a}", "A", "Z", "\u{1c5}", "\u{2b0}",
    "\u{301}", "\u{200d}", "\u{fe0f}", "日", "本", "の", "한", "ا", "ב", "क", "्", "ß", "İ", "ﬁ", "1", "22",
    "333", "4444", "Ⅷ", "½", "٣", " ", "  ", "   ", "\t", "\r", "\n", "\r\n", "\n\n", "\u{a0}", "\u{85}",
    "\u{2028}", "\u{3000}", "\u{200b}", "\u{feff}", "\u{b}", "\0", "\u{7f}", "/", "//", ".", "...", "-", "_",
    "{", "\"", ":", "<|endoftext|>", "👍", "👩\u{200d}👩", "🏽", "🇫🇷", "\u{fffd}", "\u{10ffff}", "\u{e000}",
    "the", " The", "HTTPServer", "camelCase", "'s", " 've", "I'LL",
];

/// Texts of the kinds in sessions, combined randomly for each seed.
const PROSE: &[&str] = &[
    "The quick brown fox jumped over thirteen lazy dogs. ",
    "I can't believe it's already Tuesday; we'll see what they've done.\n",
    "Können Sie mir bitte sagen, wie spät es ist? Natürlich – es ist 17:45 Uhr.\n\n",
    "これはテストです。東京は日本の首都であり、世界最大の都市圏のひとつです。\n",
    "人工智能正在改变世界,但我们仍然需要小心。",
    "Привет, как дела? Это довольно длинное предложение. ",
    "안녕하세요, 오늘 날씨가 좋네요. ",
    "مرحبا بالعالم، كيف حالك اليوم؟ ",
    "fn main() {\n    let x = vec![1, 2, 3];\n    eprintln!(\"{x:?}\");\n}\n",
    "def f(self, *args, **kwargs):\n\treturn {k: v for k, v in kwargs.items() if v is not None}\n",
    "{\"id\":\"call_9f2c41d0\",\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"/etc/hosts\\\"}\"}\n",
    "SELECT COUNT(*) FROM sessions WHERE created_at >= '2026-01-01' AND tokens > 4096;\r\n",
    "https://example.org/a/b?c=d&e=%20f#g ",
    "9f2c41d07ab3e6559f2c41d0 0xDEADBEEF 3.14159e-10 1,234,567.89 ",
    "👩‍👩‍👧‍👦🎉 great!!! 😀😀 ",
    "        deep\n            deeper\n\n\n        back   \n",
    "<|endoftext|><|im_start|>system ",
    "AAAAAAAAAA bbbbbbbbbb ==========\n----------\n",
];

/// A small generator for reproducible comparisons.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn text(&mut self, length: usize) -> String {
        let mut text = String::new();
        while text.len() < length {
            match self.below(8) {
                0 => text.push_str(ODD[self.below(ODD.len())]),
                1 => text.extend(char::from_u32(self.below(0x11_0000) as u32)),
                2 => text.extend(char::from_u32(self.below(0x800) as u32)),
                3 => {
                    let piece = PROSE[self.below(PROSE.len())];
                    text.extend(piece.chars().take(self.below(20)));
                }
                _ => text.push_str(PROSE[self.below(PROSE.len())]),
            }
        }
        text
    }
}

/// `CONVO_TOKENS_MB` makes it longer.
#[test]
fn mixed_text_counts_as_with_tiktoken() {
    let requested = std::env::var("CONVO_TOKENS_MB").ok();
    let bytes = requested.as_ref().map_or(300_000, |megabytes| {
        megabytes.parse::<usize>().unwrap() * 1_000_000
    });
    let mut chance = Chance(1);
    let (mut compared, mut texts) = (0, 0);
    while compared < bytes {
        let length = chance.below(2000);
        let text = chance.text(length);
        compare(&text);
        compared += text.len();
        texts += 1;
    }
    eprintln!(
        "{texts} texts, {compared} bytes compared under {} encodings",
        encodings().len()
    );
}

#[test]
fn unusual_characters_count_as_with_tiktoken() {
    for one in ODD {
        for two in ODD {
            compare(&format!("{one}{two}"));
            compare(&format!(" {one}{two} a"));
            compare(&format!("a{one}\u{301}{two}\n"));
            compare(&format!("'{one}{two}{one}"));
        }
    }
}

#[test]
fn every_character_counts_as_with_tiktoken() {
    // Between letters, so that its class affects how the text is split.
    let mut text = String::new();
    for (nth, character) in ('\0'..=char::MAX).enumerate() {
        text.push('a');
        text.push(character);
        text.push('B');
        if nth % 4096 == 0 {
            text.push('\n');
        }
    }
    if std::env::var("CONVO_TOKENS_MB").is_err() {
        text = text.chars().take(300_000).collect();
    }
    let (o200k, cl100k) = (
        tiktoken_rs::o200k_base_singleton(),
        tiktoken_rs::cl100k_base_singleton(),
    );
    for line in text.lines() {
        assert_eq!(
            Encoding::O200k.count(line),
            o200k.encode_ordinary(line).len() as u64,
            "{line:?}"
        );
        assert_eq!(
            Encoding::Cl100k.count(line),
            cl100k.encode_ordinary(line).len() as u64,
            "{line:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_counts_as_with_tiktoken(text in any::<String>()) {
        compare(&text);
    }

    #[test]
    fn unusual_text_counts_as_with_tiktoken(pieces in prop::collection::vec(prop::sample::select(ODD), 0..40)) {
        compare(&pieces.concat());
    }

    #[test]
    fn the_tokens_of_the_parts_are_those_of_the_text(
        lines in prop::collection::vec(prop::collection::vec(prop::sample::select(ODD), 0..6), 0..12),
    ) {
        let text = lines.iter().map(|line| line.concat()).collect::<Vec<_>>().join("\n");
        for (encoding, _) in encodings() {
            let parts = parts(text.as_bytes(), 1);
            prop_assert_eq!(parts.concat(), text.as_bytes());
            let sum = parts.iter().map(|part| encoding.count_part(part)).sum::<u64>();
            prop_assert_eq!(sum, encoding.count_part(text.as_bytes()), "{} of {:?}", encoding.name(), text);
        }
    }
}

/// Long runs of one character, as far as tiktoken-rs supports them.
#[test]
fn runs_of_one_character_count_as_with_tiktoken() {
    for one in [
        "a", "A", " ", "\n", "\r\n", "\t", "0", "日", "\u{301}", "👍", "-", "'", "s'", "aA", "\u{3000}",
        " \n", "\u{1c5}",
    ] {
        for length in [
            1, 2, 3, 7, 31, 47, 48, 49, 50, 64, 127, 128, 129, 130, 255, 1000, 3001,
        ] {
            compare(&one.repeat(length));
            compare(&format!("x{} y", one.repeat(length)));
        }
    }
}

/// A quadratic algorithm would take hours for any of these, even without optimization at the shorter length.
#[test]
fn a_megabyte_of_one_character_is_counted() {
    let length = if cfg!(debug_assertions) { 40_000 } else { 1_000_000 };
    let runs = [
        "a", "A", " ", "\n", "\r\n", "\t", "0", "日", "\u{301}", "👍", "-", "'", " \u{301}", "\u{1c5}",
        "\n ", "aB",
    ];
    for one in runs {
        let text = one.repeat(length / one.len());
        for encoding in [Encoding::O200k, Encoding::Cl100k, Encoding::P50k, Encoding::R50k] {
            let whole = encoding.count(&text);
            assert!(whole > 0 && whole <= text.len() as u64);
        }
    }
}
