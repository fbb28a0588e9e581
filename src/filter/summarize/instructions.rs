//! Detects standing instructions: rules that hold for the rest of the session and that a summary must quote word for
//! word. Detection uses the form of English sentences and learned weights, which recognize those that have none of the forms
//! and reject tasks that have one.

use super::forms::is_plural;
use super::marks::{
    CUE, FORM, HERE, IMPERATIVE, LASTING, LEAD, LEADS, ONCE, ORDER, PASS, PHRASE, REST, THING,
};
use super::one_task::{CHANGED, SESSIONS};
use super::patterns::Patterns;
use super::sentences::without_list_mark;
use super::word_lists::{AT_HAND, FIRST_PERSON, MANNERS, NOT_KEPT, NOT_ORDERED, WORK_VERBS, is_in};
use super::words::Sentence;
use std::sync::LazyLock;

/// How strongly a sentence reads as a standing instruction, in half points; none when it does not.
///
/// Two points when it begins with an order (`never`, `make sure`, `when you ..., do ...`, `from now on`,
/// `write in ...`), one when it refers to the reader's actions (`your replies`, `show me`), half a point for a word
/// such as `every` or `must`. Half a point without any of these if the words read like an instruction.
pub fn strength(sentence: &str) -> Option<u32> {
    let sentence = Sentence::of(without_list_mark(sentence))?;
    sentence
        .strength()
        .or_else(|| sentence.reads_like_a_rule().then_some(LEARNED))
}

/// Strength of a sentence that has none of the forms but reads like a rule, in half points.
pub(super) const LEARNED: u32 = 1;

/// Strength from which a sentence with a known form is an instruction whatever its words, in half points.
const CERTAIN: u32 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentenceForm {
    /// The sentence says that it holds from now on.
    Lasting,
    /// The sentence begins with an order.
    Order,
    /// A preference, a duty, or an order later in the sentence.
    Indirect,
}

/// Phrases before a rule.
static OF_LEADS: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(LEADS.lines(), LEAD));

/// Phrases that may set a rule anywhere in a sentence.
static OF_PHRASES: LazyLock<Patterns> = LazyLock::new(|| {
    let all = LASTING.into_iter().chain(REST).chain(HERE);
    Patterns::of(all, PHRASE)
});

impl Sentence {
    /// Whether the words of a sentence that has none of the forms read like a rule.
    pub(super) fn reads_like_a_rule(&self) -> bool {
        self.learned().sets_a_rule()
            && !self.question
            && !self.is_small_talk(self.opening(0))
            && !self.is_attributed()
    }

    /// See [`strength`]; none for a sentence that has none of the forms.
    pub(super) fn strength(&self) -> Option<u32> {
        // Most sentences; whatever form they have, they would not be strong enough.
        let is_lasting = || !self.question && self.phrase();
        let opening = self.opening(0);
        let recurs = || self.is(IMPERATIVE, opening) && self.recurs();
        if self.learned().surely_sets_none() && !is_lasting() && !self.addresses_the_reader() && !recurs() {
            return None;
        }
        if self.is_small_talk(opening) || self.is_attributed() {
            return None;
        }
        let form = self.form()?;
        let opening = if form == SentenceForm::Indirect { 0 } else { 4 };
        let reader = if self.addresses_the_reader() { 2 } else { 0 };
        let firm = ["never", "always", "don't", "every", "only", "exact", "must"];
        let strength = opening + reader + u32::from(self.has_any(&firm));
        // "Stay away from that library, it said on reddit".
        let is_doubtful = form != SentenceForm::Lasting && strength < CERTAIN;
        (!is_doubtful || !self.learned().surely_sets_none() || recurs()).then_some(strength)
    }

    fn form(&self) -> Option<SentenceForm> {
        let start = self.opening(0);
        if self.question {
            return self.asked(start).then_some(SentenceForm::Indirect);
        }
        if self.phrase() {
            return Some(SentenceForm::Lasting);
        }
        let order = self.order(start) || self.manner(start) || self.has_form(start);
        if order {
            return Some(SentenceForm::Order);
        }
        let commands = self.is(IMPERATIVE, start);
        // What follows describes the thing that is made.
        if commands && self.makes_one_thing(start) && !self.is_for_each(start) {
            return None;
        }
        (self.preference(start) || self.duty(start)).then_some(SentenceForm::Indirect)
    }

