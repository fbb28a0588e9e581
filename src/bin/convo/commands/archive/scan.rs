//! Finds the sessions to archive: those in the homes, and those that only the archive has.

use super::rows::{self, Rows};
use super::work::{ArchiveSession, HomePart};
use crate::args::SessionScope;
use crate::context::Context;
use crate::homes::{self, listings, report_unread};
use crate::programs::database;
use convo::home::{Bundle, Home, HomeProgram, PROGRAMS};
use convo::model::{threads, time};
use convo::store::copies::{Copies, directory_name};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Below this number of sessions, one thread reads all.
const FEW: usize = 64;

type SessionKey = (&'static str, String);

/// Returns the sessions of these homes and of the archive.
pub fn all(
    context: &Context,
    mut homes: Vec<Home>,
    copies: Option<&Copies>,
    scope: &SessionScope,
) -> anyhow::Result<Vec<ArchiveSession>> {
    homes.retain(|home| scope.has_program(Some(home.program.name)));
    let selected = selected(context, &homes, scope)?;
    let is_selected = |program: &str, id: Option<&str>| {
        selected.as_ref().is_none_or(|selected| {
            id.is_some_and(|id| selected.contains(&(program.to_string(), id.to_string())))
        })
    };
    let mut groups: BTreeMap<SessionKey, (Option<String>, Vec<HomePart>)> = BTreeMap::new();
    let mut unread = Vec::new();
    for home in &homes {
        let program = home.program.name;
        let fail = |path: &Path, why: &str| {
            context.output.error(&homes::unread_path(path, why));
        };
        if let Some(problem) = &home.problem {
            fail(&home.root, problem);
            continue;
        }
        let found = home.bundles();
        found.problems.iter().for_each(|(path, why)| fail(path, why));
        let is_whole = found.problems.is_empty();
        let mut rows = BTreeMap::new();
        let mut databases = Some(BTreeSet::new());
        for database in &found.databases {
            if !database::is_supported() {
                databases = None;
                unread.push((program, homes::DATABASE.to_string()));
                continue;
            }
            match homes::rows(database) {
                Ok(found) => {
                    rows::add(home, database, found, &mut rows);
                    if let Some(databases) = &mut databases {
                        databases.insert(database.path.clone());
                    }
                }
                Err(error) => {
                    databases = None;
                    context.output.error(&error);
                }
            }
        }
        // The rows of a database name the sessions of the files next to it.
        let is_whole = is_whole && databases.is_some();
        let part_in = |base: &Path, files, rows: Rows| HomePart {
            base: base.to_path_buf(),
            home: homes::short_path(base),
            files: rows
                .iter()
                .map(|(path, (piece, _))| (path.clone(), piece.clone()))
                .chain(files)
                .collect(),
            rows: rows.into_iter().map(|(path, (_, row))| (path, row)).collect(),
            lost: BTreeSet::new(),
            is_whole,
            databases: databases.clone(),
        };
        // A database elsewhere is a home of its own.
        let (base, away) = (home.base(), home.base_of_databases());
        let parts_of = |files, rows: Rows| match base == away {
            true => vec![part_in(base, files, rows)],
            false => vec![
                part_in(base, files, Rows::new()),
                part_in(away, BTreeMap::new(), rows),
            ],
        };
        let known = copies.map_or(Ok(Vec::new()), |copies| copies.names(program))?;
        let mut known: BTreeSet<String> = known.into_iter().collect();
        let mut parts = Vec::new();
        // A file next to a database has the id of its session, which may have the name of a subagent.
        let names = rows.iter().flat_map(|(name, rows)| {
            let own = rows.values().filter(|(_, row)| row.id != *name);
            own.map(|(_, row)| (row.id.clone(), name.clone()))
        });
        let names: BTreeMap<String, String> = names.collect();
        for Bundle { id, files } in found.bundles {
            let id = id.map(|id| names.get(&id).cloned().unwrap_or(id));
            let own = id.as_ref().and_then(|id| rows.remove(id)).unwrap_or_default();
            parts.push((id, parts_of(files, own)));
        }
        let others = rows.into_iter();
        parts.extend(others.map(|(id, rows)| (Some(id), parts_of(BTreeMap::new(), rows))));
        for (id, own) in parts {
            let name = directory_name(id.as_deref());
            known.remove(&name);
            if is_selected(program, id.as_deref()) {
                let group = groups.entry((program, name)).or_insert((id, Vec::new()));
                group.1.extend(own);
            }
        }
        if selected.is_none() {
            for name in known {
                let group = groups.entry((program, name)).or_default();
                group.1.extend(parts_of(BTreeMap::new(), Rows::new()));
            }
        }
    }
    if let (Some(copies), None) = (copies, &selected) {
        // Sessions of programs whose home is gone or cannot be read.
        let is_read = |program: &HomeProgram| {
            homes
                .iter()
                .any(|home| home.program.name == program.name && home.problem.is_none())
        };
        for program in PROGRAMS
            .iter()
            .filter(|program| scope.has_program(Some(program.name)) && !is_read(program))
        {
            for name in copies.names(program.name)? {
                groups.entry((program.name, name)).or_default();
            }
        }
    }
    report_unread(context, &unread, "not archived");
    let groups: Vec<_> = groups.into_iter().collect();
    let read = |((program, name), (id, parts)): &(SessionKey, (Option<String>, Vec<HomePart>))| {
        ArchiveSession::new(copies, program, name, id.clone(), parts.clone())
    };
    Ok(match groups.len() < FEW {
        true => groups.iter().map(read).collect(),
        false => threads::in_parallel(threads::cores(), &groups, read),
    })
}

/// Returns the sessions that match filters other than the program; `None` selects all.
fn selected(
    context: &Context,
    homes: &[Home],
    scope: &SessionScope,
) -> anyhow::Result<Option<BTreeSet<(String, String)>>> {
    if scope.project.is_none() && scope.since.is_none() && scope.until.is_none() {
        return Ok(None);
    }
    let now = time::seconds(&context.clock.now());
    let mut selected = BTreeSet::new();
    for listing in listings(context, homes.to_vec(), true)? {
        for session in &listing.sessions {
            let is_wanted =
                scope.has_project(session.project.as_deref()) && scope.has_time(Some(session.updated()), now);
            if is_wanted {
                let id = match session.transcript.is_in_database {
                    true => session.name_in_program(),
                    false => session.parent.clone().unwrap_or_else(|| session.id.clone()),
                };
                selected.insert((listing.home.program.name.to_string(), id));
            }
        }
    }
    Ok(Some(selected))
}
