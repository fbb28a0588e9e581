//! `fsck`: checks and repairs the store, and directories of other systems.

mod foreign_dir;

use super::Run;
use crate::args::{ALL, InputLocation, readable};
use crate::context::Context;
use crate::errors::named;
use crate::input::report_and_continue;
use crate::output::{count_of, in_line};
use clap::Args;
use convo::error::{Error, ErrorKind, Position};
use convo::format::Format;
use convo::model::event::Stamp;
use convo::store::fsck::{FoundProblem, FsckOptions, FsckStats, Problem};
use foreign_dir::DirectoryCheck;
use std::io;
use std::path::Path;

/// Check the store for damage, and repair it
///
/// Verifies every checksum, link, alias, leftover file and permission. Prints one problem per line; exits with 1 if there
/// are any. With --repair, saves the log to the quarantine, repairs it without changing intact lines, and exits with 0 if
/// no problem remains.
///
/// Checks PicoClaw and Penguin directories for truncated or merged lines, unreadable files, mismatched sidecars and
/// indexes, broken links, duplicate names, unanswered calls and leftover files. With --repair, moves damaged data to
/// .convo/quarantine in the directory first.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo fsck                  the whole store
  convo fsck chat             one session
  convo fsck --repair         repair the problems
  convo fsck ./sessions       a directory of PicoClaw or Penguin
  convo fsck --json | jq -r .trouble | sort | uniq -c
  convo fsck -q || echo 'the store is damaged'")]
pub struct FsckCommand {
    /// Sessions or directories [default: the store]
    #[arg(value_name = "NAME|DIR")]
    names: Vec<String>,
    /// Directory type: picoclaw or penguin [default: detected]
    #[arg(short, long, value_name = "FORMAT", value_parser = readable, help_heading = "Action")]
    from: Option<Format>,
    /// Repair problems
    #[arg(long, help_heading = "Action")]
    repair: bool,
    /// With --repair, link session ID to the session it claims to continue
    ///
    /// For a session whose header names an original or a source of `split` that has no link to it. Without this option, only
    /// links that an interrupted convo left incomplete are added. Refused if an alias names the original, or if another
    /// session continues it.
    #[arg(
        long,
        value_name = "ID",
        requires = "repair",
        conflicts_with = "names",
        help_heading = "Action"
    )]
    link: Vec<String>,
    /// With --repair, proceed even if another program has a log open
    #[arg(long, requires = "repair", help_heading = "Action")]
    force: bool,
    /// Print one object per problem
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for FsckCommand {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        if self.names.iter().any(|name| name == ALL) {
            self.names.clear();
        }
        let mut dirs = Vec::new();
        for name in &self.names {
            match std::fs::metadata(name) {
                Ok(about) if about.is_dir() => dirs.push(name),
                // An operand that cannot be read is an error here only if it can only be a path.
                Err(error)
                    if error.kind() != io::ErrorKind::NotFound
                        && matches!(InputLocation::of(name), InputLocation::Path(_)) =>
                {
                    return Err(named(Error::io("cannot read", error), name).into());
                }
                _ => {}
            }
        }
        if !dirs.is_empty() && !self.link.is_empty() {
            return Err(Error::usage("--link requires stored sessions").into());
        }
        if !dirs.is_empty() {
            return self.dirs(context, &dirs);
        }
        for name in &self.names {
            if let InputLocation::Path(_) | InputLocation::Stdin = InputLocation::of(name) {
                let error = Error::usage("fsck requires stored sessions or directories, not files");
                return Err(named(error, name)
                    .hint("report the damage of a file with: convo count")
                    .into());
            }
        }
        let found = self.stored(context)?;
        if found > 0 {
            context.output.note_status(ErrorKind::No);
        }
        Ok(())
    }
}

impl FsckCommand {
    fn dirs(&self, context: &Context, dirs: &[&String]) -> anyhow::Result<()> {
        if dirs.len() < self.names.len() {
            let error = Error::usage("cannot mix stored sessions with directories");
            return Err(error.hint("check them in separate calls").into());
        }
        let dir = DirectoryCheck {
            context,
            from: self.from,
            repair: self.repair,
            force: self.force,
            json: self.json,
        };
        for name in dirs {
            let done = dir.check(Path::new(name)).map(|left| {
                if left > 0 {
                    context.output.note_status(ErrorKind::No);
                }
            });
            report_and_continue(context, done, dirs.len())?;
        }
        Ok(())
    }

