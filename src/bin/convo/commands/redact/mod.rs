//! `redact`: removes secrets and personal data.

mod input;
mod options;
mod pass;
mod report;
mod stored;

use super::Run;
use crate::args::{DamageArgs, InputLocation};
use crate::context::Context;
use crate::edit::replaced_file;
use crate::errors::{mixed, named};
use crate::homes;
use crate::input::{operands, regular, report_and_continue};
use crate::output::path_name;
use crate::writing::{rewrite, write_output};
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::filter::materialize::LineJoiner;
use convo::store::{FileStat, Rewrite, sync_file};
use input::{InputLine, LineVisitor, RedactSources, each_line};
use options::RedactOptions;
use pass::{Pass, PassSettings};
use report::RedactionReport;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Remove secrets and personal data
///
/// Replaces API keys, tokens, passwords, private keys and other secrets by placeholders such as
/// [REDACTED:github-token:1f0c93a2]. Equal values have equal placeholders. Searches every text of a session: messages, tool
/// arguments and results, reasoning, metadata; also in JSON in strings, percent-encoding and Base64. Reads JSON, JSON Lines
/// and text of any format; lines without a finding keep their bytes. Ids are kept; a signed part whose text would change is
/// dropped. Encrypted parts cannot be read and are kept.
///
/// A stored session is redacted for good, in its log, the archive, the quarantine and the trash; nothing restores the text.
///
/// Detection is by shape, checksum and the words around a value. It misses some secrets: revoke a key that was shared.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo redact session.jsonl > shared.jsonl
  convo cat chat | convo redact --personal all > shared.jsonl
  convo redact -i=.bak session.jsonl                     change the file, keep the original
  convo redact -n chat; convo redact chat                a stored session, for good
  convo redact --check *.jsonl                           status 1 if there is a secret
  git diff --cached --name-only -z -- '*.jsonl' | xargs -0 -r convo redact --check -q")]
pub struct RedactCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    options: RedactOptions,
    #[command(flatten)]
    _damage: DamageArgs,
    /// Only report findings; status 1 if there is one
    #[arg(long, conflicts_with_all = ["in_place", "output"], help_heading = "Output")]
    check: bool,
    /// Rewrite the file; keep the original as FILE+SUFFIX
    #[arg(short, long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["output", "damage_ok"], help_heading = "Output")]
    in_place: Option<String>,
    /// Write to this file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Print a redacted copy of a stored session
    #[arg(long, conflicts_with = "in_place", help_heading = "Output")]
    stdout: bool,
    /// Print the files that would change; change nothing
    #[arg(short = 'n', long, conflicts_with_all = ["check", "output", "stdout"], help_heading = "Output")]
    dry_run: bool,
    /// With --check: print one object per finding
    #[arg(long, requires = "check", help_heading = "Output")]
    json: bool,
}

impl Run for RedactCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let settings = self.options.settings()?;
        let inputs = operands::inputs(context, &self.inputs)?;
        if self.check {
            let mut findings = RedactionReport::default();
            for input in &inputs {
                let mut pass = Pass::new(&settings, &input.label());
                let done = self.each(context, input, &mut |line| Ok(pass.take(line).map(drop)?));
                pass.report_damage(context);
                findings.extend(pass.findings);
                report_and_continue(context, done, inputs.len())?;
            }
            return findings.print(context, self.json);
        }
        let stored = inputs.iter().filter(|input| self.is_stored(input)).count();
        if self.in_place.is_some() || stored > 0 {
            if self.in_place.is_none() && stored < inputs.len() {
                return Err(mixed().into());
            }
            if self.in_place.is_some() {
                inputs
                    .iter()
                    .try_for_each(|input| replaced_file(input).map(drop))?;
            }
            let mut plan = RedactionReport::default();
            for input in &inputs {
                let done = match input {
                    InputLocation::Name(name) if self.in_place.is_none() => {
                        self.stored(context, name, &settings, &mut plan)
                    }
                    input => self.rewrite(context, input, &settings, &mut plan),
                };
                report_and_continue(context, done, inputs.len())?;
            }
            return if self.dry_run {
                plan.print_plan(context)
            } else {
                Ok(())
            };
        }
        if self.dry_run {
            let error = Error::usage("-n requires -i or a stored session");
            return Err(error.hint("list findings with: --check").into());
        }
        let write = |out: &mut dyn Write| {
            let mut out = LineJoiner::new(out);
            for input in &inputs {
                out.separate();
                let mut pass = Pass::new(&settings, &input.label());
                let done = self.each(context, input, &mut |line| {
                    let bytes = pass.take(line)?;
                    Ok(write_line(&mut out, line, bytes)?)
                });
                report_and_continue(context, done, inputs.len())?;
                pass.report(context);
            }
            Ok(())
        };
        write_output(context, self.output.as_deref(), write)
    }
}

