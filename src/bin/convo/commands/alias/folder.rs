//! The names of sessions in a directory of PicoClaw's, which its sidecars keep.

use super::Action;
use crate::context::Context;
use crate::output::{counted, path_name, visible};
use convo::error::{Error, Kind, Place};
use convo::format::report::Report;
use convo::store::foreign::{Asked, Names, promote};
use std::path::Path;

/// Carries an action out there.
pub fn run(context: &Context, path: &Path, action: Action) -> anyhow::Result<()> {
    let now = context.clock.now();
    let timeout = context.lock_timeout();
    let names = Names::read(path)?;
    for (file, why) in names.unreadable() {
        let mut report = Report::default();
        let what = format!("unreadable sidecar ({why}): its aliases are unknown");
        report.damage(Place::default(), what);
        context.output.report(&path_name(&path.join(file)), &mut report);
    }
    let unknown = |name: &str| Error::new(Kind::NotFound, format!("no session {name} in {}", path.display()));
    match action {
        Action::Add { moved, alias, name } => {
            let key = names.resolve(&name)?.ok_or_else(|| unknown(&name))?;
            let mut names = names;
            if moved {
                for other in names.aliases().remove(alias.trim()).unwrap_or_default() {
                    if other != key {
                        names.change(&other, &now, timeout, |all| all.retain(|own| own != alias.trim()))?;
                    }
                }
                names = Names::read(path)?;
            }
            names.add(&alias, &key, &now, timeout)?;
            context.output.tell(&alias, &format!("names {key}"));
        }
        Action::Remove { alias } => {
            if names.remove(&alias, &now, timeout)?.is_empty() {
                return Err(Error::new(Kind::NotFound, format!("no alias {alias}")).into());
            }
            context.output.tell(&alias, "is no name any more");
        }
        Action::List { name, json } => {
            let mut aliases = names.aliases();
            if let Some(name) = name {
                let key = names.resolve(&name)?.ok_or_else(|| unknown(&name))?;
                aliases.retain(|_, keys| keys.contains(&key));
            }
            context.output.stdout(|out| {
                for (alias, keys) in aliases {
                    let line = match json {
                        true => serde_json::json!({"schema": "convo.alias/1", "alias": alias, "ids": keys})
                            .to_string(),
                        false => format!("{}\t{}", visible(&alias), visible(&keys.join(","))),
                    };
                    writeln!(out, "{line}").map_err(|error| Error::io("cannot write", error))?;
                }
                Ok(())
            })?;
        }
        Action::Resolve { alias } => {
            let key = names.resolve(&alias)?;
            let key =
                key.ok_or_else(|| Error::new(Kind::NotFound, format!("no alias and no session {alias}")))?;
            context.output.print(&key)?;
        }
        Action::Promote { name, aliases } => {
            let asked = Asked {
                key: &name,
                aliases: &aliases,
                now: &now,
                lock_timeout: timeout,
            };
            let Some(done) = promote(path, &asked)? else {
                let what = "there is no history under its older names: nothing was taken over";
                return Err(Error::new(Kind::No, what).into());
            };
            let summary = if done.summary { " and a summary" } else { "" };
            let messages = counted(done.messages, "message");
            let what = format!("{messages}{summary} of {} go on here", done.from);
            context.output.tell(&name, &what);
        }
    }
    Ok(())
}