    /// The first significant word from an index: skips polite words and conjunctions.
    pub(super) fn opening(&self, mut at: usize) -> usize {
        loop {
            if let Some(repeated) = self.repeats(at) {
                at = repeated;
            } else if self.is(PASS, at) {
                at += 1;
            } else if self.has_words_at(at, "try to") {
                at += 2;
            } else {
                break;
            }
        }
        // An adverb of manner may precede the verb: "clearly state".
        let is_adverb = self.at(at).len() > 4 && self.at(at).ends_with("ly") && self.at(at) != "friendly";
        if is_adverb && self.is(IMPERATIVE, at + 1) {
            return at + 1;
        }
        // Skip list markers and numbers.
        if at == 0 && self.at(at).bytes().all(|b| b.is_ascii_digit()) && self.words.len() > 1 {
            at += 1;
        }
        at
    }

    /// The word after `as I said,`, `just so you know,`, `again:`.
    fn repeats(&self, at: usize) -> Option<usize> {
        let mut next = at + OF_LEADS.length_at(self, at)?;
        // "As I said before, ...".
        if matches!(self.at(next), "before" | "already" | "earlier") {
            next += 1;
        }
        self.words
            .get(next)
            .is_some_and(|word| word.fresh)
            .then_some(next)
    }

    /// `always`, `never`, `don't`, `avoid`, `make sure`, ... followed by what they order.
    pub(super) fn order(&self, at: usize) -> bool {
        let next = self.at(at + 1);
        if !self.is(ORDER, at) || self.is_for_one_time() || self.is_of_the_first(at) {
            return false;
        }
        match self.at(at) {
            // A past tense narrates: "never looked back".
            "always" | "never" => {
                let past = next.len() > 4 && next.ends_with("ed") && !self.is(IMPERATIVE, at + 1);
                // "Never change!" is praise.
                let is_praise = next == "change" && self.at(at + 2).is_empty();
                !next.is_empty() && !past && !is_praise && !is_in(NOT_ORDERED, next)
            }
            "don't" | "dont" => self.is_prohibition(at + 1),
            "do" => next == "not" && self.is_prohibition(at + 2),
            "avoid" | "refrain" => !next.is_empty() && !matches!(next, "it" | "that" | "this"),
            "make" => {
                next == "sure"
                    && !self.at(at + 2).is_empty()
                    && !self.has_any(&["then"])
                    && !self.is_sure_of_one(at + 2)
            }
            "ensure" => {
                !next.is_empty() && !self.has_any(&["then"]) && !matches!(next, "is" | "was" | "has" | "had")
            }
            // A rule that was given before.
            "i" if is_in(&["told", "asked"], next) && self.at(at + 2) == "you" => {
                let not = self.at(at + 3);
                matches!(not, "not" | "never") && self.at(at + 4) == "to"
                    || not == "to" && is_in(&["always", "never", "stop"], self.at(at + 4))
            }
            // A lasting fact about a person: "remember that I'm ...".
            "remember" => {
                let is_fact = next == "that" && !matches!(self.at(at + 2), "time" | "day" | "one" | "when");
                next == "to"
                    || is_fact
                    || matches!(next, "i'm" | "we're")
                    || self.words.get(at + 1).is_some_and(|word| word.fresh)
            }
            // After the number of an item: "1. Note that I'm vegetarian".
            "note" => next == "that" && is_in(&FIRST_PERSON, self.at(at + 2)),
            "keep" => {
                let alone = matches!(next, "it" | "that" | "them") && self.at(at + 2).is_empty();
                !next.is_empty()
                    && !alone
                    && !self.keeps_one_thing(at + 1)
                    && !is_in(NOT_KEPT, next)
                    && !self.has_words_at(at, "keep in touch")
            }
            "stop" | "quit" => {
                next.len() > 4 && next.ends_with("ing") || next == "with" && self.at(at + 2) == "the"
            }
            "enough" => {
                next == "with" && self.at(at + 2) == "the" && self.at(self.words.len() - 1).ends_with('s')
            }
            "only" => self.is(IMPERATIVE, at + 1) || next == "ever" && self.is(IMPERATIVE, at + 2),
            "must" => is_in(&["not", "never", "always"], next),
            // Verbs of attitude are lasting, unless the sentence names one occasion.
            "prefer" | "favour" | "favor" | "respect" | "adhere" => {
                !next.is_empty() && next != "not" && !self.has(ONCE)
            }
            "stick" | "optimize" | "optimise" => {
                matches!(next, "to" | "for") || next == "with" && self.is_rule(at)
            }
            "act" | "think" => matches!(next, "as" | "like"),
            _ => false,
        }
    }

