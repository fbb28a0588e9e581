//! The archive of sessions of other programs.

use super::listing::SUBAGENT;
use super::{HomeFile, own_name, unread_path};
use crate::context::Context;
use crate::environment::home;
use crate::errors::named;
use crate::output::path_name;
use convo::error::{Error, ErrorKind, Result};
use convo::home::{Bundle, Bundles, Home, HomeProgram, Name, PROGRAMS, SelectedId as Meant};
use convo::store::copies::{
    ArchivedSession, Copies, CopyOutcome, ManifestLine, SHARED, WantedFile, directory_name,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Returns the default directory of the archive.
///
/// # Errors
/// [`ErrorKind::Config`] if neither HOME nor XDG_DATA_HOME is set.
pub fn archive_directory() -> Result<PathBuf> {
    let data = home("XDG_DATA_HOME", ".local/share");
    data.map(|data| data.join("convo-archive")).ok_or_else(|| {
        Error::new(ErrorKind::Config, "neither HOME nor XDG_DATA_HOME is set")
            .hint("select an archive with --to DIR")
    })
}

/// Returns a path as written in manifests and journals: with `~` for the home directory of the user.
pub fn short_path(path: &Path) -> PathBuf {
    let own = user_home().and_then(|user| Some(Path::new("~").join(path.strip_prefix(user).ok()?)));
    own.unwrap_or_else(|| path.to_path_buf())
}

/// Returns the path of a name from [`short_path`].
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

/// Returns the name of an archived session; without an id, the name of the files that sessions share.
pub fn archived_name(program: &str, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("{program}:{id}"),
        None => format!("{program}/{SHARED}"),
    }
}

/// Returns the archived session with this name.
///
/// # Errors
/// [`ErrorKind::NotFound`] for no session or several sessions, [`ErrorKind::Usage`] for a name without an id.
pub fn find(copies: &Copies, text: &str) -> Result<(&'static HomeProgram, ArchivedSession)> {
    let name = Name::read(text)?;
    let Some((name, id)) = name.and_then(|name| match name.wanted.clone() {
        Meant::Id(id) => Some((name, id)),
        _ => None,
    }) else {
        return Err(Error::usage("expected PROGRAM:ID"));
    };
    let mut found = Vec::new();
    for program in PROGRAMS.iter().filter(|program| name.is_of(program)) {
        for directory in copies.names(program.name)? {
            if directory == SHARED {
                continue;
            }
            let kept = copies.archived_session(program.name, &directory)?;
            match &kept.session {
                Some(own) if *own == id => return Ok((program, kept)),
                Some(own) if own.starts_with(&id) => found.push((program, kept)),
                _ => {}
            }
        }
    }
    match found.len() {
        0 => Err(Error::new(ErrorKind::NotFound, "no such session in the archive")),
        1 => Ok(found.swap_remove(0)),
        several => {
            let names = found.iter().take(10);
            let names: Vec<String> = names
                .map(|(program, kept)| archived_name(program.name, kept.session.as_deref()))
                .collect();
            let error = Error::new(ErrorKind::NotFound, format!("ambiguous: {several} sessions"));
            Err(error.hint(format!("choose one of: {}", names.join(", "))))
        }
    }
}

/// Returns the transcripts in an archived session by name, without the program: its own and those of its subagents. One
/// name has several if files with one id existed at the same time; the one that is not gone, or that was last seen, is
/// the last. A file that was gone when another one of its name appeared was moved or compressed, and is left out.
pub fn transcripts<'k>(
    program: &HomeProgram,
    kept: &'k ArchivedSession,
) -> BTreeMap<String, Vec<&'k ManifestLine>> {
    let session = kept.session.as_deref().unwrap_or_default();
    let file = |line: &'k ManifestLine| (line.home.as_path(), line.path.as_path());
    let mut firsts: HashMap<_, (usize, &str)> = HashMap::new();
    let mut lasts = HashMap::new();
    for (place, line) in kept.lines.iter().enumerate() {
        firsts.entry(file(line)).or_insert((place, &line.at));
        lasts.insert(file(line), place);
    }
    let mut named: BTreeMap<String, Vec<&ManifestLine>> = BTreeMap::new();
    for line in kept.latest().into_iter().filter(|line| line.kind == TRANSCRIPT) {
        let subagent = program.subagent(&line.path).filter(|_| line.row.is_none());
        let name = match subagent {
            Some((id, parent)) => own_name(&id, Some(&parent)),
            None => session.to_string(),
        };
        named.entry(name).or_default().push(line);
    }
    for lines in named.values_mut().filter(|lines| lines.len() > 1) {
        lines.sort_by_key(|line| (line.outcome != CopyOutcome::Gone, lasts[&file(line)]));
        let all = lines.clone();
        lines.retain(|line| {
            let own = firsts[&file(line)].0;
            let mut firsts = all.iter().map(|other| firsts[&file(other)]);
            let is_followed = firsts.any(|(place, at)| place > own && line.at.as_str() <= at);
            line.outcome != CopyOutcome::Gone || !is_followed
        });
    }
    named
}

