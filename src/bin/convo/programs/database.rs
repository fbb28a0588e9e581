//! Reads sessions in databases through the plugin `convo-sqlite`: a descriptive line per session, and its records.

use super::plugin;
use crate::errors::named;
use crate::output::path_name;
use convo::error::{Error, ErrorKind, Result};
use convo::model::{json, key, time};
use convo::store::temporary_dir;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The name of the plugin.
pub const PLUGIN: &str = "sqlite";

/// The schema name in the line that describes a session.
const SCHEMA: &[u8] = b"\"convo.sqlite/1\"";

/// A session of a database as described by the plugin.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct DatabaseRow {
    schema: String,
    pub id: String,
    pub title: Option<String>,
    /// Time of the last change, RFC 3339.
    pub updated: Option<String>,
    /// The working directory.
    pub project: Option<String>,
    /// The parent session.
    pub parent: Option<String>,
    #[serde(rename = "archived")]
    pub is_archived: bool,
    /// Size of its messages in the database in bytes.
    pub bytes: u64,
}

impl DatabaseRow {
    /// Parses a line that describes a session; none for a record.
    pub fn read(line: &[u8]) -> Option<DatabaseRow> {
        let is_row = line.starts_with(b"{") && json::member(line, "schema") == Some(SCHEMA);
        serde_json::from_slice(line).ok().filter(|_| is_row)
    }

    /// Encodes the line.
    pub fn written(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Its time and size, by which a change is known.
    pub fn state(&self) -> String {
        format!("{} {}", self.updated.as_deref().unwrap_or("-"), self.bytes)
    }

    /// When it was written last.
    pub fn updated(&self) -> Option<SystemTime> {
        let seconds = time::seconds(self.updated.as_deref()?)?;
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?))
    }
}

/// Whether the plugin is installed.
pub fn is_supported() -> bool {
    plugin::find(PLUGIN).is_some()
}

/// The error for a database that cannot be read without the plugin.
pub fn unsupported() -> Error {
    let error = Error::new(
        ErrorKind::Unavailable,
        "sessions in databases require the plugin convo-sqlite",
    );
    error.hint("install convo-sqlite on PATH: cargo install --locked --features sqlite --path .")
}

/// The error for a change in place of a session in a database.
pub fn unchanged(name: &str) -> Error {
    let error = Error::usage("a session in a database is not changed in place");
    let hint = format!("continue it in another program with: convo handoff {name} --to PROGRAM --install");
    named(error, name).hint(hint)
}

/// Lists the sessions of a database without their records.
///
/// # Errors
/// [`ErrorKind::Unavailable`] without the plugin, otherwise the plugin's error.
pub fn rows(path: &Path) -> Result<Vec<DatabaseRow>> {
    let mut rows = Vec::new();
    let options = ["--list", "--json"].map(OsString::from);
    run(path, &options, &mut |line| {
        rows.extend(DatabaseRow::read(&line));
        true
    })?;
    Ok(rows)
}

/// Gives each session with its records to `each` until that returns false: the newest first, or those with these ids.
/// The result is whether all of them could be read.
///
/// # Errors
/// [`ErrorKind::Unavailable`] without the plugin, else what it fails with.
pub fn sessions(
    path: &Path,
    ids: &[&str],
    each: &mut dyn FnMut(DatabaseRow, Vec<u8>) -> bool,
) -> Result<bool> {
    let mut options = vec![OsString::from("--rows")];
    options.extend(ids.iter().map(|id| OsString::from(format!("--id={id}"))));
    let mut session: Option<(DatabaseRow, Vec<u8>)> = None;
    let mut is_wanted = true;
    let run = run(path, &options, &mut |line| {
        match (DatabaseRow::read(&line), &mut session) {
            (Some(row), session) => {
                if let Some((row, records)) = session.replace((row, Vec::new())) {
                    is_wanted = each(row, records);
                }
            }
            (None, Some((_, records))) => records.extend_from_slice(&line),
            (None, None) => {}
        }
        is_wanted
    });
    match run {
        // The other sessions were read.
        Err(error) if error.kind != ErrorKind::Data || session.is_none() => return Err(error),
        _ => {}
    }
    if let Some((row, records)) = session.filter(|_| is_wanted) {
        each(row, records);
    }
    Ok(run.is_ok())
}

