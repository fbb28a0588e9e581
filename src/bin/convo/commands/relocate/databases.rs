//! Changes databases of programs: the plugin changes a copy, which then replaces the database.

use crate::context::Context;
use crate::errors::named;
use crate::output::path_name;
use crate::programs::database::PLUGIN;
use crate::programs::external_program::{ProgramName, RunOptions};
use convo::error::{Error, ErrorKind, Result};
use convo::home::relocation::has_log;
use convo::store::changes::{Journals, Scratch};
use convo::store::refuse_writers;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit per database.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Maximum size of the plugin's output in bytes.
const MAXIMUM: usize = 1 << 20;

/// A database with columns that name the project.
pub struct RelocatedDatabase {
    pub path: PathBuf,
    /// The columns, and their numbers of matching rows.
    pub counts: Vec<(String, u64)>,
}

/// Finds the columns of a database that contain a directory; `None` if it only occurs in messages.
///
/// # Errors
/// Returns the errors of the plugin.
pub fn read(context: &Context, path: &Path, names: [&str; 2]) -> Result<Option<RelocatedDatabase>> {
    let counts = run_plugin(context, path, path, names, true)?;
    Ok((!counts.is_empty()).then(|| RelocatedDatabase {
        path: path.to_path_buf(),
        counts,
    }))
}

impl RelocatedDatabase {
    /// Fails if a program has the database open; changes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Locked`] with the database.
    pub fn refuse_open(&self) -> Result<()> {
        let label = path_name(&self.path);
        let file = File::open(&self.path);
        let file = file.map_err(|error| named(Error::open(error), &label))?;
        refuse_writers(&file, &label).map_err(|_| in_use(&self.path))
    }

    /// Moves a write-ahead log that the program left into the database; its content does not change.
    ///
    /// # Errors
    /// [`ErrorKind::Locked`] if a program has the database open.
    pub fn checkpoint(&self, context: &Context) -> Result<()> {
        self.refuse_open()?;
        if has_log(&self.path)? {
            let arguments = ["--checkpoint".into(), "--".into(), self.path.clone().into()];
            answer(context, &self.path, &arguments).map_err(|_| in_use(&self.path))?;
        }
        refuse_logs(std::iter::once(self.path.as_path()))
    }

    /// Creates a copy with the new names.
    ///
    /// # Errors
    /// Returns the errors of copying and of the plugin.
    pub fn changed<'j>(
        &self,
        context: &Context,
        journals: &'j Journals,
        names: [&str; 2],
    ) -> Result<Scratch<'j>> {
        let copy = journals.scratch(&self.path)?;
        let counts = run_plugin(context, &self.path, &copy.path(), names, false)?;
        if counts != self.counts {
            let error = Error::new(ErrorKind::Locked, "changed while it was read");
            let error = error.hint("nothing was changed; run the command again");
            return Err(named(error, &path_name(&self.path)));
        }
        Ok(copy)
    }
}

/// Fails if a database has a log with changes: SQLite would apply the log to the new database.
///
/// # Errors
/// [`ErrorKind::Locked`] with the database.
pub fn refuse_logs<'p>(mut paths: impl Iterator<Item = &'p Path>) -> Result<()> {
    paths.try_for_each(|path| match has_log(path)? {
        false => Ok(()),
        true => Err(in_use(path)),
    })
}

fn in_use(path: &Path) -> Error {
    let error = Error::new(
        ErrorKind::Locked,
        "a program has the database open, or was killed",
    );
    let error = error.hint("nothing was changed; start and end the program first");
    named(error, &path_name(path))
}

/// Runs the plugin to find or make the changes of a file.
fn run_plugin(
    context: &Context,
    label: &Path,
    path: &Path,
    [old, new]: [&str; 2],
    only_list: bool,
) -> Result<Vec<(String, u64)>> {
    let list = only_list.then(|| "--list".into());
    let options = ["--relocate", old, new].map(OsString::from);
    let arguments: Vec<OsString> = list
        .into_iter()
        .chain(options)
        .chain(["--".into(), path.into()])
        .collect();
    let answer = answer(context, label, &arguments)?;
    let lines = answer.split(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let value: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
            let known = value["member"].as_str().zip(value["rows"].as_u64());
            known
                .map(|(member, rows)| (member.to_string(), rows))
                .ok_or_else(|| failed(label, "unknown answer"))
        })
        .collect()
}

fn failed(label: &Path, why: &str) -> Error {
    let error = Error::new(ErrorKind::InputOutput, format!("convo-{PLUGIN} failed: {why}"));
    named(error.hint("nothing was changed"), &path_name(label))
}

/// Returns the output of the plugin for these arguments.
fn answer(context: &Context, label: &Path, arguments: &[OsString]) -> Result<Vec<u8>> {
    let mut program =
        ProgramName::Plugin(PLUGIN.to_string()).program(context.store_path().ok(), "plugin", arguments)?;
    let requested = RunOptions {
        timeout: TIMEOUT,
        most: MAXIMUM,
        listen: &mut |_| {},
    };
    let answered = program.ask(b"", requested).map_err(|failure| {
        let stderr = failure.stderr.trim().lines().next().unwrap_or(&failure.why);
        let error = failed(label, stderr);
        if let Some(interrupted) = failure.interrupted {
            context.output.error(&error);
            interrupted.end_program();
        }
        error
    })?;
    Ok(answered.answer)
}
