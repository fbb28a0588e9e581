//! `remove`: moves sessions to the trash.

use super::Run;
use crate::args::InputLocation;
use crate::context::Context;
use crate::errors::named;
use crate::input::report_and_continue;
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::model::key;
use convo::store::EXACTLY;

/// Move sessions to the trash
///
/// `restore ID` recovers a session. With --purge, permanently deletes the log, its aliases and all copies in the trash,
/// archive and quarantine; requires the full id, and an interrupted purge is completed by repeating it.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo remove chat                                move to the trash
  convo restore session_20261120_180203_9f2c41d0   recover, by its id
  convo remove --purge chat                        delete permanently")]
pub struct RemoveCommand {
    /// Sessions: id, prefix, alias, key or @last
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Delete permanently, including all copies
    #[arg(long, help_heading = "Action")]
    purge: bool,
    /// Print one object per session
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for RemoveCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        for name in &self.names {
            report_and_continue(context, self.one(context, name), self.names.len())?;
        }
        Ok(())
    }
}

impl RemoveCommand {
    fn one(&self, context: &Context, name: &str) -> anyhow::Result<()> {
        if let InputLocation::Path(_) | InputLocation::Stdin = InputLocation::of(name) {
            let error = Error::usage("remove requires stored sessions, not paths");
            return Err(named(error, name).hint("remove a file with: rm").into());
        }
        let store = context.store()?;
        if key::is_id(name)
            && store.has(name)?
            && let Some(other) = store.exactly(name)?.filter(|id| id != name)
        {
            let what = format!("ambiguous: key of {other} and id of its first session");
            let error = named(Error::usage(what), name);
            return Err(error.hint(format!("{EXACTLY}{name} or {other}")).into());
        }
        let literal = name.strip_prefix(EXACTLY).unwrap_or(name);
        let id = match store.exactly(name) {
            Ok(Some(id)) if !self.purge || id == literal => id,
            // A session in the trash, or partly purged, can be purged by its id.
            _ if self.purge && store.has_files_besides_log(literal)? => literal.to_string(),
            Ok(None) if store.trash()?.iter().any(|(id, _)| id == name) => {
                let error = Error::new(ErrorKind::NotFound, "already in the trash");
                return Err(named(error, name)
                    .hint(format!("delete it permanently with: convo remove --purge {name}"))
                    .into());
            }
            // An alias or a key may name another session than its user expects, and nothing brings that back.
            Ok(found) if self.purge => {
                let id = found.map_or_else(|| store.resolve(name), Ok)?;
                let error = Error::new(ErrorKind::NotFound, "--purge requires a full id");
                return Err(named(error, name).hint(format!("did you mean '{id}'?")).into());
            }
            Ok(found) => found.map_or_else(|| store.resolve(name), Ok)?,
            Err(error) => return Err(error.into()),
        };
        let reported = serde_json::json!({"schema": "convo.remove/1", "id": id, "purged": self.purge});
        if self.purge {
            store.purge(&id).map_err(|error| named(error, name))?;
        } else {
            store
                .remove(&id, &context.clock.now())
                .map_err(|error| named(error, name))?;
        }
        if self.json {
            return context.output.print_done(&reported.to_string());
        }
        if self.purge {
            context.output.notice(name, "deleted permanently");
        } else {
            let exactly = match store.exactly(&id) {
                Ok(Some(_)) => EXACTLY,
                _ => "",
            };
            context.output.notice(
                name,
                &format!("moved to the trash (recover with: convo restore {exactly}{id})"),
            );
        }
        Ok(())
    }
}
