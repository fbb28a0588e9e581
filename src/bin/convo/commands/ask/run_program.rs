//! Builds the request for the program that replies, and turns its answer into lines for the session.

use super::live_output::LiveOutput;
use crate::args::TokenizerArgs;
use crate::context::Context;
use crate::edit::{EventIds, LineDestination, processed, retention};
use crate::errors::named;
use crate::input::stdin_messages;
use crate::programs::counter_choice::stored_tokenizer;
use crate::programs::external_program::{ExternalProgram, RunOptions};
use crate::provider_request;
use convo::check::Api;
use convo::error::{Error, ErrorKind};
use convo::filter::Plan;
use convo::filter::reply::{self, CompleteReply};
use convo::format::annotations;
use convo::model::json::ObjectBuilder;
use convo::model::record::Record;
use convo::model::session::Session;
use convo::model::view::View;
use convo::tokens::counter;
use std::time::Duration;

/// Maximum size of a reply in bytes, including its tool results.
const MAXIMUM: usize = 64 << 20;

/// A prompt and the options of the request.
pub struct PromptRequest<'c> {
    pub context: &'c Context,
    /// The prompt; none if the last message is to be answered.
    pub text: Option<String>,
    pub plain: bool,
    pub budget: Option<u64>,
    pub window: Option<u64>,
    pub tokenizer_args: TokenizerArgs,
    pub api: Option<Api>,
    pub strict: bool,
    pub timeout: Duration,
    /// Whether the reply itself is printed.
    pub shows: bool,
    pub json: bool,
    pub program: Option<ExternalProgram>,
}

pub struct PromptReply {
    pub reply: CompleteReply,
    /// The encoded user message.
    pub question: Option<Vec<u8>>,
    /// Number of lines in the session when the program was started.
    pub lines: usize,
    /// Whether the reply was already shown.
    pub shown: bool,
}

