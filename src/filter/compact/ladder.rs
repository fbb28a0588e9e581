//! The levels of an atom, by their terms.

use super::options::Options;
use super::sources;
use super::step::{self, mask::Candidates};
use super::work::{Level, Work};
use crate::filter::summarize::{Prior, Reader, read_all, weights};
use crate::model::message::Role;
use std::collections::HashSet;

/// Tokens of a line of a summary beside its text: who speaks, and as much of a line with the day as falls to it.
const QUOTED: u64 = 4;

/// A level of an atom: its cost, and the terms that it adds to the level below.
pub struct Rung {
    pub level: Level,
    pub tokens: u64,
    pub terms: Vec<u32>,
    pub prior: u64,
}

/// The levels of an atom from the lowest up, the dropped one left out.
pub struct Ladder {
    pub rungs: Vec<Rung>,
    /// How many of them say nothing of results.
    pub said: usize,
    /// The number of rungs below it.
    pub on: usize,
}

/// The value of each term, and the number of chosen atoms that have it.
pub struct Vocabulary {
    pub weights: Vec<u64>,
    pub chosen: Vec<u32>,
}

impl Vocabulary {
    pub fn gain(&self, rung: &Rung) -> u128 {
        let worth = |term: &u32| self.weights[*term as usize] >> self.chosen[*term as usize].min(63);
        // A level without new terms still has a small value.
        (u128::from(rung.prior) * u128::from(rung.terms.iter().map(worth).sum::<u64>())).max(1)
    }
}

/// The levels of these atoms by terms, and the value of the terms next to those of messages that are always kept: repeating them gains
/// less.
pub fn read(
    work: &Work<'_>,
    options: &Options,
    maskable: &Candidates,
    free: &[usize],
) -> (Vec<Ladder>, Vocabulary) {
    let leaves: HashSet<usize> = free.iter().copied().collect();
    let fixed = |at: &usize| work.items[*at].atom.is_some_and(|atom| !leaves.contains(&atom));
    let stays: Vec<usize> = (0..work.items.len())
        .filter(|at| fixed(at) && !work.is_gone(*at))
        .collect();
    let bytes = work.counter.tokenizer().work(work.session.size());
    let (pieces, count) = read_all(
        (free.len() + stays.len(), bytes),
        |range, reader| {
            let (mut ladders, mut said) = (Vec::new(), Vec::new());
            for nth in range {
                match free.get(nth) {
                    Some(atom) => {
                        let place = (nth, free.len());
                        ladders.push(ladder(work, options, maskable, *atom, place, reader));
                    }
                    None => {
                        let message = work.message(stays[nth - free.len()]);
                        message
                            .iter()
                            .for_each(|message| reader.read(nth, &message.text(), &mut said));
                    }
                }
            }
            (ladders, said)
        },
        |(ladders, said), now| {
            let rungs = ladders.iter_mut().flat_map(|ladder| &mut ladder.rungs);
            let terms = rungs.flat_map(|rung| &mut rung.terms).chain(said);
            terms.for_each(|term| *term = now(*term));
        },
    );
    let (mut having, mut chosen) = (vec![0; count], vec![0; count]);
    let mut ladders: Vec<Ladder> = Vec::with_capacity(free.len());
    for (read, said) in pieces {
        let rungs = read.iter().flat_map(|ladder: &Ladder| &ladder.rungs);
        rungs
            .flat_map(|rung| &rung.terms)
            .for_each(|term| having[*term as usize] += 1);
        said.iter().for_each(|term| chosen[*term as usize] += 1);
        ladders.extend(read);
    }
    let weights = weights(ladders.len() as u64, having.into_iter());
    (ladders, Vocabulary { weights, chosen })
}

fn ladder(
    work: &Work<'_>,
    options: &Options,
    maskable: &Candidates,
    atom: usize,
    (nth, all): (usize, usize),
    reader: &mut Reader,
) -> Ladder {
    let (mut said, mut calls, mut results) = (String::new(), String::new(), String::new());
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
            let marked = maskable
                .get(at)
                .and_then(|calls| step::mask::marked(work, *at, calls));
            masked += marked.map_or(now, |(_, tokens)| tokens);
            let may = work.may_change(*at);
            let head_tail = may
                .then(|| step::head_tail::content(&message, options.tool_output))
                .flatten();
            let tokens = head_tail.and_then(|content| work.tried(*at, &[("content", Some(&content))]));
            short += tokens.map_or(now, |(_, tokens)| tokens);
            push_line(&mut shortened, &sources::looked_at(&text));
            push_line(&mut results, &text);
        } else {
            speaker = speaker.or(Some(message.role()));
            let marked = maskable.get(at).map(|calls| step::mask::marked(work, *at, calls));
            masked += marked.flatten().map_or(now, |(_, tokens)| tokens);
            short += now;
            push_line(&mut said, &text);
            for call in message.tool_calls() {
                push_line(&mut calls, &call.name);
                push_line(&mut calls, &call.arguments);
            }
        }
    }
    let prior = |text: &str, role: Option<Role>| Prior::of(text).role(role).recency(nth, all).product();
    let full = work.atom_tokens(atom);
    let can_mask = options.steps.mask && !results.is_empty() && masked < full;
    let can_shorten = options.steps.head_tail && short < full && (short > masked || !can_mask);
    let lowest = match (can_mask, can_shorten) {
        (true, _) => (Level::Masked, masked),
        (false, true) => (Level::HeadTail, short),
        (false, false) => (Level::Full, full),
    };
    let mut rungs: Vec<Rung> = Vec::new();
    let (of_said, of_results) = (prior(&said, speaker), prior(&results, Some(Role::Tool)));
    let mut rung = |(level, tokens), texts: &[&str], prior| {
        let mut terms = Vec::new();
        texts.iter().for_each(|text| reader.read(nth, text, &mut terms));
        rungs.push(Rung {
            level,
            tokens,
            terms,
            prior,
        });
    };
    // Where the call and the mark of its result are the most of it, the words alone can go into the summary.
    let quoted = (options.steps.summary && !calls.is_empty() && !said.trim().is_empty())
        .then(|| work.counter.tokenizer().count(&said) + QUOTED)
        .filter(|quoted| *quoted < lowest.1);
    if let Some(quoted) = quoted {
        rung((Level::Dropped, quoted), &[&said], of_said);
    }
    match lowest.0 {
        Level::Masked => rung(lowest, &[&said, &calls], of_said),
        Level::HeadTail => rung(lowest, &[&said, &calls, &shortened], of_said),
        _ => rung(lowest, &[&said, &calls, &results], of_said),
    }
    if can_mask && can_shorten {
        rung((Level::HeadTail, short), &[&shortened], of_results);
    }
    if lowest.0 != Level::Full {
        rung((Level::Full, full), &[&results], of_results);
    }
    Ladder {
        rungs,
        said: 1 + usize::from(quoted.is_some()),
        on: 0,
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
