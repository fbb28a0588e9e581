//! The levels of a message group, and the terms that each level adds.

use super::options::CompactOptions;
use super::sources;
use super::state::{AtomLevel, CompactionState};
use super::step::{self, mask::MaskCandidates};
use crate::filter::summarize::{Prior, TermList, TextReader, read_all, weights};
use crate::model::message::Role;
use std::borrow::Cow;
use std::collections::HashSet;

/// Tokens of a line of a summary besides its text: the role, and a share of the line with the date.
const QUOTED: u64 = 4;

/// A level of a message group: its cost, and the terms that it adds to the level below.
#[derive(Clone, Copy)]
pub struct LevelOption {
    pub level: AtomLevel,
    pub tokens: u64,
    prior: u64,
    /// The end of its terms; they begin at the end of the terms of the previous rung.
    terms: u32,
    /// The number of leading terms that still have a value.
    left: u32,
}

/// The levels of a message group from the lowest up, without the dropped one.
#[derive(Clone, Copy)]
pub struct Ladder {
    /// The end of its rungs; they begin at the end of the rungs of the previous ladder.
    rungs: u32,
    /// The number of rungs to offer before those for results.
    pub said: u8,
    /// The number of rungs climbed so far.
    pub on: u8,
}

/// Ladders, the rungs of all of them, and the terms of all rungs.
#[derive(Default)]
struct LevelTables {
    ladders: Vec<Ladder>,
    rungs: Vec<LevelOption>,
    terms: TermList,
}

impl LevelTables {
    /// Appends the ladders of another part.
    fn append(&mut self, other: LevelTables) {
        if self.ladders.is_empty() {
            *self = other;
            return;
        }
        let (rungs, terms) = (self.rungs.len() as u32, self.terms.len() as u32);
        self.terms.append(&other.terms);
        self.rungs.extend(other.rungs.iter().map(|rung| LevelOption {
            terms: rung.terms + terms,
            ..*rung
        }));
        self.ladders.extend(other.ladders.iter().map(|ladder| Ladder {
            rungs: ladder.rungs + rungs,
            ..*ladder
        }));
    }
}

/// The levels of message groups, and the value of each term.
pub struct Ladders {
    read: LevelTables,
    /// The current value of each term; halved by each chosen group that contains the term.
    worth: Vec<u64>,
}

impl Ladders {
    /// The number of ladders.
    pub fn len(&self) -> usize {
        self.read.ladders.len()
    }

    pub fn get(&self, nth: usize) -> Ladder {
        self.read.ladders[nth]
    }

    fn first_rung(&self, nth: usize) -> usize {
        nth.checked_sub(1)
            .map_or(0, |before| self.read.ladders[before].rungs as usize)
    }

    /// The rungs of a ladder.
    pub fn options(&self, nth: usize) -> &[LevelOption] {
        &self.read.rungs[self.first_rung(nth)..self.get(nth).rungs as usize]
    }

    /// The index of a rung's first term.
    fn first_term(&self, rung: usize) -> usize {
        rung.checked_sub(1)
            .map_or(0, |before| self.read.rungs[before].terms as usize)
    }

    /// Reads the first term of a ladder.
    pub fn touch(&self, nth: usize) -> u32 {
        let term = self.first_term(self.first_rung(nth));
        self.read.terms.get(term)
    }

    /// The gain of a rung over the one below.
    pub fn gain(&mut self, nth: usize, rung: usize) -> u128 {
        let rung = self.first_rung(nth) + rung;
        let start = self.first_term(rung);
        let rung = &mut self.read.rungs[rung];
        let sum = self.read.terms.sum(start, &mut rung.left, &self.worth);
        // A level without new terms still has a small value.
        (u128::from(rung.prior) * u128::from(sum)).max(1)
    }

    /// Climbs a ladder up to this rung.
    pub fn climb(&mut self, nth: usize, to: usize) {
        let first = self.first_rung(nth);
        for rung in first + usize::from(self.get(nth).on)..first + to {
            let start = self.first_term(rung);
            let end = start + self.read.rungs[rung].left as usize;
            self.read
                .terms
                .for_each(start..end, |term| self.worth[term] >>= 1);
        }
        self.read.ladders[nth].on = to as u8;
    }
}

