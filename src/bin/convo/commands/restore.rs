//! `restore`: undoes events, recovers removed sessions.

use super::Run;
use crate::args::{EditArgs, InputArgs, InputLocation, TimeOptions};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::errors::named;
use crate::input::{each_session, operands};
use crate::output::count_of;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::filter::restore::{self, UndoTarget, UndoableChange};
use convo::format::report::Report;
use convo::model::event;
use convo::store::EXACTLY;

/// Undo a change, or recover a removed session
///
/// Undoes EVENT, or the newest change to the view; each further call undoes the one before. Undoing a `restore` event
/// redoes the change; undoing a `gc` event brings back the archived lines. The id of a removed session recovers it from
/// the trash. Exits with 1 if there is nothing to undo. An appended message is undone by `undo`.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo restore chat                       undo the last change
  convo restore chat evt_07ab3e6559f2c41d  undo this event
  convo restore --list chat                list undoable events
  convo restore --list                     list removed sessions
  convo restore - --log < log.jsonl        a stream that contains its log")]
pub struct RestoreCommand {
    /// Session name, file, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    input: Option<String>,
    /// Event to undo [default: the newest change]
    #[arg(value_name = "EVENT", conflicts_with = "list")]
    event: Option<String>,
    /// List undoable events, or removed sessions without INPUT
    ///
    /// Oldest first. Columns: id, time, type, effect, and `undone` for events without effect.
    #[arg(short, long, conflicts_with_all = ["in_place", "dry_run", "stdout", "output", "to", "log"], help_heading = "Output")]
    list: bool,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    edit_args: EditArgs,
    /// Print the complete log, including the new event
    #[arg(long, help_heading = "Output")]
    log: bool,
}

/// Columns of the undoable events.
const EVENTS: [Column; 5] = [
    Column::text("EVENT"),
    Column::dim("TIME"),
    Column::text("TYPE"),
    Column::rest("EFFECT"),
    Column::text("STATE"),
];

/// Columns of the sessions in the trash.
const REMOVED: [Column; 2] = [Column::text("SESSION"), Column::dim("REMOVED")];

impl Run for RestoreCommand {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        let is_event = |operand: &Option<String>| operand.as_ref().is_some_and(|id| id.starts_with("evt_"));
        if is_event(&self.input) && self.event.is_some() && !is_event(&self.event) {
            std::mem::swap(&mut self.input, &mut self.event);
        }
        if self.list {
            context.output.set_json_diagnostics(self.edit_args.json);
            return match &self.input {
                Some(input) => self.events(context, &operands::input(context, input)?),
                None => self.removed(context),
            };
        }
        let input = operands::input(context, self.input.as_deref().unwrap_or("-"))?;
        let edit = EditRequest {
            full_log: self.log,
            events_only: true,
            ..EditRequest::new(&self.reading, &self.edit_args)
        };
        let stored = edit.in_store(&input) && !edit.in_place() && !self.log;
        if let (InputLocation::Name(name), true) = (&input, stored) {
            let done = match &self.event {
                None => self.returns(context, name)?,
                Some(event) => self.unpack(context, name, event)?,
            };
            if done {
                return Ok(());
            }
        }
        let inputs = [input];
        // Update names first: once the undo is reported, they must have their targets without the link.
        let names = match (&inputs[0], &self.event) {
            (InputLocation::Name(name), Some(event)) if stored && !self.edit_args.dry_run => {
                let store = context.store()?;
                let id = store.resolve(name)?;
                store.update_names_without_event(&id, event)?;
                Some((store, id))
            }
            _ => None,
        };
        let done = edit::run(context, &inputs, edit, |session, event_ids| {
            let target = match self.event.as_deref() {
                Some(event) => UndoTarget::Event(event),
                None => UndoTarget::Change,
            };
            restore::plan(session, target, |content| event_ids.event(content))
        });
        if let (Some((store, id)), true) = (names, done.is_err()) {
            store.update_linked_names(&id)?;
        }
        done
    }
}

impl RestoreCommand {
    /// Recovers a removed session if the name denotes one and no existing session.
    fn returns(&self, context: &Context, name: &str) -> anyhow::Result<bool> {
        let store = context.store()?;
        let id = name.strip_prefix(EXACTLY).unwrap_or(name);
        if matches!(store.exactly(name), Ok(Some(_)))
            || !store.trash()?.iter().any(|(removed, _)| removed == id)
        {
            return Ok(false);
        }
        if self.edit_args.dry_run {
            context.output.notice(name, "would be recovered from the trash");
        } else {
            store.restore_removed(id)?;
            context.output.notice(name, "recovered from the trash");
        }
        Ok(true)
    }

