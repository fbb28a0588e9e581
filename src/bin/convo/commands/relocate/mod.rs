//! `relocate`: makes sessions of other programs follow a project to its new directory.

mod databases;
mod report;

use super::Run;
use crate::args::named_program;
use crate::context::Context;
use crate::environment::home;
use crate::errors::named;
use crate::homes::{self, journals};
use crate::output::path_name;
use crate::owner::refuse_other_owner;
use crate::programs::database;
use clap::Args;
use convo::error::{Error, ErrorKind, Result};
use convo::home::relocation::{HomePlan, rewrite};
use convo::home::{Home, RunningMarkers, RunningSign};
use convo::store::changes::{Journal, JournalEntry, Journals, PlannedChanges};
use databases::RelocatedDatabase;
use report::{RelocationReport, RelocationRow};
use serde_json::json;
use std::path::{Component, Path, PathBuf};

/// Let sessions of other programs follow a moved project
///
/// After the directory OLD became NEW: changes the working directory in sessions, indexes and settings of programs, and
/// renames their directories of the project, so that sessions are found and resumed in NEW. Only paths that are OLD or
/// below it are changed, only where a program looks for them; messages are unchanged.
///
/// All changes are made, or none. A journal in $XDG_STATE_HOME/convo/relocate keeps the old bytes
/// until --undo restores them or somebody deletes it.
/// A running program is never touched. The plugin convo-sqlite changes databases of codex, opencode and goose; without it,
/// they are reported. Not changed, but reported: the homes of cursor, copilot-cli, grok, kimi and openclaw.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  mv ~/src/api ~/code/api
  convo relocate -n ~/src/api ~/code/api     report what would be changed
  convo relocate ~/src/api ~/code/api        change it
  convo relocate --undo                      change it back
  convo relocate --program claude,codex /old/dir /new/dir")]
