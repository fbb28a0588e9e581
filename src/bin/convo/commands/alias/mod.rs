//! `alias`: additional names of sessions.

mod folder;
mod promote;

use super::Run;
use crate::args::checked_name;
use crate::context::Context;
use clap::{Args, Subcommand};
use convo::error::{Error, Kind};
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
pub struct Alias {
    /// Use the aliases of a PicoClaw directory
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    picoclaw: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Add an alias (status 73 if it is taken)
    Add {
        /// Take over an alias that is in use
        #[arg(long = "move")]
        moved: bool,
        /// New alias
        alias: String,
        /// Session: id, prefix, alias, key or @last
        name: String,
    },
    /// Remove an alias and keep the session
    Remove {
        /// Alias
        alias: String,
    },
    /// List aliases and their sessions
    List {
        /// Only aliases of this session
        name: Option<String>,
        /// Print one object per alias
        #[arg(long)]
        json: bool,
    },
    /// Print the session id of an alias
    Resolve {
        /// Alias
        alias: String,
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

impl Run for Alias {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        if let Some(path) = &self.picoclaw {
            return folder::run(context, path, self.action);
        }
        let store = context.store()?;
        match self.action {
            Action::Add { moved, alias, name } => {
                checked_name(&alias)?;
                let id = store.resolve(&name)?;
                match moved {
                    true => store.alias_move(&alias, &id)?,
                    false => store.alias_add(&alias, &id)?,
                }
                context.output.tell(&alias, &format!("names {id}"));
                Ok(())
            }
            Action::Remove { alias } => {
                store.alias_remove(&alias)?;
                context.output.tell(&alias, "is no name any more");
                Ok(())
            }
            Action::List { name, json } => {
                let (mut aliases, faults) = store.aliases_and_faults()?;
                // One bad entry hides no other.
                for error in faults {
                    context.output.error(&error);
                }
                if let Some(name) = name {
                    let id = store.resolve(&name)?;
                    aliases.retain(|(_, ids)| ids.contains(&id));
                }
                context.output.stdout(|out| {
                    for (alias, ids) in aliases {
                        let line = if json {
                            serde_json::json!({"schema": "convo.alias/1", "alias": alias, "ids": ids})
                                .to_string()
                        } else {
                            format!("{}\t{}", crate::output::visible(&alias), ids.join(","))
                        };
                        writeln!(out, "{line}").map_err(|error| Error::io("cannot write", error))?;
                    }
                    Ok(())
                })
            }
            Action::Promote { name, aliases } => Promotion::new(context, &name, &aliases)?.run(),
            Action::Resolve { alias } => {
                let ids = store.alias_ids(&alias)?.unwrap_or_default();
                match ids.as_slice() {
                    [id] => context.output.print(id),
                    [] => Err(Error::new(Kind::NotFound, format!("no alias {alias}")).into()),
                    ids => Err(Error::new(
                        Kind::Exists,
                        format!(
                            "the alias {alias} is claimed by several sessions: {}",
                            ids.join(", ")
                        ),
                    )
                    .hint("`convo alias remove` it, and add it to the one that is meant")
                    .into()),
                }
            }
        }
    }
}
