//! `tag`: adds, removes and lists tags of sessions.

use super::Run;
use crate::args::{EditArgs, InputArgs, OutputArgs, PackArgs, TimeOptions, TokenizerArgs};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::input::{each_session, operands};
use crate::overviews::OverviewReader;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use clap::Args;
use convo::error::Error;
use convo::filter::metadata::{self, TagChange};
use convo::filter::overview::tags_of;
use std::collections::BTreeMap;

/// Add, remove and list tags of a session
///
/// Without changes, lists the tags of the session, one per line; without INPUT, lists all tags of the store with the
/// number of sessions. A tag consists of at most 64 lower-case letters, digits, `.`, `_` and `-`, and starts with a
/// letter or a digit. In the store, the change is one event that `restore` undoes; otherwise prints the session with the
/// new tags. Options precede the session.
#[derive(Args, Debug)]
#[command(
    before_long_help = "Examples:
  convo tag chat +work +urgent              add two tags
  convo tag chat -urgent                    remove a tag
  convo tag chat                            list the tags of a session
  convo tag                                 list all tags
  convo list --tag work                     list the sessions with a tag
  convo restore chat                        undo the last change",
    override_usage = "convo tag [OPTIONS] [INPUT [+TAG|-TAG]...]"
)]
pub struct TagCommand {
    /// Print the result as JSON Lines
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print the planned change; change nothing
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    #[command(flatten)]
    packing: PackArgs,
    /// Session name, file, or -; then +TAG adds and -TAG removes a tag
    ///
    /// Everything after the session is a tag. Without a session, the tags of the store are listed.
    #[arg(value_name = "INPUT", trailing_var_arg = true, allow_hyphen_values = true)]
    operands: Vec<String>,
}

/// Columns of the list of all tags.
const COLUMNS: [Column; 2] = [Column::text("TAG"), Column::number("SESSIONS")];

impl Run for TagCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let Some((input, changes)) = self.operands.split_first() else {
            return self.all(context);
        };
        let changes: Result<Vec<TagChange>, Error> =
            changes.iter().map(|change| tag_change(change)).collect();
        let changes = changes?;
        let (inputs, reading) = ([operands::input(context, input)?], InputArgs::default());
        if !changes.is_empty() {
            let args = EditArgs {
                writing: OutputArgs {
                    packing: self.packing,
                    ..OutputArgs::default()
                },
                json: self.json,
                dry_run: self.dry_run,
                ..EditArgs::default()
            };
            let edit = EditRequest::new(&reading, &args);
            return edit::run(context, &inputs, edit, |session, event_ids| {
                metadata::set_tags(session, &changes, |content| event_ids.event(content))
            });
        }
        each_session(context, &inputs, &reading, |_, session| {
            let tags = tags_of(&session);
            if self.json {
                let line = serde_json::json!({
                    "schema": "convo.tags/1", "id": session.header_text("id"), "tags": tags,
                });
                return context.output.print(&line.to_string());
            }
            tags.iter().try_for_each(|tag| context.output.print(tag))
        })
    }
}

fn tag_change(text: &str) -> Result<TagChange, Error> {
    TagChange::parse(text).map_err(|expected| {
        let error = Error::usage(format!("'{text}': {expected}"));
        match text.starts_with("--") {
            true => error.hint("options precede the session: convo tag [OPTIONS] INPUT [+TAG|-TAG]..."),
            false => error,
        }
    })
}

impl TagCommand {
    /// Lists the tags of the store.
    fn all(&self, context: &Context) -> anyhow::Result<()> {
        let tokenizer_args = TokenizerArgs::default();
        let mut tags: BTreeMap<String, u64> = BTreeMap::new();
        for stored in OverviewReader::new(context, &tokenizer_args, false).stored()? {
            for tag in stored.value.tags {
                *tags.entry(tag).or_default() += 1;
            }
        }
        if self.json {
            return context.output.stdout(|out| {
                for (tag, sessions) in &tags {
                    let line = serde_json::json!({"schema": "convo.tag/1", "tag": tag, "sessions": sessions});
                    writeln!(out, "{line}").map_err(|error| Error::io("cannot write", error))?;
                }
                Ok(())
            });
        }
        let rows = tags
            .into_iter()
            .map(|(tag, sessions)| vec![Cell::Text(tag), Cell::Number(Some(sessions))]);
        let times = Times::new(TimeOptions::default(), &context.clock);
        Table::new(&COLUMNS, &times).print(&context.output, rows)
    }
}
