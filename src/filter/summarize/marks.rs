//! Marks of words that matter for standing instructions. Each word is looked up once, because most have no mark.

use super::changes::{
    CHANGES, DOUBTING_CUES, FAINT_CHANGES, FIGURE_CUES, NARROWING_CUES, PERMITTED_STATES, QUESTIONS,
};
use super::keys::{Keys, WordKey, word_key};
use super::word_lists::{CONTRACTIONS, CUES, FORM_VERBS, IMPERATIVES, OF_FORM, ONE_OFF, THINGS};
use std::sync::LazyLock;

/// A verb that begins an instruction.
pub(super) const IMPERATIVE: u32 = 1;

/// Limits an instruction to one occasion.
pub(super) const ONCE: u32 = 1 << 1;

/// Makes an instruction apply to many occasions.
pub(super) const CUE: u32 = 1 << 2;

/// The possible beginning of a phrase that sets a rule anywhere in a sentence.
pub(super) const PHRASE: u32 = 1 << 3;

/// A person whose actions are narrated, not ruled.
pub(super) const PERSON: u32 = 1 << 4;

/// A modal verb.
pub(super) const MODAL: u32 = 1 << 5;

/// The possible beginning of a statement about all things of a kind.
pub(super) const DUTY: u32 = 1 << 6;

/// The possible beginning of a phrase that revokes a rule.
pub(super) const LIFT: u32 = 1 << 7;

/// The possible beginning of small talk.
pub(super) const TALK: u32 = 1 << 8;

/// The possible beginning of a rule.
pub(super) const BEGIN: u32 = 1 << 9;

/// The possible beginning of a phrase that indicates a change.
pub(super) const CHANGE: u32 = 1 << 10;

/// The possible beginning of an answer to a question with one answer at a time.
pub(super) const ANSWER: u32 = 1 << 11;

/// The possible beginning of a phrase before a rule that is repeated or added.
pub(super) const LEAD: u32 = 1 << 13;

/// A word that is passed before a rule.
pub(super) const PASS: u32 = 1 << 22;

/// The possible beginning of an order other than an imperative.
pub(super) const ORDER: u32 = 1 << 14;

/// A day or time at hand.
pub(super) const TODAY: u32 = 1 << 15;

/// The possible beginning of `this time` and the like.
pub(super) const THIS_TIME: u32 = 1 << 16;

/// Reports what others demand.
pub(super) const CLAIM: u32 = 1 << 18;

/// The possible beginning of a preference.
pub(super) const PREFERENCE: u32 = 1 << 19;

/// A verb of form, which with a manner sets a rule.
pub(super) const FORM: u32 = 1 << 20;

/// A verb of form, which applied to a plural sets a rule.
pub(super) const FORM_OF_MANY: u32 = 1 << 21;

/// A thing that the reader makes or handles.
pub(super) const THING: u32 = 1 << 23;

/// Words that are passed before a rule.
const PASSED: &[&str] = &[
    "please", "also", "and", "but", "so", "then", "just", "kindly", "ok", "okay", "hi", "hello", "oh",
    "note", "let's", "yes", "yeah", "pls", "plz", "btw", "fyi", "thx", "reminder",
];

/// Phrases before a rule that is repeated or added, one per line.
pub(super) const LEADS: &str = include_str!("rule_leads.txt");

/// `this time`, `just once`, `I just did`: about one occasion.
pub(super) const ONE_TIME: [&str; 14] = [
    "this time", "this once", "just once", "this one", "that one", "for later", "i just did",
    "i already did", "i get there", "i get home", "i get back", "i come back", "i come home", "i arrive",
];

/// Patterns of small talk.
pub(super) const SMALL_TALK: &str = include_str!("small_talk.txt");

/// Patterns of the beginnings of rules, after polite words.
pub(super) const BEGINNINGS: &str = include_str!("rules_begin.txt");

/// Phrases that set a rule anywhere in a sentence.
pub(super) const LASTING: [&str; 12] = [
    "from now on", "from here on", "from this point on", "from this point forward", "for all future",
    "going forward", "henceforth", "until further notice", "under no circumstances", "at all times",
    "unless i say", "unless i tell",
];

/// Phrases that set a rule together with the words after them.
pub(super) const HERE: [&str; 10] = [
    "in this session", "in this project", "in this conversation", "in this chat", "in this thread",
    "in this repository", "in this repo", "in this codebase", "in the future", "from this point",
];

