//! `title`: prints or sets the title of a session.

use super::Run;
use crate::args::{EditArgs, InputArgs};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::input::{each_session, each_session_and_format, operands};
use clap::Args;
use convo::error::{Error, ErrorKind, Position};
use convo::filter::metadata;
use convo::filter::overview::Title as Found;
use convo::model::view::View;

/// Print or set the title of a session
///
/// Without TEXT, prints the title that `list` shows, complete: the one that was set, else the first line of the first
/// question. With TEXT, sets the title; an empty TEXT removes it. The id does not change. In the store, the change is one
/// event that `restore` undoes; otherwise prints the session with the new title.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo title chat                          print the title
  convo title chat 'Trip to Rome'           set the title
  convo title chat ''                       remove the title
  convo title -i session.jsonl 'Trip'       the title of a file
  convo restore chat                        undo the last change")]
pub struct TitleCommand {
    /// Session name, file, or - for standard input
    #[arg(value_name = "INPUT")]
    input: String,
    /// New title; an empty text removes the title
    text: Option<String>,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    edit_args: EditArgs,
}

impl Run for TitleCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let inputs = [operands::input(context, &self.input)?];
        if let Some(text) = &self.text {
            let edit = EditRequest::new(&self.reading, &self.edit_args);
            edit::run(context, &inputs, edit, |session, event_ids| {
                metadata::set_title(session, text, |content| event_ids.event(content))
            })?;
            return match self.edit_args.in_place.is_some() && !self.edit_args.dry_run {
                true => self.verify(context, text.trim()),
                false => Ok(()),
            };
        }
        context.output.set_json_diagnostics(self.edit_args.json);
        each_session(context, &inputs, &self.reading, |label, session| {
            let set = session.header_text(metadata::TITLE);
            let title = Found::of(&session, set, &View::replay(&session));
            if self.edit_args.json {
                let line = serde_json::json!({
                    "schema": "convo.title/1", "id": session.header_text("id"),
                    "title": title.as_ref().map(|title| &title.text),
                    "title_from": title.as_ref().map(|title| title.from.name()),
                });
                return context.output.print(&line.to_string());
            }
            match title {
                Some(title) => context.output.print(&title.text),
                None => {
                    context.output.notice(label, "no title");
                    Ok(())
                }
            }
        })
    }
}

impl TitleCommand {
    /// Checks that the file has stored the title: not every format can.
    fn verify(&self, context: &Context, title: &str) -> anyhow::Result<()> {
        let inputs = [operands::input(context, &self.input)?];
        each_session_and_format(context, &inputs, &self.reading, |label, format, session| {
            if session.header_text(metadata::TITLE).unwrap_or_default() == title {
                return Ok(());
            }
            let what = format!("{} files cannot store this title", format.name());
            let error = Error::new(ErrorKind::No, what).at(label, Position::default());
            Err(error
                .hint("write a native file: convo title INPUT TEXT > FILE")
                .into())
        })
    }
}
