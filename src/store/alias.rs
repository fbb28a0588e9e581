//! Second names of sessions: one small file each, so that finding one is one open.

use super::directory::Directory;
use super::{Store, atomic, no_session};
use crate::error::{Error, Kind, Result};
use crate::model::key;
use rustix::fs::OFlags;
use std::io::Read;

pub(super) const ALIASES: &str = "aliases";

/// The file that an alias has. Only a name that can be read back from it is taken.
fn encoded(name: &str) -> Result<String> {
    let refuse = |why: &str| Err(Error::new(Kind::Unsafe, format!("unsafe alias {name:?}: {why}")));
    if name.is_empty() {
        return refuse("it is empty");
    }
    if name.starts_with('@') {
        return refuse("names that begin with '@' have a meaning of their own");
    }
    if name.chars().any(char::is_control) {
        return refuse("it holds a control character");
    }
    let encoded = key::id_for_key(name);
    if key::key_for_id(&encoded).as_deref() != Some(name) {
        let start: String = name.chars().take(40).collect();
        return Err(
            Error::new(Kind::Unsafe, format!("the alias {start:?}… is too long"))
                .hint("128 characters that an id may have are the most, and fewer with others"),
        );
    }
    Ok(encoded)
}

fn content(ids: &[String]) -> Vec<u8> {
    ids.iter().flat_map(|id| id.bytes().chain([b'\n'])).collect()
}

fn taken(name: &str, ids: &[String]) -> Error {
    Error::new(
        Kind::Exists,
        format!("the alias {name} names {} already", ids.join(", ")),
    )
    .hint("take it away first with: convo alias remove")
}

/// Ids in an alias file; none when there is no such file.
fn read(aliases: &Directory, file: &str) -> Result<Option<Vec<String>>> {
    let Some(open) = aliases.file(file, OFlags::RDONLY)? else {
        return Ok(None);
    };
    let mut text = String::new();
    open.take(1 << 20).read_to_string(&mut text).map_err(|error| {
        let damaged = error.kind() == std::io::ErrorKind::InvalidData; // no UTF-8
        let error = Error::io(aliases.shown(file), error);
        if damaged { error.kind(Kind::Data) } else { error }
    })?;
    let ids: Vec<String> = text.lines().map(str::to_string).collect();
    if ids.is_empty() || !ids.iter().all(|id| key::is_id(id)) {
        return Err(Error::new(
            Kind::Data,
            format!("{} names no session", aliases.shown(file)),
        ));
    }
    Ok(Some(ids))
}

impl Store {
    /// Gives a session another name, durably. The same again is fine; a name that an alias, a session or a
    /// session's key has is [`Kind::Exists`].
    pub fn alias_add(&self, name: &str, id: &str) -> Result<()> {
        let file = encoded(name)?;
        self.refuse_session_names(name, id)?;
        self.claim(name, &file, &[id.to_string()])
    }

    /// Refuses a name that cannot be an alias.
    pub fn check_alias(name: &str) -> Result<()> {
        encoded(name).map(drop)
    }

    /// Keeps an alias as another system had it: it may hide a session's key. One that several sessions claim
    /// resolves to none of them, but tells them all.
    pub fn alias_claim(&self, name: &str, ids: &[String]) -> Result<()> {
        let file = encoded(name)?;
        for id in ids {
            key::checked_id(id)?;
        }
        if ids.is_empty() {
            return Err(Error::new(Kind::Usage, format!("nobody claims the alias {name}")));
        }
        self.claim(name, &file, ids)
    }

    /// Takes an alias away.
    pub fn alias_remove(&self, name: &str) -> Result<()> {
        let file = encoded(name)?;
        let Some(aliases) = self.aliases_folder()? else {
            return Err(no_alias(name));
        };
        if !atomic::unlink(aliases, &file)? {
            return Err(no_alias(name));
        }
        atomic::sync_directory(aliases).map_err(|error| error.kind(Kind::Unsure))
    }

    /// All aliases with the ids that they name, sorted by name.
    pub fn aliases(&self) -> Result<Vec<(String, Vec<String>)>> {
        let Some(aliases) = self.aliases_folder()? else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for file in aliases.names()? {
            // Temporary names begin with a dot, which no id does.
            if let Some(name) = Some(&file)
                .filter(|file| key::is_id(file))
                .and_then(|file| key::key_for_id(file))
                && let Some(ids) = read(aliases, &file)?
            {
                all.push((name, ids));
            }
        }
        all.sort();
        Ok(all)
    }

    /// The ids that an alias names: several when it is ambiguous, none when there is no such alias.
    pub fn alias_ids(&self, name: &str) -> Result<Option<Vec<String>>> {
        let Ok(file) = encoded(name) else { return Ok(None) };
        match self.aliases_folder()? {
            Some(aliases) => read(aliases, &file),
            None => Ok(None),
        }
    }

    fn claim(&self, name: &str, file: &str, ids: &[String]) -> Result<()> {
        let aliases = atomic::folder(self.directory(), ALIASES)?;
        if atomic::create(&aliases, file, &content(ids))? {
            return Ok(());
        }
        match read(&aliases, file)? {
            // Perhaps of a process that has not synced yet: what we acknowledge is durable.
            Some(known) if known == ids => atomic::sync_directory(&aliases),
            // More claims of the same name: those that are there stay.
            Some(known) if known.iter().all(|id| ids.contains(id)) => {
                atomic::replace(&aliases, file, &content(ids), self.lock_timeout)
            }
            Some(known) => Err(taken(name, &known)),
            None => Err(Error::new(
                Kind::Locked,
                format!("the alias {name} was just taken away"),
            )),
        }
    }

    /// Makes an alias that names one session name another, durably; one that names something else by now stays.
    pub(super) fn alias_move(&self, name: &str, from: &str, to: &str) -> Result<()> {
        let file = encoded(name)?;
        let Some(aliases) = self.aliases_folder()? else {
            return Ok(());
        };
        match read(aliases, &file)? {
            Some(ids) if ids == [from] => {
                atomic::replace(aliases, &file, &content(&[to.to_string()]), self.lock_timeout)
            }
            // Perhaps moved by a run that died before its sync.
            Some(ids) if ids == [to] => atomic::sync_directory(aliases),
            _ => Ok(()),
        }
    }

    /// An alias names a session that is there, and hides no other.
    fn refuse_session_names(&self, name: &str, id: &str) -> Result<()> {
        if !self.has(key::checked_id(id)?)? {
            return Err(no_session(id));
        }
        for other in [name, &key::id_for_key(name)] {
            if key::is_id(other) && (other != id || other == name) && self.has(other)? {
                return Err(Error::new(
                    Kind::Exists,
                    format!("{name} is a session's own name"),
                ));
            }
        }
        Ok(())
    }
}

fn no_alias(name: &str) -> Error {
    Error::new(Kind::NotFound, format!("no alias {name}")).hint("convo alias list tells which there are")
}
