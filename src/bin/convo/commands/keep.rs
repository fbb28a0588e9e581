//! `keep`: drops all but the selected messages from the view.

use super::Run;
use crate::args::{EditArgs, InputArgs, MessageConditions};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::input::operands;
use clap::Args;
use convo::filter::drop;

/// Drop all but chosen messages from the view
///
/// Keeps the messages that meet all conditions, the calls and results that belong to them, and all system messages. In the
/// store, the change is one event that `restore` undoes; otherwise prints the remaining session. If no message meets the
/// conditions, nothing changes and the status is 1.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo keep chat --exchange 1,7..                    the first exchange, and all from the seventh
  convo keep --role user < in.jsonl > out.jsonl       a stream
  convo keep chat --tool Edit --dry-run               what would be dropped")]
pub struct KeepCommand {
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

impl Run for KeepCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let inputs = operands::inputs(context, &self.inputs)?;
        let choice = self.choosing.choice(&inputs, true)?;
        let edit = EditRequest {
            reports: true,
            ..EditRequest::new(&self.reading, &self.changing)
        };
        edit::run(context, &inputs, edit, |session, event_ids| {
            drop::plan(session, &choice, |content| event_ids.event(content))
        })
    }
}
