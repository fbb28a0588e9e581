//! What the sidecar alone says: the key, other names, the summary.

use super::Pair;
use crate::error::{Error, Kind, Result};
use crate::format::picoclaw::{self, LOG, Sidecar};
use crate::store::atomic;
use crate::store::directory::Directory;
use std::path::Path;
use std::time::Duration;

impl Pair {
    /// Opens the session of this key, whose log is made when there is none: the lock is the log's. A file that is
    /// another key's is [`Kind::Exists`], and a key that makes no safe file [`Kind::Unsafe`].
    pub fn open_or_new(path: &Path, key: &str, timeout: Duration) -> Result<Pair> {
        let stem = picoclaw::stem(key)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = Directory::open(parent.unwrap_or(Path::new(".")))?;
        let log = format!("{stem}{LOG}");
        if directory.facts(&log)?.is_none() {
            atomic::create(&directory, &log, b"")?;
        }
        let mut pair = Pair::open(&directory.path().join(log), timeout)?;
        if pair.known.is_none() {
            pair.sidecar = Sidecar::new(key);
        } else if pair.sidecar.key() != key && !pair.sidecar.key().is_empty() {
            let what = format!("the file belongs to the key '{}'", pair.sidecar.key());
            return Err(Error::new(Kind::Exists, what));
        }
        Ok(pair)
    }

    /// Changes the other names of the session.
    pub fn change_aliases(&mut self, now: &str, change: impl FnOnce(&mut Vec<String>)) -> Result<()> {
        let mut aliases = self.sidecar.aliases();
        let before = aliases.clone();
        change(&mut aliases);
        if aliases == before {
            return self.settle();
        }
        self.sidecar.set_aliases(&aliases);
        self.sidecar.set_count(self.raw_lines());
        self.write_sidecar(now)
    }

    /// Changes the summary, and nothing else.
    pub fn change_summary(&mut self, text: &str, now: &str) -> Result<()> {
        self.sidecar.set_summary(text);
        self.sidecar.set_count(self.raw_lines());
        self.write_sidecar(now)
    }
}
