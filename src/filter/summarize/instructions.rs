//! Which sentences are standing instructions: rules set once that hold from then on. They are what a summary
//! loses first, so they are kept word for word. Known by their form alone, in English; no meaning is judged.

use super::vocabulary::{CUES, FORM_VERBS, IMPERATIVES, MANNERS, NOT_KEPT, NOT_ORDERED, ONE_OFF, is_in};

/// Most characters of an instruction: nobody sets a rule in more, and the work stays bounded.
const LONGEST: usize = 400;

/// How strongly a sentence reads as a standing instruction, in half points; none when it does not.
///
/// Two points when it opens with an order (`never`, `make sure`, `when you ..., do ...`, `from now on`,
/// `write in ...`), one when it speaks of what the reader does (`your replies`, `show me`), half a one for a word
/// such as `every` or `must`.
pub fn strength(sentence: &str) -> Option<u32> {
    if sentence.chars().nth(LONGEST).is_some() {
        return None;
    }
    let sentence = Sentence::read(sentence);
    if sentence.is_small_talk(sentence.opening(0)) {
        return None;
    }
    let form = sentence.form()?;
    let opening = if form == Form::Order { 4 } else { 0 };
    let reader = if sentence.speaks_of_the_reader() { 2 } else { 0 };
    let firm = ["never", "always", "don't", "every", "only", "exact", "must"];
    let firm = u32::from(sentence.words.iter().any(|word| is_in(&firm, &word.text)));
    Some(opening + reader + firm)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The sentence opens with an order.
    Order,
    /// A wish, a duty, or an order further in.
    Wish,
}

/// A word of a sentence.
pub(super) struct Word {
    /// In lower case, apostrophes straight, hyphens kept.
    pub text: String,
    /// Whether a comma, semicolon, colon, dash or bracket stands before it.
    pub fresh: bool,
}

/// A sentence in its words.
pub(super) struct Sentence {
    pub words: Vec<Word>,
    question: bool,
}

/// What somebody says of themselves.
const OWN: [&str; 7] = ["i", "i'm", "i've", "my", "we", "we're", "our"];

impl Sentence {
    pub(super) fn read(text: &str) -> Sentence {
        let mut words: Vec<Word> = Vec::new();
        let (mut inside, mut fresh) = (false, false);
        for c in text.chars() {
            let c = if c == '\u{2019}' { '\'' } else { c };
            let belongs = c.is_alphanumeric() || c == '_' || (inside && matches!(c, '\'' | '-'));
            if !belongs {
                fresh |= matches!(c, ',' | ';' | ':' | '(' | '\u{2014}' | '\u{2013}');
            } else if let Some(word) = words.last_mut().filter(|_| inside) {
                word.text.extend(c.to_lowercase());
            } else {
                words.push(Word {
                    text: c.to_lowercase().collect(),
                    fresh,
                });
                fresh = false;
            }
            inside = belongs;
        }
        let question = text
            .trim_end_matches(|c: char| !c.is_alphanumeric() && c != '?')
            .ends_with('?');
        Sentence { words, question }
    }

    /// The word there; empty behind the end.
    pub fn at(&self, index: usize) -> &str {
        self.words.get(index).map_or("", |word| &word.text)
    }

    /// Whether these words stand there, one after the other.
    pub fn says(&self, index: usize, words: &str) -> bool {
        words
            .split(' ')
            .enumerate()
            .all(|(offset, word)| self.at(index + offset) == word)
    }

    /// Where one of these phrases stands.
    pub fn find(&self, phrases: &[&str]) -> Option<usize> {
        (0..self.words.len()).find(|at| phrases.iter().any(|phrase| self.says(*at, phrase)))
    }

    pub fn has_any(&self, list: &[&str]) -> bool {
        self.words.iter().any(|word| is_in(list, &word.text))
    }

    fn form(&self) -> Option<Form> {
        let start = self.opening(0);
        if self.question {
            return self.asked(start).then_some(Form::Wish);
        }
        let phrase = self.phrase();
        let order = phrase
            || self.order(start)
            || self.condition(start)
            || self.manner(start)
            || self.has_form(start);
        if order {
            return Some(Form::Order);
        }
        let commands = is_in(IMPERATIVES, self.at(start));
        let later = (start + 1..self.words.len()).any(|at| {
            let fresh = self.words[at].fresh;
            let joined = matches!(self.at(at - 1), "and" | "but" | "so" | "please" | "also");
            let from = self.opening(at);
            (fresh || (joined && commands))
                && (self.order(from)
                    || self.wish(from)
                    || self.manner_within(from)
                    || fresh && self.all_of_the_readers(from))
        });
        (later || self.wish(start) || self.duty(start) || self.ban(start)).then_some(Form::Wish)
    }

