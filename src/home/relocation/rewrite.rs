//! Rewrites members of files to the new names; every other byte is unchanged.

use super::file_rule::{FileEncoding, FileRule};
use super::renames::Renames;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::zstd;
use crate::model::json::{self, ArrayElements, Dialect, JsonError, Members};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

/// The number of changes per member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenameCounts {
    /// By the path of the member.
    pub members: BTreeMap<&'static str, u64>,
    /// Names in objects that are not changed because the objects already contain the new names.
    pub taken: Vec<String>,
}

/// Writes a file with the new names; returns the number of changes.
///
/// # Errors
/// Returns the errors of reading and writing; [`ErrorKind::Data`] for a document that names the directory but cannot be
/// parsed.
pub fn rewrite(path: &Path, rule: &FileRule, renames: &Renames, out: &mut dyn Write) -> Result<RenameCounts> {
    let unread = |error| Error::io(path.display(), error).kind(ErrorKind::InputOutput);
    let unwritten = |error| Error::io("cannot write", error).kind(ErrorKind::InputOutput);
    let mut counts = RenameCounts::default();
    let is_packed = path.extension().is_some_and(|ending| ending == "zst");
    match rule.shape {
        FileEncoding::Lines if is_packed => {
            let packed = std::fs::read(path).map_err(unread)?;
            let text = zstd::unpack(&packed).map_err(|error| at(error, path, 1))?;
            let mut changed = Vec::with_capacity(text.len());
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                put(line, rule, renames, &mut counts, &mut changed).map_err(unwritten)?;
            }
            let bytes = if counts.members.is_empty() {
                packed
            } else {
                zstd::pack(&changed)
            };
            out.write_all(&bytes).map_err(unwritten)?;
        }
        FileEncoding::Lines => {
            let mut input = BufReader::with_capacity(256 << 10, File::open(path).map_err(unread)?);
            let mut line = Vec::new();
            while input.read_until(b'\n', &mut line).map_err(unread)? > 0 {
                put(&line, rule, renames, &mut counts, out).map_err(unwritten)?;
                line.clear();
            }
        }
        FileEncoding::Document => {
            let text = std::fs::read(path).map_err(unread)?;
            let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok();
            let names = |text: &[u8]| memchr::memmem::find(text, renames.old().as_bytes()).is_some();
            if !is_json && names(&text) {
                let error = Error::data("not a JSON document");
                return Err(at(
                    error.hint("nothing was changed; repair or move it away first"),
                    path,
                    1,
                ));
            }
            put(&text, rule, renames, &mut counts, out).map_err(unwritten)?;
        }
        FileEncoding::Text => {
            let text = std::fs::read_to_string(path).map_err(unread)?;
            let own = text.trim_end_matches(['\n', '\r']);
            let new = renames.path(own).inspect(|_| {
                counts.members.insert(rule.members[0], 1);
            });
            let new = new.as_deref().unwrap_or(own);
            write!(out, "{new}{}", &text[own.len()..]).map_err(unwritten)?;
        }
    }
    Ok(counts)
}

fn at(mut error: Error, path: &Path, line: u64) -> Error {
    error.at = Some((path.display().to_string(), Position { line, offset: 0 }));
    error
}

/// Writes a value with the new names.
fn put(
    value: &[u8],
    rule: &FileRule,
    renames: &Renames,
    counts: &mut RenameCounts,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let is_meant = rule.types.is_empty()
        || json::member_text(value, "type").is_some_and(|name| rule.types.contains(&name.as_ref()));
    let mut edits: Vec<(usize, usize, Vec<u8>)> = Vec::new();
    if is_meant {
        for member in rule.members {
            let way: Vec<&str> = member.split('.').collect();
            let mut found = Vec::new();
            let _ = find(value, &way, &mut found);
            let is_name = way.last() == Some(&"{}");
            for bytes in &found {
                let Some(new) = json::text(bytes).and_then(|text| renames.value(&text)) else {
                    continue;
                };
                let start = bytes.as_ptr().addr() - value.as_ptr().addr();
                let mut text = Vec::new();
                json::push_text(&mut text, &new);
                if is_name && found.iter().any(|other| json::same(other, &text)) {
                    counts.taken.push(new);
                    continue;
                }
                edits.push((start, start + bytes.len(), text));
                *counts.members.entry(member).or_default() += 1;
            }
        }
    }
    edits.sort();
    let mut done = 0;
    for (start, end, text) in edits {
        out.write_all(&value[done..start])?;
        out.write_all(&text)?;
        done = end;
    }
    out.write_all(&value[done..])
}

/// Finds the values, or the names, at this path of members.
fn find<'v>(value: &'v [u8], way: &[&str], found: &mut Vec<&'v [u8]>) -> std::result::Result<(), JsonError> {
    let Some((step, rest)) = way.split_first() else {
        found.push(value);
        return Ok(());
    };
    if *step == "*" {
        let mut elements = ArrayElements::new(value, Dialect::Python)?;
        while let Some((_, element)) = elements.next()? {
            find(element, rest, found)?;
        }
        return Ok(());
    }
    let mut members = Members::new(value, Dialect::Python)?;
    while let Some(member) = members.next()? {
        if *step == "{}" {
            found.push(&value[member.start..member.start + member.key.len() + 2]);
        } else if member.name() == *step {
            find(member.value, rest, found)?;
        }
    }
    Ok(())
}
