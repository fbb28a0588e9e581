//! `expand`: prints the originals of elided or summarized messages.

mod images;

use super::Run;
use crate::args::{InputArgs, InputLocation, PackArgs};
use crate::context::Context;
use crate::errors::named;
use crate::input::{each_session, operands};
use crate::writing::{Packing, objects, packing};
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::filter::expand;
use convo::filter::materialize::LineWriter;
use convo::format::slim::placeholder::{Placeholder, is_name};
use convo::home::Name;
use convo::model::session::Session;
use images::Images;
use std::io::Write;
use std::path::PathBuf;

/// The help of `--pack`, without options that `expand` does not have.
const PACK: &str = "Write each session on one line

For tools that distribute lines, such as Spark. All commands read packed sessions. A whole session is packed if the first \
input that is not empty begins with a packed session; messages are packed only with this option.";

/// Print the original of elided or summarized messages
///
/// For the id in a placeholder, prints the original message. For the id of a summary, digest or compact event, prints the
/// messages that it removed from the view.
///
/// With --images, placeholders of images that `convo slim --images` moved to files become images again; each file must
/// still have the SHA-256 in its name. For the file name in such a placeholder, prints the image itself; without an id,
/// prints the whole session.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo expand chat msg_9f2c41d0e6557ab3            the original message
  convo expand --text chat msg_9f2c41d0e6557ab3     its text
  convo expand chat evt_07ab3e6559f2c41d            all messages that a compaction removed
  convo expand evt_07ab3e6559f2c41d < log.jsonl     from standard input
  convo expand --images ~/images codex:@last        a session with its images
  convo expand --images ~/images codex:@last 3f0c...e1.png > 1.png")]
#[command(mut_arg("pack", |option| option.long_help(PACK)))]
pub struct ExpandCommand {
    /// Sessions (default: standard input), then the id of a message or event
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<String>,
    /// Print only the message text
    #[arg(long, conflicts_with = "pack", help_heading = "Output")]
    text: bool,
    #[command(flatten)]
    reading: InputArgs,
    /// Read images from this directory of slim --images
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "text", help_heading = "Input")]
    images: Option<PathBuf>,
    #[command(flatten)]
    packing: PackArgs,
    /// Print the result as JSON Lines
    #[arg(long, conflicts_with = "pack", help_heading = "Output")]
    json: bool,
}

impl Run for ExpandCommand {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let id = self.take_id(context);
        let inputs = operands::inputs(context, &self.inputs)?;
        match id.as_deref().map(|id| (id, image_name(id))) {
            Some((_, Some(name))) => self.image(context, &inputs, &name),
            id => self.records(context, &inputs, id.map(|(id, _)| id)),
        }
    }
}

/// The name of the file in the placeholder of an image, or in its text.
fn image_name(id: &str) -> Option<String> {
    match Placeholder::read(id) {
        Some(placeholder) => Some(placeholder.file_name),
        None => is_name(id).then(|| id.to_string()),
    }
}

impl ExpandCommand {
    fn images(&self) -> Images<'_> {
        Images {
            dir: self.images.as_deref(),
        }
    }

    /// How to pack the printed records: those of a whole session as the input, messages only as requested.
    fn packing(&self, id: Option<&str>) -> Packing {
        match (self.packing.option(), id) {
            (None, None) => Packing::AsInput,
            _ => self.packing.pack.into(),
        }
    }

    /// Prints the originals for an id, or all records.
    fn records(&self, context: &Context, inputs: &[InputLocation], id: Option<&str>) -> anyhow::Result<()> {
        // The id must exist in one of the sessions.
        let mut found = false;
        let mut missed = None;
        each_session(context, inputs, &self.reading, |label, session| {
            let lines = match id.map_or_else(
                || Ok((0..session.len()).collect()),
                |id| expand::lines(&session, id),
            ) {
                Ok(lines) => lines,
                Err(error) => {
                    missed.get_or_insert(named(error, label));
                    return Ok(());
                }
            };
            found = true;
            if self.text {
                return text(context, &session, &lines);
            }
            let mut kept = 0;
            // Read all images before anything is printed.
            let mut records = Vec::new();
            for index in lines {
                let record = session.record(index);
                let restored = match record.message() {
                    Some(_) => self.images().restored(record.body, &mut kept)?,
                    None => None,
                };
                records.push((index, restored));
            }
            context.output.stdout(|out| {
                let write = |out: &mut dyn Write| {
                    let mut out = LineWriter::new(out);
                    for (index, restored) in records {
                        match restored {
                            None => out.write(session.full(index))?,
                            Some(record) => {
                                out.write(&record)?;
                                out.write_ending()?;
                            }
                        }
                    }
                    Ok(())
                };
                match self.json {
                    true => objects(out, write),
                    false => packing(context, self.packing(id), out, write),
                }
            })?;
            images::report(context, label, kept);
            Ok(())
        })?;
        match missed {
            Some(error) if !found => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Prints the image in the file of this name.
    fn image(&self, context: &Context, inputs: &[InputLocation], name: &str) -> anyhow::Result<()> {
        let pack = ("--pack", self.packing.pack);
        for (option, is_given) in [("--json", self.json), ("--text", self.text), pack] {
            if is_given {
                let error = Error::usage(format!("{option} conflicts with the name of an image"));
                return Err(error.into());
            }
        }
        let mut found = None;
        each_session(context, inputs, &self.reading, |_, session| {
            found = found.take().or_else(|| expand::image(&session, name));
            Ok(())
        })?;
        let unknown = || Error::new(ErrorKind::No, format!("no such image: {name}"));
        let bytes = self.images().bytes(&found.ok_or_else(unknown)?)?;
        images::print(context, &bytes)
    }
}

/// Prints the texts of messages.
fn text(context: &Context, session: &Session, lines: &[usize]) -> anyhow::Result<()> {
    context.output.stdout(|out| {
        for index in lines {
            let record = session.record(*index);
            let text = record.message().map(|message| message.text()).unwrap_or_default();
            let ending = if text.ends_with('\n') { "" } else { "\n" };
            let written = write!(out, "{text}{ending}");
            written.map_err(|error| Error::io("cannot write", error))?;
        }
        Ok(())
    })
}

impl ExpandCommand {
    /// Removes the id from the operands; `None` if the only one is a session, of which all images are wanted.
    fn take_id(&mut self, context: &Context) -> Option<String> {
        if self.images.is_some() && self.inputs.len() == 1 && is_session(context, &self.inputs[0]) {
            return None;
        }
        let nth = match self.id_is_first(context) {
            true => 0,
            false => self.inputs.len() - 1,
        };
        Some(self.inputs.remove(nth))
    }

    /// Whether the operands are in the former order: the id before the sessions.
    fn id_is_first(&self, context: &Context) -> bool {
        let [first, .., last] = self.inputs.as_slice() else {
            return false;
        };
        let is_id = |operand: &str| {
            operand.starts_with("msg_") || operand.starts_with("evt_") || image_name(operand).is_some()
        };
        match (is_id(first), is_id(last)) {
            (first, last) if first != last => first,
            _ => !is_session(context, first) && is_session(context, last),
        }
    }
}

/// Whether an operand names a session.
fn is_session(context: &Context, operand: &str) -> bool {
    match InputLocation::of(operand) {
        _ if image_name(operand).is_some() => false,
        InputLocation::Name(name) if matches!(Name::read(&name), Ok(None)) => {
            context.store().is_ok_and(|store| store.resolve(&name).is_ok())
        }
        _ => true,
    }
}
