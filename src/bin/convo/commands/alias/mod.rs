//! `alias`: manages additional names of sessions.

mod picoclaw_dir;
mod promote;

use super::Run;
use crate::args::{ALL, TimeOptions, checked_name};
use crate::context::Context;
use crate::output::{columns, visible};
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use clap::{Args, Subcommand};
use convo::error::{Error, ErrorKind};
use promote::Promotion;
use std::path::PathBuf;

/// Manage session aliases
///
/// An alias is an additional name of one session. Lookup time does not depend on the number of sessions.
#[derive(Args, Debug)]
#[command(
    before_long_help = "Examples:
  convo alias add work session_20261120_180203_9f2c41d07ab3e655
  convo append work 'Where were we?'
  convo alias resolve work
  convo alias add --move work session_20261121_090000_41d07ab3e6559f2c
  convo alias promote \"$key\" agent:main:direct:ann    adopt older history
  convo alias remove work
  convo alias --picoclaw ./sessions resolve agent:main:direct:ann",
    subcommand_required = true,
    arg_required_else_help = false
)]
pub struct AliasCommand {
    /// Use the aliases of a PicoClaw directory
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    picoclaw: Option<PathBuf>,
    #[command(subcommand)]
    action: AliasAction,
}

#[derive(Subcommand, Debug)]
enum AliasAction {
    /// Add an alias (status 73 if it is taken)
    Add {
        /// Take over an alias that is in use
        #[arg(long = "move")]
        moved: bool,
        /// New alias
        alias: String,
        /// Session: id, prefix, alias, key or @last
        name: String,
        #[command(flatten)]
        form: PrintForm,
    },
    /// Rename an alias
    Rename {
        /// Alias
        #[arg(value_name = "OLD")]
        alias: String,
        /// Its new name (status 73 if it is taken)
        #[arg(value_name = "NEW")]
        new: String,
        #[command(flatten)]
        form: PrintForm,
    },
    /// Remove an alias and keep the session
    Remove {
        /// Alias
        alias: String,
        #[command(flatten)]
        form: PrintForm,
    },
    /// List aliases and their sessions
    List {
        /// Only aliases of this session
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// End each line with NUL and print names unchanged
        #[arg(short = '0', long)]
        null: bool,
        #[command(flatten)]
        form: PrintForm,
    },
    /// Print the session id of an alias
    Resolve {
        /// Alias
        alias: String,
        #[command(flatten)]
        form: PrintForm,
    },
    /// Adopt the history stored under an older name
    ///
    /// Copies view and summary of the first session named by an ALIAS (default: those in the header) into the session,
    /// which must be empty, and points the ALIAS to it. The old log is kept and records the move; repeating the command
    /// changes nothing. The shared name of an agent's main session is never a source. Exits with 1 if there is no history
    /// to adopt.
    Promote {
        /// Session without history
        name: String,
        /// Older names, in order of preference
        #[arg(value_name = "ALIAS")]
        aliases: Vec<String>,
    },
}

/// How the result is printed.
#[derive(Args, Clone, Copy, Debug)]
struct PrintForm {
    /// Print one object per alias
    #[arg(long)]
    json: bool,
}

impl AliasAction {
    /// Whether the result is printed as JSON.
    fn json(&self) -> bool {
        match self {
            AliasAction::Add { form, .. }
            | AliasAction::Rename { form, .. }
            | AliasAction::Remove { form, .. }
            | AliasAction::List { form, .. }
            | AliasAction::Resolve { form, .. } => form.json,
            AliasAction::Promote { .. } => false,
        }
    }
}

/// Columns of the list.
const COLUMNS: [Column; 2] = [Column::text("ALIAS"), Column::rest("SESSION")];

