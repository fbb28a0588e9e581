//! Changes the two files of a session in place: messages are appended to the log, a cut changes the sidecar.

use super::pair::Pair;
use crate::error::{Error, Position, Result};
use crate::format::picoclaw::{LOG, SIDECAR, log_lines};
use crate::format::report::Report;
use crate::model::session::Session;
use crate::store::foreign::session_file::{FileChange, FileChanged, FileOptions, SessionFile};
use std::path::Path;

pub fn open<'o>(path: &'o Path, options: &'o FileOptions<'o>) -> Result<Option<Box<dyn SessionFile + 'o>>> {
    if options.compressed || !is_log(path)? {
        return Ok(None);
    }
    refuse(options)?;
    let mut pair = Pair::open(path, options.lock_timeout)?;
    pair.force = options.force;
    Ok(Some(Box::new(pair)))
}

/// Whether a file is named like a log.
pub fn is_log(path: &Path) -> Result<bool> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    match name.strip_suffix(SIDECAR) {
        Some(stem) => {
            let error = Error::usage("is the sidecar of a session");
            Err(error.hint(format!("give the log: {stem}{LOG}")))
        }
        None => Ok(name.ends_with(LOG)),
    }
}

/// Rejects options that do not apply to two files changed in place.
fn refuse(options: &FileOptions<'_>) -> Result<()> {
    let (what, hint) = if options.backup.is_some() {
        (
            "-i=SUFFIX cannot back up the two files of a PicoClaw session",
            "copy both files, then use -i alone",
        )
    } else if options.to.is_some() {
        (
            "-i with --to cannot convert a PicoClaw session",
            "omit one of them",
        )
    } else if options.full_log {
        (
            "--log conflicts with -i: PicoClaw files keep no events",
            "omit one of them",
        )
    } else {
        return Ok(());
    };
    Err(Error::usage(what).hint(hint))
}

impl SessionFile for Pair {
    fn has_ids(&self) -> bool {
        false
    }

    fn session(&mut self, append_only: bool, report: &mut Report) -> Result<Session> {
        if !append_only {
            return Pair::session(self, report);
        }
        // An append does not depend on earlier messages.
        let whole = Position::default();
        if self.excess_skip() > 0 {
            let what = format!(
                "the sidecar skips {} lines more than the log has, which would hide new messages; corrected",
                self.excess_skip()
            );
            report.damage(whole, what);
        }
        if self.is_truncated() {
            report.note(whole, "the last line is truncated; kept as a separate line");
        }
        Ok(Session::default())
    }

    fn sync(&mut self) -> Result<()> {
        Pair::sync(self)
    }

    fn change(
        &mut self,
        session: Session,
        change: &FileChange<'_>,
        report: &mut Report,
    ) -> Result<FileChanged> {
        if !change.append_only {
            let applied = self.apply(&session, change.lines, change.now, change.dry_run, report)?;
            let lines = if applied.archived == 1 { "line" } else { "lines" };
            return Ok(FileChanged {
                lines: change.lines.to_vec(),
                warning: None,
                addition: (applied.archived > 0).then(|| {
                    format!(
                        "moved {} {lines} to .convo/archive next to the log",
                        applied.archived
                    )
                }),
            });
        }
        let lines = log_lines(change.lines, change.now, report)?;
        if change.strict && !report.losses.is_empty() {
            let what = "lossy conversion; nothing was written (--strict)";
            return Err(Error::data(what));
        }
        let mut warning = None;
        if !change.dry_run
            && let Some(error) = self.append(&lines, change.now)?.bookkeeping
        {
            warning = Some(format!(
                "stored the lines, but could not update the sidecar: {error}"
            ));
        }
        Ok(FileChanged {
            lines,
            warning,
            addition: None,
        })
    }
}
