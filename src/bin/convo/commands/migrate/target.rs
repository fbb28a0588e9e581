//! The target of a migration. Sessions are written in groups: a group is reported only when it is durable.

use super::export_dir::Foreign;
use super::inspect::ExaminedFile;
use super::transfer::{self, RecentFiles};
use crate::errors::named;
use crate::input::regular;
use convo::error::Result;
use convo::format::Reader;
use convo::format::native::NativeReader;
use convo::store::{self, Batch, Staged, Store};
use std::path::PathBuf;

/// The target of a migration.
pub enum MigrationTarget<'c> {
    Store(&'c Store),
    /// A directory of files `<id>.jsonl`; with `packs`, each new file is one line.
    Directory {
        path: PathBuf,
        packs: bool,
    },
    /// A directory of another system.
    Foreign(Foreign),
}

impl MigrationTarget<'_> {
    /// Opens a batch of new files in the target.
    pub fn batch(&self) -> Result<Batch> {
        match self {
            MigrationTarget::Store(store) => store.batch(),
            MigrationTarget::Directory { path, .. } => Batch::in_dir(path),
            MigrationTarget::Foreign(foreign) => Batch::in_foreign_dir(&foreign.dir),
        }
    }

    /// Stages one session under temporary names.
    pub fn stage<'b>(
        &self,
        batch: &'b Batch,
        (file, nth): (usize, usize),
        examined: &ExaminedFile,
        recent: &RecentFiles<'_>,
    ) -> Result<Staged<'b>> {
        match self {
            MigrationTarget::Foreign(foreign) => foreign.stage(batch, (file, nth), examined, recent),
            MigrationTarget::Directory { packs: true, .. } => {
                transfer::stage_packed(batch, examined, nth, recent)
            }
            _ => transfer::stage(batch, examined, nth, recent),
        }
    }

    /// Makes existing sessions durable.
    pub fn sync(&self) -> Result<()> {
        match self {
            MigrationTarget::Store(store) => store.sync_names(),
            MigrationTarget::Directory { path, .. } => store::sync_directory_names(path),
            MigrationTarget::Foreign(foreign) => store::sync_directory_names(&foreign.dir),
        }
    }

    /// Reads the records of an existing session; none if it does not exist.
    pub fn existing(&self, id: &str) -> Result<Option<Box<dyn Reader>>> {
        match self {
            MigrationTarget::Store(store) => {
                if store.has(id)? {
                    Ok(Some(Box::new(store.reader(id)?)))
                } else {
                    Ok(None)
                }
            }
            MigrationTarget::Directory { path, .. } => {
                let file = regular::open_target(&path.join(format!("{id}.jsonl")));
                let file = file.map_err(|error| named(error, &format!("{id}.jsonl")))?;
                Ok(file.map(|file| -> Box<dyn Reader> { Box::new(NativeReader::new(Vec::new(), file)) }))
            }
            MigrationTarget::Foreign(_) => Ok(None), // its files are compared by name
        }
    }
}
