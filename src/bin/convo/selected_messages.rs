//! The edit of `drop` and `keep`.

use crate::args::{EditArgs, InputArgs, MessageConditions};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::input::operands;
use clap::Args;
use convo::filter::drop;

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
    edit_args: EditArgs,
}

impl SelectedMessages {
    /// Drops the selected messages; with `keeps`, all others.
    pub fn drop(self, context: &Context, keeps: bool) -> anyhow::Result<()> {
        let inputs = operands::inputs(context, &self.inputs)?;
        let choice = self.choosing.choice(&inputs, keeps)?;
        let edit = EditRequest {
            reports: true,
            ..EditRequest::new(&self.reading, &self.edit_args)
        };
        edit::run(context, &inputs, edit, |session, event_ids| {
            drop::plan(session, &choice, |content| event_ids.event(content))
        })
    }
}
