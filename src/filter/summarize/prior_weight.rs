//! The prior weight of a unit apart from its terms: factual content, role, recency. Those of profile coverage-v1 were set once
//! and not fitted to data; the further ones of a dialogue were chosen with the dialogues in `benches/recall/dialogues`.

use crate::model::message::Role;
use std::ops::BitOr;

/// The factors of a unit, in thousandths, in the order of the profile: first person, date or number, name,
/// media, bare question, role, recency; and the product of further ones in 4096ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prior(pub [u16; 7], u32);

/// The product of no further factors, 1 in 4096ths: precise enough, and small enough for the product of all.
const ONE: u32 = 1 << 12;

/// The English month names.
pub(in crate::filter) const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
];

/// Words that refer to a time.
#[rustfmt::skip]
static TIMES: WordSet = WordSet::of(&[
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march",
    "april", "may", "june", "july", "august", "september", "october", "november", "december", "yesterday", "today",
    "tomorrow", "last", "next", "week", "month", "year", "ago",
]);

static FIRST_PERSON: WordSet = WordSet::of(&["i", "my", "we", "our", "me"]);

static SECOND_PERSON: WordSet = WordSet::of(&["you", "your", "yours"]);

/// Words of what may be done: "will" and "'ll", "going to".
#[rustfmt::skip]
static INTENDED: WordSet = WordSet::of(&[
    "will", "ll", "going", "gonna", "plan", "plans", "planning", "want", "hope", "hoping", "might", "would", "could",
    "should", "let", "wouldn", "couldn", "shouldn",
]);

impl Prior {
    /// The weight of an unremarkable text.
    pub const NEUTRAL: Prior = Prior([1000; 7], ONE);

    /// The weight of the text alone, with neutral role and recency.
    pub fn of(text: &str) -> Prior {
        Prior::marked(text, WordMarks::of(text))
    }

    /// Like `of`, for a text whose marks are known.
    pub(in crate::filter) fn marked(text: &str, marks: WordMarks) -> Prior {
        let when = |applies: bool, factor: u16| if applies { factor } else { 1000 };
        let question = text.trim_end().ends_with('?') && !text.contains('.');
        Prior(
            [
                when(marks.has(WordMarks::FIRST_PERSON), 1350),
                when(marks.has(WordMarks::DATED), 1350),
                when(marks.has(WordMarks::NAMED), 1200),
                when(
                    ["[image:", "[image]"].iter().any(|image| text.contains(image)),
                    1200,
                ),
                when(question, 500),
                1000,
                1000,
            ],
            ONE,
        )
    }

    /// Multiplies the weight by a factor in thousandths.
    pub fn worth(mut self, factor: u32) -> Prior {
        self.1 = self.1 * factor / 1000;
        self
    }

    /// Applies the factors of profile coverage-v2. Facts are in answers, in reports of what was done, and in numbers; less of
    /// them are in questions, in what is said about the other one, and in plans. Most people speak in the first person.
    pub(super) fn dialogue(self, text: &str, marks: WordMarks, answers: bool) -> Prior {
        let factors = [
            (answers, 1600),
            (marks.has(WordMarks::REPORTS), 1600),
            (marks.has(WordMarks::NUMBER), 1500),
            (marks.has(WordMarks::FIRST_PERSON), 800),
            (marks.has(WordMarks::ADDRESSES), 700),
            (marks.has(WordMarks::INTENDS), 650),
            (text.trim_end().ends_with('?') && text.contains('.'), 500),
        ];
        let applied = factors.into_iter().filter(|(applies, _)| *applies);
        applied.fold(self, |prior, (_, factor)| prior.worth(factor))
    }

    /// Applies the factor of the role.
    pub fn role(mut self, role: Option<Role>) -> Prior {
        self.0[5] = match role {
            Some(Role::User) => 1100,
            Some(Role::Tool) => 800,
            _ => 1000,
        };
        self
    }

    /// Applies the factor of recency: the unit at `position`, from 0, of `units`.
    pub fn recency(mut self, position: usize, units: usize) -> Prior {
        let newest = units.saturating_sub(1).max(1) as u64;
        let share = 100 * (position as u64).min(newest) / newest;
        self.0[6] = 1000 + share as u16;
        self
    }

    /// The product in an arbitrary unit. All factors but recency are multiples of 50; dividing by it keeps the
    /// product of prior, weights and tokens within 128 bits.
    pub fn product(self) -> u64 {
        let (recency, others) = (self.0[6], &self.0[..6]);
        others
            .iter()
            .fold(u64::from(recency) * u64::from(self.1), |product, factor| {
                product * u64::from(factor / 50)
            })
    }
}

/// Properties of the words of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::filter) struct WordMarks(u8);

impl WordMarks {
    /// A word in the first person.
    pub const FIRST_PERSON: WordMarks = WordMarks(1);
    /// A date or a number.
    pub const DATED: WordMarks = WordMarks(1 << 1);
    /// A word that reports an action.
    pub const REPORTS: WordMarks = WordMarks(1 << 2);
    /// A name.
    pub const NAMED: WordMarks = WordMarks(1 << 3);
    /// A number.
    pub const NUMBER: WordMarks = WordMarks(1 << 4);
    /// A word in the second person.
    pub const ADDRESSES: WordMarks = WordMarks(1 << 5);
    /// A word of what may be done.
    pub const INTENDS: WordMarks = WordMarks(1 << 6);

