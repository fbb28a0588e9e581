//! `expand`: prints the originals of elided or summarized messages.

use super::Run;
use crate::args::{Input, InputArgs};
use crate::context::{Context, named};
use crate::input::each_session;
use crate::writing::objects;
use clap::Args;
use convo::error::Error;
use convo::filter::expand;
use convo::filter::settle::Lines;
use std::io::Write;

/// Print the original of elided or summarized messages
///
/// For the id in a placeholder, prints the original message. For the id of a summary, digest or compact event, prints the
/// messages that it removed from the view.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo expand chat msg_9f2c41d0e6557ab3            the original message
  convo expand --text chat msg_9f2c41d0e6557ab3     its text
  convo expand chat evt_07ab3e6559f2c41d            all messages that a compaction removed
  convo expand evt_07ab3e6559f2c41d < log.jsonl     from standard input")]
pub struct Expand {
    /// Sessions (default: standard input), then the id of a message or event
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<String>,
    /// Print only the message text
    #[arg(long, help_heading = "Output")]
    text: bool,
    #[command(flatten)]
    reading: InputArgs,
    /// Print the result as JSON Lines
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for Expand {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let nth = match self.id_is_first(context) {
            true => 0,
            false => self.inputs.len() - 1,
        };
        let id = self.inputs.remove(nth);
        let inputs = context.inputs(&self.inputs)?;
        // The id must exist in one of the sessions.
        let mut found = false;
        let mut missed = None;
        each_session(context, &inputs, &self.reading, |label, session| {
            let lines = match expand::lines(&session, &id) {
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

impl Expand {
    /// Whether the operands are in the former order: the id before the sessions.
    fn id_is_first(&self, context: &Context) -> bool {
        let [first, .., last] = self.inputs.as_slice() else {
            return false;
        };
        let is_id = |operand: &str| operand.starts_with("msg_") || operand.starts_with("evt_");
        let is_session = |operand: &str| match Input::of(operand) {
            Input::Name(name) => context.store().is_ok_and(|store| store.resolve(&name).is_ok()),
            _ => true,
        };
        match (is_id(first), is_id(last)) {
            (first, last) if first != last => first,
            _ => !is_session(first) && is_session(last),
        }
    }
}
