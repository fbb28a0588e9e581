//! A change of sessions as a command requests it: the options of the user, and what the command adds.

use crate::args::{EditArgs, InputArgs, InputLocation};
use crate::context::Context;
use crate::input::InputSettings;
use crate::writing::OutputFormat;
use convo::error::{Error, Result};
use convo::format::Format;

/// A change of sessions.
#[derive(Clone, Copy, Debug)]
pub struct EditRequest<'a> {
    pub reading: InputSettings<'a>,
    pub args: &'a EditArgs,
    /// The output format, once determined.
    pub to: Option<Format>,
    /// The result is the complete log, including the new records.
    pub full_log: bool,
    /// The change only appends: the session need not be read.
    pub append_only: bool,
    /// A missing file is created.
    pub creates: bool,
    /// The command reports a dry run itself.
    pub custom_dry_run: bool,
    /// A change of a stream is reported like one of a stored session.
    pub reports: bool,
    /// The plan uses only the view, so the rest of a stored log need not be read.
    pub view_only: bool,
    /// The plan uses only the events, so long message values of a stored log need not be kept in memory.
    pub events_only: bool,
}

impl<'a> EditRequest<'a> {
    /// Uses only the options of the user.
    pub fn new(reading: impl Into<InputSettings<'a>>, args: &'a EditArgs) -> EditRequest<'a> {
        EditRequest {
            reading: reading.into(),
            args,
            to: None,
            full_log: false,
            append_only: false,
            creates: false,
            custom_dry_run: false,
            reports: false,
            view_only: false,
            events_only: false,
        }
    }

    /// Determines the output format, unless that is done. A complete log is always a record stream.
    pub fn resolve(mut self, inputs: &[InputLocation], input_args: &InputArgs) -> Result<EditRequest<'a>> {
        let is_log = self.full_log && !self.append_only && self.args.writing.to.is_none();
        if self.to.is_none() && !is_log {
            self.to = self.args.writing.resolve(inputs, input_args)?.to;
        }
        Ok(self)
    }

    /// Refuses options that contradict each other.
    pub fn check(&self) -> Result<()> {
        self.writing().check()?;
        if self.args.force && self.args.in_place.is_none() {
            return Err(Error::usage("--force requires -i"));
        }
        let is_other = |to| !matches!(to, Format::Native | Format::Jsonl);
        if self.full_log && !self.append_only && self.to.is_some_and(is_other) {
            let error = Error::usage("--log conflicts with --to FORMAT");
            return Err(error.hint("omit one of them"));
        }
        Ok(())
    }

    pub fn writing(&self) -> OutputFormat<'a> {
        self.args.writing.writing(self.to)
    }

    /// Whether a change of this input goes to the store.
    pub fn in_store(&self, input: &InputLocation) -> bool {
        matches!(input, InputLocation::Name(_)) && !self.args.stdout && !self.args.writing.is_elsewhere()
    }

    /// Whether inputs that are not in the store are rewritten.
    pub fn in_place(&self) -> bool {
        self.args.in_place.is_some()
    }

    /// The suffix of the name under which a rewritten file is kept.
    pub fn backup(&self) -> Option<&'a str> {
        self.args.in_place.as_deref().filter(|suffix| !suffix.is_empty())
    }

    /// Whether a finished change of a stream or file is reported.
    pub fn is_described(&self, context: &Context) -> bool {
        match self.reports {
            true => !context.output.is_quiet(),
            false => context.output.verbose,
        }
    }

    /// Reports a finished change of a stream or file; without [`EditRequest::reports`] only with `-v`.
    pub fn describe(&self, context: &Context, label: &str, what: &str) {
        match self.reports {
            _ if what.is_empty() => {}
            true => context.output.notice(label, what),
            false => context.output.detail(label, what),
        }
    }
}
