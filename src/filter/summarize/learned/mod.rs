//! Recognizes standing instructions, and changes of them, that have none of the known forms: each word and each pair of
//! neighbors has a weight, and the sum decides. `tests/training.rs` computes the weights from the labelled sentences in
//! this folder, which were written for it.

use super::keys::{Keys, WordKey, word_key};
use super::words::Sentence;
use std::sync::LazyLock;

/// The weights for sentences that set a rule, and for those that change one.
static WEIGHTS: LazyLock<WordWeights> =
    LazyLock::new(|| WordWeights::read([include_str!("rules.weights"), include_str!("changes.weights")]));

/// Score from which a sentence changes a rule even if it shares no word with one, in thousandths.
const SURE: i32 = 900;

/// The number of features, about.
const ABOUT: usize = 6000;

/// The beginning of a sentence, its end, the comma before a word, and any number.
const BEGIN: WordKey = [b'^' as u64, 0];
const END: WordKey = [b'$' as u64, 0];
const COMMA: WordKey = [b',' as u64, 0];
const NUMBER: WordKey = [b'0' as u64, 0];
const QUESTION: WordKey = [b'?' as u64, 0];

/// Most words of a sentence of each class of length: `#0`, `#1`, and so on.
const LENGTHS: [usize; 4] = [3, 6, 11, 19];

/// How clearly a sentence belongs to a class: above 0 it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LearnedScores {
    /// To those that set a rule.
    rule: i32,
    /// To those that change one.
    change: i32,
}

impl LearnedScores {
    /// Computes the scores of a sentence.
    pub(super) fn of(sentence: &Sentence) -> LearnedScores {
        let [rule, change] = WEIGHTS.scores(sentence);
        LearnedScores { rule, change }
    }

    /// Whether the words read like a standing instruction.
    pub(super) fn sets_a_rule(self) -> bool {
        self.rule > 0
    }

    /// Whether the words read like a change of a standing instruction.
    pub(super) fn changes_a_rule(self) -> bool {
        self.change > 0
    }

    /// Whether the words read like a change of some standing instruction, even if they share none with it.
    pub(super) fn surely_changes_a_rule(self) -> bool {
        self.change > SURE
    }
}

/// The weights of words and of pairs of neighbors for two classes, in thousandths.
pub(super) struct WordWeights {
    weights: Keys<[i16; 2]>,
    /// The scores of a sentence without known words.
    biases: [i32; 2],
}

impl WordWeights {
    /// Parses the tables of two classes: the bias, then a weight and a feature per line.
    pub(super) fn read(tables: [&str; 2]) -> WordWeights {
        let mut read = WordWeights {
            weights: Keys::for_about(ABOUT),
            biases: [0; 2],
        };
        for (class, table) in tables.into_iter().enumerate() {
            for line in table.lines() {
                match line.split_once(' ') {
                    Some((weight, feature)) => {
                        read.weights.value_mut(feature_key(feature))[class] = weight.parse().unwrap_or(0);
                    }
                    None => read.biases[class] = line.parse().unwrap_or(0),
                }
            }
        }
        read
    }

    /// The sums of the weights; above 0, the sentence belongs to the class.
    pub(super) fn scores(&self, sentence: &Sentence) -> [i32; 2] {
        let mut scores = self.biases;
        for_each_feature(sentence, |feature| {
            let weights = self.weights.get(feature);
            scores[0] += i32::from(weights[0]);
            scores[1] += i32::from(weights[1]);
        });
        scores
    }
}

/// The key of a feature: a word, or two words with a space between.
pub(super) fn feature_key(feature: &str) -> WordKey {
    match feature.split_once(' ') {
        Some((first, second)) => pair(word_key(first), word_key(second)),
        None => word_key(feature),
    }
}

/// Passes the key of each feature of a sentence to `found`: its words, the pairs of neighbors, and its length.
pub(super) fn for_each_feature(sentence: &Sentence, mut found: impl FnMut(WordKey)) {
    let count = sentence.words.len();
    let mut before = BEGIN;
    for at in 0..count {
        let key = match sentence.at(at).starts_with(|first: char| first.is_ascii_digit()) {
            true => NUMBER,
            false => sentence.key(at),
        };
        found(key);
        found(pair(before, key));
        if sentence.words[at].fresh {
            found(pair(COMMA, key));
        }
        before = key;
    }
    found(pair(before, END));
    if sentence.question {
        found(QUESTION);
    }
    let length = LENGTHS.iter().filter(|most| count > **most).count();
    found([
        u64::from_le_bytes([b'#', b'0' + length as u8, 0, 0, 0, 0, 0, 0]),
        0,
    ]);
}

/// The key of two neighbors, which is the key of no word: that of a word of ASCII text lacks the highest bit, and a
/// longer one begins with its letters.
fn pair(first: WordKey, second: WordKey) -> WordKey {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = |nth: usize| (first[nth].rotate_left(23) ^ second[nth]).wrapping_mul(ODD);
    [mixed(0), mixed(1) | 1 << 63]
}
