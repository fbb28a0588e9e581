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
mod forms;
mod frame;
pub(in crate::filter) mod handoff;
mod harness;
mod instructions;
mod overruled;
mod prior;
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
use choose::{Choosing, Fading};
pub use dates::Dates;
pub(in crate::filter) use harness::is_harness;
pub use instructions::strength;
pub use prior::Prior;
pub(in crate::filter) use registry::without_list_mark;
pub use registry::{Instructions, Rule, standing};
pub(in crate::filter) use sentences::ranges as sentence_ranges;
pub use shorten::shorten;
pub use terms::{for_each_term, terms};
pub use weight::weight;

use crate::model::message::Role;
use entry::Entry;
use frame::Head;
pub(in crate::filter) use handoff::Facts;
use std::borrow::Cow;
use std::collections::HashSet;
use units::Unit;

/// Tokens of a unit beyond those of its line, as of a message beyond those of its text.
const OVERHEAD: u64 = 4;

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
    pub id: Cow<'a, str>,
    /// Who speaks.
    pub role: Role,
    /// For a tool's result, whose it is.
    pub tool: Option<Cow<'a, str>>,
    /// When, as the message has it; only a day in front of it is read.
    pub timestamp: Option<&'a str>,
    /// What is said: without reasoning, media as marks, a tool's result with its middle elided.
    pub text: Cow<'a, str>,
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
    count: &dyn Fn(&str) -> u64,
) -> Result<Summary, Failure> {
    let mut earlier = previous.map(text::read).unwrap_or_default();
    let cost = |instruction: &Instruction| count(&instruction.lines());
    let instructions = registry::registry(rules_from, &earlier.instructions, options, &cost)?;
    if options.style.instructions != Instructions::Auto {
        demote(&mut earlier);
    }
    let head = earlier.head.and(head(sources));
    let covered = options.covered.unwrap_or_else(|| {
        let texts = sources.iter().map(|source| count(&source.text)).sum::<u64>();
        texts + previous.map_or(0, count)
    });
    let longest = units::longest(options.budget, covered);
    let mut units = units::units(sources, earlier.entries, longest, count);
    let registered: HashSet<&str> = instructions.iter().map(|one| one.text.as_str()).collect();
    units.retain(|unit| !registered.contains(unit.text()));

    let beginning = text::beginning(&head, &instructions);
    let (text, kept) = fill(&beginning, &units, options, count);
    if kept.is_empty() && instructions.is_empty() {
        return Err(nothing(&beginning, &units, options, count));
    }
    let mut quoted: Vec<usize> = kept.iter().filter_map(|unit| units[*unit].source).collect();
    quoted.dedup();
    Ok(Summary {
        tokens: accept(&text, options.budget, covered, count)?,
        quoted: quoted
            .into_iter()
            .map(|source| sources[source].id.to_string())
            .collect(),
        instructions: instructions.into_iter().map(|one| one.text).collect(),
        text,
    })
}

