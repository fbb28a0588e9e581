//! Collects the standing instructions that a summary quotes word for word in a separate block.

use super::entry::CountFn;
use super::instructions::LEARNED;
use super::overruled::{SentenceTraits, overruled};
use super::pasted::own_sentences;
use super::sentences::without_list_mark;
use super::words::Sentence;
use super::{ExtractOptions, Instruction, SummaryFailure, SummarySource};
use crate::model::message::Role;
use crate::model::threads::{gathered, over_cores};
use std::collections::{HashMap, HashSet};

/// Where the standing instructions come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Instructions {
    /// Detected in user, system and developer messages.
    #[default]
    Auto,
    /// None; those of an earlier summary become ordinary entries.
    Off,
    /// Only these.
    Given(Vec<GivenRule>),
}

/// A given standing instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenRule {
    /// A text.
    Sentence(String),
    /// The whole text of the message with this id.
    Message(String),
}

impl GivenRule {
    /// Parses a file of rules: one sentence per line, or `id: msg_...`; blank lines are skipped.
    pub fn read(file: &str) -> Vec<GivenRule> {
        let file = file.strip_prefix('\u{feff}').unwrap_or(file);
        let lines = file.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .map(|line| match line.strip_prefix("id:").map(str::trim) {
                Some(id) if !id.is_empty() && !id.contains(char::is_whitespace) => {
                    GivenRule::Message(id.to_string())
                }
                _ => GivenRule::Sentence(line.to_string()),
            })
            .collect()
    }
}

