//! `fork`: copies the beginning of a session to a new session.

use super::Run;
use crate::args::{InputArgs, InputLocation, OutputArgs, checked_name};
use crate::context::Context;
use crate::errors::named;
use crate::input::{InputSessions, operands};
use crate::output::count_of;
use crate::writing::{Export, write_records, write_to};
use clap::Args;
use convo::error::Result;
use convo::filter::fork::{ForkEnd, PlannedFork as Planned};
use convo::format::Format;
use convo::format::report::Report;
use convo::model::key::checked_id;
use convo::model::session::Session;

/// Start a new session with the beginning of another
///
/// The new session has the view of the old one up to and including a message, and the title, the tags and the ids of messages;
/// its `metadata.lineage` names the old one, which does not change. A tool call is never separated from its results: the
/// end moves. In the store, prints the id of the new session; otherwise prints the new session. If the view has no such
/// message, the status is 1.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo fork chat --at msg_7ab3e65541d09f2c          up to and including this message
  id=$(convo fork chat --before m8)                  without this message, to ask it differently
  convo fork chat --exchange 3 --id second-try       the first three exchanges
  convo fork chat                                    a copy of the view
  convo fork log.jsonl --exchange 3 > fork.jsonl     a file")]
pub struct ForkCommand {
    /// Session name, file, or - for standard input
    #[arg(value_name = "INPUT")]
    input: String,
    #[command(flatten)]
    end: ForkEndArgs,
    /// Id of the new session [default: session_TIME_RANDOM]
    ///
    /// The default of a file or a stream is derived from its id.
    #[arg(long, value_name = "ID", help_heading = "Session")]
    id: Option<String>,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    writing: OutputArgs,
    /// Print the new session; do not store it
    #[arg(long, help_heading = "Output")]
    stdout: bool,
    /// Print the planned change; change nothing
    #[arg(short = 'n', long, help_heading = "Output", conflicts_with_all = ["output", "stdout"])]
    dry_run: bool,
    /// Print the id as a JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Args, Debug)]
#[group(multiple = false)]
#[command(next_help_heading = "End")]
struct ForkEndArgs {
    /// End with this message
    #[arg(long, value_name = "ID")]
    at: Option<String>,
    /// End before this message
    #[arg(long, value_name = "ID")]
    before: Option<String>,
    /// End with exchange N of the view, as `count --by exchange` numbers it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    exchange: Option<u64>,
}

impl ForkEndArgs {
    fn end(&self) -> ForkEnd {
        match (&self.at, &self.before, self.exchange) {
            (Some(id), ..) => ForkEnd::At(id.clone()),
            (_, Some(id), _) => ForkEnd::Before(id.clone()),
            (.., Some(number)) => ForkEnd::Exchange(usize::try_from(number).unwrap_or(usize::MAX)),
            _ => ForkEnd::Whole,
        }
    }
}

impl Run for ForkCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        if let Some(id) = &self.id {
            checked_name(checked_id(id)?)?;
        }
        let input = operands::input(context, &self.input)?;
        let label = input.label();
        match &input {
            InputLocation::Name(name) if !self.stdout && !self.writing.is_elsewhere() => {
                let done = self.store(context, name).map_err(|error| named(error, &label))?;
                done.map_or(Ok(()), |text| context.output.print_done(&text))
            }
            _ => self.stream(context, &input),
        }
    }
}

impl ForkCommand {
    fn plan<'s>(&self, context: &Context, label: &str, session: &'s Session) -> Result<Planned<'s>> {
        let fork = Planned::plan(session, &self.end.end())?;
        if let Some(note) = &fork.note {
            context.output.notice(label, note);
        }
        Ok(fork)
    }

    /// Reports the plan of a dry run.
    fn report_plan(&self, context: &Context, label: &str, fork: &Planned<'_>) {
        let what = format!("would fork {} of {}", fork.messages, count_of(fork.of, "message"));
        context.output.notice(label, &what);
    }

    /// Stores the fork of a stored session; returns the text to print.
    fn store(&self, context: &Context, name: &str) -> Result<Option<String>> {
        let store = context.store()?;
        let parent = store.resolve(name)?;
        let mut report = Report::default();
        let session = store.load(&parent, &mut report)?;
        context.output.report(name, &mut report);
        if self.reading.strict && report.is_damaged() {
            return Err(crate::errors::stopped());
        }
        let fork = self.plan(context, name, &session)?;
        if self.dry_run {
            self.report_plan(context, name, &fork);
            return Ok(None);
        }
        let id = match &self.id {
            Some(id) => id.clone(),
            None => context.free_session_id(Some(store))?,
        };
        let (at, messages, of) = (fork.at.clone(), fork.messages, fork.of);
        let built = fork.make(&id, Some(&context.clock.now()))?;
        let lines: Vec<Vec<u8>> = (0..built.len())
            .map(|index| built.record(index).body.to_vec())
            .filter(|line| !line.is_empty())
            .collect();
        store.create_session(&id, &lines)?;
        let what = format!("forked {messages} of {} as {id}", count_of(of, "message"));
        context.output.detail(name, &what);
        if !self.json {
            return Ok(Some(id));
        }
        let reported = serde_json::json!({
            "schema": "convo.fork/1", "id": id, "parent": parent, "at": at, "messages": messages,
        });
        Ok(Some(reported.to_string()))
    }

    /// Prints the fork of a file or a stream.
    fn stream(&self, context: &Context, input: &InputLocation) -> anyhow::Result<()> {
        let writing = self.writing.resolve(std::slice::from_ref(input), &self.reading)?;
        writing.check()?;
        let opened = context.open(input, &self.reading)?;
        let label = opened.label.clone();
        let export = Export::new(context, &label, writing, self.reading.strict);
        let mut sessions = InputSessions::selected(context, opened, (&self.reading).into());
        if self.dry_run {
            while let Some(session) = sessions.next()? {
                let planned = self.plan(context, &label, &session);
                let reported = planned.map(|fork| self.report_plan(context, &label, &fork));
                sessions.accept_result(reported.map_err(|error| named(error, &label).into()))?;
            }
            return Ok(());
        }
        write_to(context, writing, |out| {
            let mut nth = 0;
            while let Some(session) = sessions.next()? {
                nth += 1;
                let built = self.plan(context, &label, &session).and_then(|fork| {
                    let derived = || fork.derived_id();
                    let id = self.id.clone().unwrap_or_else(derived);
                    fork.make(&id, None)
                });
                let done = match built.map_err(|error| named(error, &label)) {
                    Err(error) => Err(error.into()),
                    Ok(built) if export.to == Format::Native => write_records(&built, out),
                    Ok(built) => export.write(&built, nth, out),
                };
                sessions.accept_result(done)?;
            }
            Ok(())
        })
    }
}
