//! The levels of a message group, and the terms that each level adds.

use super::options::CompactOptions;
use super::sources;
use super::state::{AtomLevel, CompactionState};
use super::step::{self, mask::MaskCandidates};
use crate::filter::summarize::{Prior, TermList, TextReader, read_all, weights};
use crate::model::message::Role;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Tokens of a line of a summary besides its text: the role, and a share of the line with the date.
const QUOTED: u64 = 4;

/// A level of a message group: its cost, and the terms that it adds to the level below.
pub struct LevelOption {
    pub level: AtomLevel,
    pub tokens: u64,
    prior: u64,
    /// The end of its terms; they begin at the end of the terms of the previous choice.
    terms: u32,
    /// The number of leading terms that still have a value.
    left: AtomicU32,
}

/// The levels of a message group from the lowest up, without the dropped one.
#[derive(Clone, Copy)]
pub struct GroupLevels {
    /// The end of its choices; they begin at the end of the choices of the previous group.
    choices: u32,
    /// The number of choices to offer before those for results.
    pub dialog: u8,
    /// The number of levels raised so far.
    pub on: u8,
}

/// Message groups, the choices of all of them, and the terms of all choices.
#[derive(Default)]
struct LevelTables {
    groups: Vec<GroupLevels>,
    choices: Vec<LevelOption>,
    terms: TermList,
}

impl LevelTables {
    /// Appends the groups of another part.
    fn append(&mut self, other: LevelTables) {
        if self.groups.is_empty() {
            *self = other;
            return;
        }
        let (choices, terms) = (self.choices.len() as u32, self.terms.len() as u32);
        self.terms.append(other.terms);
        self.choices
            .extend(other.choices.into_iter().map(|choice| LevelOption {
                terms: choice.terms + terms,
                ..choice
            }));
        self.groups.extend(other.groups.iter().map(|group| GroupLevels {
            choices: group.choices + choices,
            ..*group
        }));
    }
}

/// The levels of message groups, and the value of each term.
pub struct LevelChoices {
    read: LevelTables,
    /// The current value of each term; halved by each chosen group that contains the term.
    worth: Vec<u64>,
}

impl LevelChoices {
    /// The number of groups.
    pub fn len(&self) -> usize {
        self.read.groups.len()
    }

    pub fn get(&self, nth: usize) -> GroupLevels {
        self.read.groups[nth]
    }

    fn first_choice(&self, nth: usize) -> usize {
        nth.checked_sub(1)
            .map_or(0, |before| self.read.groups[before].choices as usize)
    }

    /// The choices of a group.
    pub fn options(&self, nth: usize) -> &[LevelOption] {
        &self.read.choices[self.first_choice(nth)..self.get(nth).choices as usize]
    }

    /// The index of a choice's first term.
    fn first_term(&self, choice: usize) -> usize {
        choice
            .checked_sub(1)
            .map_or(0, |before| self.read.choices[before].terms as usize)
    }

    /// Reads the first term of a group.
    pub fn touch(&self, nth: usize) -> u32 {
        let term = self.first_term(self.first_choice(nth));
        self.read.terms.get(term)
    }

    /// The gain of a choice over the one below.
    pub fn gain(&self, nth: usize, choice: usize) -> u128 {
        let choice = self.first_choice(nth) + choice;
        let start = self.first_term(choice);
        let choice = &self.read.choices[choice];
        let sum = self.read.terms.sum(start, &choice.left, &self.worth);
        // A level without new terms still has a small value.
        (u128::from(choice.prior) * u128::from(sum)).max(1)
    }

    /// Raises a group to this choice.
    pub fn raise(&mut self, nth: usize, to: usize) {
        let first = self.first_choice(nth);
        for choice in first + usize::from(self.get(nth).on)..first + to {
            let start = self.first_term(choice);
            let end = start + self.read.choices[choice].left.load(Relaxed) as usize;
            self.read
                .terms
                .for_each(start..end, |term| self.worth[term] >>= 1);
        }
        self.read.groups[nth].on = to as u8;
    }
}

