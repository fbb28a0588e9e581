//! The sessions to archive, and their parts to copy: copied, committed.

use super::report::{ArchiveRow, SessionOutcome};
use super::rows::{DatabaseSession, Stale};
use crate::errors::named;
use crate::homes;
use crate::output::path_name;
use crate::programs::database;
use convo::error::{Error, Result};
use convo::home::BundleFile;
use convo::store::copies::{ArchivedSession, Copies, CopyOutcome, CopyProblem, ManifestLine, WantedFile};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// A session in the homes and in the archive.
pub struct ArchiveSession {
    name: String,
    id: Option<String>,
    parts: Vec<HomePart>,
    kept: Result<ArchivedSession>,
    /// The manifest lines not yet committed, and the number of bytes copied.
    lines: Vec<ManifestLine>,
    bytes: u64,
    pub errors: Vec<Error>,
}

/// The files of a session in one home.
#[derive(Clone)]
pub struct HomePart {
    /// The directory, and its name in manifests.
    pub base: PathBuf,
    pub home: PathBuf,
    pub files: BTreeMap<PathBuf, BundleFile>,
    /// The files that are records of a database.
    pub rows: BTreeMap<PathBuf, DatabaseSession>,
    /// The files whose copies are missing or damaged.
    pub lost: BTreeSet<PathBuf>,
    /// Whether the whole home was read, so that missing files are gone.
    pub is_whole: bool,
    /// The databases that were read; `None` if one could not be.
    pub databases: Option<BTreeSet<PathBuf>>,
}

impl HomePart {
    /// Finds the files whose copies are missing or damaged.
    fn find_lost(&mut self, copies: &Copies, kept: &ArchivedSession) {
        let is_lost = |path: &&PathBuf| {
            let known = kept.of(&self.home, path);
            known.is_some_and(|known| !copies.is_intact(kept, known))
        };
        self.lost = self.files.keys().filter(is_lost).cloned().collect();
    }

    /// Whether a file was deleted from this home.
    fn has_deleted(&self, line: &ManifestLine) -> bool {
        // Sessions of a database that another run reads are unknown to this one.
        let is_read = || match (&self.databases, line.path.parent()) {
            (Some(databases), Some(below)) => {
                let database = self.base.join(below);
                databases.contains(&database) || !database.exists()
            }
            _ => false,
        };
        self.is_whole
            && line.home == self.home
            && !self.files.contains_key(&line.path)
            && (line.row.is_none() || is_read())
    }
}

impl ArchiveSession {
    /// A session with this directory in the archive.
    pub fn new(
        copies: Option<&Copies>,
        program: &str,
        directory: &str,
        id: Option<String>,
        mut parts: Vec<HomePart>,
    ) -> ArchiveSession {
        let kept = match copies {
            Some(copies) => copies.archived_session(program, directory),
            None => Ok(ArchivedSession::default()),
        };
        let id = id.or_else(|| kept.as_ref().ok()?.session.clone());
        let mut errors = Vec::new();
        if let (Some(copies), Ok(kept)) = (copies, &kept) {
            parts.iter_mut().for_each(|part| part.find_lost(copies, kept));
            errors = lost_copies(copies, kept, &parts);
        }
        ArchiveSession {
            name: homes::archived_name(program, id.as_deref()),
            id,
            parts,
            kept,
            lines: Vec::new(),
            bytes: 0,
            errors,
        }
    }

