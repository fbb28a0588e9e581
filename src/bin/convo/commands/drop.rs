//! `drop`: drops the selected messages from the view.

use super::Run;
use crate::context::Context;
use crate::selected_messages::SelectedMessages;
use clap::Args;

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
