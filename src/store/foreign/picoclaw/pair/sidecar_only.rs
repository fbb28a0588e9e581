//! Changes that affect only the sidecar: key, aliases, summary.

use super::Pair;
use crate::error::{Error, ErrorKind, Result};
use crate::format::picoclaw::{self, LOG, PicoclawSidecar};
use crate::store::atomic;
use crate::store::directory::Directory;
use std::path::Path;
use std::time::Duration;

impl Pair {
    /// Opens the session with this key, creating its log if missing, because the lock is on the log. A file with
    /// another key is [`ErrorKind::Exists`], and a key without a safe file name [`ErrorKind::Unsafe`].
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
            pair.sidecar = PicoclawSidecar::new(key);
        } else if pair.sidecar.key() != key && !pair.sidecar.key().is_empty() {
            let what = format!("the file belongs to the key '{}'", pair.sidecar.key());
            return Err(Error::new(ErrorKind::Exists, what));
        }
        Ok(pair)
    }

    /// Changes the aliases of the session.
    pub fn change_aliases(&mut self, now: &str, change: impl FnOnce(&mut Vec<String>)) -> Result<()> {
        let mut aliases = self.sidecar.aliases();
        let before = aliases.clone();
        change(&mut aliases);
        if aliases == before {
            return self.sync();
        }
        self.sidecar.set_aliases(&aliases);
        self.sidecar.set_count(self.raw_lines());
        self.write_sidecar(now)
    }

    pub fn change_summary(&mut self, text: &str, now: &str) -> Result<()> {
        self.sidecar.set_summary(text);
        self.sidecar.set_count(self.raw_lines());
        self.write_sidecar(now)
    }
}
