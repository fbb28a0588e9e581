//! Penguin: a `.json` file per session, its backups, and an index of the directory.

mod check;
mod file;
mod index;

use super::finding::DirectoryFindings;
use super::session_file::{FileOptions, SessionFile};
use super::system::{DirectoryMatch, ForeignSystem};
use crate::error::Result;
use crate::format::detect::Detection;
use crate::format::{DocumentSource, Format, penguin};
use crate::model::json;
use crate::model::message::Message;
use crate::model::session::Session;
use file::{COPY, UNFINISHED};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// The system.
pub struct Penguin;

impl ForeignSystem for Penguin {
    fn format(&self) -> Format {
        Format::Penguin
    }

    fn recognize<'n>(&self, names: &'n BTreeSet<String>) -> DirectoryMatch<'n> {
        let is_own = |name: &&str| {
            let name = name
                .strip_suffix(COPY)
                .or(name.strip_suffix(UNFINISHED))
                .unwrap_or(name);
            name == penguin::INDEX
                || penguin::is_session_name(name)
                || (name.starts_with("conversation_") && name.ends_with(".json"))
        };
        DirectoryMatch::Possible(names.iter().map(String::as_str).filter(is_own).collect())
    }

    fn check(&self, path: &Path, out: &mut DirectoryFindings<'_>) -> Result<()> {
        check::check(path, "", out)
    }

    fn open<'o>(
        &self,
        path: &'o Path,
        options: &'o FileOptions<'o>,
    ) -> Result<Option<Box<dyn SessionFile + 'o>>> {
        file::open(path, options)
    }

    fn indexes(&self) -> &'static [&'static str] {
        &[penguin::INDEX, "checkpoint_index.json"]
    }

    fn write_index(&self, directory: &Path, lock_timeout: Duration) -> Result<()> {
        index::write(directory, lock_timeout)
    }

    fn hides(&self, message: &Message<'_>) -> bool {
        let Some(own) = message.metadata.and_then(|raw| json::member(raw, "penguin")) else {
            return false;
        };
        let is_internal = |raw: Option<&[u8]>| {
            let text = raw.and_then(json::text);
            text.is_some_and(|text| text.trim().eq_ignore_ascii_case("internal"))
        };
        let visibility = json::member(own, "metadata").and_then(|inner| json::member(inner, "visibility"));
        is_internal(json::member(own, "category")) || is_internal(visibility)
    }

    fn keeps_copies(&self) -> bool {
        true
    }

    fn is_lost(&self, bytes: &[u8]) -> bool {
        penguin::is_lost(bytes)
    }

    fn claims_damaged(&self, path: &Path, verdict: &Detection, head: &[u8]) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or_default();
        let lost = verdict.damaged || head.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace());
        if penguin::is_session_name(name) {
            let text = head.trim_ascii();
            let json = matches!(text.first(), Some(b'{' | b'['));
            // Files of another kind, such as archives, have a hint.
            return lost || matches!(text, b"{}" | b"[]") || (!json && verdict.hint.is_none());
        }
        lost && name.ends_with(".json") && path.with_file_name(penguin::INDEX).is_file()
    }

    fn notice(
        &self,
        source: &DocumentSource<'_>,
        copies: &[(String, Vec<u8>)],
        why: &str,
    ) -> Option<Session> {
        let why = why.strip_prefix("not a Penguin session: ").unwrap_or(why);
        penguin::is_lost(source.bytes).then(|| penguin::notice(source, copies, why))?
    }
}
