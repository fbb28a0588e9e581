//! Stores prompt and reply together, or neither.

use super::run_program::{PromptReply, PromptRequest};
use crate::args::InputLocation;
use crate::context::Context;
use crate::edit::{self, EditRequest, EventIds, LineDestination, continuation, retention};
use crate::errors::{named, stopped};
use crate::input::InputSessions;
use crate::output::{count_of, visible};
use crate::programs::change_hooks;
use convo::error::{Error, ErrorKind};
use convo::filter::Plan;
use convo::format::report::Report;
use convo::store::Continued;
use std::collections::VecDeque;
use std::io::IsTerminal;

/// How often storing is retried when the session grows in the meantime.
const TRIES: u32 = 50;

/// Asks in a stored session, or with a boundary in the last session of its chain. Returns the number of appended
/// messages.
pub fn in_store(mut request: PromptRequest<'_>, name: &str, limit: Option<u64>) -> anyhow::Result<u64> {
    let context = request.context;
    let store = context.store()?;
    let first = store.first_line(&store.resolve(name)?)?;
    let boundary = match retention::is_requested(&first) {
        true if limit.is_some_and(|limit| limit > 0) => {
            return Err(continuation::limit_conflicts_with_retention(name).into());
        }
        true => None,
        false => continuation::limit(context, limit, &first),
    };
    let mut target = ReplyTarget::open(context, name, boundary)?;
    let mut report = Report::default();
    let session = store.load(&target.id, &mut report)?;
    let damaged = report.is_damaged();
    context.output.report(name, &mut report);
    if request.strict && damaged {
        return Err(named(stopped(), name).into());
    }
    let requested = target.id.clone();
    let event_ids = EventIds::new(context, &session, LineDestination::Store);
    let answered = request.ask(&session, &event_ids, name)?;
    for _ in 0..TRIES {
        target.move_to_end_of_chain()?;
        let (session, length) = store.load_with_length(&target.id, &mut Report::default())?;
        let event_ids = EventIds::new(context, &session, LineDestination::Store);
        let more = match target.id == requested {
            true => session.len().saturating_sub(answered.lines),
            false => 0,
        };
        let lines = request.added(&session, &event_ids, &answered, more);
        let lines = lines.map_err(|error| named(error, name))?;
        if target.continue_in_new(session.messages().count(), lines.len())? {
            continue;
        }
        let planned = request.plan(&session, &event_ids, &answered, lines.clone());
        let Plan::Lines(planned, reported) = planned.map_err(|error| named(error, name))? else {
            return Err(named(Error::new(ErrorKind::Locked, "no message to append"), name).into());
        };
        let done = store.append_together(&target.id, &planned, length);
        if done.map_err(|error| named(error, name))? {
            for reported in target
                .notices
                .iter()
                .chain([&reported])
                .filter(|reported| !reported.is_empty())
            {
                context.output.notice(name, reported);
            }
            report_appended(&request, name, more);
            print(&request, name, &lines, &answered)?;
            change_hooks::after(context, name, &target.id, planned.iter().map(Vec::as_slice));
            return Ok(lines.len() as u64);
        }
    }
    let error = Error::new(
        ErrorKind::Locked,
        "modified by another program; nothing was changed",
    );
    Err(named(error, name).into())
}

/// The session that prompt and reply are appended to.
struct ReplyTarget<'c> {
    context: &'c Context,
    name: &'c str,
    id: String,
    boundary: Option<u64>,
    /// Whether the boundary no longer applies.
    over: bool,
    /// Notices to print once the lines are stored.
    notices: Vec<String>,
}

impl<'c> ReplyTarget<'c> {
    fn open(context: &'c Context, name: &'c str, boundary: Option<u64>) -> convo::Result<ReplyTarget<'c>> {
        Ok(ReplyTarget {
            context,
            name,
            id: match boundary {
                Some(_) => continuation::end_of(context, name)?,
                None => context.store()?.resolve(name)?,
            },
            boundary,
            over: false,
            notices: Vec::new(),
        })
    }

    /// Moves to the end of the chain, which another program may have continued; only with a boundary.
    fn move_to_end_of_chain(&mut self) -> convo::Result<()> {
        if self.boundary.is_some() {
            let end = self.context.store()?.end_of_chain(&self.id);
            self.id = end.map_err(|error| named(error, self.name))?;
        }
        Ok(())
    }

    /// Continues a full session in a new one and returns whether it did. Lines that exceed the limit of an empty
    /// session are appended anyway.
    fn continue_in_new(&mut self, there: usize, more: usize) -> convo::Result<bool> {
        let Some(limit) = self.boundary.filter(|_| !self.over) else {
            return Ok(false);
        };
        if (there + more) as u64 <= limit {
            return Ok(false);
        }
        let mut report = Report::default();
        let done = continuation::continue_session(self.context, &self.id, None, Some(limit), &mut report);
        let (done, taken) = done.map_err(|error| named(error, self.name))?;
        self.context.output.report(&self.id, &mut report);
        // Continue only once: a new session cannot be emptier.
        self.over = !matches!(done, Continued::Before(_));
        if let Continued::Now(child, _) = &done {
            self.notices
                .push(continuation::describe_continuation(&self.id, child, &taken));
        }
        Ok(!matches!(done, Continued::Not))
    }
}

