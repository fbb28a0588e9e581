//! PicoClaw: a `.jsonl` and a `.meta.json` per session.

mod check;
mod file;
mod names;
mod pair;
mod promote;

pub use names::SidecarNames;
pub use promote::{PromotedFile, PromotionRequest, promote};

use super::finding::DirectoryFindings;
use super::session_file::{FileOptions, SessionFile};
use super::system::{Compaction, CompactionResult, DirectoryMatch, ForeignSystem};
use crate::error::Result;
use crate::format::Format;
use crate::format::picoclaw::{self, LOG, SIDECAR};
use crate::model::json::{self, wrapped};
use crate::model::session::Session;
use std::collections::BTreeSet;
use std::path::Path;

/// The system.
pub struct Picoclaw;

impl ForeignSystem for Picoclaw {
    fn format(&self) -> Format {
        Format::Picoclaw
    }

    fn recognize<'n>(&self, names: &'n BTreeSet<String>) -> DirectoryMatch<'n> {
        let has_log = |name: &String| {
            let stem = name.strip_suffix(SIDECAR);
            stem.is_some_and(|stem| names.contains(&format!("{stem}{LOG}")))
        };
        if names.iter().any(has_log) {
            return DirectoryMatch::Certain;
        }
        let is_own = |name: &&str| name.ends_with(SIDECAR) || name.ends_with(LOG);
        DirectoryMatch::Possible(names.iter().map(String::as_str).filter(is_own).collect())
    }

    fn check(&self, path: &Path, out: &mut DirectoryFindings<'_>) -> Result<()> {
        check::check(path, out)
    }

    fn open<'o>(
        &self,
        path: &'o Path,
        options: &'o FileOptions<'o>,
    ) -> Result<Option<Box<dyn SessionFile + 'o>>> {
        file::open(path, options)
    }

    fn compact(&self, path: &Path, options: &Compaction) -> Result<Option<CompactionResult>> {
        match file::is_log(path)? {
            true => pair::compact(path, options).map(Some),
            false => Ok(None),
        }
    }

    fn has_sidecar(&self) -> bool {
        true
    }

    fn aliases(&self, header: &[u8]) -> Vec<String> {
        picoclaw::aliases(header)
    }

    fn aliases_member(&self, aliases: &[String]) -> Option<(&'static str, Vec<u8>)> {
        (!aliases.is_empty()).then(|| ("picoclaw", wrapped("aliases", json::texts(aliases))))
    }

    fn messages_among(&self, session: &Session, keep: usize) -> usize {
        picoclaw::messages_among(session, keep)
    }
}
