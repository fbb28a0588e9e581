//! Folders in which other systems keep their sessions: what is wrong there, and what of it can be mended without losing
//! a byte.

mod names;
mod penguin;
mod picoclaw;
mod promote;
mod system;

pub use names::Names;
pub use promote::{Asked, Promoted, promote};
pub use system::system_of;

use super::atomic;
use super::directory::{Directory, Facts};
use crate::error::{Error, Kind, Place, Result};
use rustix::fs::OFlags;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// A system whose folders are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// A `.jsonl` and a `.meta.json` a session.
    Picoclaw,
    /// A `.json` a session, and an index of them.
    Penguin,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// The last line has no end.
    TornTail,
    /// A line, or a document, that its system does not read.
    Unreadable,
    /// A line that holds a whole record behind something else.
    Glued,
    /// A byte order mark, at which its system rejects the line.
    ByteOrderMark,
    /// A line so long that its system does not read the session.
    TooLong,
    /// Thinking alone, which is never shown.
    ThoughtOnly,
    /// More is out of view than there is.
    Skip,
    /// The number of lines is another.
    Count,
    /// The sidecar is missing or unreadable.
    Sidecar,
    /// There is a sidecar, or a copy, and no session.
    NoSession,
    /// The key is one of another file.
    Key,
    /// A name that several sessions claim.
    Alias,
    /// A call without a result, or a result without a call.
    Orphan,
    /// The index names a session that is not there.
    Ghost,
    /// The index does not name a session that is there, or is not there itself.
    Index,
    /// A session continues, or is continued by, one that is not there or does not tell so.
    BrokenLink,
    /// A file of a change that was cut off.
    Temporary,
}

impl Trouble {
    /// The word in a report.
    pub const fn name(self) -> &'static str {
        match self {
            Trouble::TornTail => "torn-tail",
            Trouble::Unreadable => "unreadable",
            Trouble::Glued => "glued",
            Trouble::ByteOrderMark => "byte-order-mark",
            Trouble::TooLong => "too-long",
            Trouble::ThoughtOnly => "thought-only",
            Trouble::Skip => "skip",
            Trouble::Count => "count",
            Trouble::Sidecar => "sidecar",
            Trouble::NoSession => "no-session",
            Trouble::Key => "key",
            Trouble::Alias => "alias",
            Trouble::Orphan => "orphan",
            Trouble::Ghost => "ghost",
            Trouble::Index => "index",
            Trouble::BrokenLink => "broken-link",
            Trouble::Temporary => "temporary",
        }
    }
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, below the folder.
    pub file: String,
    /// Where in it; line 0 for the file as a whole.
    pub place: Place,
    /// What kind.
    pub trouble: Trouble,
    /// What, in words.
    pub what: String,
    /// What a repair does about it, or did; none when it is only told.
    pub remedy: Option<&'static str>,
}

/// How a folder is looked at.
#[derive(Clone, Debug)]
pub struct Check {
    /// Mend what can be mended: the time that changed files are given, RFC 3339.
    pub repair: Option<String>,
    /// How long to wait for a lock.
    pub lock_timeout: Duration,
    /// Mend although another program has a file open for writing.
    pub force: bool,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Sessions.
    pub sessions: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What came of it.
struct Findings<'f> {
    check: &'f Check,
    checked: Checked,
    each: &'f mut dyn FnMut(Finding),
}

impl Findings<'_> {
    fn tell(
        &mut self,
        file: &str,
        place: Place,
        trouble: Trouble,
        what: impl Into<String>,
        remedy: Option<&'static str>,
    ) {
        (self.each)(Finding {
            file: file.to_string(),
            place,
            trouble,
            what: what.into(),
            remedy,
        });
    }
}

