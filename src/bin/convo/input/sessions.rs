//! Reads the sessions of inputs one by one. With several inputs, reports an error of one and reads the others.

use super::input_settings::InputSettings;
use super::selection::{Selected, SessionSelection};
use crate::args::InputLocation;
use crate::context::Context;
use crate::errors::{named, stopped};
use crate::input::open::OpenInput;
use crate::writing::losses_refused;
use convo::error::{Error, ErrorKind};
use convo::format::report::{Loss, Report};
use convo::format::{Format, Sessions};
use convo::model::lineage::SideBranch;
use convo::model::session::Session;
use std::collections::VecDeque;

/// Reads the sessions of the inputs one by one; the callback's first argument is the input's name in messages.
pub fn each_session<'a>(
    context: &'a Context,
    inputs: &[InputLocation],
    reading: impl Into<InputSettings<'a>>,
    mut each: impl FnMut(&str, Session) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    each_session_and_format(context, inputs, reading, |label, _, session| each(label, session))
}

/// The same with the format of the input.
pub fn each_session_and_format<'a>(
    context: &'a Context,
    inputs: &[InputLocation],
    reading: impl Into<InputSettings<'a>>,
    mut each: impl FnMut(&str, Format, Session) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let reading = reading.into();
    for input in inputs {
        let label = input.label();
        let mut one = || -> anyhow::Result<()> {
            if let Some(session) = partial_session(context, input, reading)? {
                return each(&label, Format::Native, session);
            }
            let opened = context.open(input, reading)?;
            let format = opened.format;
            let mut sessions = InputSessions::selected(context, opened, reading);
            while let Some(session) = sessions.next()? {
                sessions.accept_result(each(&label, format, session))?;
            }
            Ok(())
        };
        report_and_continue(context, one(), inputs.len())?;
    }
    Ok(())
}

/// The records of a stored session that its view needs, if only the view is used and they can be read separately.
fn partial_session(
    context: &Context,
    input: &InputLocation,
    reading: InputSettings<'_>,
) -> convo::Result<Option<Session>> {
    let InputLocation::Name(name) = input else {
        return Ok(None);
    };
    if !reading.view_only || reading.args.session.is_some() || reading.args.branch.is_some() {
        return Ok(None);
    }
    let store = context.store()?;
    let id = store.resolve(name)?;
    let partial = store.partial_session(&id).map_err(|error| named(error, name))?;
    Ok(partial.map(|(session, _)| session))
}

/// With several inputs, reports an error of one and continues with the others.
pub fn report_and_continue(context: &Context, done: anyhow::Result<()>, inputs: usize) -> anyhow::Result<()> {
    match done {
        Err(error) if inputs > 1 && !context.output.stdout_failed() => {
            let error = error.downcast::<Error>()?;
            // A usage error of the command would repeat for each input.
            if error.kind == ErrorKind::Usage && error.at.is_none() {
                return Err(error.into());
            }
            context.output.error(&error);
            Ok(())
        }
        done => done,
    }
}

/// The sessions of one input, read on demand.
pub struct InputSessions<'a> {
    context: &'a Context,
    label: String,
    reading: InputSettings<'a>,
    sessions: Sessions<'static>,
    /// None selects every session and skips none.
    selection: Option<SessionSelection<'a>>,
    /// Whether unselected sessions are read too.
    others: bool,
    selected: bool,
    /// With --strict, an exported session is held back until it is known that no branch after it is lost.
    withheld: Option<Session>,
    /// An error about the last session only.
    error: Option<Error>,
    ended: bool,
    tail: Vec<u8>,
    /// The findings of sessions that were read ahead, to report when each session is used.
    unreported: Option<VecDeque<Vec<Report>>>,
    never_waits: bool,
}

