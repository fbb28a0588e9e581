//! The registry of standing instructions: which sentences a summary keeps word for word, in a block of their own.

use super::instructions::strength;
use super::sentences::sentences;
use super::{Failure, Options, Source};
use crate::model::message::Role;
use std::collections::{HashMap, HashSet};

/// Where the standing instructions come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Instructions {
    /// Found by their form in what users, system and developer said.
    #[default]
    Auto,
    /// None; what an earlier summary kept takes its chance with the rest.
    Off,
    /// These, and no others.
    Given(Vec<Rule>),
}

/// A standing instruction that is given and not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A text.
    Sentence(String),
    /// The whole text of the message with this id.
    Message(String),
}

impl Rule {
    /// Reads a file of rules: one sentence a line, or `id: msg_...`; blank lines are passed over.
    pub fn read(file: &str) -> Vec<Rule> {
        let file = file.strip_prefix('\u{feff}').unwrap_or(file);
        let lines = file.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .map(|line| match line.strip_prefix("id:").map(str::trim) {
                Some(id) if !id.is_empty() && !id.contains(char::is_whitespace) => {
                    Rule::Message(id.to_string())
                }
                _ => Rule::Sentence(line.to_string()),
            })
            .collect()
    }
}

/// The sentences of the block, in the order of the log. `earlier` are those of the block before, `room` is what
/// the block may cost, and `cost` says what one sentence costs in it.
pub(super) fn registry(
    rules_from: &[Source<'_>],
    earlier: &[String],
    options: &Options,
    cost: &dyn Fn(&str) -> u64,
) -> Result<Vec<String>, Failure> {
    match &options.instructions {
        Instructions::Off => Ok(Vec::new()),
        Instructions::Given(rules) => given(rules, rules_from),
        Instructions::Auto => {
            let share = u128::from(options.budget) * u128::from(options.instruction_share.min(100)) / 100;
            Ok(within(found(rules_from, earlier), share as u64, cost))
        }
    }
}

fn given(rules: &[Rule], rules_from: &[Source<'_>]) -> Result<Vec<String>, Failure> {
    let by_id: HashMap<&str, &Source<'_>> = rules_from.iter().map(|source| (&*source.id, source)).collect();
    let mut texts: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for rule in rules {
        let text = match rule {
            Rule::Sentence(text) => text.trim(),
            Rule::Message(id) => match by_id.get(id.as_str()) {
                Some(source) => source.text.trim(),
                None => return Err(Failure::NoSuchMessage(id.clone())),
            },
        };
        if !text.is_empty() && seen.insert(text) {
            texts.push(text.to_string());
        }
    }
    Ok(texts)
}

struct Found {
    text: String,
    strength: u32,
}

/// Every instruction once, where it was said last, oldest first.
fn found(rules_from: &[Source<'_>], earlier: &[String]) -> Vec<Found> {
    // What an earlier summary holds was kept with a reason, whether or not its form tells it.
    let mut all: Vec<Found> = earlier
        .iter()
        .map(|text| Found {
            text: text.clone(),
            strength: strength(text).unwrap_or(u32::MAX),
        })
        .collect();
    let speakers = [Role::User, Role::System, Role::Developer];
    for source in rules_from.iter().filter(|source| speakers.contains(&source.role)) {
        all.extend(detected(&source.text));
    }
    let last: HashMap<&str, usize> = all
        .iter()
        .enumerate()
        .map(|(at, found)| (found.text.as_str(), at))
        .collect();
    let kept: Vec<bool> = all
        .iter()
        .enumerate()
        .map(|(at, found)| last[found.text.as_str()] == at)
        .collect();
    let mut kept = kept.into_iter();
    all.retain(|_| kept.next().unwrap_or(false));
    all
}

/// The standing instructions in what somebody says, told by their form.
pub fn standing(text: &str) -> Vec<String> {
    detected(text).map(|found| found.text).collect()
}

fn detected(text: &str) -> impl Iterator<Item = Found> {
    sentences(text).into_iter().filter_map(|sentence| {
        let text = without_list_mark(sentence);
        strength(text).map(|strength| Found {
            text: text.to_string(),
            strength,
        })
    })
}

/// A sentence without the dash, star or number that makes an entry of a list of it.
fn without_list_mark(sentence: &str) -> &str {
    let bare = sentence
        .trim_start_matches(['-', '*', '\u{2022}', '>', '#'])
        .trim_start();
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    match bare[digits..].strip_prefix(['.', ')']) {
        Some(rest) if digits > 0 && digits < 4 && rest.starts_with(' ') => rest.trim_start(),
        _ => bare,
    }
}

/// The strongest, then the newest, as far as the room goes.
fn within(all: Vec<Found>, room: u64, cost: &dyn Fn(&str) -> u64) -> Vec<String> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(all[*at].strength), std::cmp::Reverse(*at)));
    let mut rest = room;
    let mut keep = vec![false; all.len()];
    for at in order {
        let cost = cost(&all[at].text);
        if cost <= rest {
            rest -= cost;
            keep[at] = true;
        }
    }
    let kept = all.into_iter().zip(keep).filter(|(_, keep)| *keep);
    kept.map(|(found, _)| found.text).collect()
}
