//! The sessions to archive, and their parts to copy: scanned, copied, committed.

use super::report::{Row, Word};
use super::rows::{self, InDatabase, Rows, Stale};
use crate::args::Scope;
use crate::context::Context;
use crate::homes::{self, listings, report_unread};
use crate::parallel;
use crate::programs::database;
use convo::error::{Error, Result};
use convo::home::{Bundle, Home, Piece};
use convo::model::time;
use convo::store::copies::{Copies, Finding, Kept, Line, Outcome, Wanted, directory_name};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A session in the homes and in the archive.
pub struct Work {
    name: String,
    id: Option<String>,
    parts: Vec<Part>,
    kept: Result<Kept>,
    /// The manifest lines not yet committed, and the number of bytes copied.
    lines: Vec<Line>,
    bytes: u64,
    /// Errors of this session.
    pub errors: Vec<Error>,
}

/// The files of a session in one home.
#[derive(Clone)]
struct Part {
    /// The directory, and its name in manifests.
    base: PathBuf,
    home: PathBuf,
    files: BTreeMap<PathBuf, Piece>,
    /// The files that are records of a database.
    rows: BTreeMap<PathBuf, InDatabase>,
    /// Whether the whole home was read, so that missing files are gone.
    is_whole: bool,
    /// Whether its databases were read.
    has_rows: bool,
}

/// Below this number of sessions, one thread reads all.
const FEW: usize = 64;

type Key = (&'static str, String);

/// Returns the sessions of these homes and of the archive.
pub fn all(
    context: &Context,
    mut homes: Vec<Home>,
    copies: Option<&Copies>,
    scope: &Scope,
) -> anyhow::Result<Vec<Work>> {
    homes.retain(|home| scope.has_program(Some(home.program.name)));
    let selected = selected(context, &homes, scope)?;
    let is_selected = |program: &str, id: Option<&str>| {
        selected.as_ref().is_none_or(|selected| {
            id.is_some_and(|id| selected.contains(&(program.to_string(), id.to_string())))
        })
    };
    let mut groups: BTreeMap<Key, (Option<String>, Vec<Part>)> = BTreeMap::new();
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
        let mut has_rows = true;
        for database in &found.databases {
            if !database::is_supported() {
                has_rows = false;
                unread.push((program, homes::DATABASE.to_string()));
                continue;
            }
            match homes::rows(database) {
                Ok(found) => rows::add(home, database, found, &mut rows),
                Err(error) => {
                    has_rows = false;
                    context.output.error(&error);
                }
            }
        }
        let part = |files, rows: Rows| Part {
            base: home.base().to_path_buf(),
            home: homes::short_path(home.base()),
            files: rows
                .iter()
                .map(|(path, (piece, _))| (path.clone(), piece.clone()))
                .chain(files)
                .collect(),
            rows: rows.into_iter().map(|(path, (_, row))| (path, row)).collect(),
            is_whole,
            has_rows,
        };
        let mut known = copies.map_or(Ok(Vec::new()), |copies| copies.names(program))?;
        let mut parts = Vec::new();
        for Bundle { id, files } in found.bundles {
            let own = id.as_ref().and_then(|id| rows.remove(id)).unwrap_or_default();
            parts.push((id, part(files, own)));
        }
        let others = rows.into_iter();
        parts.extend(others.map(|(id, rows)| (Some(id), part(BTreeMap::new(), rows))));
        for (id, part) in parts {
            let name = directory_name(id.as_deref());
            known.retain(|known| *known != name);
            if is_selected(program, id.as_deref()) {
                let group = groups.entry((program, name)).or_insert((id, Vec::new()));
                group.1.push(part);
            }
        }
        if selected.is_none() {
            for name in known {
                let group = groups.entry((program, name)).or_default();
                group.1.push(part(BTreeMap::new(), Rows::new()));
            }
        }
    }
    report_unread(context, &unread, "not archived");
    let groups: Vec<_> = groups.into_iter().collect();
    let mut work = Vec::with_capacity(groups.len());
    let read = |((program, name), (id, parts)): &(Key, (Option<String>, Vec<Part>))| {
        Work::new(copies, program, name, id.clone(), parts.clone())
    };
    match groups.len() < FEW {
        true => work.extend(groups.iter().map(read)),
        false => parallel::each_result(&groups, true, read, |_, one| {
            work.push(one);
            Ok(())
        })?,
    }
    Ok(work)
}

