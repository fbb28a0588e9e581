//! Names of sessions in homes, and their resolution.

use super::{
    HomeSession, all, archived, clock, home_file, is_database, listings, of_row, own_name, rows, unread_path,
};
use crate::context::Context;
use crate::errors::named;
use crate::input::quiet;
use crate::output::path_name;
use crate::programs::database::{self, DatabaseRow};
use convo::error::{Error, ErrorKind, Result};
use convo::home::{
    FileKind, Home, HomeFiles, HomeProgram, Name, RunningMarkers, RunningSign, SelectedId, Transcript,
};
use std::collections::HashSet;
use std::path::PathBuf;

/// Maximum number of names in a hint.
const NAMED: usize = 10;

pub struct SelectedSession {
    pub path: PathBuf,
    /// Its id, if the path is a database.
    pub row: Option<String>,
    /// The reason to consider it running.
    pub mark: Option<RunningSign>,
    /// Whether this is the copy in the archive, because its program deleted the session.
    pub is_archived: bool,
}

/// A session that a name may select.
struct NameCandidate {
    home: usize,
    /// The name without the program.
    name: String,
    transcript: Transcript,
    /// Its position among the sessions of its file, from 1, and their number.
    place: (usize, usize),
    project: Option<String>,
    updated: i64,
}

/// Resolves the name of a session in a home; `None` if the text is not such a name.
///
/// # Errors
/// [`ErrorKind::NotFound`] for no session or several, with candidates; [`ErrorKind::Data`] if its format cannot be read.
pub fn resolve(context: &Context, text: &str) -> Result<Option<SelectedSession>> {
    let read = Name::read(text).map_err(|error| named(error, text))?;
    let Some(name) = read else { return Ok(None) };
    if !name.is_home
        && context
            .store()
            .is_ok_and(|store| matches!(store.exactly(text), Ok(Some(_))))
    {
        return Ok(None);
    }
    let mut homes = all();
    homes.retain(|home| name.is_of(home.program));
    let unread = homes
        .iter()
        .filter_map(|home| Some((home.root.clone(), home.problem.clone()?)));
    let mut unread: Vec<(PathBuf, String)> = unread.collect();
    homes.retain(|home| home.problem.is_none());
    let found = candidates(context, &homes, &name.wanted, &mut unread)?;
    let is_below = |one: &&NameCandidate| one.transcript.parent.is_some();
    let below = found
        .iter()
        .filter(is_below)
        .map(|one| (one.home, one.transcript.clone()));
    let subagents: Vec<(usize, Transcript)> = below.collect();
    if let (SelectedId::Last | SelectedId::LastOf(_), Some((path, why))) = (&name.wanted, unread.first()) {
        // The newest session may be in the unreadable directory.
        return Err(unread_path(path, why));
    }
    let chosen = choose(&homes, found, &name.wanted);
    let is_missing = matches!(&chosen, Err(error) if error.hint.is_none()) && unread.is_empty();
    if is_missing && let Some(path) = archived::copy(context, text) {
        let what = "deleted by its program; read from the archive";
        context.output.notice(text, what);
        return Ok(Some(SelectedSession {
            path,
            row: None,
            mark: None,
            is_archived: true,
        }));
    }
    let found = chosen.map_err(|error| {
        let is_unread = |home: &Home| home.files().transcripts.iter().any(is_database);
        if error.hint.is_none() && !database::is_supported() && homes.iter().any(is_unread) {
            return named(database::unsupported(), text);
        }
        if let Some((path, why)) = unread.first() {
            // The session may be in the unreadable file.
            return unread_path(path, why);
        }
        let error = match (error.hint.is_some(), name.program) {
            (true, _) => error,
            (_, program) => error.hint(list_hint(program)),
        };
        named(error, text)
    })?;
    let home = &homes[found.home];
    let path = path_name(&found.transcript.path);
    if home.program.format.is_none() && !found.transcript.is_in_database {
        let error = Error::data(format!("sessions of {} are not supported", home.program.name));
        return Err(named(error.hint(format!("its file is: {path}")), text));
    }
    if found.place.1 > 1 {
        let error = Error::usage(format!("one of {} sessions in one file", found.place.1));
        let hint = format!("select it with: --session {} {path}", found.place.0);
        return Err(named(error.hint(hint), text));
    }
    let running = RunningMarkers::of(home, clock(context));
    let id = found.transcript.id.clone().unwrap_or_default();
    let is_file = !found.transcript.is_in_database;
    let project = found.project.clone().or_else(|| {
        is_file
            .then(|| home_file::project(&found.transcript.path))
            .flatten()
    });
    let subagents = subagents.iter().filter(|(home, _)| *home == found.home);
    let subagents = subagents.map(|(_, transcript)| transcript);
    Ok(Some(SelectedSession {
        mark: running.mark_with_subagents(&found.transcript, &id, project.as_deref(), subagents),
        path: found.transcript.path,
        row: found.transcript.is_in_database.then_some(id),
        is_archived: false,
    }))
}

