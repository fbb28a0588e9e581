//! `context`: the view, which is what a model would be sent.

use super::Run;
use crate::args::{Chained, Counting, Fitting, Input, Reading, Writing};
use crate::chains;
use crate::change::{Export, tell_dangling, write_to};
use crate::context::{Context, named};
use clap::Args;
use convo::check::{Api, Options};
use convo::error::{Error, Kind};
use convo::filter::repair::{self, How, Repaired};
use convo::filter::settle::{Lines, summary_line};
use convo::filter::{Plan, compact};
use convo::format::{Format, Purpose, goaitools};
use convo::model::session::{Class, Session};
use convo::model::view::{Item, View as Replayed};
use std::io::Write;

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
  convo context < session.jsonl                   the same for a stream")]
pub struct View {
    /// Sessions: names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
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
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let inputs = Input::all(&self.inputs);
        let budget = self.fitting.budget()?;
        if budget.is_none() && (self.fitting.window.is_some() || self.counting.tokenizer.is_some()) {
            let error = Error::new(Kind::Usage, "--window and --tokenizer are for --budget");
            return Err(error.hint("--budget 60% --window gpt-4o").into());
        }
        let to = self.writing.to.unwrap_or(Format::Native);
        write_to(context, &self.writing, |out| {
            let mut written = 0;
            chains::each(
                context,
                &inputs,
                &self.reading,
                self.chained,
                |label, mut session| {
                    written += 1;
                    if let Some(budget) = budget {
                        self.fit(context, label, &mut session, budget)?;
                    }
                    out.separate();
                    if to == Format::Native {
                        let view = Replayed::replay(&session);
                        tell_dangling(context, label, &session, &view);
                        return native(&session, &view, out);
                    }
                    let strict = self.reading.strict;
                    let session = match Api::from_name(to.name()) {
                        Some(api) => sendable(context, label, session, api, strict)?,
                        None => session,
                    };
                    Export {
                        context,
                        label,
                        to,
                        purpose: Purpose::Context,
                        strict,
                    }
                    .write(&session, written, out)
                },
            )
        })
    }
}

impl View {
    /// Makes the view fit, as `compact` would; nothing of that is kept.
    fn fit(&self, context: &Context, label: &str, session: &mut Session, budget: u64) -> anyhow::Result<()> {
        let options = compact::Options {
            budget: Some(budget),
            window: self.fitting.window(),
            // It is done anew each time, and never stored.
            retry: true,
            unseen: goaitools::unseen,
            ..compact::Options::default()
        };
        let counter = self.counting.counter(context, label, session)?;
        let planned = compact::plan(session, counter, &options, |content| {
            context.derived("evt_", session, content)
        });
        if let Plan::Lines(lines, told) = planned.map_err(|error| named(error, label))?.plan {
            context.output.detail(label, &told);
            lines.iter().for_each(|line| session.push_new(line));
        }
        Ok(())
    }
}

/// How often a repair is looked at anew: what the messages of a session cannot hold would come back.
const TRIES: usize = 3;

/// The session with what the interface would refuse repaired; nothing of that is kept.
fn sendable(
    context: &Context,
    label: &str,
    mut session: Session,
    api: Api,
    strict: bool,
) -> anyhow::Result<Session> {
    let options = Options::default();
    let how = How {
        api,
        options: &options,
        mode: None,
        warnings: false,
    };
    for _ in 0..TRIES {
        let stamp = |content: &str| context.derived("evt_", &session, content);
        let Repaired { plan, fixed } =
            repair::plan(&session, &how, stamp).map_err(|error| named(error, label))?;
        if fixed.elements.is_empty() && fixed.changes.is_empty() {
            return Err(named(Error::new(Kind::No, "there is no message to send"), label).into());
        }
        if let Some(left) = fixed.errors().next() {
            let what = format!(
                "{} would refuse it: {}: {}",
                api.name(),
                left.rule.id,
                left.message
            );
            return Err(named(Error::new(Kind::No, what).hint("this is not repaired"), label).into());
        }
        let Plan::Lines(lines, told) = plan else {
            return Ok(session);
        };
        let what: Vec<String> = fixed
            .changes
            .iter()
            .take(TOLD)
            .map(|change| change.what.clone())
            .collect();
        let what = format!("{} would refuse it: {told}: {}", api.name(), what.join("; "));
        if strict {
            let error = Error::new(Kind::Data, format!("{what} (--strict)"));
            return Err(named(
                error.hint("convo check tells where, and --fix repairs it for good"),
                label,
            )
            .into());
        }
        context.output.tell(label, &format!("repaired: {what}"));
        for line in lines {
            session.push_new(&line);
        }
    }
    let error = Error::new(
        Kind::No,
        format!("{} would refuse it, and no repair holds", api.name()),
    );
    Err(named(error, label).into())
}

/// Most repairs that are told one by one.
const TOLD: usize = 10;

/// The session's line, then what is in view.
fn native(session: &Session, view: &Replayed, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut lines = Lines::new(out);
    if let Some(header) = (0..session.len()).find(|index| session.class(*index) == Class::Header) {
        lines.write(session.full(header))?;
    }
    for item in &view.items {
        match item {
            Item::Line(index) => lines.write(session.full(*index))?,
            // What it stood for is not here.
            Item::Summary(index) => match summary_line(session, *index) {
                Some(body) => {
                    lines.write(&body)?;
                    lines.write_ending()?;
                }
                None => lines.write(session.full(*index))?,
            },
            Item::Edited(_, body) | Item::Inserted(body) => {
                lines.write(body)?;
                lines.write_ending()?;
            }
        }
    }
    Ok(())
}
