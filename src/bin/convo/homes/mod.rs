//! The homes of other programs, with their sessions and the names of these.

pub mod archived;
mod databases;
mod home_cache;
mod home_file;
mod journals;
pub mod names;
mod read;

pub use archived::{archive_directory, archived_name, keep, long_path, original, refuse_overlap, short_path};
pub use databases::{DATABASE, is_database, of_row, report_unread, unread};
pub use home_cache::{remove_cache, rows};
pub use home_file::{HomeFile, project_of, unread as unread_path};
pub use journals::{complete_changes, journals, state_path};

use crate::args::TokenizerArgs;
use crate::context::Context;
use crate::overviews::OverviewReader;
use crate::programs::database;
use convo::error::{Error, ErrorKind};
use convo::filter::overview::Overview;
use convo::home::{
    Directories, Environment, FileKind, Home, HomeFiles, HomeIndex, Retention, RunningMarkers, RunningSign,
    Sidecars, Transcript, orphans,
};
use convo::model::{threads, time};
use convo::store::FileStat;
use home_cache::HomeCache;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Returns the homes on this machine.
pub fn all() -> Vec<Home> {
    convo::home::homes(&environment(&|name| std::env::var_os(name)))
}

/// Returns the environment in which homes are found.
pub fn environment<'v>(variable: &'v dyn Fn(&str) -> Option<OsString>) -> Environment<'v> {
    Environment {
        variable,
        directory: std::env::current_dir().ok(),
    }
}

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
    unread: Option<String>,
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
}

impl Listing {
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
}

/// Whether a file in a home is compressed: only sessions have such names, so that its errors are damage.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// Converts a file time to seconds since 1970.
pub fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_secs()).map_or(i64::MIN, |seconds| -seconds),
    }
}

/// Converts seconds since 1970 to RFC 3339.
pub fn rfc3339(seconds: i64) -> Option<String> {
    time::from_digits(&seconds.to_string()).map(|time| crate::terminal::time_format::machine(&time))
}

/// A session file and the index of its home.
struct HomeSessionFile {
    home: usize,
    transcript: Transcript,
}

pub struct HomeReadOptions<'r> {
    /// Counts their tokens.
    pub reader: &'r OverviewReader<'r>,
    /// Whether to use the cache for unchanged files.
    pub is_cached: bool,
    pub with_databases: bool,
}

/// Returns the sessions of these homes, with tokens only where they are known.
pub fn listings(context: &Context, homes: Vec<Home>, with_databases: bool) -> anyhow::Result<Vec<Listing>> {
    let tokenizer_args = TokenizerArgs::default();
    let reading = HomeReadOptions {
        reader: &OverviewReader::new(context, &tokenizer_args, false),
        is_cached: true,
        with_databases,
    };
    listings_with(context, homes, &reading)
}

/// Returns the sessions of these homes; reads the files that have changed since the last time.
pub fn listings_with(
    context: &Context,
    homes: Vec<Home>,
    reading: &HomeReadOptions<'_>,
) -> anyhow::Result<Vec<Listing>> {
    let now = clock(context);
    let mut work = Vec::new();
    let mut listings = Vec::new();
    for (nth, home) in homes.into_iter().enumerate() {
        let files = match home.problem {
            None => home.files(),
            Some(_) => HomeFiles::default(),
        };
        let read = files.transcripts.iter().filter(|file| match file.kind {
            FileKind::Database => reading.with_databases && database::is_supported(),
            _ => home.program.format.is_some(),
        });
        work.extend(read.cloned().map(|transcript| HomeSessionFile {
            home: nth,
            transcript,
        }));
        listings.push(Listing {
            retention: None,
            unread: unread(&home, &files.transcripts),
            orphans: orphans(&home, &files.transcripts).len() as u64,
            sessions: Vec::new(),
            errors: Vec::new(),
            failed: Vec::new(),
            files,
            home,
        });
    }
    let programs: Vec<_> = listings.iter().map(|listing| listing.home.program).collect();
    let known = HomeCache::open(reading.is_cached);
    let entries = known.entries();
    let started = FileStat::now();
    let read = threads::in_parallel(threads::cores(), &work, |work| {
        let program = programs[work.home];
        home_cache::sessions(&work.transcript, program, started, &entries, reading.reader)
    });
    let found = work.iter().zip(&read);
    let found: Vec<_> = found
        .filter_map(|(work, found)| Some((&work.transcript, found.as_ref().ok()?)))
        .collect();
    known.keep(&entries, &found);
    let marks: Vec<(RunningMarkers, HomeIndex)> = listings
        .iter()
        .map(|listing| {
            (
                RunningMarkers::of(&listing.home, now),
                HomeIndex::of(&listing.home),
            )
        })
        .collect();
    let mut directories = Directories::default();
    for (work, result) in work.into_iter().zip(read) {
        let listing = &mut listings[work.home];
        match result {
            Ok(found) => {
                let sessions = found.sessions;
                for inside in sessions.chunk_by(|(one, _), (other, _)| one == other) {
                    let row = inside.first().and_then(|(row, _)| row.as_ref());
                    let transcript = row.map_or(work.transcript.clone(), |row| of_row(&work.transcript, row));
                    let parts = inside.iter().map(|(_, overview)| overview.clone()).collect();
                    add(listing, &marks[work.home], transcript, parts, &mut directories);
                }
            }
            Err(error) if is_database(&work.transcript) => {
                listing.unread = Some(error.message.clone());
                listing.failed.push(error);
            }
            Err(error) => {
                if error.kind == ErrorKind::Data && is_compressed(&work.transcript.path) {
                    let empty = vec![Overview::default()];
                    add(
                        listing, &marks[work.home], work.transcript, empty, &mut directories,
                    );
                }
                listing.errors.push(error);
            }
        }
    }
    listings.iter_mut().for_each(databases::drop_moved);
    name_projects(&mut listings, &marks);
    listings.iter_mut().for_each(set_retention);
    Ok(listings)
}

