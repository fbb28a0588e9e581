//! Word patterns of standing instructions: `a|b` matches one of these words, `!a|b` any other, `*` any word, `**` up
//! to five words, `~ing` a word with that ending, `$` the end; `,a` the same after a comma.

use super::keys::{Keys, WordKey, key_bit, word_key};
use super::word_lists::{CONTRACTIONS, is_in};
use super::words::{END, Sentence};
use std::sync::OnceLock;

/// Patterns indexed by first word, because few sentences begin like any of them.
pub(super) struct Patterns {
    /// The number of each first word plus one.
    words: Keys<u32>,
    /// The patterns that begin with each.
    all: Vec<PatternGroup>,
    /// The mark of each first word.
    mark: u32,
}

/// Patterns with the same first word, without that word. Most groups are never asked for.
#[derive(Default)]
struct PatternGroup {
    sources: Vec<&'static str>,
    parsed: OnceLock<Vec<PatternRest>>,
}

/// A pattern without its first word.
struct PatternRest {
    /// The [`key_bit`]s of the words that may come next: most do not, so that few patterns are compared.
    next: u64,
    words: Vec<PatternWord>,
}

impl PatternRest {
    fn of(pattern: &'static str) -> PatternRest {
        let words: Vec<PatternWord> = pattern.split_terminator(' ').map(PatternWord::of).collect();
        PatternRest {
            next: words.first().map_or(u64::MAX, PatternWord::key_bits),
            words,
        }
    }
}

impl PatternGroup {
    fn patterns(&self) -> &[PatternRest] {
        let parse = || self.sources.iter().copied().map(PatternRest::of).collect();
        self.parsed.get_or_init(parse)
    }
}

/// A part of a pattern.
struct PatternWord {
    /// Whether a comma precedes it.
    is_fresh: bool,
    kind: PatternKind,
}

enum PatternKind {
    /// Any word.
    Any,
    /// Up to five words.
    Several,
    /// A word with this ending.
    Ending(&'static str),
    /// One of these words.
    OneOf(Vec<WordKey>),
    /// One of these words, and some of them are contractions.
    Contraction(Vec<WordKey>),
    /// None of these words.
    NoneOf(Vec<WordKey>),
}

impl PatternWord {
    fn of(word: &'static str) -> PatternWord {
        let bare = word.strip_prefix(',');
        let word = bare.unwrap_or(word);
        let keys = |words: &str| words.split('|').map(key_in_pattern).collect();
        let kind = match (word, word.strip_prefix('!'), word.strip_prefix('~')) {
            ("*", ..) => PatternKind::Any,
            ("**", ..) => PatternKind::Several,
            (_, Some(others), _) => PatternKind::NoneOf(keys(others)),
            (_, _, Some(ending)) => PatternKind::Ending(ending),
            _ if word.contains('\'') => PatternKind::Contraction(keys(word)),
            _ => PatternKind::OneOf(keys(word)),
        };
        PatternWord {
            is_fresh: bare.is_some(),
            kind,
        }
    }

    /// The [`key_bit`]s of all words that match.
    fn key_bits(&self) -> u64 {
        match &self.kind {
            PatternKind::OneOf(words) => words.iter().fold(0, |all, word| all | key_bit(*word)),
            _ => u64::MAX,
        }
    }
}

fn key_in_pattern(word: &str) -> WordKey {
    match word {
        "$" => END,
        word => word_key(word),
    }
}

impl Patterns {
    pub fn of(patterns: impl Iterator<Item = &'static str>, mark: u32) -> Patterns {
        let (mut words, mut all) = (Keys::for_about(0), Vec::<PatternGroup>::new());
        for pattern in patterns {
            let (first, rest) = pattern.split_once(' ').unwrap_or((pattern, ""));
            for word in first.split('|') {
                let number = words.get_or_insert_with(word_key(word), || all.len() as u32 + 1) as usize;
                if number > all.len() {
                    all.push(PatternGroup::default());
                }
                all[number - 1].sources.push(rest);
            }
        }
        Patterns { words, all, mark }
    }

