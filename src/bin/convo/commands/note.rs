//! `note`: adds and lists notes on sessions and messages.

use super::Run;
use crate::args::{EditArgs, InputArgs, TimeOptions};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::input::{each_session, each_session_and_format, operands};
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use convo::error::{Error, ErrorKind, Position};
use convo::filter::metadata;
use convo::model::note::{Note as Found, notes};

/// Add or list notes on a session or a message
///
/// With TEXT, adds a note on the session, or with --message on a message. Without TEXT, lists the notes. A note changes
/// no view, and no model receives it; `show`, pages and the log contain it. In the store, the change is one event that
/// `restore` undoes; otherwise prints the session with the note.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo note chat 'Compare with the second run'       on the session
  convo note chat --message m7 'Wrong: see the docs'  on a message
  convo note chat                                     list the notes
  convo restore chat                                  undo the last change")]
pub struct NoteCommand {
    /// Session name, file, or - for standard input
    #[arg(value_name = "INPUT")]
    input: String,
    /// Text of the note
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// The message that the note is on; without TEXT, list only its notes
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new(), help_heading = "Note")]
    message: Option<String>,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    edit_args: EditArgs,
}

/// Columns of the list.
const COLUMNS: [Column; 4] = [
    Column::text("EVENT"),
    Column::dim("TIME"),
    Column::text("MESSAGE"),
    Column::rest("NOTE"),
];

impl Run for NoteCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let inputs = [operands::input(context, &self.input)?];
        let of = self.message.as_deref();
        if let Some(text) = &self.text {
            let edit = EditRequest::new(&self.reading, &self.edit_args);
            edit::run(context, &inputs, edit, |session, event_ids| {
                metadata::add_note(session, text, of, |content| event_ids.event(content))
            })?;
            return match self.edit_args.in_place.is_some() && !self.edit_args.dry_run {
                true => self.verify(context, text.trim()),
                false => Ok(()),
            };
        }
        context.output.set_json_diagnostics(self.edit_args.json);
        let is_wanted = |note: &Found| of.is_none() || note.of.as_deref() == of;
        let mut rows = Vec::new();
        each_session(context, &inputs, &self.reading, |label, session| {
            let found: Vec<Found> = notes(&session).into_iter().filter(is_wanted).collect();
            if found.is_empty() {
                context.output.notice(label, "no notes");
            }
            let id = session.header_text("id");
            rows.extend(found.into_iter().map(|note| (id.clone(), note)));
            Ok(())
        })?;
        if self.edit_args.json {
            let object = |(session, note): &(Option<String>, Found)| {
                let object = serde_json::json!({
                    "schema": "convo.note/1", "session": session, "id": note.id, "at": note.at, "of": note.of,
                    "text": note.text,
                });
                object.to_string()
            };
            return context.output.rows(false, rows.iter().map(object));
        }
        let cells = |(_, note): (Option<String>, Found)| {
            vec![
                Cell::Text(note.id),
                Cell::Time(Some(note.at)),
                Cell::Text(note.of.unwrap_or_else(|| "-".to_string())),
                Cell::Text(note.text),
            ]
        };
        let times = Times::new(TimeOptions::default(), &context.clock);
        Table::new(&COLUMNS, &times).print(&context.output, rows.into_iter().map(cells))
    }
}

impl NoteCommand {
    /// Checks that the file has stored the note: few formats can.
    fn verify(&self, context: &Context, text: &str) -> anyhow::Result<()> {
        let inputs = [operands::input(context, &self.input)?];
        each_session_and_format(context, &inputs, &self.reading, |label, format, session| {
            if notes(&session).iter().any(|note| note.text == text) {
                return Ok(());
            }
            let what = format!("{} files cannot store notes", format.name());
            let error = Error::new(ErrorKind::No, what).at(label, Position::default());
            Err(error
                .hint("write a native file: convo note INPUT TEXT > FILE")
                .into())
        })
    }
}