/// Returns the sessions that match filters other than the program; `None` selects all.
fn selected(
    context: &Context,
    homes: &[Home],
    scope: &Scope,
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
                    true => session.own_name(),
                    false => session.parent.clone().unwrap_or_else(|| session.id.clone()),
                };
                selected.insert((listing.home.program.name.to_string(), id));
            }
        }
    }
    Ok(Some(selected))
}

impl Work {
    fn new(
        copies: Option<&Copies>,
        program: &str,
        directory: &str,
        id: Option<String>,
        parts: Vec<Part>,
    ) -> Work {
        let kept = match copies {
            Some(copies) => copies.kept(program, directory),
            None => Ok(Kept::default()),
        };
        let id = id.or_else(|| kept.as_ref().ok()?.session.clone());
        Work {
            name: homes::kept_name(program, id.as_deref()),
            id,
            parts,
            kept,
            lines: Vec::new(),
            bytes: 0,
            errors: Vec::new(),
        }
    }

    /// Returns the database sessions that changed since they were copied.
    pub fn stale(&self) -> Vec<Stale<'_>> {
        let Ok(kept) = &self.kept else { return Vec::new() };
        let rows = self.parts.iter().flat_map(|part| {
            let is_stale = |(path, row): &(&PathBuf, &InDatabase)| !is_same_row(kept, part, path, row);
            part.rows.iter().filter(is_stale)
        });
        rows.map(|(_, row)| Stale {
            database: &row.database,
            id: &row.id,
        })
        .collect()
    }

    /// Copies the records of a database session without committing them; `scratch` is a directory for a temporary file.
    pub fn take_row(
        &mut self,
        copies: &Copies,
        at: &str,
        row: &database::Row,
        records: &[u8],
        scratch: &Path,
    ) {
        let Ok(kept) = &mut self.kept else { return };
        kept.session.clone_from(&self.id);
        for part in &self.parts {
            for path in part
                .rows
                .iter()
                .filter(|(_, own)| own.id == row.id)
                .map(|(path, _)| path)
            {
                let file = scratch.join(path);
                let written = file
                    .parent()
                    .map_or(Ok(()), std::fs::create_dir_all)
                    .and_then(|()| std::fs::write(&file, records));
                let wanted = Wanted {
                    base: scratch,
                    home: &part.home,
                    path,
                    kind: "transcript",
                    row: Some(&row.state()),
                };
                let taken = match written {
                    Ok(()) => copies.take(kept, wanted, at),
                    Err(error) => Err(database::temporary(error)),
                };
                let _ = std::fs::remove_file(&file); // its directory is removed at the end
                match taken {
                    Ok(line) => {
                        self.bytes += line.as_ref().map_or(0, |line| copied(kept, line));
                        self.lines.extend(line);
                    }
                    Err(error) => self.errors.push(error),
                }
            }
        }
    }

    /// Copies new and changed files without committing them.
    pub fn take(&mut self, copies: &Copies, at: &str) {
        let Ok(kept) = &mut self.kept else { return };
        kept.session.clone_from(&self.id);
        copies.clean_up(kept);
        for part in &self.parts {
            for (path, piece) in &part.files {
                if part.rows.contains_key(path) || is_same(kept, part, path, piece) {
                    continue;
                }
                let wanted = Wanted {
                    base: &part.base,
                    home: &part.home,
                    path,
                    kind: piece.kind,
                    row: None,
                };
                match copies.take(kept, wanted, at) {
                    Ok(Some(line)) => {
                        self.bytes += copied(kept, &line);
                        self.lines.push(line);
                    }
                    Ok(None) => {}
                    Err(error) => self.errors.push(error),
                }
            }
            for line in gone(kept, part) {
                self.lines.push(Line {
                    at: at.to_string(),
                    outcome: Outcome::Gone,
                    modified: None,
                    ..line
                });
            }
        }
    }

    /// Returns the report of a dry run, based on sizes and times only.
    pub fn planned(mut self) -> Row {
        let mut word = Word::Of(Outcome::Same);
        if let Ok(kept) = &self.kept {
            for part in &self.parts {
                for (path, piece) in &part.files {
                    let next = match kept.of(&part.home, path) {
                        _ if is_same(kept, part, path, piece) => Outcome::Same,
                        None => Outcome::New,
                        Some(known) if piece.bytes > known.bytes => Outcome::Grown,
                        Some(_) => Outcome::Diverged,
                    };
                    let known = kept.of(&part.home, path).map_or(0, |known| known.bytes);
                    self.bytes += match next {
                        Outcome::Same => 0,
                        Outcome::Grown => piece.bytes - known,
                        _ => piece.bytes,
                    };
                    word = word.max(Word::Of(next));
                }
                if !gone(kept, part).is_empty() {
                    word = word.max(Word::Of(Outcome::Gone));
                }
            }
        }
        self.row(word)
    }

    /// Returns the number of copied files.
    pub fn files(&self) -> usize {
        self.lines.len()
    }

    /// Returns the lines to commit.
    pub fn change(&self) -> Option<(&Kept, &[Line])> {
        let kept = self.kept.as_ref().ok()?;
        (!self.lines.is_empty()).then_some((kept, self.lines.as_slice()))
    }

    /// Returns the row of a session after its commit.
    pub fn done(mut self, committed: Result<()>) -> Row {
        let mut word = Word::Of(Outcome::Same);
        match committed {
            Ok(()) => {
                for line in &self.lines {
                    word = word.max(Word::Of(line.outcome));
                }
            }
            Err(error) => {
                self.bytes = 0;
                self.errors.push(error);
            }
        }
        self.row(word)
    }

    /// Compares the copies with their checksums and with the homes.
    pub fn verify(&self, copies: &Copies) -> Row {
        let mut row = Row::new(&self.name, Word::Of(Outcome::Same));
        let kept = match &self.kept {
            Ok(kept) => kept,
            Err(error) => return row.failed(error),
        };
        let homes: Vec<(&Path, &Path)> = self
            .parts
            .iter()
            .map(|part| (part.home.as_path(), part.base.as_path()))
            .collect();
        let found = match copies.verify(kept, &homes) {
            Ok(found) => found,
            Err(error) => return row.failed(&error),
        };
        for (line, finding) in found {
            let what = match finding {
                Finding::Damaged => "damaged",
                Finding::Differs => "differs",
            };
            row.find(what, &line.home.join(&line.path));
        }
        for part in &self.parts {
            for (path, own) in &part.rows {
                if kept.of(&part.home, path).is_some() && !is_same_row(kept, part, path, own) {
                    row.find("differs", &part.home.join(path));
                }
            }
            for path in part
                .files
                .keys()
                .filter(|path| kept.of(&part.home, path).is_none())
            {
                row.find("missing", &part.home.join(path));
            }
        }
        row
    }

    fn row(self, word: Word) -> Row {
        let mut row = Row::new(&self.name, word);
        row.bytes = self.bytes;
        if let Err(error) = self.kept {
            return row.failed(&error);
        }
        for error in self.errors {
            row = row.failed(&error);
        }
        row
    }
}

