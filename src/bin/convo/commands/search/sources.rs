//! Finds the sources of a search: logs of the store, files, directories, standard input.

use crate::args::{ALL, InputLocation, SessionScope};
use crate::context::Context;
use crate::errors::named;
use crate::homes::{self, archived::Deleted};
use crate::input::file_discovery::{self, Follow};
use crate::input::input_source::{stdin, with_path_hint};
use crate::input::open::refuse_terminal;
use crate::input::operands;
use crate::output::path_name;
use crate::programs::database::DatabaseRow;
use convo::error::{Error, ErrorKind};
use convo::format::Format;
use convo::home::{FileKind, Home, HomeIndex, HomeProgram};
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A log or file.
pub struct SearchSource {
    /// The name that other commands accept.
    pub name: String,
    /// The name in error messages.
    pub label: String,
    pub place: SourceLocation,
    pub modified: Option<SystemTime>,
    /// Whether it was found in a directory, and thus may not be a session.
    pub is_found: bool,
    /// Set for a file in a home.
    pub home: Option<HomeEntry>,
}

/// The entry of a file in its home.
pub struct HomeEntry {
    pub program: &'static HomeProgram,
    /// The id by which the program resumes it; `None` for a subagent, a copy in the archive, or several sessions.
    pub id: Option<String>,
    /// Its format; `None` if it is detected.
    pub format: Option<Format>,
    pub title: Option<String>,
    pub project: Option<String>,
    /// Whether the file contains many sessions, which are named by their times.
    pub has_many: bool,
    /// The names of the sessions in a database, without the program.
    pub rows: Vec<String>,
}

/// The location of the data.
pub enum SourceLocation {
    Stored(String),
    File(PathBuf),
    Bytes(Vec<u8>),
    /// A database, and the session to search; `None` searches all.
    Database(PathBuf, Option<String>),
}

impl SourceLocation {
    /// Whether both are files with different paths.
    fn differs(&self, other: &SourceLocation) -> bool {
        matches!((self, other), (SourceLocation::File(one), SourceLocation::File(other)) if one != other)
    }
}

impl SearchSource {
    /// Reports an error of reading it, unless it only means that a file in a directory is not a session.
    pub fn report(&self, context: &Context, error: &Error, strict: bool) {
        let is_damage = match &self.place {
            SourceLocation::File(path) => self.home.is_some() && homes::is_compressed(path),
            _ => false,
        };
        match self.is_found && error.kind == ErrorKind::Data {
            true if is_damage && !strict => context.output.notice(&self.label, &error.message),
            true if !is_damage => context.output.detail(&self.label, "no session"),
            _ => context.output.error(error),
        }
    }

    /// Returns the names of its sessions.
    fn names(&self) -> Vec<String> {
        match (&self.place, &self.home) {
            (SourceLocation::Database(..), Some(home)) => {
                let program = home.program.name;
                home.rows.iter().map(|row| format!("{program}:{row}")).collect()
            }
            _ => vec![self.name.clone()],
        }
    }

    /// Returns the path of a file.
    pub fn path(&self) -> Option<String> {
        match &self.place {
            SourceLocation::File(path) | SourceLocation::Database(path, _) => Some(path_name(path)),
            _ => None,
        }
    }

    fn file(path: PathBuf, is_found: bool) -> SearchSource {
        SearchSource {
            name: path_name(&path),
            label: path_name(&path),
            modified: std::fs::metadata(&path).and_then(|about| about.modified()).ok(),
            place: SourceLocation::File(path),
            is_found,
            home: None,
        }
    }

    fn stored(id: String, modified: Option<SystemTime>) -> SearchSource {
        SearchSource {
            name: id.clone(),
            label: id.clone(),
            modified,
            place: SourceLocation::Stored(id),
            is_found: false,
            home: None,
        }
    }
}

/// Returns the sources of the operands, or of every home and the store without operands; newest first.
pub fn of(context: &Context, operands: &[String], scope: &SessionScope) -> anyhow::Result<Vec<SearchSource>> {
    let mut sources = Vec::new();
    if operands.is_empty() {
        everything(context, scope, &mut sources)?;
    }
    for operand in operands {
        let done = add(context, operand, &mut sources);
        crate::input::report_and_continue(context, done, operands.len())?;
    }
    // A file may have several names, but one label.
    sources.sort_by(|one, other| (other.modified, &one.label).cmp(&(one.modified, &other.label)));
    // Names that are not UTF-8 may be shown alike.
    sources.dedup_by(|one, other| one.label == other.label && !one.place.differs(&other.place));
    Ok(sources)
}

/// Adds the sessions of all homes, those that are only in the archive, and those of the store that are not in a home.
fn everything(
    context: &Context,
    scope: &SessionScope,
    sources: &mut Vec<SearchSource>,
) -> anyhow::Result<()> {
    let found = homes::all();
    let is_none = found.is_empty();
    if is_none {
        context.require_store()?;
    }
    let mut unread = Vec::new();
    for home in found {
        if scope.has_program(Some(home.program.name)) {
            let why = in_home(context, &home, sources);
            unread.extend(why.map(|why| (home.program.name, why)));
        }
    }
    homes::report_unread(context, &unread, "not searched");
    let names: HashSet<String> = sources.iter().flat_map(SearchSource::names).collect();
    for Deleted {
        program,
        name,
        line,
        path,
    } in homes::archived::deleted(context, &names)?
    {
        if scope.has_program(Some(program.name)) {
            sources.push(SearchSource {
                name: format!("{}:{name}", program.name),
                is_found: true,
                home: Some(HomeEntry {
                    program,
                    id: None,
                    // The archived copy of a database session is a record stream.
                    format: program.format_of(&path).filter(|_| line.row.is_none()),
                    title: None,
                    project: None,
                    has_many: false,
                    rows: Vec::new(),
                }),
                ..SearchSource::file(path, true)
            });
        }
    }
    let ids: HashSet<&str> = names
        .iter()
        .filter_map(|name| Some(name.split_once(':')?.1))
        .collect();
    match store(context, sources) {
        // The store is optional if there are homes.
        Err(error) if !is_none && (is_missing(&error) || !context.names_store()) => {}
        done => done?,
    }
    sources.retain(|source| source.home.is_some() || !ids.contains(source.name.as_str()));
    Ok(())
}