/// Returns the file of the session with exactly this id.
pub fn path_of(context: &Context, program: &HomeProgram, id: &str) -> Result<Option<PathBuf>> {
    let mut homes = all();
    homes.retain(|home| home.program.name == program.name && home.problem.is_none());
    let found = candidates(context, &homes, &SelectedId::Id(id.to_string()), &mut Vec::new())?;
    let one = found.into_iter().find(|one| one.name == id);
    Ok(one.map(|one| one.transcript.path))
}

fn list_hint(program: Option<&HomeProgram>) -> String {
    match program {
        Some(program) => format!(
            "list sessions with: convo list --agents --program {}",
            program.name
        ),
        None => "list sessions with: convo list --agents".to_string(),
    }
}

/// Returns the sessions that a name may select. Reads files only if their paths are not sufficient.
fn candidates(
    context: &Context,
    homes: &[Home],
    wanted: &SelectedId,
    unread: &mut Vec<(PathBuf, String)>,
) -> Result<Vec<NameCandidate>> {
    let mut found = Vec::new();
    for (nth, home) in homes.iter().enumerate() {
        let HomeFiles {
            transcripts: files,
            problems,
        } = home.files();
        unread.extend(problems);
        let (databases, files): (Vec<_>, Vec<_>) = files.into_iter().partition(is_database);
        let mut known = HashSet::new();
        for file in databases.iter().filter(|_| database::is_supported()) {
            for row in rows(file)? {
                known.insert(own_name(&row.id, row.parent.as_deref()));
                found.push(NameCandidate::of_row(nth, file, row));
            }
        }
        let first = found.len();
        if files.iter().all(|file| file.id.is_some()) && !matches!(wanted, SelectedId::LastOf(_)) {
            found.extend(files.into_iter().map(|transcript| NameCandidate {
                home: nth,
                name: own_name(
                    transcript.id.as_deref().unwrap_or_default(),
                    transcript.parent.as_deref(),
                ),
                place: (1, 1),
                project: None,
                updated: super::seconds(transcript.modified),
                transcript,
            }));
            drop_known(&mut found, first, &known);
            continue;
        }
        let read = listings(context, vec![home.clone()], false).map_err(|error| {
            error
                .downcast::<Error>()
                .unwrap_or_else(|error| Error::new(ErrorKind::InputOutput, error.to_string()))
        })?;
        let sessions: Vec<HomeSession> = read.into_iter().flat_map(|listing| listing.sessions).collect();
        // Sessions of the same file are adjacent.
        for inside in sessions.chunk_by(|one, other| one.path() == other.path()) {
            found.extend(inside.iter().enumerate().map(|(place, session)| NameCandidate {
                home: nth,
                name: session.name_in_program(),
                place: (place + 1, inside.len()),
                project: session.project.clone(),
                updated: session.updated(),
                transcript: session.transcript.clone(),
            }));
        }
        drop_known(&mut found, first, &known);
    }
    Ok(found)
}

/// Drops the files of sessions that their program has moved to its database.
fn drop_known(found: &mut Vec<NameCandidate>, first: usize, known: &HashSet<String>) {
    let files = found.split_off(first);
    found.extend(files.into_iter().filter(|file| !known.contains(&file.name)));
}

impl NameCandidate {
    fn of_row(home: usize, database: &Transcript, row: DatabaseRow) -> NameCandidate {
        let transcript = of_row(database, &row);
        NameCandidate {
            home,
            name: own_name(&row.id, row.parent.as_deref()),
            place: (1, 1),
            project: row.project.as_deref().map(convo::home::plain_project),
            // One without a time is not the newest.
            updated: row.updated().map_or(i64::MIN, super::seconds),
            transcript,
        }
    }
}

