//! `continue`: creates a session linked to the one that it continues.

use super::Run;
use crate::args::{InputArgs, InputLocation, OutputArgs, TokenizerArgs, Window, window};
use crate::context::Context;
use crate::edit::continuation::{CopiedMessages, continue_session};
use crate::errors::{mixed, named, stopped};
use crate::input::open::OpenInput;
use crate::input::{InputSessions, operands, report_and_continue};
use crate::writing::{Export, OutputFormat, write_records, write_to};
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::filter::compact;
use convo::filter::compact::trigger::TriggerExpression;
use convo::filter::continuation::{self, EarlierSessions, NewSession, SessionLayout};
use convo::format::Format;
use convo::format::report::Report;
use convo::model::chain::ChainLinks;
use convo::model::session::Session;
use convo::store::Continued;
use std::io::Write;

/// Start a session that continues another one
///
/// Creates a session linked to INPUT and prints its id. Copies the system messages, context messages and summary in the
/// view, and the last exchange if it is unanswered. Moves the aliases to the new session. Fails with status 73 if INPUT
/// already has a continuation. For a file or standard input, prints only the new session.
///
/// The header of the new session has its position in the chain, the creation time of the first session, and the number of
/// tokens so far.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo continue chat                             prints chat.1 and moves the aliases to it
  convo continue @last --json                     prints the number of copies and the aliases too
  convo continue < old.jsonl > new.jsonl          a filter
  convo append chat 'Next.' --max-messages 200    continue automatically after 200 messages
  convo continue chat --when 'messages>=200 || tokens>=50k'    for a cron job
  convo show --chain chat.1                       display the whole chain
  convo join chat.1                               join the chain into one session")]
pub struct ContinueCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Continue only if the condition holds, e.g. 'messages>=200 || tokens>=9k'
    ///
    /// See `convo compact --when` for the terms. If the condition does not hold, prints the id of the session itself and
    /// exits with 0; a stream is printed unchanged.
    #[arg(long, value_name = "CONDITION", value_parser = TriggerExpression::read)]
    when: Option<TriggerExpression>,
    /// Context window for `fraction` in --when: tokens or a model name
    #[arg(long, value_name = "TOKENS|MODEL", value_parser = window, requires = "when")]
    window: Option<Window>,
    #[command(flatten)]
    tokenizer_args: TokenizerArgs,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    writing: OutputArgs,
    /// Print the new session; do not change the store
    #[arg(long, help_heading = "Output")]
    stdout: bool,
    /// Print one object per session
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for ContinueCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let inputs = operands::inputs(context, &self.inputs)?;
        let writing = self.writing.resolve(&inputs, &self.reading)?;
        if self.window.is_none() && self.when.as_ref().is_some_and(TriggerExpression::needs_window) {
            let error = Error::usage("fraction in --when requires --window");
            return Err(error.hint("add --window gpt-4o or --window 128000").into());
        }
        let streams = self.stdout || self.writing.is_elsewhere();
        let is_stored = |input: &&InputLocation| !streams && matches!(input, InputLocation::Name(_));
        let stored = inputs.iter().filter(is_stored).count();
        if stored == 0 {
            return self.filter(context, &inputs, writing);
        }
        if stored < inputs.len() {
            return Err(mixed().into());
        }
        for input in &inputs {
            let done = self.store(context, &input.label());
            report_and_continue(context, done, inputs.len())?;
        }
        Ok(())
    }
}

/// The notice for a session that is not continued.
const UNCHANGED: &str = "unchanged: the condition of --when does not hold";

fn continued(child: &str) -> Error {
    Error::new(ErrorKind::Exists, format!("already continued by {child}"))
        .hint(format!("continue the last session with: convo continue {child}"))
}

impl ContinueCommand {
    fn store(&self, context: &Context, name: &str) -> anyhow::Result<()> {
        let id = context.store()?.resolve(name)?;
        let mut report = Report::default();
        if self.reading.strict {
            context.store()?.load(&id, &mut report)?;
            let damaged = report.is_damaged();
            context.output.report(name, &mut report);
            if damaged {
                return Err(named(stopped(), name).into());
            }
        }
        if let Some(when) = &self.when {
            let session = context.store()?.load(&id, &mut Report::default())?;
            if !self.is_due(context, name, &session, when)? {
                context.output.notice(name, UNCHANGED);
                return self.report_unchanged(context, &id);
            }
        }
        let requested = self.tokenizer_args.requested(context)?;
        let (done, taken) = continue_session(context, &id, requested, None, &mut report)
            .map_err(|error| named(error, name))?;
        context.output.report(name, &mut report);
        match done {
            Continued::Now(child, aliases) => self.report(context, &id, &child, &aliases, &taken),
            Continued::Before(child) => Err(named(continued(&child), name).into()),
            Continued::Not => Err(named(
                Error::new(ErrorKind::No, "the session has no messages to continue"),
                name,
            )
            .into()),
        }
    }

