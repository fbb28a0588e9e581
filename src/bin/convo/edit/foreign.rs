//! Changes in place a session file that another system stores in several files.

use super::destination::Destination;
use super::dry_run::describe_dry_run;
use super::event_ids::LineDestination;
use super::reports::describe_unchanged;
use super::request::EditRequest;
use crate::context::Context;
use crate::errors::{named, stopped};
use crate::input::selection::SessionSelection;
use convo::filter::Plan;
use convo::format::report::Report;
use convo::model::session::Session;
use convo::store::foreign::{FileChange, SessionFile};

pub struct ForeignFile<'a> {
    context: &'a Context,
    edit: &'a EditRequest<'a>,
    label: String,
    file: Box<dyn SessionFile + 'a>,
    read: bool,
}

impl<'a> ForeignFile<'a> {
    pub fn new(
        context: &'a Context,
        edit: &'a EditRequest<'a>,
        label: String,
        file: Box<dyn SessionFile + 'a>,
    ) -> ForeignFile<'a> {
        ForeignFile {
            context,
            edit,
            label,
            file,
            read: false,
        }
    }

    fn read(&mut self) -> convo::Result<Session> {
        let mut report = Report::default();
        let session = self.file.session(self.edit.append_only, &mut report);
        let damaged = report.is_damaged();
        self.context.output.report(&self.label, &mut report);
        let session = session?;
        if self.edit.reading.args.strict && damaged {
            return Err(stopped());
        }
        SessionSelection::only(self.edit.reading, &session)?;
        Ok(session)
    }

    fn change(&mut self, session: Session, lines: &[Vec<u8>], what: &str) -> anyhow::Result<()> {
        let mut report = Report::default();
        let dry_run = self.edit.args.dry_run;
        let change = FileChange {
            lines,
            append_only: self.edit.append_only,
            dry_run,
            strict: self.edit.reading.args.strict,
            now: &self.context.clock.now(),
        };
        let output = &self.context.output;
        let changed = self.file.change(session, &change, &mut report);
        output.report(&self.label, &mut report);
        let changed = changed.map_err(|error| named(error, &self.label))?;
        if dry_run {
            output.notice(&self.label, &describe_dry_run(what));
            let mut lines = changed.lines.iter();
            return lines.try_for_each(|line| output.print(&String::from_utf8_lossy(line)));
        }
        if let Some(warning) = changed.warning {
            output.notice(&self.label, &warning);
        }
        match changed.addition {
            Some(addition) => output.notice(&self.label, &format!("{what}; {addition}")),
            None => self.edit.describe(self.context, &self.label, what),
        }
        Ok(())
    }
}

impl Destination for ForeignFile<'_> {
    fn label(&self) -> &str {
        &self.label
    }

    fn place(&self) -> LineDestination {
        match self.file.has_ids() {
            true => LineDestination::Store,
            false => LineDestination::Unnumbered,
        }
    }

    fn next(&mut self) -> anyhow::Result<Option<Session>> {
        if std::mem::replace(&mut self.read, true) {
            return Ok(None);
        }
        let session = self.read().map_err(|error| named(error, &self.label))?;
        Ok(Some(session))
    }

    fn accept(&mut self, session: Session, planned: convo::Result<Plan>) -> anyhow::Result<()> {
        match planned.map_err(|error| named(error, &self.label))? {
            Plan::Lines(lines, what) => self.change(session, &lines, &what),
            Plan::Nothing(why) | Plan::Refused(why) => {
                self.file.sync().map_err(|error| named(error, &self.label))?;
                self.edit
                    .describe(self.context, &self.label, &describe_unchanged(&why));
                Ok(())
            }
        }
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}
