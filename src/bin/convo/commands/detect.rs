//! `detect`: prints the format of an input and the evidence for it.

use super::Run;
use crate::args::{InputLocation, TimeOptions};
use crate::context::Context;
use crate::errors::named;
use crate::input::input_source::{detect_file, from_hint, unwrapped};
use crate::input::{operands, report_and_continue};
use crate::output::columns;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use clap::Args;
use convo::error::Error;
use convo::format::Format;
use convo::format::detect::Detection;
use std::fs::File;
use std::io::{self, IsTerminal};

/// Identify the format of an input
///
/// Prints the format name for --from. Examines the first 64 KiB and neighboring files, and looks inside gzip and Base64.
/// Inputs that are not sessions, or are in an unsupported format, are reported with status 65; the name of an unsupported
/// format is printed too. If several formats match, prints the one that will be used and reports the others; with
/// --strict, this is an error.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo detect session.json
  cat session.json | convo detect
  convo detect --json ~/logs/*.jsonl | jq -r 'select(.format==null).input'", after_long_help = listed())]
pub struct DetectCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Fail if the format is ambiguous
    #[arg(long, help_heading = "Input")]
    strict: bool,
    /// End each line with NUL
    #[arg(short = '0', long, conflicts_with = "json", help_heading = "Output")]
    null: bool,
    /// Print one object per input with all candidates and evidence
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Columns for several inputs.
const COLUMNS: [Column; 2] = [Column::rest("INPUT"), Column::text("FORMAT")];

impl Run for DetectCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let inputs = operands::inputs(context, &self.inputs)?;
        let several = inputs.len() > 1;
        // On a terminal, several inputs are a table, whose column widths require all of them.
        let is_table = several && !self.json && !self.null && columns().is_some();
        let mut rows = Vec::new();
        for input in &inputs {
            let done = verdict(context, input)
                .map_err(|error| named(error, &input.label()))
                .map_err(anyhow::Error::from)
                .and_then(|verdict| {
                    if let (true, Some(name)) = (is_table, verdict.name) {
                        rows.push(vec![Cell::Text(input.label()), Cell::Text(name.to_string())]);
                    }
                    self.report(context, input, &verdict, several, !is_table)
                });
            report_and_continue(context, done, inputs.len())?;
        }
        if !is_table {
            return Ok(());
        }
        let times = Times::new(TimeOptions::default(), &context.clock);
        Table::new(&COLUMNS, &times).print(&context.output, rows.into_iter())
    }
}

/// Lists the formats, one per line.
fn listed() -> String {
    let line = |format: Format| {
        let read = if format.is_read() { 'r' } else { '-' };
        let written = if format.is_written() { 'w' } else { '-' };
        format!("\n  {read}{written}  {:<19}{}", format.name(), format.about())
    };
    let lines: String = Format::ALL.into_iter().map(line).collect();
    format!("Formats (r: read, w: written):{lines}")
}

fn verdict(context: &Context, input: &InputLocation) -> convo::Result<Detection> {
    match input {
        InputLocation::Name(name) => {
            let store = context.store()?;
            store.reader(&store.resolve(name)?)?;
            Ok(Detection::certain(Format::Native, "a stored session"))
        }
        InputLocation::Row(..) => Ok(Detection::certain(Format::Native, "a session in a database")),
        InputLocation::Stdin => {
            if io::stdin().is_terminal() {
                return Err(Error::usage("no input: standard input is a terminal")
                    .hint("give a session or file, or pipe one in"));
            }
            let (head, whole, _) = unwrapped(&mut io::stdin().lock())?;
            Ok(detect_file(&head, whole, None))
        }
        InputLocation::Path(path) => {
            let mut file = File::open(path).map_err(Error::open)?;
            let about = file.metadata().map_err(|error| Error::io("cannot read", error))?;
            if about.is_dir() {
                return Err(Error::usage("is a directory").hint("give the files in the directory"));
            }
            let (head, whole, _) = unwrapped(&mut file)?;
            Ok(detect_file(&head, whole, Some(path)))
        }
    }
}

impl DetectCommand {
    fn report(
        &self,
        context: &Context,
        input: &InputLocation,
        verdict: &Detection,
        several: bool,
        prints: bool,
    ) -> anyhow::Result<()> {
        let label = input.label();
        let line = if self.json {
            let candidates: Vec<_> = verdict
                .candidates()
                .into_iter()
                .map(|one| serde_json::json!({"format": one.name, "evidence": one.evidence}))
                .collect();
            let reported = serde_json::json!({
                "schema": "convo.detect/1", "input": label, "format": verdict.name, "confidence": verdict.confidence(),
                "read": verdict.format.is_some(), "evidence": verdict.evidence, "candidates": candidates,
            });
            Some(reported.to_string())
        } else {
            verdict.name.map(|name| match several {
                true => format!("{label}\t{name}"),
                false => name.to_string(),
            })
        };
        context.output.rows(self.null, line.filter(|_| prints))?;
        if verdict.format.is_none() {
            let error = Error::data(verdict.evidence.clone());
            let error = match (verdict.hint, verdict.name) {
                (Some(hint), _) => error.hint(hint),
                (None, None) => error.hint(from_hint()),
                (None, Some(_)) => error,
            };
            return Err(named(error, &label).into());
        }
        if !verdict.others.is_empty() {
            let what = format!("ambiguous format: also matches {}", verdict.others.join(", "));
            if self.strict {
                return Err(named(Error::data(what), &label).into());
            }
            context.output.notice(&label, &what);
        }
        Ok(())
    }
}
