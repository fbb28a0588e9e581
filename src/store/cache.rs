//! A cache of data about files, stored in one file. An entry is valid only while its file has the same device, inode,
//! size and times. Files that changed shortly before they were read are not cached, because their times may not
//! change with the next change. A missing or damaged cache counts as empty.

use super::atomic;
use super::directory::{DIR_MODE, Directory, FILE_MODE, FileStat};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use rustix::fs::OFlags;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum size of a cache in bytes.
const LARGEST: u64 = 1 << 30;

/// Seconds within which two changes may have equal timestamps on some file systems.
const COARSE: i64 = 2;

/// The first bytes of the file.
const MAGIC: &[u8; 8] = b"convokep";

/// Size of device, inode, size, and two times in seconds and nanoseconds.
const IDENTITY: usize = 7 * 8;

/// The identity and state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity([u8; IDENTITY]);

impl Identity {
    /// The identity of a file; none if a later change could leave the same times. `now` is in seconds since 1970.
    pub fn stable(facts: &FileStat, now: i64) -> Option<Identity> {
        let is_stable = facts.modified.0.max(facts.changed.0) < now - COARSE;
        is_stable.then(|| Identity::of(facts))
    }

    fn of(facts: &FileStat) -> Identity {
        let words = [
            facts.device, facts.inode, facts.size, facts.modified.0 as u64, facts.modified.1 as u64,
            facts.changed.0 as u64, facts.changed.1 as u64,
        ];
        let mut bytes = [0; IDENTITY];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        Identity(bytes)
    }
}

/// A cache entry.
#[derive(Clone, Copy, Debug)]
pub struct CacheEntry<'c> {
    /// The file's identity when it was read.
    pub identity: Identity,
    /// The cached data.
    pub payload: &'c [u8],
}

/// Where the data of a file comes from.
#[derive(Debug)]
pub enum CacheState<'c> {
    /// From the cache.
    Cached(CacheEntry<'c>),
    /// From the file; with its encoding for the cache.
    Read(Identity, Vec<u8>),
    /// From the file, which may still be changing.
    Unstable,
}

/// The entries of a cache by file name.
#[derive(Debug, Default)]
pub struct CacheEntries<'c>(HashMap<&'c [u8], CacheEntry<'c>>);

impl<'c> CacheEntries<'c> {
    /// Parses a cache; empty if it is damaged or has another version.
    pub fn read(bytes: &'c [u8], version: &str) -> CacheEntries<'c> {
        CacheEntries(entries(bytes, version).unwrap_or_default())
    }

    /// The entry of a file, if the file is unchanged.
    pub fn get(&self, name: &[u8], facts: &FileStat) -> Option<CacheEntry<'c>> {
        let entry = self.0.get(name).copied();
        entry.filter(|entry| entry.identity == Identity::of(facts))
    }

