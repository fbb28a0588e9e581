//! Detects the sentences of a text that set standing instructions or change them.

use super::Instruction;
use super::instructions::LEARNED;
use super::pasted::own_sentences;
use super::sentences::without_list_mark;
use super::words::Sentence;
use crate::model::message::Role;

/// Certainty of a sentence with a known form.
pub(super) const CERTAIN: i32 = i32::MAX;

/// An instruction that was detected in a message.
#[derive(Clone)]
pub struct DetectedInstruction {
    pub(super) instruction: Instruction,
    pub(super) strength: u32,
    pub(super) kind: InstructionKind,
    /// How certainly it sets a rule, or changes one that is set: [`CERTAIN`], or the score of its words.
    pub(super) certainty: i32,
    /// Whether it has the form of an order, though its words read like a task: "make sure the header is blue".
    pub(super) may_be_a_task: bool,
    /// Whether it is from an earlier summary.
    pub(super) was_quoted: bool,
    /// Whether it changes some earlier rule, though it may not share a word with it.
    pub(super) changes_any: bool,
    /// Whether it refers to the sentence before, which is the instruction before.
    pub refers_back: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InstructionKind {
    /// Sets a rule.
    Rule,
    /// Sets no rule, but says that one no longer holds.
    Lifts,
    /// Sets no rule, but has a cue that it changes one.
    Changes,
    /// Sets no rule, but may change one: then the rule is never quoted without it.
    Doubts,
    /// Sets no rule, but the next one refers to it.
    Context,
    /// Is in an earlier summary that is kept.
    Kept,
}

impl DetectedInstruction {
    /// The sentence.
    pub fn text(&self) -> &str {
        &self.instruction.text
    }

    /// The sentence, if it sets a rule or ends one for certain.
    pub fn standing(&self) -> Option<&str> {
        use InstructionKind::{Changes, Context, Doubts};
        let is_standing = !matches!(self.kind, Changes | Doubts | Context);
        is_standing.then(|| self.text())
    }
}

/// The standing instructions in a text, detected by form or learned weights.
pub fn standing_instructions(text: &str) -> Vec<String> {
    let found = detected(text, Role::User);
    found
        .filter_map(|found| found.standing().map(str::to_string))
        .collect()
}

/// Detects instructions in a text, except in generated text, quotations and code. A sentence that only revokes an
/// earlier rule counts too, so that it replaces that rule, and one to which a rule refers.
pub fn detected(text: &str, speaker: Role) -> impl Iterator<Item = DetectedInstruction> {
    let mut sentence = Sentence::default();
    // The sentence before, unless it is too long, and whether it is an instruction.
    let mut before: Option<(&str, bool)> = None;
    own_sentences(text).into_iter().flat_map(move |own| {
        let text = without_list_mark(own.text);
        let is_read = sentence.becomes(without_list_mark(&own.unquoted()));
        let mut found = is_read
            .then(|| detected_in(text, own.is_listed, &sentence, speaker))
            .flatten();
        let mut context = None;
        if let Some(found) = &mut found {
            found.refers_back =
                found.kind == InstructionKind::Rule && before.is_some() && sentence.refers_back();
            let missing = before.filter(|(_, is_found)| found.refers_back && !is_found);
            context = missing.map(|(text, _)| DetectedInstruction {
                instruction: Instruction::new(Some(speaker), text),
                kind: InstructionKind::Context,
                refers_back: false,
                changes_any: false,
                ..*found
            });
        }
        before = (text.len() <= LIFTING).then_some((text, found.is_some()));
        context.into_iter().chain(found)
    })
}

/// The instruction that a sentence is, if it is one.
fn detected_in(
    text: &str,
    is_listed: bool,
    sentence: &Sentence,
    speaker: Role,
) -> Option<DetectedInstruction> {
    let is_listed = is_listed && !sentence.question;
    let formed = sentence.strength().or(is_listed.then_some(LISTED));
    // Forms and cues take precedence over weights.
    let is_learned = formed.is_none() && sentence.reads_like_a_rule() && !sentence.has_cue_of_doubt();
    let revokes = formed.is_none().then(|| revocation(text, sentence)).flatten();
    let kind = match revokes {
        Some(InstructionKind::Doubts) | None if is_learned || formed.is_some() => InstructionKind::Rule,
        revokes => revokes?,
    };
    let learned = sentence.learned();
    let strength = formed.unwrap_or(match kind {
        InstructionKind::Rule => LEARNED,
        _ => REVOKING,
    });
    Some(DetectedInstruction {
        instruction: Instruction::new(Some(speaker), text),
        strength,
        certainty: match kind {
            InstructionKind::Rule if is_learned => learned.rule,
            InstructionKind::Rule => CERTAIN,
            _ => learned.change,
        },
        may_be_a_task: formed.is_some_and(|strength| strength <= LISTED)
            && !is_listed
            && learned.rule < 0
            && !sentence.has_any(&PROHIBITING),
        was_quoted: false,
        kind,
        changes_any: match kind {
            InstructionKind::Lifts | InstructionKind::Changes => learned.surely_changes_a_rule(),
            InstructionKind::Doubts => learned.likely_changes_a_rule(),
            _ => false,
        },
        refers_back: false,
    })
}

/// Words of a prohibition, which is a rule more often than an order is.
const PROHIBITING: [&str; 9] = [
    "avoid", "don't", "dont", "never", "no", "not", "only", "stop", "without",
];

/// Strength of an item of a list of rules, and of a sentence that revokes a rule, in half points.
const LISTED: u32 = 5;
const REVOKING: u32 = 4;

/// How a sentence that sets no rule may revoke one.
fn revocation(text: &str, sentence: &Sentence) -> Option<InstructionKind> {
    let is_short = text.len() <= LIFTING && !text.ends_with('?');
    if is_short && sentence.lifts_any() {
        return Some(InstructionKind::Lifts);
    }
    if is_short && sentence.may_revoke() {
        return Some(InstructionKind::Changes);
    }
    let negates = || text.len() <= NEGATING && sentence.negated().next().is_some();
    let doubts = sentence.learned().changes_a_rule()
        || is_short && (sentence.doubt().is_some() || negates())
        || text.len() <= LIFTING && sentence.proposes_an_answer();
    doubts.then_some(InstructionKind::Doubts)
}

/// Maximum bytes of a sentence with a cue that it revokes a rule, and of one that only negates a word.
const LIFTING: usize = 160;
const NEGATING: usize = 64;

/// Whether a sentence that sets a rule by its words alone, or is from an earlier summary, may only change a rule.
pub(super) fn doubts(found: &DetectedInstruction) -> bool {
    let text = found.text();
    (found.strength == u32::MAX || found.certainty < CERTAIN)
        && Sentence::of(text).is_some_and(|sentence| {
            let is_unclear = !sentence.reads_like_a_rule() || sentence.learned().rather_changes_a_rule();
            is_unclear && revocation(text, &sentence) == Some(InstructionKind::Doubts)
        })
}
