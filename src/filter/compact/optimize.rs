//! One choice of levels for all atoms: a multiple-choice knapsack, filled greedily by what a level says for its
//! tokens. An atom's levels are marks for its results, results without their middle, and the whole; the value of a
//! text is that of its terms as the extractive summariser weighs them, each worth half as much whenever an atom that
//! was chosen before has it. Of an atom's steps the densest is tried first, which walks the upper hull of its levels.

use super::options::Options;
use super::summary::{self, part};
use super::target::Target;
use super::work::{Level, Work};
use super::{step, tiered};
use crate::error::Result;
use crate::filter::summarize::{Prior, terms, weight};
use crate::model::message::Role;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Per mille of the budget that the exchanges of `keep_last` may take beside the newest.
const NEWEST: u64 = 300;

/// Chooses levels, and sums up what leaves with the room that is left.
pub fn run(work: &mut Work<'_>, options: &Options, target: &Target) -> Result<()> {
    // Where nothing may leave there is little to choose.
    let may_leave = options.steps.summary || options.steps.drop;
    let Some(budget) = target.tokens().filter(|_| may_leave && target.is_tokens_alone()) else {
        return tiered::run(work, options, target);
    };
    // What costs nothing of substance comes first.
    if options.steps.dedupe {
        step::dedupe::run(work, &options.write_tools, &|work| target.is_met(work));
    }
    if target.is_met(work) {
        return Ok(());
    }
    let first = kept_exchanges(work, options, budget);
    let free: Vec<usize> = (0..work.atoms.len())
        .filter(|atom| work.may_leave(*atom) && work.atoms[*atom].exchange < first)
        .collect();
    let free_tokens: u64 = free.iter().map(|atom| work.atom_tokens(*atom)).sum();
    let reserve = summary::reserve(work, options, budget, &free);
    let previous = work.summary_item.map_or(0, |at| work.items[at].now);
    let fixed = work.total - free_tokens - previous;
    let room = budget.saturating_sub(fixed + reserve);
    let levels = choose(work, options, &free, room);
    for (atom, level) in free.iter().zip(levels) {
        apply(work, options, *atom, level);
    }
    if options.steps.summary {
        summary::fill(work, options, target);
    }
    step::drop::lead(work, "drop");
    // What was to stay takes more than there is: step after step then, from here.
    if !target.is_met(work) {
        tiered::run(work, options, target)?;
    }
    Ok(())
}

/// The first exchange that stays whatever it says: the newest, and those of `keep_last` as far as there is room.
fn kept_exchanges(work: &Work<'_>, options: &Options, budget: u64) -> usize {
    let mut first = work.exchanges.len().saturating_sub(1);
    let oldest = work
        .exchanges
        .len()
        .saturating_sub(options.keep_last.unwrap_or(2).max(1));
    let mut tokens = 0;
    while first > oldest {
        tokens += work.exchange_tokens(first - 1);
        if tokens > part(budget, NEWEST) {
            break;
        }
        first -= 1;
    }
    first
}

/// A level that an atom can have: what it costs, and the terms that it says more than the level below.
struct Rung {
    level: Level,
    tokens: u64,
    terms: Vec<u32>,
    prior: u64,
}

/// The levels of an atom from the lowest up, the dropped one left out.
struct Ladder {
    rungs: Vec<Rung>,
    /// How many rungs it stands on.
    on: usize,
}

/// A step up: to this rung, for this gain and these tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Step {
    gain: u128,
    tokens: u64,
    ladder: usize,
    to: usize,
}

impl Ord for Step {
    fn cmp(&self, other: &Step) -> Ordering {
        let (one, two) = (
            self.gain * u128::from(other.tokens),
            other.gain * u128::from(self.tokens),
        );
        // Of equals the earlier atom, and the lower level.
        one.cmp(&two)
            .then(other.ladder.cmp(&self.ladder))
            .then(other.to.cmp(&self.to))
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Step) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// How many atoms have each term, and how many of those were chosen.
#[derive(Default)]
struct Vocabulary {
    numbers: HashMap<String, u32>,
    having: Vec<u64>,
    weights: Vec<u64>,
    chosen: Vec<u32>,
}

impl Vocabulary {
    /// The numbers of a text's terms, each once.
    fn read(&mut self, text: &str) -> Vec<u32> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for term in terms(text) {
            let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
            let number = *self.numbers.entry(term).or_insert(next);
            if seen.insert(number) {
                found.push(number);
            }
        }
        found
    }