/// Reads the levels of these message groups and the value of each term. Terms of messages that are always kept are
/// worth less, since repeating them gains less.
pub fn read(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    maskable: &MaskCandidates,
    free: &[usize],
) -> LevelChoices {
    let leaves: HashSet<usize> = free.iter().copied().collect();
    let fixed = |at: &usize| work.items[*at].atom().is_some_and(|atom| !leaves.contains(&atom));
    let stays: Vec<usize> = (0..work.items.len())
        .filter(|at| fixed(at) && !work.is_dropped(*at))
        .collect();
    let bytes = work.counter.tokenizer().work(work.session.size());
    let (mut all, mut fixed_terms) = (LevelTables::default(), TermList::default());
    let count = read_all(
        (free.len() + stays.len(), bytes),
        |range, reader| {
            let (mut read, mut fixed_terms) = (LevelTables::default(), TermList::default());
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
                            fixed_terms.extend(&found);
                        }
                    }
                }
            }
            (read, fixed_terms)
        },
        |(mut read, mut more), now| {
            read.terms.renumber(now);
            more.renumber(now);
            all.append(read);
            fixed_terms.append(more);
        },
    );
    let (mut having, mut chosen) = (vec![0; count], vec![0u32; count]);
    all.terms.for_each(0..all.terms.len(), |term| having[term] += 1);
    fixed_terms.for_each(0..fixed_terms.len(), |term| chosen[term] += 1);
    let mut worth = weights(all.groups.len() as u64, having.into_iter());
    for (worth, times) in worth.iter_mut().zip(chosen) {
        *worth >>= times.min(63);
    }
    LevelChoices { read: all, worth }
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
    let (mut dialog_text, mut calls, mut results) = (Cow::Borrowed(""), String::new(), String::new());
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
                true => dialog_text = text,
                false => push_line(dialog_text.to_mut(), &text),
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
    let first = read.choices.len();
    // Appends a level with these texts; returns the marks of the first one.
    let mut choice = |(level, tokens), texts: &[&str]| {
        found.clear();
        let mut marks = texts.iter().map(|text| reader.read(nth, text, found));
        let of_first = marks.next().unwrap_or_default();
        marks.for_each(drop);
        read.terms.extend(found);
        read.choices.push(LevelOption {
            level,
            tokens,
            prior: 0,
            terms: read.terms.len() as u32,
            left: (found.len() as u32).into(),
        });
        of_first
    };
    // If the call and the placeholder of its result make up most of the group, the summary can quote the text alone.
    let quoted = (options.steps.summary && !calls.is_empty() && !dialog_text.trim().is_empty())
        .then(|| work.counter.tokenizer().count(&dialog_text) + QUOTED)
        .filter(|quoted| *quoted < lowest.1);
    let of_quoted = quoted.map(|quoted| choice((AtomLevel::Dropped, quoted), &[&dialog_text]));
    // A text adds no terms again.
    let first_text = if quoted.is_some() { "" } else { &*dialog_text };
    let of_text = match lowest.0 {
        AtomLevel::Masked => choice(lowest, &[first_text, &calls]),
        AtomLevel::HeadTail => choice(lowest, &[first_text, &calls, &shortened]),
        _ => choice(lowest, &[first_text, &calls, &results]),
    };
    if can_mask && can_shorten {
        choice((AtomLevel::HeadTail, short), &[&shortened]);
    }
    let of_results = (lowest.0 != AtomLevel::Full).then(|| choice((AtomLevel::Full, full), &[&results]));
    let of_dialog = 1 + u8::from(quoted.is_some());
    let prior = |text: &str, marks, role| Prior::marked(text, marks).role(role).recency(nth, all).product();
    let (dialog, of_tools) = read.choices[first..].split_at_mut(of_dialog.into());
    let of_text = prior(&dialog_text, of_quoted.unwrap_or(of_text), speaker);
    dialog.iter_mut().for_each(|choice| choice.prior = of_text);
    if let Some(marks) = of_results {
        let of_results = prior(&results, marks, Some(Role::Tool));
        of_tools.iter_mut().for_each(|choice| choice.prior = of_results);
    }
    read.groups.push(GroupLevels {
        choices: read.choices.len() as u32,
        dialog: of_dialog,
        on: 0,
    });
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
