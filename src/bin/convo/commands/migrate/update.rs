//! Appends to a stored session the lines that its source has gained.

use super::growth::{Growth, Sources, source_format, source_hash};
use super::inspect::{self, ExaminedFile};
use super::transfer::{self, Recent, Target, TargetState};
use crate::context::Context;
use crate::edit::{LineDestination, Stamps};
use crate::input::regular;
use convo::error::{Error, ErrorKind, Result};
use convo::format::Format;
use convo::format::Reader;
use convo::format::native::NativeReader;
use convo::format::report::Report;
use convo::model::json;
use convo::model::session::Session;
use convo::store::{FileStat, Rewrite, log, write_atomically};
use std::path::Path;

/// The lines to append.
#[derive(Debug, Default)]
pub struct Update {
    lines: Vec<Vec<u8>>,
    /// Expected size of the session in bytes before the append.
    length: u64,
}

/// Compares an existing session with its source.
pub fn compare(
    target: &Target<'_>,
    examined: &ExaminedFile,
    nth: usize,
    recent: &Recent<'_>,
    context: &Context,
) -> Result<TargetState> {
    let found = transfer::of(examined, nth)?;
    let (stored, length, place) = match target {
        Target::Store(store) => {
            let (session, length) = store.load_with_archive(&found.id, &mut Report::default())?;
            (session, length, LineDestination::Store)
        }
        Target::Folder(folder) => match read(&folder.join(format!("{}.jsonl", found.id)))? {
            Some((bytes, _)) => (session(&bytes)?, bytes.len() as u64, LineDestination::Stream),
            None => return Ok(TargetState::New),
        },
        Target::Foreign(_) => return Ok(TargetState::Other),
    };
    let new = transfer::session(examined, nth, recent)?;
    let hash = source_hash(&stored.header());
    if found.made && hash.is_some() && hash == source_hash(&new.header()) {
        return Ok(TargetState::There);
    }
    if !found.made && !has_same_header(&stored, &new) {
        return Ok(TargetState::Other);
    }
    let before = || {
        let format = source_format(&stored.header())?;
        let is_file = found.made && !examined.stored;
        inspect::lines_before(
            is_file.then_some(&examined.path)?,
            format,
            hash.as_deref()?,
            &found.id,
        )
    };
    let stamps = Stamps::new(context, &stored, place);
    let sources = Sources {
        stored: &stored,
        new: &new,
        converted: found.made && examined.format != Some(Format::Native),
        before: &before,
        stamp: &|content| stamps.event(content),
    };
    Ok(match sources.growth()? {
        Growth::None => TargetState::There,
        Growth::Lines(lines) => TargetState::Grown(Update { lines, length }),
        Growth::Diverged => TargetState::Other,
    })
}

impl Update {
    /// Appends the lines atomically, unless the session has changed in the meantime.
    pub fn apply(&self, target: &Target<'_>, id: &str, context: &Context) -> Result<()> {
        let changed = || {
            Error::new(ErrorKind::Locked, "stored session modified by another program")
                .hint("run the command again")
        };
        match target {
            Target::Store(store) => match store.append_together(id, &self.lines, self.length)? {
                true => Ok(()),
                false => Err(changed()),
            },
            Target::Folder(folder) => {
                let path = folder.join(format!("{id}.jsonl"));
                let (bytes, facts) = read(&path)?.ok_or_else(changed)?;
                if bytes.len() as u64 != self.length {
                    return Err(changed());
                }
                let options = Rewrite {
                    read: Some(facts),
                    lock_timeout: context.lock_timeout(),
                    ..Rewrite::default()
                };
                let write = |out: &mut dyn std::io::Write| {
                    let end: &[u8] = if bytes.ends_with(b"\n") { b"" } else { b"\n" };
                    let lines = self.lines.iter().flat_map(|line| [&line[..], b"\n"]);
                    let mut all = [&bytes[..], end].into_iter().chain(lines);
                    all.try_for_each(|part| out.write_all(part))
                        .map_err(|error| Error::io("cannot write", error))
                };
                write_atomically(&path, write, &options)
            }
            Target::Foreign(_) => Err(changed()),
        }
    }
}

/// Reads a file of a directory of native files.
fn read(path: &Path) -> Result<Option<(Vec<u8>, FileStat)>> {
    let Some(file) = regular::open_target(path)? else {
        return Ok(None);
    };
    let facts = FileStat::of(&file).map_err(|error| Error::io("cannot read", error))?;
    Ok(Some((regular::read_all(file)?, facts)))
}

fn session(bytes: &[u8]) -> Result<Session> {
    let mut session = Session::default();
    let mut reader = NativeReader::new(Vec::new(), bytes);
    let mut report = Report::default();
    while let Some(record) = reader.next(&mut report)? {
        session.push(&record);
    }
    Ok(session)
}

fn has_same_header(one: &Session, other: &Session) -> bool {
    let first = |session: &Session| {
        let first = (!session.is_empty()).then(|| session.record(0).body.to_vec())?;
        Some(log::strip(&first).into_owned())
    };
    match (first(one), first(other)) {
        (Some(one), Some(other)) => json::same(&one, &other),
        _ => false,
    }
}
