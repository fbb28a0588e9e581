//! Recognizes standing instructions, and changes of them, that have none of the known forms: each word, each pair of
//! neighbors and some properties of a sentence have a weight, and the sum decides. `tests/training.rs` computes the
//! weights from the labelled sentences in this folder, which were written for it or for other tests of this module.

use super::keys::{WordKey, word_key};
use super::numbers::fold;
use super::words::Sentence;
use std::sync::LazyLock;

/// The weights for sentences that set a rule, and for those that change one.
static WEIGHTS: LazyLock<WordWeights> =
    LazyLock::new(|| WordWeights::read([include_str!("rules.weights"), include_str!("changes.weights")]));

/// Score above which a sentence changes a rule even if it shares no word with one, in thousandths.
const SURE: i32 = 900;

/// Seeds of the hash.
const SEEDS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// Before the first word of a sentence.
const BEGIN: WordKey = [b'^' as u64, 0];

/// After its last word.
const END: WordKey = [b'$' as u64, 0];

/// Before a word after a comma, colon, semicolon, bracket or dash.
const COMMA: WordKey = [b',' as u64, 0];

/// Any number.
const NUMBER: WordKey = [b'0' as u64, 0];

/// The property of a question.
const QUESTION: WordKey = [b'?' as u64, 0];

/// Most words of a sentence of each class of length: `#0`, `#1`, and so on.
const LENGTHS: [usize; 4] = [3, 6, 11, 19];

/// How clearly a sentence belongs to a class: above 0 it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LearnedScores {
    /// As one that sets a rule.
    rule: i32,
    /// As one that changes a rule.
    change: i32,
}

impl Sentence {
    /// How clearly the words read like a standing instruction or a change of one; computed once.
    pub(super) fn learned(&self) -> LearnedScores {
        let known = self.learned_scores.get();
        let [rule, change] = known.unwrap_or_else(|| WEIGHTS.scores(self));
        self.learned_scores.set(Some([rule, change]));
        LearnedScores { rule, change }
    }
}

impl LearnedScores {
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

/// The weights of words and of pairs of neighbors for two classes, in thousandths: a hash table of small slots, because
/// every word of a text is looked up.
pub(super) struct WordWeights {
    /// The number of slots is a power of two.
    slots: Vec<FeatureWeights>,
    /// The scores of a sentence without known words.
    biases: [i32; 2],
}

/// The weights of one feature.
#[derive(Clone, Copy, Default)]
struct FeatureWeights {
    /// Half of the hash, which identifies the feature; 0 in an empty slot.
    tag: u32,
    weights: [i16; 2],
}

impl WordWeights {
    /// Parses the tables of two classes: the bias, then a weight and a feature per line.
    pub(super) fn read(tables: [&str; 2]) -> WordWeights {
        let features: usize = tables.iter().map(|table| table.lines().count()).sum();
        let mut table = WordWeights {
            slots: vec![FeatureWeights::default(); (2 * features).next_power_of_two()],
            biases: [0; 2],
        };
        for (class, lines) in tables.into_iter().enumerate() {
            for line in lines.lines() {
                match line.split_once(' ') {
                    Some((weight, feature)) => {
                        let (place, tag) = table.place(feature_key(feature));
                        table.slots[place].tag = tag;
                        table.slots[place].weights[class] = weight.parse().unwrap_or(0);
                    }
                    None => table.biases[class] = line.parse().unwrap_or(0),
                }
            }
        }
        table
    }

    /// The slot of a feature, or the empty one for it, and its tag.
    #[inline(always)]
    fn place(&self, feature: WordKey) -> (usize, u32) {
        let hash = fold(feature[0] ^ SEEDS[0], feature[1] ^ SEEDS[1]);
        let (tag, last) = ((hash >> 32) as u32 | 1, self.slots.len() - 1);
        let mut place = hash as usize & last;
        while self.slots[place].tag != tag && self.slots[place].tag != 0 {
            place = (place + 1) & last;
        }
        (place, tag)
    }

    /// The weights of a feature, 0 if it has none.
    #[inline(always)]
    pub(super) fn weights_of(&self, feature: WordKey) -> [i16; 2] {
        self.slots[self.place(feature).0].weights
    }

    /// The sums of the weights; above 0, the sentence belongs to the class. A sentence of mostly unknown words without a
    /// known pair of neighbors belongs to none.
    pub(super) fn scores(&self, sentence: &Sentence) -> [i32; 2] {
        let (mut scores, mut words, mut pairs) = (self.biases, 0, 0);
        for_each_feature(sentence, |kind, feature| {
            let weights = self.weights_of(feature);
            let is_known = usize::from(weights != [0; 2]);
            match kind {
                FeatureKind::Word => words += is_known,
                FeatureKind::Neighbors => pairs += is_known,
                FeatureKind::Place => {}
            }
            scores[0] += i32::from(weights[0]);
            scores[1] += i32::from(weights[1]);
        });
        match pairs > 0 || words * 5 >= sentence.words.len() * 3 {
            true => scores,
            false => [0; 2],
        }
    }
}

/// The kind of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FeatureKind {
    Word,
    /// Two words.
    Neighbors,
    /// A word at the beginning, at the end or after a comma; or a property of the whole sentence.
    Place,
}

/// The key of a feature: a word, or two words with a space between.
pub(super) fn feature_key(feature: &str) -> WordKey {
    match feature.split_once(' ') {
        Some((first, second)) => pair(word_key(first), word_key(second)),
        None => word_key(feature),
    }
}

/// Passes the key of each feature of a sentence to `found`: its words, the pairs of neighbors, and its length. Words and
/// pairs that are repeated count once.
pub(super) fn for_each_feature(sentence: &Sentence, mut found: impl FnMut(FeatureKind, WordKey)) {
    let count = sentence.words.len();
    let key = |at: usize| match sentence.at(at).starts_with(|first: char| first.is_ascii_digit()) {
        true => NUMBER,
        false => sentence.key(at),
    };
    let mut before = BEGIN;
    for at in 0..count {
        let own = key(at);
        let mut earlier = (0..at)
            .filter(|earlier| sentence.key(*earlier) == sentence.key(at))
            .peekable();
        let is_new = earlier.peek().is_none();
        let is_new_pair = !earlier.any(|earlier| earlier > 0 && key(earlier - 1) == before);
        let kind = if at > 0 {
            FeatureKind::Neighbors
        } else {
            FeatureKind::Place
        };
        if is_new {
            found(FeatureKind::Word, own);
        }
        if is_new_pair {
            found(kind, pair(before, own));
        }
        if is_new && sentence.words[at].fresh {
            found(FeatureKind::Place, pair(COMMA, own));
        }
        before = own;
    }
    found(FeatureKind::Place, pair(before, END));
    if sentence.question {
        found(FeatureKind::Place, QUESTION);
    }
    let length = LENGTHS.iter().filter(|most| count > **most).count();
    let length = u64::from_le_bytes([b'#', b'0' + length as u8, 0, 0, 0, 0, 0, 0]);
    found(FeatureKind::Place, [length, 0]);
}

/// The key of two neighbors, which is the key of no word: that of a word of ASCII text lacks the highest bit, and a
/// longer one begins with its letters.
fn pair(first: WordKey, second: WordKey) -> WordKey {
    // The first multiplication comes before XOR: otherwise pairs of short words share keys.
    let mixed = |nth: usize| {
        let first = first[nth].wrapping_mul(SEEDS[0]).rotate_left(23);
        (first ^ second[nth]).wrapping_mul(SEEDS[1])
    };
    [mixed(0), mixed(1) | 1 << 63]
}
