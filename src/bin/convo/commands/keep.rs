//! `keep`: drops all but the selected messages from the view.

use super::Run;
use crate::context::Context;
use crate::selected_messages::SelectedMessages;
use clap::Args;

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
    #[command(flatten)]
    selected: SelectedMessages,
}

impl Run for KeepCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        self.selected.drop(context, true)
    }
}