    /// Whether a pattern matches at a word of the sentence.
    pub fn begin_at(&self, sentence: &Sentence, at: usize) -> bool {
        if !sentence.is(self.mark, at) {
            return false;
        }
        self.length_with(sentence.key(at), sentence, at + 1).is_some()
            || contracted(sentence, at)
                .is_some_and(|word| self.length_with(word_key(word), sentence, at + 2).is_some())
    }

    /// The number of words of the first pattern that matches at a word of the sentence, without contractions.
    pub fn length_at(&self, sentence: &Sentence, at: usize) -> Option<usize> {
        let rest = || self.length_with(sentence.key(at), sentence, at + 1);
        sentence.is(self.mark, at).then(rest)?.map(|rest| 1 + rest)
    }

    /// The number of words after the first one in the first pattern that begins with `first` and continues at a word.
    fn length_with(&self, first: WordKey, sentence: &Sentence, next: usize) -> Option<usize> {
        let group = &self.all[(self.words.get(first) as usize).checked_sub(1)?];
        let bit = key_bit(sentence.key(next));
        let pattern = group
            .patterns()
            .iter()
            .find(|rest| rest.next & bit > 0 && matches(&rest.words, sentence, next))?;
        Some(pattern.words.len())
    }
}

/// Whether a pattern matches at a word.
fn matches(pattern: &[PatternWord], sentence: &Sentence, at: usize) -> bool {
    let Some((word, rest)) = pattern.split_first() else {
        return true;
    };
    let end = sentence.words.len();
    if word.is_fresh && !sentence.words.get(at).is_some_and(|own| own.fresh) {
        return false;
    }
    let own = sentence.key(at);
    let is_one = match &word.kind {
        PatternKind::Several => return (at + 1..=end.min(at + 5)).any(|next| matches(rest, sentence, next)),
        PatternKind::Any => at < end,
        PatternKind::Ending(ending) => {
            let own = sentence.at(at);
            own.len() > ending.len() + 1 && own.ends_with(ending)
        }
        PatternKind::OneOf(words) => words.contains(&own),
        PatternKind::NoneOf(words) => at < end && !words.contains(&own),
        PatternKind::Contraction(words) => {
            let is_one = |word| words.contains(&word_key(word));
            if contracted(sentence, at).is_some_and(is_one) && matches(rest, sentence, at + 2) {
                return true;
            }
            words.contains(&own)
        }
    };
    is_one && matches(rest, sentence, at + 1)
}

/// The contraction of two words: "i'm" of "I am".
fn contracted(sentence: &Sentence, at: usize) -> Option<&'static str> {
    let (first, second) = (sentence.at(at), sentence.at(at + 1));
    let of = |of: &&[&str; 3]| of[1] == second && of[0] == first;
    let found = is_in(&["am", "are", "not", "would"], second).then(|| CONTRACTIONS.iter().find(of));
    found.flatten().map(|of| of[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_pattern_has_its_meaning() {
        let cases = [
            ("use tabs|spaces", "use spaces", true),
            ("use tabs|spaces", "use space", false),
            ("use !tabs|spaces", "use words", true),
            ("use !tabs|spaces", "use tabs", false),
            ("use !tabs|spaces", "use", false),
            ("use *", "use", false),
            ("use ** always", "use one two three four five always", true),
            ("use ** always", "use one two three four five six always", false),
            ("stop ~ing", "stop asking", true),
            ("stop ~ing", "stop ing", false),
            ("use it $", "use it", true),
            ("use it $", "use it now", false),
            ("please ,stop", "please, stop", true),
            ("please ,stop", "please stop", false),
            ("i'm|we're vegan", "i am vegan", true),
            ("i don't smoke", "i do not smoke", true),
            ("be lactose-intolerant", "be lactose-intolerant", true),
            ("be lactose-intolerant", "be lactose-tolerant", false),
        ];
        for (pattern, text, expected) in cases {
            let patterns = Patterns::of([pattern].into_iter(), u32::MAX);
            let sentence = Sentence::read(text);
            let first = word_key(pattern.split([' ', '|']).next().unwrap_or_default());
            let found = match contracted(&sentence, 0) {
                Some(word) => patterns.length_with(word_key(word), &sentence, 2),
                None => patterns.length_with(first, &sentence, 1),
            };
            assert_eq!(found.is_some(), expected, "{pattern:?} in {text:?}");
        }
    }
}
