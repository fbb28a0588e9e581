//! Checks a Penguin directory: session documents, their backups, the index, and the directories of other agents.

use super::file::{COPY, UNFINISHED};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::penguin::{self, INDEX};
use crate::format::report::Report;
use crate::format::{DocumentSource, WritePurpose, WriteTarget};
use crate::model::json::{self, Dialect};
use crate::model::session::Session;
use crate::model::view::View;
use crate::store::directory::Directory;
use crate::store::foreign::files::{bytes_of, copy_to_quarantine, dirs, files};
use crate::store::foreign::finding::{DirectoryFindings, DirectoryProblemKind};
use crate::store::{Rewrite, write_atomically};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const WHOLE: Position = Position { line: 0, offset: 0 };

/// The links of a session to others.
#[derive(Debug, Default)]
struct PenguinLinks {
    from: Option<String>,
    to: Option<String>,
}

/// Checks a directory and its subdirectories; `below` is its path relative to the checked directory.
pub(super) fn check(path: &Path, below: &str, out: &mut DirectoryFindings<'_>) -> Result<()> {
    let directory = Directory::open(path)?;
    let names = files(&directory)?;
    let mut links: BTreeMap<String, PenguinLinks> = BTreeMap::new();
    for primary in sessions(&names) {
        let shown = format!("{below}{primary}");
        if !names.contains(&primary) {
            let what = "missing session, but a copy exists";
            let remedy = Some("restored from the copy with the most messages");
            out.report(&shown, WHOLE, DirectoryProblemKind::NoSession, what, remedy);
        }
        let Some(session) = one(&directory, &primary, &shown, &names, out)? else {
            continue;
        };
        out.checked.sessions += 1;
        let id = primary.strip_suffix(".json").unwrap_or(&primary).to_string();
        links.insert(id, links_of(&session));
    }
    index(&directory, below, &names, &links, out)?;
    chain(below, &links, out);
    for inner in dirs(&directory)? {
        check(&path.join(&inner), &format!("{below}{inner}/"), out)?;
    }
    Ok(())
}

/// The names of sessions, including those of which only backups remain.
fn sessions(names: &BTreeSet<String>) -> BTreeSet<String> {
    let primary = |name: &String| {
        let name = name
            .strip_suffix(COPY)
            .or(name.strip_suffix(UNFINISHED))
            .unwrap_or(name);
        let is_session = name.ends_with(".json") && name != INDEX && !name.starts_with('.');
        is_session.then(|| name.to_string())
    };
    names.iter().filter_map(primary).collect()
}

/// Reads a session with its backups and reports its problems. None if the file is not a session.
fn one(
    directory: &Directory,
    name: &str,
    shown: &str,
    names: &BTreeSet<String>,
    out: &mut DirectoryFindings<'_>,
) -> Result<Option<Session>> {
    let bytes = bytes_of(directory, name)?;
    let neighbor = |other: &str| {
        let bytes = bytes_of(directory, other);
        bytes.map_err(|error| std::io::Error::other(error.message))
    };
    let source = DocumentSource {
        name: Some(name),
        bytes: bytes.as_deref().unwrap_or_default(),
        neighbor: &neighbor,
    };
    let mut report = Report::default();
    let session = match penguin::read(&source, &mut report) {
        Ok(mut sessions) if sessions.len() == 1 => sessions.remove(0),
        Ok(_) => return Ok(None),
        // Another kind of file, which is not a problem.
        Err(_) if !penguin::is_session_name(name) && !penguin::is_lost(source.bytes) => return Ok(None),
        Err(error) => {
            out.checked.sessions += 1;
            out.report(
                shown,
                WHOLE,
                DirectoryProblemKind::Unreadable,
                error.message,
                None,
            );
            return Ok(None);
        }
    };
    out.checked.bytes += source.bytes.len() as u64;
    let repaired = report.differs_from_input;
    let remedy = (repaired && bytes.is_some())
        .then_some("recovered messages written to a new file; original quarantined");
    // Numbers written by Python are valid for Penguin, and a missing file was already reported.
    let reported = |what: &str| bytes.is_some() && what != penguin::NO_NUMBER;
    let damage = report
        .findings
        .iter()
        .filter(|finding| finding.damage && reported(&finding.what));
    for finding in damage {
        out.report(
            shown,
            finding.place,
            DirectoryProblemKind::Unreadable,
            finding.what.clone(),
            remedy,
        );
    }
    let unfinished = format!("{name}{UNFINISHED}");
    if names.contains(&unfinished) {
        let newer = report
            .findings
            .iter()
            .find(|finding| !finding.damage && finding.what.contains(&unfinished));
        let what = newer.map_or("an unfinished save".into(), |newer| newer.what.clone());
        out.report(
            &format!("{shown}{UNFINISHED}"),
            WHOLE,
            DirectoryProblemKind::Temporary,
            what,
            None,
        );
    }
    if repaired && out.check.repair.is_some() {
        rescue(
            directory,
            name,
            bytes.as_deref(),
            &session,
            out.check.lock_timeout,
            out.check.force,
        )?;
    }
    Ok(Some(session))
}

