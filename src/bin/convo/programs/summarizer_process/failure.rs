//! Handles a failed summary: keeps the session unchanged and records the failure.

use super::options::RetryArgs;
use crate::context::Context;
use crate::edit::{EditRequest, EventIds, LineDestination};
use convo::error::{Error, ErrorKind};
use convo::filter::Plan;
use convo::format::annotations;
use convo::model::health::Health;
use convo::model::session::Session;
use std::cell::RefCell;

/// Handles a failed summary: the session is unchanged, and the failure is recorded in its log.
pub struct FailureReport<'r> {
    context: &'r Context,
    retry_args: &'r RetryArgs,
    edit: EditRequest<'r>,
    /// The error to report once the plan is carried out, with the id of a stored session.
    unreported: RefCell<Option<(Option<String>, Error)>>,
}

impl<'r> FailureReport<'r> {
    pub fn new(context: &'r Context, retry_args: &'r RetryArgs, edit: EditRequest<'r>) -> FailureReport<'r> {
        FailureReport {
            context,
            retry_args,
            edit,
            unreported: RefCell::default(),
        }
    }

    /// Reports the failure and plans its record.
    pub fn plan(
        &self,
        session: &Session,
        event_ids: &EventIds<'_>,
        by: &str,
        why: &str,
    ) -> convo::Result<Plan> {
        let error = Error::new(ErrorKind::Unavailable, format!("no summary: {why}"));
        self.report(session, event_ids, error.hint("the session is unchanged"))?;
        // A stream without its log cannot record it, unless the document itself can.
        if event_ids.place() == LineDestination::Stream
            && !self.edit.full_log
            && !self.can_record_failures(session)
        {
            return Ok(unchanged_plan());
        }
        // The time of the failure does not depend on the session.
        let now = self.context.clock.now();
        let health = self
            .retry_args
            .policy_of(session)
            .failed(&Health::of(session), &now, why);
        let stamp = event_ids.event(why)?;
        let next = health.next_attempt_at.as_deref().unwrap_or(&now);
        let reported = format!(
            "recorded failure {} in a row; next attempt at {next}",
            health.failures
        );
        Ok(Plan::Lines(vec![health.event(&stamp.id, &now, by)], reported))
    }

    /// Whether the output is a document that can record failures.
    fn can_record_failures(&self, session: &Session) -> bool {
        let records = match self.edit.to {
            Some(format) => annotations::records_failures(format),
            None => self.edit.in_place(),
        };
        records && annotations::has_failure_records(session)
    }

    /// Queues an error for a session that is kept unchanged. Returns it instead if a file would be replaced.
    pub fn report(&self, session: &Session, event_ids: &EventIds<'_>, error: Error) -> convo::Result<()> {
        let replaces = self.edit.in_place() && !self.edit.full_log && !self.can_record_failures(session);
        if replaces || event_ids.place() == LineDestination::Unnumbered {
            return Err(error);
        }
        let id = || session.header_text("id").unwrap_or_default();
        let stored = (event_ids.place() == LineDestination::Store).then(id);
        // A stored session that grew meanwhile is planned again.
        let again =
            stored.is_some() && matches!(&*self.unreported.borrow(), Some((known, _)) if *known == stored);
        if !again {
            self.report_queued_error();
        }
        *self.unreported.borrow_mut() = Some((stored, event_ids.named(error)));
        Ok(())
    }

    /// Handles a failed change: the session is kept unchanged, and the others are processed. A stream passes it on
    /// unchanged, so that its readers need not handle the failure.
    pub fn keep_unchanged(
        &self,
        session: &Session,
        event_ids: &EventIds<'_>,
        planned: convo::Result<Plan>,
    ) -> convo::Result<Plan> {
        match planned {
            // A plan for a partial session is not final.
            Err(error) if error.kind == ErrorKind::No && session.partial().is_none() => {
                self.context.output.error(&event_ids.named(error));
                Ok(unchanged_plan())
            }
            Err(error)
                if matches!(error.kind, ErrorKind::Unavailable | ErrorKind::Locked)
                    && event_ids.place() == LineDestination::Stream =>
            {
                self.report(session, event_ids, error)?;
                Ok(unchanged_plan())
            }
            planned => planned,
        }
    }

    /// Reports the queued error, after the record of the failure is durable.
    pub fn report_queued_error(&self) {
        if let Some((_, error)) = self.unreported.take() {
            self.context.output.error(&error);
        }
    }
}

/// A plan that keeps the session unchanged.
pub fn unchanged_plan() -> Plan {
    Plan::Refused(String::new())
}
