//! A summary without a model: the units of what is to be summed up that say most for their tokens, word for word,
//! under their days; and the standing instructions in a block of their own. No network, no clock, no chance:
//! the same input gives the same bytes on every machine.
//!
//! [`extract`] makes the text. [`choose()`] is the choice alone, [`shorten()`] makes another's summary fit, [`accept()`]
//! is what every summary must pass, whoever wrote it. How it is handed to a model, `model/summary.rs` says.

mod accept;
mod block;
mod choose;
mod dates;
mod entry;
mod fill;
mod forms;
mod frame;
mod greedy;
pub(in crate::filter) mod handoff;
mod harness;
mod instructions;
mod marks;
mod numbers;
mod overruled;
mod prior;
mod reader;
mod registry;
mod sentences;
mod shorten;
mod terms;
#[cfg(test)]
mod tests;
mod text;
mod units;
mod vocabulary;
mod weight;
mod wishes;

pub use accept::{Failure, accept, is_blank};
pub use block::Instruction;
pub(in crate::filter) use block::{instruction_block, without_headings, without_instructions};
pub use choose::{Candidate, choose};

pub use dates::Dates;
pub(in crate::filter) use greedy::{Offer, Offers, sum, take_best};
pub(in crate::filter) use harness::is_harness;
pub use instructions::strength;
pub(in crate::filter) use prior::MONTHS;
pub use prior::Prior;
pub(in crate::filter) use reader::{Reader, read_all};
pub(in crate::filter) use registry::instructs;
pub(in crate::filter) use registry::without_list_mark;
pub use registry::{Instructions, Rule, standing};
pub(in crate::filter) use sentences::ranges as sentence_ranges;
pub use shorten::shorten;
pub use terms::{for_each_term, terms};
pub use weight::{weight, weights};

use crate::model::message::Role;
use entry::{Count, Entry};
use frame::Head;
pub(in crate::filter) use handoff::Facts;
use std::borrow::Cow;
use std::collections::HashSet;
use units::Units;

/// Most times that what a text leaves of its budget is given out again: after three some thousandth of it is left.
const ROUNDS: usize = 3;

/// What a summary is to be like, whoever asks for it.
#[derive(Clone, Debug)]
pub struct Style {
    /// The role under which it is shown; none: what the target takes best.
    pub role: Option<String>,
    /// How dates are shown.
    pub dates: Dates,
    /// Where the standing instructions come from.
    pub instructions: Instructions,
    /// How much of the budget those that are found may take, per cent. Those that are given take what they need.
    pub instruction_share: u32,
    /// What will be asked: half of what is quoted goes by these.
    pub questions: Vec<String>,
    /// Whether a session with tools is handed over in blocks.
    pub handoff: bool,
}

impl Default for Style {
    /// Short dates, instructions found, at most a quarter for them.
    fn default() -> Style {
        Style {
            role: None,
            dates: Dates::default(),
            instructions: Instructions::default(),
            instruction_share: 25,
            questions: Vec::new(),
            handoff: true,
        }
    }
}

/// One summary.
#[derive(Clone, Debug)]
pub struct Options {
    /// Most tokens of the whole text.
    pub budget: u64,
    /// What it is to be like.
    pub style: Style,
    /// What the span costs that the summary stands for; none counts the texts of the sources.
    pub covered: Option<u64>,
}

impl Options {
    /// The default style with this budget.
    pub fn new(budget: u64) -> Options {
        Options {
            budget,
            style: Style::default(),
            covered: None,
        }
    }
}

/// A message to sum up, or to look for instructions in.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Its id.
    pub id: Box<str>,
    /// Who speaks.
    pub role: Role,
    /// For a tool's result, whose it is.
    pub tool: Option<Box<str>>,
    /// When, as the message has it; only a day in front of it is read.
    pub timestamp: Option<&'a str>,
    /// What is said: without reasoning, media as marks, a tool's result with its middle elided.
    pub text: Cow<'a, str>,
    /// Its tokens, where they are known.
    pub tokens: Option<u32>,
}

/// A summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// Its tokens.
    pub tokens: u64,
    /// Ids of the messages that it quotes, in their order, each once.
    pub quoted: Vec<String>,
    /// The standing instructions in it, in its order.
    pub instructions: Vec<String>,
}

