//! Changes a stored session: appends the new records to its log. If the session grew since it was read, the change is
//! planned again.

use super::destination::Destination;
use super::event_ids::LineDestination;
use super::reports::describe_unchanged;
use super::request::EditRequest;
use crate::context::Context;
use crate::errors::named;
use crate::input::selection::SessionSelection;
use crate::programs::change_hooks;
use convo::error::{Error, ErrorKind};
use convo::filter::{Plan, summarize};
use convo::format::report::Report;
use convo::model::health::is_attempt;
use convo::model::session::Session;
use convo::model::view::View;
use convo::store::Store;

/// How often a change is planned again because the session grew.
const TRIES: u32 = 50;

pub struct StoredSession<'a> {
    context: &'a Context,
    edit: &'a EditRequest<'a>,
    name: &'a str,
    store: &'a Store,
    id: String,
    /// Only the records of the view are read.
    view_only: bool,
    /// Only what the events need of the messages is read.
    events_only: bool,
    tries: u32,
    /// Findings of the last read.
    report: Report,
    length: u64,
    /// Ids generated before the last planning.
    drawn: u64,
    /// The appended records, and the report of the change.
    done: Option<(Vec<Vec<u8>>, String)>,
}

impl<'a> StoredSession<'a> {
    pub fn open(
        context: &'a Context,
        name: &'a str,
        edit: &'a EditRequest<'a>,
    ) -> anyhow::Result<StoredSession<'a>> {
        let store = context.store()?;
        let id = store.resolve(name)?;
        if edit.full_log && !edit.append_only {
            let error = Error::usage("--log requires a stream; the store always keeps the log");
            return Err(named(error, name)
                .hint("print the log with: --stdout --log")
                .into());
        }
        Ok(StoredSession {
            context,
            edit,
            name,
            store,
            id,
            view_only: edit.view_only,
            events_only: edit.events_only,
            tries: 0,
            report: Report::default(),
            length: 0,
            drawn: 0,
            done: None,
        })
    }

    /// Caches the view for the next read, unless the log is damaged. Records hidden by the new lines then need not be
    /// read again.
    fn keep_view(&self, session: &Session, is_undamaged: bool, lines: &[Vec<u8>]) {
        if !self.view_only || !is_undamaged {
            return;
        }
        let keep = |session: &Session, length| {
            self.store
                .keep_view(&self.id, session, length, &summarize::standing_instructions);
        };
        if !lines.iter().any(|line| moves_view(line)) {
            return keep(session, self.length);
        }
        let mut report = Report::default();
        if let Ok((session, length)) = self.store.load_view(&self.id, &mut report)
            && report.findings.is_empty()
        {
            keep(&session, length);
        }
    }
}

impl Destination for StoredSession<'_> {
    fn label(&self) -> &str {
        self.name
    }

    fn place(&self) -> LineDestination {
        LineDestination::Store
    }

    fn next(&mut self) -> anyhow::Result<Option<Session>> {
        if self.done.is_some() {
            return Ok(None);
        }
        self.report = Report::default();
        let (session, length) = match (self.view_only, self.events_only) {
            (true, _) => self.store.load_view(&self.id, &mut self.report)?,
            (_, true) => self.store.load_events_with_length(&self.id, &mut self.report)?,
            _ => self.store.load_with_length(&self.id, &mut self.report)?,
        };
        self.length = length;
        SessionSelection::only(self.edit.reading, &session).map_err(|error| named(error, self.name))?;
        self.drawn = self.context.chance.generated();
        Ok(Some(session))
    }

    fn accept(&mut self, session: Session, planned: convo::Result<Plan>) -> anyhow::Result<()> {
        // An error about a part of the log is final only if the complete log causes it too.
        if planned.is_err() && (session.partial().is_some() || session.is_reduced()) {
            self.context.chance.reset_to(self.drawn);
            (self.view_only, self.events_only) = (false, false);
            return Ok(());
        }
        let is_undamaged = self.report.findings.is_empty();
        let named = |error| named(error, self.name);
        match planned.map_err(named)? {
            Plan::Lines(lines, what) => {
                // A plan applies to the records that were read, so a message appended meanwhile is never hidden.
                let borrowed: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
                let done = self.store.append_to(&self.id, &borrowed, self.length);
                let done = done.map_err(named)?;
                self.tries += 1;
                if !done && self.tries < TRIES {
                    return Ok(());
                }
                self.context.output.report(self.name, &mut self.report);
                if !done {
                    let what = "modified by another program; nothing was changed";
                    return Err(named(Error::new(ErrorKind::Locked, what)).into());
                }
                self.keep_view(&session, is_undamaged, &lines);
                if !self.edit.args.json && !what.is_empty() {
                    self.context.output.notice(self.name, &what);
                }
                self.done = Some((lines, what));
            }
            Plan::Nothing(why) | Plan::Refused(why) => {
                // The decision that nothing changes may depend on records that are not synced yet.
                self.store.sync_lines(&self.id).map_err(named)?;
                self.keep_view(&session, is_undamaged, &[]);
                self.context.output.report(self.name, &mut self.report);
                let what = describe_unchanged(&why);
                if !what.is_empty() {
                    self.context.output.notice(self.name, &what);
                }
                self.done = Some((Vec::new(), why));
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let (lines, what) = self.done.take().unwrap_or_default();
        if self.edit.args.json {
            let records: Vec<&serde_json::value::RawValue> = lines
                .iter()
                .filter_map(|line| serde_json::from_slice(line).ok())
                .collect();
            let report = serde_json::json!({
                "schema": "convo.change/1", "id": self.id, "changed": lines.iter().any(|line| !is_attempt(line)), "what": what, "records": records,
            });
            self.context.output.print_done(&report.to_string())?;
        }
        let lines = lines.iter().map(Vec::as_slice);
        change_hooks::after(self.context, self.name, &self.id, lines);
        Ok(())
    }
}

/// Whether a record is an event that changes which messages are in the view.
fn moves_view(line: &[u8]) -> bool {
    let mut session = Session::default();
    session.push_new(line);
    View::is_moved_by(&session, 0)
}
