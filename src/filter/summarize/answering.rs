//! Orders units by how well they may answer questions: BM25 (Robertson) of the terms that they share, plus a part of
//! the score of a neighbor, because an answer need not repeat the words of its question.

use super::term_weight::weight;
use super::terms::{for_each_term, without_inflection};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Words of questions for an amount, which an answer does not repeat.
const QUANTITIES: [&str; 2] = ["many", "much"];

/// The newest unit is worth this part more than the oldest one.
const NEWER: u64 = 5;

/// A unit compared with the questions.
struct ComparedUnit {
    /// How often it contains each requested term.
    shared: HashMap<String, u64>,
    /// The number of its terms.
    length: u64,
    /// Whether it ends with a question itself.
    asks: bool,
}

/// The units with a score, the best first. `reach` is the number of neighbors on each side that raise a score.
pub(super) fn answering<'u>(
    questions: &[String],
    count: usize,
    text: impl Fn(usize) -> Cow<'u, str>,
    reach: usize,
) -> Vec<usize> {
    let mut requested: HashMap<String, u64> = HashMap::new();
    for question in questions {
        for_each_term(question, |term| {
            if !QUANTITIES.contains(&term) {
                requested.insert(without_inflection(term).to_string(), 0);
            }
        });
    }
    if requested.is_empty() || count == 0 {
        return Vec::new();
    }
    let mut units: Vec<ComparedUnit> = Vec::with_capacity(count);
    for text in (0..count).map(text) {
        let (mut shared, mut length) = (HashMap::new(), 0);
        for_each_term(&text, |term| {
            length += 1;
            let term = without_inflection(term);
            if requested.contains_key(term) {
                *shared.entry(term.to_string()).or_default() += 1;
            }
        });
        for (term, having) in &mut requested {
            *having += u64::from(shared.contains_key(term));
        }
        units.push(ComparedUnit {
            shared,
            length,
            asks: text.trim_end().ends_with('?'),
        });
    }
    let own = own_scores(&units, &requested);
    let scores: Vec<u64> = (0..count)
        .map(|at| {
            // A question that repeats the requested words is not the answer; the unit after it may be.
            let alone = own[at] >> u32::from(units[at].asks);
            // Of statements with the same words, the newest is the one that still holds.
            let alone = alone + alone / NEWER / count as u64 * at as u64;
            let near = (1..=reach).flat_map(|distance| {
                let before = at
                    .checked_sub(distance)
                    .map(|other| match distance == 1 && units[other].asks {
                        true => own[other] / 5 * 4,
                        false => own[other] / (distance as u64 + 1),
                    });
                let after = own.get(at + distance).map(|own| own / (distance as u64 + 1));
                before.into_iter().chain(after)
            });
            alone + near.max().unwrap_or(0)
        })
        .collect();
    let mut order: Vec<usize> = (0..count).filter(|at| scores[*at] > 0).collect();
    order.sort_by_key(|at| (Reverse(scores[*at]), *at));
    order
}

/// The scores of the units alone. `requested` is the number of units that contain each term.
fn own_scores(units: &[ComparedUnit], requested: &HashMap<String, u64>) -> Vec<u64> {
    let count = units.len() as u64;
    let sum: u64 = units.iter().map(|unit| unit.length).sum::<u64>().max(1);
    let score = |unit: &ComparedUnit| -> u64 {
        let length = u64::try_from(900 * u128::from(unit.length) * u128::from(count) / u128::from(sum))
            .unwrap_or(u64::MAX / 2);
        unit.shared
            .iter()
            .map(|(term, often)| {
                let worth = u128::from(weight(count, requested[term]));
                let score = worth * u128::from(2200 * often) / u128::from(1000 * often + 300 + length);
                u64::try_from(score).unwrap_or(u64::MAX / 1024)
            })
            .sum()
    };
    units.iter().map(score).collect()
}
