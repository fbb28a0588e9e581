//! Aliases: additional names of sessions, one small file each, so that a lookup opens one file.

use super::directory::Directory;
use super::{ALIASES, Store, atomic, no_session};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{json, key};
use rustix::fs::OFlags;
use std::io::Read;

/// Maximum number of sessions listed for one name. An ambiguous name resolves to none, so further ones do not matter.
const CLAIMS: usize = 64;

/// Aliases with the ids that each names.
pub type Aliases = Vec<(String, Vec<String>)>;

/// The result of claiming a name that sessions may share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AliasClaim {
    /// The name now refers to these sessions.
    Made(Vec<String>),
    /// The session had the name already, or the list of claims is full.
    There,
    /// The name is the own name of another session and was not assigned.
    Own(String),
}

/// The file name of an alias. Fails for a name that cannot be read back from it.
pub(super) fn encoded(name: &str) -> Result<String> {
    let refuse = |why: &str| {
        Err(Error::new(
            ErrorKind::Unsafe,
            format!("{name}: invalid alias: {why}"),
        ))
    };
    if name.is_empty() {
        return refuse("empty");
    }
    if name.starts_with('@') {
        return refuse("names starting with '@' are reserved");
    }
    if name.chars().any(char::is_control) {
        return refuse("contains a control character");
    }
    let encoded = key::id_for_key(name);
    if key::key_for_id(&encoded).as_deref() != Some(name) {
        let start: String = name.chars().take(40).collect();
        return Err(
            Error::new(ErrorKind::Unsafe, format!("{start}…: invalid alias: too long"))
                .hint("use up to 128 letters, digits, '.', '_' and '-', or fewer other characters"),
        );
    }
    Ok(encoded)
}

fn content(ids: &[String]) -> Vec<u8> {
    ids.iter().flat_map(|id| id.bytes().chain([b'\n'])).collect()
}

pub(super) fn name_taken(name: &str, ids: &[String]) -> Error {
    Error::new(
        ErrorKind::Exists,
        format!("{name}: alias already used by {}", ids.join(", ")),
    )
    .hint(format!("reassign it with: convo alias add --move {name} SESSION"))
}

/// The ids in an alias file; none when there is no such file.
fn read(aliases: &Directory, file: &str) -> Result<Option<Vec<String>>> {
    let Some(open) = aliases.file(file, OFlags::RDONLY)? else {
        return Ok(None);
    };
    let mut text = String::new();
    open.take(1 << 20).read_to_string(&mut text).map_err(|error| {
        let damaged = error.kind() == std::io::ErrorKind::InvalidData; // invalid UTF-8
        let error = Error::io(aliases.shown(file), error);
        if damaged {
            error.kind(ErrorKind::Data)
        } else {
            error
        }
    })?;
    let ids: Vec<String> = text.lines().map(str::to_string).collect();
    if ids.is_empty() || !ids.iter().all(|id| key::is_id(id)) {
        return Err(Error::data(format!(
            "{}: alias without a session",
            aliases.shown(file)
        )));
    }
    Ok(Some(ids))
}

impl Store {
    /// Assigns an alias to a session, durably. Repeating the same assignment succeeds; a name used as an alias,
    /// session id or session key is [`ErrorKind::Exists`].
    pub fn alias_add(&self, name: &str, id: &str) -> Result<()> {
        let file = encoded(name)?;
        self.refuse_session_names(name, id)?;
        self.claim(name, &file, &[id.to_string()])
    }

    /// Fails for a name that cannot be an alias.
    pub fn check_alias(name: &str) -> Result<()> {
        encoded(name).map(drop)
    }

    /// Stores an alias of another system, which may hide a session's key. One that several sessions claim resolves to
    /// none of them, with an error that lists all.
    pub fn alias_claim(&self, name: &str, ids: &[String]) -> Result<()> {
        let file = encoded(name)?;
        for id in ids {
            key::checked_id(id)?;
        }
        if ids.is_empty() {
            return Err(Error::usage(format!("{name}: unclaimed alias")));
        }
        self.claim(name, &file, ids)
    }

