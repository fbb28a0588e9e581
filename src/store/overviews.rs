//! Caches the overviews of sessions for lists.

use super::cache::{CacheEntries, CacheEntry, CacheWriter, Identity, is_worthwhile, read};
use super::directory::{Directory, FileStat};
use super::network::CACHE;
use super::{Store, atomic, log_name};
use crate::error::{Error, ErrorKind, Result};
use crate::format::report::Report;
use crate::model::session::Session;

/// The file in the cache.
const FILE: &str = "overviews";

/// The version of the entries.
const VERSION: &str = "overview 2";

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
enum OverviewResult<'c, T> {
    /// Found in the cache.
    Cached(Overviewed<T>, CacheEntry<'c>),
    /// Read, with its bytes for the cache unless its times are too recent.
    Read(Overviewed<T>, Option<(Identity, Vec<u8>)>),
    Failed(Error),
}

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
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.min(1 + names.len() / SHARE);
        let share = names.len().div_ceil(threads).max(1);
        let found: Vec<OverviewResult<'_, T>> = std::thread::scope(|scope| {
            let workers: Vec<_> = names
                .chunks(share)
                .map(|names| scope.spawn(|| names.iter().filter_map(one).collect::<Vec<_>>()))
                .collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined
                .flat_map(|found| found.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        self.keep_overviews(&found, cached.len(), bytes.len());
        Ok(found
            .into_iter()
            .map(|found| match found {
                OverviewResult::Cached(overview, _) | OverviewResult::Read(overview, _) => Ok(overview),
                OverviewResult::Failed(error) => Err(error),
            })
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
            Err(error) => return Some(OverviewResult::Failed(error)),
        };
        let overviewed = |value| Overviewed {
            id: id.to_string(),
            bytes: facts.size,
            value,
        };
        if let Some(entry) = cached.get(id.as_bytes(), &facts)
            && let Some(value) = (reading.decode)(entry.payload)
        {
            return Some(OverviewResult::Cached(overviewed(value), entry));
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
                let kept = identity.map(|identity| (identity, (reading.encode)(&value)));
                OverviewResult::Read(overviewed(value), kept)
            }
            // Removed since the names were listed.
            Err(error) if error.kind == ErrorKind::NotFound => return None,
            Err(error) => OverviewResult::Failed(error),
        })
    }

    /// Rewrites the cache if enough has changed. Errors are ignored, because they only cost time.
    fn keep_overviews<T>(&self, found: &[OverviewResult<'_, T>], known: usize, size: usize) {
        let changed = found.iter().filter_map(|found| match found {
            OverviewResult::Read(overview, Some(_)) => Some(overview.bytes),
            _ => None,
        });
        if !is_worthwhile(changed.clone().count(), changed.sum(), found.len(), known, size) {
            return;
        }
        let mut writer = CacheWriter::new(VERSION, size);
        for found in found {
            match found {
                OverviewResult::Cached(overview, entry) => {
                    writer.push(overview.id.as_bytes(), entry.identity, entry.payload);
                }
                OverviewResult::Read(overview, Some((identity, payload))) => {
                    writer.push(overview.id.as_bytes(), *identity, payload);
                }
                OverviewResult::Read(_, None) | OverviewResult::Failed(_) => {}
            }
        }
        let write = || -> Result<()> {
            self.directory().make(CACHE)?;
            match self.directory().inner(CACHE)? {
                Some(cache) => writer.keep(&cache, FILE),
                None => Ok(()),
            }
        };
        let _ = write();
    }

    /// Removes cached overviews, because some of their data is about to be purged.
    pub(super) fn forget_overviews(&self) {
        if let Ok(Some(cache)) = self.directory().inner(CACHE) {
            let _ = atomic::unlink(&cache, FILE);
        }
    }
}