    /// `don't give me ...`: for good, unless it is about one thing.
    fn is_prohibition(&self, at: usize) -> bool {
        let at = at + usize::from(self.at(at) == "ever");
        let (verb, object) = (self.at(at), self.at(at + 1));
        // A reminder concerns one thing, unless it is about a fact.
        let is_fact =
            object == "that" && is_in(&FIRST_PERSON, self.at(at + 2)) || matches!(object, "i'm" | "we're");
        let reminds = verb == "forget" && !self.has(CUE) && !is_fact;
        let waits = self.has_words_at(at, "wait for me") || self.has_words_at(at, "wait for us");
        !verb.is_empty() && !reminds && !waits && !self.forbids_one_thing(at) && !is_in(NOT_ORDERED, verb)
    }

    /// `write in ...`, `use only ...`, `call me ...`, and an imperative with a word that makes it lasting.
    fn manner(&self, at: usize) -> bool {
        let (verb, next) = (self.at(at), self.at(at + 1));
        // The steps of each task are a rule.
        let each = ["for any", "for every", "for each", "every time", "each time"];
        let steps = |index: usize| self.at(index) == "then" && self.find(&each).is_some();
        // "... before you hand anything back".
        let hands_back = |index: usize| {
            self.at(index) == "back"
                && index > at
                && is_in(&["anything", "everything", "work"], self.at(index - 1))
        };
        if self.has_any(&["one"]) && self.is_for_one_time()
            || self
                .all(ONCE)
                .any(|index| index >= at && !steps(index) && !hands_back(index))
        {
            return false;
        }
        if self.manner_within(at) {
            return true;
        }
        // "Leave comments in Polish", "log in UTC".
        let names_manner = self.is(IMPERATIVE, at)
            && !is_in(&CHANGED, verb)
            && !is_in(AT_HAND, next)
            && (self.names_a_manner(at + 1) || self.is_value_of(at));
        if names_manner {
            return true;
        }
        let rest = at + 1..self.words.len();
        match verb {
            "call" if next == "the" => {
                let places = ["again", "and", "at", "for", "from", "in", "on", "to", "with"];
                self.words.len() > at + 3 && !is_in(&places, self.at(at + 3))
            }
            "be" if self.find(&["with me", "to me"]).is_some() => true,
            "speak" | "talk" => rest
                .clone()
                .any(|index| is_in(&["me", "in", "like"], self.at(index))),
            "refer" | "treat" if rest.clone().any(|index| self.at(index) == "as") => true,
            "assume" => !next.is_empty(),
            // Handled elsewhere or not an order: "stop by whenever you like".
            "stop" | "keep" | "remember" => false,
            "let" => next == "me" && self.has_any(&["first", "before", "each", "every", "any", "whenever"]),
            _ => self.is(IMPERATIVE, at) && self.is_rule(at),
        }
    }

    /// A verb of form followed by a manner.
    pub(super) fn manner_within(&self, at: usize) -> bool {
        let (verb, next) = (self.at(at), self.at(at + 1));
        if !self.is(FORM, at) {
            return false;
        }
        // "Answer me in German".
        let next = match (verb, next) {
            ("answer", "me" | "us") => self.at(at + 2),
            _ => next,
        };
        match verb {
            // These verbs also refer to specific things.
            "begin" | "start" => is_in(&["every", "all", "each", "your"], next),
            "keep" => {
                is_in(MANNERS, next)
                    && !self.has_words_at(at, "keep in touch")
                    && !self.has_words_at(at, "keep in mind")
            }
            _ => {
                is_in(MANNERS, next)
                    && !(next == "all"
                        && is_in(&["of", "the", "this", "that", "these", "those"], self.at(at + 2)))
            }
        }
    }

