//! What a provider's interface takes: the rules that a history breaks, and their repair.
//!
//! Rules look at *elements*, the messages, items or turns as a request holds them. A few facts are read from each
//! element once; the rules run over these, and a repair reads anew only what it changed.

mod anthropic;
mod gemini;
mod history;
mod ids;
mod openai_chat;
mod openai_responses;
mod options;
mod raw;
mod rules;
mod structure;
#[cfg(test)]
pub(crate) mod tests;

pub use crate::format::request::Api;
pub use history::{Change, Fixed, Mended};
pub use options::Options;
pub use rules::{ALTERNATE, Level, RULES, Rule, STRUCTURE};
pub use structure::structure;

use history::Provider;

/// What a history does against a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// How grave it is under the options of the check.
    pub level: Level,
    /// Whose rule it is; none: of every history.
    pub api: Option<Api>,
    /// The element, from 0; of a broken structure, the item of the view.
    pub index: usize,
    /// What is wrong, in words.
    pub message: String,
    /// The call, result or part inside the element.
    part: usize,
    /// Whether it is a call that may still be answered: it stays as it is.
    open: bool,
}

impl Finding {
    /// The call, result or part inside the element that is meant, from 0.
    pub fn part(&self) -> usize {
        self.part
    }

    /// Whether the history cannot be sent.
    pub fn is_error(&self) -> bool {
        self.level == Level::Error
    }
}

/// Which way a repair goes where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The smallest piece that breaks the rule goes.
    Drop,
    /// What is missing is put in.
    Stub,
    /// A result without its call becomes text.
    Text,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Drop, Mode::Stub, Mode::Text];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Drop => "drop",
            Mode::Stub => "stub",
            Mode::Text => "text",
        }
    }
}

/// How a history is to be repaired.
#[derive(Clone, Copy, Debug)]
pub struct Repair<'a> {
    /// Which way; none: for each rule the first that the table names.
    pub mode: Option<Mode>,
    /// Whether warnings are repaired too, and not only errors.
    pub warnings: bool,
    /// The session's id, from which new ids are derived.
    pub session: &'a str,
}

/// What a history does against the rules of an interface, by element.
pub fn check<T: AsRef<[u8]>>(api: Api, elements: &[T], options: &Options) -> Vec<Finding> {
    match api {
        Api::OpenaiChat => look::<openai_chat::Chat, T>(elements, options),
        Api::OpenaiResponses => look::<openai_responses::Responses, T>(elements, options),
        Api::Anthropic => look::<anthropic::Anthropic, T>(elements, options),
        Api::Gemini => look::<gemini::Gemini, T>(elements, options),
    }
}

/// Repairs a history until no finding is left that can be repaired. Every other element keeps its bytes.
pub fn fix<T: AsRef<[u8]>>(api: Api, elements: &[T], options: &Options, repair: &Repair<'_>) -> Fixed {
    match api {
        Api::OpenaiChat => history::fix::<openai_chat::Chat, T>(elements, options, repair),
        Api::OpenaiResponses => history::fix::<openai_responses::Responses, T>(elements, options, repair),
        Api::Anthropic => history::fix::<anthropic::Anthropic, T>(elements, options, repair),
        Api::Gemini => history::fix::<gemini::Gemini, T>(elements, options, repair),
    }
}

/// An id for a message that a repair puts in: derived from the session's id and what the message is for, so that the
/// same history gives the same ids. `nth` tells apart what has the same name.
pub fn message_id(session: &str, about: &str, nth: usize) -> String {
    ids::Ids::new(session).message(about, "", nth)
}

fn look<P: Provider, T: AsRef<[u8]>>(elements: &[T], options: &Options) -> Vec<Finding> {
    let facts: Vec<P::Facts> = elements.iter().map(|raw| P::facts(raw.as_ref())).collect();
    Findings::of::<P>(&facts.iter().collect::<Vec<_>>(), options)
}

/// Findings as they are made.
struct Findings<'o> {
    api: Api,
    options: &'o Options,
    list: Vec<Finding>,
}

impl<'o> Findings<'o> {
    fn of<P: Provider>(elements: &[&P::Facts], options: &'o Options) -> Vec<Finding> {
        let mut findings = Findings {
            api: P::API,
            options,
            list: Vec::new(),
        };
        P::look(elements, &mut findings);
        if options.alternate {
            findings.alternate::<P>(elements);
        }
        findings.list.sort_by_key(|finding| finding.index);
        findings.list
    }

    /// Notes what breaks a rule; `part` says where inside the element.
    fn add(&mut self, id: &str, (index, part): (usize, usize), message: impl FnOnce() -> String) {
        self.note(id, (index, part), false, message);
    }

    /// The same for a call without a result, which may stand `at_end` of the history.
    fn open(&mut self, id: &str, place: (usize, usize), at_end: bool, message: impl FnOnce() -> String) {
        self.note(id, place, at_end && self.options.open_end, message);
    }

    fn note(
        &mut self,
        id: &str,
        (index, part): (usize, usize),
        open: bool,
        message: impl FnOnce() -> String,
    ) {
        // The tests make sure that every id is in the table.
        let Some(rule) = Rule::of(id) else { return };
        let mut level = self.options.level(rule);
        if open {
            level = level.min(Level::Warn);
        }
        if level > Level::Off {
            self.list.push(Finding {
                rule,
                level,
                api: Some(self.api),
                index,
                message: message(),
                part,
                open,
            });
        }
    }

    fn alternate<P: Provider>(&mut self, elements: &[&P::Facts]) {
        let mut before = None;
        for (index, facts) in elements.iter().enumerate() {
            let speaker = P::turn(facts);
            if speaker.is_some() && speaker == before {
                self.add(ALTERNATE.id, (index, 0), || {
                    "it has the role of the one before it".to_string()
                });
            }
            before = speaker;
        }
    }
}