impl<'a> InputSessions<'a> {
    /// The sessions that the options select.
    pub fn selected(
        context: &'a Context,
        opened: OpenInput,
        reading: InputSettings<'a>,
    ) -> InputSessions<'a> {
        let selection = SessionSelection::new(reading, opened.format);
        InputSessions::new(context, opened, reading, Some(selection), false)
    }

    /// Every session; [`is_selected`](Self::is_selected) identifies the selected ones.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] with --branch, because a reconstructed branch is not a session of the input.
    pub fn with_others(
        context: &'a Context,
        opened: OpenInput,
        reading: InputSettings<'a>,
    ) -> convo::Result<InputSessions<'a>> {
        if reading.args.branch.is_some() {
            let error = Error::usage("--branch conflicts with -i");
            let error = error
                .hint("change the branch's own messages with --session ID, or omit -i to print the branch");
            return Err(named(error, &opened.label));
        }
        let selection = SessionSelection::new(reading, opened.format);
        Ok(InputSessions::new(
            context,
            opened,
            reading,
            Some(selection),
            true,
        ))
    }

    /// Every session, regardless of the options.
    pub fn all(context: &'a Context, opened: OpenInput, reading: InputSettings<'a>) -> InputSessions<'a> {
        InputSessions::new(context, opened, reading, None, true)
    }

    fn new(
        context: &'a Context,
        opened: OpenInput,
        reading: InputSettings<'a>,
        selection: Option<SessionSelection<'a>>,
        others: bool,
    ) -> InputSessions<'a> {
        InputSessions {
            context,
            label: opened.label,
            reading,
            sessions: Sessions::new(opened.stream),
            selection,
            others,
            selected: true,
            withheld: None,
            error: None,
            ended: false,
            tail: Vec::new(),
            unreported: None,
            never_waits: opened.never_waits,
        }
    }

    /// Starts reading ahead: [`begin`](Self::begin) reports the damage and losses of a session before its use, and
    /// [`end_reading`](Self::end_reading) ends the input.
    pub fn read_ahead(&mut self) {
        self.unreported = Some(VecDeque::from([Vec::new()]));
    }

    /// Whether more can be read without waiting for another program.
    pub fn never_waits(&self) -> bool {
        self.never_waits
    }

    /// Reports damage and losses of the next session to use, and an error of the session before it.
    pub fn begin(&mut self) {
        let found = self.unreported.as_mut().and_then(VecDeque::pop_front);
        for mut report in found.into_iter().flatten() {
            self.context.output.report(&self.label, &mut report);
        }
        self.report_error();
    }

    /// Ends the input after its last session was used.
    pub fn end_reading(&mut self, read: anyhow::Result<()>) -> anyhow::Result<()> {
        let error = self.error.take();
        self.begin();
        self.unreported = None;
        self.error = error;
        read?;
        self.end().map(drop)
    }

    fn report(&mut self, mut report: Report) {
        match self.unreported.as_mut().and_then(VecDeque::back_mut) {
            Some(unreported) => unreported.push(report),
            None => self.context.output.report(&self.label, &mut report),
        }
    }

    /// Reports the losses of an input that is not read to its end.
    fn end_early(&mut self) {
        let mut report = Report::default();
        self.sessions.end_early(&mut report);
        self.report(report);
    }

    fn report_error(&mut self) {
        if let Some(error) = self.error.take() {
            self.context.output.error(&error);
        }
    }

    /// The next session; none after the last, unless the error of one session must still be reported.
    pub fn next(&mut self) -> anyhow::Result<Option<Session>> {
        while !self.ended {
            if self.error.is_none() && self.needs_no_more() {
                self.end_early();
                return self.end();
            }
            let mut report = Report::default();
            let next = self.sessions.next(&mut report);
            let damaged = report.is_damaged();
            self.report(report);
            if next.is_err() {
                self.end_early();
            }
            let Some(session) = next.map_err(|error| named(error, &self.label))? else {
                self.tail = self.sessions.tail().to_vec();
                return self.end();
            };
            if self.reading.args.strict && damaged {
                self.end_early();
                return Err(named(stopped(), &self.label).into());
            }
            if self.unreported.is_none() {
                self.report_error();
            }
            if let Some(session) = self.take(session) {
                self.unreported
                    .iter_mut()
                    .for_each(|all| all.push_back(Vec::new()));
                return Ok(Some(session));
            }
        }
        self.error.take().map_or(Ok(None), |error| Err(error.into()))
    }

    /// Receives the result of using the last session. An error about that session only is reported if another session
    /// follows.
    pub fn accept_result(&mut self, done: anyhow::Result<()>) -> anyhow::Result<()> {
        let Err(error) = done else { return Ok(()) };
        let is_of_one = |error: &Error| {
            matches!(
                error.kind,
                ErrorKind::No
                    | ErrorKind::Data
                    | ErrorKind::NotFound
                    | ErrorKind::Unavailable
                    | ErrorKind::Exists
                    | ErrorKind::Unsafe
            )
        };
        match error.downcast_ref::<Error>() {
            Some(inner) if is_of_one(inner) && !self.context.output.stdout_failed() => {
                self.error = Some(error.downcast()?);
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// Whether the options select the last session.
    pub fn is_selected(&self) -> bool {
        self.selected
    }

    /// The bytes after the last session.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    fn holds(&self) -> bool {
        self.reading.args.strict && self.reading.exports && !self.others
    }

    fn needs_no_more(&self) -> bool {
        let Some(selection) = &self.selection else {
            return false;
        };
        (self.holds() && !selection.skipped_counts().is_empty()) || (selection.is_done() && !self.others)
    }

    fn take(&mut self, session: Session) -> Option<Session> {
        let taken = match &mut self.selection {
            Some(selection) => selection.take(session),
            None => Selected::Wanted(session),
        };
        self.selected = matches!(taken, Selected::Wanted(_));
        match taken {
            Selected::Wanted(session) if self.holds() => self.withheld.replace(session),
            Selected::Wanted(session) => Some(session),
            Selected::Other(session) => Some(session).filter(|_| self.others),
            Selected::Waits => None,
        }
    }

    /// Finishes after the last session.
    fn end(&mut self) -> anyhow::Result<Option<Session>> {
        self.ended = true;
        if self.unreported.is_some() {
            return Ok(None);
        }
        if let Some(error) = self.error.take() {
            return Err(error.into());
        }
        if let Some(selection) = &self.selection {
            selection.finish().map_err(|error| named(error, &self.label))?;
            if !self.others {
                report_skipped(self.context, &self.label, self.reading, selection)?;
            }
        }
        Ok(self.withheld.take())
    }
}

/// Reports skipped branches and sidechains.
fn report_skipped(
    context: &Context,
    label: &str,
    reading: InputSettings<'_>,
    selection: &SessionSelection<'_>,
) -> anyhow::Result<()> {
    let left = selection.skipped_counts();
    if left.is_empty() {
        return Ok(());
    }
    if reading.exports {
        let mut report = Report::default();
        for (side_branch, count) in left {
            let loss = match side_branch {
                SideBranch::Branch => Loss::Branch,
                SideBranch::Sidechain => Loss::Sidechain,
            };
            report.count_loss(loss, *count);
        }
        context.output.report(label, &mut report);
        if reading.args.strict {
            return Err(named(losses_refused(), label).into());
        }
    }
    let counts: Vec<String> = left
        .iter()
        .map(|(side_branch, count)| branch_count(*side_branch, *count))
        .collect();
    let what = format!(
        "skipped {}; include them with --all-branches, or read one with --branch N",
        counts.join(" and ")
    );
    context.output.notice(label, &what);
    Ok(())
}

fn branch_count(side_branch: SideBranch, count: u64) -> String {
    let ending = |one: &'static str, more: &'static str| if count == 1 { one } else { more };
    match side_branch {
        SideBranch::Branch => format!("{count} {}", ending("branch", "branches")),
        SideBranch::Sidechain => format!("{count} {}", ending("sidechain", "sidechains")),
    }
}
