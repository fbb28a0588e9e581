//! The output format without `--to`: from the extension of the output file, or that of the input.

use super::packing::Packing;
use crate::args::{InputArgs, InputLocation, OutputArgs, TargetFormat};
use crate::errors::named;
use crate::input::input_source::{detect_file, peek_stdin, unwrapped};
use convo::error::{Error, Result};
use convo::format::Format;
use convo::format::packed::HashFn;
use convo::format::page::PageOptions;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;

/// Extensions of output files with their formats; any other file is a record stream.
const ENDINGS: [(&str, Format); 4] = [
    ("md", Format::Markdown),
    ("markdown", Format::Markdown),
    ("html", Format::Html),
    ("htm", Format::Html),
];

/// Extensions of formats that cannot be written.
const UNSUPPORTED: [&str; 3] = ["pdf", "docx", "csv"];

/// The options of the output with its format.
#[derive(Clone, Copy, Debug)]
pub struct OutputFormat<'a> {
    pub args: &'a OutputArgs,
    /// None: that of a file in place, or native.
    pub to: Option<Format>,
    pub page: PageOptions,
    /// The hash to write on packed lines.
    pub hash: Option<HashFn>,
}

impl OutputArgs {
    /// Determines the format of the output: that of --to, else that of the extension of the output file.
    pub fn resolve(&self, inputs: &[InputLocation], reading: &InputArgs) -> Result<OutputFormat<'_>> {
        let to = match (self.to, &self.output) {
            (Some(TargetFormat::Format(format)), _) => Some(format),
            (Some(TargetFormat::Same), _) => Some(same(inputs, reading)?),
            // With --pack, the extension does not choose a format.
            (None, Some(path)) if !self.packing.pack => of_ending(path)?,
            _ => None,
        };
        Ok(self.writing(to))
    }

    /// Combines these options with an output format.
    pub fn writing(&self, to: Option<Format>) -> OutputFormat<'_> {
        let page = PageOptions {
            remote_images: self.images,
            ..PageOptions::default()
        };
        OutputFormat {
            args: self,
            to,
            page,
            hash: None,
        }
    }

    /// Whether the result of a change is written rather than stored.
    pub fn is_elsewhere(&self) -> bool {
        self.to.is_some() || self.output.is_some() || self.packing.option().is_some()
    }
}

impl OutputFormat<'_> {
    /// Refuses options that would have no effect.
    pub fn check(&self) -> Result<()> {
        if let (Some(option), false) = (self.args.packing.option(), self.format() == Format::Native) {
            let error = Error::usage(format!("{option} conflicts with --to FORMAT"));
            return Err(error.hint("omit one of them; the extension of an output file is a format too"));
        }
        match self.to {
            Some(to) if self.args.images && to != Format::Markdown => {
                let what = format!("--images requires --to markdown, not --to {}", to.name());
                Err(Error::usage(what).hint("omit --images"))
            }
            _ => Ok(()),
        }
    }

    /// How to pack the record stream: as requested, else as the input unless a format is given.
    pub fn packing(&self) -> Packing {
        let is_given = matches!(self.args.to, Some(TargetFormat::Format(_)));
        match self.args.packing.option() {
            None if is_given || self.format() != Format::Native => Packing::Never,
            None => Packing::AsInput,
            Some(_) => self.hash.map_or(self.args.packing.pack.into(), Packing::Hashed),
        }
    }

    /// How to pack a file that is rewritten in this format.
    ///
    /// # Errors
    /// A usage error if the format has no packed form.
    pub fn packing_in_place(&self, is_packed: bool, format: Format) -> Result<Packing> {
        match self.packing() {
            Packing::Always if !format.is_lines() => {
                let what = format!("--pack requires a native file, not {}", format.name());
                Err(Error::usage(what).hint("omit -i, or add --to native"))
            }
            Packing::AsInput => Ok((is_packed && format.is_lines()).into()),
            given => Ok(given),
        }
    }

    /// The format of an output other than a file in place.
    pub fn format(&self) -> Format {
        self.to.unwrap_or(Format::Native)
    }
}

/// The format for an extension; fails if the format cannot be written, because a record stream would be unexpected.
fn of_ending(path: &Path) -> Result<Option<Format>> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let ending = ending.unwrap_or_default().to_ascii_lowercase();
    if UNSUPPORTED.contains(&&*ending) {
        let error = Error::usage(format!("{}: cannot write .{ending}", path.display()));
        return Err(error.hint("write a page with an ending of .html or .md, or give the format with --to"));
    }
    let found = ENDINGS.iter().find(|(own, _)| *own == ending);
    Ok(found.map(|(_, format)| *format))
}

/// The format of the first input, which must be writable.
fn same(inputs: &[InputLocation], reading: &InputArgs) -> Result<Format> {
    let Some(input) = inputs.first() else {
        return Ok(Format::Native);
    };
    let format = of_input(input, reading).map_err(|error| named(error, &input.label()))?;
    if !format.is_written() {
        let error = Error::usage(format!("--to same: {} is a read-only format", format.name()));
        return Err(named(
            error.hint("give a format that is written, e.g. --to native"),
            &input.label(),
        ));
    }
    Ok(format)
}

fn of_input(input: &InputLocation, reading: &InputArgs) -> Result<Format> {
    let (head, whole, path) = match (reading.from, input) {
        (Some(format), _) => return Ok(format),
        (None, InputLocation::Name(_) | InputLocation::Row(..)) => return Ok(Format::Native),
        (None, InputLocation::Path(path)) => {
            let mut file = File::open(path).map_err(Error::open)?;
            let (head, whole, _) = unwrapped(&mut file)?;
            (head, whole, Some(path.as_path()))
        }
        // The error is reported when the input is read.
        (None, InputLocation::Stdin) if io::stdin().is_terminal() => return Ok(Format::Native),
        (None, InputLocation::Stdin) => {
            let (head, whole) = peek_stdin()?;
            (head, whole, None)
        }
    };
    let is_blank = head.trim_ascii().is_empty() && path.is_none();
    let verdict = detect_file(&head, whole, path);
    match verdict.format {
        Some(format) => Ok(format),
        None if is_blank => Ok(Format::Native),
        None => Err(Error::data(verdict.problem())),
    }
}