    /// Whether the words after an imperative make it hold for more than one occasion.
    pub(super) fn is_rule(&self, at: usize) -> bool {
        let conditions = [
            "before you", "no more than", "at most", "at least", "rather than", "at all", "for all",
            "from all", "as we go", "as you go", "in all", "across all", "the first time",
            "at first mention", "on first use", "on first mention",
        ];
        if self.all_of_the_readers(at) {
            return true;
        }
        // "..., always".
        let last = self.words.len().saturating_sub(1);
        if self.at(last) == "always" && self.words[last].fresh {
            return true;
        }
        if self.is_task(at) {
            return false;
        }
        if self.makes_one_thing(at) {
            return self.is_for_each(at);
        }
        // "Deliver all tables in Markdown", "include calories per serving".
        let manners = ["as", "at", "by", "in", "to", "under", "with"];
        let things = |noun: usize| self.is(THING, noun) && is_in(&manners, self.at(noun + 1));
        let redoes = [
            "check", "continue", "explain", "finish", "fix", "repeat", "review", "shorten", "show", "verify",
        ];
        // "Number your suggestions".
        let yours = self.at(at + 1) == "your"
            && self.is(THING, at + 2)
            && is_plural(self.at(at + 2))
            && !is_in(&redoes, self.at(at));
        if yours
            || self.at(at + 1) == "all" && (things(at + 2) || things(at + 3))
            || is_in(&["include", "mention", "state"], self.at(at)) && self.at(at + 2) == "per"
        {
            return !is_in(&CHANGED, self.at(at));
        }
        // A relative clause sets no rule, unless things of that kind are chosen.
        let relative = ["that", "which", "who", "whose", "where"];
        let chooses = ["use", "pick", "choose", "suggest", "ensure", "recommend"];
        let mut clause = at + 2..self.words.len();
        let end = clause.find(|index| is_in(&relative, self.at(*index)));
        let end = end.filter(|_| !is_in(&chooses, self.at(at)));
        // "Explain why we never cache this".
        let question = ["why", "how", "what", "whether", "between"];
        let ponders = is_in(
            &["consider", "describe", "discuss", "explain", "tell", "think"],
            self.at(at),
        );
        let asks = |index: usize| ponders && (at + 1..index).any(|before| is_in(&question, self.at(before)));
        (at + 1..end.unwrap_or(self.words.len())).any(|index| {
            let before = self.at(index) == "before" && self.at(index + 1).ends_with("ing");
            let cue = self.is(CUE, index) && !asks(index) && !self.is_of_one_task(at, index);
            let when = matches!(self.at(index), "when" | "whenever")
                || self.at(index) == "if" && is_in(&["tell", "warn", "notify", "say", "alert"], self.at(at));
            let works = when && self.at(index + 1) == "you" && is_in(WORK_VERBS, self.at(index + 2));
            let contrast = self.words[index].fresh && matches!(self.at(index), "not" | "no");
            cue || works
                || contrast
                || before
                || conditions.iter().any(|phrase| self.has_words_at(index, phrase))
        })
    }

    /// `... in all of your answers`, `... everything you write`: an imperative about all the reader's output.
    fn all_of_the_readers(&self, at: usize) -> bool {
        const ALL: [&str; 10] = [
            "all of your", "all your", "everything you", "anything you", "everything we", "anything we",
            "whatever you", "as if i", "as if you", "like i'm",
        ];
        // "Anything you can do" asks for one thing.
        let of_it = matches!(self.at(at + 1), "it" | "this" | "that");
        let is_lasting = |found: usize| {
            let pictures = matches!(self.at(found), "as" | "like");
            found > at
                && !matches!(
                    self.at(found + 2),
                    "can" | "want" | "like" | "think" | "prefer" | "need"
                )
                && !(pictures && of_it)
        };
        self.is(IMPERATIVE, at) && self.find(&ALL).is_some_and(is_lasting)
    }

    /// Whether an instruction begins at an index.
    fn instructs(&self, at: usize) -> bool {
        let from = self.opening(at);
        // "Before running anything, get my approval".
        let gets_approval =
            self.at(from) == "get" && is_in(&["my", "approval", "permission"], self.at(from + 1));
        self.is(IMPERATIVE, from) || gets_approval || self.order(from) || self.preference(from)
    }

    /// Phrases that set a rule anywhere in a sentence.
    pub fn phrase(&self) -> bool {
        if !self.all(PHRASE).any(|at| OF_PHRASES.begin_at(self, at)) {
            return false;
        }
        let find = |phrases: &[&str]| {
            self.all(PHRASE)
                .find(|at| phrases.iter().any(|phrase| self.has_words_at(*at, phrase)))
        };
        if let Some(at) = find(&LASTING) {
            return !self.is_outlook(at);
        }
        if let Some(at) = find(&REST) {
            return (at + 4..self.words.len().min(at + 7)).any(|index| is_in(SESSIONS, self.at(index)));
        }
        let Some(at) = find(&HERE) else {
            return false;
        };
        let next = at + 3;
        let ours = matches!(self.at(next), "we" | "you")
            && is_in(
                &["do", "don't", "never", "always", "only", "use", "must", "should"],
                self.at(next + 1),
            );
        let holds = (next..self.words.len()).any(|index| is_in(&["never", "always", "only"], self.at(index)));
        ours || self.words.get(next).is_some_and(|word| word.fresh) && holds
            || self.instructs(next)
            || (at > 0 && self.instructs(self.opening(0)))
    }

    /// `from now on it should be easier`, `going forward, the company will ...`: what others do, or what happens.
    fn is_outlook(&self, at: usize) -> bool {
        let mut after = at + 1..self.words.len().min(at + 5);
        after.any(|index| match self.at(index) {
            "it" | "he" | "she" | "they" => {
                is_in(&["will", "should", "may", "might", "would"], self.at(index + 1))
            }
            "the" => is_in(&["will", "might", "would"], self.at(index + 2)),
            _ => false,
        })
    }
}