/// Looks at every session of a folder, and mends with [`Check::repair`]; what is wrong is told as it is met.
pub fn check(path: &Path, system: System, check: &Check, each: &mut dyn FnMut(Finding)) -> Result<Checked> {
    let mut changed = false;
    let mut telling = |finding: Finding| {
        changed |= check.repair.is_some() && finding.remedy.is_some();
        each(finding);
    };
    let mut findings = Findings {
        check,
        checked: Checked::default(),
        each: &mut telling,
    };
    let looked = match system {
        System::Picoclaw => picoclaw::check(path, &mut findings),
        System::Penguin => penguin::check(path, "", &mut findings),
    };
    let checked = findings.checked;
    looked.map(|()| checked).map_err(|error| match changed {
        true => error
            .kind(Kind::Unsure)
            .hint("some problems may be repaired already; run the command again"),
        false => error,
    })
}

/// Where damaged bytes are kept, in folders beside the sessions that no system looks into.
const FOLDERS: [&str; 2] = [".convo", "quarantine"];

fn quarantine(directory: &Directory) -> Result<Directory> {
    let folder = atomic::folder(directory, FOLDERS[0])?;
    atomic::folder(&folder, FOLDERS[1])
}

/// A name in a folder that nobody has.
fn free_name(folder: &Directory, name: &str) -> Result<String> {
    let mut nth = 0u32;
    loop {
        let candidate = numbered(name, nth);
        if folder.facts(&candidate)?.is_none() {
            return Ok(candidate);
        }
        nth += 1;
    }
}

fn numbered(name: &str, nth: u32) -> String {
    match nth {
        0 => name.to_string(),
        nth => format!("{name}.{nth}"),
    }
}

/// Moves a file into the quarantine, durably.
fn put_aside(directory: &Directory, name: &str) -> Result<()> {
    let folder = quarantine(directory)?;
    let free = free_name(&folder, name)?;
    if !atomic::rename_new(directory, name, &folder, &free)? {
        return Err(Error::new(
            Kind::Locked,
            format!("{}: created by another program", folder.shown(&free)),
        ));
    }
    atomic::sync_directory(&folder)?;
    atomic::sync_directory(directory)
}

/// Keeps a copy of a file's bytes in the quarantine, durably. One that a run made which died before it mended the file is
/// the same.
fn copy_aside(directory: &Directory, name: &str, bytes: &[u8]) -> Result<()> {
    let folder = quarantine(directory)?;
    let free = free_name(&folder, name)?;
    for nth in 0u32.. {
        let taken = numbered(name, nth);
        if taken == free {
            break;
        }
        if bytes_of(&folder, &taken)?.is_some_and(|kept| kept == bytes) {
            return atomic::sync_directory(&folder);
        }
    }
    if atomic::create(&folder, &free, bytes)? {
        return Ok(());
    }
    Err(Error::new(
        Kind::Locked,
        format!("{}: created by another program", folder.shown(&free)),
    ))
}

/// The bytes of a regular file; none when there is none.
fn bytes_of(directory: &Directory, name: &str) -> Result<Option<Vec<u8>>> {
    let Some(mut file) = directory.file(name, OFlags::RDONLY)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| Error::io(directory.shown(name), error).kind(Kind::InputOutput))?;
    Ok(Some(bytes))
}

/// The names of regular files, in order, without hidden ones but those that a dead writer left.
fn files(directory: &Directory) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for name in directory.names()? {
        let regular = |facts: &Facts| facts.regular;
        if directory.facts(&name)?.as_ref().is_some_and(regular) {
            names.insert(name);
        }
    }
    Ok(names)
}

/// The folders in a folder, in order, without hidden ones.
fn folders(directory: &Directory) -> Result<Vec<String>> {
    let mut names: Vec<String> = directory.names()?;
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    let mut found = Vec::new();
    for name in names {
        match directory.inner(&name) {
            Ok(Some(_)) => found.push(name),
            Ok(None) => {}
            Err(error) if error.kind == Kind::Unsafe => {} // a file, or a link
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}