/// Returns the current time, or the fixed time of tests.
pub fn clock(context: &Context) -> SystemTime {
    let now = time::seconds(&context.clock.now()).and_then(|now| u64::try_from(now).ok());
    match now.filter(|_| context.clock.is_fixed()) {
        Some(now) => SystemTime::UNIX_EPOCH + Duration::from_secs(now),
        None => SystemTime::now(),
    }
}

/// Adds the sessions of a file. Branches and subagents in it belong to the preceding session.
fn add(
    listing: &mut Listing,
    (running, index): &(RunningMarkers, HomeIndex),
    transcript: Transcript,
    parts: Vec<Overview>,
    directories: &mut Directories,
) {
    let first = listing.sessions.len();
    let is_alone = |part: &&Overview| read::side_branch(part).is_none();
    let is_many = transcript.id.is_none() && parts.iter().filter(is_alone).count() > 1;
    for overview in parts {
        match read::side_branch(&overview) {
            Some(side_branch) if listing.sessions.len() > first => {
                if let Some(session) = listing.sessions.last_mut() {
                    match side_branch {
                        convo::model::lineage::SideBranch::Branch => session.branches += 1,
                        convo::model::lineage::SideBranch::Sidechain => session.subagents += 1,
                    }
                }
                continue;
            }
            _ => {}
        }
        let time = overview.created.as_deref();
        let id = match (&transcript.id, is_many) {
            (Some(id), _) => id.clone(),
            (None, true) => time.map_or_else(String::new, digits),
            (None, false) => match time.filter(|_| listing.home.program.name == "aider") {
                Some(time) => digits(time),
                None => overview.id.clone().unwrap_or_default(),
            },
        };
        let mut transcript = transcript.clone();
        if !transcript.is_in_database {
            let records = convo::home::records(&listing.home, &id);
            let sizes = records.iter().filter_map(|record| std::fs::metadata(record).ok());
            transcript.bytes += sizes.map(|about| about.len()).sum::<u64>();
        }
        let title = index
            .title(&id)
            .or(overview.title.as_ref().map(|title| title.text.as_str()));
        let project = overview.cwd.as_deref().map(convo::home::plain_project);
        listing.sessions.push(HomeSession {
            parent: transcript.parent.clone(),
            title: title.map(convo::home::folded).filter(|title| !title.is_empty()),
            running: running.mark(&transcript, &id, project.as_deref()),
            due: None,
            sidecars: match transcript.kind {
                FileKind::Subagent => Sidecars::default(),
                _ if transcript.is_in_database => Sidecars::default(),
                _ => Sidecars::of(&listing.home, &transcript, &id, directories),
            },
            project,
            overview,
            transcript,
            subagents: 0,
            branches: 0,
            id,
        });
    }
}

/// Returns the time of the newest record. Files without times have the time 0, which counts as none.
fn updated(overview: &Overview) -> Option<i64> {
    let updated = overview.updated.as_deref().and_then(time::seconds);
    updated.filter(|time| *time > 0)
}

/// Formats a time as the name of a session: `20260602T100100`.
pub fn digits(time: &str) -> String {
    let time = crate::terminal::time_format::machine(time);
    time.chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect()
}

/// Sets the data from other sessions and the indexes: projects, and the numbers of subagents in separate files.
fn name_projects(listings: &mut [Listing], marks: &[(RunningMarkers, HomeIndex)]) {
    let known: BTreeSet<String> = listings
        .iter()
        .flat_map(|listing| {
            listing
                .sessions
                .iter()
                .filter_map(|session| session.project.clone())
        })
        .collect();
    let known = || known.iter().cloned().collect::<Vec<_>>();
    for (listing, (running, index)) in listings.iter_mut().zip(marks) {
        let mut subagents: HashMap<String, u64> = HashMap::new();
        for parent in listing
            .sessions
            .iter()
            .filter_map(|session| session.parent.clone())
        {
            *subagents.entry(parent).or_default() += 1;
        }
        for session in &mut listing.sessions {
            if session.transcript.kind != FileKind::Subagent {
                session.subagents += subagents.get(&session.id).copied().unwrap_or_default();
            }
            if session.project.is_none() {
                let path = &session.transcript.path;
                session.project = index.project(&listing.home, path, &session.id, &known);
            }
            let project = session.project.as_deref();
            session.running = running.mark(&session.transcript, &session.id, project);
        }
    }
}

/// Sets how long sessions are kept, and the times from which they may be deleted, by the settings of the home and of the
/// projects of its sessions.
fn set_retention(listing: &mut Listing) {
    let projects = listing.sessions.iter();
    let projects: BTreeSet<&str> = projects
        .filter_map(|session| session.project.as_deref())
        .collect();
    listing.retention = listing.home.retention(projects.into_iter());
    let Some(retention) = &listing.retention else {
        return;
    };
    for session in &mut listing.sessions {
        let modified = seconds(session.transcript.modified);
        session.due = Some(retention.due(modified, updated(&session.overview)));
    }
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

/// The part of a subagent's name between the id of its session and its own id.
const SUBAGENT: &str = ".agent-";

/// Returns the name of a session without the program; for a subagent, the name of its session is the prefix.
pub fn own_name(id: &str, parent: Option<&str>) -> String {
    match parent {
        Some(parent) => format!("{parent}{SUBAGENT}{}", id.strip_prefix("agent-").unwrap_or(id)),
        None => id.to_string(),
    }
}