    fn gain(&self, rung: &Rung) -> u128 {
        let worth = |term: &u32| self.weights[*term as usize] >> self.chosen[*term as usize].min(63);
        // What says nothing new is still worth having where there is room.
        (u128::from(rung.prior) * u128::from(rung.terms.iter().map(worth).sum::<u64>())).max(1)
    }
}

/// The level of each of these atoms.
fn choose(work: &Work<'_>, options: &Options, free: &[usize], mut room: u64) -> Vec<Level> {
    let mut vocabulary = Vocabulary::default();
    let mut ladders: Vec<Ladder> = free
        .iter()
        .enumerate()
        .map(|(nth, atom)| ladder(work, options, *atom, (nth, free.len()), &mut vocabulary))
        .collect();
    let stays = seen_anyway(work, free, &mut vocabulary);
    vocabulary.having = vec![0; vocabulary.numbers.len()];
    for ladder in &ladders {
        let all: HashSet<u32> = ladder
            .rungs
            .iter()
            .flat_map(|rung| rung.terms.iter().copied())
            .collect();
        all.into_iter()
            .for_each(|term| vocabulary.having[term as usize] += 1);
    }
    let atoms = ladders.len() as u64;
    vocabulary.weights = vocabulary
        .having
        .iter()
        .map(|having| weight(atoms, *having))
        .collect();
    vocabulary.chosen = vec![0; vocabulary.numbers.len()];
    for term in stays {
        vocabulary.chosen[term as usize] += 1;
    }
    let mut heap: BinaryHeap<Step> = (0..ladders.len())
        .filter_map(|nth| densest(&ladders[nth], nth, &vocabulary, room))
        .collect();
    while let Some(step) = heap.pop() {
        // What was chosen meanwhile may have made it worth less: it is looked at anew.
        let Some(now) = densest(&ladders[step.ladder], step.ladder, &vocabulary, room) else {
            continue;
        };
        if heap.peek().is_some_and(|next| *next > now) {
            heap.push(now);
            continue;
        }
        let ladder = &mut ladders[now.ladder];
        for rung in &ladder.rungs[ladder.on..now.to] {
            for term in &rung.terms {
                vocabulary.chosen[*term as usize] += 1;
            }
        }
        ladder.on = now.to;
        room -= now.tokens;
        heap.extend(densest(&ladders[now.ladder], now.ladder, &vocabulary, room));
    }
    let level = |ladder: &Ladder| match ladder.on {
        0 => Level::Dropped,
        on => ladder.rungs[on - 1].level,
    };
    ladders.iter().map(level).collect()
}

/// The step from where a ladder stands that gains most for its tokens, of those that there is room for.
fn densest(ladder: &Ladder, nth: usize, vocabulary: &Vocabulary, room: u64) -> Option<Step> {
    let stands = ladder.on.checked_sub(1).map_or(0, |on| ladder.rungs[on].tokens);
    let mut gain = 0;
    let mut best: Option<Step> = None;
    for (to, rung) in ladder.rungs.iter().enumerate().skip(ladder.on) {
        gain += vocabulary.gain(rung);
        let step = Step {
            gain,
            tokens: rung.tokens.saturating_sub(stands).max(1),
            ladder: nth,
            to: to + 1,
        };
        if step.tokens <= room && best.is_none_or(|best| step > best) {
            best = Some(step);
        }
    }
    best
}