/// Reads the records of a session.
///
/// # Errors
/// [`ErrorKind::Unavailable`] without the plugin, otherwise the plugin's error.
pub fn records(path: &Path, id: &str) -> Result<Vec<u8>> {
    let mut found = Vec::new();
    let is_whole = sessions(path, &[id], &mut |_, records| {
        found = records;
        true
    })?;
    match is_whole || !found.is_empty() {
        true => Ok(found),
        false => Err(Error::data("damaged beyond reading")),
    }
}

/// Temporary files in a directory that is created on first use and removed on drop.
#[derive(Default)]
pub struct ScratchDirectory(OnceLock<TempDir>);

impl ScratchDirectory {
    /// Writes the records of a session to a file.
    ///
    /// # Errors
    /// [`ErrorKind::InputOutput`] if it cannot be written.
    pub fn file(&self, id: &str, records: &[u8]) -> Result<PathBuf> {
        let path = self.dir()?.join(format!("{}.jsonl", key::id_for_key(id)));
        std::fs::write(&path, records).map_err(temporary)?;
        Ok(path)
    }

    /// The directory.
    ///
    /// # Errors
    /// [`ErrorKind::InputOutput`] if it cannot be made.
    pub fn dir(&self) -> Result<&Path> {
        if let Some(dir) = self.0.get() {
            return Ok(dir.path());
        }
        // If another thread is faster, this one is removed.
        let new = temporary_dir().map_err(temporary)?;
        Ok(self.0.get_or_init(|| new).path())
    }
}

/// The error for a temporary file that cannot be written.
pub fn temporary(error: std::io::Error) -> Error {
    Error::io("cannot write a temporary file", error).kind(ErrorKind::InputOutput)
}

/// Passes each line that the plugin prints for a database to `line`, until that returns false.
fn run(path: &Path, options: &[OsString], line: &mut dyn FnMut(Vec<u8>) -> bool) -> Result<()> {
    let program = plugin::find(PLUGIN).ok_or_else(unsupported)?;
    let failed = |why: String| {
        let error = Error::new(ErrorKind::Unavailable, format!("convo-{PLUGIN} failed: {why}"));
        named(error, &path_name(path))
    };
    let broken = |error| {
        let error = Error::io(format!("cannot run convo-{PLUGIN}"), error).kind(ErrorKind::InputOutput);
        named(error, &path_name(path))
    };
    let mut child = Command::new(program)
        .args(options)
        .arg("--")
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(broken)?;
    let messages = child.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text); // partial text suffices
            text
        })
    });
    let mut read = Ok(());
    let mut is_wanted = true;
    if let Some(stdout) = child.stdout.take() {
        let mut stdout = BufReader::new(stdout);
        while is_wanted {
            let mut own = Vec::new();
            match stdout.read_until(b'\n', &mut own) {
                Ok(0) => break,
                Ok(_) => is_wanted = line(own),
                Err(error) => {
                    read = Err(broken(error));
                    break;
                }
            }
        }
        // The plugin ends when its output pipe is closed.
    }
    let ended = child.wait().map_err(broken)?;
    read?;
    let messages = messages
        .and_then(|messages| messages.join().ok())
        .unwrap_or_default();
    if ended.success() || !is_wanted {
        return Ok(());
    }
    let messages = String::from_utf8_lossy(&messages).into_owned();
    let label = path.to_string_lossy();
    let is_own = |line: &&str| line.starts_with("convo: ");
    let mut lines = messages.lines().rev();
    let last = lines.find(is_own).map(|line| {
        let line = line.trim_start_matches("convo: ");
        line.strip_prefix(&*label)
            .map_or(line, |line| line.trim_start_matches(": "))
    });
    let kinds = [
        ErrorKind::Data,
        ErrorKind::NotFound,
        ErrorKind::InputOutput,
        ErrorKind::Locked,
        ErrorKind::Unsafe,
    ];
    let kind = kinds
        .into_iter()
        .find(|kind| ended.code() == Some(i32::from(kind.status())));
    match (kind, last) {
        (Some(kind), Some(last)) => Err(named(Error::new(kind, last.to_string()), &path_name(path))),
        _ => Err(failed(last.map_or(ended.to_string(), str::to_string))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_not_a_record() {
        let row = DatabaseRow::read(
            br#"{"schema":"convo.sqlite/1","id":"a","archived":true,"bytes":3,"time":null}"#,
        );
        let row = row.unwrap();
        assert_eq!((row.id.as_str(), row.is_archived, row.bytes), ("a", true, 3));
        let record = br#"{"role":"user","content":"{\"schema\":\"convo.sqlite/1\",\"id\":\"a\"}","bytes":3}"#;
        assert_eq!(DatabaseRow::read(record), None);
    }
}
