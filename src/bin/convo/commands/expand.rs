//! `expand`: what stands behind a mark, a digest or a summary.

use super::Run;
use crate::args::{Input, Reading};
use crate::change::objects;
use crate::context::{Context, named};
use crate::inputs::each_session;
use clap::Args;
use convo::error::Error;
use convo::filter::expand;
use convo::filter::settle::Lines;
use std::io::Write;

/// Print what a mark, a digest or a summary stands for
///
/// A mark names the message whose content it elided. Given that id, the message is printed as the log has it; given the id
/// of a summary, a digest or a compaction, the messages that it took out of view.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo expand msg_9f2c41d0e6557ab3 chat            the message as it was
  convo expand --text msg_9f2c41d0e6557ab3 chat     what it said
  convo expand evt_07ab3e6559f2c41d chat            all that a compaction took out of view")]
pub struct Expand {
    /// Id of a message or of an event
    #[arg(value_name = "ID")]
    id: String,
    /// Sessions: names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Only the text of the messages
    #[arg(long, help_heading = "Output")]
    text: bool,
    #[command(flatten)]
    reading: Reading,
    /// Messages as JSON, one object a line
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for Expand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let inputs = Input::all(&self.inputs);
        // Of several sessions one has it.
        let mut found = false;
        let mut missed = None;
        each_session(context, &inputs, &self.reading, |label, session| {
            let lines = match expand::lines(&session, &self.id) {
                Ok(lines) => lines,
                Err(error) => {
                    missed.get_or_insert(named(error, label));
                    return Ok(());
                }
            };
            found = true;
            context.output.stdout(|out| {
                if self.text {
                    for index in lines {
                        let record = session.record(index);
                        let text = record.message().map(|message| message.text()).unwrap_or_default();
                        let ending = if text.ends_with('\n') { "" } else { "\n" };
                        let written = write!(out, "{text}{ending}");
                        written.map_err(|error| Error::io("cannot write", error))?;
                    }
                    return Ok(());
                }
                let write = |out: &mut dyn Write| {
                    let mut out = Lines::new(out);
                    Ok(lines
                        .into_iter()
                        .try_for_each(|index| out.write(session.full(index)))?)
                };
                if self.json {
                    objects(out, write)
                } else {
                    write(out)
                }
            })
        })?;
        match missed {
            Some(error) if !found => Err(error.into()),
            _ => Ok(()),
        }
    }
}