    /// Removes an alias.
    pub fn alias_remove(&self, name: &str) -> Result<()> {
        self.alias_file_remove(&key::id_for_key(name), || no_alias(name))
    }

    pub(super) fn alias_file_remove(&self, file: &str, none: impl Fn() -> Error) -> Result<()> {
        let Some(aliases) = self.aliases_dir()? else {
            return Err(none());
        };
        // Lock the file, so that a process that just read it cannot restore it.
        let locked = atomic::open_locked(aliases, file, None, OFlags::RDWR, self.lock_timeout)?;
        if locked.is_none() || !atomic::unlink(aliases, file)? {
            return Err(none());
        }
        atomic::sync_directory(aliases).map_err(|error| error.kind(ErrorKind::Unsure))
    }

    /// All aliases with the ids that they name, sorted by name. Unreadable entries are skipped.
    pub fn aliases(&self) -> Result<Vec<(String, Vec<String>)>> {
        self.aliases_and_faults().map(|(aliases, _)| aliases)
    }

    /// All aliases, and the errors of unreadable entries.
    pub fn aliases_and_faults(&self) -> Result<(Aliases, Vec<Error>)> {
        let mut faults = Vec::new();
        let named = |(file, ids): (String, Vec<String>)| Some((self.alias_name(&file, &ids)?, ids));
        let files = self.alias_files(&mut faults)?;
        let mut all: Vec<_> = files.into_iter().filter_map(named).collect();
        all.sort();
        Ok((all, faults))
    }

