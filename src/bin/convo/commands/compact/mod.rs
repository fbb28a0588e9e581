//! `compact`: fits a session into a budget.

mod options;

use super::Run;
use crate::args::{Changing, Input, Reading};
use crate::change;
use crate::context::Context;
use clap::Args;
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::filter::compact::{self, Outcome};
use convo::model::session::Session;
use convo::tokens::Counter;
use options::Strategy;

/// Fit a session into a budget; the log keeps everything
///
/// What the view costs is counted, and levels are chosen for its pieces until it fits: full, without the middle of
/// long tool results, results as marks, a line or nothing, with a summary of what left. Calls and their results stay
/// together, system messages and the newest exchange stay. In the store it is one event that `restore` takes back; a
/// stream comes out smaller. A budget that cannot be reached changes nothing and ends with 1.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo compact chat --budget 32000                              a session of the store
  convo compact --budget 60% --window gpt-4o < in.jsonl > out    a stream
  convo compact chat --when 'tokens>=100000' --budget 50000      in a cron line
  convo compact chat --budget 8000 --dry-run                     what would become of each piece
  convo compact chat --mask-tools --keep-tools 5                 only old tool results become marks")]
pub struct Compact {
    /// Sessions: names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    strategy: Strategy,
    /// Tell on standard error what becomes of each piece
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    explain: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    changing: Changing,
    /// Print the whole log, the new event at its end
    #[arg(long, help_heading = "Output")]
    log: bool,
}

impl Run for Compact {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        self.changing.log = self.log;
        self.changing.explains = true;
        let options = self.strategy.options()?;
        self.strategy.counting.tell_estimate(context)?;
        let mut unreached = None;
        change::run(
            context,
            &Input::all(&self.inputs),
            &self.reading,
            &self.changing,
            |session, stamps| {
                let id = session.header_text("id").unwrap_or_default();
                let counter = self.strategy.counting.counter(context, &id, session)?;
                let outcome = compact::plan(session, counter, &options, |content| stamps.event(content))?;
                unreached = unreached.max(outcome.smallest);
                self.explain(context, session, counter, &outcome)?;
                match outcome.plan {
                    Plan::Nothing(why) if why == compact::NO_GAIN && self.strategy.on_no_gain == "error" => {
                        Err(Error::new(Kind::No, why))
                    }
                    plan => Ok(plan),
                }
            },
        )?;
        match unreached {
            Some(smallest) => {
                let error = Error::new(
                    Kind::No,
                    format!("the budget cannot be reached: the smallest is {smallest} tokens"),
                );
                Err(error
                    .hint("it was written as small as it gets (--best-effort)")
                    .into())
            }
            None => Ok(()),
        }
    }
}

impl Compact {
    /// Prints what becomes of each piece: on standard output when nothing else goes there.
    fn explain(
        &self,
        context: &Context,
        session: &Session,
        counter: Counter,
        outcome: &Outcome,
    ) -> convo::Result<()> {
        if !self.explain && !self.changing.dry_run {
            return Ok(());
        }
        let report = &outcome.report;
        let mut lines: Vec<Vec<u8>> = Vec::new();
        if self.changing.json {
            lines.extend(report.atoms.iter().map(compact::AtomReport::json));
            let id = session.header_text("id").unwrap_or_default();
            lines.push(report.json(&id, counter.tokenizer().name()));
        } else {
            let row = |atom: &compact::AtomReport| {
                let id = atom.ids.first().map_or("", String::as_str);
                format!(
                    "{id}\t{}\t{}\t{}\t{}",
                    atom.level.name(),
                    atom.before,
                    atom.after,
                    atom.reason
                )
            };
            lines.extend(report.atoms.iter().map(|atom| row(atom).into_bytes()));
        }
        for line in lines {
            let line = String::from_utf8_lossy(&line);
            if self.changing.dry_run {
                context
                    .output
                    .print(&line)
                    .map_err(|error| Error::new(Kind::InputOutput, error.to_string()))?;
            } else {
                context.output.explain(&line);
            }
        }
        Ok(())
    }
}
