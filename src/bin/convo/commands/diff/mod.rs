//! `diff`: compares two sessions, or a session with an earlier state.

mod facts;
mod git;
mod json;
mod stat;
mod text;

use super::Run;
use crate::args::{InputArgs, InputLocation, TimeOptions, TokenizerArgs};
use crate::context::Context;
use crate::errors::named;
use crate::input::{each_session, operands};
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::filter::diff::{SessionDiff, before, event, event_id};
use convo::filter::dropped;
use convo::model::session::Session;
use convo::model::view::View;

/// Compare two sessions, or a session with its earlier state
///
/// Compares the views, message by message. With one INPUT, compares the session before its last change with the session now.
/// Messages are paired by id if the sessions share ids, otherwise by content, so sessions of different formats can be
/// compared. Ids, times and metadata of messages are not compared. Status 0: equal; 1: different.
///
/// --dropped lists the content of A that B lacks: standing instructions, decisions, open questions, paths, commands,
/// errors, figures, dates, addresses and identifiers, recognized by their form. Instructions that a later message of A
/// replaces are not listed. Tool results of more than 500 bytes are searched for errors only.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo diff before.jsonl after.jsonl
  convo diff chat                                   what the last change of a session did
  convo diff --dropped chat                         what a compaction lost
  convo compact --stdout --budget 8k chat | convo diff chat -
  convo diff --json a.jsonl b.jsonl | jq -r 'select(.op==\"drop\").a.id'
  echo '*.jsonl diff=convo' >> .gitattributes && git config diff.convo.command 'convo diff --git'")]
pub struct DiffCommand {
    /// Session names, files, or - for standard input
    #[arg(value_name = "INPUT", required = true, num_args = 1..=9)]
    inputs: Vec<String>,
    #[command(flatten)]
    reading: InputArgs,
    /// Compare all messages of the logs, not the views
    #[arg(long, help_heading = "Comparison")]
    log: bool,
    /// With one INPUT: compare with the session before this event
    #[arg(long, value_name = "ID", help_heading = "Comparison")]
    event: Option<String>,
    /// Take the seven arguments of a git diff driver; the status is 0
    #[arg(long, conflicts_with_all = ["json", "event"], help_heading = "Comparison")]
    git: bool,
    /// Unchanged lines around a change in a message
    #[arg(
        short = 'C',
        long,
        value_name = "N",
        default_value_t = 2,
        help_heading = "Output"
    )]
    context: usize,
    /// Print one row per role and tool
    #[arg(long, conflicts_with = "dropped", help_heading = "Output")]
    stat: bool,
    /// List the content of A that B lacks
    #[arg(long, help_heading = "Dropped facts")]
    dropped: bool,
    /// List the facts that were kept, too
    #[arg(long, requires = "dropped", help_heading = "Dropped facts")]
    all: bool,
    /// Kinds of facts whose loss is status 1 [default: rule,decision]
    ///
    /// rule, decision, question, path, command, error, figure, date, url, identifier; or any, none.
    #[arg(
        long,
        value_name = "KIND,...",
        value_delimiter = ',',
        requires = "dropped",
        help_heading = "Dropped facts"
    )]
    fail_on: Vec<FailOn>,
    #[command(flatten)]
    tokenizer_args: TokenizerArgs,
    #[command(flatten)]
    times: TimeOptions,
    /// Print one object per difference and one with the totals
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// A kind of fact; losing one is status 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailOn {
    Kind(dropped::FactKind),
    Any,
    None,
}

impl std::str::FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<FailOn, String> {
        match (dropped::FactKind::from_name(text), text) {
            (Some(kind), _) => Ok(FailOn::Kind(kind)),
            (None, "any") => Ok(FailOn::Any),
            (None, "none") => Ok(FailOn::None),
            (None, _) => {
                let names = dropped::FactKind::ALL.map(dropped::FactKind::name).join(", ");
                Err(format!("expected some of {names}, or any or none"))
            }
        }
    }
}

/// One side of a comparison.
struct DiffSide {
    label: String,
    session: Session,
}

impl Run for DiffCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let operands = match self.git {
            true => git::operands(context, &self.inputs)?,
            false => self.inputs.clone(),
        };
        let pairs = match operands.as_slice() {
            [one] => self.with_itself(context, one)?,
            [a, b] => self.of_two(context, a, b)?,
            several => {
                let error = Error::usage(format!("diff takes two inputs, not {}", several.len()));
                return Err(error
                    .hint("with git: git config diff.convo.command 'convo diff --git'")
                    .into());
            }
        };
        for (a, b) in &pairs {
            self.compare(context, a, b)?;
        }
        Ok(())
    }
}