/// Whether a file is unchanged since it was copied.
fn is_same(kept: &Kept, part: &Part, path: &Path, piece: &Piece) -> bool {
    if let Some(row) = part.rows.get(path) {
        return is_same_row(kept, part, path, row);
    }
    kept.of(&part.home, path)
        .is_some_and(|known| known.bytes == piece.bytes && known.modified == Some(piece.modified))
}

/// Whether a database session is unchanged since it was copied.
fn is_same_row(kept: &Kept, part: &Part, path: &Path, row: &InDatabase) -> bool {
    kept.of(&part.home, path)
        .is_some_and(|known| known.outcome != Outcome::Gone && known.row.as_ref() == Some(&row.state))
}

/// Returns lines for the files that are no longer in a home.
fn gone(kept: &Kept, part: &Part) -> Vec<Line> {
    let is_gone = |line: &&&Line| {
        part.is_whole
            && (part.has_rows || line.row.is_none())
            && line.home == part.home
            && line.outcome != Outcome::Gone
            && !part.files.contains_key(&line.path)
    };
    let latest = kept.latest();
    latest
        .iter()
        .filter(is_gone)
        .map(|line| (*line).clone())
        .collect()
}

/// Returns the number of bytes copied for a line.
fn copied(kept: &Kept, line: &Line) -> u64 {
    match (line.outcome, line.replaces, kept.of(&line.home, &line.path)) {
        (Outcome::Same | Outcome::Gone, ..) => 0,
        (Outcome::Grown, None, Some(known)) => line.bytes.saturating_sub(known.bytes),
        _ => line.bytes,
    }
}
