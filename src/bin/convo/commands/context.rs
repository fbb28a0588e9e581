//! `context`: the view, which is what a model would be sent.

use super::Run;
use crate::args::{Chained, Counting, Fitting, Input, Reading, Selecting, Writing};
use crate::chains;
use crate::change::{Export, tell_dangling, write_to};
use crate::context::Context;
use crate::sending;
use clap::Args;
use convo::check::Api;
use convo::error::{Error, Kind};
use convo::format::{Format, Purpose};
use convo::model::view::View as Replayed;

/// Print what a model would be sent
///
/// Replays the log: what was cut off or summarised is not shown. The result is the session's line, the messages
/// in view and the summary, or with --to the same in the shape that an interface takes, and would not refuse. With
/// --budget the view is made to fit as `compact` does; the session stays as it is.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo context chat                              the messages in view, one a line
  convo context chat --to openai-chat | jq length the body of a request
  convo context chat --budget 60% --window gpt-4o what fits, as compact would make it
  convo context chat --role user --role assistant without rules, context and tools
  convo context < session.jsonl                   the same for a stream")]
pub struct View {
    /// Sessions: names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    fitting: Fitting,
    #[command(flatten)]
    counting: Counting,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    chained: Chained,
    #[command(flatten)]
    writing: Writing,
    /// Messages as JSON, one object a line
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for View {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let inputs = Input::all(&self.inputs);
        let budget = self.fitting.budget()?;
        if budget.is_none() && (self.fitting.window.is_some() || self.counting.tokenizer.is_some()) {
            let error = Error::new(Kind::Usage, "--window and --tokenizer are for --budget");
            return Err(error.hint("--budget 60% --window gpt-4o").into());
        }
        let to = self.writing.to.unwrap_or(Format::Native);
        let api = Api::from_name(to.name());
        // What an interface takes is made of the view; other systems keep more.
        self.reading.sees_view = budget.is_none()
            && self.selecting.selection().is_none()
            && !self.chained.chain
            && (to == Format::Native || api.is_some());
        write_to(context, &self.writing, |out| {
            let mut written = 0;
            chains::each(
                context,
                &inputs,
                &self.reading,
                self.chained,
                |label, mut session| {
                    written += 1;
                    self.selecting.narrow(label, &mut session)?;
                    if let Some(budget) = budget {
                        let counter = self.counting.counter(context, label, &session)?;
                        let window = self.fitting.window();
                        sending::fit(context, label, &mut session, budget, window, counter)?;
                    }
                    out.separate();
                    if to == Format::Native {
                        let view = Replayed::replay(&session);
                        tell_dangling(context, label, &session, &view);
                        return sending::write(&session, &view, out);
                    }
                    let strict = self.reading.strict;
                    let session = match api {
                        Some(api) => sending::sendable(context, label, session, api, strict)?,
                        None => session,
                    };
                    Export {
                        context,
                        label,
                        to,
                        purpose: Purpose::Context,
                        images: self.writing.images,
                        strict,
                    }
                    .write(&session, written, out)
                },
            )
        })
    }
}
