//! A cache of the sessions in homes, valid while their files do not change.

use super::read;
use crate::environment::home;
use crate::overviews::OverviewReader;
use crate::programs::database::{self, DatabaseRow};
use convo::error::Result;
use convo::filter::overview::Overview;
use convo::home::{FileKind, HomeProgram, Transcript};
use convo::store::FileStat;
use convo::store::cache::{CacheEntries, CacheLocation, CacheState, CacheWriter, Identity};
use std::os::unix::ffi::OsStrExt;

/// The version of the entries.
const VERSION: &str = "homes 4";

/// Below this number of bytes, reading the files is faster than using a cache.
const MINIMUM: u64 = 4 << 20;

/// Returns the location of the cache; `None` without a cache directory.
fn cache_location() -> Option<CacheLocation> {
    cache("agents")
}

fn cache(file: &'static str) -> Option<CacheLocation> {
    Some(CacheLocation {
        dir: home("XDG_CACHE_HOME", ".cache")?.join("convo"),
        file,
    })
}

/// The cache of the rows of databases.
const ROWS: &str = "rows";

/// Returns the sessions of a database without their records; starts no program if the database is unchanged.
///
/// # Errors
/// Returns the errors of the plugin.
pub fn rows(file: &Transcript) -> Result<Vec<DatabaseRow>> {
    let place = cache(ROWS);
    let kept = place.as_ref().map(CacheLocation::read).unwrap_or_default();
    let entries = CacheEntries::read(&kept, VERSION);
    let (started, name, facts) = (FileStat::now(), name(file), facts(file));
    if let Some(entry) = facts.and_then(|facts| entries.get(&name, &facts)) {
        let lines = entry.payload.split(|byte| *byte == b'\n');
        if let Some(rows) = lines
            .filter(|line| !line.is_empty())
            .map(DatabaseRow::read)
            .collect()
        {
            return Ok(rows);
        }
    }
    let is_stable = log(file).is_none_or(|log| Identity::stable(&log, started).is_some());
    let rows = database::rows(&file.path)?;
    let identity = facts.and_then(|facts| Identity::stable(&facts, started));
    if let (Some(place), Some(identity), true) = (place, identity, is_stable) {
        let own = file.path.as_os_str().as_bytes();
        let mut writer = CacheWriter::new(VERSION, kept.len());
        for (name, entry) in entries.all() {
            if name.split(|byte| *byte == 0).next() != Some(own) {
                writer.push(name, entry.identity, entry.payload);
            }
        }
        let lines: Vec<Vec<u8>> = rows.iter().map(DatabaseRow::written).collect();
        writer.push(&name, identity, &lines.join(&b'\n'));
        place.keep(writer);
    }
    Ok(rows)
}

/// Removes the cached data of sessions in homes, before some sessions are deleted permanently.
///
/// # Errors
/// Returns the errors of removing the file.
pub fn remove_cache() -> Result<()> {
    [cache_location(), cache(ROWS)]
        .into_iter()
        .flatten()
        .try_for_each(|place| place.forget())
}

/// The content of the cache.
pub struct HomeCache(Vec<u8>);

/// A session, with its row if the file is a database.
pub type FileSession = (Option<DatabaseRow>, Overview);

/// The sessions of a file, and its entry in the cache.
pub struct FileSessions<'c> {
    pub sessions: Vec<FileSession>,
    state: CacheState<'c>,
}

impl HomeCache {
    /// Opens the cache; empty if it is not used.
    pub fn open(is_used: bool) -> HomeCache {
        HomeCache(
            cache_location()
                .filter(|_| is_used)
                .map(|place| place.read())
                .unwrap_or_default(),
        )
    }

