//! Collects the standing instructions that a summary quotes word for word in a separate block.

use super::detection::{CERTAIN, DetectedInstruction, InstructionKind, detected, doubts};
use super::entry::CountFn;
use super::instruction_ranks::{Clarity, Rank, RankedInstruction, within};
use super::options::{ExtractOptions, GivenRule, Instructions};
use super::overruled::{RuleChanges, SentenceTraits, rule_changes};
use super::{Instruction, SummaryFailure};
use crate::model::message::Role;
use crate::model::threads::over_cores;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// What a message contributes to the standing instructions. [`Instructions`] decides which.
pub enum InstructionSource<'a> {
    /// The instructions in it, detected once for a session, because detection takes long.
    Detected(Cow<'a, [DetectedInstruction]>),
    /// The message itself, which a given instruction may name.
    Message {
        /// Who speaks.
        role: Role,
        /// Its id.
        id: Box<str>,
        /// Its whole text.
        text: Cow<'a, str>,
    },
}

impl InstructionSource<'_> {
    fn detected(&self) -> &[DetectedInstruction] {
        match self {
            InstructionSource::Detected(detected) => detected,
            InstructionSource::Message { .. } => &[],
        }
    }
}

/// Who speaks in a session, which decides how many doubtful instructions a summary quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionKind {
    /// A user and a model. Doubtful rules are quoted within an eighth of the tokens, and changes within another.
    Chat,
    /// People. They rarely set rules for each other.
    People,
    /// A user and an agent. Nearly all doubtful instructions are tasks, and requests are quoted anyway.
    Agent,
}

impl SessionKind {
    /// The certainty below which a sentence is a doubtful instruction, in thousandths. Of unseen rules without a known form,
    /// a sixth is below the lower one, and of the false ones four fifths are. Orders to an agent read more like rules.
    fn limit(self) -> i32 {
        match self {
            SessionKind::Chat | SessionKind::People => 370,
            SessionKind::Agent => 700,
        }
    }

    /// Whether no doubtful instructions are quoted but those of an earlier summary.
    fn omits_doubtful(self) -> bool {
        self != SessionKind::Chat
    }
}

/// The standing instructions of a summary.
#[derive(Default)]
pub(super) struct SelectedInstructions {
    /// Those that it quotes, in log order.
    pub quoted: Vec<Instruction>,
    /// The texts of those that later ones replace. Quoted below the block, they would seem to be newer.
    pub replaced: Vec<String>,
}

