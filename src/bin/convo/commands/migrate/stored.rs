//! Migrates stored sessions, selected by name or all.

use super::archived::ArchivedLines;
use super::inspect::{ExaminedFile, FoundSession, Refusal};
use crate::args::InputLocation;
use crate::context::Context;
use convo::error::{Error, Result};
use convo::format::Format;
use convo::format::report::Report;
use convo::model::session::{Class, Session};
use convo::model::{json, key};
use convo::store::Store;
use sha2::{Digest, Sha256};
use std::io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

/// The source of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SessionSource {
    File(PathBuf),
    /// The id of a stored session.
    Stored(String),
}

impl SessionSource {
    pub fn is_stored(&self) -> bool {
        matches!(self, SessionSource::Stored(_))
    }
}

/// Resolves an operand to a stored session; none if it is a file or looks like one.
pub fn named(context: &Context, operand: &Path) -> Result<Option<String>> {
    // An operand that cannot be examined is not a session name; it may be a file.
    let is_there = match operand.try_exists() {
        Err(error) if matches!(error.kind(), NotADirectory | InvalidFilename | InvalidInput) => false,
        found => found.map_err(Error::open)?,
    };
    let Some(name) = operand.to_str().filter(|_| !is_there) else {
        return Ok(None);
    };
    match InputLocation::of(name) {
        InputLocation::Name(name) => context.store()?.resolve(&name).map(Some),
        _ => Ok(None),
    }
}

/// Reads a stored session. `memory` is the number of bytes that may still be held.
pub fn examine(store: Result<&Store>, id: &str, strict: bool, memory: &AtomicI64) -> ExaminedFile {
    let mut report = Report::default();
    let found = store.and_then(|store| {
        let size = i64::try_from(store.size(id)?).unwrap_or(i64::MAX);
        let keep = memory.fetch_sub(size, Ordering::Relaxed) >= size;
        scan_session(store, id, keep, &mut report)
    });
    let found = match found {
        Ok(_) if strict && report.is_damaged() => {
            Err(Refusal::Damaged(Error::data("damaged; not imported (--strict)")))
        }
        Ok(found) => Ok(vec![found]),
        Err(error) => Err(Refusal::Failed(error)),
    };
    ExaminedFile {
        path: PathBuf::from(id),
        stored: true,
        format: Some(Format::Native),
        found,
        findings: report.findings,
        losses: report.losses,
    }
}

/// Reads the session again, with its lines.
pub fn reread(store: &Store, id: &str) -> Result<Vec<FoundSession>> {
    scan_session(store, id, true, &mut Report::default()).map(|found| vec![found])
}

fn scan_session(store: &Store, id: &str, keep: bool, report: &mut Report) -> Result<FoundSession> {
    let session = store.load(id, report)?;
    let mut hash = Sha256::new();
    let mut archived = ArchivedLines::default();
    for index in 0..session.len() {
        let body = session.record(index).body;
        if session.class(index) == Class::Event {
            archived.add(body);
        }
        hash.update(body);
        hash.update(b"\n");
    }
    let first = (!session.is_empty()).then(|| session.record(0).body.to_vec());
    let own = first.as_deref().and_then(|line| json::member(line, "id"));
    Ok(FoundSession {
        id: own
            .and_then(json::text)
            .map_or(id.to_string(), |own| own.into_owned()),
        header: first.unwrap_or_else(|| b"{}".to_vec()),
        instead: None,
        has_new_header: false,
        offset: 0,
        fingerprint: key::hex(&hash.finalize()),
        messages: messages(&session),
        archived: archived.count(),
        notice: false,
        session: keep.then_some(session),
    })
}

fn messages(session: &Session) -> u64 {
    let all = (0..session.len()).filter(|index| matches!(session.class(*index), Class::Message(_)));
    all.count() as u64
}
