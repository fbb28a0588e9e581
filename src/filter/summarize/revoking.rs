//! Detects cues that a sentence revokes an earlier rule.

use super::changes::{
    CHANGES, DOUBTING_CUES, FAINT_CHANGES, FIGURE_CUES, NARROWING_CUES, PERMITTED_STATES, REVOKING_CUES,
};
use super::marks::{ANSWER, CHANGE, LIFT, LIFTING, PASS, PERMITTING, RELEASING};
use super::patterns::Patterns;
use super::word_lists::{AT_HAND, is_in};
use super::words::Sentence;
use std::sync::LazyLock;

/// Words that may revoke a rule.
static OF_LIFTING: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(LIFTING.lines(), LIFT));

/// Words that may revoke a rule that forbids something.
static OF_PERMITTING: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(PERMITTING.lines(), LIFT));

/// Words that may revoke a rule that demands something.
static OF_RELEASING: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(RELEASING.lines(), LIFT));

/// All of these words.
static OF_ANY_LIFTING: LazyLock<Patterns> = LazyLock::new(|| {
    let all = [LIFTING, PERMITTING, RELEASING].into_iter();
    Patterns::of(all.flat_map(str::lines), LIFT)
});

/// Cues of a change, by first word.
macro_rules! cues {
    ($($name:ident = $list:ident;)+) => {
        $(static $name: LazyLock<Patterns> = LazyLock::new(|| Patterns::of($list.iter().copied(), CHANGE));)+
    };
}

cues! {
    OF_CHANGES = CHANGES;
    OF_DOUBTING = DOUBTING_CUES;
    OF_FAINT_CHANGES = FAINT_CHANGES;
    OF_FIGURES = FIGURE_CUES;
    OF_NARROWING = NARROWING_CUES;
    OF_PERMITTED_STATES = PERMITTED_STATES;
    OF_REVOKING = REVOKING_CUES;
}

/// All of these cues but those of [`OF_PERMITTED_STATES`].
static OF_ANY_CUE: LazyLock<Patterns> = LazyLock::new(|| {
    let all = [
        CHANGES, DOUBTING_CUES, FAINT_CHANGES, FIGURE_CUES, NARROWING_CUES, REVOKING_CUES,
    ];
    Patterns::of(all.into_iter().flatten().copied(), CHANGE)
});

/// Negations.
pub(super) const NEGATIONS: &[&str] = &[
    "never", "not", "don't", "no", "avoid", "stop", "nothing", "without", "refrain",
];

/// Verbs that say, at the beginning of a clause, that something no longer holds.
pub(super) const OMISSIONS: &[&str] = &["skip", "drop", "forget", "scrap", "ignore"];

/// How clearly a sentence indicates that it replaces an earlier rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cue {
    /// Only if it negates a word of the earlier rule.
    Negating,
    /// Only together with most of the words of the earlier rule.
    Faint,
    /// Half of its words are enough.
    Clear,
    /// One of its words is enough, because the sentence as a whole reads like a change.
    Learned,
}

impl Sentence {
    /// Whether the sentence states explicitly that a rule no longer holds, if that rule forbids or demands something.
    pub fn lifts(&self, forbids: bool) -> bool {
        let of_one_kind = |at| match OF_RELEASING.begin_at(self, at) {
            true => self.is_avoided(at) == forbids,
            false => forbids && OF_PERMITTING.begin_at(self, at),
        };
        let lifts = |at| OF_LIFTING.begin_at(self, at) || of_one_kind(at);
        self.all(LIFT).any(|at| lifts(at) && !self.is_state_at_hand(at))
    }

    /// Whether the sentence states explicitly that a rule no longer holds, whatever that rule is.
    pub fn lifts_any(&self) -> bool {
        self.all(LIFT)
            .any(|at| OF_ANY_LIFTING.begin_at(self, at) && !self.is_state_at_hand(at))
    }

    /// How clearly the sentence replaces a rule that forbids or demands something.
    pub fn cue(&self, forbids: bool) -> Option<Cue> {
        // "Not all nuts" narrows a rule.
        let narrows = |at: usize| is_in(&["all", "every", "everything", "only", "just"], self.at(at + 1));
        let contrast = |at: usize| self.words[at].fresh && self.at(at) == "not" && !narrows(at);
        let is_clear = self.lifts(forbids)
            || (0..self.words.len()).any(contrast)
            || self.has_cue(&OF_CHANGES)
            || forbids && self.has_cue(&OF_PERMITTED_STATES);
        match is_clear {
            true => Some(Cue::Clear),
            false => self.has_cue(&OF_FAINT_CHANGES).then_some(Cue::Faint),
        }
    }

    fn has_cue(&self, cues: &Patterns) -> bool {
        self.all(CHANGE)
            .any(|at| cues.begin_at(self, at) && self.is_cue(at))
    }

    /// Whether the sentence has any of the cues; most sentences have none. Looked for once.
    fn has_any_cue(&self) -> bool {
        let has_any = self.any_cue.get().unwrap_or_else(|| self.has_cue(&OF_ANY_CUE));
        self.any_cue.set(Some(has_any));
        has_any
    }

    /// Whether a sentence that sets no rule has a cue with which it may revoke one.
    pub fn may_revoke(&self) -> bool {
        let opens = is_in(&["actually", "correction"], self.at(self.passed(0)));
        opens || self.has_any_cue() && self.has_cue(&OF_REVOKING)
    }

    /// Whether the sentence says that something no longer holds.
    pub fn ends_something(&self) -> bool {
        self.lifts_any()
            || self
                .find(&["after all", "no longer", "any longer", "lifted"])
                .is_some()
    }