    /// The first word of weight from there: polite and joining words are passed over.
    fn opening(&self, mut at: usize) -> usize {
        const PASSED: [&str; 15] = [
            "please", "also", "and", "but", "so", "then", "just", "kindly", "ok", "okay", "hi", "hello",
            "oh", "note", "let's",
        ];
        while is_in(&PASSED, self.at(at)) {
            at += 1;
        }
        // Adverbs of manner stand before their verb: "clearly state".
        if self.at(at).len() > 4 && self.at(at).ends_with("ly") && is_in(IMPERATIVES, self.at(at + 1)) {
            return at + 1;
        }
        // List markers and numbers are no words of the sentence.
        if at == 0 && self.at(at).bytes().all(|b| b.is_ascii_digit()) && self.words.len() > 1 {
            at += 1;
        }
        at
    }

    /// `always`, `never`, `don't`, `avoid`, `make sure`, ... with what they order behind them.
    fn order(&self, at: usize) -> bool {
        let next = self.at(at + 1);
        match self.at(at) {
            // A past tense tells what somebody did: "never looked back".
            "always" | "never" => {
                let past = next.len() > 4 && next.ends_with("ed") && !is_in(IMPERATIVES, next);
                !next.is_empty() && !past && !is_in(NOT_ORDERED, next)
            }
            "don't" | "dont" => {
                let next = if next == "ever" { self.at(at + 2) } else { next };
                // Reminders are of one thing.
                let reminds = next == "forget" && !self.has_any(CUES);
                !next.is_empty() && !reminds && !is_in(NOT_ORDERED, next)
            }
            "do" => next == "not" && !self.at(at + 2).is_empty() && !is_in(NOT_ORDERED, self.at(at + 2)),
            "avoid" | "refrain" => !next.is_empty() && !matches!(next, "it" | "that" | "this"),
            "make" => next == "sure" && !self.at(at + 2).is_empty(),
            "ensure" => !next.is_empty() && !matches!(next, "is" | "was" | "has" | "had"),
            // What holds of somebody for good: "remember that I'm ...".
            "remember" => next == "to" || next == "that" && is_in(&OWN, self.at(at + 2)),
            "keep" => {
                let alone = matches!(next, "it" | "that" | "them") && self.at(at + 2).is_empty();
                !next.is_empty() && !alone && !is_in(NOT_KEPT, next) && !self.says(at, "keep in touch")
            }
            "stop" => next.len() > 4 && next.ends_with("ing"),
            "only" => is_in(IMPERATIVES, next) || next == "ever" && is_in(IMPERATIVES, self.at(at + 2)),
            "must" => is_in(&["not", "never", "always"], next),
            // Verbs of attitude: nobody is told to prefer something once.
            "prefer" | "favour" | "favor" | "respect" | "adhere" => {
                !next.is_empty() && !self.has_any(ONE_OFF)
            }
            "stick" | "optimize" | "optimise" => {
                matches!(next, "to" | "for") || next == "with" && self.is_rule(at)
            }
            "act" | "think" => matches!(next, "as" | "like"),
            _ => false,
        }
    }

    /// `when you ..., do ...`: a condition, a comma, an instruction.
    fn condition(&self, at: usize) -> bool {
        let subject = self.at(at + 1);
        let conditional = match self.at(at) {
            // What comes before or after a thing at hand comes once.
            "before" | "after" => {
                is_in(&["you", "i", "every", "each", "any", "we"], subject) || subject.ends_with("ing")
            }
            "when" | "whenever" | "if" | "unless" | "until" | "once" | "wherever" => true,
            "every" | "each" | "any" => subject == "time",
            "for" | "in" | "with" | "at" | "on" | "to" | "under" => self.is_of_each(at + 1),
            "by" => subject == "default",
            "as" => self.says(at, "as a rule") || self.says(at, "as a general rule"),
            _ => false,
        };
        let chance = [
            "have time",
            "get a chance",
            "have a moment",
            "have a minute",
            "get around to",
        ];
        if !conditional || self.find(&chance).is_some() {
            return false;
        }
        let mut behind = at + 1..self.words.len();
        let comma = behind.find(|index| self.words[*index].fresh && self.instructs(*index));
        comma.is_some_and(|comma| !(at + 1..comma).any(|index| is_in(ONE_OFF, self.at(index))))
    }

    /// Whether what stands there up to the next comma is one of many: `each ...`, `the end of every ...`.
    fn is_of_each(&self, at: usize) -> bool {
        let many = ["every", "each", "any", "all"];
        let phrase = (at..self.words.len()).take_while(|index| *index == at || !self.words[*index].fresh);
        phrase.take(6).any(|index| is_in(&many, self.at(index)))
    }