    /// Returns the database sessions that changed since they were copied.
    pub fn stale(&self) -> Vec<Stale<'_>> {
        let Ok(kept) = &self.kept else { return Vec::new() };
        let rows = self.parts.iter().flat_map(|part| {
            let is_stale = |(path, row): &(&PathBuf, &DatabaseSession)| {
                part.lost.contains(*path) || !is_same_row(kept, part, path, row)
            };
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
        row: &database::DatabaseRow,
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
                let wanted = WantedFile {
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

    /// Notes that the records of a database session cannot be read, so that later runs report this only after a change.
    /// An earlier copy is kept.
    pub fn fail_row(&mut self, copies: &Copies, at: &str, row: &database::DatabaseRow, scratch: &Path) {
        let first = self.lines.len();
        let known = |part: &HomePart, path: &Path| self.kept.as_ref().ok()?.of(&part.home, path).cloned();
        let own = self.parts.iter().flat_map(|part| {
            let own = part.rows.iter().filter(|(_, own)| own.id == row.id);
            own.filter_map(|(path, _)| known(part, path))
        });
        let known: Vec<ManifestLine> = own.collect();
        match known.is_empty() {
            true => self.take_row(copies, at, row, b"", scratch),
            false => self.lines.extend(known.into_iter().map(|line| ManifestLine {
                at: at.to_string(),
                row: Some(row.state()),
                replaces: None,
                outcome: CopyOutcome::Same,
                ..line
            })),
        }
        for line in &mut self.lines[first..] {
            line.unread = Some(VERSION.to_string());
        }
        let database = self
            .parts
            .iter()
            .flat_map(|part| part.rows.values())
            .find(|own| own.id == row.id);
        let label = database.map_or_else(String::new, |own| path_name(&own.database));
        let error = Error::data("cannot be read; reported again when it changes");
        self.errors.push(named(error, &label));
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
                let wanted = WantedFile {
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
            for line in deleted_lines(kept, part) {
                self.lines.push(ManifestLine {
                    at: at.to_string(),
                    outcome: CopyOutcome::Gone,
                    modified: None,
                    ..line
                });
            }
        }
    }

    /// Returns the report of a dry run, based on sizes and times only.
    pub fn planned(mut self) -> ArchiveRow {
        let mut word = SessionOutcome::Of(CopyOutcome::Same);
        if let Ok(kept) = &self.kept {
            for part in &self.parts {
                for (path, piece) in &part.files {
                    let next = match kept.of(&part.home, path) {
                        None => CopyOutcome::New,
                        Some(known) if part.lost.contains(path) && piece.bytes >= known.bytes => {
                            CopyOutcome::Repaired
                        }
                        Some(_) if is_same(kept, part, path, piece) => CopyOutcome::Same,
                        Some(known) if piece.bytes > known.bytes => CopyOutcome::Grown,
                        Some(_) => CopyOutcome::Diverged,
                    };
                    let known = kept.of(&part.home, path).map_or(0, |known| known.bytes);
                    self.bytes += match next {
                        CopyOutcome::Same => 0,
                        CopyOutcome::Grown => piece.bytes - known,
                        _ => piece.bytes,
                    };
                    word = word.max(SessionOutcome::Of(next));
                }
                if !deleted_lines(kept, part).is_empty() {
                    word = word.max(SessionOutcome::Of(CopyOutcome::Gone));
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
    pub fn change(&self) -> Option<(&ArchivedSession, &[ManifestLine])> {
        let kept = self.kept.as_ref().ok()?;
        (!self.lines.is_empty()).then_some((kept, self.lines.as_slice()))
    }

    /// Returns the row of a session after its commit.
    pub fn done(mut self, committed: Result<()>) -> ArchiveRow {
        let mut word = SessionOutcome::Of(CopyOutcome::Same);
        match committed {
            Ok(()) => {
                for line in &self.lines {
                    word = word.max(SessionOutcome::Of(line.outcome));
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
    pub fn verify(&self, copies: &Copies) -> ArchiveRow {
        let mut row = ArchiveRow::new(&self.name, SessionOutcome::Of(CopyOutcome::Same));
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
                CopyProblem::Damaged => "damaged",
                CopyProblem::Differs => "differs",
            };
            row.find(what, &line.home.join(&line.path));
        }
        for part in &self.parts {
            for (path, own) in &part.rows {
                let known = kept.of(&part.home, path);
                if known.is_some_and(|known| known.unread.is_some()) {
                    row.find("unreadable", &part.home.join(path));
                } else if known.is_some() && !is_same_row(kept, part, path, own) {
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

    fn row(self, word: SessionOutcome) -> ArchiveRow {
        let mut row = ArchiveRow::new(&self.name, word);
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
fn is_same(kept: &ArchivedSession, part: &HomePart, path: &Path, piece: &BundleFile) -> bool {
    if part.lost.contains(path) {
        return false;
    }
    if let Some(row) = part.rows.get(path) {
        return is_same_row(kept, part, path, row);
    }
    kept.of(&part.home, path)
        .is_some_and(|known| known.bytes == piece.bytes && known.modified == Some(piece.modified))
}

/// The version of convo; another one may read more.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Whether a database session is unchanged since it was copied, or since it could not be read.
fn is_same_row(kept: &ArchivedSession, part: &HomePart, path: &Path, row: &DatabaseSession) -> bool {
    kept.of(&part.home, path).is_some_and(|known| {
        let is_tried = known.unread.as_ref().is_none_or(|version| version == VERSION);
        known.outcome != CopyOutcome::Gone && known.row.as_ref() == Some(&row.state) && is_tried
    })
}

/// Returns lines for the files that are no longer in a home.
fn deleted_lines(kept: &ArchivedSession, part: &HomePart) -> Vec<ManifestLine> {
    let latest = kept.latest().into_iter();
    let gone = latest.filter(|line| line.outcome != CopyOutcome::Gone && part.has_deleted(line));
    gone.cloned().collect()
}

/// Returns the errors of damaged copies that can no longer be copied again.
fn lost_copies(copies: &Copies, kept: &ArchivedSession, parts: &[HomePart]) -> Vec<Error> {
    // A file has the bytes of its newest version only.
    let newest = kept.latest().into_iter();
    let newest: HashMap<_, _> = newest
        .map(|line| ((&line.home, &line.path), line.version))
        .collect();
    let is_lost = |line: &&ManifestLine| {
        let is_old = || newest.get(&(&line.home, &line.path)) != Some(&line.version);
        let mut own = parts.iter().filter(|part| part.home == line.home).peekable();
        let mut has_no_original = || match own.peek() {
            Some(_) => own.any(|part| part.has_deleted(line)),
            None => is_absent(line),
        };
        line.has_copy() && (is_old() || has_no_original()) && !copies.is_intact(kept, line)
    };
    let lost = kept.versions().into_iter().filter(is_lost);
    lost.map(|line| copies.lost(kept, line)).collect()
}

/// Whether the file or database of a line is absent, as those of a home that was removed are. What cannot be examined may
/// exist.
fn is_absent(line: &ManifestLine) -> bool {
    let path = match (&line.row, line.path.parent()) {
        (Some(_), Some(database)) => database,
        _ => &line.path,
    };
    matches!(homes::long_path(&line.home).join(path).try_exists(), Ok(false))
}

/// Returns the number of bytes copied for a line.
fn copied(kept: &ArchivedSession, line: &ManifestLine) -> u64 {
    match (line.outcome, line.replaces, kept.of(&line.home, &line.path)) {
        (CopyOutcome::Same | CopyOutcome::Gone, ..) => 0,
        (CopyOutcome::Grown, None, Some(known)) => line.bytes.saturating_sub(known.bytes),
        _ => line.bytes,
    }
}