impl DiffCommand {
    /// Compares the sessions of one input with their earlier states.
    fn with_itself(&self, context: &Context, operand: &str) -> anyhow::Result<Vec<(DiffSide, DiffSide)>> {
        let mut pairs = Vec::new();
        for now in self.read(context, operand)? {
            let Some(at) = event(&now.session, self.event.as_deref()) else {
                let error = match &self.event {
                    Some(id) => Error::new(ErrorKind::No, format!("no such event: {id}"))
                        .hint("list events with: convo restore --list NAME"),
                    None => Error::new(ErrorKind::No, "no change to compare with")
                        .hint("compare two sessions with: convo diff A B"),
                };
                return Err(named(error, &now.label).into());
            };
            let id = event_id(&now.session, at).unwrap_or_default();
            let was = DiffSide {
                label: format!("{} before {id}", now.label),
                session: before(&now.session, at),
            };
            pairs.push((was, now));
        }
        Ok(pairs)
    }

    /// Pairs the sessions of two inputs: the only ones, or those with equal ids.
    fn of_two(&self, context: &Context, a: &str, b: &str) -> anyhow::Result<Vec<(DiffSide, DiffSide)>> {
        if a == "-" && b == "-" {
            return Err(Error::usage("standard input can be read only once").into());
        }
        let (mut first, mut second) = (self.read(context, a)?, self.read(context, b)?);
        if first.len() <= 1 && second.len() <= 1 {
            let side = |sides: &mut Vec<DiffSide>, label: &str| {
                sides.pop().unwrap_or_else(|| DiffSide {
                    label: InputLocation::of(label).label(),
                    session: Session::default(),
                })
            };
            return Ok(vec![(side(&mut first, a), side(&mut second, b))]);
        }
        let id = |side: &DiffSide| side.session.header_text("id");
        let empty = |other: &DiffSide, label: &str| DiffSide {
            label: format!("{label} (no session {})", id(other).unwrap_or_default()),
            session: Session::default(),
        };
        let mut pairs = Vec::new();
        for one in first {
            let found = second
                .iter()
                .position(|other| id(other).is_some() && id(other) == id(&one));
            let other = found.map(|at| second.remove(at));
            let other = other.unwrap_or_else(|| empty(&one, b));
            pairs.push((one, other));
        }
        if pairs.iter().all(|(_, other)| other.session.is_empty()) {
            let error = Error::usage(format!("{a} and {b} share no session id"));
            return Err(error
                .hint("select one session of each with --session, after: convo list FILE")
                .into());
        }
        pairs.extend(second.into_iter().map(|other| (empty(&other, a), other)));
        Ok(pairs)
    }

    fn read(&self, context: &Context, operand: &str) -> anyhow::Result<Vec<DiffSide>> {
        if operand == git::NOTHING {
            return Ok(Vec::new());
        }
        let mut sides = Vec::new();
        let inputs = operands::inputs(context, &[operand.to_string()])?;
        each_session(context, &inputs, &self.reading, |label, session| {
            sides.push(DiffSide {
                label: label.to_string(),
                session,
            });
            Ok(())
        })?;
        if sides.len() > 1 {
            for side in &mut sides {
                let id = side.session.header_text("id").unwrap_or_default();
                side.label = format!("{}#{id}", side.label);
            }
        }
        Ok(sides)
    }

    fn compare(&self, context: &Context, a: &DiffSide, b: &DiffSide) -> anyhow::Result<()> {
        let view = |side: &DiffSide| match self.log {
            true => View::whole(&side.session),
            false => View::replay(&side.session),
        };
        let views = [view(a), view(b)];
        let diff = SessionDiff::of((&a.session, &views[0]), (&b.session, &views[1]));
        if self.dropped {
            return self.list_dropped(context, &a.session, &diff);
        }
        if !diff.is_empty() && !self.git {
            context.output.note_status(ErrorKind::No);
        }
        if context.output.is_quiet() {
            return Ok(());
        }
        if self.json {
            return context
                .output
                .rows(false, json::lines(&diff, [&a.label, &b.label]));
        }
        if self.stat {
            return self.print_stat(context, &diff, [a, b], &views);
        }
        self.print_text(context, &diff, [&a.label, &b.label])
    }
}
