//! The columns of the list of homes.

use crate::homes::{HomeSession, Listing, rfc3339, seconds};
use crate::output::path_name;
use crate::terminal::table::{Cell, Column};
use clap::ValueEnum;
use convo::home::{FileKind, Retention, WEEK};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HomeColumn {
    Program,
    Sessions,
    Bytes,
    Newest,
    Retention,
    Root,
    Readable,
    Reason,
    Empty,
    Subagents,
    Orphans,
    Oldest,
    Running,
    Setting,
    Value,
    By,
    Due,
    Overdue,
}

/// The default columns.
pub const DEFAULT: [HomeColumn; 6] = [
    HomeColumn::Program,
    HomeColumn::Sessions,
    HomeColumn::Bytes,
    HomeColumn::Newest,
    HomeColumn::Retention,
    HomeColumn::Root,
];

/// A home.
pub struct HomeRow {
    pub program: &'static str,
    pub root: String,
    pub reason: Option<String>,
    /// `None` if they are in a database that is not read.
    pub sessions: Option<u64>,
    empty: u64,
    subagents: u64,
    orphans: u64,
    bytes: u64,
    /// Times of the newest and the oldest session, in seconds since 1970.
    newest: Option<i64>,
    oldest: Option<i64>,
    running: u64,
    retention: Option<Retention>,
    /// Times from which each session may be deleted, in seconds since 1970.
    pub due: Vec<i64>,
    now: i64,
}

impl HomeRow {
    /// Creates the row of a home at this time.
    pub fn new(listing: &Listing, now: i64) -> HomeRow {
        let own = |session: &&HomeSession| !session.is_subagent();
        let is_empty = |session: &HomeSession| session.overview.messages == 0;
        let sessions: Vec<&HomeSession> = listing.sessions.iter().filter(own).collect();
        let full = || sessions.iter().filter(|session| !is_empty(session));
        let count = |count: usize| count as u64;
        let files = &listing.files.transcripts;
        let transcripts = files
            .iter()
            .filter(|file| matches!(file.kind, FileKind::Session | FileKind::Archived));
        let is_read = listing.is_read();
        let times: Vec<i64> = match is_read {
            true => full().map(|session| session.updated()).collect(),
            false => transcripts.clone().map(|file| seconds(file.modified)).collect(),
        };
        // Some sessions have several files.
        let mut sizes: BTreeMap<&Path, u64> = transcripts
            .clone()
            .map(|file| (&*file.path, file.bytes))
            .collect();
        let (inside, alone): (Vec<&HomeSession>, Vec<&HomeSession>) = sessions
            .iter()
            .partition(|session| session.transcript.is_in_database);
        sizes.extend(
            alone
                .iter()
                .map(|session| (session.path().as_path(), session.transcript.bytes)),
        );
        let inside: u64 = inside.iter().map(|session| session.transcript.bytes).sum();
        let subagents = listing
            .sessions
            .iter()
            .filter(|session| session.is_subagent())
            .count();
        let has_files = files.iter().any(|file| file.kind != FileKind::Database);
        HomeRow {
            program: listing.home.program.name,
            root: path_name(&listing.home.root),
            reason: listing.reason(),
            sessions: match (is_read, has_files || files.is_empty()) {
                (true, _) => Some(count(full().count())),
                (false, true) => Some(count(transcripts.clone().count())),
                (false, false) => None,
            },
            empty: count(sessions.iter().filter(|session| is_empty(session)).count()),
            // Subagents in their own files, and those in the files of sessions.
            subagents: count(subagents) + inner(listing),
            orphans: listing.orphans,
            bytes: sizes.values().sum::<u64>() + inside,
            newest: times.iter().max().copied(),
            oldest: times.iter().min().copied(),
            running: count(full().filter(|session| session.running.is_some()).count()),
            retention: listing.retention.clone(),
            due: full().filter_map(|session| session.due).collect(),
            now,
        }
    }

    fn due_within(&self, seconds: i64) -> u64 {
        let is_due = |due: &&i64| **due > self.now && **due <= self.now.saturating_add(seconds);
        self.due.iter().filter(is_due).count() as u64
    }

    fn overdue(&self) -> u64 {
        self.due.iter().filter(|due| **due <= self.now).count() as u64
    }

