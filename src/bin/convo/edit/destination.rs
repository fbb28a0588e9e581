//! The source and destination of changed sessions.

use super::event_ids::{EventIds, LineDestination};
use convo::filter::Plan;
use convo::model::session::Session;

/// Plans a change on any thread.
pub type ParallelPlanFn<'p> = &'p (dyn Fn(&Session, &EventIds<'_>) -> convo::Result<Plan> + Sync);

/// Plans a change, or completes and reports a plan from another thread.
type PlanFn<'p> =
    &'p mut dyn FnMut(&Session, &EventIds<'_>, Option<convo::Result<Plan>>) -> convo::Result<Plan>;

/// Plans the changes of sessions.
pub struct Planner<'p> {
    /// Plans a change on any thread, while other sessions are read; none if plans depend on each other.
    pub parallel: Option<ParallelPlanFn<'p>>,
    /// Plans the next change in order.
    pub plan: PlanFn<'p>,
}

/// Reads the sessions of an input and writes them after a change.
pub trait Destination {
    /// The name of the input in messages.
    fn label(&self) -> &str;

    /// The kind of destination, which determines ids and times of new records.
    fn place(&self) -> LineDestination;

    /// The next session to change. Returns a session again if another process changed it meanwhile.
    fn next(&mut self) -> anyhow::Result<Option<Session>>;

    /// Applies the planned change to the last session.
    fn accept(&mut self, session: Session, planned: convo::Result<Plan>) -> anyhow::Result<()>;

    /// Finishes after the last session.
    fn finish(&mut self) -> anyhow::Result<()>;

    /// Starts reading ahead: several sessions are read before the first of them is changed. Returns whether the destination
    /// supports it.
    fn read_ahead(&mut self) -> bool {
        false
    }

    /// Reports damage and losses of the next session to change, which has already been read.
    fn begin(&mut self) {}

    /// Completes reading ahead, after all sessions that were read have been changed.
    fn end_reading(&mut self, read: anyhow::Result<()>) -> anyhow::Result<()> {
        read
    }
}