    pub fn entries(&self) -> CacheEntries<'_> {
        CacheEntries::read(&self.0, VERSION)
    }

    /// Writes the cache if it saves time. `found` contains all files.
    pub fn keep(&self, entries: &CacheEntries<'_>, found: &[(&Transcript, &FileSessions<'_>)]) {
        let states = found.iter().map(|(file, found)| {
            let bytes = match file.kind {
                // Reading a database starts a program.
                FileKind::Database => file.bytes.max(MINIMUM),
                _ => file.bytes,
            };
            (*file, bytes, &found.state)
        });
        if let Some(writer) = entries.rewritten(VERSION, (self.0.len(), MINIMUM), states, name)
            && let Some(place) = cache_location()
        {
            place.keep(writer);
        }
    }
}

/// Returns the sessions of a file, from the cache if the file is unchanged.
///
/// # Errors
/// Returns the errors of reading.
pub fn sessions<'c>(
    file: &Transcript,
    program: &HomeProgram,
    now: i64,
    entries: &CacheEntries<'c>,
    reader: &OverviewReader<'_>,
) -> Result<FileSessions<'c>> {
    let name = name(file);
    let facts = facts(file);
    if let Some(entry) = facts.and_then(|facts| entries.get(&name, &facts))
        && let Some(sessions) = decode(entry.payload, reader)
    {
        let state = CacheState::Cached(entry);
        return Ok(FileSessions { sessions, state });
    }
    let (sessions, is_alone): (Vec<FileSession>, bool) = match file.kind {
        FileKind::Database => {
            let rows = read::rows(&file.path, reader)?.into_iter();
            let log_is_stable = log(file).is_none_or(|log| Identity::stable(&log, now).is_some());
            let rows = rows.map(|(row, overview)| (Some(row), overview));
            (rows.collect(), log_is_stable)
        }
        _ => {
            let format = program.format_of(&file.path);
            let (mut sessions, is_alone) = read::parts(&file.path, format, reader)?;
            // Its program has just created the file, or a crash emptied it.
            if sessions.is_empty() && file.id.is_some() {
                sessions.push(Overview::default());
            }
            let sessions = sessions.into_iter().map(|overview| (None, overview));
            (sessions.collect(), is_alone)
        }
    };
    let identity = facts
        .filter(|_| is_alone)
        .and_then(|facts| Identity::stable(&facts, now));
    let state = match identity {
        Some(identity) => CacheState::Read(identity, encode(&sessions)),
        None => CacheState::Unstable,
    };
    Ok(FileSessions { sessions, state })
}

/// Returns the size and times of a file.
fn facts(file: &Transcript) -> Option<FileStat> {
    Some(FileStat::about(&std::fs::metadata(&file.path).ok()?))
}

/// The log next to a database, in which its newest messages are. SQLite sets the owner of a log that it only reads, if the
/// user may do that, so that the second time says nothing.
fn log(file: &Transcript) -> Option<FileStat> {
    let mut path = file.path.as_os_str().to_os_string();
    path.push("-wal");
    let about = std::fs::metadata(path).ok()?;
    let facts = FileStat::about(&about);
    let log = FileStat {
        changed: facts.modified,
        ..facts
    };
    (log.size > 0).then_some(log)
}

/// Returns the name of a file in the cache; a database with another log has another name.
fn name(file: &Transcript) -> Vec<u8> {
    let mut name = file.path.as_os_str().as_bytes().to_vec();
    if let Some(log) = (file.kind == FileKind::Database).then(|| log(file)).flatten() {
        let (seconds, nanoseconds) = log.modified;
        let own = format!("\0{} {} {seconds}.{nanoseconds}", log.inode, log.size);
        name.extend_from_slice(own.as_bytes());
    }
    name
}

fn encode(sessions: &[FileSession]) -> Vec<u8> {
    postcard::to_allocvec(sessions).unwrap_or_default()
}

fn decode(bytes: &[u8], reader: &OverviewReader<'_>) -> Option<Vec<FileSession>> {
    let (sessions, rest): (Vec<FileSession>, _) = postcard::take_from_bytes(bytes).ok()?;
    if !rest.is_empty() {
        return None;
    }
    let known = |(row, overview)| Some((row, reader.known(overview)?));
    sessions.into_iter().map(known).collect()
}
