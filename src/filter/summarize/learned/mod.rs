//! Recognizes standing instructions, and changes of them, that have none of the known forms, and sentences that have one but
//! are clearly tasks: each word, each pair of neighbors and some properties of a sentence have a weight, and the sum
//! decides. `tests/training.rs` computes the weights from the labelled sentences in this folder, which were written for it
//! or for other tests of this module.

mod slots;
#[cfg(test)]
pub(super) mod table;

use super::keys::WordKey;
use super::words::Sentence;
use slots::{hash, pair, slot};

/// The weights for sentences that set a rule, and for those that change one: `rules.weights` and `changes.weights`.
static WEIGHTS: WordWeights<'_> = WordWeights {
    biases: include!(concat!(env!("OUT_DIR"), "/learned_biases.rs")),
    slots: include_bytes!(concat!(env!("OUT_DIR"), "/learned_weights")),
};

/// Scores above which a sentence changes a rule even if it shares no word with one, in thousandths: usually, and even if it
/// has a form that is mostly about one occasion ("no need to").
const LIKELY: i32 = 50;
const SURE: i32 = 250;

/// By how much the score of a change exceeds that of a rule if a sentence that sets a rule only changes one, in thousandths.
const RATHER: i32 = 480;

/// Score below which a sentence sets no rule even if it has a known form, in thousandths.
const NONE: i32 = -680;

/// Before the first word of a sentence.
const BEGIN: WordKey = [b'^' as u64, 0];

/// After its last word.
const END: WordKey = [b'$' as u64, 0];

/// Before the second word of a sentence, and before the third and the fourth.
const NEAR_BEGIN: [WordKey; 2] = [
    [u64::from_le_bytes(*b"^1\0\0\0\0\0\0"), 0],
    [u64::from_le_bytes(*b"^2\0\0\0\0\0\0"), 0],
];

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
    /// As one that sets a rule, in thousandths.
    pub rule: i32,
    /// As one that changes a rule, in thousandths.
    pub change: i32,
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

    /// Whether the words read so little like a standing instruction that a known form does not make them one.
    pub(super) fn surely_sets_none(self) -> bool {
        self.rule < NONE
    }

    /// Whether the words read like a change of a standing instruction.
    pub(super) fn changes_a_rule(self) -> bool {
        self.change > 0
    }

    /// Whether the words read like a change of a standing instruction, even if they share none with it.
    pub(super) fn likely_changes_a_rule(self) -> bool {
        self.change > LIKELY
    }

    /// The same of a sentence whose form speaks against it.
    pub(super) fn surely_changes_a_rule(self) -> bool {
        self.change > SURE
    }

    /// Whether a sentence that sets a rule rather changes one.
    pub(super) fn rather_changes_a_rule(self) -> bool {
        self.change > self.rule + RATHER
    }
}

/// The weights of words and of pairs of neighbors for two classes, in thousandths: a hash table of small slots, because
/// every word of a text is looked up.
pub(super) struct WordWeights<'t> {
    /// The scores of a sentence without known words.
    pub biases: [i32; 2],
    /// See [`slots`].
    pub slots: &'t [u8],
}

impl WordWeights<'_> {
    /// The weights of the feature with this hash; none if the table does not have it.
    #[inline(always)]
    pub(super) fn weights_of(&self, feature: u64) -> Option<[i16; 2]> {
        let (at, is_known, _) = slot(self.slots, feature);
        let [low, high, next_low, next_high] = *self.slots.get(at + 4..)?.first_chunk()?;
        let weights = [[low, high], [next_low, next_high]].map(i16::from_le_bytes);
        is_known.then_some(weights)
    }

    /// The sums of the weights; above 0, the sentence belongs to the class. A sentence of mostly unknown words without a
    /// known pair of neighbors belongs to none.
    pub(super) fn scores(&self, sentence: &Sentence) -> [i32; 2] {
        let (mut scores, mut words, mut pairs) = (self.biases, 0, 0);
        for_each_feature(sentence, |kind, feature| {
            let found = self.weights_of(feature);
            let weights = found.unwrap_or_default();
            let is_known = usize::from(weights != [0; 2]);
            match kind {
                FeatureKind::Word => words += is_known,
                FeatureKind::Neighbors => pairs += is_known,
                FeatureKind::Place => {}
            }
            scores[0] += i32::from(weights[0]);
            scores[1] += i32::from(weights[1]);
            found.is_some()
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
    /// A word near the beginning, at the end or after a comma; or a property of the whole sentence.
    Place,
}

/// Passes the hash of each feature of a sentence to `found`, which returns whether the table has it: its words, the pairs
/// of neighbors except those with a word that is new and not in the table, the words near its beginning and after commas,
/// and its length. Words and pairs that are repeated count once.
pub(super) fn for_each_feature(sentence: &Sentence, mut found: impl FnMut(FeatureKind, u64) -> bool) {
    let count = sentence.words.len();
    let key = |at: usize| match sentence.key(at) {
        key if (key[0] as u8).is_ascii_digit() => NUMBER,
        key => key,
    };
    // The hash of the word before, if it is in the table.
    let (mut before, mut seen) = (Some(hash(BEGIN)), 0u64);
    for at in 0..count {
        let own = key(at);
        let own_hash = hash(own);
        // Most words are new, and most of those have a bit of their own.
        let bit = 1 << (own_hash >> 58);
        let is_new = seen & bit == 0 || (0..at).all(|earlier| key(earlier) != own);
        seen |= bit;
        // The words of a repeated pair are repeated.
        let is_repeated_pair =
            !is_new && (1..at).any(|earlier| key(earlier) == own && key(earlier - 1) == key(at - 1));
        if is_new && !found(FeatureKind::Word, own_hash) {
            before = None;
            continue;
        }
        let kind = if at > 0 {
            FeatureKind::Neighbors
        } else {
            FeatureKind::Place
        };
        if let Some(before) = before.filter(|_| !is_repeated_pair) {
            found(kind, pair(before, own_hash));
        }
        let near_begin = at.checked_sub(1).and_then(|nth| NEAR_BEGIN.get(nth.div_ceil(2)));
        if let Some(place) = near_begin.filter(|_| is_new) {
            found(FeatureKind::Place, pair(hash(*place), own_hash));
        }
        if is_new && sentence.words[at].fresh {
            found(FeatureKind::Place, pair(hash(COMMA), own_hash));
        }
        before = Some(own_hash);
    }
    if let Some(last) = before {
        found(FeatureKind::Place, pair(last, hash(END)));
    }
    if sentence.question {
        found(FeatureKind::Place, hash(QUESTION));
    }
    let length = LENGTHS.iter().filter(|most| count > **most).count();
    let length = u64::from_le_bytes([b'#', b'0' + length as u8, 0, 0, 0, 0, 0, 0]);
    found(FeatureKind::Place, hash([length, 0]));
}