    /// Whether a cue says that a sentence without the form of a rule may change one.
    pub fn has_cue_of_doubt(&self) -> bool {
        self.has_any_cue() && self.has_cue(&OF_DOUBTING)
    }

    /// How clearly a sentence that sets no rule may change one.
    pub fn doubt(&self) -> Option<Cue> {
        if self.learned().changes_a_rule() {
            return Some(Cue::Learned);
        }
        if !self.has_any_cue() {
            return None;
        }
        match self.has_cue_of_doubt() || self.has_cue(&OF_NARROWING) {
            true => Some(Cue::Clear),
            false => (self.has_cue(&OF_CHANGES)
                || self.has_cue(&OF_FAINT_CHANGES)
                || self.has_cue(&OF_FIGURES) && self.has_number())
            .then_some(Cue::Faint),
        }
    }

    fn has_number(&self) -> bool {
        (0..self.words.len()).any(|at| self.is_number(at))
    }

    /// `let's speak English`, `could we switch to tabs?`: another answer to a question, if a rule has one.
    pub fn proposes_an_answer(&self) -> bool {
        const PROPOSALS: [&str; 9] = [
            "let's", "let us", "can we", "could we", "can you", "could you", "shall we", "i'd rather",
            "i would rather",
        ];
        let proposes = |at| PROPOSALS.iter().any(|words| self.has_words_at(at, words));
        self.has(ANSWER) && (0..3).any(proposes)
    }

    /// The words that a sentence negates: `no PostgreSQL`, `SQLite, not PostgreSQL`, `skip the linter`.
    pub fn negated(&self) -> impl Iterator<Item = usize> {
        const BEFORE: &[&str] = &[
            "the", "that", "this", "a", "an", "any", "my", "our", "more", "about",
        ];
        const NEGATING: [&[&str]; 2] = [&["no", "not"], OMISSIONS];
        let opening = self.passed(0);
        let begins = move |at: usize| self.words[at].fresh || at == opening;
        let is_fresh = |at: usize| self.words.get(at).is_some_and(|word| word.fresh);
        // Within a clause, "no" reports that something is missing; before a comma, it is an answer.
        let negates = move |at: &usize| {
            begins(*at) && !is_fresh(at + 1) && NEGATING.iter().any(|words| is_in(words, self.at(*at)))
        };
        let negating = (0..self.words.len()).filter(negates);
        negating.map(|at| at + 1 + usize::from(is_in(BEFORE, self.at(at + 1))))
    }

    /// Whether the words at an index say that something is allowed.
    pub fn is_permitted_state(&self, at: usize) -> bool {
        self.is(CHANGE, at) && OF_PERMITTED_STATES.begin_at(self, at)
    }

    /// `no need to avoid emojis`: releases from a prohibition.
    fn is_avoided(&self, from: usize) -> bool {
        (from..self.words.len()).any(|at| is_in(&["avoid", "refrain", "stop"], self.at(at)))
    }

    /// Whether the words at an index are a cue, and have no other meaning: "don't run it again" is about one occasion, "we no
    /// longer need ..." releases from a duty and permits nothing, and "the branch is fine" describes one thing.
    fn is_cue(&self, at: usize) -> bool {
        match self.at(at) {
            "again" => !(0..at).any(|before| is_in(NEGATIONS, self.at(before))),
            "now" => !(0..at).any(|before| self.is_state_at_hand(before)),
            "no" | "any" | "anymore" => !self.all(LIFT).any(|at| OF_RELEASING.begin_at(self, at)),
            _ => !self.is_state_at_hand(at),
        }
    }

    /// `the branch is fine`, `the API is back now`: the state of one thing, which permits nothing.
    pub fn is_state_at_hand(&self, at: usize) -> bool {
        const STATES: [&str; 7] = ["fine", "ok", "okay", "back", "enough", "gone", "good"];
        if !is_in(&["is", "are"], self.at(at)) || !is_in(&STATES, self.at(at + 1)) {
            return false;
        }
        let clause = (0..at).rev().find(|index| self.words[*index].fresh).unwrap_or(0);
        let subject = self.at(self.passed(clause));
        is_in(AT_HAND, subject) || matches!(subject, "everything" | "all")
    }

    /// The index after polite words and conjunctions.
    fn passed(&self, from: usize) -> usize {
        let mut words = from..self.words.len();
        words.find(|at| !self.is(PASS, *at)).unwrap_or(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_sentence_has_any_cue_if_it_has_one_of_a_kind(
            words in prop::collection::vec(prop::sample::select(&["no longer", "it's now", "now", "you can skip", "isn't needed", "turns out", "extend the deadline to", "not all nuts", "instead of", "after all", "again", "don't", "the rule is", "emojis", "4"][..]), 0..4),
        ) {
            let sentence = Sentence::read(&words.join(" "));
            let kinds = [&OF_CHANGES, &OF_DOUBTING, &OF_FAINT_CHANGES, &OF_FIGURES, &OF_NARROWING, &OF_REVOKING];
            let has_one = kinds.iter().any(|cues| sentence.has_cue(cues));
            prop_assert_eq!(sentence.has_any_cue(), has_one, "{:?}", words);
        }

        #[test]
        fn a_sentence_lifts_any_rule_if_it_lifts_one_of_both_kinds(
            words in prop::collection::vec(prop::sample::select(&["no need to", "you no longer need", "tests aren't required anymore", "you may", "scrap the", "the rule is", "is fine again", "avoid", "stop", "emojis", "the"][..]), 0..4),
        ) {
            let sentence = Sentence::read(&words.join(" "));
            prop_assert_eq!(sentence.lifts_any(), sentence.lifts(true) || sentence.lifts(false), "{:?}", words);
        }
    }
}
