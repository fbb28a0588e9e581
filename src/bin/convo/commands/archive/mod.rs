//! `archive`: copies the sessions of other programs.

mod report;
mod restore;
mod rows;
mod scan;
mod work;

use super::Run;
use crate::args::SessionScope;
use crate::context::Context;
use crate::errors::named;
use crate::homes;
use crate::output::path_name;
use crate::programs::database::{self, ScratchDirectory};
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::store::copies::Copies;
use report::{ArchiveReport, ArchiveRow};
use std::collections::BTreeMap;
use std::path::PathBuf;
use work::ArchiveSession;

/// Keep copies of the sessions of other programs
///
/// Copies the sessions of other programs with the files that belong to them, byte for byte, and keeps what those programs
/// delete. The first run copies everything, later runs only changes. A file that grew is appended to its copy; one
/// that was rewritten becomes another version next to the old one. A copy that is missing or too short is copied again
/// while the home has its bytes. Homes are only read. Prints outcome, session and copied bytes; with -q, only errors.
/// Of a session in a database, the copy is a stream of its records, as `convo cat` prints it; databases require the
/// plugin convo-sqlite.
///
/// Histories, settings and indexes that sessions share are copied too, with some exceptions: ~/.claude.json of Claude Code,
/// auth.json of Codex and other files with credentials, and indexes that programs rebuild from their sessions
/// (state_5.sqlite of Codex, tasks/_index.json of Roo Code).
///
/// Outcomes: new, grown, same (with -v), diverged, repaired (copied again), gone (kept in the archive), busy (run
/// again), failed. Exit status 74 if a file cannot be copied; the others are. Every run reports a copy that is missing or
/// too short and whose original is gone (status 65). A damaged session of a database is reported once (status 65), and
/// again when it changes; --verify always reports it.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo archive                               everything
  convo archive --program claude,codex -n     report what would be copied
  convo archive -q                            from cron: quiet if all is well
  convo archive --verify                      compare with checksums and homes
  convo archive --repair                      copy damaged copies again
  convo archive --give-back claude:4c2ddfdc   put a deleted session back
  convo archive --json | jq -r 'select(.outcome == \"gone\").name'")]
pub struct ArchiveCommand {
    /// Directory of the archive
    ///
    /// Default: $XDG_DATA_HOME/convo-archive. Files are PROGRAM/SESSION/VERSION/PATH, with a manifest.jsonl for each
    /// session.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = "Archive")]
    to: Option<PathBuf>,
    /// Compare copies with their checksums and the homes
    ///
    /// Reports damaged copies, files that differ by now, and files that are not in the archive. Exit status 1 if there
    /// are any.
    #[arg(long, conflicts_with_all = ["give_back", "dry_run"], help_heading = "Archive")]
    verify: bool,
    /// Compare copies with their checksums, and copy damaged ones again
    ///
    /// Reads all copies; without it, only their lengths are compared. --verify reports copies that remain damaged
    /// because the home no longer has their bytes.
    #[arg(long, conflicts_with_all = ["verify", "give_back"], help_heading = "Archive")]
    repair: bool,
    /// Write sessions back to the homes where they were
    ///
    /// Existing files are never replaced; indexes of the program are unchanged. NAME is PROGRAM:ID. A session of a
    /// database is not put back; continue it with `convo handoff`.
    #[arg(long, value_name = "NAME", num_args = 1.., help_heading = "Archive")]
    give_back: Vec<String>,
    /// With --give-back, keep the times of the files
    ///
    /// By default, files get the current time: a program that deletes old sessions would delete them again.
    #[arg(long, requires = "give_back", help_heading = "Archive")]
    keep_times: bool,
    #[command(flatten)]
    scope: SessionScope,
    /// Report what would be done; change nothing
    #[arg(short = 'n', long, help_heading = "Output")]
    dry_run: bool,
    /// Print one object per session
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for ArchiveCommand {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        self.scope.make_absolute();
        let place = match &self.to {
            Some(place) => place.clone(),
            None => homes::archive_directory()?,
        };
        let homes = homes::all();
        homes::refuse_overlap(&place, &homes)?;
        let writes = !self.verify && !self.dry_run && self.give_back.is_empty();
        let copies = match Copies::open(&place, writes, context.lock_timeout()) {
            Err(error) if error.kind == ErrorKind::NotFound && self.dry_run && self.give_back.is_empty() => {
                None
            }
            Err(error) if error.kind == ErrorKind::NotFound => {
                let error =
                    Error::new(ErrorKind::NotFound, "no archive").hint("make one with: convo archive");
                return Err(named(error, &path_name(&place)).into());
            }
            copies if self.repair => Some(copies?.with_checksums()),
            copies => Some(copies?),
        };
        let report = ArchiveReport {
            context,
            json: self.json,
        };
        if let (Some(copies), false) = (&copies, self.give_back.is_empty()) {
            if !self.dry_run {
                homes::complete_changes(context)?;
            }
            let rows = self.give_back.iter().map(|name| {
                restore::restore_session(context, &homes, copies, name, self.keep_times, self.dry_run)
            });
            return report.print(rows);
        }
        let work = scan::all(context, homes, copies.as_ref(), &self.scope)?;
        match &copies {
            Some(copies) if self.verify => report.print(work.iter().map(|work| work.verify(copies))),
            _ => self.copy(context, copies.as_ref(), work, &report),
        }
    }
}

