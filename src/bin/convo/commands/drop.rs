//! `drop`: drops the selected messages from the view.

use super::Run;
use crate::args::{EditArgs, InputArgs, MessageConditions};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::input::operands;
use clap::Args;
use convo::filter::drop;

/// Drop chosen messages from the view
///
/// Drops the messages that meet all conditions. A tool call and its results are dropped together if one of them does; system
/// messages are kept unless --role or --message names them. In the store, the change is one event that `restore` undoes;
/// otherwise prints the remaining session. If no message meets the conditions, the status is 1.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo drop chat --exchange 3..5,8                   these exchanges of the view
  convo drop chat --tool WebSearch                    the calls and results of a tool
  convo drop --role tool < in.jsonl > out.jsonl       a stream
  convo drop chat --grep password --dry-run           what would be dropped
  convo drop chat --plan ids.txt                      the messages of a list
  convo drop chat --message m12 && convo restore chat drop one message, then undo")]
pub struct DropCommand {
    #[command(flatten)]
    selected: SelectedMessages,
}

impl Run for DropCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        self.selected.drop(context, false)
    }
}

/// The arguments of `drop` and `keep`.
#[derive(Args, Debug)]
pub struct SelectedMessages {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    choosing: MessageConditions,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    changing: EditArgs,
}

impl SelectedMessages {
    /// Drops the selected messages; with `keeps`, all others.
    pub fn drop(self, context: &Context, keeps: bool) -> anyhow::Result<()> {
        let inputs = operands::inputs(context, &self.inputs)?;
        let choice = self.choosing.choice(&inputs, keeps)?;
        let edit = EditRequest {
            reports: true,
            ..EditRequest::new(&self.reading, &self.changing)
        };
        edit::run(context, &inputs, edit, |session, event_ids| {
            drop::plan(session, &choice, |content| event_ids.event(content))
        })
    }
}