    fn report(
        &self,
        context: &Context,
        id: &str,
        child: &str,
        aliases: &[String],
        taken: &CopiedMessages,
    ) -> anyhow::Result<()> {
        if !self.json {
            return context.output.print_done(child);
        }
        let reported = serde_json::json!({
            "schema": "convo.continue/1", "id": child, "continued": true, "continued_from": id, "continuation_index": taken.index,
            "copies": taken.copies, "aliases": aliases,
        });
        context.output.print_done(&reported.to_string())
    }

    /// Whether the condition holds for the view of a session.
    fn is_due(
        &self,
        context: &Context,
        label: &str,
        session: &Session,
        when: &TriggerExpression,
    ) -> convo::Result<bool> {
        let counter = self.tokenizer_args.counter(context, label, session)?;
        let window = self.window.map(|Window(tokens)| tokens);
        Ok(when.fired(&compact::measured(session, counter, window)).is_some())
    }

    fn report_unchanged(&self, context: &Context, id: &str) -> anyhow::Result<()> {
        if !self.json {
            return context.output.print_done(id);
        }
        let reported = serde_json::json!({ "schema": "convo.continue/1", "id": id, "continued": false });
        context.output.print_done(&reported.to_string())
    }

    fn filter(
        &self,
        context: &Context,
        inputs: &[InputLocation],
        writing: OutputFormat<'_>,
    ) -> anyhow::Result<()> {
        write_to(context, writing, |out| {
            let mut written = 0;
            for input in inputs {
                let opened = context.open(input, &self.reading).map_err(Into::into);
                let done = opened.and_then(|opened| {
                    out.separate();
                    self.stream(context, opened, writing, &mut written, out)
                });
                report_and_continue(context, done, inputs.len())?;
            }
            Ok(())
        })
    }

    fn stream(
        &self,
        context: &Context,
        opened: OpenInput,
        writing: OutputFormat<'_>,
        written: &mut usize,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let label = opened.label.clone();
        let export = Export::new(context, &label, writing, self.reading.strict);
        let mut sessions = InputSessions::selected(context, opened, (&self.reading).into());
        while let Some(session) = sessions.next()? {
            let next = self.next(context, &label, session, export.to);
            let next = next.map_err(|error| named(error, &label).into());
            let done = next.and_then(|session| {
                *written += 1;
                match export.to {
                    Format::Native => write_records(&session, out),
                    _ => export.write(&session, *written, out),
                }
            });
            sessions.accept_result(done)?;
        }
        Ok(())
    }

    /// Returns the continuation of a session, or the session itself if the condition does not hold.
    fn next(&self, context: &Context, label: &str, session: Session, to: Format) -> convo::Result<Session> {
        let due = self.when.as_ref();
        if due.map_or(Ok(true), |when| self.is_due(context, label, &session, when))? {
            return self.build_continuation(context, label, &session, to);
        }
        context.output.notice(label, UNCHANGED);
        Ok(session)
    }

    /// Creates the continuation from the lines of the session alone.
    fn build_continuation(
        &self,
        context: &Context,
        label: &str,
        session: &Session,
        to: Format,
    ) -> convo::Result<Session> {
        let links = ChainLinks::of(session);
        let Some(source) = links.id else {
            return Err(Error::data("has no id for the new session to link to")
                .hint("start the stream with a header from: convo new --stdout"));
        };
        if let Some(child) = links.continued_to.first() {
            return Err(continued(child));
        }
        if EarlierSessions::from_header(session).is_none() {
            let what = "earlier sessions of the chain are unknown and not counted";
            context.output.notice(label, what);
        }
        let before = EarlierSessions::guessed(session);
        let created_at = match context.clock.is_fixed() {
            true => Some(context.clock.now()),
            false => session.newest_time(),
        };
        let layout = SessionLayout::of(to);
        let id = layout.id(&source, before.sessions.saturating_add(1), created_at.as_deref());
        let new = NewSession {
            id: &id,
            created_at: created_at.as_deref(),
            layout,
            limit: None,
        };
        let counter = self.tokenizer_args.counter(context, label, session)?;
        let mut built = Session::default();
        let plan = continuation::plan(session, counter, &before, &new)?;
        plan.unwrap_or_default()
            .lines
            .iter()
            .for_each(|line| built.push_new(line));
        Ok(built)
    }
}