    /// The marks of a text.
    pub fn of(text: &str) -> WordMarks {
        let name = WordMarks::NAMED.when(has_name(text));
        words(text).fold(name, |marks, word| marks | WordMarks::of_word(word))
    }

    /// The marks of a whole word, which may contain underscores.
    pub fn of_word(word: &str) -> WordMarks {
        let is_number = is_number(word);
        WordMarks::DATED.when(is_number || TIMES.has(word))
            | WordMarks::NUMBER.when(is_number)
            | WordMarks::FIRST_PERSON.when(FIRST_PERSON.has(word))
            | WordMarks::ADDRESSES.when(SECOND_PERSON.has(word))
            | WordMarks::INTENDS.when(INTENDED.has(word))
            | WordMarks::REPORTS.when(reports(word))
    }

    /// These marks if the condition is true, else none.
    #[inline(always)]
    pub fn when(self, condition: bool) -> WordMarks {
        WordMarks(self.0 * u8::from(condition))
    }

    /// Whether there is one of these marks.
    pub fn has(self, marks: WordMarks) -> bool {
        self.0 & marks.0 != 0
    }
}

impl BitOr for WordMarks {
    type Output = WordMarks;

    #[inline(always)]
    fn bitor(self, other: WordMarks) -> WordMarks {
        WordMarks(self.0 | other.0)
    }
}

/// Whether a word has numerals alone.
fn is_number(word: &str) -> bool {
    match word.as_bytes().first() {
        Some(first) if first.is_ascii() && !first.is_ascii_digit() => false,
        _ => word.chars().all(char::is_numeric),
    }
}

/// Words of what was done.
static DONE: WordSet = WordSet::of(&[
    "was", "were", "went", "got", "had", "did", "made", "took", "saw", "met", "bought", "started", "joined",
    "finished", "won", "lost", "moved", "gave", "came",
]);

fn reports(word: &str) -> bool {
    word.len() >= 5 && word.is_ascii() && word.as_bytes()[word.len() - 2..].eq_ignore_ascii_case(b"ed")
        || DONE.has(word)
}

/// A set of words, matched without regard to case.
struct WordSet {
    all: &'static [&'static str],
    /// The lengths of the words as bits, by the last five bits of the first letter, which are the same in both cases.
    lengths: [u16; 32],
}

impl WordSet {
    const fn of(all: &'static [&'static str]) -> WordSet {
        let mut lengths = [0; 32];
        let mut nth = 0;
        while nth < all.len() {
            let word = all[nth].as_bytes();
            lengths[(word[0] & 31) as usize] |= 1 << word.len();
            nth += 1;
        }
        WordSet { all, lengths }
    }

    fn has(&self, word: &str) -> bool {
        let first = word.as_bytes().first().map_or(0, |first| usize::from(first & 31));
        word.len() < 16
            && self.lengths[first] >> word.len() & 1 == 1
            && self.all.iter().any(|known| known.eq_ignore_ascii_case(word))
    }
}

/// Which bytes are part of a word: ASCII letters, digits and underscores. Of other characters it is looked up.
static IN_WORDS: [bool; 256] = {
    let mut known = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        known[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    known
};

/// Whole words: what lies between characters that are no letters, digits or underscores.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    // Where a stretch of characters that are part of words, or are not, ends.
    let end = move |mut at: usize, inside: bool| {
        loop {
            while at < bytes.len() && bytes[at] < 128 && IN_WORDS[usize::from(bytes[at])] == inside {
                at += 1;
            }
            match text[at..].chars().next() {
                Some(c) if !c.is_ascii() && c.is_alphanumeric() == inside => at += c.len_utf8(),
                _ => return at,
            }
        }
    };
    std::iter::from_fn(move || {
        let start = end(at, false);
        at = end(start, true);
        (start < at).then(|| &text[start..at])
    })
}

/// Whether a word of ASCII text is a name: it is capitalized after a lower-case letter or comma and a space, where no
/// sentence begins.
#[inline(always)]
pub(super) fn is_name(text: &[u8], word: usize) -> bool {
    let four = word.checked_sub(2).and_then(|start| text.get(start..start + 4));
    four.is_some_and(|four| {
        (four[0].is_ascii_lowercase() || four[0] == b',')
            && four[1] == b' '
            && four[2].is_ascii_uppercase()
            && four[3].is_ascii_lowercase()
    })
}

/// Whether the text has a name.
pub(super) fn has_name(text: &str) -> bool {
    if text.is_ascii() {
        let mut spaces = memchr::memchr_iter(b' ', text.as_bytes());
        return spaces.any(|space| is_name(text.as_bytes(), space + 1));
    }
    let mut last = ['\0'; 3];
    for c in text.chars() {
        let [before, space, capital] = last;
        if (before.is_lowercase() || before == ',')
            && space == ' '
            && capital.is_uppercase()
            && c.is_lowercase()
        {
            return true;
        }
        last = [space, capital, c];
    }
    false
}