/// The kind of transcripts in manifests.
pub const TRANSCRIPT: &str = "transcript";

/// Returns the archived copy of a session or a subagent; `None` if there is none, or it cannot be read.
pub fn copy(context: &Context, text: &str) -> Option<PathBuf> {
    let place = archive_directory().ok()?;
    let copies = Copies::open(&place, false, context.lock_timeout()).ok()?;
    let own = |text| {
        let (program, kept) = find(&copies, text).ok()?;
        let name = kept.session.clone()?;
        Some((program, kept, name))
    };
    let (program, kept, name) = own(text).or_else(|| {
        let (session, subagent) = text.rsplit_once(SUBAGENT)?;
        let (program, kept, name) = own(session)?;
        Some((program, kept, format!("{name}{SUBAGENT}{subagent}")))
    })?;
    let line = *transcripts(program, &kept).get(&name)?.last()?;
    line.has_copy().then(|| place.join(kept.path(line)))
}

/// A session that exists only in the archive.
pub struct Deleted {
    pub program: &'static HomeProgram,
    /// Its name without the program.
    pub name: String,
    /// The manifest line of its transcript.
    pub line: ManifestLine,
    /// The copy.
    pub path: PathBuf,
}

/// Returns the sessions that exist only in the archive, and the copies of their files.
///
/// `known` contains the names of the sessions in the homes, `PROGRAM:ID`.
pub fn deleted(context: &Context, known: &HashSet<String>) -> Result<Vec<Deleted>> {
    // The archive needs a home directory.
    let Ok(place) = archive_directory() else {
        return Ok(Vec::new());
    };
    let copies = match Copies::open(&place, false, context.lock_timeout()) {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(Vec::new()),
        copies => copies?,
    };
    let parts = known.iter().filter_map(|name| name.split_once(':'));
    let there: HashSet<(&str, String)> = parts
        .map(|(program, id)| (program, directory_name(Some(id))))
        .collect();
    let mut found = Vec::new();
    for program in PROGRAMS {
        for name in copies.names(program.name)? {
            let own = (program.name, name);
            if own.1 == SHARED || there.contains(&own) {
                continue;
            }
            let kept = copies.archived_session(program.name, &own.1)?;
            if kept.session.is_none() {
                continue;
            }
            let named = transcripts(program, &kept).into_iter();
            let lines =
                named.flat_map(|(name, lines)| lines.into_iter().map(move |line| (name.clone(), line)));
            let lines = lines.filter(|(name, line)| {
                // Some ids are only in the records.
                let is_read = program.format.is_some() || line.row.is_some();
                is_read
                    && line.has_copy()
                    && !known.contains(&archived_name(program.name, Some(name)))
                    && !long_path(&line.home).join(&line.path).exists()
            });
            found.extend(lines.map(|(name, line)| Deleted {
                program,
                name,
                path: place.join(kept.path(line)),
                line: line.clone(),
            }));
        }
    }
    Ok(found)
}

/// Fails if the archive is in a home, or a home in the archive.
///
/// # Errors
/// [`ErrorKind::Unsafe`] with the program.
pub fn refuse_overlap(place: &Path, homes: &[Home]) -> Result<()> {
    let real = |path: &Path| {
        let there = path.ancestors().find_map(|above| {
            let real = std::fs::canonicalize(above).ok()?;
            Some(real.join(path.strip_prefix(above).ok()?))
        });
        there.unwrap_or_else(|| path.to_path_buf())
    };
    let absolute = std::path::absolute(place);
    let own = real(absolute.as_deref().unwrap_or(place));
    for home in homes {
        let base = real(home.base());
        let is_file = home.root.parent() == Some(home.base()) && home.root.is_file();
        let holds_database = real(home.base_of_databases()).starts_with(&own);
        let is_inside = own.starts_with(&home.root) || !is_file && own.starts_with(&base);
        if is_inside || base.starts_with(&own) || holds_database {
            let message = format!("overlaps the home of {}", home.program.name);
            let error = Error::new(ErrorKind::Unsafe, message).hint("select another directory with --to DIR");
            return Err(named(error, &path_name(place)));
        }
    }
    Ok(())
}

