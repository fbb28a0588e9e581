//! Tests the summarizer with test vectors, a naive selection and unseen sentences.

mod answered;
mod changed;
mod choice;
mod dated;
mod doubtful;
mod fixtures;
mod forms;
mod handed;
mod instructed;
mod pasted;
mod properties;
mod recorded;
mod rolling;
mod said_once;
mod speakers;
mod things;
mod training;
mod written;

use super::*;
use crate::model::message::Role;

/// Counts words separated by white space: a tokenizer that is easy to verify by hand.
fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

fn source<'a>(id: &'a str, role: Role, timestamp: &'a str, text: &'a str) -> SummarySource<'a> {
    SummarySource {
        role,
        // The id by which given instructions name it.
        tool: (role != Role::Tool).then(|| id.into()),
        day: super::day(timestamp),
        text: text.into(),
        is_escaped: false,
        tokens: None,
    }
}

/// Each message as a source of instructions, as a session provides it.
fn instruction_sources<'a>(
    messages: &'a [SummarySource<'_>],
    options: &ExtractOptions,
) -> Vec<InstructionSource<'a>> {
    let source = |message: &'a SummarySource<'_>| match options.style.instructions {
        Instructions::Given(_) => InstructionSource::Message {
            role: message.role,
            id: message.tool.clone().unwrap_or_default(),
            text: Cow::Borrowed(&*message.text),
        },
        _ => InstructionSource::Detected(detected(&message.text, message.role).collect()),
    };
    let speaks =
        |message: &&SummarySource<'_>| matches!(message.role, Role::User | Role::System | Role::Developer);
    messages.iter().filter(speaks).map(source).collect()
}

fn extract(
    sources: &[SummarySource<'_>],
    rules_from: &[SummarySource<'_>],
    previous: Option<&str>,
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> Result<SummaryText, SummaryFailure> {
    let rules = instruction_sources(rules_from, options);
    super::extract(sources, &rules, previous, options, count)
}

fn hand_over(
    facts: SessionFacts<'_>,
    sources: &[SummarySource<'_>],
    rules_from: &[SummarySource<'_>],
    previous: Option<&str>,
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> Result<SummaryText, SummaryFailure> {
    let rules = instruction_sources(rules_from, options);
    super::hand_over(facts, sources, &rules, previous, options, count)
}

fn instructions(
    rules_from: &[SummarySource<'_>],
    previous: Option<&str>,
    options: &ExtractOptions,
    count: CountFn<'_>,
) -> Result<Vec<Instruction>, SummaryFailure> {
    let rules = instruction_sources(rules_from, options);
    super::instructions(&rules, previous, options, count)
}

fn certain(rules_from: &[SummarySource<'_>]) -> Vec<Instruction> {
    quoted_instructions::certain(&instruction_sources(rules_from, &ExtractOptions::new(1)), &[])
}
