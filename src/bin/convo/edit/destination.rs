//! The source and destination of changed sessions.

use super::event_ids::{LineDestination, Stamps};
use crate::context::Context;
use convo::filter::Plan;
use convo::model::session::Session;

/// Plans the change of a session.
pub type Planner<'p> = &'p mut dyn FnMut(&Session, &Stamps<'_>) -> convo::Result<Plan>;

/// Reads the sessions of an input and writes them after a change.
pub trait Destination {
    /// The kind of destination, which determines ids and times of new records.
    fn place(&self) -> LineDestination;

    /// The next session to change. Returns a session again if another process changed it meanwhile.
    fn next(&mut self) -> anyhow::Result<Option<Session>>;

    /// Applies the planned change to the last session.
    fn accept(&mut self, session: Session, planned: convo::Result<Plan>) -> anyhow::Result<()>;

    /// Finishes after the last session.
    fn finish(&mut self) -> anyhow::Result<()>;
}

/// Plans and applies a change of each session of a destination.
pub fn change(context: &Context, destination: &mut dyn Destination, plan: Planner<'_>) -> anyhow::Result<()> {
    while let Some(session) = destination.next()? {
        let planned = plan(&session, &Stamps::new(context, &session, destination.place()));
        destination.accept(session, planned)?;
    }
    destination.finish()
}
