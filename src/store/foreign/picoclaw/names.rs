//! Names of sessions in a PicoClaw directory: keys, and aliases listed in sidecars. PicoClaw uses the first session
//! that claims a name; here an ambiguous name is an error that lists all.

use super::pair::Pair;
use crate::error::{Error, ErrorKind, Result};
use crate::format::picoclaw::{LOG, PicoclawSidecar, SIDECAR, file_stem};
use crate::model::scope::signature;
use crate::store::directory::Directory;
use crate::store::foreign::files::{bytes_of, files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The sidecars of a directory, read once.
#[derive(Debug)]
pub struct SidecarNames {
    path: PathBuf,
    logs: BTreeSet<String>,
    /// Readable sidecars by file name, the order in which PicoClaw searches them.
    sidecars: BTreeMap<String, PicoclawSidecar>,
    /// File names of unreadable sidecars, with the reason.
    unreadable: Vec<(String, String)>,
}

impl SidecarNames {
    /// Reads all sidecars of a directory.
    pub fn read(path: &Path) -> Result<SidecarNames> {
        let directory = Directory::open(path)?;
        let (mut logs, mut sidecars, mut unreadable) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        for name in files(&directory)? {
            if let Some(stem) = name.strip_suffix(LOG) {
                logs.insert(stem.to_string());
            } else if let Some(stem) = name.strip_suffix(SIDECAR)
                && let Some(bytes) = bytes_of(&directory, &name)?
            {
                match PicoclawSidecar::read(&bytes) {
                    Ok(sidecar) => drop(sidecars.insert(stem.to_string(), sidecar)),
                    Err(why) => unreadable.push((name, why)),
                }
            }
        }
        Ok(SidecarNames {
            path: path.to_path_buf(),
            logs,
            sidecars,
            unreadable,
        })
    }

    /// Unreadable sidecars, whose names are therefore unknown: file name and reason.
    pub fn unreadable(&self) -> &[(String, String)] {
        &self.unreadable
    }

    /// Resolves a name to the key of a session: a plain key with a log, an alias, another session's key, a log. None
    /// if the name is unknown; a name that several sessions claim is [`ErrorKind::Exists`].
    pub fn resolve(&self, name: &str) -> Result<Option<String>> {
        let name = name.trim();
        if name.is_empty() {
            return Ok(None);
        }
        let log = self.logs.contains(&file_stem(name));
        if log && !name.contains([':', '/', '\\']) {
            return Ok(Some(name.to_string()));
        }
        match &self.claims(name)[..] {
            [] => {}
            [key] => return Ok(Some(key.clone())),
            keys => {
                let what = format!("{name}: ambiguous alias, claimed by {}", keys.join(", "));
                return Err(Error::new(ErrorKind::Exists, what)
                    .hint("remove it from the other sessions with: convo alias --picoclaw DIR remove"));
            }
        }
        let known = log || self.sidecars.values().any(|sidecar| sidecar.key() == name);
        Ok(known.then(|| name.to_string()))
    }

    /// The keys of the sessions that list this name as an alias, except for their own key.
    fn claims(&self, alias: &str) -> Vec<String> {
        let claiming = |sidecar: &&PicoclawSidecar| {
            sidecar.key() != alias && sidecar.aliases().iter().any(|own| own == alias)
        };
        let keys: BTreeSet<String> = self
            .sidecars
            .values()
            .filter(claiming)
            .map(PicoclawSidecar::key)
            .collect();
        keys.into_iter().collect()
    }

    /// Fails for a name that another session lists.
    pub(super) fn refuse_claimed(&self, alias: &str, key: &str) -> Result<()> {
        match self.claims(alias.trim()).into_iter().find(|other| other != key) {
            Some(other) => Err(Error::new(
                ErrorKind::Exists,
                format!("{alias}: alias already used by {other}"),
            )),
            None => Ok(()),
        }
    }

    /// The agents named by scopes, keys and aliases.
    pub(super) fn agents(&self) -> BTreeSet<String> {
        let of = |name: &str| Some(signature::legacy(name)?.0.to_string());
        let mut agents = BTreeSet::new();
        for sidecar in self.sidecars.values() {
            agents.extend(sidecar.agent());
            agents.extend(of(&sidecar.key()));
            agents.extend(sidecar.aliases().iter().filter_map(|alias| of(alias)));
        }
        agents
    }

    /// Every alias with the keys of the sessions that list it, in order.
    pub fn aliases(&self) -> BTreeMap<String, Vec<String>> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for sidecar in self.sidecars.values() {
            for alias in sidecar.aliases() {
                all.entry(alias).or_default().push(sidecar.key());
            }
        }
        all.values_mut().for_each(|keys| keys.sort());
        all
    }

    /// The sidecar of the session with this key.
    pub(super) fn sidecar(&self, key: &str) -> Option<&PicoclawSidecar> {
        self.sidecars.get(&file_stem(key))
    }

    /// The log path of the session with this key, whether or not it exists.
    pub fn log(&self, key: &str) -> PathBuf {
        self.path.join(file_stem(key) + LOG)
    }

    /// Adds an alias to a session, durably. A name that another session has as its key or alias is [`ErrorKind::Exists`].
    pub fn add(&self, alias: &str, key: &str, now: &str, lock_timeout: Duration) -> Result<()> {
        let alias = alias.trim();
        if alias.is_empty() || alias == key {
            let what = "an alias is neither empty nor the key of the session";
            return Err(Error::usage(what));
        }
        if alias.chars().any(char::is_control) {
            let what = format!("{alias}: invalid alias: contains a control character");
            return Err(Error::new(ErrorKind::Unsafe, what));
        }
        self.refuse_claimed(alias, key)?;
        if self.resolve(alias)?.is_some_and(|known| known == alias) {
            let what = format!("{alias}: is the key of a session");
            return Err(Error::new(ErrorKind::Exists, what)
                .hint("adopt its history with: convo alias --picoclaw DIR promote KEY ALIAS"));
        }
        self.change(key, now, lock_timeout, |aliases| {
            if !aliases.iter().any(|own| own == alias) {
                aliases.push(alias.to_string());
            }
        })
    }

    /// Removes an alias from every session that lists it, durably; returns their keys.
    pub fn remove(&self, alias: &str, now: &str, lock_timeout: Duration) -> Result<Vec<String>> {
        let keys = self.claims(alias.trim());
        for key in &keys {
            self.change(key, now, lock_timeout, |aliases| {
                aliases.retain(|own| own != alias.trim())
            })?;
        }
        Ok(keys)
    }

    /// Changes the aliases of a session under its lock.
    pub fn change(
        &self,
        key: &str,
        now: &str,
        lock_timeout: Duration,
        change: impl FnOnce(&mut Vec<String>),
    ) -> Result<()> {
        let mut pair = Pair::open_or_new(&self.log(key), key, lock_timeout)?;
        pair.change_aliases(now, change)
    }
}
