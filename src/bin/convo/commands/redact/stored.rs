//! Redacts stored sessions permanently.

use super::RedactCommand;
use super::input::InputLine;
use super::pass::{Pass, PassSettings};
use super::report::RedactionReport;
use crate::context::Context;
use crate::errors::named;
use convo::error::Result;
use convo::model::json::{self, ObjectBuilder};
use convo::store::{Redacted, Redaction};

/// Redacts one session in all its files.
struct StoredRedaction<'a> {
    pass: Pass<'a>,
    id: String,
    at: String,
}

impl Redaction for StoredRedaction<'_> {
    fn prepare(&mut self, bytes: &[u8]) {
        self.pass.redactor.reserve(bytes);
    }

    fn line(&mut self, file: &str, number: u64, line: &[u8]) -> Result<Option<Vec<u8>>> {
        self.pass.label = file.to_string();
        self.pass.take(&InputLine {
            number,
            bytes: line,
            end: b"",
        })
    }

    fn event(&mut self, files: &[Redacted]) -> Vec<u8> {
        let is_of = |input: &str| files.iter().any(|file| file.file == input);
        let kinds = serde_json::json!(self.pass.findings.kinds(is_of)).to_string();
        let lines: u64 = files.iter().map(|file| file.lines).sum();
        let mut event = ObjectBuilder::default();
        event
            .text("type", "redact")
            .text("id", &self.id)
            .text("at", &self.at)
            .raw("kinds", kinds)
            .raw("lines", lines.to_string());
        event.finish()
    }
}

impl RedactCommand {
    /// Redacts a stored session; with --dry-run, the findings in its files are added to the plan.
    pub fn stored(
        &self,
        context: &Context,
        name: &str,
        settings: &PassSettings,
        plan: &mut RedactionReport,
    ) -> anyhow::Result<()> {
        let store = context.store()?;
        let id = store.resolve(name)?;
        let size = store.size(&id)?;
        let mut everywhere = StoredRedaction {
            pass: Pass::of_store(settings, &id),
            id: context.new_id("evt_", || format!("redact {id} {size}"))?,
            at: context.clock.now(),
        };
        let changed = store.redact(&id, &mut everywhere, self.dry_run);
        let changed = changed.map_err(|error| named(error, name))?;
        let mut pass = everywhere.pass;
        pass.label = name.to_string();
        if self.dry_run {
            plan.extend(pass.findings);
            return Ok(());
        }
        pass.report(context);
        let source = store.first_line(&id).ok();
        let source = source.as_deref().and_then(|line| json::member(line, "source"));
        if let Some(file) = source.and_then(|source| json::member_text(source, "name"))
            && !changed.is_empty()
        {
            let what =
                format!("the imported file '{file}' was not redacted; to migrate it again restores its text");
            context.output.notice(name, &what);
        }
        Ok(())
    }
}
