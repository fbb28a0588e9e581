//! Groups of files: those of a session, and those that all sessions of a home share.

use super::files::{HomeFiles, Transcript};
use super::home_program::FileKind;
use super::listing::{Directories, is_absent, matching};
use super::opencode;
use super::places::Home;
use super::sidecars::{FoundFiles, named_sidecars, orphans};
use crate::error::reason;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The files of a session, or the shared files of a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The id of the session; `None` for shared files.
    pub id: Option<String>,
    /// The files by their paths relative to the base of the home.
    pub files: BTreeMap<PathBuf, BundleFile>,
}

/// A file of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleFile {
    /// `transcript`, `sidecar` or `shared`.
    pub kind: &'static str,
    /// Size of the file.
    pub bytes: u64,
    /// Seconds and nanoseconds of its last change.
    pub modified: (i64, i64),
}

/// The bundles of a home.
#[derive(Debug, Default)]
pub struct Bundles {
    /// Sorted by id; shared files first.
    pub bundles: Vec<Bundle>,
    /// Databases with sessions.
    pub databases: Vec<Transcript>,
    /// What cannot be read, and why.
    pub problems: Vec<(PathBuf, String)>,
}

impl Home {
    /// Returns the common ancestor directory of all session files.
    pub fn base(&self) -> &Path {
        let is_file = self.program.layout.iter().all(|(_, path)| path.is_empty());
        match self.root.parent() {
            Some(parent) if self.program.is_wide || is_file => parent,
            _ => &self.root,
        }
    }

    /// Returns the directory to which the path of a database is relative: the base, or its own directory if a variable
    /// names a database elsewhere.
    pub fn base_of_databases(&self) -> &Path {
        match &self.database {
            Some(database) if !database.starts_with(self.base()) => database.parent().unwrap_or(self.base()),
            _ => self.base(),
        }
    }

    /// Returns all files of the sessions of the home.
    pub fn bundles(&self) -> Bundles {
        let HomeFiles {
            transcripts,
            mut problems,
        } = self.files();
        let mut groups: BTreeMap<Option<String>, BTreeMap<PathBuf, BundleFile>> = BTreeMap::new();
        let mut databases = Vec::new();
        let mut directories = Directories::default();
        let mut add = |id: Option<&str>, kind: &'static str, files: Vec<(PathBuf, Metadata)>| {
            let group = groups.entry(id.map(str::to_string)).or_default();
            for (path, about) in files {
                if let Ok(path) = path.strip_prefix(self.base()) {
                    let piece = BundleFile {
                        kind,
                        bytes: about.len(),
                        modified: (about.mtime(), about.mtime_nsec()),
                    };
                    group.entry(path.to_path_buf()).or_insert(piece);
                }
            }
        };
        for transcript in &transcripts {
            if transcript.kind == FileKind::Database {
                databases.push(transcript.clone());
                continue;
            }
            let name = transcript.path.file_name().unwrap_or_default().to_string_lossy();
            let own = transcript.id.as_deref().unwrap_or(&name);
            let id = transcript.parent.as_deref().unwrap_or(own);
            let mut found = FoundFiles::default();
            match std::fs::metadata(&transcript.path) {
                Ok(about) => add(Some(id), "transcript", vec![(transcript.path.clone(), about)]),
                Err(error) if is_absent(&error) => {}
                Err(error) => problems.push((transcript.path.clone(), reason(&error))),
            }
            opencode::records(self, own)
                .iter()
                .for_each(|path| found.add(path, 0));
            if transcript.kind != FileKind::Subagent {
                let extra = FoundFiles::of(self, transcript, own, &mut directories);
                found.files.extend(extra.files);
                found.problems.extend(extra.problems);
            }
            add(Some(id), "sidecar", found.files);
            problems.extend(found.problems);
        }
        for dir in orphans(self, &transcripts) {
            let mut found = FoundFiles::default();
            found.add(&dir, 16);
            let id = dir.file_name().unwrap_or_default().to_string_lossy();
            add(Some(&id), "sidecar", found.files);
            problems.extend(found.problems);
        }
        for (id, path) in named_sidecars(self, &mut problems) {
            let mut found = FoundFiles::default();
            found.add(&path, 0);
            add(Some(&id), "sidecar", found.files);
            problems.extend(found.problems);
        }
        for pattern in self.program.shared {
            let mut found = FoundFiles::default();
            for path in matching(self.base(), pattern, &mut problems) {
                found.add(&path, 1);
            }
            add(None, "shared", found.files);
            problems.extend(found.problems);
        }
        problems.sort();
        problems.dedup();
        let bundles = groups.into_iter().filter(|(_, files)| !files.is_empty());
        Bundles {
            bundles: bundles.map(|(id, files)| Bundle { id, files }).collect(),
            databases,
            problems,
        }
    }
}