impl PromptRequest<'_> {
    /// Encodes the user message; none without a prompt.
    pub fn question(&self, session: &Session, event_ids: &EventIds<'_>) -> convo::Result<Option<Vec<u8>>> {
        let Some(text) = &self.text else { return Ok(None) };
        let (id, time) = event_ids.message(text)?;
        let mut message = ObjectBuilder::default();
        message.text("role", "user").text("content", text);
        if !id.is_empty() {
            message.text("id", &id);
        }
        if let Some(time) = time {
            message.text("timestamp", &time);
        }
        let line = message.finish();
        Ok(Some(
            match stored_tokenizer(self.context, counter::named_by(session).as_deref()) {
                Some(tokenizer) => counter::with_tokens(line, tokenizer),
                None => line,
            },
        ))
    }

    /// Returns the input of the program, for a dry run.
    pub fn sent(&self, session: &Session, label: &str) -> anyhow::Result<Vec<u8>> {
        let event_ids = EventIds::new(self.context, session, LineDestination::Stream);
        let question = self.question(session, &event_ids)?;
        self.given(session, &event_ids, question.as_ref(), label)
    }

    /// Encodes the view with the prompt at its end, compacted to the budget.
    fn given(
        &self,
        session: &Session,
        event_ids: &EventIds<'_>,
        question: Option<&Vec<u8>>,
        label: &str,
    ) -> anyhow::Result<Vec<u8>> {
        let refused = |why: String, hint: &str| named(Error::new(ErrorKind::No, why).hint(hint), label);
        if let Some(why) = reply::refusal(session, &[]) {
            return Err(refused(why, "append the result, then run: convo ask --reply").into());
        }
        let mut session = session.clone();
        if let Some(question) = question {
            // A retention policy may hide old exchanges to make room for the prompt.
            let (context, lines) = (self.context, vec![question.clone()]);
            let plan = retention::added(context, &session, lines, String::new(), event_ids);
            if let Plan::Lines(lines, _) = plan.map_err(|error| named(error, label))? {
                lines.iter().for_each(|line| session.push_new(line));
            }
        } else if !reply::is_awaited(&session, &View::replay(&session)) {
            let why = "the last message is from the assistant";
            return Err(refused(why.to_string(), "give a prompt instead of --reply").into());
        }
        if let Some(budget) = self.budget {
            let counter = self.tokenizer_args.counter(self.context, label, &session)?;
            provider_request::fit(self.context, label, &mut session, budget, self.window, counter)?;
        }
        if let Some(api) = self.api {
            session = provider_request::sendable(self.context, label, session, api, self.strict)?;
        }
        let mut sent = Vec::new();
        provider_request::write(&session, &View::replay(&session), &mut sent)?;
        Ok(sent)
    }

    /// Runs the program and returns its reply; stores nothing.
    pub fn ask(
        &mut self,
        session: &Session,
        event_ids: &EventIds<'_>,
        label: &str,
    ) -> anyhow::Result<PromptReply> {
        let question = self.question(session, event_ids)?;
        let sent = self.given(session, event_ids, question.as_ref(), label)?;
        let mut shown = LiveOutput::new(self.context, self.shows && !self.json, self.plain);
        let Some(program) = &mut self.program else {
            return Err(Error::usage("no program given").into());
        };
        if shown.is_on() {
            program.env("CONVO_PARTIAL", "1");
        }
        let requested = RunOptions {
            timeout: self.timeout,
            most: MAXIMUM,
            listen: &mut |part| shown.part(part),
        };
        let answered = program.ask(&sent, requested);
        let name = program.name();
        shown.end();
        let report = |stderr: &str| {
            stderr
                .lines()
                .for_each(|line| self.context.output.notice(label, line))
        };
        let answered = answered.map_err(|failure| {
            let error = self.failed(&name, &failure.why, label);
            if let Some(interrupted) = failure.interrupted {
                self.context.output.error(&error);
                interrupted.end_program();
            }
            report(&failure.stderr);
            error
        })?;
        report(&answered.stderr);
        let reply = reply::read(&answered.answer, self.plain);
        let reply = reply.map_err(|why| self.failed(&name, &why, label))?;
        if let Some(why) = reply::refusal(session, &reply.lines) {
            return Err(self.failed(&name, &why, label).into());
        }
        Ok(PromptReply {
            reply,
            question,
            lines: session.len(),
            shown: shown.began(),
        })
    }

    fn failed(&self, name: &str, why: &str, label: &str) -> Error {
        let error = Error::new(ErrorKind::Unavailable, format!("{name}: no reply: {why}"));
        let hint = match &self.text {
            Some(_) => "nothing was stored; run the command again",
            None => "nothing was stored; run the command again",
        };
        named(error.hint(hint), label)
    }

    /// Returns the lines to append to a session that has gained `more` lines since the program was started.
    pub fn added(
        &self,
        session: &Session,
        event_ids: &EventIds<'_>,
        answered: &PromptReply,
        more: usize,
    ) -> convo::Result<Vec<Vec<u8>>> {
        if more > 0 && self.strict {
            let error = Error::new(
                ErrorKind::Locked,
                "modified while the program was running (--strict)",
            );
            return Err(error.hint(AGAIN));
        }
        let mut lines: Vec<Vec<u8>> = answered.question.iter().cloned().collect();
        let known: Vec<Vec<u8>> = [&lines[..], &answered.reply.lines].concat();
        if let Some(why) = reply::refusal(session, &known) {
            let what = format!("the reply no longer fits: {why}");
            return Err(Error::new(ErrorKind::Locked, what).hint(AGAIN));
        }
        let tokenizer = stored_tokenizer(self.context, counter::named_by(session).as_deref());
        for (nth, line) in answered.reply.lines.iter().enumerate() {
            let record = Record::parse(line, convo::error::Position { line: 1, offset: 1 });
            let what = || format!("{nth} {}", String::from_utf8_lossy(line));
            let built = stdin_messages::stamped(&record, tokenizer, || event_ids.message(&what()))?;
            lines.push(built.unwrap_or_else(|| line.clone()));
        }
        Ok(lines)
    }

    /// Plans to append the lines. In a session whose document records what the model has seen, also marks its messages as processed,
    /// unless a tool call awaits its result.
    pub fn plan(
        &self,
        session: &Session,
        event_ids: &EventIds<'_>,
        answered: &PromptReply,
        mut lines: Vec<Vec<u8>>,
    ) -> convo::Result<Plan> {
        if answered.reply.open.is_empty() && annotations::unseen(session).is_some() {
            lines.push(processed::event(session, &lines, event_ids)?);
        }
        retention::added(self.context, session, lines, String::new(), event_ids)
    }
}

/// The hint when the session changed so much that the reply no longer fits.
const AGAIN: &str = "nothing was stored; run the command again";