impl Run for AliasCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let json = self.action.json();
        context.output.set_json_diagnostics(json);
        if let Some(path) = &self.picoclaw {
            return picoclaw_dir::run(context, path, json, self.action);
        }
        let store = context.store()?;
        match self.action {
            AliasAction::Add {
                moved, alias, name, ..
            } => {
                checked_name(&alias)?;
                let id = store
                    .resolve(&name)
                    .map_err(|error| match store.resolve(&alias) {
                        Ok(_) => error.hint(format!(
                            "the new alias comes first: convo alias add {name} {alias}"
                        )),
                        Err(_) => error,
                    })?;
                match moved {
                    true => store.alias_move(&alias, &id)?,
                    false => store.alias_add(&alias, &id)?,
                }
                report_prefix(context, &alias, &id)?;
                let what = format!("alias added for {id}");
                done(context, json, &alias, &[id], &what)
            }
            AliasAction::Rename { alias, new, .. } => {
                checked_name(&new)?;
                let ids = store.alias_ids(&alias)?.unwrap_or_default();
                match ids.as_slice() {
                    [] => return Err(unknown(&alias).into()),
                    [id] => store.alias_add(&new, id)?,
                    ids => store.alias_claim(&new, ids)?,
                }
                if new != alias {
                    store.alias_remove(&alias)?;
                }
                done(context, json, &new, &ids, &format!("renamed from {alias}"))
            }
            AliasAction::Remove { alias, .. } => {
                let ids = store.alias_ids(&alias)?.unwrap_or_default();
                store.alias_remove(&alias)?;
                done(context, json, &alias, &ids, "alias removed")
            }
            AliasAction::List { name, null, .. } => {
                let (mut aliases, faults) = store.aliases_and_faults()?;
                // Report damaged entries, but list all others.
                for error in faults {
                    context.output.error(&error);
                }
                if let Some(name) = name.filter(|name| name != ALL) {
                    let id = store.resolve(&name)?;
                    aliases.retain(|(_, ids)| ids.contains(&id));
                }
                if columns().is_some() && !json && !null {
                    let times = Times::new(TimeOptions::default(), &context.clock);
                    let cells =
                        |(alias, ids): (String, Vec<String>)| [alias, ids.join(",")].map(Cell::Text).to_vec();
                    return Table::new(&COLUMNS, &times)
                        .print(&context.output, aliases.into_iter().map(cells));
                }
                let row = |(alias, ids): (String, Vec<String>)| row(json, null, &alias, &ids);
                context.output.rows(null, aliases.into_iter().map(row))
            }
            AliasAction::Promote { name, aliases } => Promotion::new(context, &name, &aliases)?.run(),
            AliasAction::Resolve { alias, .. } => {
                let ids = store.alias_ids(&alias)?.unwrap_or_default();
                match ids.as_slice() {
                    [_] if json => context.output.print(&row(true, false, &alias, &ids)),
                    [id] => context.output.print(id),
                    [] => Err(unknown(&alias).into()),
                    ids => Err(Error::new(
                        ErrorKind::Exists,
                        format!("{alias}: ambiguous alias, claimed by {}", ids.join(", ")),
                    )
                    .hint("assign it with: convo alias add --move")
                    .into()),
                }
            }
        }
    }
}

/// Reports that an alias hides sessions whose id begins with it.
fn report_prefix(context: &Context, alias: &str, id: &str) -> anyhow::Result<()> {
    let others = context.store()?.ids()?.into_iter().map(|entry| entry.id);
    let hidden = others.filter(|other| other != id && other.starts_with(alias));
    let what = match hidden.collect::<Vec<_>>().as_slice() {
        [] => return Ok(()),
        [other] => format!("also a prefix of session {other}"),
        others => format!("also a prefix of {} other sessions", others.len()),
    };
    context
        .output
        .notice(alias, &format!("{what}; the alias takes precedence"));
    Ok(())
}

fn unknown(alias: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("{alias}: no such alias"))
        .hint("list aliases with: convo alias list")
}

/// Formats an alias and the sessions that it names as a line.
fn row(json: bool, exact: bool, alias: &str, ids: &[String]) -> String {
    match (json, exact) {
        (true, _) => serde_json::json!({"schema": "convo.alias/1", "alias": alias, "ids": ids}).to_string(),
        (false, true) => format!("{alias}\t{}", ids.join(",")),
        (false, false) => format!("{}\t{}", visible(alias), visible(&ids.join(","))),
    }
}

/// Reports a change.
fn done(context: &Context, json: bool, alias: &str, ids: &[String], what: &str) -> anyhow::Result<()> {
    match json {
        true => context.output.print_done(&row(true, false, alias, ids)),
        false => {
            context.output.notice(alias, what);
            Ok(())
        }
    }
}
