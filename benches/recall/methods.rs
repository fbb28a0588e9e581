//! The compared methods of shortening a conversation.

use super::compacted::{Compacted, STRATEGIES, unmarked};
use super::dialogue::{Dialogue, Kept, count};
use convo::filter::summarize::{
    Dates, ExtractOptions, InstructionSource, Instructions, Prior, SummarySource, UnitCandidate, choose, day,
    detected, extract,
};

/// A method of shortening a conversation. It does not know the questions.
pub trait Method {
    fn name(&self) -> String;
    fn keep(&self, dialogue: &Dialogue, budget: u64) -> Kept;
}

/// All compared methods, in table order. A new one is a type below and an entry here.
pub fn methods() -> Vec<Box<dyn Method>> {
    let mut methods: Vec<Box<dyn Method>> = vec![
        Box::new(KeepLast),
        Box::new(Coverage {
            fact: false,
            whole: false,
        }),
        Box::new(Coverage {
            fact: true,
            whole: false,
        }),
        Box::new(Coverage {
            fact: true,
            whole: true,
        }),
        Box::new(Extract {
            name: "extract, no dates, no rules",
            dates: Dates::Off,
            rules: false,
        }),
        Box::new(Extract {
            name: "extract, no rules",
            dates: Dates::Short,
            rules: false,
        }),
        Box::new(Extract {
            name: "extract (defaults)",
            dates: Dates::Short,
            rules: true,
        }),
    ];
    for strategy in STRATEGIES {
        methods.push(Box::new(Compacted(strategy)));
    }
    methods
}

/// Keeps the newest turns that fit, the usual default.
struct KeepLast;

impl Method for KeepLast {
    fn name(&self) -> String {
        "keep-last".into()
    }

    fn keep(&self, dialogue: &Dialogue, budget: u64) -> Kept {
        let mut rest = budget;
        let newest = dialogue.turns.iter().enumerate().rev();
        let fitting = newest.map_while(|(index, turn)| {
            rest = rest.checked_sub(turn.tokens)?;
            Some(index)
        });
        Kept::of(dialogue, fitting.collect())
    }
}

/// The summarizer's selection alone, over whole turns: by coverage, with factual content, and also with role and
/// recency.
struct Coverage {
    fact: bool,
    whole: bool,
}

impl Method for Coverage {
    fn name(&self) -> String {
        match (self.fact, self.whole) {
            (false, _) => "coverage / tokens".into(),
            (true, false) => "coverage x fact / tokens".into(),
            (true, true) => "the same with role and recency".into(),
        }
    }

    fn keep(&self, dialogue: &Dialogue, budget: u64) -> Kept {
        let units = dialogue.turns.iter().enumerate().map(|(index, turn)| {
            let mut prior = if self.fact {
                Prior::of(&turn.text)
            } else {
                Prior::NEUTRAL
            };
            if self.whole {
                prior = prior.role(Some(turn.role)).recency(index, dialogue.turns.len());
            }
            UnitCandidate {
                text: &turn.text,
                prior: prior.product(),
                tokens: turn.tokens,
            }
        });
        Kept::of(dialogue, choose(&units.collect::<Vec<_>>(), budget))
    }
}

/// The built-in summary as a text with its head, dates and rules within the budget.
struct Extract {
    name: &'static str,
    dates: Dates,
    rules: bool,
}

impl Method for Extract {
    fn name(&self) -> String {
        self.name.into()
    }

    fn keep(&self, dialogue: &Dialogue, budget: u64) -> Kept {
        let sources: Vec<SummarySource<'_>> = dialogue
            .turns
            .iter()
            .map(|turn| SummarySource {
                role: turn.role,
                tool: None,
                day: day(&turn.time),
                text: turn.text.as_str().into(),
                is_escaped: false,
                tokens: None,
            })
            .collect();
        let turns = dialogue.turns.iter();
        let rules: Vec<InstructionSource<'_>> = turns
            .map(|turn| InstructionSource::Detected(detected(&turn.text, turn.role).collect()))
            .collect();
        let mut options = ExtractOptions::new(budget);
        options.style.dates = self.dates;
        if !self.rules {
            options.style.instructions = Instructions::Off;
        }
        match extract(&sources, &rules, None, &options, &count) {
            Ok(summary) => Kept::quoted(dialogue, unmarked(&summary.text), summary.tokens),
            Err(failure) => {
                eprintln!("{}: {failure}", self.name);
                Kept::of(dialogue, Vec::new())
            }
        }
    }
}
