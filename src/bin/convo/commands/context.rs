//! `context`: the view, which is what a model would be sent.

use super::Run;
use crate::args::{Input, Reading, Writing};
use crate::change::{Export, tell_dangling, write_to};
use crate::context::Context;
use crate::inputs::each_session;
use clap::Args;
use convo::filter::settle::Lines;
use convo::format::{Format, Purpose};
use convo::model::session::{Class, Session};
use convo::model::view::{Item, View as Replayed};
use std::io::Write;

/// Print what a model would be sent
///
/// Replays the log: what was cut off or summarised is not shown. The result is the session's line, the messages
/// in view and the summary, or with --to the same in the shape that an interface takes.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo context chat                              the messages in view, one a line
  convo context chat --to openai-chat | jq length the body of a request
  convo context < session.jsonl                   the same for a stream")]
pub struct View {
    /// Sessions: names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    writing: Writing,
    /// Messages as JSON, one object a line
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for View {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let inputs = Input::all(&self.inputs);
        let to = self.writing.to.unwrap_or(Format::Native);
        write_to(context, &self.writing, |out| {
            let mut written = 0;
            each_session(context, &inputs, &self.reading, |label, session| {
                written += 1;
                out.separate();
                if to == Format::Native {
                    let view = Replayed::replay(&session);
                    tell_dangling(context, label, &session, &view);
                    return native(&session, &view, out);
                }
                let strict = self.reading.strict;
                Export {
                    context,
                    label,
                    to,
                    purpose: Purpose::Context,
                    strict,
                }
                .write(&session, written, out)
            })
        })
    }
}

/// The session's line, then what is in view.
fn native(session: &Session, view: &Replayed, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut lines = Lines::new(out);
    if let Some(header) = (0..session.len()).find(|index| session.class(*index) == Class::Header) {
        lines.write(session.full(header))?;
    }
    for item in &view.items {
        match item {
            Item::Line(index) | Item::Summary(index) => lines.write(session.full(*index))?,
            Item::Edited(_, body) | Item::Inserted(body) => {
                lines.write(body)?;
                lines.write_ending()?;
            }
        }
    }
    Ok(())
}