    /// Returns the home as a JSON object.
    pub fn object(&self) -> String {
        let retention = self.retention.as_ref();
        serde_json::json!({
            "schema": "convo.agent/1", "program": self.program, "root": self.root,
            "readable": self.reason.is_none(), "reason": self.reason, "sessions": self.sessions,
            "empty": self.empty, "subagents": self.subagents, "orphans": self.orphans, "bytes": self.bytes,
            "newest": self.newest.and_then(rfc3339), "oldest": self.oldest.and_then(rfc3339), "running": self.running,
            "retention": retention.map(Retention::shown), "retention_setting": retention.map(|own| own.setting),
            "retention_value": retention.and_then(|own| own.value.as_deref()),
            "retention_by": retention.map(|own| own.by), "due_7d": self.due_within(WEEK), "overdue": self.overdue(),
        })
        .to_string()
    }
}

/// Counts the subagents in the files of sessions.
fn inner(listing: &Listing) -> u64 {
    let mut files: HashMap<&str, u64> = HashMap::new();
    let parents = listing
        .sessions
        .iter()
        .filter_map(|session| session.parent.as_deref());
    parents.for_each(|parent| *files.entry(parent).or_default() += 1);
    let own = listing.sessions.iter().filter(|session| !session.is_subagent());
    own.map(|session| {
        let files = files.get(session.id.as_str()).copied().unwrap_or_default();
        session.subagents.saturating_sub(files)
    })
    .sum()
}

impl HomeColumn {
    /// Returns the column of the table.
    pub fn column(self) -> Column {
        match self {
            HomeColumn::Program => Column::text("PROGRAM"),
            HomeColumn::Sessions => Column::number("SESSIONS"),
            HomeColumn::Bytes => Column::number("SIZE"),
            HomeColumn::Newest => Column::dim("NEWEST"),
            HomeColumn::Retention => Column::text("KEEPS"),
            HomeColumn::Root => Column::path("ROOT"),
            HomeColumn::Readable => Column::text("READABLE"),
            HomeColumn::Reason => Column::text("REASON"),
            HomeColumn::Empty => Column::number("EMPTY"),
            HomeColumn::Subagents => Column::number("SUBAGENTS"),
            HomeColumn::Orphans => Column::number("ORPHANS"),
            HomeColumn::Oldest => Column::dim("OLDEST"),
            HomeColumn::Running => Column::number("RUNNING"),
            HomeColumn::Setting => Column::text("SETTING"),
            HomeColumn::Value => Column::text("VALUE"),
            HomeColumn::By => Column::text("BY"),
            HomeColumn::Due => Column::number("DUE"),
            HomeColumn::Overdue => Column::number("OVERDUE"),
        }
    }

    /// Returns the value of a home.
    pub fn cell(self, row: &HomeRow, is_terminal: bool) -> Cell {
        let text = |text: Option<&str>| Cell::Text(text.unwrap_or("-").to_string());
        let number = |number: u64| Cell::Number(Some(number));
        let retention = row.retention.as_ref();
        match self {
            HomeColumn::Program => text(Some(row.program)),
            HomeColumn::Sessions => Cell::Number(row.sessions),
            HomeColumn::Bytes => Cell::Bytes(Some(row.bytes)),
            HomeColumn::Newest => Cell::Time(row.newest.and_then(rfc3339)),
            HomeColumn::Retention => match retention.map(Retention::shown) {
                None if is_terminal => text(Some("all")),
                shown => text(shown.as_deref()),
            },
            HomeColumn::Root => text(Some(&row.root)),
            HomeColumn::Readable => text(Some(if row.reason.is_none() { "yes" } else { "no" })),
            HomeColumn::Reason => text(row.reason.as_deref()),
            HomeColumn::Empty => number(row.empty),
            HomeColumn::Subagents => number(row.subagents),
            HomeColumn::Orphans => number(row.orphans),
            HomeColumn::Oldest => Cell::Time(row.oldest.and_then(rfc3339)),
            HomeColumn::Running => number(row.running),
            HomeColumn::Setting => text(retention.map(|own| own.setting)),
            HomeColumn::Value => text(retention.and_then(|own| own.value.as_deref())),
            HomeColumn::By => text(retention.map(|own| own.by)),
            HomeColumn::Due => number(row.due_within(WEEK)),
            HomeColumn::Overdue => number(row.overdue()),
        }
    }
}
