//! Writes sessions to a directory of another system: computes the files of each session and compares them with existing
//! files.

use super::inspect::ExaminedFile;
use super::outside_log::aliases_by_id;
use super::pages;
use super::target_state::{TargetState, TargetUpdate};
use super::transfer::{RecentFiles, session};
use crate::errors::named;
use crate::input::regular;
use crate::writing::secrets;
use convo::error::{Error, ErrorKind, Result};
use convo::format::Format;
use convo::format::output_names::{self, DirFile};
use convo::format::page::PageOptions;
use convo::format::report::Report;
use convo::model::key;
use convo::model::session::Session;
use convo::model::threads::in_parallel;
use convo::model::view::View;
use convo::store::{Batch, FileStat, Rewrite, Staged, Store, foreign, write_atomically};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// The target directory and the files to write.
pub struct Foreign {
    pub format: Format,
    pub dir: PathBuf,
    page: PageOptions,
    /// Number of secrets on HTML pages.
    pub secrets: AtomicU64,
    /// Aliases of stored sessions, by id.
    aliases: HashMap<String, Vec<String>>,
    /// By index of the file and of the session in it.
    built: HashMap<(usize, usize), Result<SessionFiles>>,
}

pub struct SessionFiles {
    /// File names, in the order in which they are written.
    pub names: Vec<String>,
    digest: String,
    /// File contents, if memory allows; otherwise they are generated again.
    files: Option<Vec<DirFile>>,
}

impl Foreign {
    /// Describes a directory of a system; `store` is needed if stored sessions are migrated.
    pub fn new(format: Format, dir: PathBuf, page: PageOptions, store: Option<&Store>) -> Result<Foreign> {
        Ok(Foreign {
            format,
            dir,
            page,
            secrets: AtomicU64::new(0),
            aliases: aliases_by_id(store)?,
            built: HashMap::new(),
        })
    }

    /// Generates the files of every session. Losses are added to the report of the source, or refused with `strict`.
    pub fn make(
        &mut self,
        examined: &mut [ExaminedFile],
        recent: &RecentFiles<'_>,
        strict: bool,
        threads: usize,
        memory: &AtomicI64,
    ) {
        let mut wanted = Vec::new();
        for (file, examined) in examined.iter().enumerate() {
            wanted.extend((0..examined.found.iter().flatten().count()).map(|nth| (file, nth)));
        }
        let built = in_parallel(threads, &wanted, |(file, nth)| {
            let mut report = Report::default();
            let files = self.files(&examined[*file], *nth, recent, &mut report);
            let files = files.map(|(session, files)| {
                if self.format == Format::Html {
                    let count = secrets::count(&session, &View::replay(&session), self.page.hidden);
                    self.secrets.fetch_add(count, Ordering::Relaxed);
                }
                files
            });
            let files = match files {
                Ok(_) if strict && !report.losses.is_empty() => Err(Error::data(format!(
                    "{}: lossy conversion; nothing was written (--strict)",
                    self.format.name()
                ))),
                files => files,
            };
            let built = files.map(|files| {
                let size: usize = files.iter().map(|file| file.bytes.len()).sum();
                let size = i64::try_from(size).unwrap_or(i64::MAX);
                let keep = memory.fetch_sub(size, Ordering::Relaxed) >= size;
                SessionFiles {
                    names: files.iter().map(|file| file.name.clone()).collect(),
                    digest: digest(&files),
                    files: keep.then_some(files),
                }
            });
            (built, report)
        });
        for ((file, nth), (built, report)) in wanted.into_iter().zip(built) {
            examined[file].findings.extend(report.findings);
            for (loss, count) in report.losses {
                *examined[file].losses.entry(loss).or_default() += count;
            }
            self.built.insert((file, nth), built);
        }
    }

    /// Returns a session and its files.
    fn files(
        &self,
        examined: &ExaminedFile,
        nth: usize,
        recent: &RecentFiles<'_>,
        report: &mut Report,
    ) -> Result<(Session, Vec<DirFile>)> {
        let session = session(examined, nth, recent)?;
        let aliases = examined.stored.then(|| {
            let known = self.aliases.get(&*examined.path.to_string_lossy());
            let mut left = known.cloned().unwrap_or_default();
            // Aliases that the header lists keep their order.
            let first = (!session.is_empty()).then(|| session.record(0).body.to_vec());
            let mut all = foreign::aliases(&first.unwrap_or_default());
            all.retain(|alias| left.contains(alias));
            left.retain(|alias| !all.contains(alias));
            all.extend(left);
            all
        });
        let how = (aliases.as_deref(), &self.page);
        let files = output_names::files(self.format, &session, how, report)?;
        Ok((session, files))
    }

    /// Returns the generated files of a session, or the error.
    pub fn generated_files(&self, file: usize, nth: usize) -> Result<&SessionFiles> {
        match self.built.get(&(file, nth)) {
            Some(Ok(built)) => Ok(built),
            Some(Err(error)) => Err(Error {
                hint: error.hint.clone(),
                ..Error::new(error.kind, error.message.clone())
            }),
            None => Err(Error::new(ErrorKind::Locked, "modified by another program")),
        }
    }