    /// The files of all aliases, with the ids that they name.
    pub(super) fn alias_files(&self, faults: &mut Vec<Error>) -> Result<Vec<(String, Vec<String>)>> {
        let Some(aliases) = self.aliases_dir()? else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for file in aliases.names()? {
            // Temporary names begin with a dot, unlike ids.
            if !key::is_id(&file) {
                continue;
            }
            match read(aliases, &file) {
                Ok(ids) => all.extend(ids.map(|ids| (file, ids))),
                // Not a valid alias file; disk errors are returned.
                Err(error) if matches!(error.kind, ErrorKind::Data | ErrorKind::Unsafe) => faults.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// The alias stored in a file. If the name is a key too long for a file name, it is read from the session.
    fn alias_name(&self, file: &str, ids: &[String]) -> Option<String> {
        key::key_for_id(file).or_else(|| {
            let first = self.first_line(ids.first()?).ok()?;
            let header = super::log::strip(&first);
            let key = json::member_text(&header, "key")?;
            (key::id_for_key(&key) == file).then(|| key.into_owned())
        })
    }

    /// The ids that an alias names: several if ambiguous, none if there is no such alias.
    pub fn alias_ids(&self, name: &str) -> Result<Option<Vec<String>>> {
        match self.aliases_dir()? {
            Some(aliases) if !name.is_empty() => read(aliases, &key::id_for_key(name)),
            _ => Ok(None),
        }
    }

    fn claim(&self, name: &str, file: &str, ids: &[String]) -> Result<()> {
        self.change_alias(file, |known| match known {
            None => Ok(Some(ids.to_vec())),
            Some(known) if known == ids => Ok(None),
            // A repeated claim with further ids: existing claims are kept.
            Some(known) if known.iter().all(|id| ids.contains(id)) => Ok(Some(ids.to_vec())),
            Some(known) => Err(name_taken(name, known)),
        })
        .map(drop)
    }

    /// Assigns a name that several sessions may share: with a second session it resolves to none, with an error that
    /// lists all. Existing names are kept; see [`AliasClaim`].
    pub fn alias_share(&self, name: &str, id: &str) -> Result<AliasClaim> {
        let file = encoded(name)?;
        if let Some(other) = self.session_by_id_or_key(name)?
            && other != id
        {
            return Ok(AliasClaim::Own(other));
        }
        let changed = self.change_alias(&file, |known| Ok(shared(known, id)))?;
        Ok(changed.map_or(AliasClaim::There, AliasClaim::Made))
    }

    /// Moves a name from other sessions to this one.
    pub fn alias_move(&self, name: &str, id: &str) -> Result<()> {
        let file = encoded(name)?;
        self.refuse_session_names(name, id)?;
        let own = [id.to_string()];
        self.change_alias(&file, |known| Ok((known != Some(&own)).then(|| own.to_vec())))
            .map(drop)
    }

    /// The session with this id or key, regardless of aliases.
    pub fn session_by_id_or_key(&self, name: &str) -> Result<Option<String>> {
        for id in [name, &key::id_for_key(name)] {
            if self.is_session(id)? {
                return Ok(Some(id.to_string()));
            }
        }
        Ok(None)
    }

    /// Changes the ids of an alias under a lock; returns the new ids, or none if nothing changes. Syncs in both
    /// cases, because another process may have written the file without syncing.
    fn change_alias(
        &self,
        file: &str,
        decide: impl Fn(Option<&[String]>) -> Result<Option<Vec<String>>>,
    ) -> Result<Option<Vec<String>>> {
        let aliases = atomic::dir(self.directory(), ALIASES)?;
        loop {
            let locked = atomic::open_locked(&aliases, file, None, OFlags::RDWR, self.lock_timeout)?;
            let known = match locked {
                Some(_) => read(&aliases, file)?,
                None => None,
            };
            let Some(ids) = decide(known.as_deref())? else {
                atomic::sync_directory(&aliases)?;
                return Ok(None);
            };
            if locked.is_some() {
                atomic::replace(&aliases, file, &content(&ids), self.lock_timeout)?;
                return Ok(Some(ids));
            }
            // Remove a temporary file of a dead writer.
            atomic::remove_dead_file(&aliases, &atomic::temporary_name(file));
            if atomic::create(&aliases, file, &content(&ids))? {
                return Ok(Some(ids));
            }
        }
    }

    /// Makes all aliases durable, including changes by a killed process.
    pub(super) fn sync_aliases(&self) -> Result<()> {
        self.aliases_dir()?.map_or(Ok(()), atomic::sync_directory)
    }

    /// Moves a name from one session to another, durably, unless it now refers to a third. The key from which the
    /// first id is derived needs no alias while it refers to that session.
    pub(super) fn alias_follow(&self, name: &str, from: &str, to: &str) -> Result<()> {
        let file = key::id_for_key(name);
        let is_own = file == from;
        if !is_own && self.aliases_dir()?.is_none() {
            return Ok(());
        }
        let (old, new) = ([from.to_string()], [to.to_string()]);
        self.change_alias(&file, |known| {
            let follows = known.map_or(is_own, |known| known == old);
            Ok(follows.then(|| new.to_vec()))
        })
        .map(drop)
    }

    /// Fails if an alias would hide another session or name a missing one.
    fn refuse_session_names(&self, name: &str, id: &str) -> Result<()> {
        if !self.has(key::checked_id(id)?)? {
            return Err(no_session(id));
        }
        refuse_own(name, id, self.session_by_id_or_key(name)?)
    }
}

/// Fails for a name that is an own name of this or another session.
pub(super) fn refuse_own(name: &str, id: &str, own: Option<String>) -> Result<()> {
    match own {
        Some(other) if other != id || other == name => Err(Error::new(
            ErrorKind::Exists,
            format!("{name}: is the id of a session, not an alias"),
        )),
        _ => Ok(()),
    }
}

/// The ids that share a name after adding this one; none if nothing changes.
pub(super) fn shared(known: Option<&[String]>, id: &str) -> Option<Vec<String>> {
    let mut ids = known.map(<[String]>::to_vec).unwrap_or_default();
    if ids.iter().any(|known| known == id) || ids.len() >= CLAIMS {
        return None;
    }
    ids.push(id.to_string());
    ids.sort();
    Some(ids)
}

pub(super) fn no_alias(name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("{name}: no such alias"))
        .hint("list aliases with: convo alias list")
}