pub struct RelocateCommand {
    /// Former directory of the project
    #[arg(value_name = "OLD", required_unless_present = "undo", value_hint = clap::ValueHint::DirPath)]
    old: Option<PathBuf>,
    /// Directory of the project now
    #[arg(value_name = "NEW", required_unless_present = "undo", value_hint = clap::ValueHint::DirPath)]
    new: Option<PathBuf>,
    /// Only these programs, e.g. codex,pi
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = named_program, help_heading = "Filter")]
    program: Vec<String>,
    /// Undo a relocation, if nothing changed since [default: the last one]
    ///
    /// JOURNAL is the file in $XDG_STATE_HOME/convo/relocate, or its name.
    #[arg(
        long,
        value_name = "JOURNAL",
        num_args = 0..=1,
        conflicts_with_all = ["old", "new", "program"]
    )]
    undo: Option<Option<PathBuf>>,
    /// Also if a session changed just now
    #[arg(long)]
    force: bool,
    /// Report what would be changed; change nothing
    #[arg(short = 'n', long, help_heading = "Output")]
    dry_run: bool,
    /// Print one object per file
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for RelocateCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        if let Some(journal) = &self.undo {
            return self.take_back(context, journal.as_deref());
        }
        let (old, new) = (directory(self.old.as_deref())?, directory(self.new.as_deref())?);
        let is_home = home("", "").is_some_and(|home| home == Path::new(&old));
        if old == "/" || is_home || old == new {
            let error = Error::usage(if old == new {
                "OLD and NEW are the same"
            } else {
                "not a project"
            });
            return Err(named(error, &old).into());
        }
        match std::fs::metadata(&new) {
            Ok(about) if about.is_dir() => {}
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(named(Error::io("cannot read", error), &new).into());
            }
            _ => {
                let error = Error::new(ErrorKind::NotFound, "no such directory");
                return Err(named(error.hint("move the project first"), &new).into());
            }
        }
        if !self.dry_run {
            homes::complete_changes(context)?;
        }
        let mut plans = Vec::new();
        for home in homes::all() {
            let name = home.program.name;
            if !self.program.is_empty() && !self.program.iter().any(|program| program == name) {
                continue;
            }
            if let Some(problem) = &home.problem {
                return Err(homes::unread_path(&home.root, problem).into());
            }
            let plan = HomePlan::of(&home, &old, &new)?;
            let mut databases = Vec::new();
            for path in &plan.databases {
                if database::is_supported() {
                    databases.extend(databases::read(context, path, [&old, &new])?);
                } else {
                    let what = "not changed: database; install the plugin convo-sqlite";
                    context.output.notice(&path_name(path), what);
                }
            }
            for (path, why) in &plan.left {
                context
                    .output
                    .notice(&path_name(path), &format!("not changed: {why}"));
            }
            if !plan.is_empty() || !databases.is_empty() {
                self.report_if_dry(context, self.refuse_running(context, &home))?;
                for database in &databases {
                    match self.dry_run {
                        true => self.report_if_dry(context, database.refuse_open())?,
                        false => database.checkpoint(context)?,
                    }
                }
                plans.push(PlannedRelocation {
                    home,
                    plan,
                    databases,
                });
            }
        }
        if plans.is_empty() {
            let error = Error::new(ErrorKind::No, "no session of this project");
            return Err(named(error, &old).into());
        }
        let rows = plans.iter().flat_map(|planned| {
            RelocationRow::all(planned.home.program.name, &planned.plan, &planned.databases)
        });
        let rows: Vec<RelocationRow> = rows.collect();
        if !self.dry_run {
            let journals = journals(context)?;
            let mut copies = Vec::new();
            for database in plans.iter().flat_map(|planned| &planned.databases) {
                copies.push((database, database.changed(context, &journals, [&old, &new])?));
            }
            let mut changes = PlannedChanges::default();
            for (database, copy) in &copies {
                let write = |out: &mut dyn std::io::Write| copy.write(out);
                changes.writes.push((database.path.clone(), Box::new(write)));
            }
            for PlannedRelocation { plan, .. } in &plans {
                changes.makes.extend(plan.makes.iter().cloned());
                changes.moves.extend(plan.moves.iter().cloned());
                changes.removes.extend(plan.removes.iter().cloned());
                for file in &plan.files {
                    let write = |out: &mut dyn std::io::Write| {
                        rewrite(&file.path, file.rule, &plan.renames, out).map(drop)
                    };
                    changes.writes.push((file.path.clone(), Box::new(write)));
                }
            }
            let programs = plans.iter().map(|planned| planned.home.program.name);
            let programs: Vec<&str> = programs.collect();
            let about = json!({"command": "relocate", "old": old, "new": new, "programs": programs});
            journals.change(&context.clock.now(), &about, &changes, None)?;
        }
        self.report(context, &rows, [&old, &new])
    }
}

/// The changes in a home.
struct PlannedRelocation {
    home: Home,
    plan: HomePlan,
    databases: Vec<RelocatedDatabase>,
}

impl RelocateCommand {
    fn report(&self, context: &Context, rows: &[RelocationRow], [old, new]: [&str; 2]) -> anyhow::Result<()> {
        let report = RelocationReport {
            is_done: !self.dry_run,
            json: self.json,
        };
        report.print(context, rows)?;
        if !self.dry_run {
            let what = format!("is {new} now; undo with: convo relocate --undo");
            context.output.notice(old, &what);
        }
        Ok(())
    }

    /// Returns the error; in a dry run, reports it and continues, because the plan is useful too.
    fn report_if_dry(&self, context: &Context, refused: Result<()>) -> Result<()> {
        match refused {
            Err(error) if self.dry_run => {
                context.output.error(&error);
                Ok(())
            }
            refused => refused,
        }
    }