/// Sums up messages, oldest first. `rules_from` is the whole log, of which only users, system and developer are
/// heard; `previous` is the summary that this one replaces; `count` is the tokenizer.
///
/// Whatever cannot become a summary is told: nothing is left out of a session because of it.
pub fn extract(
    sources: &[Source<'_>],
    rules_from: &[Source<'_>],
    previous: Option<&str>,
    options: &Options,
    count: Count<'_>,
) -> Result<Summary, Failure> {
    let (earlier, instructions, beginning) = begun(sources, rules_from, previous, options, count)?;
    let covered = options.covered.unwrap_or_else(|| {
        let texts = sources.iter().map(|source| count(&source.text)).sum::<u64>();
        texts + previous.map_or(0, count)
    });
    let longest = units::longest(options.budget, covered);
    let mut units = Units::of(sources, earlier.entries, longest, count);
    let registered: HashSet<&str> = instructions.iter().map(String::as_str).collect();
    units.retain(|text| !registered.contains(text));
    let (text, kept) = fill::fill(&beginning, &units, options, count);
    if kept.is_empty() && instructions.is_empty() {
        return Err(fill::nothing(&beginning, &units, options, count));
    }
    let mut quoted: Vec<usize> = kept.iter().filter_map(|unit| units.source(*unit)).collect();
    quoted.dedup();
    Ok(Summary {
        tokens: accept(&text, options.budget, covered, count)?,
        quoted: quoted
            .into_iter()
            .map(|source| sources[source].id.to_string())
            .collect(),
        instructions,
        text,
    })
}

/// The summary before, taken apart; the standing instructions; and the text of these, under its first line.
fn begun(
    sources: &[Source<'_>],
    rules_from: &[Source<'_>],
    previous: Option<&str>,
    options: &Options,
    count: Count<'_>,
) -> Result<(text::Earlier, Vec<String>, String), Failure> {
    let mut earlier = previous.map(text::read).unwrap_or_default();
    let cost = |instruction: &Instruction| count(&instruction.lines());
    let instructions = registry::registry(rules_from, &earlier.instructions, options, &cost)?;
    if options.style.instructions != Instructions::Auto {
        demote(&mut earlier);
    }
    let beginning = text::beginning(&earlier.head.and(head(sources)), &instructions);
    let instructions = instructions.into_iter().map(|one| one.text).collect();
    Ok((earlier, instructions, beginning))
}

/// Hands over a session with tools: its facts and those that an earlier summary named, block by block. As [`extract`] otherwise.
pub fn hand_over(
    facts: Facts<'_>,
    sources: &[Source<'_>],
    rules_from: &[Source<'_>],
    previous: Option<&str>,
    options: &Options,
    count: Count<'_>,
) -> Result<Summary, Failure> {
    let (mut earlier, instructions, beginning) = begun(sources, rules_from, previous, options, count)?;
    earlier.facts.earlier.extend(earlier.entries);
    let mut facts = earlier.facts.and(facts);
    let registered: HashSet<&str> = instructions.iter().map(String::as_str).collect();
    facts
        .requests
        .retain(|request| !registered.contains(request.trim()));
    let mut room = options.budget.saturating_sub(count(&beginning));
    let blocks = handoff::Blocks::of(&facts, &options.style.questions, count);
    let written = |room: u64| {
        format!("{beginning}{}", blocks.write(room))
            .trim_end()
            .to_string()
    };
    let mut text = written(room);
    // What the blocks leave is given out again, and what they took too much is taken back.
    for _ in 0..ROUNDS {
        let tokens = count(&text);
        let more = match options.budget.checked_sub(tokens) {
            Some(0) => break,
            Some(left) => room + left,
            None => room.saturating_sub(tokens - options.budget),
        };
        let other = written(more);
        if tokens <= options.budget && !(tokens..=options.budget).contains(&count(&other)) {
            break;
        }
        (room, text) = (more, other);
    }
    let says = text.len() > beginning.trim_end().len() || !instructions.is_empty();
    if !says {
        return Err(Failure::Blank);
    }
    Ok(Summary {
        tokens: accept(&text, options.budget, options.covered.unwrap_or(u64::MAX), count)?,
        quoted: Vec::new(),
        instructions,
        text,
    })
}

/// Whether an earlier summary hands over a session with tools.
pub fn is_handoff(summary: &str) -> bool {
    text::read(summary).facts.hands_over()
}

/// Whether a summary was made here: its first line says so.
pub fn is_own(summary: &str) -> bool {
    summary
        .lines()
        .next()
        .is_some_and(|line| Head::read(line).is_some())
}

/// The standing instructions alone, for a summary that somebody else writes: those that [`extract`] would put into its block.
///
/// # Errors
/// A rule names a message that is not there.
pub fn instructions(
    rules_from: &[Source<'_>],
    previous: Option<&str>,
    options: &Options,
    count: Count<'_>,
) -> Result<Vec<Instruction>, Failure> {
    let earlier = previous.map(text::read).unwrap_or_default();
    let cost = |instruction: &Instruction| count(&instruction.lines());
    registry::registry(rules_from, &earlier.instructions, options, &cost)
}

/// Instructions that are no longer asked for are lines like all others.
fn demote(earlier: &mut text::Earlier) {
    let lines = earlier.instructions.drain(..).map(|one| Entry {
        role: one.speaker,
        speaker: one
            .speaker
            .map_or(Cow::Borrowed(""), |role| frame::speaker(role, None)),
        text: Cow::Owned(one.text),
        day: None,
        part: None,
    });
    earlier.entries.splice(0..0, lines.collect::<Vec<_>>());
}

fn head(sources: &[Source<'_>]) -> Head {
    let days = sources
        .iter()
        .filter_map(|source| source.timestamp.and_then(dates::day));
    let span = days.fold(None, |span, day| match span {
        None => Some((day, day)),
        Some((first, last)) => Some((day.min(first), day.max(last))),
    });
    Head {
        messages: sources.len() as u64,
        days: span,
    }
}
