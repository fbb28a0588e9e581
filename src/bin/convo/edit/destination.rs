//! Where changed sessions go, which is also where they come from.

use super::stamps::{Place, Stamps};
use crate::context::Context;
use convo::filter::Plan;
use convo::model::session::Session;

/// Plans the change of a session.
pub type Planner<'p> = &'p mut dyn FnMut(&Session, &Stamps<'_>) -> convo::Result<Plan>;

/// The sessions of one input on the way to where they are written.
pub trait Destination {
    /// Where the new records go, which determines their ids and times.
    fn place(&self) -> Place;

    /// The next session to change. A session that somebody else changed meanwhile comes again.
    fn next(&mut self) -> anyhow::Result<Option<Session>>;

    /// Carries out the change that was planned for the last session.
    fn accept(&mut self, session: Session, planned: convo::Result<Plan>) -> anyhow::Result<()>;

    /// After the last session.
    fn finish(&mut self) -> anyhow::Result<()>;
}

/// Pulls the sessions of a destination, plans a change of each, and hands it back.
pub fn change(context: &Context, destination: &mut dyn Destination, plan: Planner<'_>) -> anyhow::Result<()> {
    while let Some(session) = destination.next()? {
        let planned = plan(&session, &Stamps::new(context, &session, destination.place()));
        destination.accept(session, planned)?;
    }
    destination.finish()
}