    /// Restores archived records if the event belongs to a `gc`.
    fn unpack(&self, context: &Context, name: &str, event: &str) -> anyhow::Result<bool> {
        let store = context.store()?;
        let id = store.resolve(name)?;
        if !store.has_gc(&id, event)? {
            return Ok(false);
        }
        let size = store.size(&id)?;
        let own = context.new_id("evt_", || format!("restore {id} {event} {size}"))?;
        let mut line = event::begin("restore", &own);
        line.text("at", &context.clock.now()).text("of", event);
        let line = line.finish();
        let back = store.ungc(&id, event, &line, self.edit_args.dry_run);
        let back = back.map_err(|error| named(error, name))?;
        let words = format!("{}, {} bytes", count_of(back.lines, "line"), back.bytes);
        if self.edit_args.dry_run {
            context.output.notice(name, &format!("would restore {words}"));
            return context
                .output
                .print(&String::from_utf8_lossy(&line))
                .map(|()| true);
        }
        if self.edit_args.json {
            let record: serde_json::Value = serde_json::from_slice(&line)?;
            let report = serde_json::json!({
                "schema": "convo.change/1", "id": id, "changed": true,
                "what": format!("undid gc {event}"), "records": [record],
            });
            context.output.print_done(&report.to_string())?;
        } else {
            context
                .output
                .notice(name, &format!("undid gc {event}: restored {words}"));
        }
        Ok(true)
    }

    /// Lists the events of a session that can be undone.
    fn events(&self, context: &Context, input: &InputLocation) -> anyhow::Result<()> {
        let mut rows = Vec::new();
        match input {
            InputLocation::Name(name) => {
                let store = context.store()?;
                let mut report = Report::default();
                let session = store.load_events(&store.resolve(name)?, &mut report)?;
                context.output.report(name, &mut report);
                rows.push((name.clone(), restore::events(&session)));
            }
            _ => each_session(
                context,
                std::slice::from_ref(input),
                &self.reading,
                |label, session| {
                    rows.push((label.to_string(), restore::events(&session)));
                    Ok(())
                },
            )?,
        }
        let changes = || rows.iter().flat_map(|(_, changes)| changes);
        match self.edit_args.json {
            true => context.output.rows(false, changes().map(object))?,
            false => table(context, &EVENTS, changes().map(cells))?,
        }
        for (label, _) in rows.iter().filter(|(_, changes)| changes.is_empty()) {
            context.output.notice(label, "no undoable events");
        }
        Ok(())
    }

    /// Lists the sessions in the trash.
    fn removed(&self, context: &Context) -> anyhow::Result<()> {
        let trash = context.store()?.trash()?;
        let object = |(id, at): &(String, String)| serde_json::json!({"schema": "convo.removed/1", "id": id, "at": at});
        let cells = |(id, at): &(String, String)| vec![Cell::Text(id.clone()), Cell::Time(Some(at.clone()))];
        match self.edit_args.json {
            true => context
                .output
                .rows(false, trash.iter().map(|row| object(row).to_string()))?,
            false => table(context, &REMOVED, trash.iter().map(cells))?,
        }
        if trash.is_empty() {
            let error = Error::new(ErrorKind::No, "no removed sessions");
            context.output.notice("", &error.message);
        }
        Ok(())
    }
}

fn table(context: &Context, columns: &[Column], rows: impl Iterator<Item = Vec<Cell>>) -> anyhow::Result<()> {
    let times = Times::new(TimeOptions::default(), &context.clock);
    Table::new(columns, &times).print(&context.output, rows)
}

/// Encodes a change as an object.
fn object(change: &UndoableChange) -> String {
    let row = serde_json::json!({
        "schema": "convo.event/1", "id": change.id, "at": change.at, "type": change.kind,
        "what": change.what, "counts": change.counts,
    });
    row.to_string()
}

/// Formats a change as a row.
fn cells(change: &UndoableChange) -> Vec<Cell> {
    let text = |text: &str| Cell::Text(text.to_string());
    let mut cells = vec![
        text(&change.id),
        Cell::Time(Some(change.at.clone())),
        text(&change.kind),
        text(&change.what),
    ];
    if !change.counts {
        cells.push(text("undone"));
    }
    cells
}
