//! What a list shows of each session, kept in the cache. An entry counts only while its log has the same device, inode,
//! size and times; logs that changed just before they were read are read again, since their times may not change with the
//! next change. A missing, damaged or foreign cache is read as an empty one.

use super::directory::{Directory, FILE_MODE, Facts};
use super::network::CACHE;
use super::{Store, atomic, log_name};
use crate::error::{Error, Kind, Result};
use crate::format::report::Report;
use crate::model::key;
use crate::model::session::Session;
use rustix::fs::OFlags;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::time::Duration;

/// The file in the cache.
const FILE: &str = "overviews";

/// No cache is larger.
const LARGEST: u64 = 1 << 30;

/// Seconds within which two changes may leave the same times on some file system.
const COARSE: i64 = 2;

/// How the file starts.
const MAGIC: &[u8; 8] = b"convoovw";

/// Fixed members of an entry: device, inode, size, the seconds and nanoseconds of two times, two lengths.
const HEAD: usize = 9 * 8;

/// So many threads per processor would not read faster; each has at least this many sessions.
const SHARE: usize = 64;

/// A session of the store with what is known of it.
#[derive(Debug)]
pub struct Overviewed<T> {
    /// Its id.
    pub id: String,
    /// Size of its log.
    pub bytes: u64,
    /// What is known of it.
    pub value: T,
}

/// How overviews are read.
pub struct Reading<'r, T> {
    /// From the bytes in the cache; none if they do not suffice.
    pub decode: &'r (dyn Fn(&[u8]) -> Option<T> + Sync),
    /// From the session, and whether it is damaged.
    pub read: &'r (dyn Fn(&str, &Session, bool) -> Result<T> + Sync),
    /// The bytes for the cache.
    pub encode: &'r (dyn Fn(&T) -> Vec<u8> + Sync),
}

/// An entry of the cache.
#[derive(Clone, Copy)]
struct Entry<'c> {
    facts: &'c [u8],
    payload: &'c [u8],
}