/// Asks in a file or a stream. Returns the number of appended messages.
pub fn elsewhere(
    mut request: PromptRequest<'_>,
    input: &InputLocation,
    edit: EditRequest<'_>,
) -> anyhow::Result<u64> {
    let context = request.context;
    let label = input.label();
    // A file is locked while it is replaced, so run the program before.
    let mut waiting = VecDeque::new();
    if edit.in_place() {
        let opened = context.open(input, edit.reading)?;
        let mut sessions = InputSessions::selected(context, opened, edit.reading);
        while let Some(session) = sessions.next()? {
            let event_ids = EventIds::new(context, &session, LineDestination::Stream);
            let answered = request.ask(&session, &event_ids, &label);
            sessions.accept_result(answered.map(|answered| waiting.push_back(answered)))?;
        }
    }
    let mut done: Vec<(Vec<Vec<u8>>, PromptReply)> = Vec::new();
    let mut meanwhile = 0;
    let mut failed = None;
    let inputs = std::slice::from_ref(input);
    let ran = edit::run(context, inputs, edit, |session, event_ids| {
        let known = waiting.pop_front();
        let answered = match known {
            Some(mut answered) => {
                // Ids differ in files of other systems, or are absent.
                if event_ids.place() != LineDestination::Stream {
                    answered.question = request.question(session, event_ids)?;
                }
                answered
            }
            None if edit.in_place() => {
                let error = Error::new(ErrorKind::Locked, "replaced by another program");
                return Err(error.hint("nothing was stored; run the command again"));
            }
            None => request.ask(session, event_ids, &label).map_err(|error| {
                error.downcast::<Error>().unwrap_or_else(|error| {
                    let stand_in = Error::new(ErrorKind::InputOutput, error.to_string());
                    failed = Some(error);
                    stand_in
                })
            })?,
        };
        let more = session.len().saturating_sub(answered.lines);
        meanwhile += more;
        let lines = request.added(session, event_ids, &answered, more)?;
        let planned = request.plan(session, event_ids, &answered, lines.clone())?;
        done.push((lines, answered));
        Ok(planned)
    });
    if let Some(error) = failed {
        return Err(error);
    }
    ran?;
    report_appended(&request, &label, meanwhile);
    let mut count = 0;
    for (lines, answered) in &done {
        count += lines.len() as u64;
        if request.shows {
            print(&request, &label, lines, answered)?;
        } else {
            report_open_calls(&request, &label, answered);
        }
    }
    Ok(count)
}

/// Reports lines that were appended while the program was running, and now precede the prompt.
fn report_appended(request: &PromptRequest<'_>, label: &str, lines: usize) {
    if lines > 0 {
        let were = if lines == 1 { "was" } else { "were" };
        let lines = count_of(lines as u64, "line");
        let what = format!("{lines} {were} appended while the program was running; prompt and reply follow");
        request.context.output.notice(label, &what);
    }
}

fn report_open_calls(request: &PromptRequest<'_>, label: &str, answered: &PromptReply) {
    for open in &answered.reply.open {
        let what = format!("calls {}; awaiting the result of call '{}'", open.name, open.id);
        request.context.output.notice(label, &what);
    }
}

/// Prints the stored lines, or the reply if it was not shown yet.
fn print(
    request: &PromptRequest<'_>,
    label: &str,
    lines: &[Vec<u8>],
    answered: &PromptReply,
) -> anyhow::Result<()> {
    let output = &request.context.output;
    if request.json {
        let lines: Vec<_> = lines.iter().map(|line| String::from_utf8_lossy(line)).collect();
        output.print_done(&lines.join("\n"))?;
    } else if !answered.shown && !answered.reply.text.is_empty() {
        let text = &answered.reply.text;
        match std::io::stdout().is_terminal() {
            true => output.print_done(&visible(text))?,
            false => output.print_done(text)?,
        }
    }
    report_open_calls(request, label, answered);
    Ok(())
}
