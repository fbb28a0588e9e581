//! Writes the blocks of a handoff, each within its share of the budget.

use super::super::entry::QuotedText;
use super::super::prior_weight::Prior;
use super::super::selection::{Fading, UnitCandidate, UnitCandidates};
use super::command::Commands;
use super::cut::{cut, first};
use super::error_lines::ErrorLines;
use super::lines::{AROUND, CountFn, MORE_UNNAMED, fitting, quoted, unseen};
use super::read::Heading;
use super::requests::Requests;
use super::{ChangedFile, PLAN, PlanStep, SessionFacts};
use crate::filter::phrase::contains_words;
use crate::model::message::Role;
use crate::model::threads::over_cores;
use std::cell::RefCell;

/// Minimum tokens of a quoted reply.
const MINIMUM: u64 = 12;

/// Maximum characters of a plan step.
const STEP: usize = 160;

/// A block before its budget is known.
struct UnsizedBlock<'f> {
    heading: Heading,
    /// Its weight when not everything fits.
    share: u64,
    /// Tokens of the complete block.
    need: u64,
    /// Tokens of the lines that come before those of other blocks.
    least: u64,
    lines: Box<dyn Fn(u64) -> Vec<String> + 'f>,
}

/// The non-empty blocks of a session.
pub struct HandoffBlocks<'f> {
    blocks: Vec<UnsizedBlock<'f>>,
    count: CountFn<'f>,
}

impl<'f> HandoffBlocks<'f> {
    /// Prepares the blocks of these facts.
    pub fn of(facts: &'f SessionFacts<'_>, questions: &'f [String], count: CountFn<'f>) -> HandoffBlocks<'f> {
        let mut blocks = blocks(facts, questions, count);
        blocks.retain(|block| block.need > 0);
        HandoffBlocks { blocks, count }
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The blocks that are not complete within `room` tokens.
    pub fn cut(&self, room: u64) -> Vec<usize> {
        let parts = parts(&self.blocks, room);
        let is_cut = |nth: &usize| parts[*nth] < self.blocks[*nth].need;
        (0..self.blocks.len()).filter(is_cut).collect()
    }

    /// Writes the blocks within `room` tokens, each with this many more.
    pub fn write(&self, room: u64, more: &[u64]) -> String {
        let parts = parts(&self.blocks, room).into_iter().zip(more);
        let blocks = self.blocks.iter().zip(parts).map(|(block, (part, more))| {
            let heading = (self.count)(block.heading.name()) + 1;
            (
                block.heading,
                (block.lines)((part + more).saturating_sub(heading)),
            )
        });
        let mut blocks: Vec<(Heading, Vec<String>)> = blocks.collect();
        // Notes do not repeat what the block of the last reply shows.
        if let Some((Heading::Reply, reply)) = blocks.last() {
            let reply = reply.concat();
            let notes = blocks.iter_mut().find(|(heading, _)| *heading == Heading::Notes);
            if let Some((_, lines)) = notes {
                lines.retain(|line| !reply.contains(line.trim_start_matches("- ").trim_end()));
            }
        }
        let mut out = String::new();
        for (heading, lines) in blocks.iter().filter(|(_, lines)| !lines.is_empty()) {
            out.push_str(heading.name());
            out.push('\n');
            lines.iter().for_each(|line| out.push_str(line));
        }
        out
    }
}