fn is_missing(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<Error>()
        .is_some_and(|error| error.kind == ErrorKind::NotFound)
}

/// Adds the sessions of a home; returns the reason if some of them are not searched.
fn in_home(context: &Context, home: &Home, sources: &mut Vec<SearchSource>) -> Option<String> {
    let failed = |path: &Path, why: &str| {
        context.output.error(&homes::unread_path(path, why));
    };
    if let Some(problem) = &home.problem {
        failed(&home.root, problem);
        return None;
    }
    let program = home.program;
    let files = home.files();
    let why = homes::unread(home, &files.transcripts);
    files.problems.iter().for_each(|(path, why)| failed(path, why));
    let index = HomeIndex::of(home);
    let (databases, files): (Vec<_>, Vec<_>) = files.transcripts.into_iter().partition(homes::is_database);
    let first = sources.len();
    for file in databases.iter().filter(|_| why.is_none()) {
        match homes::rows(file) {
            Ok(rows) => sources.push(SearchSource {
                modified: rows
                    .iter()
                    .filter_map(DatabaseRow::updated)
                    .max()
                    .or(Some(file.modified)),
                is_found: true,
                home: Some(HomeEntry {
                    program,
                    id: None,
                    format: None,
                    title: None,
                    project: None,
                    has_many: false,
                    rows: rows
                        .iter()
                        .map(|row| homes::own_name(&row.id, row.parent.as_deref()))
                        .collect(),
                }),
                place: SourceLocation::Database(file.path.clone(), None),
                ..SearchSource::file(file.path.clone(), true)
            }),
            Err(error) => context.output.error(&error),
        }
    }
    let moved: HashSet<String> = sources[first..].iter().flat_map(SearchSource::names).collect();
    for file in files {
        if program.format.is_none() {
            continue;
        }
        let id = file.id.clone().unwrap_or_default();
        let name = homes::own_name(&id, file.parent.as_deref());
        let name = format!("{}:{name}", program.name);
        if moved.contains(&name) {
            continue;
        }
        sources.push(SearchSource {
            name,
            label: path_name(&file.path),
            modified: Some(file.modified),
            is_found: true,
            home: Some(HomeEntry {
                program,
                format: program.format_of(&file.path),
                title: index.title(&id).map(str::to_string),
                project: index.project(home, &file.path, &id, &Vec::new),
                has_many: file.id.is_none(),
                id: file.id.filter(|_| file.kind != FileKind::Subagent),
                rows: Vec::new(),
            }),
            place: SourceLocation::File(file.path),
        });
    }
    why
}

fn store(context: &Context, sources: &mut Vec<SearchSource>) -> anyhow::Result<()> {
    for entry in context.store()?.ids()? {
        sources.push(SearchSource::stored(entry.id, Some(entry.modified)));
    }
    Ok(())
}

fn add(context: &Context, operand: &str, sources: &mut Vec<SearchSource>) -> anyhow::Result<()> {
    match operands::input(context, operand)? {
        InputLocation::Name(name) if name == ALL => store(context, sources)?,
        InputLocation::Name(name) => {
            let id = context.store().and_then(|store| store.resolve(&name));
            let id = id.map_err(|error| named(with_dir(error, &name), &name))?;
            sources.push(SearchSource::stored(id, None));
        }
        InputLocation::Row(name, path, id) => sources.push(SearchSource {
            name,
            place: SourceLocation::Database(path.clone(), Some(id)),
            ..SearchSource::file(path, false)
        }),
        InputLocation::Path(path) if path.is_dir() => directory(context, &path, sources)?,
        // A session that was selected by its name keeps this name.
        InputLocation::Path(path) if path != Path::new(operand) => sources.push(SearchSource {
            name: operand.to_string(),
            ..SearchSource::file(path, false)
        }),
        InputLocation::Path(path) => sources.push(SearchSource::file(path, false)),
        InputLocation::Stdin => {
            refuse_terminal()?;
            let mut bytes = Vec::new();
            stdin()
                .read_to_end(&mut bytes)
                .map_err(|error| named(Error::io("cannot read", error), "-"))?;
            sources.push(SearchSource {
                name: "-".to_string(),
                label: "-".to_string(),
                place: SourceLocation::Bytes(bytes),
                modified: None,
                is_found: false,
                home: None,
            });
        }
    }
    Ok(())
}

/// Adds a hint to the error for an unknown name if a directory or file has this name.
fn with_dir(error: Error, name: &str) -> Error {
    match error.kind == ErrorKind::NotFound && Path::new(name).is_dir() {
        true => error.hint(format!("search the directory of this name with: ./{name}")),
        false => with_path_hint(error, name),
    }
}

/// Adds the files of a directory and its subdirectories.
fn directory(context: &Context, path: &Path, sources: &mut Vec<SearchSource>) -> anyhow::Result<()> {
    let files =
        file_discovery::files(path, true, Follow::Files).map_err(|error| named(error, &path_name(path)))?;
    for (file, why) in &files.skipped {
        context.output.notice(&path_name(file), why);
    }
    sources.extend(
        files
            .sessions
            .into_iter()
            .map(|file| SearchSource::file(file, true)),
    );
    Ok(())
}