/// Number of files that are copied before they are committed together.
const BATCH: usize = 512;

impl ArchiveCommand {
    fn copy(
        &self,
        context: &Context,
        copies: Option<&Copies>,
        mut work: Vec<ArchiveSession>,
        report: &ArchiveReport<'_>,
    ) -> anyhow::Result<()> {
        let at = context.clock.now();
        if let Some(copies) = copies.filter(|_| !self.dry_run) {
            take_rows(copies, &at, &mut work)?;
        }
        let mut rows = Vec::new();
        let (mut waiting, mut files) = (Vec::new(), 0);
        for mut work in work {
            let Some(copies) = copies.filter(|_| !self.dry_run) else {
                rows.push(work.planned());
                continue;
            };
            work.take(copies, &at);
            files += work.files();
            waiting.push(work);
            if files >= BATCH {
                commit(copies, &mut waiting, &mut rows);
                files = 0;
            }
        }
        if let Some(copies) = copies {
            commit(copies, &mut waiting, &mut rows);
        }
        report.print(rows.into_iter())
    }
}

/// Maximum number of sessions requested from the plugin by id; beyond it, all are read.
const FEW: usize = 100;

/// Copies the changed sessions of databases without committing them. Reads each database once.
fn take_rows(copies: &Copies, at: &str, work: &mut [ArchiveSession]) -> anyhow::Result<()> {
    let mut databases: BTreeMap<PathBuf, BTreeMap<String, usize>> = BTreeMap::new();
    for (nth, work) in work.iter().enumerate() {
        for stale in work.stale() {
            let ids = databases.entry(stale.database.to_path_buf()).or_default();
            ids.insert(stale.id.to_string(), nth);
        }
    }
    let scratch = ScratchDirectory::default();
    for (path, mut stale) in databases {
        let dir = scratch.dir()?;
        let ids: Vec<String> = stale.keys().take(FEW + 1).cloned().collect();
        let ids: Vec<&str> = match ids.len() > FEW {
            true => Vec::new(),
            false => ids.iter().map(String::as_str).collect(),
        };
        let mut take = |row: database::DatabaseRow, records: Vec<u8>| {
            match stale.remove(&row.id) {
                Some(nth) if records.is_empty() => work[nth].fail_row(copies, at, &row, dir),
                Some(nth) => work[nth].take_row(copies, at, &row, &records, dir),
                None => {}
            }
            true
        };
        let mut read = database::sessions(&path, &ids, &mut take);
        if read
            .as_ref()
            .is_err_and(|error| error.kind == ErrorKind::NotFound)
        {
            // One of the sessions was deleted meanwhile.
            read = database::sessions(&path, &[], &mut take);
        }
        if let Err(error) = read {
            for nth in stale.into_values() {
                work[nth].errors.push(Error::new(error.kind, error.to_string()));
            }
        }
    }
    Ok(())
}

/// Commits the copies of these sessions.
fn commit(copies: &Copies, waiting: &mut Vec<ArchiveSession>, rows: &mut Vec<ArchiveRow>) {
    let changed: Vec<_> = waiting.iter().filter_map(ArchiveSession::change).collect();
    let mut results = match changed.is_empty() {
        true => Vec::new(),
        false => copies.commit(&changed),
    }
    .into_iter();
    for work in waiting.drain(..) {
        let result = match work.change() {
            Some(_) => results.next().unwrap_or(Ok(())),
            None => Ok(()),
        };
        rows.push(work.done(result));
    }
}
