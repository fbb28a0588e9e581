//! `truncate`: a logical cut.

use super::Run;
use crate::args::{Changing, Input, Reading};
use crate::change;
use crate::context::Context;
use clap::Args;
use convo::filter::truncate::{self, Cut};
use convo::format::picoclaw;

/// Cut off old messages; the log keeps them
///
/// Cuts between exchanges, so that a tool call is never parted from its result; system messages stay. In the
/// store the cut is one event that `restore` takes back; a stream comes out without the messages.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo truncate chat --keep-last 8                        a session of the store
  convo truncate --keep-last 8 < in.jsonl > out.jsonl      a stream
  convo truncate --keep-messages 20 -i=.bak session.jsonl  a file, the old one kept beside it
  convo truncate chat --all && convo restore chat          and back")]
pub struct Truncate {
    /// Sessions: names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    cut: CutOptions,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    changing: Changing,
    /// Print the whole log, the new event at its end
    #[arg(long, help_heading = "Output")]
    log: bool,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
#[command(next_help_heading = "What stays")]
struct CutOptions {
    /// Keep the newest N exchanges (a question with everything up to the next one); 0: all go
    #[arg(long, value_name = "N")]
    keep_last: Option<usize>,
    /// Keep at least the newest N messages; moves outward so that nothing is parted; 0: all go
    #[arg(long, value_name = "N")]
    keep_messages: Option<usize>,
    /// Keep this message and what follows; moves outward so that nothing is parted
    #[arg(long, value_name = "ID")]
    before: Option<String>,
    /// All messages go
    #[arg(long)]
    all: bool,
}

impl Run for Truncate {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        self.changing.log = self.log;
        let cut = match self.cut {
            CutOptions {
                keep_last: Some(keep),
                ..
            } => Cut::LastExchanges(keep),
            CutOptions {
                keep_messages: Some(keep),
                ..
            } => Cut::LastMessages(keep),
            CutOptions { before: Some(id), .. } => Cut::Before(id),
            _ => Cut::LastExchanges(0),
        };
        change::run(
            context,
            &Input::all(&self.inputs),
            &self.reading,
            &self.changing,
            |session, stamps| {
                let cut = match &cut {
                    Cut::LastMessages(keep) => Cut::LastMessages(picoclaw::messages_among(session, *keep)),
                    cut => cut.clone(),
                };
                truncate::plan(session, &cut, |content| stamps.event(content))
            },
        )
    }
}
