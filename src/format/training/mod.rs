//! Training data for models: one session per line, as OpenAI Chat messages with their tool definitions.

mod message;
mod options;
#[cfg(test)]
mod tests;
mod tools;

pub use options::{TrainingKind, TrainingOptions, TrainingThinking};

use super::report::{Loss, LossSet, Report};
use super::request::{self, Api};
use super::spec::{FormatSpec, WritePurpose, WriteTarget, written};
use crate::error::{Position, Result};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::Role;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;
use message::TrainingWriter;

/// Fine-tuning data for OpenAI models, as a format.
pub const FINETUNE: FormatSpec = FormatSpec {
    name: "openai-finetune",
    about: "OpenAI fine-tuning data (write-only)",
    ending: ".jsonl",
    write: Some(|session, view, target| {
        let options = TrainingOptions::default();
        write(TrainingKind::Finetune, session, view, &options, target)
    }),
    concatenable: true,
    unsupported: LOSSES,
    note: "One session per line: `messages`, `tools`, `parallel_tool_calls`. Read it back with --from openai-chat.",
    ..FormatSpec::BLANK
};

/// Training data for TRL, as a format.
pub const TRL: FormatSpec = FormatSpec {
    name: "trl",
    about: "TRL training data (write-only)",
    ending: ".jsonl",
    write: Some(|session, view, target| {
        let options = TrainingOptions::default();
        write(TrainingKind::Trl, session, view, &options, target)
    }),
    concatenable: true,
    unsupported: LOSSES.with(&[Loss::Arguments]),
    note: "One session per line: `messages` and `tools`, or `prompt` and `completion`. Arguments are objects, as chat templates require.",
    ..FormatSpec::BLANK
};

const LOSSES: LossSet =
    LossSet::USUAL
        .without(&[Loss::Arguments, Loss::Name])
        .with(&[Loss::Model, Loss::Summary, Loss::Orphan]);

/// Writes one session as a line.
pub fn write(
    kind: TrainingKind,
    session: &Session,
    view: &View,
    options: &TrainingOptions,
    WriteTarget(_, out, report): WriteTarget<'_>,
) -> Result<()> {
    let mut losses = Report::default();
    losses.count_line_losses(session);
    let request = request::built(Api::OpenaiChat, session, view, WritePurpose::Export, &mut losses);
    // The options determine the handling of reasoning.
    losses.losses.remove(&Loss::Reasoning);
    report.findings.append(&mut losses.findings);
    for (loss, times) in losses.losses {
        report.count_loss(loss, times);
    }
    let mut writer = TrainingWriter::new(kind, *options);
    let mut messages = Vec::new();
    for element in &request.elements {
        let item = element.items.first().and_then(|item| view.items.get(*item));
        let reasoning = item
            .and_then(|item| item.message(session))
            .and_then(|own| own.reasoning);
        messages.push(writer.message(&element.raw, reasoning, report));
    }
    let roles: Vec<Role> = messages.iter().map(|raw| role(raw)).collect();
    if let Some(trained) = options.train_last.filter(|_| kind == TrainingKind::Finetune) {
        let replies = (0..roles.len()).filter(|nth| roles[*nth] == Role::Assistant);
        let replies: Vec<usize> = replies.collect();
        for nth in &replies[..replies.len().saturating_sub(trained)] {
            message::unweighted(&mut messages[*nth]);
        }
    }
    let definitions = tools::definitions(session);
    if definitions.is_empty() && writer.calls > 0 {
        report.note(Position::default(), "no tool definitions in the session");
    }
    let mut line = ObjectBuilder::default();
    match kind == TrainingKind::Trl && options.prompt_completion {
        true => {
            let requested = roles.iter().rposition(|role| *role == Role::User);
            let (prompt, completion) = messages.split_at(requested.map_or(0, |last| last + 1));
            line.raw("prompt", json::array(prompt))
                .raw("completion", json::array(completion));
        }
        false => drop(line.raw("messages", json::array(&messages))),
    }
    if !definitions.is_empty() {
        line.raw("tools", json::array(&definitions));
        if kind == TrainingKind::Finetune
            && let Some(parallel) = tools::parallel(session).or((writer.calls > 1).then_some(true))
        {
            line.raw("parallel_tool_calls", parallel.to_string());
        }
    }
    written(out.write_all(&line.finish()))?;
    written(out.write_all(b"\n"))
}

fn role(raw: &[u8]) -> Role {
    let record = Record::parse(raw, Position { line: 1, offset: 1 });
    record.message().map_or(Role::Other, |message| message.role())
}
