//! `context`: prints the view, the messages that a model would receive.

use super::Run;
use crate::args::{BudgetArgs, ChainArgs, InputArgs, OutputArgs, Selecting, TokenizerArgs};
use crate::context::Context;
use crate::input::{InputSettings, chain_reader, operands};
use crate::provider_request;
use crate::writing::{Export, report_dangling, write_to};
use clap::Args;
use convo::check::Api;
use convo::error::Error;
use convo::format::{Format, WritePurpose};
use convo::model::view::View as Replayed;

/// Print the messages a model would receive
///
/// Replays the log and prints the header, the messages in the view and the summary. With --to API, prints a request
/// body, repaired where the API would reject it. With --budget, compacts the output. The session is never changed.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo context chat                                 one record per line
  convo context chat --to openai-chat | jq length    a request body
  convo context chat --budget 60% --window gpt-4o    compacted to a budget
  convo context chat --role user --role assistant    without system messages and tools
  convo context < session.jsonl                      a filter")]
pub struct ContextCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    budget_args: BudgetArgs,
    #[command(flatten)]
    tokenizer_args: TokenizerArgs,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    chained: ChainArgs,
    #[command(flatten)]
    writing: OutputArgs,
    /// --diagnostics json
    #[arg(long, hide = true)]
    json: bool,
}

impl Run for ContextCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let inputs = operands::inputs(context, &self.inputs)?;
        let writing = self.writing.resolve(&inputs, &self.reading)?;
        let budget = self.budget_args.budget()?;
        if budget.is_none() && (self.budget_args.window.is_some() || self.tokenizer_args.tokenizer.is_some())
        {
            let error = Error::usage("--window and --tokenizer require --budget");
            return Err(error
                .hint("add --budget, e.g. --budget 60% --window gpt-4o")
                .into());
        }
        let to = writing.format();
        let api = Api::from_name(to.name());
        // A request body contains only the view; other formats keep more.
        let reading = InputSettings {
            view_only: budget.is_none()
                && self.selecting.selection().is_none()
                && !self.chained.chain
                && (to == Format::Native || api.is_some()),
            ..(&self.reading).into()
        };
        let strict = self.reading.strict;
        write_to(context, writing, |out| {
            let mut written = 0;
            chain_reader::each(context, &inputs, reading, self.chained, |label, mut session| {
                written += 1;
                self.selecting.select_part(label, &mut session)?;
                if let Some(budget) = budget {
                    let counter = self.tokenizer_args.counter(context, label, &session)?;
                    let window = self.budget_args.window();
                    provider_request::fit(context, label, &mut session, budget, window, counter)?;
                }
                out.separate();
                if to == Format::Native {
                    let view = Replayed::replay(&session);
                    report_dangling(context, label, &session, &view);
                    return provider_request::write(&session, &view, out);
                }
                let session = match api {
                    Some(api) => provider_request::sendable(context, label, session, api, strict)?,
                    None => session,
                };
                let export = Export {
                    purpose: WritePurpose::Context,
                    in_place: false,
                    ..Export::new(context, label, writing, strict)
                };
                export.write(&session, written, out)
            })
        })
    }
}
