//! `slim`: removes data that resuming a session does not need.

mod images;
mod replace;
mod report;
mod source;

use super::Run;
use crate::args::{InputLocation, readable};
use crate::context::Context;
use crate::errors::named;
use crate::input::{operands, regular, report_and_continue};
use crate::writing::write_output;
use clap::Args;
use convo::error::{Error, Result};
use convo::format::Format;
use convo::format::slim::image::{Image, StoreImage};
use convo::format::slim::{self, PartNames, RecordShares, Slim as Slimming};
use convo::model::key::HashWriter;
use images::ImageArgs;
use report::{SlimReport, SlimRow};
use source::SlimSource;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Remove what a program does not need to resume a session
///
/// Removes records that neither the model nor the program needs to continue a session, such as progress lines, details
/// that only the screen shows, and histories that later compactions replaced. Formats: claude-code, codex, gemini-cli, pi.
/// The model is sent the same; lines that are kept keep their bytes, and records that hung on a removed one hang on the one
/// before it. Prints the result; with -n, a table of bytes by kind of record.
///
/// With -i, a session in the home of a program is archived first (see convo archive), unless a suffix keeps the original
/// next to it; --undo puts the archived original back. A session that a program has open is never changed, and one that would be less than 1 % smaller is unchanged.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo slim -n claude:@last                   what takes how much
  convo slim -i claude:4c2ddfdc                archive, then shrink
  convo slim -i=.bak session.jsonl             keep the original next to it
  convo slim --undo claude:4c2ddfdc            put the original back
  convo slim -i --images ~/images codex:@last  move images to files
  convo slim --keep toolUseResult in.jsonl > out.jsonl
  convo slim -n --json *.jsonl | jq '.bytes - .left'")]
pub struct SlimCommand {
    /// Files, names of sessions in homes, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Input format [default: detected]
    #[arg(short, long, value_name = "FORMAT", value_parser = readable, help_heading = "Input")]
    from: Option<Format>,
    /// Remove only these kinds
    ///
    /// claude-code: progress, queue-operation, copy, toolUseResult, file-history-snapshot. codex: replacement_history,
    /// exec_command_end, token_count, user_message, agent_message, agent_reasoning. gemini-cli: replaced, rewound, $set,
    /// resultDisplay. pi: details. Not removed by default: file-history-snapshot, user_message, agent_message,
    /// agent_reasoning, resultDisplay.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', help_heading = "Filter")]
    only: Vec<String>,
    /// Keep these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', help_heading = "Filter")]
    keep: Vec<String>,
    /// Move images of 4 KiB or more to files in this directory
    ///
    /// Each file is named by the SHA-256 of its bytes; the session has a text with that name, the type and the size instead,
    /// and the model is sent that text. To read the images again, use `convo expand --images DIR`.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = "Output")]
    images: Option<PathBuf>,
    /// Rewrite the file; keep the original as FILE+SUFFIX, or in the archive
    #[arg(short, long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with = "output", help_heading = "Output")]
    in_place: Option<String>,
    /// Write to this file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Put back the originals of sessions that -i rewrote
    ///
    /// Only sessions that nobody changed since; the copies in the archive are kept. With -n, reports what would be done.
    #[arg(long, conflicts_with_all = ["in_place", "output", "only", "keep", "from", "json", "images"], help_heading = "Output")]
    undo: bool,
    /// Rewrite a session that changed just now, or a file with other hard links
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Print bytes by kind of record; change nothing
    #[arg(short = 'n', long, conflicts_with = "output", help_heading = "Output")]
    dry_run: bool,
    /// With -n or -i, print one object per file
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for SlimCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let writes = self.in_place.is_some() || self.undo;
        for (option, is_given) in [("--json", self.json && !self.dry_run), ("--force", self.force)] {
            if is_given && !writes {
                let or = if option == "--json" {
                    "-n or -i"
                } else {
                    "-i or --undo"
                };
                let error = Error::usage(format!("{option} requires {or}"));
                return Err(error.into());
            }
        }
        let inputs = operands::inputs(context, &self.inputs)?;
        let mut report = SlimReport::new(self.json);
        if self.dry_run || writes {
            for input in &inputs {
                let done = match &self.in_place {
                    _ if self.undo => self.restore_original(context, input),
                    Some(suffix) if !self.dry_run => self.replace(context, input, suffix, &mut report),
                    _ => self.measure(context, input, &mut report),
                };
                report_and_continue(context, done, inputs.len())?;
            }
            return report.print(context, self.dry_run && !self.undo);
        }
        let write = |out: &mut dyn Write| {
            for input in &inputs {
                let done = self.print(context, input, out);
                report_and_continue(context, done, inputs.len())?;
            }
            Ok(())
        };
        write_output(context, self.output.as_deref(), write)
    }
}

