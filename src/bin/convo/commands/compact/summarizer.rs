//! Summarizes a compaction with a program: selects the messages to drop, runs the program, and inserts its reply.

use super::strategy_args::StrategyArgs;
use crate::context::Context;
use crate::edit::EventIds;
use crate::programs::summarizer_process::{FailureReport, NextStep, Summarizer};
use convo::filter::Plan;
use convo::filter::compact::{CompactOptions, CompactionOutcome};
use convo::filter::summarize_range::{self, CompactionDraft, DraftResult, SummaryAnswer};
use convo::model::health::Health;
use convo::model::session::Session;
use convo::tokens::Counter;
use std::cell::RefCell;

/// A program that summarizes dropped messages.
pub struct CompactionWriter<'r> {
    context: &'r Context,
    strategy: &'r StrategyArgs,
    request_options: summarize_range::SummaryRequestOptions,
    summarizer: Summarizer<'r>,
    /// Whether to skip the program because nothing will be changed.
    dry_run: bool,
    /// The selection for the last session; later messages do not change it.
    draft: RefCell<Option<CompactionDraft>>,
}

impl<'r> CompactionWriter<'r> {
    /// Returns the program of the command line; `None` without one.
    pub fn new(
        context: &'r Context,
        strategy: &'r StrategyArgs,
        dry_run: bool,
    ) -> convo::Result<Option<CompactionWriter<'r>>> {
        let program = match strategy.writer() {
            Some(with) => with.program(context)?,
            None => None,
        };
        let Some(program) = program else { return Ok(None) };
        Ok(Some(CompactionWriter {
            context,
            strategy,
            request_options: strategy.requested()?,
            summarizer: Summarizer::new(
                context,
                program,
                (&strategy.retry_args, strategy.trigger.ignore_backoff),
            ),
            dry_run,
            draft: RefCell::default(),
        }))
    }

    /// Plans the compaction of a session; passes the outcome to `reported`.
    pub fn plan(
        &mut self,
        session: &Session,
        event_ids: &EventIds<'_>,
        counter: Counter,
        options: &CompactOptions,
        failure: &FailureReport<'_>,
        reported: &mut dyn FnMut(&CompactionOutcome) -> convo::Result<()>,
    ) -> convo::Result<Plan> {
        let reported = RefCell::new(reported);
        let report_outcome = |outcome: &CompactionOutcome| (*reported.borrow_mut())(outcome);
        let done = |outcome: CompactionOutcome| report_outcome(&outcome).map(|()| outcome.plan);
        let (context, strategy, dry_run) = (self.context, self.strategy, self.dry_run);
        let (drafted, request_options) = (&self.draft, &self.request_options);
        let ask = || {
            if let Some(why) = strategy
                .retry_args
                .not_due(&Health::of(session), &context.clock.now())
            {
                return Ok(NextStep::Done(Plan::Nothing(why)));
            }
            let stamp = |content: &str| event_ids.event(content);
            match summarize_range::draft(session, counter, options, request_options, stamp)? {
                DraftResult::Done(outcome) => done(outcome).map(NextStep::Done),
                DraftResult::Asks(draft) if dry_run => done(draft.largest_result()).map(NextStep::Done),
                DraftResult::Asks(draft) => {
                    let request = draft.request.clone();
                    *drafted.borrow_mut() = Some(*draft);
                    Ok(NextStep::Ask(Box::new(request)))
                }
            }
        };
        let apply = |answer: &SummaryAnswer| match &*drafted.borrow() {
            Some(draft) => {
                let stamp = |content: &str| event_ids.event(content);
                done(summarize_range::finish(
                    session, counter, options, draft, answer, stamp,
                )?)
            }
            None => Ok(Plan::Nothing("no summary requested".to_string())),
        };
        self.summarizer
            .plan(session, event_ids, counter, failure, ask, apply)
    }
}
