//! The archive of sessions of other programs.

use crate::config::home;
use convo::error::{Error, Kind, Result};
use convo::home::{Name, PROGRAMS, Wanted};
use convo::store::copies::{Copies, Kept, SHARED};
use std::path::{Path, PathBuf};

/// Where the archive is by default.
///
/// # Errors
/// [`Kind::Config`] if the environment names no directory.
pub fn archive_place() -> Result<PathBuf> {
    let data = home("XDG_DATA_HOME", ".local/share");
    data.map(|data| data.join("convo-archive")).ok_or_else(|| {
        Error::new(Kind::Config, "neither HOME nor XDG_DATA_HOME is set")
            .hint("select an archive with --to DIR")
    })
}

/// A path as manifests and journals have it: below the home directory of the user, it begins with `~`.
pub fn short_path(path: &Path) -> PathBuf {
    let own = user_home().and_then(|user| Some(Path::new("~").join(path.strip_prefix(user).ok()?)));
    own.unwrap_or_else(|| path.to_path_buf())
}

/// The path of such a name.
pub fn long_path(name: &Path) -> PathBuf {
    let below = name.strip_prefix("~").ok();
    let own = below.and_then(|below| Some(user_home()?.join(below)));
    own.unwrap_or_else(|| name.to_path_buf())
}

fn user_home() -> Option<PathBuf> {
    std::env::var_os("HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from)
}

/// The name of a session of the archive; without an id, of what sessions share.
pub fn kept_name(program: &str, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("{program}:{id}"),
        None => format!("{program}/{SHARED}"),
    }
}

/// The session of the archive that a name means.
///
/// # Errors
/// [`Kind::NotFound`] for no session or several, [`Kind::Usage`] for a name without an id.
pub fn find(copies: &Copies, text: &str) -> Result<(&'static str, Kept)> {
    let name = Name::read(text)?;
    let Some((name, id)) = name.and_then(|name| match name.wanted.clone() {
        Wanted::Id(id) => Some((name, id)),
        _ => None,
    }) else {
        return Err(Error::new(Kind::Usage, "expected PROGRAM:ID"));
    };
    let mut found = Vec::new();
    for program in PROGRAMS.iter().filter(|program| name.is_of(program)) {
        for directory in copies.names(program.name)? {
            if directory == SHARED {
                continue;
            }
            let kept = copies.kept(program.name, &directory)?;
            match &kept.session {
                Some(own) if *own == id => return Ok((program.name, kept)),
                Some(own) if own.starts_with(&id) => found.push((program.name, kept)),
                _ => {}
            }
        }
    }
    match found.len() {
        0 => Err(Error::new(Kind::NotFound, "no such session in the archive")),
        1 => Ok(found.swap_remove(0)),
        several => {
            let names = found.iter().take(10);
            let names: Vec<String> = names
                .map(|(program, kept)| kept_name(program, kept.session.as_deref()))
                .collect();
            let error = Error::new(Kind::NotFound, format!("ambiguous: {several} sessions"));
            Err(error.hint(format!("choose one of: {}", names.join(", "))))
        }
    }
}
