//! Extractive summaries without a model: quotes the units with the most information per token, grouped by day, and
//! the standing instructions in a separate block. Deterministic: no network, clock or randomness, and the same bytes
//! on every machine.
//!
//! [`extract`] builds the text, [`choose()`] selects the units, [`shorten()`] fits another program's summary into a
//! budget, and [`accept()`] validates every summary. `model/summary.rs` formats the summary for a model.

mod answering;
mod between_people;
mod block;
mod changes;
mod clauses;
mod code_lines;
mod dates;
mod detection;
mod entry;
mod figures;
mod fill;
mod forms;
mod frame;
mod greedy;
pub(in crate::filter) mod handoff;
mod harness;
mod instruction_ranks;
mod instructions;
mod keys;
mod learned;
mod marks;
mod numbers;
mod one_task;
mod options;
mod overruled;
mod pasted;
mod pasted_lines;
mod patterns;
mod permission;
mod prior_weight;
mod quoted_instructions;
mod reader;
mod registered;
mod request_rules;
mod revoking;
mod rule_answers;
mod rule_terms;
mod selection;
mod sentences;
mod shorten;
mod small_talk;
mod term_list;
mod term_weight;
mod terms;
#[cfg(test)]
mod tests;
mod text;
mod text_units;
mod validate;
mod word_lists;
mod words;
mod written_as;

pub use block::Instruction;
pub(in crate::filter) use block::{instruction_block, without_headings, without_instructions};
pub use selection::{UnitCandidate, choose};
pub use validate::{SummaryFailure, accept, is_blank};

pub use dates::{Dates, day};
pub use detection::{DetectedInstruction, detected, standing_instructions};
pub(in crate::filter) use greedy::{GreedyOffer, OfferSource, take_best};
pub(in crate::filter) use harness::own_message_text;
pub use instructions::strength;
pub use options::{ExtractOptions, GivenRule, Instructions, SummaryStyle};
pub(in crate::filter) use prior_weight::MONTHS;
pub use prior_weight::Prior;
pub use quoted_instructions::{InstructionSource, replaced_instructions};
use quoted_instructions::{SelectedInstructions, SessionKind};
pub(in crate::filter) use reader::{TextReader, read_all};
use registered::RegisteredSentences;
pub(in crate::filter) use sentences::{ranges as sentence_ranges, without_list_mark};
pub use shorten::shorten;
pub(in crate::filter) use term_list::TermList;
pub use term_weight::{weight, weights};
pub use terms::{for_each_term, terms};
pub use text_units::SummarySource;
pub(in crate::filter) use text_units::sentence_units;

use between_people::is_between_people;
use entry::{CountFn, QuotedText};
use frame::Head;
pub(in crate::filter) use handoff::SessionFacts;
use small_talk::is_small_talk;
use std::borrow::Cow;
use text_units::Units;

/// Maximum number of times that a handoff is written again because it left tokens unused or exceeded its budget.
const ROUNDS: usize = 6;

/// Part of the budget of a handoff that may remain unused.
const UNUSED: u64 = 100;

/// A summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryText {
    /// The text.
    pub text: String,
    /// Its tokens.
    pub tokens: u64,
    /// Indexes of the quoted messages in order, without duplicates.
    pub quoted: Vec<usize>,
    /// The standing instructions of the summary, in order.
    pub instructions: Vec<String>,
}

