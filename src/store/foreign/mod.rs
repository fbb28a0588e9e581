//! Files and directories of other systems: recognizes, checks and repairs them, and changes them in place without
//! data loss. [`SYSTEMS`] is the table of systems. Files that need their names elsewhere are listed in `docs/architecture.md`.

mod files;
mod finding;
mod penguin;
mod picoclaw;
mod session_file;
mod system;

pub use finding::{DirectoryCheckOptions, DirectoryCheckStats, DirectoryProblem, DirectoryProblemKind};
pub use picoclaw::{PromotedFile, PromotionRequest, SidecarNames, promote};
pub use session_file::{FileChange, FileChanged, FileOptions, SessionFile};
pub use system::{Compaction, CompactionResult, ForeignSystem};

use super::directory::Directory;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::format::detect::{self, Detection, HEAD, Hints};
use crate::model::message::Message;
use crate::model::session::Session;
use finding::DirectoryFindings;
use rustix::fs::OFlags;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use system::DirectoryMatch;

/// The supported systems.
pub static SYSTEMS: [&dyn ForeignSystem; 2] = [&picoclaw::Picoclaw, &penguin::Penguin];

/// Maximum number of files examined to recognize a directory.
const EXAMINED: usize = 32;

/// The system whose session files have this format.
pub fn system_of_format(format: Format) -> Option<&'static dyn ForeignSystem> {
    SYSTEMS.into_iter().find(|system| system.format() == format)
}

/// The system whose files are in a directory. Names alone do not suffice: the system is unknown if a file certainly
/// belongs to another system and none to the suggested one.
pub fn system_of(path: &Path) -> Result<Option<&'static dyn ForeignSystem>> {
    let directory = Directory::open(path)?;
    let names: BTreeSet<String> = directory.names()?.into_iter().collect();
    let mut claims = SYSTEMS.map(|system| (system, system.recognize(&names)));
    claims.reverse(); // PicoClaw, the first, has the least specific names
    if let Some((system, _)) = claims
        .iter()
        .find(|(_, claim)| matches!(claim, DirectoryMatch::Certain))
    {
        return Ok(Some(*system));
    }
    for (system, claim) in claims {
        if let DirectoryMatch::Possible(names) = claim
            && !names.is_empty()
            && supports(&directory, &names, system.format())?
        {
            return Ok(Some(system));
        }
    }
    Ok(None)
}

/// Whether these files may have this format: one has it, or none has another. Damaged files and bare messages are
/// compatible with any format.
fn supports(directory: &Directory, names: &[&str], format: Format) -> Result<bool> {
    let mut other = false;
    for name in names.iter().take(EXAMINED) {
        let Ok(Some(file)) = directory.file(name, OFlags::RDONLY) else {
            continue; // a directory or a link: reported when it is checked
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
            Some(_) => other |= verdict.others.is_empty(),
        }
    }
    Ok(!other)
}

/// Checks every session of a directory, and repairs with [`DirectoryCheckOptions::repair`]; each problem is reported when it is found.
pub fn check(
    path: &Path,
    system: &dyn ForeignSystem,
    check: &DirectoryCheckOptions,
    each: &mut dyn FnMut(DirectoryProblem),
) -> Result<DirectoryCheckStats> {
    let mut changed = false;
    let mut report = |finding: DirectoryProblem| {
        changed |= check.repair.is_some() && finding.remedy.is_some();
        each(finding);
    };
    let mut findings = DirectoryFindings {
        check,
        checked: DirectoryCheckStats::default(),
        each: &mut report,
    };
    let done = system.check(path, &mut findings);
    let checked = findings.checked;
    done.map(|()| checked).map_err(|error| match changed {
        true => error
            .kind(ErrorKind::Unsure)
            .hint("some problems may be repaired already; run the command again"),
        false => error,
    })
}

/// The other names of a session, from its header.
pub fn aliases(header: &[u8]) -> Vec<String> {
    SYSTEMS.iter().flat_map(|system| system.aliases(header)).collect()
}

/// The member of a header's metadata that keeps other names, and its value; none without names.
pub fn aliases_member(aliases: &[String]) -> Option<(&'static str, Vec<u8>)> {
    SYSTEMS.iter().find_map(|system| system.aliases_member(aliases))
}

/// How many messages of the view are among the newest `keep` messages as the system of the session counts them; at
/// least one unless `keep` is 0.
pub fn messages_among(session: &Session, keep: usize) -> usize {
    let counts = SYSTEMS.iter().map(|system| system.messages_among(session, keep));
    counts.min().unwrap_or(keep)
}

/// Whether the system of a message hides it from people.
pub fn hides(message: &Message<'_>) -> bool {
    SYSTEMS.iter().any(|system| system.hides(message))
}

/// Whether a file of this name is a list of sessions.
pub fn is_index(name: &str) -> bool {
    SYSTEMS.iter().any(|system| system.indexes().contains(&name))
}

/// Whether a log of this format is read together with another file of the same stem.
pub fn has_sidecar(format: Format) -> bool {
    system_of_format(format).is_some_and(|system| system.has_sidecar())
}

/// Whether backups of a session in this format may contain more than the session.
pub fn keeps_copies(format: Format) -> bool {
    system_of_format(format).is_some_and(|system| system.keeps_copies())
}

/// Whether a document is damaged completely, so that a backup may contain more.
pub fn is_lost(bytes: &[u8]) -> bool {
    SYSTEMS.iter().any(|system| system.is_lost(bytes))
}

/// The format of a damaged file, by its name or by the index next to it.
pub fn format_of_damaged(path: &Path, verdict: &Detection, head: &[u8]) -> Option<Format> {
    let claims = |system: &&&dyn ForeignSystem| system.claims_damaged(path, verdict, head);
    SYSTEMS.iter().find(claims).map(|system| system.format())
}

/// Moves hidden records of a session file to an archive next to it; none if this format has no archive.
pub fn compact(path: &Path, format: Format, options: &Compaction) -> Result<Option<CompactionResult>> {
    match system_of_format(format) {
        Some(system) => system.compact(path, options),
        None => Ok(None),
    }
}

/// Opens a session file that its system stores together with other files; none for any other file.
pub fn open<'o>(path: &'o Path, options: &'o FileOptions<'o>) -> Result<Option<Box<dyn SessionFile + 'o>>> {
    match system_of_format(options.format) {
        Some(system) => system.open(path, options),
        None => Ok(None),
    }
}