    /// Returns the contents of the files, from memory or generated again.
    fn contents(
        &self,
        (file, nth): (usize, usize),
        examined: &ExaminedFile,
        recent: &RecentFiles<'_>,
    ) -> Result<Vec<DirFile>> {
        let built = self.generated_files(file, nth)?;
        if let Some(files) = &built.files {
            return Ok(files.clone());
        }
        let (_, files) = self.files(examined, nth, recent, &mut Report::default())?;
        if digest(&files) == built.digest {
            Ok(files)
        } else {
            Err(Error::new(ErrorKind::Locked, "modified by another program"))
        }
    }

    fn there(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let file = regular::open_target(&self.dir.join(name)).map_err(|error| named(error, name))?;
        file.map(regular::read_all).transpose()
    }

    /// Compares a session with the existing files: present, new or incomplete, or grown. A file with different content
    /// is [`ErrorKind::Exists`].
    pub fn compare_target(
        &self,
        at: (usize, usize),
        examined: &ExaminedFile,
        recent: &RecentFiles<'_>,
    ) -> Result<TargetState> {
        let (mut missing, mut older) = (0, 0);
        let files = self.contents(at, examined, recent)?;
        let there = files.iter().map(|file| self.there(&file.name));
        let there = there.collect::<Result<Vec<_>>>()?;
        let grown = output_names::grown_files(self.format, &files, &there);
        for (nth, (file, there)) in files.iter().zip(&there).enumerate() {
            match there {
                None => missing += 1,
                Some(_) if grown.contains(&nth) => older += 1,
                Some(there) if output_names::is_continued(self.format, file, there) => {}
                Some(_) => {
                    let what = format!("conflict: the file {} has different content", file.name);
                    let hint = "write elsewhere with --output-dir";
                    return Err(Error::new(ErrorKind::Exists, what).hint(hint));
                }
            }
        }
        Ok(if older > 0 {
            TargetState::Grown(TargetUpdate::default())
        } else if missing == 0 {
            TargetState::There
        } else {
            TargetState::New
        })
    }

    /// Replaces the files of a session that has grown, each atomically and in order.
    pub fn update(
        &self,
        at: (usize, usize),
        examined: &ExaminedFile,
        recent: &RecentFiles<'_>,
        lock_timeout: Duration,
    ) -> Result<()> {
        for file in self.contents(at, examined, recent)? {
            let path = self.dir.join(&file.name);
            let old = regular::open_target(&path)?;
            let facts = old.as_ref().map(FileStat::of).transpose();
            let options = Rewrite {
                read: facts.map_err(|error| Error::io("cannot read", error))?,
                lock_timeout,
                ..Rewrite::default()
            };
            if old
                .map(regular::read_all)
                .transpose()?
                .is_some_and(|old| old == file.bytes)
            {
                continue;
            }
            let write = |out: &mut dyn std::io::Write| {
                out.write_all(&file.bytes)
                    .map_err(|error| Error::io("cannot write", error))
            };
            write_atomically(&path, write, &options)?;
        }
        Ok(())
    }

    /// Writes the system's index of sessions, if it has one, with a row for each existing file. An up-to-date index is
    /// not rewritten.
    pub fn list(&self, lock_timeout: Duration) -> Result<()> {
        match foreign::system_of_format(self.format) {
            None if self.format == Format::Html => pages::write_index(&self.dir, &self.page, lock_timeout),
            Some(system) => system.write_index(&self.dir, lock_timeout),
            None => Ok(()),
        }
    }

    /// Stages the missing files of a session under temporary names; a killed run may have written some of them.
    pub fn stage<'b>(
        &self,
        batch: &'b Batch,
        at: (usize, usize),
        examined: &ExaminedFile,
        recent: &RecentFiles<'_>,
    ) -> Result<Staged<'b>> {
        let mut files = Vec::new();
        for file in self.contents(at, examined, recent)? {
            if self.there(&file.name)?.is_none() {
                files.push(file);
            }
        }
        let id = examined
            .found
            .iter()
            .flatten()
            .nth(at.1)
            .map(|found| found.id.clone());
        let all = files
            .iter()
            .map(|file| (file.name.as_str(), file.bytes.as_slice()));
        batch.stage_files(&id.unwrap_or_default(), all)
    }
}

impl SessionFiles {
    /// The name that identifies the session: that of the last file, which every session has.
    pub fn name(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }

    /// Hash that identifies equal sessions.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

fn digest(files: &[DirFile]) -> String {
    let mut all = Vec::new();
    for file in files {
        all.extend_from_slice(file.name.as_bytes());
        all.push(b'\n');
        all.extend_from_slice(key::sha256(&file.bytes).as_bytes());
        all.push(b'\n');
    }
    key::sha256(&all)
}
