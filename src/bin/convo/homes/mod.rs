//! The homes of other programs, with their sessions and the names of these.

pub mod archived;
mod databases;
mod home_cache;
mod home_file;
mod journals;
mod listing;
pub mod names;
mod read;

pub use archived::{archive_directory, archived_name, keep, long_path, original, refuse_overlap, short_path};
pub use databases::{DATABASE, is_database, of_row, report_unread, unread};
pub use home_cache::{remove_cache, rows};
pub use home_file::{HomeFile, project_of};
pub use journals::{complete_changes, journals, state_path};
pub use listing::{HomeSession, Listing, is_compressed, own_name, seconds, unread_path};

use crate::args::TokenizerArgs;
use crate::context::Context;
use crate::overviews::OverviewReader;
use crate::programs::database;
use convo::error::ErrorKind;
use convo::filter::overview::Overview;
use convo::home::{
    Directories, Environment, FileKind, Home, HomeFiles, HomeIndex, RunningMarkers, Sidecars, Transcript,
    orphans,
};
use convo::model::{threads, time};
use convo::store::FileStat;
use home_cache::HomeCache;
use listing::updated;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
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
    listings.iter_mut().for_each(Listing::drop_moved);
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
