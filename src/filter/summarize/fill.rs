//! Fills the text of a summary with as many units as fit.

use super::entry::{CountFn, QuotedText};
use super::options::ExtractOptions;
use super::selection::{Fading, UnitCandidates};
use super::text_units::{OVERHEAD, Units};
use super::{Dates, Prior, SummaryFailure, terms, text};
use crate::model::threads::over_cores;
use std::borrow::Cow;

/// Maximum number of times that unused budget is redistributed; after three rounds about a thousandth remains.
const ROUNDS: usize = 3;

/// Tokens from which writing and counting a text again takes longer than a two-hundredth of it is worth.
const LONG: u64 = 10_000;

/// Returns the text of the selected units and their indexes in order. Units are charged with message overhead, so the
/// text is shorter than estimated; the unused budget is redistributed until nothing more fits.
pub(super) fn fill(
    beginning: &str,
    units: &Units<'_>,
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> (String, Vec<usize>) {
    let mut choosing = choosing(units);
    let head = count(beginning);
    let room = options.budget.saturating_sub(head);
    let mut choice = choosing.begin(&options.style.questions, room, Fading::Slow);
    let mut more = choice.remaining(room);
    let mut length = 0;
    let mut texts = Vec::new();
    for round in 0..=ROUNDS {
        if !choice.select_more(more) && length > 0 {
            break;
        }
        let new = &choice.chosen[texts.len()..];
        texts.extend(marked(units, new, options.style.dates));
        if round == 0 && choice.chosen.len() >= MANY {
            let tokens = estimated(units, (&choice.chosen, &texts), options, count);
            more = choice.cost_of(room.saturating_sub(tokens), tokens);
            continue;
        }
        let tokens;
        (length, tokens) = fit(beginning, units, (&choice.chosen, &texts), options, count);
        let rest = options.budget.saturating_sub(tokens);
        let is_long = options.budget >= LONG;
        let least = if is_long { options.budget / 200 } else { 0 };
        if length < choice.chosen.len() || rest <= least {
            break;
        }
        more = match is_long {
            true => choice.cost_of(rest, tokens.saturating_sub(head)),
            false => rest,
        };
    }
    let mut kept = std::mem::take(&mut choice.chosen);
    drop(choosing);
    kept.truncate(length);
    let order = in_order(&kept);
    let entries = order.iter().map(|nth| entry(units, &kept, &texts, *nth));
    // Memory in which a large text has grown is not given back.
    let bytes: usize = order.iter().map(|nth| texts[*nth].len() + LINE_OVERHEAD).sum();
    let mut text = String::with_capacity(beginning.len() + bytes);
    text.push_str(beginning);
    text::write_onto(&mut text, entries, options.style.dates, |_| {});
    kept.sort_unstable();
    (text, kept)
}

/// Bytes of a line besides the text, about: the speaker, indentation, and a share of the line with the day.
const LINE_OVERHEAD: usize = 16;

/// The indexes of selected units in the order of the units.
fn in_order(picked: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..picked.len()).collect();
    order.sort_unstable_by_key(|nth| picked[*nth]);
    order
}

/// A selected unit with the text that has absolute dates.
fn entry<'e>(
    units: &'e Units<'_>,
    picked: &[usize],
    texts: &'e [Cow<'_, str>],
    nth: usize,
) -> QuotedText<'e> {
    units.entry_with(picked[nth], Cow::Borrowed(&*texts[nth]))
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

/// Bytes of a draft from which its lines are counted and dropped: texts may be large.
const PART: usize = if cfg!(test) { 1 << 6 } else { 1 << 20 };

/// Fewest selected units whose text is not written to find out how many more fit: parts of it suffice.
const MANY: usize = if cfg!(test) { 256 } else { 4096 };

/// The parts of a text, and how many of them are counted.
const PARTS: usize = 256;
const COUNTED: usize = 32;

/// Tokens of the text of the selected units, estimated from parts of it: in each, units cost about as much more than their text
/// has tokens. A day that begins in an earlier part counts again, so that the estimate is rather too high.
fn estimated(
    units: &Units<'_>,
    (picked, texts): (&[usize], &[Cow<'_, str>]),
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> u64 {
    let cost_of = |order: &[usize]| order.iter().map(|nth| units.tokens(picked[*nth])).sum::<u64>();
    let order = in_order(picked);
    let (mut tokens, mut cost) = (0, 0);
    for part in order.chunks(order.len().div_ceil(PARTS)).step_by(PARTS / COUNTED) {
        let entries = part.iter().map(|nth| entry(units, picked, texts, *nth));
        tokens += count(&text::write("", entries, options.style.dates));
        cost += cost_of(part);
    }
    let all = u128::from(tokens) * u128::from(cost_of(&order)) / u128::from(cost.max(1));
    u64::try_from(all).unwrap_or(u64::MAX)
}

/// Tokens of the text of the selected units.
fn tokens_of(
    beginning: &str,
    units: &Units<'_>,
    (picked, texts): (&[usize], &[Cow<'_, str>]),
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> u64 {
    let (mut out, mut tokens, mut most) = (beginning.to_string(), 0, PART);
    let order = in_order(picked);
    let entries = order.iter().map(|nth| entry(units, picked, texts, *nth));
    text::write_onto(&mut out, entries, options.style.dates, |out| {
        if out.len() >= most {
            let end = (options.seam)(out);
            if end > 0 {
                tokens += count(&out[..end]);
                out.drain(..end);
            }
            most = PART.max(2 * out.len());
        }
    });
    tokens + count(&out)
}

/// Returns how many of the selected units fit, and the tokens of their text. Units selected last are dropped first. The
/// number to drop is found by search, because dropping a unit never makes the text longer.
pub(super) fn fit(
    beginning: &str,
    units: &Units<'_>,
    (picked, texts): (&[usize], &[Cow<'_, str>]),
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> (usize, u64) {
    let tokens_of = |length: usize| tokens_of(beginning, units, (&picked[..length], texts), options, count);
    let tokens = tokens_of(picked.len());
    if tokens <= options.budget {
        return (picked.len(), tokens);
    }
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
    low
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
                unit.into_iter()
                    .map(|unit| units.entry_with(unit, units.marked(unit, options.style.dates))),
                options.style.dates,
            )) + OVERHEAD,
            budget: options.budget,
        },
    }
}
