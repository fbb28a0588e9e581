//! Fills the text of a summary with as many units as fit.

use super::entry::{CountFn, QuotedText};
use super::selection::{Fading, UnitCandidates};
use super::text_units::{OVERHEAD, Units};
use super::{Dates, ExtractOptions, Prior, SummaryFailure, terms, text};
use crate::model::threads::over_cores;
use std::borrow::Cow;

/// Maximum number of times that unused budget is redistributed; after three rounds about a thousandth remains.
const ROUNDS: usize = 3;

/// Returns the text of the selected units and their indexes in order. Units are charged with message overhead, so the
/// text is shorter than estimated; the unused budget is redistributed until nothing more fits.
pub(super) fn fill(
    beginning: &str,
    units: &Units<'_>,
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> (String, Vec<usize>) {
    let mut choosing = choosing(units);
    let room = options.budget.saturating_sub(count(beginning));
    let mut choice = choosing.begin(&options.style.questions, room, Fading::Slow);
    let mut more = choice.remaining(room);
    let mut built = (String::new(), Vec::new());
    let mut texts = Vec::new();
    // Each round leaves a fraction of the previous rest: about four tokens of a unit's thirty.
    for _ in 0..=ROUNDS {
        if !choice.select_more(more) && !built.1.is_empty() {
            break;
        }
        let new = &choice.chosen[texts.len()..];
        texts.extend(marked(units, new, options.style.dates));
        // Texts may be large: only one is in memory at a time.
        drop(std::mem::take(&mut built));
        let (text, kept, tokens) = fit(beginning, units, (&choice.chosen, &texts), options, count);
        built = (text, kept);
        more = options.budget.saturating_sub(tokens);
        if built.1.len() < choice.chosen.len() || more == 0 {
            break;
        }
    }
    built
}

/// Converts the units to candidates.
pub(super) fn choosing<'u>(units: &'u Units<'_>) -> UnitCandidates<'u> {
    let answers = answers(units);
    let bytes = (0..units.len()).map(|unit| units.size(unit)).sum();
    let unit = |unit| (units.text(unit), units.tokens(unit));
    UnitCandidates::read((units.len(), bytes), unit, |unit, text, marks| {
        Prior::marked(text, marks)
            .role(units.role(unit))
            .recency(unit, units.len())
            .dialogue(text, marks, answers[unit])
            .product()
    })
}

/// How many characters at the end of a message are searched for a question.
const ASKED: usize = 60;

/// Whether each unit belongs to a message that follows a question by another speaker.
fn answers(units: &Units<'_>) -> Vec<bool> {
    let mut answers = Vec::with_capacity(units.len());
    for unit in 0..units.len() {
        let before = unit.checked_sub(1);
        answers.push(match before {
            Some(before) if units.part_of(before) == units.part_of(unit) => answers[before],
            Some(before) => units.role(before) != units.role(unit) && asks_at_end(&units.text(before)),
            None => false,
        });
    }
    answers
}

/// Whether a text has a question mark near its end.
fn asks_at_end(text: &str) -> bool {
    let end = &text.as_bytes()[text.len().saturating_sub(ASKED)..];
    match end.is_ascii() {
        true => memchr::memchr(b'?', end).is_some(),
        false => text.chars().rev().take(ASKED).any(|c| c == '?'),
    }
}

/// The texts of the selected units with absolute dates.
pub(super) fn marked<'u>(units: &'u Units<'_>, picked: &[usize], dates: Dates) -> Vec<Cow<'u, str>> {
    // Searching for dates is slower per byte than other work.
    let bytes: usize = picked.iter().map(|unit| units.size(*unit)).sum();
    over_cores(picked.len(), bytes * 8, |nth| units.marked(picked[nth], dates))
}

/// Interpolated guesses before binary search.
const PROBES: usize = 12;

/// Writes as many of the selected units as fit; returns the text, the units in order, and the tokens. Units selected
/// last are dropped first. The number to drop is found by search, because dropping a unit never makes the text
/// longer.
pub(super) fn fit(
    beginning: &str,
    units: &Units<'_>,
    (picked, texts): (&[usize], &[Cow<'_, str>]),
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> (String, Vec<usize>, u64) {
    let written = |length: usize| {
        let mut kept: Vec<usize> = (0..length).collect();
        kept.sort_unstable_by_key(|nth| picked[*nth]);
        let entries = kept.iter().map(|nth| QuotedText {
            text: Cow::Borrowed(&*texts[*nth]),
            ..units.entry(picked[*nth])
        });
        let text = text::write(beginning, entries, options.style.dates);
        kept.iter_mut().for_each(|nth| *nth = picked[*nth]);
        (text, kept)
    };
    let (text, kept) = written(picked.len());
    let tokens = count(&text);
    if tokens <= options.budget {
        return (text, kept, tokens);
    }
    drop((text, kept));
    let tokens_of = |length: usize| count(&written(length).0);
    let (mut low, mut high) = ((0, tokens_of(0)), (picked.len(), tokens));
    // The length of the text is about proportional to the number of units. Probe slightly above or below the
    // estimate, so that both bounds converge.
    let mut more = None;
    for probe in 0.. {
        let span = high.0 - low.0;
        if span <= 1 {
            break;
        }
        let least = low.1;
        let (room, all) = (options.budget.saturating_sub(least), high.1.saturating_sub(least));
        let guess = match probe < PROBES {
            true => (span as u128 * u128::from(room) / u128::from(all.max(1))) as usize,
            false => span / 2,
        };
        let guess = match more {
            Some(true) => guess + span.isqrt(),
            Some(false) => guess.saturating_sub(span.isqrt()),
            None => guess,
        };
        let middle = low.0 + guess.clamp(1, span - 1);
        let tokens = tokens_of(middle);
        let fits = tokens <= options.budget;
        match fits {
            true => low = (middle, tokens),
            false => high = (middle, tokens),
        }
        more = Some(fits).filter(|_| probe < PROBES);
    }
    let (text, kept) = written(low.0);
    (text, kept, low.1)
}

/// Why the summary contains no unit.
pub(super) fn empty_summary(
    beginning: &str,
    units: &Units<'_>,
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> SummaryFailure {
    let says = |unit: &usize| !terms(&units.text(*unit)).is_empty();
    let shortest = (0..units.len())
        .filter(says)
        .min_by_key(|unit| count(&units.entry(*unit).line()));
    match shortest {
        None => SummaryFailure::Blank,
        unit => SummaryFailure::OverBudget {
            tokens: count(&text::write(
                beginning,
                unit.into_iter().map(|unit| QuotedText {
                    text: units.marked(unit, options.style.dates),
                    ..units.entry(unit)
                }),
                options.style.dates,
            )) + OVERHEAD,
            budget: options.budget,
        },
    }
}