/// The instructions of the block. `earlier` are those of the previous block; `size` returns the tokens of
/// the text that begins with a block, `count` those of a line of it.
pub(super) fn registry(
    rules_from: &[InstructionSource<'_>],
    earlier: &[Instruction],
    kind: SessionKind,
    options: &ExtractOptions,
    size: &dyn Fn(&[Instruction]) -> u64,
    count: CountFn<'_>,
) -> Result<SelectedInstructions, SummaryFailure> {
    match &options.style.instructions {
        Instructions::Off => Ok(SelectedInstructions::default()),
        Instructions::Given(rules) => Ok(SelectedInstructions {
            quoted: given_instructions(rules, rules_from)?,
            replaced: Vec::new(),
        }),
        Instructions::Auto => {
            let share =
                u128::from(options.budget) * u128::from(options.style.instruction_share.min(100)) / 100;
            let all = found(rules_from, earlier, &options.kept, kind);
            let costs = vec![OnceCell::new(); all.len()];
            let cost = |at: usize| *costs[at].get_or_init(|| count(&all[at].instruction.lines()));
            let mut room = share as u64;
            // The head and the heading take tokens too.
            loop {
                let for_doubtful = if kind.omits_doubtful() { 0 } else { room / 8 };
                let fitting = within(&all, (room, for_doubtful), cost);
                let block: Vec<Instruction> = fitting.iter().map(|at| all[*at].instruction.clone()).collect();
                let over = size(&block).saturating_sub(options.budget);
                if over == 0 || fitting.is_empty() {
                    // A demand that does not fit together with its changes would seem to be unchanged. A prohibition is safe.
                    let is_outdated = |(at, one): &(usize, RankedInstruction)| {
                        let is_changed = !one.changes.is_empty() && !one.is_doubtful && !one.forbids;
                        one.is_rule && (one.is_replaced || is_changed && !fitting.contains(at))
                    };
                    let replaced = all.into_iter().enumerate().filter(is_outdated);
                    return Ok(SelectedInstructions {
                        quoted: block,
                        replaced: replaced.map(|(_, one)| one.instruction.text).collect(),
                    });
                }
                let tokens: u64 = fitting.into_iter().map(cost).sum();
                room = tokens.saturating_sub(over);
            }
        }
    }
}

/// A sentence counts as a user instruction, because the user runs the program.
fn given_instructions(
    rules: &[GivenRule],
    rules_from: &[InstructionSource<'_>],
) -> Result<Vec<Instruction>, SummaryFailure> {
    let by_id: HashMap<&str, (Role, &str)> = rules_from
        .iter()
        .filter_map(|source| match source {
            InstructionSource::Message { role, id, text } => Some((&**id, (*role, text.trim()))),
            InstructionSource::Detected(_) => None,
        })
        .collect();
    let mut found: Vec<Instruction> = Vec::new();
    let mut seen = HashSet::new();
    for rule in rules {
        let (speaker, text) = match rule {
            GivenRule::Sentence(text) => (Role::User, text.trim()),
            GivenRule::Message(id) => match by_id.get(id.as_str()) {
                Some(message) => *message,
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

/// Strength in half points from which one that forbids something is: an order with a firm word.
const FIRM: u32 = 5;

impl DetectedInstruction {
    fn is_doubtful(&self, kind: SessionKind) -> bool {
        self.certainty < kind.limit() || self.may_be_a_task && kind == SessionKind::Agent
    }

    /// `forbids`: whether it forbids something. What a user does not want is the costliest to lose.
    fn rank(&self, position: usize, kind: SessionKind, forbids: bool) -> Rank {
        Rank {
            is_usual: true,
            doubt: match self.kind {
                InstructionKind::Rule if !self.is_doubtful(kind) => 0,
                _ => CERTAIN.saturating_sub(self.certainty).max(1),
            },
            clarity: match self.strength {
                CLEAR.. => Clarity::Strong,
                FIRM.. if forbids => Clarity::Strong,
                _ if forbids || self.certainty == CERTAIN => Clarity::Formed,
                _ => Clarity::Learned,
            },
            position: Reverse(position),
        }
    }
}

/// All instructions, once per speaker at their last occurrence, oldest first. The `kept` ones are older and have no rank.
fn found(
    rules_from: &[InstructionSource<'_>],
    earlier: &[Instruction],
    kept: &[Instruction],
    kind: SessionKind,
) -> Vec<RankedInstruction> {
    // Instructions of an earlier summary are kept even if they are not recognized.
    let known = |one: &Instruction| {
        let found = detected(&one.text, Role::User).find(|found| found.text() == one.text);
        let unknown = || DetectedInstruction {
            instruction: one.clone(),
            strength: u32::MAX,
            certainty: CERTAIN,
            may_be_a_task: false,
            was_quoted: true,
            kind: InstructionKind::Rule,
            changes_any: false,
            refers_back: false,
        };
        DetectedInstruction {
            instruction: one.clone(),
            was_quoted: true,
            ..found.unwrap_or_else(unknown)
        }
    };
    let of_kept = |one: &Instruction| DetectedInstruction {
        kind: InstructionKind::Kept,
        ..known(one)
    };
    let mut all: Vec<DetectedInstruction> = kept
        .iter()
        .map(of_kept)
        .chain(earlier.iter().map(known))
        .collect();
    all.extend(rules_from.iter().flat_map(InstructionSource::detected).cloned());
    drop_repeated(&mut all);
    let bytes: usize = all.iter().map(|found| found.text().len()).sum();
    let claims: Vec<SentenceTraits> = over_cores(all.len(), bytes * WORK, |at| match all[at].kind {
        InstructionKind::Changes => SentenceTraits::of_change(all[at].text()),
        InstructionKind::Doubts => SentenceTraits::of_doubt(all[at].text()),
        InstructionKind::Context => SentenceTraits::default(),
        InstructionKind::Rule if doubts(&all[at]) => SentenceTraits::of_doubt(all[at].text()),
        _ => SentenceTraits::of(all[at].text()),
    });
    let is_rule = |at: usize| {
        use InstructionKind::{Changes, Context, Lifts};
        !matches!(all[at].kind, Lifts | Changes | Context)
    };
    let RuleChanges {
        replaced,
        changed,
        has_new_value,
    } = rule_changes(&claims, is_rule);
    // What revokes nothing, unless its words say so, is about one occasion: "no need to run it again".
    let revoking: HashSet<usize> = replaced.iter().flatten().copied().collect();
    let is_kept = |at: usize| matches!(all[at].kind, InstructionKind::Kept) && replaced[at].is_none();
    let is_quoted = |at: usize| {
        matches!(all[at].kind, InstructionKind::Rule | InstructionKind::Kept) && replaced[at].is_none()
    };
    let first_rule = (0..all.len()).find(|at| is_quoted(*at));
    let mut changes = vec![Vec::new(); all.len()];
    let mut ranks = Vec::with_capacity(all.len());
    let replaces_kept: HashSet<usize> = (0..all.len())
        .filter(|at| all[*at].kind == InstructionKind::Kept)
        .filter_map(|at| replaced[at])
        .collect();
    for (at, found) in all.iter().enumerate() {
        if replaced[at].is_some() {
            ranks.push(None);
            continue;
        }
        changed[at].iter().for_each(|rule| changes[*rule].push(at));
        if found.refers_back && at > 0 && replaced[at - 1].is_none() {
            changes[at].push(at - 1);
        }
        let changes_any = || found.changes_any && first_rule.is_some_and(|rule| rule < at);
        let rank = found.rank(at, kind, claims[at].forbids);
        ranks.push(match found.kind {
            InstructionKind::Kept => None,
            _ if replaces_kept.contains(&at) || changed[at].iter().any(|rule| is_kept(*rule)) => Some(Rank {
                is_usual: false,
                doubt: 0,
                ..rank
            }),
            InstructionKind::Rule | InstructionKind::Lifts | InstructionKind::Changes
                if revoking.contains(&at) =>
            {
                Some(Rank { doubt: 0, ..rank })
            }
            InstructionKind::Rule if has_new_value[at] => Some(Rank { doubt: 0, ..rank }),
            InstructionKind::Rule => Some(rank),
            _ => Some(Rank {
                // One with a known rule is quoted with it.
                is_usual: found.is_doubtful(kind) || !changed[at].is_empty(),
                ..rank
            })
            .filter(|_| found.was_quoted || changes_any()),
        });
    }
    let ranked = all.into_iter().zip(ranks).zip(changes).zip(replaced).zip(claims);
    ranked
        .map(
            |((((found, rank), changes), replaced), claim)| RankedInstruction {
                rank,
                is_replaced: replaced.is_some(),
                is_rule: matches!(found.kind, InstructionKind::Rule | InstructionKind::Kept),
                is_doubtful: match rank {
                    Some(rank) => rank.doubt > 0,
                    None => found.kind == InstructionKind::Kept && found.is_doubtful(kind),
                },
                forbids: claim.forbids,
                was_quoted: found.was_quoted,
                instruction: found.instruction,
                changes,
            },
        )
        .collect()
}

/// Drops all but the last of the same instructions of a speaker, and one without a speaker if a named one gave the same.
fn drop_repeated(all: &mut Vec<DetectedInstruction>) {
    let speaker = |found: &DetectedInstruction| found.instruction.speaker.map(Role::name);
    let (mut last, mut speakers): (HashMap<_, usize>, HashMap<_, usize>) = Default::default();
    for (at, found) in all.iter().enumerate() {
        last.insert((speaker(found), found.text()), at);
        if speaker(found).is_some() {
            speakers.insert(found.text(), at);
        }
    }
    // The one that represents each.
    let by: Vec<usize> = all
        .iter()
        .map(|found| match speaker(found) {
            None => *speakers.get(found.text()).unwrap_or(&last[&(None, found.text())]),
            named => last[&(named, found.text())],
        })
        .collect();
    for (at, by) in by.iter().enumerate() {
        all[*by].was_quoted |= all[at].was_quoted;
    }
    // The one to which the next one refers remains before it.
    let is_kept = |at: usize| by[at] == at;
    let refers = |at: usize| all.get(at).is_some_and(|found| found.refers_back) && is_kept(at);
    let kept: Vec<bool> = (0..all.len()).map(|at| is_kept(at) || refers(at + 1)).collect();
    let mut nth = kept.into_iter();
    all.retain(|_| nth.next() == Some(true));
}

/// How many times the work per byte of other steps finding the traits of a sentence takes.
const WORK: usize = 8;

/// The instructions that [`registry`] detects, except doubtful ones that no earlier summary quotes.
pub(super) fn certain(rules_from: &[InstructionSource<'_>], earlier: &[Instruction]) -> Vec<Instruction> {
    let all = found(rules_from, earlier, &[], SessionKind::Chat);
    let certain = within(&all, (u64::MAX, 0), |_| 1);
    certain
        .into_iter()
        .map(|at| all[at].instruction.clone())
        .collect()
}

/// The texts of the instructions that later ones replace.
pub fn replaced_instructions(sources: &[InstructionSource<'_>]) -> HashSet<String> {
    let all = found(sources, &[], &[], SessionKind::Chat).into_iter();
    all.filter(|one| one.is_replaced)
        .map(|one| one.instruction.text)
        .collect()
}
