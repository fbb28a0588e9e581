//! Asks a program for summaries. No lock is held meanwhile; the answer is checked against the current session.

mod failure;
mod options;

pub use failure::{FailureReport, unchanged_plan};
pub use options::{RetryArgs, SummarizerArgs, for_programs};

use crate::args::InputLocation;
use crate::context::Context;
use crate::edit::{self, EditRequest, EventIds, LineDestination, retention};
use crate::programs::external_program::{ExternalProgram, RunOptions};
use crate::programs::summarizer::MAXIMUM;
use convo::error::{Error, ErrorKind};
use convo::filter::Plan;
use convo::filter::summarize_range::{self, ChunkedRequest, SummaryAnswer};
use convo::model::health::Health;
use convo::model::session::Session;
use convo::tokens::Counter;

/// Handles a missing program: streams are passed on unchanged, and the error is reported.
pub fn missing(
    context: &Context,
    inputs: &[InputLocation],
    edit: EditRequest<'_>,
    error: Error,
) -> anyhow::Result<()> {
    let streams = inputs.iter().all(|input| !edit.in_store(input));
    if streams && !edit.in_place() && !edit.args.dry_run {
        edit::run(context, inputs, edit, |_, _| Ok(unchanged_plan()))?;
    }
    Err(error.into())
}

/// Asks a program for a summary of each session.
pub struct Summarizer<'r> {
    context: &'r Context,
    program: ExternalProgram,
    retry_args: &'r RetryArgs,
    /// Whether to ask despite too many failures.
    retry: bool,
    /// The last result with the id of its stored session, reused if the session grew before the change was stored.
    memory: Option<(String, SummarizerResult)>,
    /// Whether to shorten an answer that is too long instead of rejecting it.
    cuts: bool,
}

/// The next step for a session.
pub enum NextStep {
    /// Carry out this plan without asking.
    Done(Plan),
    /// Ask the program.
    Ask(Box<ChunkedRequest>),
}

/// The result of asking.
enum SummarizerResult {
    Answer(SummaryAnswer),
    Failed(String),
}

impl<'r> Summarizer<'r> {
    pub fn new(
        context: &'r Context,
        program: ExternalProgram,
        (retry_args, retry): (&'r RetryArgs, bool),
    ) -> Summarizer<'r> {
        Summarizer {
            context,
            program,
            retry_args,
            retry,
            memory: None,
            cuts: false,
        }
    }

    /// Plans a change with a summary by the program, or the record of its failure. `ask` returns the request, and
    /// `apply` the plan for the answer; `apply` is called again if the session grew meanwhile.
    pub fn plan(
        &mut self,
        session: &Session,
        event_ids: &EventIds<'_>,
        counter: Counter,
        failure: &FailureReport<'_>,
        ask: impl FnOnce() -> convo::Result<NextStep>,
        apply: impl FnOnce(&SummaryAnswer) -> convo::Result<Plan>,
    ) -> convo::Result<Plan> {
        let id = session.header_text("id").unwrap_or_default();
        self.cuts = retention::cuts_summaries(session)?;
        let known = self.memory.take();
        let known = known.filter(|(of, _)| event_ids.place() == LineDestination::Store && *of == id);
        let reasoning = match known {
            Some((_, reasoning)) => reasoning,
            None => match ask()? {
                NextStep::Done(plan) => return Ok(plan),
                NextStep::Ask(request) => {
                    if let Some(plan) = self.plan_if_paused(session, event_ids, failure)? {
                        return Ok(plan);
                    }
                    self.summarize(&request, counter, &id)
                }
            },
        };
        let planned = match &reasoning {
            SummarizerResult::Answer(answer) => apply(answer),
            SummarizerResult::Failed(why) => Err(Error::new(ErrorKind::Unavailable, why)),
        };
        self.memory = Some((id, reasoning));
        match planned {
            Err(error) if error.kind == ErrorKind::Unavailable => {
                failure.plan(session, event_ids, &self.program.by, &error.message)
            }
            planned => planned,
        }
    }

    /// The plan if the program must not be asked yet.
    fn plan_if_paused(
        &self,
        session: &Session,
        event_ids: &EventIds<'_>,
        failure: &FailureReport<'_>,
    ) -> convo::Result<Option<Plan>> {
        let now = self.context.clock.now();
        let health = Health::of(session);
        if let Some(why) = self.retry_args.not_due(&health, &now) {
            return Ok(Some(Plan::Nothing(why)));
        }
        if self.retry || !health.is_paused(&self.retry_args.policy_of(session), &now) {
            return Ok(None);
        }
        let next = health.next_attempt_at.as_deref().unwrap_or_default();
        let what = format!("skipped after {} failures, until {next}", health.failures);
        let error = Error::new(ErrorKind::Unavailable, what).hint("run now with --ignore-backoff");
        failure.report(session, event_ids, error)?;
        Ok(Some(unchanged_plan()))
    }

    /// Sends the chunks of a request one after another.
    fn summarize(&mut self, request: &ChunkedRequest, counter: Counter, id: &str) -> SummarizerResult {
        let mut previous: Option<String> = None;
        let mut by = self.program.by.clone();
        for piece in 0..request.chunk_count() {
            if request.chunk_count() > 1 {
                let what = format!("request {} of {}", piece + 1, request.chunk_count());
                self.context.output.detail(id, &what);
            }
            let line = request.line(piece, previous.as_deref());
            match self.request_chunk(&line, request, counter, id) {
                Ok((text, author)) => {
                    previous = Some(text);
                    by = author.unwrap_or(by);
                }
                Err(why) => return SummarizerResult::Failed(why),
            }
        }
        match previous {
            Some(text) => SummarizerResult::Answer(SummaryAnswer::to(request, text, by)),
            None => SummarizerResult::Failed("no request to send".to_string()),
        }
    }

    /// Sends one chunk, with retries. Returns the text and the author that it names.
    fn request_chunk(
        &mut self,
        line: &[u8],
        request: &ChunkedRequest,
        counter: Counter,
        id: &str,
    ) -> Result<(String, Option<String>), String> {
        for failures in 1.. {
            let why = match self.once(line, request, counter, id) {
                Ok(answer) => return Ok(answer),
                Err(why) => why,
            };
            if failures > self.retry_args.retries() {
                return Err(why);
            }
            self.context.output.notice(id, &format!("{why}; retrying"));
            std::thread::sleep(self.retry_args.policy().wait(failures));
        }
        Err("the program was not run".to_string())
    }

    fn once(
        &mut self,
        line: &[u8],
        request: &ChunkedRequest,
        counter: Counter,
        id: &str,
    ) -> Result<(String, Option<String>), String> {
        let options = RunOptions {
            timeout: self.retry_args.timeout(),
            most: MAXIMUM,
            listen: &mut |_| {},
        };
        let answered = self
            .program
            .ask(&[line, b"\n"].concat(), options)
            .map_err(|failure| {
                if let Some(interrupted) = failure.interrupted {
                    interrupted.end_program();
                }
                let stderr = failure.stderr.lines();
                stderr.for_each(|line| self.context.output.notice(id, line));
                failure.why
            })?;
        let reply = summarize_range::read_reply(&answered.answer)?;
        if reply.sha256.is_some_and(|sha256| sha256 != request.sha256) {
            return Err("the answer belongs to another request".to_string());
        }
        let text = match self.cuts {
            true => retention::cut(&reply.text, request.budget, counter),
            false => reply.text,
        };
        summarize_range::accept(&text, Some(request.budget), counter).map_err(|error| error.message)?;
        Ok((text, reply.by))
    }
}
