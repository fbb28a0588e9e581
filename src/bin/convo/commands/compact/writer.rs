//! Summarizes a compaction with a program: selects the messages to drop, runs the program, and inserts its reply.

use super::options::Strategy;
use crate::context::Context;
use crate::edit::Stamps;
use crate::programs::summarizer_process::{Failure, Next, Thinker};
use convo::filter::Plan;
use convo::filter::compact::{Options, Outcome};
use convo::filter::cover::{self, Answer, Draft, Drafted};
use convo::model::health::Health;
use convo::model::session::Session;
use convo::tokens::Counter;
use std::cell::RefCell;

/// A program that summarizes dropped messages.
pub struct Writer<'r> {
    context: &'r Context,
    strategy: &'r Strategy,
    asking: cover::Options,
    thinker: Thinker<'r>,
    /// Whether to skip the program because nothing will be changed.
    dry_run: bool,
    /// The selection for the last session; later messages do not change it.
    draft: RefCell<Option<Draft>>,
}

impl<'r> Writer<'r> {
    /// Returns the program of the command line; `None` without one.
    pub fn new(
        context: &'r Context,
        strategy: &'r Strategy,
        dry_run: bool,
    ) -> convo::Result<Option<Writer<'r>>> {
        let program = match strategy.writer() {
            Some(with) => with.program(context)?,
            None => None,
        };
        let Some(program) = program else { return Ok(None) };
        Ok(Some(Writer {
            context,
            strategy,
            asking: strategy.asked()?,
            thinker: Thinker::new(
                context,
                program,
                (&strategy.trying, strategy.trigger.ignore_backoff),
            ),
            dry_run,
            draft: RefCell::default(),
        }))
    }

    /// Plans the compaction of a session; passes the outcome to `told`.
    pub fn plan(
        &mut self,
        session: &Session,
        stamps: &Stamps<'_>,
        counter: Counter,
        options: &Options,
        failure: &Failure<'_>,
        told: &mut dyn FnMut(&Outcome) -> convo::Result<()>,
    ) -> convo::Result<Plan> {
        let told = RefCell::new(told);
        let tell = |outcome: &Outcome| (*told.borrow_mut())(outcome);
        let done = |outcome: Outcome| tell(&outcome).map(|()| outcome.plan);
        let (context, strategy, dry_run) = (self.context, self.strategy, self.dry_run);
        let (drafted, asking) = (&self.draft, &self.asking);
        let ask = || {
            if let Some(why) = strategy
                .trying
                .not_due(&Health::of(session), &context.clock.now())
            {
                return Ok(Next::Done(Plan::Nothing(why)));
            }
            let stamp = |content: &str| stamps.event(content);
            match cover::draft(session, counter, options, asking, stamp)? {
                Drafted::Done(outcome) => done(outcome).map(Next::Done),
                Drafted::Asks(draft) if dry_run => done(draft.outlook()).map(Next::Done),
                Drafted::Asks(draft) => {
                    let request = draft.request.clone();
                    *drafted.borrow_mut() = Some(*draft);
                    Ok(Next::Ask(Box::new(request)))
                }
            }
        };
        let apply = |answer: &Answer| match &*drafted.borrow() {
            Some(draft) => {
                let stamp = |content: &str| stamps.event(content);
                done(cover::finish(session, counter, options, draft, answer, stamp)?)
            }
            None => Ok(Plan::Nothing("no summary requested".to_string())),
        };
        self.thinker.plan(session, stamps, counter, failure, ask, apply)
    }
}
