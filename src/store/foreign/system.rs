//! Whose folder one is: told by the names of its files, and by what they hold.

use super::System;
use crate::error::{Error, Result};
use crate::format::detect::{self, HEAD, Hints};
use crate::format::{Format, penguin, picoclaw};
use crate::store::directory::Directory;
use rustix::fs::OFlags;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// So many files are looked into.
const LOOKED_AT: usize = 32;

/// The system whose files are in a folder. Names alone are not enough: a file that is beyond doubt another system's,
/// and none that is of the one that the names speak for, make it nobody's.
pub fn system_of(path: &Path) -> Result<Option<System>> {
    let directory = Directory::open(path)?;
    let names: BTreeSet<String> = directory.names()?.into_iter().collect();
    let bare = |name: &str| {
        let spare = name.strip_suffix(".bak").or(name.strip_suffix(".temp"));
        spare.unwrap_or(name).to_string()
    };
    let is_penguin = |name: &str| {
        let name = bare(name);
        name == penguin::INDEX
            || penguin::is_session_name(&name)
            || (name.starts_with("conversation_") && name.ends_with(".json"))
    };
    let has_log = |name: &&String| {
        let stem = name.strip_suffix(picoclaw::SIDECAR);
        stem.is_some_and(|stem| names.contains(&format!("{stem}{}", picoclaw::LOG)))
    };
    let sidecar = |name: &&String| name.ends_with(picoclaw::SIDECAR);
    if names.iter().any(|name| has_log(&name)) {
        return Ok(Some(System::Picoclaw));
    }
    let of_penguin: Vec<&String> = names.iter().filter(|name| is_penguin(name)).collect();
    if !of_penguin.is_empty() && speaks_for(&directory, &of_penguin, Format::Penguin)? {
        return Ok(Some(System::Penguin));
    }
    let of_picoclaw: Vec<&String> = names
        .iter()
        .filter(|name| sidecar(name) || name.ends_with(picoclaw::LOG))
        .collect();
    let is = !of_picoclaw.is_empty() && speaks_for(&directory, &of_picoclaw, Format::Picoclaw)?;
    Ok(is.then_some(System::Picoclaw))
}

/// Whether these files may be of this format: one is, or none is another's. What is damaged, and bare messages, are
/// anybody's.
fn speaks_for(directory: &Directory, names: &[&String], format: Format) -> Result<bool> {
    let mut foreign = false;
    for name in names.iter().take(LOOKED_AT) {
        let Ok(Some(file)) = directory.file(name.as_str(), OFlags::RDONLY) else {
            continue; // a folder, a link: told when it is looked at
        };
        let mut head = Vec::new();
        file.take(HEAD as u64 + 1)
            .read_to_end(&mut head)
            .map_err(|error| Error::io(directory.shown(name), error))?;
        let whole = head.len() <= HEAD;
        head.truncate(HEAD);
        let hints = Hints {
            name: Some(name),
            sidecar: false,
        };
        let verdict = detect::detect(&head, whole, hints);
        match verdict.format {
            Some(found) if found == format => return Ok(true),
            Some(Format::Jsonl) | None => {}
            Some(_) => foreign |= verdict.others.is_empty(),
        }
    }
    Ok(!foreign)
}
