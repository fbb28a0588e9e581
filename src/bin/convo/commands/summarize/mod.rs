//! `summarize`: replaces old exchanges with a summary.

mod options;

use super::Run;
use crate::args::{EditArgs, InputArgs, InputLocation};
use crate::context::Context;
use crate::edit::{self, EditRequest, EventIds, retention};
use crate::errors::named;
use crate::input::{each_session, operands};
use crate::programs::summarizer::SummarizerSpec;
use crate::programs::summarizer_process::{
    self, FailureReport, NextStep, RetryArgs, Summarizer, for_programs,
};
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::filter::Plan;
use convo::filter::summarize_range::{self, SummaryAnswer, SummaryOptions, SummaryRequest};
use convo::model::health::Health;
use convo::model::session::Session;
use options::SummaryTask;
use std::io::Read;

/// Replace old messages with a summary
///
/// Replaces the oldest exchanges with a summary, as one event that `restore` undoes; `expand` prints the originals. Keeps
/// system messages, the newest --keep-last exchanges, and standing instructions. The previous summary is included and
/// replaced.
///
/// extract, the default summarizer, is built in and quotes the most informative sentences. A program reads a JSON request
/// and prints the summary; the session is not locked meanwhile. If the program fails, or the summary is empty, too long or
/// not shorter than its messages, only the failure is recorded and the status is 69. After --max-failures consecutive
/// failures, the session is skipped until its retry time.
#[derive(Args, Debug)]
#[command(mut_arg("force", |option| option.hide_short_help(true)))]
#[command(mut_arg("window", |option| option.hide_short_help(true)))]
#[command(before_long_help = "Examples:
  convo summarize chat                                   quote the most informative sentences
  convo summarize chat --budget 8000                     only as much as the budget requires
  convo summarize chat --with cmd:'llm -m haiku'         run a program
  convo summarize chat --with cmd:./sum --if-due --when 'tokens>=20000'     from cron
  convo summarize --keep-last 4 < in.jsonl > out.jsonl   a stream
  convo summarize chat --request > request.json          two steps, summary written elsewhere:
  jq --rawfile s text.txt '. + {summary: $s}' request.json | convo summarize chat --apply -")]
pub struct SummarizeCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    task: SummaryTask,
    #[command(flatten)]
    retry_args: RetryArgs,
    /// Print the request to the summarizer; change nothing
    ///
    /// One object per chunk: {"schema":"convo.summary-request/1", "session", "covers", "ids", "sha256", "previous_summary",
    /// "budget", "tokenizer", "chunk", "pins", "instructions", "messages"}. The answer to a chunk is `previous_summary` of
    /// the next; the last answer is the summary.
    #[arg(long, conflicts_with_all = ["apply", "with", "in_place", "stdout", "dry_run", "log"], hide_short_help = true, help_heading = "Two-step mode")]
    request: bool,
    /// Apply a summary from FILE, or - for standard input
    ///
    /// {"schema":"convo.summary/1", "sha256", "summary"} with optional "covers", "budget" and "by", or the request with
    /// "summary" added. Fails with status 75 if the summarized messages have changed; later messages are unaffected.
    #[arg(long, value_name = "FILE", conflicts_with = "with", hide_short_help = true, help_heading = "Two-step mode", value_hint = clap::ValueHint::FilePath)]
    apply: Option<String>,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    edit_args: EditArgs,
    /// Print the complete log, including the new event
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    log: bool,
}

