//! `alias`: other names for sessions.

mod folder;
mod promote;

use super::Run;
use crate::args::checked_name;
use crate::context::Context;
use clap::{Args, Subcommand};
use convo::error::{Error, Kind};
use promote::Promotion;
use std::path::PathBuf;

/// Give sessions of the store other names
///
/// A name belongs to one session. Resolving one is a single open, however many sessions there are.
#[derive(Args, Debug)]
#[command(
    before_long_help = "Examples:
  convo alias add work session_20261120_180203_9f2c41d07ab3e655
  convo append work 'Where were we?'
  convo alias resolve work
  convo alias add --move work session_20261121_090000_41d07ab3e6559f2c
  convo alias promote \"$key\" agent:main:direct:ann    history under an older name
  convo alias remove work
  convo alias --picoclaw ./sessions resolve agent:main:direct:ann",
    subcommand_required = true,
    arg_required_else_help = false
)]
pub struct Alias {
    /// In a directory of PicoClaw's, whose sidecars keep the names
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    picoclaw: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Name a session; a name that is taken is status 73
    Add {
        /// Take the name from the sessions that have it
        #[arg(long = "move")]
        moved: bool,
        /// The new name
        alias: String,
        /// The session: id, prefix, alias, key or @last
        name: String,
    },
    /// Take a name away; the session stays
    Remove {
        /// The name
        alias: String,
    },
    /// Print every name and the id of its session
    List {
        /// Only the names of this session
        name: Option<String>,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Print the id that a name stands for
    Resolve {
        /// The name
        alias: String,
    },
    /// Take over the history that is kept under an older name
    ///
    /// Only into a session with nothing in its view and no summary: the view and the summary of the first session
    /// that has one of the older names as its own id or key, and a history. Its log stays, says where its history went,
    /// and gives it to no other; the older name means the new session from then on. The name of an agent's main session
    /// is every session's: nothing is taken from it. Without ALIAS the names that the session's header lists. Done
    /// again it changes nothing; nothing to take is status 1.
    Promote {
        /// The session that has no history yet
        name: String,
        /// Older names, the first one first
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
