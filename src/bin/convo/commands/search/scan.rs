//! Searches one file or log; does not decode data that cannot match.

use super::hits::{Matched, Scanned};
use super::sources::{SearchSource, SourceLocation};
use crate::args::{SessionScope, of_format};
use crate::errors::named;
use crate::homes::{digits, own_name};
use crate::input::quiet;
use crate::programs::database::{self, DatabaseRow};
use convo::error::{ErrorKind, Result};
use convo::filter::overview::Overview;
use convo::format::Format;
use convo::format::report::Report;
use convo::model::session::Session;
use convo::model::time;
use convo::search::{FoundText, Prefilter, Query, find};
use convo::store::Store;

/// A search of many sources by several threads.
pub struct SearchScan<'s> {
    pub query: &'s Query,
    pub scope: &'s SessionScope,
    pub store: Option<&'s Store>,
    /// Maximum number of matching lines per source.
    pub most: usize,
    /// Whether to report damage in files of homes too.
    pub strict: bool,
    /// Current time in seconds since 1970.
    pub now: Option<i64>,
}

/// Gets each session of a source, with its row if the source is a database; returns whether to continue.
type SessionVisitor<'e> = &'e mut dyn FnMut(Format, Session, Option<&DatabaseRow>) -> bool;

impl SearchScan<'_> {
    /// Returns the hits in a source.
    pub fn source(&self, source: &SearchSource) -> Scanned {
        let mut scanned = Scanned::default();
        let mut report = Report::default();
        let mut left = self.most;
        let mut each = |format, session, row: Option<&DatabaseRow>| {
            if row.is_some() {
                left = self.most;
            }
            if let Some(matched) = self.session(source, format, &session, row, left) {
                left -= matched
                    .found
                    .iter()
                    .map(|found| found.count())
                    .sum::<usize>()
                    .min(left);
                scanned.matched.push(matched);
            }
            left > 0 || row.is_some()
        };
        let read = self.each(
            source,
            Some(self.query.pattern.prefilter()),
            &mut report,
            &mut each,
        );
        // The last line of a file in a home may be truncated because its program is writing it.
        let is_home = source.home.is_some() && !self.strict;
        scanned.damaged = report
            .findings
            .iter()
            .filter(|finding| finding.damage && !is_home)
            .count() as u64;
        scanned.error = read.err().map(|error| named(error, &source.label));
        scanned
    }

    /// Calls `each` for every session of a source, unless the prefilter excludes its bytes.
    pub fn each(
        &self,
        source: &SearchSource,
        prefilter: Option<&Prefilter>,
        report: &mut Report,
        each: SessionVisitor<'_>,
    ) -> Result<()> {
        let prefilter = prefilter.filter(|prefilter| !prefilter.is_open());
        if let SourceLocation::Database(path, id) = &source.place {
            let mut failed = None;
            let ids: Vec<&str> = id.iter().map(String::as_str).collect();
            let is_whole = database::sessions(path, &ids, &mut |row, records| {
                if prefilter.is_some_and(|prefilter| !prefilter.may_match(&records)) {
                    return true;
                }
                let mut is_wanted = true;
                let read = quiet::bytes(records, report, &mut |format, session| {
                    is_wanted = each(format, session, Some(&row));
                    is_wanted
                });
                failed = read.err().filter(|error| error.kind != ErrorKind::Data);
                is_wanted && failed.is_none()
            });
            return is_whole.and_then(|_| failed.map_or(Ok(()), Err));
        }
        let each = &mut |format, session| each(format, session, None);
        match &source.place {
            SourceLocation::Database(..) => Ok(()),
            SourceLocation::Stored(id) => self.stored(id, prefilter, report, each),
            SourceLocation::File(path) => {
                let format = source.home.as_ref().and_then(|home| home.format);
                match prefilter {
                    Some(prefilter) => {
                        let look = |input: &mut dyn std::io::Read| prefilter.may_match_rest(input);
                        quiet::sessions(path, format, Some(&look), report, each).map(drop)
                    }
                    None => quiet::sessions(path, format, None, report, each).map(drop),
                }
            }
            SourceLocation::Bytes(bytes) => quiet::bytes(bytes.clone(), report, each),
        }
    }

    /// Loads a session of the store, unless none of its records can match.
    fn stored(
        &self,
        id: &str,
        prefilter: Option<&Prefilter>,
        report: &mut Report,
        each: &mut dyn FnMut(Format, Session) -> bool,
    ) -> Result<()> {
        let Some(store) = self.store else { return Ok(()) };
        if let Some(prefilter) = prefilter {
            let mut reader = store.reader(id)?;
            let mut unused = Report::default();
            loop {
                match convo::format::Reader::next(&mut reader, &mut unused)? {
                    Some(record) if prefilter.may_match(record.full) => break,
                    Some(_) => {}
                    None => return Ok(()),
                }
            }
        }
        each(Format::Native, store.load(id, report)?);
        Ok(())
    }

    /// Returns the matching lines of a session, if it is selected.
    fn session(
        &self,
        source: &SearchSource,
        format: Format,
        session: &Session,
        row: Option<&DatabaseRow>,
        most: usize,
    ) -> Option<Matched> {
        let found = find(session, self.query, most);
        match found.is_empty() {
            true => None,
            false => self.selected(source, format, session, row, found),
        }
    }

    /// Returns a session with its hits, if it is selected.
    pub fn selected(
        &self,
        source: &SearchSource,
        format: Format,
        session: &Session,
        row: Option<&DatabaseRow>,
        found: Vec<FoundText>,
    ) -> Option<Matched> {
        let overview = Overview::of(session, false, None);
        let home = source.home.as_ref();
        let format = overview.format.as_deref().unwrap_or(format.name());
        let program = home.map_or(of_format(format), |home| home.program.name);
        let project = overview.cwd.or_else(|| home?.project.clone());
        let updated = overview.updated.as_deref().and_then(time::seconds);
        let is_selected = self.scope.has_program(Some(program))
            && self.scope.has_project(project.as_deref())
            && self.scope.has_time(updated, self.now);
        let created = overview
            .created
            .as_deref()
            .filter(|_| home.is_some_and(|home| home.has_many));
        let name = match (row.filter(|_| home.is_some()), created) {
            (Some(row), _) => Some(own_name(&row.id, row.parent.as_deref())),
            (None, created) => created.map(digits),
        };
        let resume = home.and_then(|home| {
            let id = match (row, &name) {
                (Some(row), _) => Some(&row.id).filter(|_| row.parent.is_none()),
                (None, name) => name.as_ref().or(home.id.as_ref()),
            };
            let project = project.as_deref().map(|project| match &source.place {
                SourceLocation::File(path) => home.program.project_of(path, project),
                _ => project,
            });
            home.program.resume_line(id?, project)
        });
        is_selected.then(|| Matched {
            resume,
            name: name.map(|name| format!("{program}:{name}")),
            id: overview.id,
            title: home
                .and_then(|home| home.title.clone())
                .or(overview.title.map(|title| title.text)),
            project,
            program: Some(program.to_string()),
            updated: overview.updated,
            found,
        })
    }
}
