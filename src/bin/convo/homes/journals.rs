//! Changes to several files in homes: all or none.

use crate::context::Context;
use crate::environment::home;
use convo::error::{Error, ErrorKind, Result};
use convo::store::changes::Journals;
use std::path::PathBuf;

fn journal_directory() -> Result<PathBuf> {
    state_path("convo/relocate")
}

/// Returns a path in the directory where changes of homes are recorded.
///
/// # Errors
/// [`ErrorKind::Config`] without a home directory.
pub fn state_path(below: &str) -> Result<PathBuf> {
    let state = home("XDG_STATE_HOME", ".local/state");
    state.map(|state| state.join(below)).ok_or_else(|| {
        Error::new(ErrorKind::Config, "neither HOME nor XDG_STATE_HOME is set")
            .hint("set one of them: changes of homes are recorded there")
    })
}

/// Opens the journals of changes, exclusively.
///
/// # Errors
/// [`ErrorKind::Locked`] if another process has them open.
pub fn journals(context: &Context) -> Result<Journals> {
    let base = home("", "").unwrap_or_default();
    Journals::open(&journal_directory()?, &base, context.lock_timeout())
}

/// Completes the changes of a run that was killed. Every command calls it before it writes to a home.
///
/// # Errors
/// Returns the errors of reading and writing.
pub fn complete_changes(context: &Context) -> Result<()> {
    let place = journal_directory()?;
    if !Journals::is_unfinished(&place)? {
        return Ok(());
    }
    let (finished, removed) = journals(context)?.finish()?;
    if finished > 0 {
        context
            .output
            .notice("", "finished a relocation that was interrupted");
    } else if removed > 0 {
        context.output.notice(
            "",
            "removed what an interrupted relocation left; nothing was changed",
        );
    }
    Ok(())
}