/// Hands over a session with tools: its facts and those that an earlier summary named, block by block. As [`extract`] otherwise.
pub fn hand_over(
    facts: Facts<'_>,
    sources: &[Source<'_>],
    rules_from: &[Source<'_>],
    previous: Option<&str>,
    options: &Options,
    count: &dyn Fn(&str) -> u64,
) -> Result<Summary, Failure> {
    let mut earlier = previous.map(text::read).unwrap_or_default();
    let cost = |instruction: &Instruction| count(&instruction.lines());
    let instructions = registry::registry(rules_from, &earlier.instructions, options, &cost)?;
    if options.style.instructions != Instructions::Auto {
        demote(&mut earlier);
    }
    let beginning = text::beginning(&earlier.head.and(head(sources)), &instructions);
    earlier.facts.earlier.extend(earlier.entries);
    let mut facts = earlier.facts.and(facts);
    let registered: HashSet<&str> = instructions.iter().map(|one| one.text.as_str()).collect();
    facts
        .requests
        .retain(|request| !registered.contains(request.trim()));
    let mut room = options.budget.saturating_sub(count(&beginning));
    let written = |room: u64| {
        format!(
            "{beginning}{}",
            handoff::write(&facts, &options.style.questions, room, count)
        )
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
        instructions: instructions.into_iter().map(|one| one.text).collect(),
        text,
    })
}

/// Whether an earlier summary hands over a session with tools.
pub fn is_handoff(summary: &str) -> bool {
    text::read(summary).facts.hands_over()
}

/// The standing instructions alone, for a summary that somebody else writes: those that [`extract`] would put into its block.
///
/// # Errors
/// A rule names a message that is not there.
pub fn instructions(
    rules_from: &[Source<'_>],
    previous: Option<&str>,
    options: &Options,
    count: &dyn Fn(&str) -> u64,
) -> Result<Vec<Instruction>, Failure> {
    let earlier = previous.map(text::read).unwrap_or_default();
    let cost = |instruction: &Instruction| count(&instruction.lines());
    registry::registry(rules_from, &earlier.instructions, options, &cost)
}

/// Why not one unit is in the summary.
fn nothing(beginning: &str, units: &[Unit], options: &Options, count: &dyn Fn(&str) -> u64) -> Failure {
    let says = |unit: &&Unit| !terms(unit.text()).is_empty();
    let shortest = units
        .iter()
        .filter(says)
        .min_by_key(|unit| count(&unit.entry.line()));
    match shortest {
        None => Failure::Blank,
        unit => Failure::OverBudget {
            tokens: count(&text::write(
                beginning,
                unit.map(|unit| &unit.entry).into_iter(),
                options.style.dates,
            )) + OVERHEAD,
            budget: options.budget,
        },
    }
}

/// Instructions that are no longer asked for are lines like all others.
fn demote(earlier: &mut text::Earlier) {
    let lines = earlier.instructions.drain(..).map(|one| Entry {
        role: one.speaker,
        speaker: one
            .speaker
            .map_or(String::new(), |role| frame::speaker(role, None)),
        text: one.text,
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

/// The text of the chosen units, and which they are, in their order. A unit is charged as a message would be, so
/// that the text leaves room: what it leaves is given out again until that brings in no more.
fn fill(
    beginning: &str,
    units: &[Unit],
    options: &Options,
    count: &dyn Fn(&str) -> u64,
) -> (String, Vec<usize>) {
    let candidates = candidates(units, count);
    let choosing = Choosing::among(&candidates);
    let mut room = options.budget.saturating_sub(count(beginning));
    let mut made = fit(
        beginning,
        units,
        &choosing.choose_for(&options.style.questions, room, Fading::Slow),
        options,
        count,
    );
    // Each round leaves a fraction of what the one before left, some four tokens of a unit's thirty.
    for _ in 0..ROUNDS {
        let left = options.budget.saturating_sub(count(&made.0));
        room += left;
        let more = fit(
            beginning,
            units,
            &choosing.choose_for(&options.style.questions, room, Fading::Slow),
            options,
            count,
        );
        if left == 0 || more.1.len() <= made.1.len() {
            break;
        }
        made = more;
    }
    made
}

/// The units as what is chosen from.
fn candidates<'u>(units: &'u [Unit], count: &dyn Fn(&str) -> u64) -> Vec<Candidate<'u>> {
    units
        .iter()
        .enumerate()
        .map(|(index, unit)| {
            // A further sentence needs no line of its own.
            let further = unit.entry.part.is_some_and(|part| part.nth > 0);
            Candidate {
                text: unit.text(),
                prior: Prior::of(unit.text())
                    .role(unit.entry.role)
                    .recency(index, units.len())
                    .told(unit.text(), answers(units, index)),
                tokens: match further {
                    true => count(unit.text()) + OVERHEAD - 1,
                    false => count(&unit.entry.line()) + OVERHEAD,
                },
            }
        })
        .collect()
}

/// Most characters from the end of a message in which a question is looked for.
const ASKED: usize = 60;

/// Whether a unit is of a message whose one before is somebody else's and ends with a question.
fn answers(units: &[Unit], index: usize) -> bool {
    let own = &units[index].entry;
    let of = own.part.map(|part| part.of);
    let before = units[..index]
        .iter()
        .rev()
        .find(|unit| unit.entry.part.map(|part| part.of) != of);
    before.is_some_and(|before| {
        before.entry.role != own.role && before.entry.text.chars().rev().take(ASKED).any(|c| c == '?')
    })
}

/// The text of as many of the picked units as fit, and which they are, in their order. The unit that was picked
/// last goes first. How many must go is searched by halves, for a text does not get longer when a unit goes; what
/// a tokenizer does at the seams is made good one by one.
fn fit(
    beginning: &str,
    units: &[Unit],
    picked: &[usize],
    options: &Options,
    count: &dyn Fn(&str) -> u64,
) -> (String, Vec<usize>) {
    let written = |length: usize| {
        let mut kept = picked[..length].to_vec();
        kept.sort_unstable();
        let text = text::write(
            beginning,
            kept.iter().map(|unit| &units[*unit].entry),
            options.style.dates,
        );
        (text, kept)
    };
    let fits = |length: usize| count(&written(length).0) <= options.budget;
    let (mut low, mut high) = (0, picked.len());
    if fits(high) {
        return written(high);
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        match fits(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    written(low)
}
