//! Redacts one input.

use super::input::InputLine;
use super::report::RedactionReport;
use crate::context::Context;
use convo::error::{Error, ErrorKind, Position, Result};
use convo::filter::redact::{Redactor, RedactorOptions};
use convo::format::{self, packed};

/// Options and report of a redaction, shared by all inputs.
pub struct PassSettings {
    pub options: RedactorOptions,
    /// Whether a signed part must not change.
    pub refuses_signed: bool,
}

/// State of redacting one input.
pub struct Pass<'a> {
    settings: &'a PassSettings,
    pub redactor: Redactor,
    pub findings: RedactionReport,
    /// The name of the input in messages.
    pub label: String,
    damage: format::report::Report,
    offset: u64,
    /// Whether the input is JSON, so that a line that is not JSON is damaged; unknown before the first line.
    is_json: Option<bool>,
    /// Whether any line changed.
    pub is_change: bool,
}

impl<'a> Pass<'a> {
    pub fn new(settings: &'a PassSettings, label: &str) -> Pass<'a> {
        Pass {
            settings,
            redactor: Redactor::new(settings.options.clone()),
            findings: RedactionReport::default(),
            label: label.to_string(),
            damage: format::report::Report::default(),
            offset: 0,
            is_json: None,
            is_change: false,
        }
    }

    /// Returns a pass over files of a store, which reports their damage itself.
    pub fn of_store(settings: &'a PassSettings, label: &str) -> Pass<'a> {
        Pass {
            is_json: Some(false),
            ..Pass::new(settings, label)
        }
    }

    /// Redacts a line; none if it is unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::No`] if a signed part would change and must not.
    pub fn take(&mut self, line: &InputLine<'_>) -> Result<Option<Vec<u8>>> {
        let place = Position {
            line: line.number,
            offset: self.offset,
        };
        self.offset += (line.bytes.len() + line.end.len()) as u64;
        let signed = self.redactor.signed();
        self.redactor.reserve(line.bytes);
        let outcome = self.redactor.redact(line.bytes);
        if self.settings.refuses_signed && self.redactor.signed() > signed {
            let error = Error::new(ErrorKind::No, "a signed part contains a secret");
            return Err(error
                .at(self.label.clone(), place)
                .hint("drop such parts with: --signed drop"));
        }
        let text = line.bytes.trim_ascii();
        if !text.is_empty() {
            let is_json = *self
                .is_json
                .get_or_insert(!outcome.is_text || text.starts_with(b"{"));
            if is_json && outcome.is_text {
                self.damage.damage(place, "not a JSON object; searched as text");
            }
        }
        self.is_change |= outcome.bytes.is_some();
        self.findings
            .add(&self.label, line.number, line.bytes, outcome.findings);
        // The hash of the line before could be compared with guesses of a secret.
        Ok(outcome.bytes.map(packed::without_hash))
    }

    /// Reports damaged lines.
    pub fn report_damage(&mut self, context: &Context) {
        context.output.report(&self.label, &mut self.damage);
    }

    /// Reports replacements and damaged lines.
    pub fn report(mut self, context: &Context) {
        self.report_damage(context);
        let words = self.findings.words(&self.redactor, &self.settings.options);
        context.output.notice(&self.label, &words);
    }
}