    /// Whether an instruction begins there.
    fn instructs(&self, at: usize) -> bool {
        let from = self.opening(at);
        is_in(IMPERATIVES, self.at(from)) || self.order(from) || self.wish(from)
    }

    /// `write in ...`, `use only ...`, `call me ...`, and an imperative with a word that makes it a rule.
    fn manner(&self, at: usize) -> bool {
        let (verb, next) = (self.at(at), self.at(at + 1));
        if self.words[at..].iter().any(|word| is_in(ONE_OFF, &word.text)) {
            return false;
        }
        if self.manner_within(at) {
            return true;
        }
        let rest = at + 1..self.words.len();
        match verb {
            "call" if next == "me" || next == "the" => self.words.len() > at + 3,
            "address" => next == "me",
            "be" if self.find(&["with me", "to me"]).is_some() => true,
            "speak" | "talk" => rest.clone().any(|index| is_in(&["me", "in"], self.at(index))),
            "refer" | "treat" => rest.clone().any(|index| self.at(index) == "as"),
            "assume" => !next.is_empty(),
            // Orders of their own, or none: "stop by whenever you like".
            "stop" | "keep" | "remember" => false,
            "let" => next == "me" && self.has_any(&["first", "before", "each", "every", "any"]),
            _ => is_in(IMPERATIVES, verb) && self.is_rule(at),
        }
    }

    /// A verb of form with a manner behind it.
    fn manner_within(&self, at: usize) -> bool {
        let (verb, next) = (self.at(at), self.at(at + 1));
        if !is_in(FORM_VERBS, verb) {
            return false;
        }
        match verb {
            // These begin and end things at hand as well.
            "begin" | "start" => is_in(&["every", "all", "each", "your"], next),
            "keep" => {
                is_in(MANNERS, next) && !self.says(at, "keep in touch") && !self.says(at, "keep in mind")
            }
            _ => is_in(MANNERS, next),
        }
    }

    /// Whether what follows an imperative makes it hold for more than one occasion.
    fn is_rule(&self, at: usize) -> bool {
        let conditions = [
            "before you",
            "no more than",
            "at most",
            "at least",
            "rather than",
            "at all",
            "for all",
            "in all",
            "across all",
        ];
        if self.all_of_the_readers(at) {
            return true;
        }
        (at + 1..self.words.len()).any(|index| {
            let ahead = self.at(index) == "before" && self.at(index + 1).ends_with("ing");
            let cue = is_in(CUES, self.at(index)) && !self.says(index, "any more");
            let contrast = self.words[index].fresh && matches!(self.at(index), "not" | "no");
            cue || contrast || ahead || conditions.iter().any(|phrase| self.says(index, phrase))
        })
    }

    /// `... in all of your answers`, `... everything you write`: an imperative of all that the reader does.
    fn all_of_the_readers(&self, at: usize) -> bool {
        const ALL: [&str; 9] = [
            "all of your",
            "all your",
            "everything you",
            "anything you",
            "everything we",
            "anything we",
            "whatever you",
            "as if i",
            "like i'm",
        ];
        let behind = self.find(&ALL).is_some_and(|found| found > at);
        behind && is_in(IMPERATIVES, self.at(at))
    }

    /// Phrases that set a rule wherever they stand.
    pub fn phrase(&self) -> bool {
        const LASTING: [&str; 10] = [
            "from now on",
            "from here on",
            "from this point on",
            "going forward",
            "henceforth",
            "until further notice",
            "under no circumstances",
            "at all times",
            "unless i say",
            "unless i tell",
        ];
        if self.find(&LASTING).is_some() {
            return true;
        }
        if let Some(at) = self.find(&["for the rest of"]) {
            let thing = [
                "session",
                "project",
                "conversation",
                "chat",
                "thread",
                "discussion",
            ];
            return (at + 4..self.words.len().min(at + 7)).any(|index| is_in(&thing, self.at(index)));
        }
        let here = [
            "session",
            "project",
            "conversation",
            "chat",
            "thread",
            "repository",
            "repo",
            "codebase",
        ];
        let Some(at) = self.find(
            &here
                .map(|thing| format!("in this {thing}"))
                .each_ref()
                .map(|s| &**s),
        ) else {
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

    fn speaks_of_the_reader(&self) -> bool {
        const READER: [&str; 9] = [
            "your",
            "show me",
            "tell me",
            "ask me",
            "let me",
            "my name",
            "any file",
            "every reply",
            "every answer",
        ];
        let last = self.words.len().saturating_sub(1);
        self.find(&READER).is_some() || (0..last).any(|at| self.at(at) == "you")
    }
}