fn ladder(
    work: &Work<'_>,
    options: &Options,
    atom: usize,
    (nth, all): (usize, usize),
    vocabulary: &mut Vocabulary,
) -> Ladder {
    let (mut said, mut results) = (String::new(), String::new());
    let (mut masked, mut short) = (0, 0);
    let mut speaker = None;
    let mut shortened = String::new();
    for at in &work.atoms[atom].items {
        let Some(message) = work.message(*at) else {
            continue;
        };
        let now = work.items[*at].now;
        let text = message.text();
        if message.role() == Role::Tool {
            masked += masked_result(work, options, *at).map_or(now, |(_, tokens)| tokens);
            let may = work.may_change(*at);
            let head_tail = may
                .then(|| step::head_tail::content(&message, options.tool_output))
                .flatten();
            let tokens = head_tail.and_then(|content| work.tried(*at, &[("content", Some(&content))]));
            short += tokens.map_or(now, |(_, tokens)| tokens);
            push_line(&mut shortened, &summary::looked_at(&text));
            push_line(&mut results, &text);
        } else {
            speaker = speaker.or(Some(message.role()));
            masked += now;
            short += now;
            push_line(&mut said, &text);
            for call in message.tool_calls() {
                push_line(&mut said, &call.name);
                push_line(&mut said, &call.arguments);
            }
        }
    }
    let prior = |text: &str, role: Option<Role>| Prior::of(text).role(role).recency(nth, all).product();
    let full = work.atom_tokens(atom);
    let known = vocabulary.read(&said);
    let mut rungs = Vec::new();
    let can_mask = options.steps.mask && !results.is_empty() && masked < full;
    let can_shorten = options.steps.head_tail && short < full && (short > masked || !can_mask);
    let mut rung = |level, tokens, terms, prior| {
        rungs.push(Rung {
            level,
            tokens,
            terms,
            prior,
        });
    };
    let of_said = prior(&said, speaker);
    if !can_mask && !can_shorten {
        let mut seen: HashSet<u32> = known.iter().copied().collect();
        let more = vocabulary
            .read(&results)
            .into_iter()
            .filter(|term| seen.insert(*term));
        let known = known.into_iter().chain(more).collect();
        rung(Level::Full, full, known, of_said);
        return Ladder { rungs, on: 0 };
    }
    let of_results = prior(&results, Some(Role::Tool));
    let mut fresh = |text: &str, known: &mut HashSet<u32>| {
        let terms = vocabulary.read(text).into_iter();
        terms.filter(|term| known.insert(*term)).collect::<Vec<_>>()
    };
    let mut seen: HashSet<u32> = known.iter().copied().collect();
    if can_mask {
        rung(Level::Masked, masked, known.clone(), of_said);
    }
    if can_shorten {
        let mut terms = fresh(&shortened, &mut seen);
        if !can_mask {
            terms.splice(0..0, known);
        }
        rung(Level::HeadTail, short, terms, of_results);
    }
    rung(Level::Full, full, fresh(&results, &mut seen), of_results);
    Ladder { rungs, on: 0 }
}

/// A result as a mark, where it may be one.
fn masked_result(work: &Work<'_>, options: &Options, at: usize) -> Option<(Vec<u8>, u64)> {
    let may = work.may_change(at) && !step::mask::excludes(work, &options.mask, at);
    may.then(|| step::mask::result(work, at)).flatten()
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Terms of what stays in any case: saying them again gains less.
fn seen_anyway(work: &Work<'_>, free: &[usize], vocabulary: &mut Vocabulary) -> Vec<u32> {
    let free: HashSet<usize> = free.iter().copied().collect();
    let fixed =
        |at: &usize| work.items[*at].atom.is_some_and(|atom| !free.contains(&atom)) && !work.is_gone(*at);
    let mut seen = Vec::new();
    for at in (0..work.items.len()).filter(fixed) {
        if let Some(message) = work.message(at) {
            seen.extend(vocabulary.read(&message.text()));
        }
    }
    seen
}

fn apply(work: &mut Work<'_>, options: &Options, atom: usize, level: Level) {
    match level {
        Level::Full | Level::Digest => {}
        Level::Dropped if options.steps.summary => work.leave(atom, level, "summary"),
        Level::Dropped => work.leave(atom, level, "drop"),
        Level::HeadTail | Level::Masked => {
            let items = work.atoms[atom].items.clone();
            for at in items {
                let is_result = work.items[at]
                    .traits
                    .is_some_and(|traits| traits.role == Role::Tool);
                if !is_result || !work.may_change(at) {
                    continue;
                }
                if level == Level::HeadTail {
                    step::head_tail::one(work, at, options.tool_output);
                } else if let Some((body, tokens)) = masked_result(work, options, at) {
                    work.mark(at, body, tokens, "mask");
                }
            }
        }
    }
}
