//! Which sentences are standing instructions: rules set once that hold from then on. They are what a summary
//! loses first, so they are kept word for word. Known by their form alone, in English; no meaning is judged.

use super::vocabulary::{
    AT_HAND, CUES, FORM_VERBS, IMPERATIVES, MANNERS, NOT_DEMANDED, NOT_FORBIDDEN, NOT_KEPT, NOT_ORDERED,
    ONE_OFF, is_in,
};

/// Most words of an instruction: nobody sets a rule in more, and the work stays bounded.
const LONGEST: usize = 120;

/// How strongly a sentence reads as a standing instruction, in half points; none when it does not.
///
/// Two points when it opens with an order (`never`, `make sure`, `when you ..., do ...`, `from now on`,
/// `write in ...`), one when it speaks of what the reader does (`your replies`, `show me`), half a one for a word
/// such as `every` or `must`.
pub fn strength(sentence: &str) -> Option<u32> {
    let sentence = Sentence::read(sentence);
    if sentence.words.len() > LONGEST {
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

struct Word {
    /// In lower case, apostrophes straight, hyphens kept.
    text: String,
    /// Whether a comma, semicolon, colon, dash or bracket stands before it.
    fresh: bool,
}

struct Sentence {
    words: Vec<Word>,
    question: bool,
}

impl Sentence {
    fn read(text: &str) -> Sentence {
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
    fn at(&self, index: usize) -> &str {
        self.words.get(index).map_or("", |word| &word.text)
    }

    /// Whether these words stand there, one after the other.
    fn says(&self, index: usize, words: &str) -> bool {
        words
            .split(' ')
            .enumerate()
            .all(|(offset, word)| self.at(index + offset) == word)
    }

    /// Where one of these phrases stands.
    fn find(&self, phrases: &[&str]) -> Option<usize> {
        (0..self.words.len()).find(|at| phrases.iter().any(|phrase| self.says(*at, phrase)))
    }

    fn has_any(&self, list: &[&str]) -> bool {
        self.words.iter().any(|word| is_in(list, &word.text))
    }

    fn form(&self) -> Option<Form> {
        let start = self.opening(0);
        if self.question {
            return self.asked(start).then_some(Form::Wish);
        }
        let phrase = self.phrase();
        let order = phrase || self.order(start) || self.condition(start) || self.manner(start);
        if order {
            return Some(Form::Order);
        }
        let commands = is_in(IMPERATIVES, self.at(start));
        let later = (start + 1..self.words.len()).any(|at| {
            let fresh = self.words[at].fresh;
            let joined = matches!(self.at(at - 1), "and" | "but" | "so" | "please" | "also");
            let from = self.opening(at);
            (fresh || (joined && commands))
                && (self.order(from) || self.wish(from) || self.manner_within(from))
        });
        (later || self.wish(start) || self.duty(start) || self.ban(start)).then_some(Form::Wish)
    }

    /// The first word of weight from there: polite and joining words are passed over.
    fn opening(&self, mut at: usize) -> usize {
        const PASSED: [&str; 14] = [
            "please", "also", "and", "but", "so", "then", "just", "kindly", "ok", "okay", "hi", "hello",
            "oh", "note",
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
            "always" | "never" | "don't" | "dont" => !next.is_empty() && !is_in(NOT_ORDERED, next),
            "do" => next == "not" && !self.at(at + 2).is_empty() && !is_in(NOT_ORDERED, self.at(at + 2)),
            "avoid" | "refrain" => !next.is_empty() && !matches!(next, "it" | "that" | "this"),
            "make" => next == "sure" && !self.at(at + 2).is_empty(),
            "ensure" => !next.is_empty() && !matches!(next, "is" | "was" | "has" | "had"),
            "remember" => next == "to",
            "keep" => {
                let alone = matches!(next, "it" | "that" | "them") && self.at(at + 2).is_empty();
                !next.is_empty() && !alone && !is_in(NOT_KEPT, next) && !self.says(at, "keep in touch")
            }
            "stop" => next.len() > 4 && next.ends_with("ing"),
            "only" => is_in(IMPERATIVES, next),
            "must" => is_in(&["not", "never", "always"], next),
            // Verbs of attitude: nobody is told to prefer something once.
            "prefer" | "favour" | "favor" | "respect" | "adhere" => {
                !next.is_empty() && !self.has_any(ONE_OFF)
            }
            "stick" | "optimize" | "optimise" => matches!(next, "to" | "for"),
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
            "when" | "whenever" | "if" | "unless" | "once" | "wherever" => true,
            "every" | "each" | "any" => subject == "time",
            "for" | "in" | "with" => is_in(&["every", "each", "any", "all"], subject),
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
        comma.is_some_and(|comma| !(at..comma).any(|index| is_in(ONE_OFF, self.at(index))))
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
        ];
        (at + 1..self.words.len()).any(|index| {
            let cue = is_in(CUES, self.at(index)) && !self.says(index, "any more");
            let contrast = self.words[index].fresh && matches!(self.at(index), "not" | "no");
            cue || contrast || conditions.iter().any(|phrase| self.says(index, phrase))
        })
    }

    /// Phrases that set a rule wherever they stand.
    fn phrase(&self) -> bool {
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
        let here = ["session", "project", "conversation", "chat", "thread"];
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
        ours || self.instructs(next) || (at > 0 && self.instructs(self.opening(0)))
    }

    /// `I want you to ...`, `I expect every ...`, `you must not ...`.
    fn wish(&self, at: usize) -> bool {
        const WISHES: [&str; 12] = [
            "i want",
            "i need",
            "i prefer",
            "i expect",
            "i would like",
            "i'd like",
            "i would prefer",
            "i'd prefer",
            "i'd rather",
            "i would rather",
            "i don't want",
            "i do not want",
        ];
        if let Some(wish) = WISHES.iter().find(|wish| self.says(at, wish)) {
            let next = at + wish.split(' ').count();
            let that = usize::from(self.at(next) == "that");
            let object = self.at(next + that);
            let negative = wish.ends_with("not want") || wish.ends_with("don't want");
            let all = is_in(&["you", "all", "every", "each", "no", "only"], object);
            let known = self.has_any(ONE_OFF) || self.at(next + 1) == "to" && self.at(next + 2) == "know";
            return (all || (negative && object == "any")) && !known;
        }
        let assistant = ["the assistant", "the model", "the agent"]
            .iter()
            .any(|name| self.says(at, name));
        let at = at + usize::from(assistant);
        if self.at(at) != "you" && !assistant {
            return false;
        }
        let next = self.at(at + 2);
        match self.at(at + 1) {
            "must" | "should" | "may" | "shall" | "can" => {
                is_in(&["not", "never", "always", "only"], next) && !is_in(&["be", "have"], self.at(at + 3))
                    || self.at(at + 1) != "can" && is_in(IMPERATIVES, next) && !is_in(NOT_DEMANDED, next)
            }
            "cannot" | "can't" | "mustn't" | "shouldn't" => {
                is_in(IMPERATIVES, next) && !is_in(NOT_DEMANDED, next)
            }
            "are" => is_in(&["not", "never"], next) && self.at(at + 3) == "to",
            _ => false,
        }
    }

    /// `every answer should ...`, `all names must ...`, `nothing ... without my ...`: said of all of a kind.
    fn duty(&self, at: usize) -> bool {
        if self.at(at) == "nothing" {
            return self.find(&["without my", "without asking", "unless i"]).is_some();
        }
        let is_modal = |word: &str| is_in(&["must", "should", "shall", "may"], word);
        let Some(modal) = (at + 1..self.words.len().min(at + 9)).find(|index| is_modal(self.at(*index)))
        else {
            return false;
        };
        let may = self.at(modal) == "may" && self.at(modal + 1) != "not";
        let general = (at..modal).all(|index| !is_in(AT_HAND, self.at(index)));
        general && !may && self.at(modal + 1) != "have" && !self.at(modal + 1).is_empty()
    }

    /// `no emojis, please`, `no jokes in your answers`.
    fn ban(&self, at: usize) -> bool {
        let fresh = self.words.get(at + 1).is_none_or(|word| word.fresh);
        let firm = [
            "please", "ever", "anything", "anywhere", "your", "you", "any", "unless", "without",
        ];
        self.at(at) == "no" && !fresh && !is_in(NOT_FORBIDDEN, self.at(at + 1)) && self.has_any(&firm)
    }

    /// `could you always ...?`
    fn asked(&self, at: usize) -> bool {
        let asks = is_in(&["can", "could", "would", "will"], self.at(at)) && self.at(at + 1) == "you";
        let from = at + 2 + usize::from(self.at(at + 2) == "please");
        asks && (is_in(&["always", "never", "only", "stop"], self.at(from)) || self.phrase())
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
