//! Asks a program for summaries. No lock is held meanwhile; the answer is checked against the current session.

mod failure;
mod options;

pub use failure::{Failure, stays};
pub use options::{Telling, Trying, for_programs};

use crate::args::Input;
use crate::context::Context;
use crate::edit::retention;
use crate::edit::{self, Edit, Place, Stamps};
use crate::programs::external_program::{Asked as How, Program};
use crate::programs::summarizer::MOST;
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::filter::cover::{self, Answer, Request};
use convo::model::health::Health;
use convo::model::session::Session;
use convo::tokens::Counter;

/// Handles a missing program: streams are passed on unchanged, and the error is reported.
pub fn missing(context: &Context, inputs: &[Input], edit: Edit<'_>, error: Error) -> anyhow::Result<()> {
    let streams = inputs.iter().all(|input| !edit.in_store(input));
    if streams && !edit.in_place() && !edit.args.dry_run {
        edit::run(context, inputs, edit, |_, _| Ok(stays()))?;
    }
    Err(error.into())
}

/// Asks a program for a summary of each session.
pub struct Thinker<'r> {
    context: &'r Context,
    program: Program,
    trying: &'r Trying,
    /// Whether to ask despite too many failures.
    retry: bool,
    /// The last result with the id of its stored session, reused if the session grew before the change was stored.
    memory: Option<(String, Thought)>,
    /// Whether to shorten an answer that is too long instead of rejecting it.
    cuts: bool,
}

/// The next step for a session.
pub enum Next {
    /// Carry out this plan without asking.
    Done(Plan),
    /// Ask the program.
    Ask(Box<Request>),
}

/// The result of asking.
enum Thought {
    Answer(Answer),
    Failed(String),
}

impl<'r> Thinker<'r> {
    pub fn new(context: &'r Context, program: Program, (trying, retry): (&'r Trying, bool)) -> Thinker<'r> {
        Thinker {
            context,
            program,
            trying,
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
        stamps: &Stamps<'_>,
        counter: Counter,
        failure: &Failure<'_>,
        ask: impl FnOnce() -> convo::Result<Next>,
        apply: impl FnOnce(&Answer) -> convo::Result<Plan>,
    ) -> convo::Result<Plan> {
        let id = session.header_text("id").unwrap_or_default();
        self.cuts = retention::cuts_summaries(session)?;
        let known = self.memory.take();
        let known = known.filter(|(of, _)| stamps.place() == Place::Store && *of == id);
        let thought = match known {
            Some((_, thought)) => thought,
            None => match ask()? {
                Next::Done(plan) => return Ok(plan),
                Next::Ask(request) => {
                    if let Some(plan) = self.rest(session, stamps, failure)? {
                        return Ok(plan);
                    }
                    self.think(&request, counter, &id)
                }
            },
        };
        let planned = match &thought {
            Thought::Answer(answer) => apply(answer),
            Thought::Failed(why) => Err(Error::new(Kind::Unavailable, why)),
        };
        self.memory = Some((id, thought));
        match planned {
            Err(error) if error.kind == Kind::Unavailable => {
                failure.plan(session, stamps, &self.program.by, &error.message)
            }
            planned => planned,
        }
    }

    /// The plan if the program must not be asked yet.
    fn rest(
        &self,
        session: &Session,
        stamps: &Stamps<'_>,
        failure: &Failure<'_>,
    ) -> convo::Result<Option<Plan>> {
        let now = self.context.clock.now();
        let health = Health::of(session);
        if let Some(why) = self.trying.not_due(&health, &now) {
            return Ok(Some(Plan::Nothing(why)));
        }
        if self.retry || !health.rests(&self.trying.policy_of(session), &now) {
            return Ok(None);
        }
        let next = health.next_attempt_at.as_deref().unwrap_or_default();
        let what = format!("skipped after {} failures, until {next}", health.failures);
        let error = Error::new(Kind::Unavailable, what).hint("run now with --ignore-backoff");
        failure.tell(session, stamps, error)?;
        Ok(Some(stays()))
    }

    /// Sends the chunks of a request one after another.
    fn think(&mut self, request: &Request, counter: Counter, id: &str) -> Thought {
        let mut previous: Option<String> = None;
        let mut by = self.program.by.clone();
        for piece in 0..request.pieces() {
            if request.pieces() > 1 {
                let what = format!("request {} of {}", piece + 1, request.pieces());
                self.context.output.detail(id, &what);
            }
            let line = request.line(piece, previous.as_deref());
            match self.try_piece(&line, request, counter, id) {
                Ok((text, author)) => {
                    previous = Some(text);
                    by = author.unwrap_or(by);
                }
                Err(why) => return Thought::Failed(why),
            }
        }
        match previous {
            Some(text) => Thought::Answer(Answer::to(request, text, by)),
            None => Thought::Failed("no request to send".to_string()),
        }
    }

    /// Sends one chunk, with retries. Returns the text and the author that it names.
    fn try_piece(
        &mut self,
        line: &[u8],
        request: &Request,
        counter: Counter,
        id: &str,
    ) -> Result<(String, Option<String>), String> {
        for failures in 1.. {
            let why = match self.once(line, request, counter, id) {
                Ok(answer) => return Ok(answer),
                Err(why) => why,
            };
            if failures > self.trying.retries() {
                return Err(why);
            }
            self.context.output.tell(id, &format!("{why}; retrying"));
            std::thread::sleep(self.trying.policy().wait(failures));
        }
        Err("the program was not run".to_string())
    }

    fn once(
        &mut self,
        line: &[u8],
        request: &Request,
        counter: Counter,
        id: &str,
    ) -> Result<(String, Option<String>), String> {
        let how = How {
            timeout: self.trying.timeout(),
            most: MOST,
            listen: &mut |_| {},
        };
        let answered = self
            .program
            .ask(&[line, b"\n"].concat(), how)
            .map_err(|failure| {
                if let Some(interrupted) = failure.interrupted {
                    interrupted.obey();
                }
                let said = failure.said.lines();
                said.for_each(|line| self.context.output.tell(id, line));
                failure.why
            })?;
        let reply = cover::read_reply(&answered.answer)?;
        if reply.sha256.is_some_and(|sha256| sha256 != request.sha256) {
            return Err("the answer belongs to another request".to_string());
        }
        let text = match self.cuts {
            true => retention::cut(&reply.text, request.budget, counter),
            false => reply.text,
        };
        cover::accept(&text, Some(request.budget), counter).map_err(|error| error.message)?;
        Ok((text, reply.by))
    }
}
