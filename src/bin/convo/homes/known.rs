//! The sessions of files in homes, kept in a cache while the files do not change.

use super::read;
use crate::config::home;
use crate::overviews::OverviewReader;
use convo::error::Result;
use convo::filter::overview::Overview;
use convo::format::Format;
use convo::store::Facts;
use convo::store::cache::{Entries, Entry, Identity, Place, Writer, pays};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The version of what an entry holds.
const VERSION: &str = "homes 1";

/// Less than this is read faster than a cache is kept.
const LEAST: u64 = 4 << 20;

/// Where the cache is; none without a directory for it.
fn place() -> Option<Place> {
    Some(Place {
        folder: home("XDG_CACHE_HOME", ".cache")?.join("convo"),
        file: "agents",
    })
}

/// Removes what is known of sessions in homes, before some of it is destroyed.
///
/// # Errors
/// What removing the file fails with.
pub fn forget() -> Result<()> {
    place().map_or(Ok(()), |place| place.forget())
}

/// The cache as it was.
pub struct Known(Vec<u8>);

/// The sessions of a file, and its entry in the cache.
pub enum Found<'c> {
    Cached(Vec<Overview>, Entry<'c>),
    Read(Vec<Overview>, Option<(Identity, Vec<u8>)>),
}

impl Found<'_> {
    /// The sessions.
    pub fn into_sessions(self) -> Vec<Overview> {
        match self {
            Found::Cached(sessions, _) | Found::Read(sessions, _) => sessions,
        }
    }
}

impl Known {
    /// The cache; an empty one if it is not used.
    pub fn open(is_used: bool) -> Known {
        Known(
            place()
                .filter(|_| is_used)
                .map(|place| place.read())
                .unwrap_or_default(),
        )
    }

    /// Its entries.
    pub fn entries(&self) -> Entries<'_> {
        Entries::read(&self.0, VERSION)
    }

    /// Keeps what was read, if that pays. `found` are all files.
    pub fn keep(&self, entries: &Entries<'_>, found: &[(&Path, u64, &Found<'_>)]) {
        let fresh = found
            .iter()
            .filter(|(.., found)| matches!(found, Found::Read(_, Some(_))));
        let bytes = fresh.clone().map(|(_, bytes, _)| bytes).sum();
        let is_small = self.0.is_empty() && bytes < LEAST;
        if is_small || !pays(fresh.count(), bytes, found.len(), entries.len(), self.0.len()) {
            return;
        }
        let Some(place) = place() else { return };
        let mut writer = Writer::new(VERSION, self.0.len());
        for (path, _, found) in found {
            let name = path.as_os_str().as_bytes();
            match found {
                Found::Cached(_, entry) => writer.push(name, entry.identity, entry.payload),
                Found::Read(_, Some((identity, payload))) => writer.push(name, *identity, payload),
                Found::Read(_, None) => {}
            }
        }
        place.keep(writer);
    }
}

/// The sessions of a file: those in the cache, if the file is still the same, else those that are read.
///
/// # Errors
/// What reading fails with.
pub fn sessions<'c>(
    path: &Path,
    format: Option<Format>,
    now: i64,
    entries: &Entries<'c>,
    reader: &OverviewReader<'_>,
) -> Result<Found<'c>> {
    let facts = std::fs::metadata(path).map(|about| Facts::about(&about)).ok();
    if let Some(entry) = facts.and_then(|facts| entries.get(path.as_os_str().as_bytes(), &facts))
        && let Some(sessions) = decode(entry.payload, reader)
    {
        return Ok(Found::Cached(sessions, entry));
    }
    let (sessions, is_alone) = read::parts(path, format, reader)?;
    let identity = facts
        .filter(|_| is_alone)
        .and_then(|facts| Identity::settled(&facts, now));
    let kept = identity.map(|identity| (identity, encode(&sessions)));
    Ok(Found::Read(sessions, kept))
}

fn encode(sessions: &[Overview]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for session in sessions {
        let session = session.encode();
        bytes.extend_from_slice(&(session.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&session);
    }
    bytes
}

fn decode(mut bytes: &[u8], reader: &OverviewReader<'_>) -> Option<Vec<Overview>> {
    let mut sessions = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (session, rest) = rest.split_at_checked(length)?;
        sessions.push(reader.known(session)?);
        bytes = rest;
    }
    Some(sessions)
}
