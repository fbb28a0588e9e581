//! `redact`: removes secrets and personal data.

mod input;
mod options;
mod report;

use super::Run;
use crate::args::Input;
use crate::context::{Context, named};
use crate::input::{regular, report_and_continue};
use crate::output::path_name;
use crate::writing::rewrite;
use clap::Args;
use convo::error::{Error, Kind};
use convo::filter::redact::Redactor;
use convo::store::{Facts, Rewrite};
use input::{Sources, each_line};
use options::RedactOptions;
use report::Report;
use std::io::Write;
use std::path::PathBuf;

/// Remove secrets and personal data
///
/// Replaces API keys, tokens, passwords, private keys and other secrets by placeholders such as
/// [REDACTED:github-token:1f0c93a2]. Equal values have equal placeholders. Searches every text of a session: messages, tool
/// arguments and results, reasoning, metadata; also in JSON in strings, percent-encoding and Base64. Reads JSON, JSON Lines
/// and text of any format; lines without a finding keep their bytes. Ids are kept; a signed part whose text would change is
/// dropped. Encrypted parts cannot be read and are kept.
///
/// Detection is by shape, checksum and the words around a value. It misses some secrets: revoke a key that was shared.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo redact session.jsonl > shared.jsonl
  convo cat chat | convo redact --personal all > shared.jsonl
  convo redact -i=.bak session.jsonl                     change the file, keep the original
  convo redact --check *.jsonl                           status 1 if there is a secret
  git diff --cached --name-only -z -- '*.jsonl' | xargs -0 -r convo redact --check -q")]
pub struct Redact {
    /// Files, session names with --check or --stdout, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    options: RedactOptions,
    /// Only report findings; status 1 if there is one
    #[arg(long, conflicts_with_all = ["in_place", "output"], help_heading = "Output")]
    check: bool,
    /// Rewrite the input file; keep the original as FILE+SUFFIX
    #[arg(short, long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with = "output", help_heading = "Output")]
    in_place: Option<String>,
    /// Write to this file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Print a redacted copy of a stored session
    #[arg(long, conflicts_with = "in_place", help_heading = "Output")]
    stdout: bool,
    /// With --check: print one object per finding
    #[arg(long, requires = "check", help_heading = "Output")]
    json: bool,
}

impl Run for Redact {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let settings = self.options.settings()?;
        let inputs = context.inputs(&self.inputs)?;
        let redactor = || Redactor::new(settings.clone());
        if self.check {
            let mut findings = Report::new(self.json);
            for input in &inputs {
                let mut redactor = redactor();
                let done = self.each(context, input, &mut |label, number, line, _| {
                    findings.add(label, number, line, redactor.redact(line));
                    Ok(())
                });
                report_and_continue(context, done, inputs.len())?;
            }
            return findings.print(context);
        }
        if let Some(suffix) = &self.in_place {
            for input in &inputs {
                let done = self.rewrite(context, input, suffix, redactor());
                report_and_continue(context, done, inputs.len())?;
            }
            return Ok(());
        }
        let write = |out: &mut dyn Write| {
            for input in &inputs {
                let mut redactor = redactor();
                let mut report = Report::new(false);
                let done = self.each(context, input, &mut |label, number, line, end| {
                    let outcome = redactor.redact(line);
                    let bytes = outcome.bytes.as_deref().unwrap_or(line);
                    let written = out.write_all(bytes).and_then(|()| out.write_all(end));
                    report.add(label, number, line, outcome);
                    Ok(written.map_err(|error| Error::io("cannot write", error))?)
                });
                report_and_continue(context, done, inputs.len())?;
                report.tell(context, &input.label(), &redactor);
            }
            Ok(())
        };
        match &self.output {
            None => context.output.stdout(write),
            Some(path) => {
                let options = Rewrite {
                    lock_timeout: context.lock_timeout(),
                    ..Rewrite::default()
                };
                rewrite(path, &options, &path_name(path), write)
            }
        }
    }
}

/// Takes a line: the input's name, the line's number, its bytes, and what ends it.
type Take<'t> = &'t mut dyn FnMut(&str, u64, &[u8], &[u8]) -> anyhow::Result<()>;

impl Redact {
    fn each(&self, context: &Context, input: &Input, take: Take<'_>) -> anyhow::Result<()> {
        let label = input.label();
        match input {
            Input::Name(name) if !self.check && !self.stdout => {
                let error = Error::new(
                    Kind::Usage,
                    format!("{name}: redact does not change stored sessions"),
                );
                Err(error
                    .hint(format!(
                        "print a redacted copy with: convo redact --stdout {name}"
                    ))
                    .into())
            }
            Input::Name(_) => Sources::stored(context, input, &mut |number, line| {
                take(&label, number, line, b"\n")
            }),
            Input::Stdin => {
                let stdin = Sources::stdin()?;
                each_line(stdin, &mut |number, line, end| take(&label, number, line, end))
                    .map_err(|error| at(error, &label))
            }
            Input::Path(path) => {
                let file = regular::open(path).map_err(|error| named(error, &label))?;
                each_line(Sources::file(file), &mut |number, line, end| {
                    take(&label, number, line, end)
                })
                .map_err(|error| at(error, &label))
            }
        }
    }

    /// Replaces a file, unless nothing is found.
    fn rewrite(
        &self,
        context: &Context,
        input: &Input,
        suffix: &str,
        redactor: Redactor,
    ) -> anyhow::Result<()> {
        let Input::Path(path) = input else {
            return Err(Error::new(Kind::Usage, "-i requires a file").into());
        };
        let label = input.label();
        if path.is_symlink() {
            let error = Error::new(Kind::Unsafe, "not a regular file");
            return Err(named(
                error.hint("symbolic links, pipes and devices are not supported"),
                &label,
            )
            .into());
        }
        let file = regular::open(path).map_err(|error| named(error, &label))?;
        let facts = Facts::of(&file).map_err(|error| named(Error::io("cannot read", error), &label))?;
        let mut redactor = redactor;
        let mut report = Report::new(false);
        let mut bytes = Vec::new();
        each_line(Sources::file(file), &mut |number, line, end| {
            let outcome = redactor.redact(line);
            bytes.extend_from_slice(outcome.bytes.as_deref().unwrap_or(line));
            bytes.extend_from_slice(end);
            report.add(&label, number, line, outcome);
            Ok(())
        })
        .map_err(|error| at(error, &label))?;
        if !report.is_empty() {
            let options = Rewrite {
                backup: Some(suffix.into()).filter(|_| !suffix.is_empty()),
                read: Some(facts),
                lock_timeout: context.lock_timeout(),
                ..Rewrite::default()
            };
            rewrite(path, &options, &label, |out| {
                Ok(out
                    .write_all(&bytes)
                    .map_err(|error| Error::io("cannot write", error))?)
            })?;
        }
        report.tell(context, &label, &redactor);
        Ok(())
    }
}

/// Adds the name of the input to an error of its own.
fn at(error: anyhow::Error, label: &str) -> anyhow::Error {
    match error.downcast::<Error>() {
        Ok(error) if error.at.is_none() && error.kind != Kind::InputOutput => named(error, label).into(),
        Ok(error) => error.into(),
        Err(error) => error,
    }
}