/// Copies a session of a home, with its sidecars, to the archive before a file with the checksum `slimmed` replaces it;
/// returns the name of the copy. Calling it again writes nothing.
///
/// # Errors
/// Returns the errors of reading and writing; [`ErrorKind::Locked`] if the file changes meanwhile.
pub fn keep(context: &Context, session: &HomeFile, slimmed: &str) -> Result<String> {
    let (copies, kept) = open_archived(context, session, true)?;
    let copies = copies.with_checksums(); // the copy will be the only original
    let own = session.path();
    let Bundles {
        bundles, problems, ..
    } = session.home.bundles();
    // Files of this session may be among the unreadable ones.
    if let Some((path, why)) = problems.into_iter().next() {
        return Err(unread_path(&path, &why));
    }
    let Some(Bundle { id, files }) = bundles.into_iter().find(|bundle| bundle.files.contains_key(own)) else {
        return Err(named(
            Error::new(ErrorKind::NotFound, "no such file"),
            &path_name(own),
        ));
    };
    copies.clean_up(&kept);
    let (base, home) = (session.home.base(), short_path(session.home.base()));
    let mut lines = Vec::new();
    for (path, piece) in &files {
        let wanted = WantedFile {
            base,
            home: &home,
            path,
            kind: piece.kind,
            row: None,
        };
        let Some(mut line) = copies.take(&kept, wanted, &context.clock.now())? else {
            continue;
        };
        line.slimmed = (path == own).then(|| slimmed.to_string());
        let is_known =
            |known: &ManifestLine| known.outcome != CopyOutcome::Gone && known.slimmed == line.slimmed;
        if line.outcome != CopyOutcome::Same || !kept.of(&home, path).is_some_and(is_known) {
            lines.push(line);
        }
    }
    if !lines.is_empty() {
        let written = copies.commit(&[(&kept, &lines)]);
        written.into_iter().collect::<Result<()>>()?;
    }
    Ok(archived_name(session.home.program.name, id.as_deref()))
}

/// Returns the bytes that a file with the checksum `slimmed` replaced; `None` if they are already restored.
///
/// # Errors
/// [`ErrorKind::NotFound`] if there are none, [`ErrorKind::Locked`] if the session has changed since.
pub fn original(context: &Context, session: &HomeFile, slimmed: &str) -> Result<Option<Vec<u8>>> {
    let unknown = || Error::new(ErrorKind::NotFound, "convo slim -i did not change this session");
    let (copies, kept) = match open_archived(context, session, false) {
        Err(error) if error.kind == ErrorKind::NotFound => return Err(unknown()),
        found => found?,
    };
    let home = short_path(session.home.base());
    let is_own = |line: &&ManifestLine| line.slimmed.is_some() && line.is_of(&home, session.path());
    let lines: Vec<&ManifestLine> = kept.lines.iter().rev().filter(is_own).collect();
    let has = |line: &&&ManifestLine| line.slimmed.as_deref() == Some(slimmed);
    match lines.iter().find(has) {
        Some(line) => copies.bytes(&kept, line).map(Some),
        None if lines.is_empty() => Err(unknown()),
        None if lines.iter().any(|line| line.sha256 == slimmed) => Ok(None),
        None => {
            let error = Error::new(
                ErrorKind::Locked,
                "changed since it was slimmed; nothing was changed",
            );
            Err(error.hint("the original is in the archive: see convo archive --help"))
        }
    }
}

fn open_archived(context: &Context, session: &HomeFile, writes: bool) -> Result<(Copies, ArchivedSession)> {
    let place = archive_directory()?;
    refuse_overlap(&place, std::slice::from_ref(&session.home))?;
    let copies = Copies::open(&place, writes, context.lock_timeout())?;
    let transcript = &session.transcript;
    let name = transcript.path.file_name().unwrap_or_default().to_string_lossy();
    let own = transcript.id.as_deref().unwrap_or(&name);
    let id = transcript.parent.as_deref().unwrap_or(own);
    let mut kept = copies.archived_session(session.home.program.name, &directory_name(Some(id)))?;
    kept.session = Some(id.to_string());
    Ok((copies, kept))
}