impl Run for SummarizeCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.edit_args.json);
        let two_steps = self.request || self.apply.is_some();
        let asks = !two_steps && self.task.with != SummarizerSpec::Extract;
        self.task.check(two_steps)?;
        self.retry_args.check(asks, asks || self.apply.is_some())?;
        if self.task.trigger.ignore_backoff && !asks {
            return Err(for_programs("--ignore-backoff").into());
        }
        let options = self.task.options()?;
        // The whole log is needed to locate the messages of a reply, and those that an earlier summary replaced.
        let edit = EditRequest {
            full_log: self.log,
            reports: true,
            view_only: self.apply.is_none() && options.covers_view(),
            ..EditRequest::new(&self.reading, &self.edit_args)
        };
        self.task.tokenizer_args.report_estimate(context)?;
        let inputs = operands::inputs(context, &self.inputs)?;
        let edit = edit.resolve(&inputs, &self.reading)?;
        if self.request {
            return self.print_requests(context, &inputs, &options);
        }
        if let Some(file) = &self.apply {
            let answer = answer(file, &inputs)?;
            return self.change(context, &inputs, edit, |session, event_ids, failure| {
                let counter = self
                    .task
                    .tokenizer_args
                    .counter(context, event_ids.input(), session)?;
                let stamp = |content: &str| event_ids.event(content);
                let options = retention::answered(session, &options)?;
                let planned = summarize_range::apply(session, counter, &options, &answer, stamp);
                match retention::summarized(context, session, planned, event_ids) {
                    Err(error) if error.kind == ErrorKind::Unavailable => {
                        failure.plan(session, event_ids, &answer.by, &error.message)
                    }
                    planned => planned,
                }
            });
        }
        let program = match self.task.with.program(context) {
            Ok(program) => program,
            Err(error) => return summarizer_process::missing(context, &inputs, edit, error),
        };
        let Some(program) = program else {
            return self.change(context, &inputs, edit, |session, event_ids, _| {
                if let Some(why) = self
                    .retry_args
                    .not_due(&Health::of(session), &context.clock.now())
                {
                    return Ok(Plan::Nothing(why));
                }
                let options = match retention::due(session, &options)? {
                    Ok(options) => options,
                    Err(why) => return Ok(Plan::Nothing(why)),
                };
                let counter = self
                    .task
                    .tokenizer_args
                    .counter(context, event_ids.input(), session)?;
                let planned =
                    summarize_range::extract(session, counter, &options, |content| event_ids.event(content));
                retention::summarized(context, session, planned, event_ids)
            });
        };
        let mut summarizer = Summarizer::new(
            context,
            program,
            (&self.retry_args, self.task.trigger.ignore_backoff),
        );
        self.change(context, &inputs, edit, |session, event_ids, failure| {
            let options = match retention::due(session, &options)? {
                Ok(options) => options,
                Err(why) => return Ok(Plan::Nothing(why)),
            };
            let counter = self
                .task
                .tokenizer_args
                .counter(context, event_ids.input(), session)?;
            let ask = || {
                Ok(
                    match summarize_range::build_request(session, counter, &options)? {
                        SummaryRequest::Nothing(why) => NextStep::Done(Plan::Nothing(why)),
                        SummaryRequest::Request(request) => NextStep::Ask(request),
                    },
                )
            };
            let apply = |answer: &SummaryAnswer| {
                let stamp = |content: &str| event_ids.event(content);
                let planned = summarize_range::apply(session, counter, &options, answer, stamp);
                retention::summarized(context, session, planned, event_ids)
            };
            summarizer.plan(session, event_ids, counter, failure, ask, apply)
        })
    }
}

impl SummarizeCommand {
    /// Applies a plan; on an error the session is unchanged.
    fn change(
        &self,
        context: &Context,
        inputs: &[InputLocation],
        edit: EditRequest<'_>,
        mut plan: impl FnMut(&Session, &EventIds<'_>, &FailureReport<'_>) -> convo::Result<Plan>,
    ) -> anyhow::Result<()> {
        let failure = FailureReport::new(context, &self.retry_args, edit);
        let done = edit::run(context, inputs, edit, |session, event_ids| {
            let planned = plan(session, event_ids, &failure);
            failure.keep_unchanged(session, event_ids, planned)
        });
        failure.report_queued_error();
        done
    }

    fn print_requests(
        &self,
        context: &Context,
        inputs: &[InputLocation],
        options: &SummaryOptions,
    ) -> anyhow::Result<()> {
        each_session(context, inputs, &self.reading, |label, session| {
            let counter = self.task.tokenizer_args.counter(context, label, &session)?;
            let not_due = self
                .retry_args
                .not_due(&Health::of(&session), &context.clock.now());
            let requested = match (not_due, retention::due(&session, options)?) {
                (Some(why), _) | (None, Err(why)) => SummaryRequest::Nothing(why),
                (None, Ok(options)) => summarize_range::build_request(&session, counter, &options)
                    .map_err(|error| named(error, label))?,
            };
            match requested {
                SummaryRequest::Nothing(why) => context.output.notice(label, &format!("no request: {why}")),
                SummaryRequest::Request(request) => {
                    for piece in 0..request.chunk_count() {
                        let line = request.line(piece, None);
                        context.output.print(&String::from_utf8_lossy(&line))?;
                    }
                }
            }
            Ok(())
        })
    }
}

/// Reads the reply to apply.
fn answer(file: &str, inputs: &[InputLocation]) -> anyhow::Result<SummaryAnswer> {
    let refused = |error: Error| named(error, file);
    let mut bytes = Vec::new();
    let read = match file {
        "-" if inputs.contains(&InputLocation::Stdin) => {
            let error = Error::usage("the session and --apply cannot both be standard input");
            return Err(error.hint("give a session or file, or use --apply FILE").into());
        }
        "-" => std::io::stdin().lock().read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|error| refused(Error::io("cannot read", error)))?;
    let reply = summarize_range::read_reply(&bytes).map_err(|why| refused(Error::data(why)))?;
    let Some(sha256) = reply.sha256 else {
        let error = Error::data("not an answer to a request");
        let hint = "expected an object with \"summary\" and the \"sha256\" of the request";
        return Err(refused(error).hint(hint).into());
    };
    Ok(SummaryAnswer {
        text: reply.text,
        by: reply.by.unwrap_or_else(|| "apply".to_string()),
        sha256,
        covers: reply.covers,
        budget: reply.budget,
        pins: None,
    })
}
