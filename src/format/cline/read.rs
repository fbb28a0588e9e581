//! Reads a session with the manifest and the compaction file next to it.

use super::codec::{CLINE, Cline, CompactionFile};
use crate::error::{Error, Position, Result};
use crate::format::kit::records::note;
use crate::format::report::Report;
use crate::format::{DocumentSource, WritePurpose, kit};
use crate::model::json::{self, Dialect};
use crate::model::session::Session;

/// The supported version of the format.
const VERSION: &[u8] = b"1";

pub fn read(source: &DocumentSource<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let version = json::member(source.bytes.trim_ascii(), "version");
    if let Some(version) = version.filter(|version| *version != VERSION) {
        let version = String::from_utf8_lossy(version);
        let what = format!("version {version}; version 1 is known, the session is read as one of it");
        report.note(Position::default(), what);
    }
    let endings = [".messages.json", ".compaction.json"];
    let name = source.name.unwrap_or_default();
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending));
    let neighbor = |name: &str| (source.neighbor)(name).ok().flatten();
    let manifest = stem.and_then(|stem| neighbor(&format!("{stem}.json")));
    let path = manifest
        .as_deref()
        .and_then(|manifest| json::member_text(manifest, "compaction_path"));
    let file = path.as_deref().and_then(|path| path.rsplit(['/', '\\']).next());
    let compaction = file.filter(|file| *file != name).and_then(neighbor);
    let compacted = compaction.and_then(|bytes| {
        let messages = json::elements(json::member(&bytes, "messages")?, Dialect::Strict)?;
        Some(CompactionFile::of(&messages))
    });
    let codec = Cline { manifest, compacted };
    Ok(vec![kit::read_document(&codec, source, report)?])
}

/// Returns an error if the model receives another file than the one to be changed.
pub fn check(session: &Session, purpose: WritePurpose) -> Result<()> {
    let is_extra = |index: usize| {
        let event = session.record(index);
        let event = event.event().filter(|event| event.name() == "summary");
        event.is_some_and(|event| {
            note(event.raw, kit::name(&CLINE)).is_some_and(|note| json::member(note, "of").is_some())
        })
    };
    if purpose != WritePurpose::Return || !(0..session.len()).any(is_extra) {
        return Ok(());
    }
    Err(Error::not_in_place(
        "the model receives the compaction file that the manifest names, which convo does not write",
    ))
}
