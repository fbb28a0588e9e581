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
use std::cmp::Reverse;
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
                .map(|(_, instruction)| count(&instruction.lines()))
                .collect();
            let mut room = share as u64;
            // The head and the heading take tokens too.
            loop {
                let kept = within(&all, room, &costs);
                let block: Vec<Instruction> = kept.iter().map(|at| all[*at].1.clone()).collect();
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

/// Certainty of a sentence with a known form.
const CERTAIN: i32 = i32::MAX;

/// Certainty below which a sentence is a doubtful instruction, in thousandths. Of unseen rules without a known form, a
/// sixth is below it, and of the false ones four fifths are.
const DOUBTFUL: i32 = 370;

struct FoundInstruction {
    instruction: Instruction,
    strength: u32,
    kind: Kind,
    /// How certainly it sets a rule, or changes one that is set: [`CERTAIN`], or the score of its words.
    certainty: i32,
    /// Whether it is from an earlier summary.
    was_quoted: bool,
    /// Whether it changes some earlier rule, though it may not share a word with it.
    changes_any: bool,
}

/// Which of two instructions is preferred: the lower one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// By how much its certainty is below that of an instruction that is not doubtful, in thousandths.
    doubt: i32,
    /// Whether its form is weak.
    is_weak: bool,
    /// Newer ones are preferred.
    position: Reverse<usize>,
    /// What changes a rule has the rank of the rule, before it.
    is_rule: bool,
    /// Whether it counts as doubtful; one that was quoted before is quoted again nevertheless.
    is_doubtful: bool,
}

impl Rank {
    fn of(found: &FoundInstruction, position: usize) -> Rank {
        let doubt = DOUBTFUL - found.certainty.min(DOUBTFUL);
        Rank {
            doubt: if found.was_quoted { 0 } else { doubt },
            is_weak: found.strength < CLEAR,
            position: Reverse(position),
            is_rule: true,
            is_doubtful: doubt > 0,
        }
    }

    fn of_certain(self) -> Rank {
        Rank {
            doubt: 0,
            is_doubtful: false,
            ..self
        }
    }
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

/// All instructions with their ranks, once per speaker at their last occurrence, oldest first; without the `kept` ones,
/// which are older.
fn found(
    rules_from: &[SummarySource<'_>],
    earlier: &[Instruction],
    kept: &[Instruction],
) -> Vec<(Rank, Instruction)> {
    // Instructions of an earlier summary are kept even if their form is not recognized.
    let known = |kind: Kind| {
        move |one: &Instruction| {
            let found = detected(&one.text, Role::User).next();
            FoundInstruction {
                instruction: one.clone(),
                strength: Sentence::of(&one.text)
                    .and_then(|sentence| sentence.strength())
                    .unwrap_or(u32::MAX),
                certainty: found.map_or(CERTAIN, |found| found.certainty),
                was_quoted: true,
                kind,
                changes_any: false,
            }
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
    // What revokes nothing, unless its words say so, is about one occasion: "no need to run it again".
    let revoking: HashSet<usize> = replaced.iter().flatten().copied().collect();
    let mut ranks: Vec<Option<Rank>> = Vec::with_capacity(all.len());
    let mut has_rule = false;
    for (at, found) in all.iter().enumerate() {
        let own = Some(Rank::of(found, at));
        let doubted = doubted[at].iter().filter(|rule| replaced[**rule].is_none());
        let doubted = doubted.filter_map(|rule| ranks[*rule]);
        let of_any = own.filter(|_| found.changes_any && has_rule);
        let rank = match found.kind {
            Kind::Rule | Kind::Kept => doubted.chain(own).min(),
            Kind::Lifts | Kind::Changes if revoking.contains(&at) => own.map(Rank::of_certain),
            Kind::Lifts | Kind::Changes => of_any,
            Kind::Doubts => doubted.chain(of_any).min(),
        };
        let rank = rank.filter(|_| replaced[at].is_none());
        if matches!(found.kind, Kind::Rule | Kind::Kept) {
            has_rule |= rank.is_some();
        }
        // What changes a rule is preferred to the rule.
        ranks.push(rank.map(|rank| Rank {
            is_rule: rank.position == Reverse(at),
            ..rank
        }));
    }
    let found = all.into_iter().zip(ranks);
    let quoted = found.filter(|(found, _)| found.kind != Kind::Kept);
    quoted
        .filter_map(|(found, rank)| Some((rank?, found.instruction)))
        .collect()
}

/// Whether a sentence that sets a rule by its words alone, or is from an earlier summary, may only change a rule.
fn doubts(found: &FoundInstruction) -> bool {
    let text = found.text();
    (found.strength == u32::MAX || found.certainty < CERTAIN)
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
        let learned = sentence.learned();
        let strength = formed.unwrap_or(match kind {
            Kind::Rule => LEARNED,
            _ => REVOKING,
        });
        Some(FoundInstruction {
            instruction: Instruction::new(Some(speaker), text),
            strength,
            certainty: match kind {
                Kind::Rule if is_learned => learned.rule_score(),
                Kind::Rule => CERTAIN,
                _ => learned.change_score().min(DOUBTFUL - 1),
            },
            was_quoted: false,
            kind,
            changes_any: match kind {
                Kind::Rule | Kind::Kept => false,
                Kind::Doubts => learned.likely_changes_a_rule(),
                Kind::Lifts | Kind::Changes => learned.surely_changes_a_rule(),
            },
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

/// The indexes of the instructions that fit, in order: clear ones are taken first, then the others, newest first in both;
/// then a few doubtful ones, the most certain first, because a long conversation always has some.
fn within(all: &[(Rank, Instruction)], room: u64, costs: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| all[*at].0);
    let (mut rest, mut rest_for_doubtful, mut doubtful) = (room, room / 4, 0);
    let mut without_change = None;
    order.retain(|at| {
        let (cost, rank) = (costs[*at], all[*at].0);
        let is_too_much = cost > rest_for_doubtful || doubtful >= MOST_DOUBTFUL;
        // A rule is never quoted without what changes it.
        if cost > rest || rank.doubt > 0 && is_too_much || without_change == Some(rank.position) {
            without_change = Some(rank.position);
            return false;
        }
        rest -= cost;
        if rank.is_doubtful {
            rest_for_doubtful = rest_for_doubtful.saturating_sub(cost);
            doubtful += 1;
        }
        true
    });
    order.sort_unstable();
    order
}

/// Most doubtful instructions in a summary. They may take a quarter of the tokens for instructions.
const MOST_DOUBTFUL: usize = 8;

/// The instructions that [`registry`] detects and that are not doubtful.
pub(super) fn certain(rules_from: &[SummarySource<'_>], earlier: &[Instruction]) -> Vec<Instruction> {
    let found = found(rules_from, earlier, &[]).into_iter();
    let certain = found.filter(|(rank, _)| !rank.is_doubtful);
    certain.map(|(_, instruction)| instruction).collect()
}