/// Distributes the budget: the first lines of some blocks take what they need, as far as it suffices. Of the rest, a block
/// that needs at most its share gets what it needs; the others divide what remains.
fn parts(blocks: &[UnsizedBlock<'_>], room: u64) -> Vec<u64> {
    let mut least = vec![0; blocks.len()];
    let mut free = room;
    for heading in [Heading::Errors, Heading::Commands, Heading::Requests] {
        let nth = blocks.iter().position(|block| block.heading == heading);
        if let Some(nth) = nth.filter(|nth| blocks[*nth].least <= free) {
            least[nth] = blocks[nth].least.min(blocks[nth].need);
            free -= least[nth];
        }
    }
    let need = |nth: usize| blocks[nth].need - least[nth];
    let mut parts: Vec<Option<u64>> = vec![None; blocks.len()];
    let mut left = room - least.iter().sum::<u64>();
    loop {
        let open = || (0..blocks.len()).filter(|nth| parts[*nth].is_none());
        let sum: u64 = open().map(|nth| blocks[nth].share).sum();
        let part = |nth: usize| left * blocks[nth].share / sum.max(1);
        let closed: Vec<usize> = open().filter(|nth| need(*nth) <= part(*nth)).collect();
        if closed.is_empty() {
            let parts = (0..blocks.len()).map(|nth| least[nth] + parts[nth].unwrap_or_else(|| part(nth)));
            return parts.collect();
        }
        for nth in closed {
            parts[nth] = Some(need(nth));
            left -= need(nth);
        }
    }
}

fn blocks<'f>(
    facts: &'f SessionFacts<'_>,
    questions: &'f [String],
    count: CountFn<'f>,
) -> Vec<UnsizedBlock<'f>> {
    let costs = |texts: &[String]| -> Vec<u64> { texts.iter().map(|text| count(text)).collect() };
    let block = |heading: Heading, share, (need, least), lines| {
        let with_heading = |tokens: u64| match tokens {
            0 => 0,
            tokens => tokens + count(heading.name()) + 2,
        };
        UnsizedBlock {
            heading,
            share,
            need: with_heading(need),
            least: with_heading(least),
            lines,
        }
    };
    let plan: Vec<String> = facts
        .steps()
        .iter()
        .map(|step| {
            quoted(
                &format!("[{}] ", step.state.unwrap_or(' ')),
                &first(&step.text, STEP),
            )
        })
        .collect();
    let (plan_costs, plan_order, files) = (costs(&plan), plan_order(facts.steps()), files(facts));
    let (file_costs, commands) = (costs(&files), Commands::of(facts));
    let file_order: Vec<usize> = (0..files.len()).collect();
    let errors = ErrorLines::of(&facts.errors, count);
    let requests = Requests::of(facts, questions, count);
    let notes = notes(facts, count);
    let note_costs = notes.iter().map(|note| note.tokens).sum();
    let notes = RefCell::new(UnitCandidates::among(notes));
    let earlier: Vec<String> = facts.earlier.iter().map(QuotedText::line).collect();
    let earlier_units = facts
        .earlier
        .iter()
        .enumerate()
        .map(|(nth, entry)| UnitCandidate {
            text: &entry.text,
            prior: Prior::of(&entry.text)
                .role(entry.role)
                .recency(nth, earlier.len())
                .product(),
            tokens: count(&earlier[nth]) + AROUND,
        });
    let earlier_units: Vec<UnitCandidate<'f>> = earlier_units.collect();
    let earlier_costs = earlier_units.iter().map(|unit| unit.tokens).sum();
    let earlier_units = RefCell::new(UnitCandidates::among(earlier_units));
    let reply = facts.reply.as_deref().unwrap_or_default().trim();
    let sum = |costs: &[u64]| costs.iter().sum::<u64>();
    vec![
        block(
            Heading::Earlier,
            10,
            (earlier_costs, 0),
            Box::new(move |room| {
                select_units(&earlier_units, questions, room)
                    .map(|nth| quoted("- ", &earlier[nth]))
                    .collect()
            }),
        ),
        block(
            Heading::Requests,
            30,
            (requests.need(), requests.least()),
            Box::new(move |room| requests.lines(room, count)),
        ),
        block(
            Heading::Plan,
            10,
            (sum(&plan_costs) + more_cost(facts.unnamed[PLAN]), 0),
            Box::new(move |room| counted(&plan, &plan_costs, &plan_order, facts.unnamed[PLAN], room)),
        ),
        block(
            Heading::Files,
            15,
            (sum(&file_costs) + more_cost(facts.unnamed[1]), 0),
            Box::new(move |room| counted(&files, &file_costs, &file_order, facts.unnamed[1], room)),
        ),
        block(
            Heading::Commands,
            20,
            (commands.need(count), commands.least(count)),
            Box::new(move |room| commands.lines(room, count)),
        ),
        block(
            Heading::Errors,
            10,
            (errors.need(), errors.least()),
            Box::new(move |room| errors.lines(room)),
        ),
        block(
            Heading::Notes,
            15,
            (note_costs, 0),
            Box::new(move |room| {
                select_units(&notes, questions, room)
                    .map(|nth| quoted("- ", &facts.notes[nth].text))
                    .collect()
            }),
        ),
        block(
            Heading::Reply,
            5,
            match reply {
                "" => (0, 0),
                reply => (count(reply) + AROUND, 0),
            },
            Box::new(move |room| match room.checked_sub(AROUND) {
                Some(room) if room >= MINIMUM => vec![quoted("- ", &cut(reply, room, count))],
                _ => Vec::new(),
            }),
        ),
    ]
}

