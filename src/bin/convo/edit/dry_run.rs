//! A dry run: prints the planned records and changes nothing.

use super::destination::Destination;
use super::event_ids::LineDestination;
use super::reports::{EditReports, describe_unchanged};
use super::request::EditRequest;
use crate::args::InputLocation;
use crate::context::Context;
use crate::errors::named;
use crate::input::InputSessions;
use convo::filter::Plan;
use convo::model::session::Session;

pub struct DryRun<'a> {
    context: &'a Context,
    edit: &'a EditRequest<'a>,
    label: String,
    place: LineDestination,
    sessions: InputSessions<'a>,
    reports: EditReports,
}

impl<'a> DryRun<'a> {
    pub fn open(
        context: &'a Context,
        input: &InputLocation,
        edit: &'a EditRequest<'a>,
    ) -> anyhow::Result<DryRun<'a>> {
        let opened = context.open(input, edit.reading)?;
        Ok(DryRun {
            context,
            edit,
            label: opened.label.clone(),
            place: match edit.in_store(input) {
                true => LineDestination::Store,
                false => LineDestination::Stream,
            },
            sessions: InputSessions::selected(context, opened, edit.reading),
            reports: EditReports::default(),
        })
    }

    fn print(&mut self, session: &Session, planned: convo::Result<Plan>) -> anyhow::Result<()> {
        // Counts the session, so that the other reports name theirs.
        let planned = planned.inspect_err(|_| self.reports.add(&self.label, session, String::new()));
        match planned.map_err(|error| named(error, &self.label))? {
            Plan::Nothing(why) | Plan::Refused(why) => {
                self.reports.add(&self.label, session, describe_unchanged(&why));
            }
            Plan::Lines(lines, what) => {
                self.reports.add(&self.label, session, describe_dry_run(&what));
                for line in lines.iter().filter(|_| !self.edit.custom_dry_run) {
                    self.context.output.print(&String::from_utf8_lossy(line))?;
                }
            }
        }
        Ok(())
    }

    /// Prints the reports before an error, which ends the input.
    fn reported<T>(&mut self, done: anyhow::Result<T>) -> anyhow::Result<T> {
        if done.is_err() {
            self.finish()?;
        }
        done
    }
}

impl Destination for DryRun<'_> {
    fn label(&self) -> &str {
        &self.label
    }

    fn place(&self) -> LineDestination {
        self.place
    }

    fn next(&mut self) -> anyhow::Result<Option<Session>> {
        let next = self.sessions.next();
        self.reported(next)
    }

    fn accept(&mut self, session: Session, planned: convo::Result<Plan>) -> anyhow::Result<()> {
        let done = self.print(&session, planned);
        let done = self.sessions.accept_result(done);
        self.reported(done)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let output = &self.context.output;
        std::mem::take(&mut self.reports).print(|label, what| output.notice(label, what));
        Ok(())
    }
}

/// Converts the report of a change to that of a dry run.
pub fn describe_dry_run(reported: &str) -> String {
    const VERBS: [(&str, &str); 6] = [
        ("appended", "append"),
        ("compacted", "compact"),
        ("dropped", "drop"),
        ("merged", "merge"),
        ("summarized", "summarize"),
        ("undid", "undo"),
    ];
    let verb = VERBS
        .iter()
        .find_map(|(past, verb)| Some((verb, reported.strip_prefix(past)?)));
    match verb {
        Some((verb, rest)) => format!("would {verb}{rest}"),
        None => format!("would change: {reported}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_becomes_a_plan() {
        assert_eq!(
            describe_dry_run("dropped 2 of 3 messages"),
            "would drop 2 of 3 messages"
        );
        assert_eq!(describe_dry_run("split"), "would change: split");
    }
}