/// Writes the recovered session; the damaged file is kept.
fn rescue(
    directory: &Directory,
    name: &str,
    damaged: Option<&[u8]>,
    session: &Session,
    lock_timeout: std::time::Duration,
    force: bool,
) -> Result<()> {
    if let Some(damaged) = damaged {
        copy_to_quarantine(directory, name, damaged)?;
    }
    let mut document = Vec::new();
    let view = View::replay(session);
    let save = penguin::WriteOptions::default();
    let target = WriteTarget(WritePurpose::Return, &mut document, &mut Report::default());
    penguin::write(session, &view, &save, target)?;
    let options = Rewrite {
        lock_timeout,
        force,
        ..Rewrite::default()
    };
    write_atomically(
        &directory.path().join(name),
        |out| {
            out.write_all(&document)
                .map_err(|error| Error::io("cannot write", error).kind(ErrorKind::InputOutput))
        },
        &options,
    )
}

fn links_of(session: &Session) -> PenguinLinks {
    let own = session.metadata("penguin");
    let kept = own.as_deref().and_then(|own| json::member(own, "metadata"));
    let text = |name: &str| {
        let kept = kept
            .and_then(|kept| json::member(kept, name))
            .and_then(json::text);
        let text = session.header_text(name).or(kept.map(|text| text.into_owned()));
        text.filter(|text| !text.is_empty())
    };
    PenguinLinks {
        from: text("continued_from"),
        to: text("continued_to"),
    }
}

/// Compares the index, which is not authoritative, with the existing sessions.
fn index(
    directory: &Directory,
    below: &str,
    names: &BTreeSet<String>,
    sessions: &BTreeMap<String, PenguinLinks>,
    out: &mut DirectoryFindings<'_>,
) -> Result<()> {
    let shown = format!("{below}{INDEX}");
    let unfinished = format!("{INDEX}{UNFINISHED}");
    if names.contains(&unfinished) {
        let what = "truncated index";
        out.report(
            &format!("{below}{unfinished}"),
            WHOLE,
            DirectoryProblemKind::Temporary,
            what,
            None,
        );
    }
    let Some(bytes) = bytes_of(directory, INDEX)? else {
        if !sessions.is_empty() {
            let what = "missing index: Penguin lists no session until its second start";
            out.report(&shown, WHOLE, DirectoryProblemKind::Index, what, None);
        }
        return Ok(());
    };
    let Some(rows) = json::members(&bytes, Dialect::Python) else {
        let what = "unreadable index";
        out.report(&shown, WHOLE, DirectoryProblemKind::Index, what, None);
        return Ok(());
    };
    let rows: BTreeSet<&str> = rows.iter().map(|(name, _)| name.as_ref()).collect();
    for row in rows.iter().filter(|row| !names.contains(&format!("{row}.json"))) {
        out.report(
            &shown,
            WHOLE,
            DirectoryProblemKind::Ghost,
            format!("lists {row}, which is missing"),
            None,
        );
    }
    for id in sessions.keys().filter(|id| !rows.contains(id.as_str())) {
        out.report(
            &shown,
            WHOLE,
            DirectoryProblemKind::Index,
            format!("does not list {id}"),
            None,
        );
    }
    Ok(())
}

/// Reports links to missing sessions, and links that only one side confirms.
fn chain(below: &str, links: &BTreeMap<String, PenguinLinks>, out: &mut DirectoryFindings<'_>) {
    for (id, own) in links {
        let shown = format!("{below}{id}.json");
        if let Some(from) = &own.from {
            let what = match links.get(from) {
                None => Some(format!("continues {from}, which is missing")),
                // A branch: the session may name another continuation.
                Some(source) if source.to.is_none() => {
                    Some(format!("continues {from}, which does not link back"))
                }
                Some(_) => None,
            };
            if let Some(what) = what {
                out.report(&shown, WHOLE, DirectoryProblemKind::BrokenLink, what, None);
            }
        }
        if let Some(to) = &own.to {
            let what = match links.get(to) {
                None => Some(format!("continued by {to}, which is missing")),
                Some(next) if next.from.as_deref() != Some(id) => {
                    Some(format!("continued by {to}, which does not link back"))
                }
                Some(_) => None,
            };
            if let Some(what) = what {
                out.report(&shown, WHOLE, DirectoryProblemKind::BrokenLink, what, None);
            }
        }
    }
}