/// The instructions of the block, in log order. `earlier` are those of the previous block; `size` returns the tokens of
/// the text that begins with a block, `count` those of a line of it.
pub(super) fn registry(
    rules_from: &[SummarySource<'_>],
    earlier: &[Instruction],
    options: &ExtractOptions,
    size: &dyn Fn(&[Instruction]) -> u64,
    count: CountFn<'_>,
) -> Result<Vec<Instruction>, SummaryFailure> {
    match &options.style.instructions {
        Instructions::Off => Ok(Vec::new()),
        Instructions::Given(rules) => given_instructions(rules, rules_from),
        Instructions::Auto => {
            let share =
                u128::from(options.budget) * u128::from(options.style.instruction_share.min(100)) / 100;
            let all = found(rules_from, earlier, &options.kept);
            let costs: Vec<u64> = all
                .iter()
                .map(|found| count(&found.instruction.lines()))
                .collect();
            let mut room = share as u64;
            // The head and the heading take tokens too.
            loop {
                let kept = within(&all, room, &costs);
                let block: Vec<Instruction> = kept.iter().map(|at| all[*at].instruction.clone()).collect();
                let over = size(&block).saturating_sub(options.budget);
                if over == 0 || kept.is_empty() {
                    return Ok(block);
                }
                room = kept.iter().map(|at| costs[*at]).sum::<u64>().saturating_sub(over);
            }
        }
    }
}

/// A sentence counts as a user instruction, because the user runs the program.
fn given_instructions(
    rules: &[GivenRule],
    rules_from: &[SummarySource<'_>],
) -> Result<Vec<Instruction>, SummaryFailure> {
    let by_id: HashMap<&str, &SummarySource<'_>> = rules_from
        .iter()
        .filter_map(|source| Some((&**source.name.as_ref()?, source)))
        .collect();
    let mut found: Vec<Instruction> = Vec::new();
    let mut seen = HashSet::new();
    for rule in rules {
        let (speaker, text) = match rule {
            GivenRule::Sentence(text) => (Role::User, text.trim()),
            GivenRule::Message(id) => match by_id.get(id.as_str()) {
                Some(source) => (source.role, source.text.trim()),
                None => return Err(SummaryFailure::NoSuchMessage(id.clone())),
            },
        };
        if !text.is_empty() && seen.insert(text) {
            found.push(Instruction::new(Some(speaker), text));
        }
    }
    Ok(found)
}

/// Strength in half points from which a sentence is a clear instruction.
const CLEAR: u32 = 7;

struct FoundInstruction {
    instruction: Instruction,
    strength: u32,
    kind: Kind,
    /// Whether it sets a rule by its words alone.
    is_learned: bool,
    /// Whether it changes some earlier rule, though it may not share a word with it.
    surely_changes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Sets a rule.
    Rule,
    /// Sets no rule, but says that one no longer holds.
    Lifts,
    /// Sets no rule, but has a cue that it changes one.
    Changes,
    /// Sets no rule, but may change one: then the rule is never quoted without it.
    Doubts,
    /// Is in an earlier summary that is kept.
    Kept,
}

impl FoundInstruction {
    fn text(&self) -> &str {
        &self.instruction.text
    }
}

/// All instructions, once per speaker at their last occurrence, oldest first; without the `kept` ones, which are older.
fn found(
    rules_from: &[SummarySource<'_>],
    earlier: &[Instruction],
    kept: &[Instruction],
) -> Vec<FoundInstruction> {
    // Instructions of an earlier summary are kept even if their form is not recognized.
    let known = |kind: Kind| {
        move |one: &Instruction| FoundInstruction {
            instruction: one.clone(),
            strength: Sentence::of(&one.text)
                .and_then(|sentence| sentence.strength())
                .unwrap_or(u32::MAX),
            is_learned: false,
            kind,
            surely_changes: false,
        }
    };
    let kept = kept.iter().map(known(Kind::Kept));
    let mut all: Vec<FoundInstruction> = kept.chain(earlier.iter().map(known(Kind::Rule))).collect();
    let speakers = [Role::User, Role::System, Role::Developer];
    let speaking: Vec<&SummarySource<'_>> = rules_from
        .iter()
        .filter(|source| speakers.contains(&source.role))
        .collect();
    let bytes: usize = speaking.iter().map(|source| source.text.len()).sum();
    all.extend(gathered(speaking.len(), bytes * WORK, |range| {
        let sources = speaking[range].iter();
        let found = sources.flat_map(|source| detected(&source.text, source.role));
        found.collect()
    }));
    // Drop an instruction without a speaker if a named speaker gave the same one.
    let named: HashSet<&str> = all
        .iter()
        .filter(|found| found.instruction.speaker.is_some())
        .map(FoundInstruction::text)
        .collect();
    let who = |found: &FoundInstruction| found.instruction.speaker.map(Role::name);
    let last: HashMap<(Option<&str>, &str), usize> = all
        .iter()
        .enumerate()
        .map(|(at, found)| ((who(found), found.text()), at))
        .collect();
    let kept: Vec<bool> = all
        .iter()
        .enumerate()
        .map(|(at, found)| {
            let is_known = who(found).is_none() && named.contains(found.text());
            !is_known && last[&(who(found), found.text())] == at
        })
        .collect();
    let mut kept = kept.into_iter();
    all.retain(|_| kept.next().unwrap_or(false));
    let bytes: usize = all.iter().map(|found| found.text().len()).sum();
    let claims: Vec<SentenceTraits> = over_cores(all.len(), bytes * WORK, |at| match all[at].kind {
        Kind::Changes => SentenceTraits::of(all[at].text()).with_faint_cues(),
        Kind::Doubts => SentenceTraits::of_doubt(all[at].text()),
        Kind::Rule if doubts(&all[at]) => SentenceTraits::of_doubt(all[at].text()),
        _ => SentenceTraits::of(all[at].text()),
    });
    let is_rule = |at: usize| !matches!(all[at].kind, Kind::Lifts | Kind::Changes);
    let (replaced, doubted) = overruled(&claims, is_rule);
    let is_earliest =
        |at: &usize| matches!(all[*at].kind, Kind::Rule | Kind::Kept) && replaced[*at].is_none();
    let earliest = (0..all.len()).find(is_earliest);
    // What revokes nothing, unless its words say so, is about one occasion: "no need to run it again".
    let revoking: HashSet<usize> = replaced.iter().flatten().copied().collect();
    let mut at = 0..;
    all.retain(|found| {
        let at = at.next().unwrap_or_default();
        let changes_some = found.surely_changes && earliest.is_some_and(|rule| rule < at);
        replaced[at].is_none()
            && match found.kind {
                Kind::Rule => true,
                Kind::Lifts | Kind::Changes => changes_some || revoking.contains(&at),
                Kind::Doubts => changes_some || doubted[at].iter().any(|rule| replaced[*rule].is_none()),
                Kind::Kept => false,
            }
    });
    all
}

/// Whether a sentence that sets a rule by its words alone, or is from an earlier summary, may only change a rule.
fn doubts(found: &FoundInstruction) -> bool {
    let text = found.text();
    (found.is_learned || found.strength == u32::MAX)
        && Sentence::of(text).is_some_and(|sentence| {
            let is_unclear = !sentence.reads_like_a_rule() || sentence.learned().rather_changes_a_rule();
            is_unclear && revocation(text, &sentence) == Some(Kind::Doubts)
        })
}

/// The standing instructions in a text, detected by form or learned weights.
pub fn standing_instructions(text: &str) -> Vec<String> {
    detected(text, Role::User)
        .filter(|found| !matches!(found.kind, Kind::Changes | Kind::Doubts))
        .map(|found| found.instruction.text)
        .collect()
}

/// Whether a text sets, revokes or may change a standing instruction.
pub fn instructs(text: &str) -> bool {
    detected(text, Role::User).next().is_some()
}

/// Detects instructions in a text, except in generated text, quotations and code. A sentence that only revokes an
/// earlier rule counts too, so that it replaces that rule.
fn detected(text: &str, speaker: Role) -> impl Iterator<Item = FoundInstruction> {
    let mut sentence = Sentence::default();
    own_sentences(text).into_iter().filter_map(move |own| {
        let text = without_list_mark(own.text);
        if !sentence.becomes(without_list_mark(&own.unquoted())) {
            return None;
        }
        let is_listed = own.is_listed && !sentence.question;
        let formed = sentence.strength().or(is_listed.then_some(LISTED));
        // Forms and cues take precedence over weights.
        let is_learned = formed.is_none() && !sentence.has_cue_of_doubt() && sentence.reads_like_a_rule();
        let revokes = formed.is_none().then(|| revocation(text, &sentence)).flatten();
        let kind = match revokes {
            Some(Kind::Doubts) | None if is_learned || formed.is_some() => Kind::Rule,
            revokes => revokes?,
        };
        let surely_changes = kind != Kind::Rule && sentence.learned().surely_changes_a_rule();
        let strength = formed.unwrap_or(match revokes {
            None => LEARNED,
            // What may change a rule is taken before it.
            Some(Kind::Doubts) => CLEAR,
            Some(_) if surely_changes => CLEAR,
            Some(_) => REVOKING,
        });
        Some(FoundInstruction {
            instruction: Instruction::new(Some(speaker), text),
            strength,
            kind,
            is_learned,
            surely_changes,
        })
    })
}

/// Strength of an item of a list of rules, and of a sentence that revokes a rule, in half points.
const LISTED: u32 = 5;
const REVOKING: u32 = 4;

/// How a sentence that sets no rule may revoke one.
fn revocation(text: &str, sentence: &Sentence) -> Option<Kind> {
    let is_short = text.len() <= LIFTING && !text.ends_with('?');
    if is_short && sentence.lifts_any() {
        return Some(Kind::Lifts);
    }
    if is_short && sentence.may_revoke() {
        return Some(Kind::Changes);
    }
    let doubts = sentence.learned().changes_a_rule() || is_short && sentence.doubt().is_some();
    doubts.then_some(Kind::Doubts)
}

/// Maximum bytes of a sentence with a cue that it revokes a rule.
const LIFTING: usize = 160;

/// How many times the work per byte of other steps the detection of an instruction takes.
const WORK: usize = 8;

/// The indexes of the instructions that fit, in order: clear ones are taken first, then the others; newest first in both.
fn within(all: &[FoundInstruction], room: u64, costs: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| (all[*at].strength < CLEAR, std::cmp::Reverse(*at)));
    let mut rest = room;
    order.retain(|at| {
        let fits = costs[*at] <= rest;
        rest -= if fits { costs[*at] } else { 0 };
        fits
    });
    order.sort_unstable();
    order
}
