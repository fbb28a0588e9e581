//! What is done when there is no summary: nothing is lost, and the session remembers that it failed.

use super::options::Trying;
use crate::context::{Context, named};
use crate::edit::{Edit, Place, Stamps};
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::format::{Format, penguiflow};
use convo::model::health::Health;
use convo::model::session::Session;
use std::cell::RefCell;

/// What is done when there is no summary: the session stays as it is, and the failure is noted in its log.
pub struct Failure<'r> {
    context: &'r Context,
    trying: &'r Trying,
    edit: Edit<'r>,
    /// What is told when what was planned is done: of which session of the store, and what.
    untold: RefCell<Option<(Option<String>, Error)>>,
}

impl<'r> Failure<'r> {
    pub fn new(context: &'r Context, trying: &'r Trying, edit: Edit<'r>) -> Failure<'r> {
        Failure {
            context,
            trying,
            edit,
            untold: RefCell::default(),
        }
    }

    /// Tells of the failure and plans the note.
    pub fn plan(&self, session: &Session, stamps: &Stamps<'_>, by: &str, why: &str) -> convo::Result<Plan> {
        let error = Error::new(Kind::Unavailable, format!("no summary: {why}"));
        self.tell(session, stamps, error.hint("the session is unchanged"))?;
        // A stream without its log has no place for it, unless the document itself has one.
        if stamps.place() == Place::Stream && !self.edit.full_log && !self.document_tells(session) {
            return Ok(stays());
        }
        // When it failed is no matter of what is in the session.
        let now = self.context.clock.now();
        let health = self
            .trying
            .policy_of(session)
            .failed(&Health::of(session), &now, why);
        let stamp = stamps.event(why)?;
        let next = health.next_attempt_at.as_deref().unwrap_or(&now);
        let told = format!(
            "recorded failure {} in a row; next attempt at {next}",
            health.failures
        );
        Ok(Plan::Lines(vec![health.event(&stamp.id, &now, by)], told))
    }

    /// Whether what is written is a document that has a place for failures.
    fn document_tells(&self, session: &Session) -> bool {
        let to = self.edit.to;
        let back = self.edit.in_place() || to == Some(Format::Penguiflow);
        back && to.is_none_or(|to| to == Format::Penguiflow) && penguiflow::is_own(session)
    }

    /// Has an error told that leaves a session as it is, and goes on; what would be replaced as a whole stays.
    pub fn tell(&self, session: &Session, stamps: &Stamps<'_>, error: Error) -> convo::Result<()> {
        let replaces = self.edit.in_place() && !self.edit.full_log && !self.document_tells(session);
        if replaces || stamps.place() == Place::Unnumbered {
            return Err(error);
        }
        let id = session.header_text("id").unwrap_or_default();
        let stored = (stamps.place() == Place::Store).then(|| id.clone());
        // A session of the store that has grown meanwhile is planned again.
        let again =
            stored.is_some() && matches!(&*self.untold.borrow(), Some((known, _)) if *known == stored);
        if !again {
            self.tell_all();
        }
        *self.untold.borrow_mut() = Some((stored, named(error, &id)));
        Ok(())
    }

    /// What becomes of a session whose change failed: it stays as it is, and the others have their turn. A stream is handed on as it
    /// came; what else reads it need not know that nothing changed.
    pub fn spare(
        &self,
        session: &Session,
        stamps: &Stamps<'_>,
        planned: convo::Result<Plan>,
    ) -> convo::Result<Plan> {
        match planned {
            // Of an excerpt that is not for it to say.
            Err(error) if error.kind == Kind::No && session.excerpt().is_none() => {
                let id = session.header_text("id").unwrap_or_default();
                self.context.output.error(&named(error, &id));
                Ok(stays())
            }
            Err(error)
                if matches!(error.kind, Kind::Unavailable | Kind::Locked)
                    && stamps.place() == Place::Stream =>
            {
                self.tell(session, stamps, error)?;
                Ok(stays())
            }
            planned => planned,
        }
    }

    /// Tells what is left to be told: nothing is, before the note is safe.
    pub fn tell_all(&self) {
        if let Some((_, error)) = self.untold.take() {
            self.context.output.error(&error);
        }
    }
}

/// The session is left as it is.
pub fn stays() -> Plan {
    Plan::Refused(String::new())
}
