//! The sessions of a home.

use super::databases::is_database;
use crate::context::Context;
use crate::errors::named;
use crate::output::path_name;
use convo::error::{Error, ErrorKind};
use convo::filter::overview::Overview;
use convo::home::{FileKind, Home, HomeFiles, Retention, RunningSign, Sidecars, Transcript};
use convo::model::time;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The part of a subagent's name between the id of its session and its own id.
pub(super) const SUBAGENT: &str = ".agent-";

pub struct HomeSession {
    pub id: String,
    /// The session that started it, for a subagent.
    pub parent: Option<String>,
    pub title: Option<String>,
    pub project: Option<String>,
    pub overview: Overview,
    pub transcript: Transcript,
    pub sidecars: Sidecars,
    pub subagents: u64,
    pub branches: u64,
    /// The reason to consider it running.
    pub running: Option<RunningSign>,
    /// Time from which the program may delete it, in seconds since 1970.
    pub due: Option<i64>,
}

pub struct Listing {
    pub home: Home,
    pub sessions: Vec<HomeSession>,
    pub retention: Option<Retention>,
    /// The files of sessions, including those in formats that cannot be read.
    pub files: HomeFiles,
    /// Directories of sidecars without a transcript.
    pub orphans: u64,
    /// The reason if some sessions are not read.
    pub(super) unread: Option<String>,
    /// Errors of files that cannot be read as sessions.
    pub errors: Vec<Error>,
    /// Errors of databases.
    pub failed: Vec<Error>,
}

impl Listing {
    /// Returns the reason if some sessions of the home are not read.
    pub fn reason(&self) -> Option<String> {
        // A home in which nothing is readable.
        let problems = self.files.problems.first();
        let problem = problems.filter(|_| self.files.transcripts.is_empty());
        let own = self.home.problem.clone().or_else(|| self.unread.clone());
        own.or_else(|| problem.map(|(_, why)| why.clone()))
    }

    /// Whether any sessions of the home are read, from files or a database.
    pub fn is_read(&self) -> bool {
        let has_database = || self.files.transcripts.iter().any(is_database);
        self.home.program.format.is_some() || self.unread.is_none() && has_database()
    }

    /// Reports the files that cannot be read.
    pub fn report(&self, context: &Context) {
        let failed = |path: &Path, why: &str| {
            context.output.error(&unread_path(path, why));
        };
        if let Some(problem) = &self.home.problem {
            failed(&self.home.root, problem);
        }
        for (path, why) in &self.files.problems {
            failed(path, why);
        }
        self.failed.iter().for_each(|error| context.output.error(error));
        for error in &self.errors {
            match (error.kind, &error.at) {
                (ErrorKind::Data, Some((path, _))) if is_compressed(Path::new(path)) => {
                    context.output.notice(path, &error.message);
                }
                // Programs keep other files next to their sessions.
                (ErrorKind::Data, _) => context.output.detail("", &error.to_string()),
                _ => context.output.error(error),
            }
        }
    }

    /// Drops the files of sessions that their program has moved to its database.
    pub(super) fn drop_moved(&mut self) {
        let inside = self.sessions.iter().filter(|one| one.transcript.is_in_database);
        let ids: BTreeSet<String> = inside.map(|session| session.id.clone()).collect();
        let is_moved = |file: &Transcript, id: Option<&str>| {
            !file.is_in_database && id.is_some_and(|id| ids.contains(id))
        };
        self.sessions
            .retain(|session| !is_moved(&session.transcript, Some(&session.id)));
        let files = &mut self.files.transcripts;
        files.retain(|file| !is_moved(file, file.id.as_deref()));
    }
}

/// Whether a file in a home is compressed: only sessions have such names, so that its errors are damage.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

impl HomeSession {
    /// Returns the name without the program.
    pub fn name_in_program(&self) -> String {
        own_name(&self.id, self.parent.as_deref())
    }

    pub fn is_subagent(&self) -> bool {
        self.transcript.kind == FileKind::Subagent
    }

    /// Returns the time of its newest record, or of its file without one, in seconds since 1970.
    pub fn updated(&self) -> i64 {
        updated(&self.overview).unwrap_or_else(|| seconds(self.transcript.modified))
    }

    /// Returns the path of its file.
    pub fn path(&self) -> &PathBuf {
        &self.transcript.path
    }
}

/// Converts a file time to seconds since 1970.
pub fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_secs()).map_or(i64::MIN, |seconds| -seconds),
    }
}

/// Returns the time of the newest record. Files without times have the time 0, which counts as none.
pub(super) fn updated(overview: &Overview) -> Option<i64> {
    let updated = overview.updated.as_deref().and_then(time::seconds);
    updated.filter(|time| *time > 0)
}

/// Returns the name of a session without the program; for a subagent, the name of its session is the prefix.
pub fn own_name(id: &str, parent: Option<&str>) -> String {
    match parent {
        Some(parent) => format!("{parent}{SUBAGENT}{}", id.strip_prefix("agent-").unwrap_or(id)),
        None => id.to_string(),
    }
}

/// Returns the error for a path of a home that cannot be read.
pub fn unread_path(path: &Path, why: &str) -> Error {
    named(
        Error::new(ErrorKind::InputOutput, why.to_string()),
        &path_name(path),
    )
}