    /// The entries of all files that were found, each with its size in bytes, for a cache that had `size` bytes; none if
    /// writing it is not worthwhile. A first cache needs changed files of `minimum` bytes.
    pub fn rewritten<'f, F, N: AsRef<[u8]>>(
        &self,
        version: &str,
        (size, minimum): (usize, u64),
        found: impl Iterator<Item = (F, u64, &'f CacheState<'f>)> + Clone,
        name: impl Fn(F) -> N,
    ) -> Option<CacheWriter> {
        let is_changed = |state: &CacheState<'_>| matches!(state, CacheState::Read(..));
        let changed = found.clone().filter(|(.., state)| is_changed(state));
        let bytes: u64 = changed.clone().map(|(_, bytes, _)| bytes).sum();
        let (changed, all) = (changed.count(), found.clone().count());
        // Reading a file costs about as much as writing a few hundred entries, or its own size.
        let is_worthwhile = changed > 0 && (changed * 512 >= all || bytes >= size as u64);
        if size == 0 && bytes < minimum || !is_worthwhile && self.len().saturating_sub(all) * 4 <= all {
            return None;
        }
        let mut writer = CacheWriter::new(version, size);
        for (file, _, state) in found {
            match state {
                CacheState::Cached(entry) => writer.push(name(file).as_ref(), entry.identity, entry.payload),
                CacheState::Read(identity, payload) => writer.push(name(file).as_ref(), *identity, payload),
                CacheState::Unstable => {}
            }
        }
        Some(writer)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Each with its name.
    pub fn all(&self) -> impl Iterator<Item = (&'c [u8], CacheEntry<'c>)> {
        self.0.iter().map(|(name, entry)| (*name, *entry))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A hash of the program version and the version of the entries.
fn build(version: &str) -> [u8; 8] {
    key::hash(&format!("convo {} {version}", env!("CARGO_PKG_VERSION")))
        .get()
        .to_le_bytes()
}

fn entries<'c>(bytes: &'c [u8], version: &str) -> Option<HashMap<&'c [u8], CacheEntry<'c>>> {
    let (body, sum) = bytes.split_last_chunk::<4>()?;
    if u32::from_le_bytes(*sum) != crc32c::crc32c(body) {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?.strip_prefix(&build(version))?;
    let mut entries = HashMap::with_capacity(rest.len() / 256);
    while !rest.is_empty() {
        let (identity, after) = rest.split_first_chunk::<IDENTITY>()?;
        let (name, after) = text(after)?;
        let (payload, after) = text(after)?;
        let identity = Identity(*identity);
        entries.insert(name, CacheEntry { identity, payload });
        rest = after;
    }
    Some(entries)
}

/// Splits off a length-prefixed text.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}

/// A cache being written.
#[derive(Debug)]
pub struct CacheWriter(Vec<u8>);

impl CacheWriter {
    /// Creates an empty cache; `size` is the expected size in bytes.
    pub fn new(version: &str, size: usize) -> CacheWriter {
        let mut bytes = Vec::with_capacity(size + 4096);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&build(version));
        CacheWriter(bytes)
    }

    /// Adds an entry.
    pub fn push(&mut self, name: &[u8], identity: Identity, payload: &[u8]) {
        self.0.extend_from_slice(&identity.0);
        for text in [name, payload] {
            self.0.extend_from_slice(&(text.len() as u64).to_le_bytes());
            self.0.extend_from_slice(text);
        }
    }

    /// Replaces the cache without syncing, because a checksum detects damage.
    pub(super) fn keep(mut self, dir: &Directory, file: &str) -> Result<()> {
        let sum = crc32c::crc32c(&self.0);
        self.0.extend_from_slice(&sum.to_le_bytes());
        let name = atomic::temporary_name(file);
        let mut temporary = atomic::Temporary::new(dir, name, FILE_MODE, Duration::ZERO)?;
        let written = temporary.file.write_all(&self.0);
        written.map_err(|error| Error::io(dir.shown(file), error))?;
        temporary.keep(file)
    }
}

/// Reads a cache; none if it cannot be read.
pub(super) fn read(dir: &Directory, file: &str) -> Option<Vec<u8>> {
    let file = dir.file(file, OFlags::RDONLY).ok()??;
    let length = file.metadata().ok()?.len().min(LARGEST);
    let mut bytes = Vec::with_capacity(usize::try_from(length).ok()? + 1);
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The location of a cache outside of stores.
#[derive(Debug)]
pub struct CacheLocation {
    /// Its directory.
    pub dir: PathBuf,
    /// Its file name.
    pub file: &'static str,
}

impl CacheLocation {
    /// Reads the cache; empty if it is missing or unreadable.
    pub fn read(&self) -> Vec<u8> {
        let read = || read(&Directory::open(&self.dir).ok()?, self.file);
        read().unwrap_or_default()
    }

    /// Replaces the cache and creates its directory. Errors are ignored, because they only cost time.
    pub fn keep(&self, writer: CacheWriter) {
        let mut builder = std::fs::DirBuilder::new();
        let built = builder.recursive(true).mode(DIR_MODE).create(&self.dir);
        if built.is_ok()
            && let Ok(dir) = Directory::open(&self.dir)
        {
            let _ = writer.keep(&dir, self.file);
        }
    }

    /// Removes the cache, because some of its data is about to be purged.
    ///
    /// # Errors
    /// [`ErrorKind::InputOutput`] if it could not be removed.
    pub fn forget(&self) -> Result<()> {
        match Directory::open(&self.dir) {
            Ok(dir) => atomic::unlink(&dir, self.file).map(|_| ()),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> FileStat {
        FileStat {
            device: 1,
            inode: 2,
            size: 3,
            modified: (100, 5),
            changed: (100, 6),
            links: 1,
            mode: 0o600,
            owner: (0, 0),
            regular: true,
        }
    }

    #[test]
    fn an_entry_is_used_for_an_unchanged_file_and_cache() {
        let facts = facts();
        assert_eq!(Identity::stable(&facts, 102), None);
        let identity = Identity::stable(&facts, 103).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let place = CacheLocation {
            dir: dir.path().join("a/b"),
            file: "known",
        };
        assert_eq!(place.read(), b"");
        place.forget().unwrap();
        let mut writer = CacheWriter::new("test 1", 0);
        writer.push(b"/a\xff", identity, b"text");
        writer.push(b"/b", identity, b"");
        place.keep(writer);
        let bytes = place.read();
        let entries = CacheEntries::read(&bytes, "test 1");
        assert_eq!(entries.len(), 2);
        assert_eq!(entries.get(b"/a\xff", &facts).unwrap().payload, b"text");
        assert!(entries.get(b"/c", &facts).is_none());
        type Change = fn(&mut FileStat);
        let changes: [Change; 7] = [
            |facts| facts.device += 1,
            |facts| facts.inode += 1,
            |facts| facts.size += 1,
            |facts| facts.modified.0 += 1,
            |facts| facts.modified.1 += 1,
            |facts| facts.changed.0 += 1,
            |facts| facts.changed.1 += 1,
        ];
        for change in changes {
            let mut other = facts;
            change(&mut other);
            assert!(entries.get(b"/b", &other).is_none());
        }
        assert!(CacheEntries::read(&bytes, "test 2").is_empty());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(CacheEntries::read(&damaged, "test 1").is_empty(), "{at}");
            assert!(CacheEntries::read(&bytes[..at], "test 1").is_empty(), "{at}");
        }
        place.forget().unwrap();
        assert_eq!(place.read(), b"");
    }
}
