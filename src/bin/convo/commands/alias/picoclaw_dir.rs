//! Aliases in a directory of another system, which stores them next to its sessions.

use super::action::AliasAction;
use super::report::{self, done, row};
use crate::args::ALL;
use crate::context::Context;
use crate::output::{count_of, path_name};
use convo::error::{Error, ErrorKind, Position};
use convo::format::report::Report;
use convo::store::foreign::{PromotionRequest, SidecarNames, promote};
use std::path::Path;

/// Carries out an action in such a directory.
pub fn run(context: &Context, path: &Path, json: bool, action: AliasAction) -> anyhow::Result<()> {
    let now = context.clock.now();
    let timeout = context.lock_timeout();
    let names = SidecarNames::read(path)?;
    for (file, why) in names.unreadable() {
        let mut report = Report::default();
        let what = format!("unreadable sidecar ({why}); aliases unknown");
        report.damage(Position::default(), what);
        context.output.report(&path_name(&path.join(file)), &mut report);
    }
    let unknown = |name: &str| {
        Error::new(
            ErrorKind::NotFound,
            format!("{name}: no such session in {}", path.display()),
        )
    };
    match action {
        AliasAction::Add {
            moved, alias, name, ..
        } => {
            let key = names.resolve(&name)?.ok_or_else(|| unknown(&name))?;
            let mut names = names;
            if moved {
                for other in names.aliases().remove(alias.trim()).unwrap_or_default() {
                    if other != key {
                        names.change(&other, &now, timeout, |all| all.retain(|own| own != alias.trim()))?;
                    }
                }
                names = SidecarNames::read(path)?;
            }
            names.add(&alias, &key, &now, timeout)?;
            let what = format!("alias added for {key}");
            done(context, json, &alias, &[key], &what)?;
        }
        AliasAction::Rename { alias, new, .. } => {
            let keys = names.aliases().remove(alias.trim()).unwrap_or_default();
            if keys.is_empty() {
                return Err(report::unknown(&alias).into());
            }
            for key in &keys {
                names.add(&new, key, &now, timeout)?;
            }
            if new.trim() != alias.trim() {
                SidecarNames::read(path)?.remove(&alias, &now, timeout)?;
            }
            done(context, json, &new, &keys, &format!("renamed from {alias}"))?;
        }
        AliasAction::Remove { alias, .. } => {
            let keys = names.aliases().remove(alias.trim()).unwrap_or_default();
            if names.remove(&alias, &now, timeout)?.is_empty() {
                return Err(report::unknown(&alias).into());
            }
            done(context, json, &alias, &keys, "alias removed")?;
        }
        AliasAction::List { name, null, .. } => {
            let mut aliases = names.aliases();
            if let Some(name) = name.filter(|name| name != ALL) {
                let key = names.resolve(&name)?.ok_or_else(|| unknown(&name))?;
                aliases.retain(|_, keys| keys.contains(&key));
            }
            let row = |(alias, keys): (String, Vec<String>)| row(json, null, &alias, &keys);
            context.output.rows(null, aliases.into_iter().map(row))?;
        }
        AliasAction::Resolve { alias, .. } => {
            let key = names.resolve(&alias)?;
            let key = key.ok_or_else(|| {
                Error::new(ErrorKind::NotFound, format!("{alias}: no such alias or session"))
            })?;
            match json {
                true => context.output.print(&row(true, false, &alias, &[key]))?,
                false => context.output.print(&key)?,
            }
        }
        AliasAction::Promote { name, aliases } => {
            let requested = PromotionRequest {
                key: &name,
                aliases: &aliases,
                now: &now,
                lock_timeout: timeout,
            };
            let Some(done) = promote(path, &requested)? else {
                let what = "no history under older names; nothing was adopted";
                return Err(Error::new(ErrorKind::No, what).into());
            };
            let summary = if done.summary { " and a summary" } else { "" };
            let messages = count_of(done.messages, "message");
            let what = format!("adopted {messages}{summary} of {}", done.from);
            context.output.notice(&name, &what);
        }
    }
    Ok(())
}
