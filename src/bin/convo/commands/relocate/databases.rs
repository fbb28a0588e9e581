//! Databases of programs: the plugin that reads them changes a copy, which is then written in place of them.

use crate::context::{Context, named};
use crate::output::path_name;
use crate::programs::external_program::{Asked, Named};
use crate::programs::plugin;
use convo::error::{Error, Kind, Result};
use convo::home::Home;
use convo::home::relocation::{databases, has_log};
use convo::store::changes::{Journals, Scratch};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The plugin.
const PLUGIN: &str = "sqlite";

/// How long it may take for one database.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Most bytes of its answer.
const MOST: usize = 1 << 20;

/// A database with columns that name the project.
pub struct Database {
    pub path: PathBuf,
    /// The columns, and in how many rows.
    pub counts: Vec<(String, u64)>,
}

/// Whether the plugin is installed.
pub fn is_supported() -> bool {
    plugin::find(PLUGIN).is_some()
}

/// The columns of a database that name a directory; none if it only occurs in messages.
///
/// # Errors
/// What the plugin fails with.
pub fn read(context: &Context, path: &Path, names: [&str; 2]) -> Result<Option<Database>> {
    let counts = ask(context, path, path, names, true)?;
    Ok((!counts.is_empty()).then(|| Database {
        path: path.to_path_buf(),
        counts,
    }))
}

impl Database {
    /// A copy with the new names.
    ///
    /// # Errors
    /// What copying and the plugin fail with.
    pub fn changed<'j>(
        &self,
        context: &Context,
        journals: &'j Journals,
        names: [&str; 2],
    ) -> Result<Scratch<'j>> {
        let copy = journals.scratch(&self.path)?;
        let counts = ask(context, &self.path, &copy.path(), names, false)?;
        if counts != self.counts {
            let error = Error::new(Kind::Locked, "changed while it was read");
            let error = error.hint("nothing was changed; run the command again");
            return Err(named(error, &path_name(&self.path)));
        }
        Ok(copy)
    }
}

/// Refuses databases whose changes are in a log beside them: the log would be applied to the new database.
///
/// # Errors
/// [`Kind::Locked`] with the database.
pub fn refuse_logs(home: &Home) -> Result<()> {
    for path in databases(home, &mut Vec::new()) {
        if has_log(&path)? {
            let error = Error::new(
                Kind::Locked,
                "a program is writing to the database, or was killed",
            );
            let error = error.hint(format!(
                "nothing was changed; start and end {} first",
                home.program.name
            ));
            return Err(named(error, &path_name(&path)));
        }
    }
    Ok(())
}

/// Asks the plugin for the changes of a file, or has it make them.
fn ask(
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
    let failed = |why: &str, said: &str| {
        let said = said.trim().lines().next().unwrap_or(why);
        let error = Error::new(Kind::InputOutput, format!("convo-{PLUGIN} failed: {said}"));
        named(error.hint("nothing was changed"), &path_name(label))
    };
    let mut program = Named::Plugin(PLUGIN.to_string()).program(context, "plugin", &arguments)?;
    let asked = Asked {
        timeout: TIMEOUT,
        most: MOST,
        listen: &mut |_| {},
    };
    let answered = program.ask(b"", asked).map_err(|failure| {
        let error = failed(&failure.why, &failure.said);
        if let Some(interrupted) = failure.interrupted {
            context.output.error(&error);
            interrupted.obey();
        }
        error
    })?;
    let lines = answered.answer.split(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let value: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
            let known = value["member"].as_str().zip(value["rows"].as_u64());
            known
                .map(|(member, rows)| (member.to_string(), rows))
                .ok_or_else(|| failed("unknown answer", ""))
        })
        .collect()
}