/// Summarizes messages, oldest first. `rules_from` is the whole log, in which user, system and developer messages are
/// searched for instructions; `previous` is the summary to replace; `count` is the tokenizer.
///
/// Fails if no valid summary results, so that no message is dropped without one.
pub fn extract(
    sources: &[SummarySource<'_>],
    rules_from: &[InstructionSource<'_>],
    previous: Option<&str>,
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> Result<SummaryText, SummaryFailure> {
    let kind = |earlier: &text::Earlier| match is_between_people(sources, earlier) {
        true => SessionKind::People,
        false => SessionKind::Chat,
    };
    let (earlier, instructions, replaced, beginning) =
        begin_summary(sources, rules_from, previous, kind, options, count)?;
    let covered = options.covered.unwrap_or_else(|| {
        let texts = sources.iter().map(|source| count(&source.decoded())).sum::<u64>();
        texts + previous.map_or(0, count)
    });
    let longest = text_units::longest(options.budget, covered);
    let registered = RegisteredSentences::of(instructions.iter().chain(&replaced).map(String::as_str));
    let mut units = Units::of(sources, earlier.entries, longest, &registered, count);
    if !registered.is_empty() {
        units.retain(|text| !registered.has(text));
    }
    if (0..units.len()).any(|unit| !is_small_talk(&units.text(unit))) {
        units.retain(|text| !is_small_talk(text));
    }
    let (text, kept) = fill::fill(&beginning, &units, options, count);
    if kept.is_empty() && instructions.is_empty() {
        return Err(fill::empty_summary(&beginning, &units, options, count));
    }
    let mut quoted: Vec<usize> = kept.iter().filter_map(|unit| units.source(*unit)).collect();
    quoted.dedup();
    Ok(SummaryText {
        tokens: accept(&text, options.budget, covered, count)?,
        quoted,
        instructions,
        text,
    })
}

/// Parses the previous summary, collects the standing instructions, and writes the beginning of the text.
fn begin_summary(
    sources: &[SummarySource<'_>],
    rules_from: &[InstructionSource<'_>],
    previous: Option<&str>,
    kind: impl Fn(&text::Earlier) -> SessionKind,
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> Result<(text::Earlier, Vec<String>, Vec<String>, String), SummaryFailure> {
    let mut earlier = previous.map(text::read).unwrap_or_default();
    earlier
        .entries
        .retain(|entry| !harness::is_around_summary(&entry.text));
    let kind = kind(&earlier);
    let head = earlier.head.and(head(sources));
    let size = |block: &[Instruction]| count(&text::beginning(&head, block));
    let SelectedInstructions { quoted, replaced } =
        quoted_instructions::registry(rules_from, &earlier.instructions, kind, options, &size, count)?;
    if options.style.instructions != Instructions::Auto {
        demote(&mut earlier);
    }
    let beginning = text::beginning(&head, &quoted);
    let quoted = quoted.into_iter().map(|one| one.text).collect();
    Ok((earlier, quoted, replaced, beginning))
}

/// Writes the handoff of a session with tools: its facts and those of an earlier summary, block by block. Otherwise
/// like [`extract`].
pub fn hand_over(
    facts: SessionFacts<'_>,
    sources: &[SummarySource<'_>],
    rules_from: &[InstructionSource<'_>],
    previous: Option<&str>,
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> Result<SummaryText, SummaryFailure> {
    let (mut earlier, instructions, replaced, beginning) = begin_summary(
        sources,
        rules_from,
        previous,
        |_| SessionKind::Agent,
        options,
        count,
    )?;
    earlier.facts.earlier.extend(earlier.entries);
    let mut facts = earlier.facts.and(facts);
    facts.drop_repeated_notes();
    let registered = RegisteredSentences::of(instructions.iter().chain(&replaced).map(String::as_str));
    facts
        .earlier
        .retain(|entry| !harness::is_around_summary(&entry.text) && !registered.has(&entry.text));
    let requests = facts.requests.into_iter();
    facts.requests = requests
        .filter_map(|request| registered.remove_from(request))
        .collect();
    let mut room = options.budget.saturating_sub(count(&beginning));
    let blocks = handoff::HandoffBlocks::of(&facts, &options.style.questions, count);
    let mut extra = vec![0; blocks.len()];
    let written = |room: u64, extra: &[u64]| {
        format!("{beginning}{}", blocks.write(room, extra))
            .trim_end()
            .to_string()
    };
    let mut text = written(room, &extra);
    // Redistribute tokens that the blocks left unused, or take back what exceeds the budget. If all of the unused tokens
    // are too many, a part of them may be enough for a line.
    let mut divisor = 1;
    for _ in 0..ROUNDS {
        let tokens = count(&text);
        let more = match options.budget.checked_sub(tokens) {
            Some(left) if left < divisor => break,
            Some(left) => room + left / divisor,
            None => room.saturating_sub(tokens - options.budget),
        };
        let other = written(more, &extra);
        if tokens <= options.budget && !(tokens..=options.budget).contains(&count(&other)) {
            divisor *= 2;
            continue;
        }
        (room, text) = (more, other);
    }
    // A line may need all tokens that are left, which no share of them is.
    for block in blocks.cut(room) {
        let left = options.budget.saturating_sub(count(&text));
        if left <= options.budget / UNUSED {
            break;
        }
        extra[block] = left;
        let other = written(room, &extra);
        match other.len() > text.len() && count(&other) <= options.budget {
            true => text = other,
            false => extra[block] = 0,
        }
    }
    let says = text.len() > beginning.trim_end().len() || !instructions.is_empty();
    if !says {
        return Err(SummaryFailure::Blank);
    }
    Ok(SummaryText {
        tokens: accept(&text, options.budget, options.covered.unwrap_or(u64::MAX), count)?,
        quoted: Vec::new(),
        instructions,
        text,
    })
}

/// A text without these sentences; `None` if it consists of them.
pub(in crate::filter) fn without_sentences<'t>(
    text: Cow<'t, str>,
    sentences: &[&str],
) -> Option<Cow<'t, str>> {
    RegisteredSentences::of(sentences.iter().copied()).remove_from(text)
}

/// The facts of a summary that this program wrote.
pub(in crate::filter) fn recorded_facts(summary: &str) -> SessionFacts<'static> {
    text::read(summary).facts
}

/// Whether an earlier summary is a handoff.
pub fn is_handoff(summary: &str) -> bool {
    text::read(summary).facts.hands_over()
}

/// The standing instructions of a summary that this program wrote.
pub(in crate::filter) fn instructions_of(summary: &str) -> Vec<Instruction> {
    text::read(summary).instructions
}

/// Whether this program wrote the summary, recognized by the first line.
pub fn is_own(summary: &str) -> bool {
    summary
        .lines()
        .next()
        .is_some_and(|line| Head::read(line).is_some())
}

/// The standing instructions for a summary by another program: those that [`extract`] would put into its block in a chat with a
/// model.
///
/// # Errors
/// A rule refers to an unknown message.
pub fn instructions(
    rules_from: &[InstructionSource<'_>],
    previous: Option<&str>,
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> Result<Vec<Instruction>, SummaryFailure> {
    let earlier = previous.map(text::read).unwrap_or_default();
    let size = |block: &[Instruction]| count(&instruction_block(block));
    let selected = quoted_instructions::registry(
        rules_from,
        &earlier.instructions,
        SessionKind::Chat,
        options,
        &size,
        count,
    )?;
    Ok(selected.quoted)
}

/// The detected instructions, and those of the summary to replace; without doubtful ones that it does not quote.
pub(in crate::filter) fn certain_instructions(
    rules_from: &[InstructionSource<'_>],
    previous: Option<&str>,
) -> Vec<Instruction> {
    let earlier = previous.map(text::read).unwrap_or_default();
    quoted_instructions::certain(rules_from, &earlier.instructions)
}

/// Turns earlier instructions into ordinary entries when detection is off.
fn demote(earlier: &mut text::Earlier) {
    let lines = earlier.instructions.drain(..).map(|one| QuotedText {
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

fn head(sources: &[SummarySource<'_>]) -> Head {
    let days = sources.iter().filter_map(|source| source.day);
    let span = days.fold(None, |span, day| match span {
        None => Some((day, day)),
        Some((first, last)) => Some((day.min(first), day.max(last))),
    });
    Head {
        messages: sources.len() as u64,
        days: span,
    }
}
