//! `undo`: undoes the newest change, which can be an append.

use super::Run;
use crate::args::{EditArgs, InputArgs};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::input::operands;
use clap::Args;
use convo::filter::restore::{self, UndoTarget};

/// Undo the newest change, or the newest append
///
/// Undoes the newest change of the view, the title, the tags or the notes; each further call undoes the one before. An
/// append is a change too: its message leaves the view, with the call or the results that belong to it. The instructions
/// at the beginning, and messages copied from another session, are not undone.
///
/// In the store, the log keeps the message, and `restore` with the id of the event brings it back. A file without a log
/// loses the message.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo undo chat                          the newest change or message
  convo undo chat --exchange               the newest question and its answers
  convo undo -n chat                       what would be undone
  convo restore --list chat                list the events that can be undone
  convo restore chat evt_07ab3e6559f2c41d  undo this event, e.g. an undo")]
pub struct UndoCommand {
    /// Session name, file, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    input: Option<String>,
    /// Undo the newest exchange, even if another change is newer
    #[arg(long)]
    exchange: bool,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    edit_args: EditArgs,
    /// Print the complete log, including the new event
    #[arg(long, help_heading = "Output")]
    log: bool,
}

impl Run for UndoCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let inputs = [operands::input(context, self.input.as_deref().unwrap_or("-"))?];
        let edit = EditRequest {
            full_log: self.log,
            reports: true,
            ..EditRequest::new(&self.reading, &self.edit_args)
        };
        let target = match self.exchange {
            true => UndoTarget::Exchange,
            false => UndoTarget::ChangeOrAppend,
        };
        edit::run(context, &inputs, edit, |session, event_ids| {
            restore::plan(session, target, |content| event_ids.event(content))
        })
    }
}