/// Reads the levels of these message groups and the value of each term. Terms of messages that are always kept are
/// worth less, since repeating them gains less.
pub fn read(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    maskable: &MaskCandidates,
    free: &[usize],
) -> Ladders {
    let leaves: HashSet<usize> = free.iter().copied().collect();
    let fixed = |at: &usize| work.items[*at].atom().is_some_and(|atom| !leaves.contains(&atom));
    let stays: Vec<usize> = (0..work.items.len())
        .filter(|at| fixed(at) && !work.is_dropped(*at))
        .collect();
    let bytes = work.counter.tokenizer().work(work.session.size());
    let (mut all, mut said) = (LevelTables::default(), TermList::default());
    let count = read_all(
        (free.len() + stays.len(), bytes),
        |range, reader| {
            let (mut read, mut said) = (LevelTables::default(), TermList::default());
            let mut found = Vec::new();
            for nth in range {
                match free.get(nth) {
                    Some(atom) => {
                        let place = (nth, free.len());
                        let reader = (&mut *reader, &mut found);
                        level_options(work, options, maskable, *atom, place, reader, &mut read);
                    }
                    None => {
                        if let Some(message) = work.message(stays[nth - free.len()]) {
                            found.clear();
                            reader.read(nth, &message.text(), &mut found);
                            said.extend(&found);
                        }
                    }
                }
            }
            (read, said)
        },
        |(mut read, mut more), now| {
            read.terms.renumber(now);
            more.renumber(now);
            all.append(read);
            said.append(&more);
        },
    );
    let (mut having, mut chosen) = (vec![0; count], vec![0u32; count]);
    all.terms.for_each(0..all.terms.len(), |term| having[term] += 1);
    said.for_each(0..said.len(), |term| chosen[term] += 1);
    let mut worth = weights(all.ladders.len() as u64, having.into_iter());
    for (worth, times) in worth.iter_mut().zip(chosen) {
        *worth >>= times.min(63);
    }
    Ladders { read: all, worth }
}

fn level_options(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    maskable: &MaskCandidates,
    atom: usize,
    (nth, all): (usize, usize),
    (reader, found): (&mut TextReader, &mut Vec<u32>),
    read: &mut LevelTables,
) {
    let (mut said, mut calls, mut results) = (Cow::Borrowed(""), String::new(), String::new());
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
            push_line(&mut shortened, &sources::searched_text(&text));
            push_line(&mut results, &text);
        } else {
            speaker = speaker.or(Some(message.role()));
            let marked = maskable.get(at).map(|calls| step::mask::marked(work, *at, calls));
            masked += marked.flatten().map_or(now, |(_, tokens)| tokens);
            short += now;
            // The text of a message alone needs no copy.
            match message.tool_calls.is_none() && work.atoms[atom].items.len() == 1 {
                true => said = text,
                false => push_line(said.to_mut(), &text),
            }
            for call in message.tool_calls() {
                push_line(&mut calls, &call.name);
                push_line(&mut calls, &call.arguments);
            }
        }
    }
    let full = work.atom_tokens(atom);
    let can_mask = options.steps.mask && !results.is_empty() && masked < full;
    let can_shorten = options.steps.head_tail && short < full && (short > masked || !can_mask);
    let lowest = match (can_mask, can_shorten) {
        (true, _) => (AtomLevel::Masked, masked),
        (false, true) => (AtomLevel::HeadTail, short),
        (false, false) => (AtomLevel::Full, full),
    };
    let first = read.rungs.len();
    // Appends a level with these texts; returns the marks of the first one.
    let mut rung = |(level, tokens), texts: &[&str]| {
        found.clear();
        let mut marks = texts.iter().map(|text| reader.read(nth, text, found));
        let of_first = marks.next().unwrap_or_default();
        marks.for_each(drop);
        read.terms.extend(found);
        read.rungs.push(LevelOption {
            level,
            tokens,
            prior: 0,
            terms: read.terms.len() as u32,
            left: found.len() as u32,
        });
        of_first
    };
    // If the call and the placeholder of its result make up most of the group, the summary can quote the text alone.
    let quoted = (options.steps.summary && !calls.is_empty() && !said.trim().is_empty())
        .then(|| work.counter.tokenizer().count(&said) + QUOTED)
        .filter(|quoted| *quoted < lowest.1);
    let of_quoted = quoted.map(|quoted| rung((AtomLevel::Dropped, quoted), &[&said]));
    // A text adds no terms again.
    let first_said = if quoted.is_some() { "" } else { &*said };
    let of_said = match lowest.0 {
        AtomLevel::Masked => rung(lowest, &[first_said, &calls]),
        AtomLevel::HeadTail => rung(lowest, &[first_said, &calls, &shortened]),
        _ => rung(lowest, &[first_said, &calls, &results]),
    };
    if can_mask && can_shorten {
        rung((AtomLevel::HeadTail, short), &[&shortened]);
    }
    let of_results = (lowest.0 != AtomLevel::Full).then(|| rung((AtomLevel::Full, full), &[&results]));
    let of_dialog = 1 + u8::from(quoted.is_some());
    let prior = |text: &str, marks, role| Prior::marked(text, marks).role(role).recency(nth, all).product();
    let (dialog, of_tools) = read.rungs[first..].split_at_mut(of_dialog.into());
    let of_said = prior(&said, of_quoted.unwrap_or(of_said), speaker);
    dialog.iter_mut().for_each(|rung| rung.prior = of_said);
    if let Some(marks) = of_results {
        let of_results = prior(&results, marks, Some(Role::Tool));
        of_tools.iter_mut().for_each(|rung| rung.prior = of_results);
    }
    read.ladders.push(Ladder {
        rungs: read.rungs.len() as u32,
        said: of_dialog,
        on: 0,
    });
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