/// Writes a line, or its new bytes.
fn write_line(out: &mut dyn Write, line: &InputLine<'_>, new: Option<Vec<u8>>) -> convo::Result<()> {
    out.write_all(new.as_deref().unwrap_or(line.bytes))
        .and_then(|()| out.write_all(line.end))
        .map_err(|error| Error::io("cannot write", error))
}

impl RedactCommand {
    /// Whether the input is a stored session to change.
    fn is_stored(&self, input: &InputLocation) -> bool {
        matches!(input, InputLocation::Name(_)) && !self.stdout && self.output.is_none()
    }

    fn each(&self, context: &Context, input: &InputLocation, take: LineVisitor<'_>) -> anyhow::Result<()> {
        let label = input.label();
        match input {
            InputLocation::Name(_) | InputLocation::Row(..) => RedactSources::stored(context, input, take),
            InputLocation::Stdin => {
                each_line(RedactSources::stdin()?, take).map_err(|error| at(error, &label))
            }
            InputLocation::Path(path) => {
                let file = regular::open(path).map_err(|error| named(error, &label))?;
                each_line(RedactSources::file(file), take).map_err(|error| at(error, &label))
            }
        }
    }

    /// Replaces a file if there are findings. Reads the file twice instead of holding it in memory.
    fn rewrite(
        &self,
        context: &Context,
        input: &InputLocation,
        settings: &PassSettings,
        plan: &mut RedactionReport,
    ) -> anyhow::Result<()> {
        let label = input.label();
        let path = replaced_file(input)?;
        let suffix = self.in_place.as_deref().unwrap_or_default();
        context.refuse_running(path, false)?;
        if path.is_symlink() {
            let error = Error::new(ErrorKind::Unsafe, "not a regular file");
            return Err(named(
                error.hint("symbolic links, pipes and devices are not supported"),
                &label,
            )
            .into());
        }
        let open = || regular::open(path).map_err(|error| named(error, &label));
        let file = open()?;
        let facts = FileStat::of(&file).map_err(|error| named(Error::io("cannot read", error), &label))?;
        let mut pass = Pass::new(settings, &label);
        each_line(RedactSources::file(file), &mut |line| {
            Ok(pass.take(line).map(drop)?)
        })
        .map_err(|error| at(error, &label))?;
        if self.dry_run {
            pass.report_damage(context);
            plan.extend(pass.findings);
            return Ok(());
        }
        if !pass.is_change {
            // A killed run may have replaced the file without syncing it.
            sync_file(path).map_err(|error| named(error, &label))?;
        } else {
            let options = Rewrite {
                backup: Some(suffix.into()).filter(|_| !suffix.is_empty()),
                read: Some(facts),
                lock_timeout: context.lock_timeout(),
                ..Rewrite::default()
            };
            // The cached overviews may contain a title of the file.
            homes::remove_cache()?;
            let mut again = Pass::new(settings, &label);
            rewrite(path, &options, &label, |out| {
                each_line(RedactSources::file(open()?), &mut |line| {
                    let bytes = again.take(line)?;
                    Ok(write_line(out, line, bytes)?)
                })
            })?;
        }
        let is_change = pass.is_change;
        pass.report(context);
        for copy in copies(path).into_iter().filter(|_| is_change) {
            context
                .output
                .notice(&label, &format!("not redacted: {}", path_name(&copy)));
        }
        Ok(())
    }
}

/// Returns files next to a session's file that may contain the same text: its sidecar, copies of other programs, and
/// the archive of `gc -i`.
fn copies(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut copies = vec![path.with_extension("meta.json")];
    copies.extend([".bak", ".temp"].map(|suffix| path.with_file_name(format!("{name}{suffix}"))));
    copies.push(path.with_file_name(".convo/archive").join(&*name));
    copies.retain(|copy| copy.is_file());
    copies
}

/// Adds the name of the input to an error.
fn at(error: anyhow::Error, label: &str) -> anyhow::Error {
    match error.downcast::<Error>() {
        Ok(error) if error.at.is_none() && error.kind != ErrorKind::InputOutput => named(error, label).into(),
        Ok(error) => error.into(),
        Err(error) => error,
    }
}