/// An input that was read once.
struct OpenedInput {
    source: SlimSource,
    format: Format,
    slim: Slimming,
}

impl OpenedInput {
    fn write(&mut self, images: &ImageArgs<'_>, out: &mut dyn Write) -> Result<RecordShares> {
        let mut keep = |image: &Image| images.keep(image);
        let keep: Option<StoreImage<'_>> = images.is_given().then_some(&mut keep);
        self.slim.write(self.source.reader()?, out, keep)
    }

    /// Returns the bytes by kind and the checksum of the result.
    fn shares(&mut self, images: &ImageArgs<'_>) -> Result<(RecordShares, String)> {
        let mut sum = HashWriter::default();
        let shares = self.write(images, &mut sum)?;
        Ok((shares, sum.hex()))
    }
}

impl SlimCommand {
    fn images(&self, is_written: bool) -> ImageArgs<'_> {
        ImageArgs {
            dir: self.images.as_deref(),
            is_written,
        }
    }

    fn open(&self, mut source: SlimSource, path: Option<&Path>) -> Result<OpenedInput> {
        let format = match self.from {
            Some(format) => format,
            None => source.format(path)?,
        };
        let chosen: PartNames = slim::parts_to_remove(format, &self.only, &self.keep)?;
        let slim = Slimming::read(format, chosen, source.reader()?)?;
        Ok(OpenedInput { source, format, slim })
    }

    fn opened(&self, input: &InputLocation) -> Result<OpenedInput> {
        match input {
            InputLocation::Stdin => self.open(SlimSource::stdin()?, None),
            InputLocation::Path(path) => self.open(SlimSource::of(regular::open(path)?)?, Some(path)),
            InputLocation::Row(..) => {
                let error = Error::usage("slim takes files of sessions, not databases");
                Err(error.hint("remove sessions from it with its own program"))
            }
            InputLocation::Name(name) => {
                let error = Error::usage("slim takes sessions of other programs");
                Err(error.hint(format!(
                    "remove records that are out of view with: convo gc {name}"
                )))
            }
        }
    }

    fn measure(
        &self,
        context: &Context,
        input: &InputLocation,
        report: &mut SlimReport,
    ) -> anyhow::Result<()> {
        let label = input.label();
        let measured = self
            .opened(input)
            .and_then(|mut opened| Ok((opened.format, opened.shares(&self.images(false))?.0)));
        let (format, shares) = measured.map_err(|error| named(error, &label))?;
        let row = SlimRow::new(label, format, shares);
        context
            .output
            .notice(&row.label, &format!("would save {}", row.saved()));
        report.add(row);
        Ok(())
    }

    fn print(&self, context: &Context, input: &InputLocation, out: &mut dyn Write) -> anyhow::Result<()> {
        let label = input.label();
        let mut opened = self.opened(input).map_err(|error| named(error, &label))?;
        let shares = opened.write(&self.images(true), out);
        let row = SlimRow::new(label, opened.format, shares?);
        context
            .output
            .notice(&row.label, &format!("saved {}", row.saved()));
        Ok(())
    }
}