/// Tokens of the line with the number of omitted items.
fn more_cost(omitted: u64) -> u64 {
    if omitted > 0 { MORE_UNNAMED } else { 0 }
}

/// Selects lines by priority within `room`, and adds the number of the others.
fn counted(lines: &[String], costs: &[u64], order: &[usize], unnamed: u64, room: u64) -> Vec<String> {
    let all = costs.iter().sum::<u64>() + more_cost(unnamed) <= room;
    let room = if all {
        room
    } else {
        room.saturating_sub(MORE_UNNAMED)
    };
    let (mut lines, left) = fitting(lines, costs, order.iter().copied(), room);
    if !lines.is_empty() {
        lines.extend(unseen(left + unnamed, ""));
    }
    lines
}

/// Order of importance: the steps in progress, those to do, then those done and canceled, the newest first.
fn plan_order(steps: &[PlanStep]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by_key(|nth| match steps[*nth].state.unwrap_or(' ') {
        '>' => (0, *nth),
        'x' => (2, steps.len() - nth),
        '-' => (3, steps.len() - nth),
        _ => (1, *nth),
    });
    order
}

/// Selects the units with the most information per token, in order.
fn select_units(
    among: &RefCell<UnitCandidates<'_>>,
    questions: &[String],
    room: u64,
) -> impl Iterator<Item = usize> + use<> {
    let mut chosen = among.borrow_mut().choose_for(questions, room, Fading::Slow);
    chosen.sort_unstable();
    chosen.into_iter()
}

/// Written files before deleted and read ones, newest first, without those that kept messages delete or revert, or change
/// after they were read.
fn files(facts: &SessionFacts<'_>) -> Vec<String> {
    let mut all = facts.files.in_order();
    all.retain(|(path, file)| match facts.kept_changes.get(*path) {
        Some(ends) => !ends && file.change.is_some(),
        None => true,
    });
    all.reverse();
    all.sort_by_key(|(_, file)| match file.change {
        Some('D') => 1,
        Some(_) => 0,
        None => 2,
    });
    let line = |(path, file): &(&str, &ChangedFile)| {
        let times = match file.changes {
            0 | 1 => String::new(),
            _ if file.change == Some('D') => String::new(),
            several => format!(" x{several}"),
        };
        let failed = if file.failed { " (failed)" } else { "" };
        quoted(
            &format!("{} ", file.change.unwrap_or('R')),
            &format!("{path}{times}{failed}"),
        )
    };
    all.iter().map(line).collect()
}

/// Words of a sentence that reports an outcome.
const OUTCOME_WORDS: [&str; 16] = [
    "because", "cause", "problem", "bug", "fix", "decided", "instead of", "fixed", "changed", "found",
    "works", "fails", "next", "remaining", "still", "must",
];

/// Beginnings of sentences that only announce something.
const ANNOUNCING: [&str; 7] = ["let me", "i'll", "let's", "now", "great", "perfect", "excellent"];

fn notes<'f>(facts: &'f SessionFacts<'_>, count: CountFn<'_>) -> Vec<UnitCandidate<'f>> {
    let all = facts.notes.len();
    let worth = |text: &str, concludes: bool| {
        let lower = text.to_lowercase();
        let mut worth = 1000;
        if concludes {
            worth *= 2;
        }
        if OUTCOME_WORDS.iter().any(|word| contains_words(&lower, word)) {
            worth = worth * 5 / 4;
        }
        if ANNOUNCING.iter().any(|word| lower.starts_with(word)) {
            worth = worth * 3 / 5;
        }
        worth
    };
    let bytes = facts.notes.iter().map(|note| note.text.len()).sum();
    over_cores(all, bytes, |nth| {
        let note = &facts.notes[nth];
        let prior = Prior::of(&note.text)
            .role(Some(Role::Assistant))
            .recency(nth, all);
        UnitCandidate {
            text: &note.text,
            prior: prior.worth(worth(&note.text, note.concludes)).product(),
            tokens: count(&note.text) + AROUND,
        }
    })
}
