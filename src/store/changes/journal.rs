//! A journal of changes: one line per change, followed by the old bytes of a changed file.

use super::plan::PlannedChanges;
use crate::error::{Error, ErrorKind, Result};
use crate::model::key::hex;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Suffixes of journal names by state: not committed, committed but not finished, finished. The first two are hidden.
pub const PLANNED: &str = ".plan";
pub const COMMITTED: &str = ".committed";
pub const DONE: &str = ".journal";

/// The id in a hidden journal name.
pub fn id<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    name.strip_prefix('.')?.strip_suffix(ending)
}

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalEntry {
    /// New content of a file: its checksum, and the position of the old bytes in the journal.
    Write {
        /// The file.
        path: PathBuf,
        /// Checksum of the new content.
        sha256: String,
        /// Offset and length of the old bytes.
        old: (u64, u64),
    },
    /// A directory to create.
    Make(PathBuf),
    /// A file or directory with its new path and, for a directory, its entries.
    Move(PathBuf, PathBuf, Vec<OsString>),
    /// A directory to remove.
    Remove(PathBuf),
}

/// A committed journal.
#[derive(Debug)]
pub struct Journal {
    /// Its id.
    pub id: String,
    /// Description of the purpose.
    pub about: Value,
    /// The id of the journal that it undoes.
    pub undoes: Option<String>,
    /// All changes.
    pub entries: Vec<JournalEntry>,
    pub(super) file: File,
}

impl Journal {
    /// Parses a journal, except for the old bytes.
    pub(super) fn read(file: File, shown: &str, id: &str, base: &Path) -> Result<Journal> {
        let failed = |error| Error::io(shown, error).kind(ErrorKind::InputOutput);
        let mut input = BufReader::new(file);
        let mut entries = Vec::new();
        let mut line = Vec::new();
        let damaged = || Error::data(format!("{shown}: damaged journal"));
        let mut next = |input: &mut BufReader<File>| -> Result<Value> {
            line.clear();
            input.read_until(b'\n', &mut line).map_err(failed)?;
            match line.ends_with(b"\n") {
                true => serde_json::from_slice(&line).map_err(|_| damaged()),
                false => Err(damaged()),
            }
        };
        let header = next(&mut input)?;
        loop {
            let value = next(&mut input)?;
            let entry = if let Some(path) = path(&value, "write", base) {
                let bytes = value["bytes"].as_u64().ok_or_else(damaged)?;
                let sha256 = value["sha256"].as_str().ok_or_else(damaged)?.to_string();
                let start = input.stream_position().map_err(failed)?;
                let length = input.get_ref().metadata().map_err(failed)?.len();
                let end = start
                    .checked_add(bytes)
                    .filter(|end| *end < length)
                    .ok_or_else(damaged)?;
                input.seek(SeekFrom::Start(end + 1)).map_err(failed)?;
                JournalEntry::Write {
                    path,
                    sha256,
                    old: (start, bytes),
                }
            } else if let Some(path) = path(&value, "make", base) {
                JournalEntry::Make(path)
            } else if let Some((from, to)) = path(&value, "move", base).zip(path(&value, "to", base)) {
                let names = value["names"].as_array().into_iter().flatten();
                JournalEntry::Move(from, to, names.filter_map(decoded).collect())
            } else if let Some(path) = path(&value, "remove", base) {
                JournalEntry::Remove(path)
            } else if value["end"] == true {
                break;
            } else {
                return Err(damaged());
            };
            entries.push(entry);
        }
        Ok(Journal {
            id: id.to_string(),
            about: header["about"].clone(),
            undoes: header["undoes"].as_str().map(str::to_string),
            entries,
            file: input.into_inner(),
        })
    }
}

/// Encodes a name or path: as text, or as an array with one hexadecimal string if it is not UTF-8.
fn encoded(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::String(text.to_string()),
        Err(_) => json!([hex(bytes)]),
    }
}

fn decoded(value: &Value) -> Option<OsString> {
    if let Some(text) = value.as_str() {
        return Some(text.into());
    }
    let digits = value.get(0)?.as_str()?.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    Some(OsString::from_vec(bytes?))
}

/// Parses a path; one that begins with `~/` is relative to the base.
fn path(value: &Value, name: &str, base: &Path) -> Option<PathBuf> {
    let path = PathBuf::from(decoded(value.get(name)?)?);
    Some(match path.strip_prefix("~") {
        Ok(below) => base.join(below),
        Err(_) => path,
    })
}

fn line(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    writeln!(out, "{value}")
}

fn text(path: &Path, base: &Path) -> Value {
    match path.strip_prefix(base) {
        Ok(below) => encoded(Path::new("~").join(below).as_os_str().as_bytes()),
        Err(_) => encoded(path.as_os_str().as_bytes()),
    }
}

/// Writes the first line.
pub fn write_header(out: &mut dyn Write, id: &str, about: &Value, undoes: Option<&str>) -> io::Result<()> {
    let header = json!({"schema": "convo.changes/1", "id": id, "undoes": undoes, "about": about});
    line(out, &header)
}

/// Writes the line of a changed file; its old bytes and a newline must follow.
pub fn write(out: &mut dyn Write, path: &Path, base: &Path, bytes: u64, sha256: &str) -> io::Result<()> {
    line(
        out,
        &json!({"write": text(path, base), "bytes": bytes, "sha256": sha256}),
    )
}

/// Writes the lines after the files.
pub fn end(out: &mut dyn Write, changes: &PlannedChanges<'_>, base: &Path) -> io::Result<()> {
    for path in &changes.makes {
        line(out, &json!({"make": text(path, base)}))?;
    }
    for (from, to) in &changes.moves {
        let names = names(from).map_err(|error| io::Error::other(error.to_string()))?;
        let names: Vec<Value> = names.iter().map(|name| encoded(name.as_bytes())).collect();
        line(
            out,
            &json!({"move": text(from, base), "to": text(to, base), "names": names}),
        )?;
    }
    for path in &changes.removes {
        line(out, &json!({"remove": text(path, base)}))?;
    }
    line(out, &json!({"end": true}))
}

/// The sorted names in a directory except hidden ones; none for a file.
pub fn names(path: &Path) -> Result<Vec<OsString>> {
    let failed = |error| Error::io(path.display(), error).kind(ErrorKind::InputOutput);
    let mut names: Vec<OsString> = Vec::new();
    if path.symlink_metadata().map_err(failed)?.is_dir() {
        for entry in std::fs::read_dir(path).map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name());
        }
    }
    names.retain(|name| !name.as_bytes().starts_with(b"."));
    names.sort();
    Ok(names)
}

/// Copies a byte range of a file; returns the number of bytes copied. Uses plain reads and writes, so that all writes
/// of a run are of the same kind.
pub fn copy(mut file: &File, (start, length): (u64, u64), out: &mut dyn Write) -> io::Result<u64> {
    file.seek(SeekFrom::Start(start))?;
    let mut input = io::Read::take(file, length);
    let mut block = vec![0; 256 << 10];
    let mut copied = 0;
    loop {
        match io::Read::read(&mut input, &mut block) {
            Ok(0) => return Ok(copied),
            Ok(read) => {
                out.write_all(&block[..read])?;
                copied += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
