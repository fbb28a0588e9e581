//! `restore`: undo.

use super::Run;
use crate::args::{Changing, Input, Reading};
use crate::change;
use crate::context::Context;
use clap::Args;
use convo::filter::restore;

/// Take back a cut, a compaction or a summary
///
/// Without EVENT the newest change is taken back, and called again the one before it. Restoring a `restore`
/// event does the change again. The id of a removed session brings that session back. Nothing to undo is status 1.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo restore chat                       undo the last change
  convo restore chat evt_07ab3e6559f2c41d  undo that one
  convo restore - --log < log.jsonl        a stream that holds its log")]
pub struct Restore {
    /// A session: a name, a file, or -
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: String,
    /// Id of the event to take back
    #[arg(value_name = "EVENT")]
    event: Option<String>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    changing: Changing,
    /// Print the whole log, the new event at its end
    #[arg(long, help_heading = "Output")]
    log: bool,
}

impl Run for Restore {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        self.changing.log = self.log;
        if let (Input::Name(name), None, false) = (Input::of(&self.input), &self.event, self.changing.stdout)
            && self.returns(context, &name)?
        {
            return Ok(());
        }
        change::run(
            context,
            &[Input::of(&self.input)],
            &self.reading,
            &self.changing,
            |session, stamps| restore::plan(session, self.event.as_deref(), |content| stamps.event(content)),
        )
    }
}

impl Restore {
    /// Brings a removed session back, when the name is that of one and of nothing else.
    fn returns(&self, context: &Context, name: &str) -> anyhow::Result<bool> {
        let store = context.store()?;
        if store.resolve(name).is_ok() || !store.trash()?.iter().any(|(id, _)| id == name) {
            return Ok(false);
        }
        if self.changing.dry_run {
            context.output.tell(name, "would come back from the trash");
        } else {
            store.restore_removed(name)?;
            context.output.tell(name, "is back from the trash");
        }
        Ok(true)
    }
}
