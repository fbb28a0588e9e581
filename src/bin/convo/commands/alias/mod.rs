//! `alias`: manages additional names of sessions.

mod action;
mod picoclaw_dir;
mod promote;
mod report;

use super::Run;
use crate::args::{ALL, TimeOptions, checked_name};
use crate::context::Context;
use crate::output::columns;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use action::AliasAction;
use clap::Args;
use convo::error::{Error, ErrorKind};
use promote::Promotion;
use report::{done, row, unknown};
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