/// Phrases that set a rule together with what they are the rest of.
pub(super) const REST: [&str; 2] = ["for the rest of", "for the remainder of"];

/// Patterns of statements about all things of a kind, or about one thing for good.
pub(super) const OF_THINGS: &str = include_str!("rules_of_things.txt");

/// Words that may revoke a rule.
pub(super) const LIFTING: &str = include_str!("rules_revoked.txt");

/// Words that may revoke a rule that forbids something.
pub(super) const PERMITTING: &str = include_str!("rules_permitted.txt");

/// Words that may revoke a rule that demands something.
pub(super) const RELEASING: &str = include_str!("rules_released.txt");

const PEOPLE: &[&str] = &[
    "i", "i'm", "i've", "he", "she", "they", "we", "it", "that", "this", "there", "you", "who", "what",
    "why", "how", "where", "when", "if", "my", "his", "her", "somebody", "someone", "says", "said", "told",
    "states",
];

/// The words with which [`Sentence::order`](super::words::Sentence) begins.
pub(super) const ORDERS: &[&str] = &[
    "always", "never", "don't", "dont", "do", "avoid", "refrain", "make", "ensure", "i", "remember", "note",
    "keep", "stop", "quit", "enough", "only", "must", "prefer", "favour", "favor", "respect", "adhere",
    "stick", "optimize", "optimise", "act", "think",
];

/// The words with which a preference begins.
pub(super) const PREFERENCES: &[&str] = &["i", "i'd", "it", "it's", "it'd", "you", "you're", "the"];

const MODALS: &[&str] = &[
    "must", "should", "shall", "may", "needs", "has", "requires", "shouldn't", "mustn't",
];

/// The marks of a word by its key.
pub(super) fn marks(word: WordKey) -> u32 {
    KNOWN.get(word)
}

/// The number of words with marks, about.
const ABOUT: usize = 2000;

/// The marks of words by their keys.
static KNOWN: LazyLock<Keys<u32>> = LazyLock::new(|| {
    let mut known = Keys::for_about(ABOUT);
    let mut add = |mark: u32, word: &str| *known.value_mut(word_key(word)) |= mark;
    let lists = [
        (IMPERATIVE, IMPERATIVES),
        (ONCE, ONE_OFF),
        (CUE, CUES),
        (PERSON, PEOPLE),
        (MODAL, MODALS),
        (PASS, PASSED),
        (ORDER, ORDERS),
        (TODAY, &["yet", "now", "today", "tonight", "tomorrow"]),
        (CLAIM, &["claims", "argues", "insists", "suggests", "thinks"]),
        (PREFERENCE, PREFERENCES),
        (FORM, FORM_VERBS),
        (FORM_OF_MANY, OF_FORM),
        (THING, THINGS),
    ];
    for (mark, words) in lists {
        words.iter().for_each(|word| add(mark, word));
    }
    // One of them: "each commit", "code comments".
    let ones = THINGS.iter().filter_map(|thing| thing.strip_suffix('s'));
    ones.for_each(|one| add(THING, one));
    let forms = [
        (DUTY, OF_THINGS.lines().collect()),
        (
            LIFT,
            [LIFTING, PERMITTING, RELEASING]
                .iter()
                .flat_map(|list| list.lines())
                .collect(),
        ),
        (TALK, SMALL_TALK.lines().collect()),
        (BEGIN, BEGINNINGS.lines().collect()),
        (
            CHANGE,
            [
                CHANGES, FAINT_CHANGES, PERMITTED_STATES, DOUBTING_CUES, FIGURE_CUES, NARROWING_CUES,
            ]
            .concat(),
        ),
        (ANSWER, QUESTIONS.concat()),
        (LEAD, LEADS.lines().collect()),
        (THIS_TIME, ONE_TIME.to_vec()),
    ];
    let phrases = [
        (PHRASE, LASTING.to_vec()),
        (PHRASE, HERE.to_vec()),
        (PHRASE, REST.to_vec()),
    ];
    for (mark, patterns) in forms.into_iter().chain(phrases) {
        let first = patterns
            .iter()
            .filter_map(|pattern: &&str| pattern.split(' ').next());
        first.flat_map(|words| words.split('|')).for_each(|word| {
            add(mark, word);
            let of = CONTRACTIONS.iter().filter(|of| of[2] == word);
            of.for_each(|of| add(mark, of[0]));
        });
    }
    known
});