    /// Checks stored sessions; returns the number of remaining problems.
    fn stored(&self, context: &Context) -> anyhow::Result<u64> {
        let store = context.store()?;
        let ids: Vec<String> = self
            .names
            .iter()
            .map(|name| store.resolve_id(name))
            .collect::<convo::Result<_>>()?;
        let ids = Some(ids.as_slice()).filter(|ids| !ids.is_empty());
        let stamp = |what: &str| {
            let id = context.new_id("evt_", || what.to_string())?;
            let at = context.clock.now();
            Ok(Stamp { id, at })
        };
        let link: Vec<String> = self
            .link
            .iter()
            .map(|name| store.resolve_id(name))
            .collect::<convo::Result<_>>()?;
        let (mut found, mut claims, mut mendable, mut failed) = (0, 0, false, None);
        let mut check = FsckOptions {
            ids,
            repair: None,
            link: &link,
            force: self.force,
        };
        if self.repair {
            check.repair = Some(&stamp);
        }
        let checked = store.check(&check, &mut |finding| {
            // A link that a session claims is not damage of another session.
            match finding.problem {
                Problem::Claim => claims += 1,
                _ => found += 1,
            }
            mendable |= finding.remedy.is_some();
            failed = failed.take().or(self.print(context, &finding).err());
        })?;
        if let Some(error) = failed {
            return if self.repair {
                context.output.done(Err(error))
            } else {
                Err(error)
            };
        }
        if let Some(kind) = checked.unread {
            context.output.note_status(kind);
        }
        for (id, copy) in &checked.copies {
            context
                .output
                .notice(id, &format!("repaired; original log saved as {copy}"));
        }
        let mut left = found;
        if self.repair && found > 0 {
            left = 0;
            check.repair = None;
            check.link = &[];
            let count = &mut |finding: FoundProblem| left += u64::from(finding.problem != Problem::Claim);
            let again = store.check(&check, count).map_err(|error| {
                error
                    .kind(ErrorKind::Unsure)
                    .hint("repaired, but the result could not be verified")
            })?;
            if again.unread.is_some() && checked.unread.is_none() {
                context.output.note_status(ErrorKind::Unsure);
            }
        }
        self.report(context, &checked, (found, left, claims), mendable && !self.repair);
        Ok(left)
    }

    fn print(&self, context: &Context, found: &FoundProblem) -> anyhow::Result<()> {
        let Position { line, offset } = found.place;
        let name = found.session.as_deref().unwrap_or(&found.file);
        let remedy = found.remedy.as_deref();
        if self.json {
            let mut row = serde_json::json!({
                "schema": "convo.fsck/1", "trouble": found.problem.name(), "file": found.file, "what": found.what,
            });
            if let Some(id) = &found.session {
                row["id"] = id.as_str().into();
            }
            if line > 0 {
                row["line"] = line.into();
                row["offset"] = offset.into();
            }
            if let Some(remedy) = remedy {
                row["remedy"] = remedy.into();
                row["mended"] = self.repair.into();
            }
            return context.output.print(&row.to_string());
        }
        let mut place = match line {
            0 => " ".to_string(),
            _ => format!("{line}: byte {offset}: "),
        };
        if found.problem == Problem::ArchivedData && found.session.is_some() {
            place = format!(" {}:{place}", found.file);
        }
        let remedy = match remedy {
            Some(remedy) if self.repair => format!("; {remedy}"),
            Some(_) => String::new(),
            None if self.repair && found.problem != Problem::Claim => "; not repaired".to_string(),
            None => String::new(),
        };
        let text = format!("{name}:{place}{}: {}{remedy}", found.problem.name(), found.what);
        context.output.print(&in_line(&text))
    }

    fn report(
        &self,
        context: &Context,
        checked: &FsckStats,
        (found, left, claims): (u64, u64, u64),
        mendable: bool,
    ) {
        let sessions = count_of(checked.sessions, "session");
        let mut words = format!("{sessions}, {}: ", count_of(checked.bytes, "byte"));
        let findings = count_of(found, "problem");
        match (found, left) {
            (0, _) => words.push_str("no problems"),
            (_, 0) => words.push_str(&format!("{findings}, all repaired")),
            _ if self.repair => words.push_str(&format!("{findings}, {left} left")),
            _ => words.push_str(&findings),
        }
        if claims > 0 {
            words.push_str(&format!(
                "; {} to belong to other sessions",
                count_of(claims, "claim")
            ));
        }
        if checked.unchecked > 0 {
            words.push_str(&format!(
                "; {} of other programs unchecked",
                count_of(checked.unchecked, "line")
            ));
        }
        let hint = if mendable {
            "; repair them with: convo fsck --repair"
        } else {
            ""
        };
        context.output.notice("", &format!("{words}{hint}"));
    }
}
