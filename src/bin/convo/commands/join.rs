//! `join`: joins several sessions, or a chain, into one session.

use super::Run;
use crate::args::{InputArgs, InputLocation, OutputArgs, checked_name};
use crate::context::Context;
use crate::errors::{named, stopped};
use crate::input::chain_reader::{self, ChainReach};
use crate::input::{each_session, operands};
use crate::output::count_of;
use crate::writing::{Export, OutputFormat, report_dangling, write_records, write_to};
use clap::Args;
use convo::error::{Error, ErrorKind, Position};
use convo::filter::join::{self, JoinResult};
use convo::format::Format;
use convo::format::report::Report;
use convo::model::chain::ChainOrder;
use convo::model::key::checked_id;
use convo::model::session::Session;
use convo::model::view::View;

/// Maximum number of conflicting ids that are listed.
const NAMED: usize = 10;

/// Join sessions into one
///
/// Joins a chain in link order, leaving out copied messages, or other sessions in the order given. If the only operand is
/// a stored session, joins its whole chain. Prints the id of the new session; the originals are unchanged. Missing
/// sessions and one-sided links are reported (status 65), and the rest is joined.
///
/// Messages with the same id and content are kept once. If the content differs, both are kept; the later one gets a new id
/// and is reported (status 65).
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo join chat.3                             the whole chain of a session
  convo join --through chat.3                   the chain up to this session
  convo join monday tuesday --id week           sessions without links, in this order
  convo join conversations/session_*.json       files; prints the joined session
  convo cat a b c | convo join > whole.jsonl    a filter")]
pub struct JoinCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Join the whole chain of the session
    #[arg(long, conflicts_with = "through", help_heading = "Selection")]
    chain: bool,
    /// Join the chain up to this session
    #[arg(long, value_name = "SESSION", help_heading = "Selection")]
    through: Option<String>,
    /// Id of the new session [default: derived from its parts]
    #[arg(long, value_name = "ID", help_heading = "Session")]
    id: Option<String>,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    writing: OutputArgs,
    /// Print the joined session; do not change the store
    #[arg(long, help_heading = "Output")]
    stdout: bool,
    /// Print the result as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for JoinCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        if let Some(id) = &self.id {
            checked_name(checked_id(id)?)?;
        }
        let inputs = match self.through {
            Some(_) => Vec::new(),
            None => operands::each_input(context, &self.inputs)?,
        };
        let writing = self.writing.resolve(&inputs, &self.reading)?;
        let (sessions, mut order, is_stored) = self.read(context)?;
        // An empty pipe is neither a session nor an error.
        if sessions.is_empty() && !is_stored {
            return self.print(context, writing, &JoinResult::default());
        }
        let label = self
            .through
            .as_ref()
            .or(self.inputs.first())
            .map_or("-", String::as_str);
        let faulty = !order.faults.is_empty();
        chain_reader::report_links(context, label, &mut order);
        if faulty && self.reading.strict {
            return Err(named(stopped(), label).into());
        }
        let joined =
            join::join(&sessions, &order, self.id.as_deref()).map_err(|error| named(error, label))?;
        let mut report = Report::default();
        for id in joined.conflicts.iter().take(NAMED) {
            report.damage(
                Position::default(),
                format!("two different messages have the id {id}; kept both, the second with a new id"),
            );
        }
        if let Some(more) = joined.conflicts.len().checked_sub(NAMED).filter(|more| *more > 0) {
            report.damage(
                Position::default(),
                format!("and {}", count_of(more as u64, "more message")),
            );
        }
        context.output.report(label, &mut report);
        let view = View::replay(&joined.session);
        report_dangling(context, &joined.id, &joined.session, &view);
        if is_stored && !self.streams() {
            return self.store(context, &joined, sessions.len());
        }
        self.report(context, &joined, sessions.len());
        self.print(context, writing, &joined)
    }
}

impl JoinCommand {
    /// Whether the joined session is printed and the store is unchanged.
    fn streams(&self) -> bool {
        self.stdout || self.writing.is_elsewhere()
    }

    /// Reads the sessions; returns them with their order, and whether all are stored.
    fn read(&self, context: &Context) -> anyhow::Result<(Vec<Session>, ChainOrder, bool)> {
        let inputs = match (&self.through, &self.inputs[..]) {
            (Some(_), []) => Vec::new(),
            (_, inputs) => operands::each_input(context, inputs)?,
        };
        let alone = match (&self.through, &inputs[..]) {
            (Some(last), []) => Some((last.as_str(), ChainReach::Back)),
            (None, [InputLocation::Name(name)]) => Some((name.as_str(), ChainReach::Both)),
            _ => None,
        };
        if let Some((name, reach)) = alone {
            let (sessions, order) = chain_reader::read(context, name, reach)?;
            return Ok((sessions, order, true));
        }
        let mut sessions = Vec::new();
        let is_stored = inputs.iter().all(|input| matches!(input, InputLocation::Name(_)));
        // A new stored session contains all inputs or is not created: the first unreadable input ends the command.
        let at_once = if is_stored && !self.streams() {
            1
        } else {
            inputs.len()
        };
        for inputs in inputs.chunks(at_once.max(1)) {
            each_session(context, inputs, &self.reading, |_, session| {
                sessions.push(session);
                Ok(())
            })?;
        }
        let last = match &self.through {
            None => None,
            Some(last) => {
                let is_last = |session: &Session| session.header_text("id").as_ref() == Some(last);
                let place = sessions.iter().position(is_last);
                Some(place.ok_or_else(|| {
                    let error = Error::new(ErrorKind::NotFound, "not one of the given sessions");
                    named(error, last)
                })?)
            }
        };
        let order = chain_reader::ordered(&sessions, last)?;
        Ok((sessions, order, is_stored))
    }

    fn store(&self, context: &Context, joined: &JoinResult, sessions: usize) -> anyhow::Result<()> {
        let session = &joined.session;
        let lines: Vec<Vec<u8>> = (0..session.len())
            .map(|index| session.record(index).body.to_vec())
            .collect();
        context.store()?.create_session(&joined.id, &lines)?;
        self.report(context, joined, sessions);
        if !self.json {
            return context.output.print_done(&joined.id);
        }
        let reported = serde_json::json!({
            "schema": "convo.join/1", "id": joined.id, "sessions": sessions,
            "messages": session.messages().count(), "left_out": joined.left_out, "kept_copies": joined.kept,
            "shared": joined.shared, "renamed": joined.renamed,
        });
        context.output.print_done(&reported.to_string())
    }

    fn report(&self, context: &Context, joined: &JoinResult, sessions: usize) {
        let mut what = format!(
            "joined {} messages; sessions: {sessions}; copies and markers left out: {}",
            joined.session.messages().count(),
            joined.left_out
        );
        for (count, why) in [
            (joined.kept, "copies kept because their originals are missing"),
            (joined.shared, "messages in several sessions, kept once"),
            (
                joined.renamed,
                "messages with a new id because their own was taken",
            ),
        ] {
            if count > 0 {
                what.push_str(&format!("; {why}: {count}"));
            }
        }
        match joined.kept + joined.renamed + joined.shared {
            0 => context.output.detail(&joined.id, &what),
            _ => context.output.notice(&joined.id, &what),
        }
    }

    fn print(&self, context: &Context, writing: OutputFormat<'_>, joined: &JoinResult) -> anyhow::Result<()> {
        write_to(context, writing, |out| match writing.format() {
            Format::Native => write_records(&joined.session, out),
            _ => {
                let export = Export::new(context, &joined.id, writing, self.reading.strict);
                export.write(&joined.session, 1, out)
            }
        })
    }
}