/// Returns the selected session.
fn choose(homes: &[Home], mut found: Vec<NameCandidate>, wanted: &SelectedId) -> Result<NameCandidate> {
    let unknown = || Error::new(ErrorKind::NotFound, "no such session");
    match wanted {
        SelectedId::Id(id) => {
            if let Some(at) = found.iter().position(|one| one.name == *id) {
                let same = found.iter().filter(|one| one.name == *id).count();
                if same == 1 {
                    return Ok(found.swap_remove(at));
                }
            }
            // The id of a session, which may be deleted, does not select its subagents.
            let is_meant = |one: &NameCandidate| {
                let parent = one.transcript.parent.as_deref().unwrap_or_default();
                one.name.starts_with(id.as_str()) && (parent.is_empty() || id.len() > parent.len())
            };
            found.retain(is_meant);
        }
        SelectedId::Last | SelectedId::LastOf(_) => {
            found.retain(|one| one.transcript.kind != FileKind::Subagent);
            if let SelectedId::LastOf(project) = wanted {
                let project = absolute(project);
                found.retain(|one| {
                    let below = one
                        .project
                        .as_deref()
                        .and_then(|own| own.strip_prefix(project.trim_end_matches('/')));
                    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
                });
            }
            found.sort_by_key(|one| one.updated);
            // A file that its program has just created, or that a crash emptied, has no session.
            let is_blank = |file: &Transcript| !file.is_in_database && quiet::is_blank_file(&file.path);
            let mut newest = found.into_iter().rev();
            return newest.find(|one| !is_blank(&one.transcript)).ok_or_else(unknown);
        }
    }
    if found.len() > 1 {
        found.sort_by_key(|one| std::cmp::Reverse(one.updated));
        let own = |one: &NameCandidate| format!("{}:{}", homes[one.home].program.name, one.name);
        // The same session in two files has one name.
        let name = |one: &NameCandidate| match found.iter().filter(|other| own(other) == own(one)).count() {
            1 => own(one),
            _ => path_name(&one.transcript.path),
        };
        let names: Vec<String> = found.iter().take(NAMED).map(name).collect();
        let more = if found.len() > NAMED { ", ..." } else { "" };
        let error = Error::new(
            ErrorKind::NotFound,
            format!("ambiguous: {} sessions", found.len()),
        );
        return Err(error.hint(format!("choose one of: {}{more}", names.join(", "))));
    }
    found.pop().ok_or_else(unknown)
}

/// Returns the absolute path of `.` or a relative directory; text if the directory does not exist.
fn absolute(directory: &str) -> String {
    let found = std::fs::canonicalize(directory).or_else(|_| std::path::absolute(directory));
    let path = found.map_or_else(|_| directory.to_string(), |path| path_name(&path));
    match path.trim_end_matches('/') {
        "" => "/".to_string(),
        path => path.to_string(),
    }
}

/// Returns the completions of a word, with the newest sessions of each home first.
pub fn offered(word: &str, most: usize) -> Vec<String> {
    let mut names = Vec::new();
    let fits = |home: &Home| {
        let name = home.program.name;
        name.starts_with(word) || word.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
    };
    for home in all()
        .into_iter()
        .filter(fits)
        .filter(|home| home.problem.is_none())
    {
        let (databases, files): (Vec<_>, Vec<_>) =
            home.files().transcripts.into_iter().partition(is_database);
        let is_own = |file: &Transcript| matches!(file.kind, FileKind::Session | FileKind::Archived);
        let read = files
            .into_iter()
            .filter(|file| home.program.format.is_some() && is_own(file));
        let mut found: Vec<_> = read.map(|file| (file.modified, file.id)).collect();
        for file in databases.iter().filter(|_| database::is_supported()) {
            let rows = rows(file).unwrap_or_default().into_iter();
            let rows = rows.map(|row| of_row(file, &row)).filter(is_own);
            found.extend(rows.map(|row| (row.modified, row.id)));
        }
        found.sort_by_key(|(modified, _)| std::cmp::Reverse(*modified));
        let program = home.program.name;
        names.extend((!found.is_empty()).then(|| format!("{program}:@last")));
        let mut seen = HashSet::new();
        let ids = found
            .into_iter()
            .filter_map(|(_, id)| id)
            .filter(|id| seen.insert(id.clone()));
        names.extend(ids.take(most).map(|id| format!("{program}:{id}")));
    }
    names
}
