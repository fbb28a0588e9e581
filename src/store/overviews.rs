//! Caches the overviews of sessions for lists.

use super::cache::{CacheEntries, CacheState, CacheWriter, Identity, read};
use super::directory::{Directory, FileStat};
use super::network::CACHE;
use super::{Store, atomic, log_name};
use crate::error::{ErrorKind, Result};
use crate::format::report::Report;
use crate::model::session::Session;
use crate::model::threads::{cores, in_parallel};

/// The file in the cache.
const FILE: &str = "overviews";

/// The version of the entries.
const VERSION: &str = "overview 3";

/// Minimum number of sessions per thread.
const SHARE: usize = 64;

/// A session of the store with its overview.
#[derive(Debug)]
pub struct Overviewed<T> {
    /// Its id.
    pub id: String,
    /// Size of its log in bytes.
    pub bytes: u64,
    /// The overview.
    pub value: T,
}

/// Callbacks to read overviews.
pub struct OverviewCallbacks<'r, T> {
    /// Decodes the cached bytes; none if they do not suffice.
    pub decode: &'r (dyn Fn(&[u8]) -> Option<T> + Sync),
    /// Computes the value from the session, and whether it is damaged.
    pub read: &'r (dyn Fn(&str, &Session, bool) -> Result<T> + Sync),
    /// Encodes the value for the cache.
    pub encode: &'r (dyn Fn(&T) -> Vec<u8> + Sync),
}

/// The result for one session.
type OverviewResult<'c, T> = Result<(Overviewed<T>, CacheState<'c>)>;

impl Store {
    /// All sessions of the store, unsorted, with their overviews. An unreadable session gives an error of its own.
    /// New overviews are cached if the store is writable.
    pub fn overviews<T: Send>(
        &self,
        reading: &OverviewCallbacks<'_, T>,
    ) -> Result<Vec<Result<Overviewed<T>>>> {
        let Some(sessions) = self.sessions()? else {
            return Ok(Vec::new());
        };
        let now = FileStat::now();
        let names = self.session_names()?;
        let cache = || read(&self.directory().inner(CACHE).ok()??, FILE);
        let bytes = cache().unwrap_or_default();
        let cached = CacheEntries::read(&bytes, VERSION);
        let one = |id: &String| self.overview(sessions, id, now, &cached, reading);
        let threads = cores().min(1 + names.len() / SHARE);
        let shares: Vec<&[String]> = names.chunks(names.len().div_ceil(threads).max(1)).collect();
        let found = in_parallel(threads, &shares, |names| {
            names.iter().filter_map(one).collect::<Vec<_>>()
        });
        let found: Vec<OverviewResult<'_, T>> = found.into_iter().flat_map(Vec::into_iter).collect();
        let states = found.iter().flatten();
        let states = states.map(|(overview, state)| (&overview.id, overview.bytes, state));
        if let Some(writer) = cached.rewritten(VERSION, (bytes.len(), 0), states, |id| id) {
            // An error only costs time.
            let _ = self.keep_overviews(writer);
        }
        Ok(found
            .into_iter()
            .map(|found| found.map(|(overview, _)| overview))
            .collect())
    }

    fn overview<'c, T>(
        &self,
        sessions: &Directory,
        id: &str,
        now: i64,
        cached: &CacheEntries<'c>,
        reading: &OverviewCallbacks<'_, T>,
    ) -> Option<OverviewResult<'c, T>> {
        let facts = match sessions.facts(log_name(id)) {
            Ok(facts) => facts.filter(|facts| facts.regular)?,
            Err(error) => return Some(Err(error)),
        };
        let overviewed = |value| Overviewed {
            id: id.to_string(),
            bytes: facts.size,
            value,
        };
        if let Some(entry) = cached.get(id.as_bytes(), &facts)
            && let Some(value) = (reading.decode)(entry.payload)
        {
            return Some(Ok((overviewed(value), CacheState::Cached(entry))));
        }
        let read = || -> Result<(u64, T)> {
            let reader = self.reader(id)?;
            let length = reader.length();
            let mut report = Report::default();
            let (session, _) = reader.whole(&mut report)?;
            Ok((length, (reading.read)(id, &session, report.is_damaged())?))
        };
        Some(match read() {
            // Bytes of an unfinished append may become valid later without a change of the file's metadata.
            Ok((length, value)) => {
                let identity = Identity::stable(&facts, now).filter(|_| length == facts.size);
                let state = identity.map_or(CacheState::Unstable, |identity| {
                    CacheState::Read(identity, (reading.encode)(&value))
                });
                Ok((overviewed(value), state))
            }
            // Removed since the names were listed.
            Err(error) if error.kind == ErrorKind::NotFound => return None,
            Err(error) => Err(error),
        })
    }

    fn keep_overviews(&self, writer: CacheWriter) -> Result<()> {
        self.directory().make(CACHE)?;
        match self.directory().inner(CACHE)? {
            Some(cache) => writer.keep(&cache, FILE),
            None => Ok(()),
        }
    }

    /// Removes cached overviews, because some of their data is about to be purged.
    pub(super) fn forget_overviews(&self) {
        if let Ok(Some(cache)) = self.directory().inner(CACHE) {
            let _ = atomic::unlink(&cache, FILE);
        }
    }
}