/// What makes a log the same: device, inode, size, times.
fn identity(facts: &Facts) -> [u8; HEAD - 16] {
    let words = [
        facts.device,
        facts.inode,
        facts.size,
        facts.modified.0 as u64,
        facts.modified.1 as u64,
        facts.changed.0 as u64,
        facts.changed.1 as u64,
    ];
    let mut bytes = [0; HEAD - 16];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Whether a later change of the log cannot have the same times.
fn is_settled(facts: &Facts, now: i64) -> bool {
    facts.modified.0.max(facts.changed.0) < now - COARSE
}

/// The version of the content: it changes with what an overview holds.
fn build() -> [u8; 8] {
    key::hash(concat!("convo ", env!("CARGO_PKG_VERSION"), " overview 1"))
        .get()
        .to_le_bytes()
}

/// The entries of a cache by id; none if the bytes are damaged or of another version.
fn entries(bytes: &[u8]) -> Option<HashMap<&str, Entry<'_>>> {
    let (body, sum) = bytes.split_last_chunk::<4>()?;
    if u32::from_le_bytes(*sum) != crc32c::crc32c(body) {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?.strip_prefix(&build())?;
    let mut entries = HashMap::with_capacity(rest.len() / 256);
    while !rest.is_empty() {
        let (head, after) = rest.split_at_checked(HEAD)?;
        let (facts, lengths) = head.split_at(HEAD - 16);
        let length = |at: usize| {
            let word = lengths[at..at + 8].try_into().ok()?;
            usize::try_from(u64::from_le_bytes(word)).ok()
        };
        let (id, after) = after.split_at_checked(length(0)?)?;
        let (payload, after) = after.split_at_checked(length(8)?)?;
        entries.insert(std::str::from_utf8(id).ok()?, Entry { facts, payload });
        rest = after;
    }
    Some(entries)
}

/// What became of one session.
enum Found<T> {
    /// It was in the cache.
    Cached(Overviewed<T>),
    /// It was read, and has these bytes for the cache, unless its times say too little.
    Read(Overviewed<T>, Option<(Facts, Vec<u8>)>),
    /// It failed.
    Failed(Error),
}

impl Store {
    /// Every session of the store, in no order, with what is known of it. A session that cannot be read is an error of
    /// its own. What had to be read is kept for the next time, where the store can be written.
    pub fn overviews<T: Send>(&self, reading: &Reading<'_, T>) -> Result<Vec<Result<Overviewed<T>>>> {
        let Some(sessions) = self.sessions()? else {
            return Ok(Vec::new());
        };
        let now = Facts::now();
        let names = self.session_names()?;
        let bytes = self.cached_overviews().unwrap_or_default();
        let cached = entries(&bytes).unwrap_or_default();
        let one = |id: &String| self.overview(sessions, id, now, &cached, reading);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.min(1 + names.len() / SHARE);
        let share = names.len().div_ceil(threads).max(1);
        let found: Vec<Found<T>> = std::thread::scope(|scope| {
            let workers: Vec<_> = names
                .chunks(share)
                .map(|names| scope.spawn(|| names.iter().filter_map(one).collect::<Vec<_>>()))
                .collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined
                .flat_map(|found| found.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        self.keep_overviews(&found, &cached, bytes.len());
        Ok(found
            .into_iter()
            .map(|found| match found {
                Found::Cached(overview) | Found::Read(overview, _) => Ok(overview),
                Found::Failed(error) => Err(error),
            })
            .collect())
    }

    fn overview<T>(
        &self,
        sessions: &Directory,
        id: &str,
        now: i64,
        cached: &HashMap<&str, Entry<'_>>,
        reading: &Reading<'_, T>,
    ) -> Option<Found<T>> {
        let facts = match sessions.facts(log_name(id)) {
            Ok(facts) => facts.filter(|facts| facts.regular)?,
            Err(error) => return Some(Found::Failed(error)),
        };
        let overviewed = |value| Overviewed {
            id: id.to_string(),
            bytes: facts.size,
            value,
        };
        let entry = cached.get(id).filter(|entry| entry.facts == identity(&facts));
        if let Some(value) = entry.and_then(|entry| (reading.decode)(entry.payload)) {
            return Some(Found::Cached(overviewed(value)));
        }
        let read = || -> Result<(u64, T)> {
            let reader = self.reader(id)?;
            let length = reader.length();
            let mut report = Report::default();
            let (session, _) = reader.whole(&mut report)?;
            Ok((length, (reading.read)(id, &session, report.is_damaged())?))
        };
        Some(match read() {
            // What an unfinished append has written counts later, without another change of the file.
            Ok((length, value)) => {
                let keeps = length == facts.size && is_settled(&facts, now);
                let kept = keeps.then(|| (facts, (reading.encode)(&value)));
                Found::Read(overviewed(value), kept)
            }
            // Removed since its name was read.
            Err(error) if error.kind == Kind::NotFound => return None,
            Err(error) => Found::Failed(error),
        })
    }

    fn cached_overviews(&self) -> Option<Vec<u8>> {
        let cache = self.directory().inner(CACHE).ok()??;
        let file = cache.file(FILE, OFlags::RDONLY).ok()??;
        let length = file.metadata().ok()?.len().min(LARGEST);
        let mut bytes = Vec::with_capacity(usize::try_from(length).ok()? + 1);
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Writes the cache anew, if enough has changed. A failure costs time and nothing else.
    fn keep_overviews<T>(&self, found: &[Found<T>], cached: &HashMap<&str, Entry<'_>>, size: usize) {
        let fresh = found
            .iter()
            .filter_map(|found| match found {
                Found::Read(overview, Some((facts, payload))) => Some((overview, facts, payload)),
                _ => None,
            })
            .collect::<Vec<_>>();
        // Reading a log costs about as much as writing a few hundred entries, or as writing its size.
        let bytes: u64 = fresh.iter().map(|(overview, ..)| overview.bytes).sum();
        let gone = cached.len().saturating_sub(found.len());
        let pays = fresh.len() * 512 >= found.len() || bytes >= size as u64;
        if (fresh.is_empty() || !pays) && gone * 4 <= found.len() {
            return;
        }
        let mut out = Vec::with_capacity(size + 4096);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&build());
        let mut push = |id: &str, facts: &[u8], payload: &[u8]| {
            out.extend_from_slice(facts);
            out.extend_from_slice(&(id.len() as u64).to_le_bytes());
            out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
            out.extend_from_slice(id.as_bytes());
            out.extend_from_slice(payload);
        };
        for found in found {
            match found {
                Found::Cached(overview) => {
                    if let Some(entry) = cached.get(&*overview.id) {
                        push(&overview.id, entry.facts, entry.payload);
                    }
                }
                Found::Read(overview, Some((facts, payload))) => {
                    push(&overview.id, &identity(facts), payload);
                }
                Found::Read(_, None) | Found::Failed(_) => {}
            }
        }
        let sum = crc32c::crc32c(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        let write = || -> Result<()> {
            self.directory().make(CACHE)?;
            let Some(cache) = self.directory().inner(CACHE)? else {
                return Ok(());
            };
            // Not synced: a cache that a crash damaged fails its checksum.
            let name = atomic::temporary_name(FILE);
            let mut temporary = atomic::Temporary::new(&cache, name, FILE_MODE, Duration::ZERO)?;
            let written = temporary.file.write_all(&out);
            written.map_err(|error| Error::io(cache.shown(FILE), error))?;
            temporary.keep(FILE)
        };
        let _ = write();
    }

    /// Deletes what is known of the sessions: some of it may be about to be destroyed.
    pub(super) fn forget_overviews(&self) {
        if let Ok(Some(cache)) = self.directory().inner(CACHE) {
            let _ = atomic::unlink(&cache, FILE);
        }
    }
}