    /// Fails if the program is writing one of its sessions.
    fn refuse_running(&self, context: &Context, home: &Home) -> Result<()> {
        refuse_other_owner(&home.root)?;
        let running = RunningMarkers::of(home, homes::clock(context));
        if let Some(mark) = running.process() {
            let error = Error::new(
                ErrorKind::Locked,
                format!("{} is running: {}", home.program.name, mark.name()),
            );
            let error = error.hint("nothing was changed; end the program first");
            return Err(named(error, &path_name(&home.root)));
        }
        for transcript in home.files().transcripts {
            let id = transcript.id.as_deref().unwrap_or_default();
            let mark = running.mark(&transcript, id, None);
            if let Some(mark) = mark.filter(|mark| *mark != RunningSign::Recent || !self.force) {
                let error = Error::new(ErrorKind::Locked, format!("session is running: {}", mark.name()));
                let error = error.hint("nothing was changed; end the program first");
                return Err(named(error, &path_name(&transcript.path)));
            }
        }
        Ok(())
    }

    fn take_back(&self, context: &Context, journal: Option<&Path>) -> anyhow::Result<()> {
        if !self.dry_run {
            homes::complete_changes(context)?;
        }
        let journals = journals(context)?;
        let found = match journal.map(|path| path.file_stem().unwrap_or_default().to_string_lossy()) {
            None => journals.last()?,
            Some(id) => Some(named_journal(&journals, &id)?),
        };
        let Some(journal) = found else {
            return Err(Error::new(ErrorKind::No, "nothing to undo").into());
        };
        let text = |name: &str| journal.about[name].as_str().unwrap_or_default().to_string();
        let (old, new) = (text("old"), text("new"));
        let programs = journal.about["programs"].as_array().into_iter().flatten();
        let programs: Vec<&str> = programs.filter_map(serde_json::Value::as_str).collect();
        for home in homes::all() {
            if programs.contains(&home.program.name) {
                self.report_if_dry(context, self.refuse_running(context, &home))?;
            }
        }
        let changes = journals.undoing(&journal)?;
        let paths = changes.writes.iter().map(|(path, _)| path.as_path());
        self.report_if_dry(context, databases::refuse_logs(paths))?;
        if !self.dry_run {
            journals.change(&context.clock.now(), &journal.about, &changes, Some(&journal))?;
        }
        let done = if self.dry_run { "would be" } else { "is" };
        let what = format!(
            "{done} {old} again: {} files, {} moves",
            writes(&journal),
            changes.moves.len()
        );
        context.output.notice(&new, &what);
        Ok(())
    }
}

/// Finds a journal by its name.
fn named_journal(journals: &Journals, id: &str) -> Result<Journal> {
    let known = journals.ids()?;
    if known.iter().any(|known| known == id) {
        return journals.journal(id);
    }
    let error = named(Error::new(ErrorKind::NotFound, "no such journal"), id);
    Err(match known.is_empty() {
        true => error,
        false => error.hint(format!("journals: {}", known.join(", "))),
    })
}

fn writes(journal: &Journal) -> usize {
    let is_write = |entry: &&JournalEntry| matches!(entry, JournalEntry::Write { .. });
    journal.entries.iter().filter(is_write).count()
}

/// Returns an absolute directory without a trailing slash.
fn directory(path: Option<&Path>) -> Result<String> {
    let path = path.unwrap_or(Path::new(""));
    let refused = |why: &str, hint: &str| {
        let error = Error::usage(why.to_string()).hint(hint.to_string());
        Err(named(error, &path_name(path)))
    };
    let Some(text) = path.to_str() else {
        return refused(
            "not UTF-8",
            "programs keep such paths in different forms: rename the directory",
        );
    };
    let is_plain = |part: Component<'_>| !matches!(part, Component::ParentDir | Component::CurDir);
    if !path.is_absolute() || !path.components().all(is_plain) {
        return refused("not an absolute path", "e.g. \"$PWD\" for the current directory");
    }
    let parts = text.split('/').filter(|part| !part.is_empty() && *part != ".");
    Ok(format!("/{}", parts.collect::<Vec<_>>().join("/")))
}
