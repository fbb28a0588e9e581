//! Penguin's checkpoints: a snapshot of a session and the reason for it. A checkpoint is read as a separate session
//! with its own id, so that it is not mistaken for the original.

use super::super::{DocumentSource, Format, native, report::Report};
use super::member::is_words;
use super::native_metadata::in_order;
use crate::error::{Position, Result};
use crate::model::json::{self, ObjectBuilder, quoted};
use crate::model::key;
use crate::model::record::Record;
use crate::model::session::Session;
use std::borrow::Cow;

/// The two parts of a checkpoint.
pub(super) struct PenguinCheckpoint<'a> {
    metadata: &'a [u8],
    session: &'a [u8],
}

/// Whether a document with these members is a checkpoint.
pub fn is_checkpoint<'m>(member: impl Fn(&str) -> Option<&'m [u8]>) -> bool {
    let object = |name| member(name).filter(|raw: &&[u8]| raw.first() == Some(&b'{'));
    let metadata = object("metadata").and_then(|raw| json::member(raw, "session_id"));
    metadata.is_some() && object("session").is_some()
}

impl<'a> PenguinCheckpoint<'a> {
    /// From a document that is a checkpoint.
    pub fn of(bytes: &'a [u8]) -> Option<PenguinCheckpoint<'a>> {
        let members = in_order(bytes)?;
        let find = |name: &str| {
            let found = members.iter().rfind(|(known, _)| known == name);
            found.map(|(_, value)| *value)
        };
        is_checkpoint(find).then_some(PenguinCheckpoint {
            metadata: find("metadata")?,
            session: find("session")?,
        })
    }

    /// Reads its session with `read`.
    pub fn read(
        &self,
        source: &DocumentSource<'_>,
        report: &mut Report,
        read: impl FnOnce(&DocumentSource<'_>, &mut Report) -> Result<Session>,
    ) -> Result<Session> {
        let reported = report.findings.len();
        let inner = read(&DocumentSource::alone(self.session), report)?;
        // The offset of the session in the document: both are slices of the same bytes.
        let start = self.session.as_ptr() as usize - source.bytes.as_ptr() as usize;
        let lines = memchr::memchr_iter(b'\n', &source.bytes[..start]).count() as u64;
        let moved = |place: Position| Position {
            line: if place.line == 0 { 0 } else { place.line + lines },
            offset: place.offset + start as u64,
        };
        for finding in &mut report.findings[reported..] {
            finding.place = moved(finding.place);
        }
        let mut session = Session::default();
        for index in 0..inner.len() {
            let record = inner.record(index);
            let place = moved(record.place);
            if index > 0 {
                session.push(&Record::parse(record.full, place));
                continue;
            }
            let mut line = self.header(record.body, source);
            line.push(b'\n');
            session.push(&Record::parse(&line, place));
        }
        Ok(session)
    }

    /// The header with the checkpoint's id, parent and further members.
    fn header(&self, line: &[u8], source: &DocumentSource<'_>) -> Vec<u8> {
        let own = json::compact(self.metadata).0;
        let own = String::from_utf8_lossy(&own).into_owned().into_bytes();
        let filled = |name| json::member(&own, name).filter(|raw| is_words(raw));
        let name = filled("id")
            .and_then(json::text)
            .map_or_else(|| key::id_from("cp_", source.bytes), Cow::into_owned);
        let id = key::id_for_key(&name);
        let mut lineage = ObjectBuilder::default();
        lineage.text("kind", "fork");
        for (name, member) in [("parent", "session_id"), ("at", "message_id")] {
            lineage.optional(name, filled(member));
        }
        let penguin = json::member(line, "metadata").and_then(|raw| json::member(raw, "penguin"));
        let kept = [("checkpoint", Some(own.as_slice()))];
        let penguin = json::with_members(penguin.unwrap_or(b"{}"), &kept).unwrap_or_default();
        let changes = [("lineage", Some(lineage.finish())), ("penguin", Some(penguin))];
        let changes: Vec<_> = changes
            .iter()
            .map(|(name, raw)| (*name, raw.as_deref()))
            .collect();
        let metadata = json::member(line, "metadata").unwrap_or(b"{}");
        let metadata = json::with_members(metadata, &changes).unwrap_or_default();
        let (id_raw, key_raw) = (quoted(&id), quoted(&name));
        let whence = native::source_member(Format::Penguin, source, &[]);
        let titled = json::member(line, "title").is_some();
        let title = filled("name").filter(|_| !titled);
        let mut changes: Vec<(&str, Option<&[u8]>)> = vec![
            ("id", Some(&id_raw)),
            ("key", (name != id).then_some(key_raw.as_slice())),
            ("source", Some(&whence)),
            ("metadata", Some(&metadata)),
        ];
        changes.extend(title.map(|raw| ("title", Some(raw))));
        json::with_members(line, &changes).unwrap_or_else(|_| line.to_vec())
    }
}
