//! `truncate`: hides old messages from the view.

use super::Run;
use crate::args::{EditArgs, InputArgs};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::input::operands;
use clap::Args;
use convo::filter::truncate::{self, CutPoint};
use convo::store::foreign;

/// Drop the oldest messages from the view
///
/// Keeps the newest exchanges or messages, and all system messages. Cuts between exchanges, so that a tool call is never
/// separated from its result. In the store, the cut is one event that `restore` undoes; otherwise prints the remaining
/// session.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo truncate chat --keep-last 8                        a stored session
  convo truncate --keep-last 8 < in.jsonl > out.jsonl      a stream
  convo truncate --keep-messages 20 -i=.bak session.jsonl  a file, with a backup
  convo truncate chat --keep-last 0 && convo restore chat          drop all, then undo")]
pub struct TruncateCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    cut: CutOptions,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    edit_args: EditArgs,
    /// Print the complete log, including the new event
    #[arg(long, help_heading = "Output")]
    log: bool,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
#[command(next_help_heading = "Keep")]
struct CutOptions {
    /// Keep the newest N exchanges; 0 drops all
    #[arg(long, value_name = "N")]
    keep_last: Option<usize>,
    /// Keep at least the newest N messages; 0 drops all
    ///
    /// Moves back to the start of a message group if necessary.
    #[arg(long, value_name = "N")]
    keep_messages: Option<usize>,
    /// Drop all messages before this one
    ///
    /// Moves back to the start of a message group if necessary.
    #[arg(long, value_name = "ID")]
    before: Option<String>,
    /// --keep-last 0
    #[arg(long, hide = true)]
    all: bool,
}

impl Run for TruncateCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let cut = match self.cut {
            CutOptions {
                keep_last: Some(keep),
                ..
            } => CutPoint::LastExchanges(keep),
            CutOptions {
                keep_messages: Some(keep),
                ..
            } => CutPoint::LastMessages(keep),
            CutOptions { before: Some(id), .. } => CutPoint::Before(id),
            _ => CutPoint::LastExchanges(0),
        };
        let inputs = operands::inputs(context, &self.inputs)?;
        let edit = EditRequest {
            full_log: self.log,
            reports: true,
            ..EditRequest::new(&self.reading, &self.edit_args)
        };
        edit::run(context, &inputs, edit, |session, event_ids| {
            let cut = match &cut {
                CutPoint::LastMessages(keep) => {
                    CutPoint::LastMessages(foreign::messages_among(session, *keep))
                }
                cut => cut.clone(),
            };
            truncate::plan(session, &cut, |content| event_ids.event(content))
        })
    }
}
