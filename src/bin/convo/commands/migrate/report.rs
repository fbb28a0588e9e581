//! Reports a run: one line per source, its damage and losses, and a summary.

use super::inspect::{ExaminedFile, Refusal};
use super::plan::{self, MigrationOutcome, MigrationStep};
use crate::args::TimeOptions;
use crate::context::Context;
use crate::input::file_discovery;
use crate::output::{columns, path_name};
use crate::terminal::table::{Column, Table};
use crate::terminal::time_format::Times;
use convo::error::{Error, Position};
use convo::format::report::{Report, describe_losses};
use std::collections::BTreeMap;
use std::path::Path;

/// Reports a directory without files to read; if all were renamed by `--mark`, this is not an error.
pub fn report_empty_directory(context: &Context, path: &Path, marked: usize, recursive: bool) {
    match marked {
        0 => context
            .output
            .error(&file_discovery::empty_directory(path, recursive)),
        marked => {
            let before = format!(
                "no session files found; {} renamed by --mark",
                file_count(marked as u64)
            );
            context.output.notice(&path_name(path), &before);
        }
    }
}

pub struct ReportOptions<'t> {
    pub context: &'t Context,
    pub json: bool,
    pub null: bool,
    pub dry_run: bool,
    /// Whether the target is the store.
    pub stores: bool,
}

const COLUMNS: [Column; 4] = [
    Column::text("OUTCOME"),
    Column::path("FILE"),
    Column::dim("SESSION").at_most(12),
    Column::number("MSGS"),
];

impl ReportOptions<'_> {
    /// Prints one line per file and a summary. `names` returns the target files of a session whose name differs from
    /// its id.
    pub fn all<'n>(
        &self,
        examined: &'n [ExaminedFile],
        steps: &[MigrationStep],
        names: &dyn Fn(&MigrationStep) -> &'n [String],
    ) -> anyhow::Result<()> {
        let context = self.context;
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut lines = String::new();
        let mut rows = Vec::new();
        let mut losses = BTreeMap::new();
        let lists_losses = context.output.has_json_diagnostics() || context.output.verbose;
        let mut notes: BTreeMap<&str, u64> = BTreeMap::new();
        for (file, examined) in examined.iter().enumerate() {
            let own = plan::of_file(steps, file);
            let row = plan::row(examined, own, names);
            *counts.entry(row.outcome.name()).or_default() += 1;
            match self.json {
                true => lines.push_str(&(row.json() + if self.null { "\0" } else { "\n" })),
                false => rows.push(row.cells(self.dry_run)),
            }
            // Findings about a whole file that are not damage often apply to many files: print each once, with the
            // number of files.
            let (general, own_findings): (Vec<_>, Vec<_>) = examined
                .findings
                .iter()
                .partition(|finding| !finding.damage && finding.place.line == 0);
            general
                .iter()
                .for_each(|finding| *notes.entry(&finding.what).or_default() += 1);
            let mut report = Report {
                findings: own_findings.into_iter().cloned().collect(),
                ..Report::default()
            };
            match lists_losses {
                true => report.losses = examined.losses.clone(),
                false => examined
                    .losses
                    .iter()
                    .for_each(|(loss, count)| *losses.entry(*loss).or_insert(0) += count),
            }
            context.output.report(&path_name(&examined.path), &mut report);
            self.errors(examined, own);
        }
        for (note, files) in notes {
            context
                .output
                .notice("", &format!("{}: {note}", file_count(files)));
        }
        if self.json {
            let all = serde_json::json!({
                "schema": "convo.migrate-summary/1", "files": examined.len(), "outcomes": counts, "dry_run": self.dry_run,
            });
            lines.push_str(&format!("{all}\n"));
        }
        let times = Times::new(TimeOptions::default(), &context.clock);
        let printed = match self.json {
            false => Table::new(&COLUMNS, &times)
                .null(self.null)
                .print(&context.output, rows.into_iter()),
            true => context.output.stdout(|out| {
                Ok(out
                    .write_all(lines.as_bytes())
                    .map_err(|error| Error::io("cannot write", error))?)
            }),
        };
        let is_change = |step: &MigrationStep| {
            matches!(
                step.outcome,
                MigrationOutcome::Migrated | MigrationOutcome::Updated
            )
        };
        match !self.dry_run && steps.iter().any(is_change) {
            true => context.output.done(printed)?,
            false => printed?,
        }
        if let Some(what) = describe_losses(&losses, None) {
            context
                .output
                .notice("", &format!("{what}; -v lists them for each file"));
        }
        if !self.json {
            self.summary(&counts, examined.len());
        }
        if !self.dry_run && self.stores && columns().is_some() && steps.iter().any(is_change) {
            context.output.notice("", "list sessions with: convo list");
        }
        Ok(())
    }

    /// Prints the errors of a file and its sessions.
    fn errors(&self, examined: &ExaminedFile, steps: &[MigrationStep]) {
        let label = path_name(&examined.path);
        let report_error = |error: &Error, place: Position| {
            let reported = Error::new(error.kind, error.message.clone()).at(&label, place);
            self.context.output.error(&Error {
                hint: error.hint.clone(),
                ..reported
            });
        };
        for error in steps.iter().filter_map(|step| step.error.as_ref()) {
            report_error(error, Position::default());
        }
        if let Err(refusal) = &examined.found {
            let (Refusal::NotASession(error) | Refusal::Damaged(error) | Refusal::Failed(error)) = refusal;
            report_error(
                error,
                error.at.as_ref().map(|(_, place)| *place).unwrap_or_default(),
            );
        }
    }

    fn summary(&self, counts: &BTreeMap<&str, u64>, files: usize) {
        let reported = MigrationOutcome::ALL.iter().filter_map(|outcome| {
            let count = counts.get(outcome.name())?;
            Some(match (outcome, self.dry_run) {
                (MigrationOutcome::Migrated, true) => format!("{count} to migrate"),
                (MigrationOutcome::Updated, true) => format!("{count} to update"),
                (MigrationOutcome::Notice, _) => plural_notices(*count),
                _ => format!("{count} {}", outcome.name()),
            })
        });
        let mut reported = reported.collect::<Vec<_>>().join(", ");
        if reported.is_empty() {
            reported = "nothing to do".to_string();
        }
        let would = if self.dry_run {
            "dry run, nothing written: "
        } else {
            ""
        };
        let files = file_count(files as u64);
        self.context
            .output
            .notice("", &format!("{would}{files}: {reported}"));
    }
}

fn plural_notices(count: u64) -> String {
    if count == 1 {
        "1 notice".to_string()
    } else {
        format!("{count} notices")
    }
}

/// Formats a number of files.
pub fn file_count(files: u64) -> String {
    if files == 1 {
        "1 file".to_string()
    } else {
        format!("{files} files")
    }
}
