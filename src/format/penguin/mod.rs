//! Penguin: a session is one JSON document `<id>.json`, with a backup from before the last save (`.json.bak`)
//! and possibly an unfinished save (`.json.temp`) next to it.
//!
//! A document becomes a header and one line per message. Data without a native member is stored in `metadata.penguin`,
//! from which the document can be restored. Empty values and Penguin's defaults (`message_type` `message`, `tokens` 0,
//! null, an empty list of records) are omitted.
//!
//! | `metadata.penguin` of the header | contents |
//! |---|---|
//! | `id`, `created_at` | as in the document, if `id` is not a string or `created_at` not a time |
//! | `last_active` | as in the document |
//! | `metadata` | without members of the header: `title`, `continued_from`, `continuation_index` |
//! | `llm_request_lifecycles`, `tool_call_records`, `tool_result_records` | the lists |
//! | `members` | members unknown to Penguin |
//!
//! | `metadata.penguin` of a message | contents |
//! |---|---|
//! | `id` | the message's own id, if it is a duplicate or not a string |
//! | `role`, `tokens` | as in the document, if invalid for the line |
//! | `timestamp` | as in the document, if it is not a time, or the document has several time formats |
//! | `category` | as in the document, unless it is the line's category in capitals |
//! | `agent_id`, `recipient_id`, `message_type` | as in the document |
//! | `metadata` | without members of the line: `tool_calls`, `tool_call_id`, `action_type` (as `name`) |
//! | `members` | members unknown to Penguin |
//!
//! A document of the older format is converted to the same layout: `session_id`, `created_at` and `last_active` are
//! taken from the metadata, and a list of one text part becomes a string. An element of `messages` that is not an
//! object becomes a `foreign` event. A header text that decoding changed, such as one with a lone surrogate, is also
//! kept in `id` or `metadata`, so that every parser can read the header.
//!
//! Not built on the kit: a document is written together with its backup and its unfinished save (`store/foreign/penguin`),
//! and damaged documents are recovered message by message, for which the kit has no place.

mod category;
mod checkpoint;
mod document;
mod element;
mod fix_syntax;
mod header;
mod index;
mod link;
mod member;
mod merge;
mod message;
mod model_context;
mod native_metadata;
mod notice;
mod numbers;
mod salvage;
mod serialize;
#[cfg(test)]
mod tests;
mod times;
mod totals;
mod write;

use super::{
    DocumentSource, FormatSpec, ReadFn,
    report::{Loss, LossSet, Report},
};
use crate::error::{Error, Position, Result, reason};
use crate::model::json;
use crate::model::record::Record;
use crate::model::session::Session;
use checkpoint::PenguinCheckpoint;
pub use checkpoint::is_checkpoint;
use document::PenguinDocument;
pub use index::{PenguinIndexRow, index};
use merge::{DocumentMerge, SourceFile};
pub use message::NO_NUMBER;
use message::PenguinMessages;
pub use model_context::write_context;
pub use notice::{Condition, condition, is_lost, is_session_name, notice};
pub use times::time_text;
pub use write::{WriteOptions, name_of, write};

/// Penguin's session documents, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: "penguin",
    about: "Penguin session, checkpoint or conversation_*.json",
    read: ReadFn::Document(read),
    write: Some(|session, view, target| write(session, view, &WriteOptions::default(), target)),
    unsupported: LossSet::of(&[Loss::Event, Loss::Unreadable]),
    note: "Damaged documents are recovered, also from the copies next to them. Checkpoints cannot be changed in place.",
    ..FormatSpec::BLANK
};

/// The messages that Penguin would send, as a format.
pub const CONTEXT: FormatSpec = FormatSpec {
    name: "penguin-context",
    about: "Penguin model input (write-only)",
    write: Some(write_context),
    unsupported: LossSet::of(&[
        Loss::Id,
        Loss::Timestamp,
        Loss::Metadata,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ]),
    ..FormatSpec::BLANK
};

/// File extensions of backups, in order of preference.
const BACKUP_SUFFIXES: [&str; 2] = [".temp", ".bak"];

/// The index file of a directory's sessions.
pub const INDEX: &str = "session_index.json";

/// The name of a source without a file name.
const PIPE: &str = "the document";

/// The note on times without a zone.
const LOCAL_TIMES: &str = "timestamps without time zone read as local time";

/// Removes notes from a report that are irrelevant when writing back to Penguin's format, which keeps the original
/// values.
pub fn remove_irrelevant_notes(report: &mut Report) {
    let own = [LOCAL_TIMES, message::NO_NUMBER];
    report
        .findings
        .retain(|finding| !own.contains(&finding.what.as_ref()));
}

/// A backup: its name and its bytes.
type BackupFile = (String, Vec<u8>);

/// Reads a document into one session; if it is damaged or missing, also from its backups. An error if none of them has
/// a session.
pub fn read(source: &DocumentSource<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let session = match PenguinCheckpoint::of(source.bytes) {
        Some(checkpoint) => checkpoint.read(source, report, session)?,
        None => session(source, report)?,
    };
    Ok(vec![session])
}

fn session(source: &DocumentSource<'_>, report: &mut Report) -> Result<Session> {
    let list_allowed = header::has_older_name(source);
    let primary = PenguinDocument::read(source.bytes, list_allowed);
    match primary {
        Ok(document) if document.is_complete() => {
            for (name, bytes) in backups(source, &BACKUP_SUFFIXES[..1], false, report) {
                if let Ok(copy) = PenguinDocument::read(&bytes, list_allowed) {
                    report_newer_backup(&name, &copy, &document, report);
                }
            }
            Ok(convert(&DocumentMerge::alone(&document), source, report))
        }
        primary => {
            report.differs_from_input = true;
            let spares = backups(source, &BACKUP_SUFFIXES, true, report);
            let mut candidates = Vec::new();
            let (place, why) = match &primary {
                Ok(document) => document.first_fault().unwrap_or_default(),
                Err(what) => (Position::default(), *what),
            };
            if let Ok(document) = primary {
                candidates.push(SourceFile {
                    name: source.name.unwrap_or(PIPE),
                    document,
                    backup: None,
                });
            }
            for (name, bytes) in &spares {
                if let Ok(document) = PenguinDocument::read(bytes, list_allowed) {
                    candidates.push(SourceFile {
                        name,
                        document,
                        backup: Some(bytes),
                    });
                }
            }
            let base = best(&candidates, source, why)?;
            let name = source.name.unwrap_or(PIPE);
            let merge = DocumentMerge::of(&candidates, base, name, (place, why), report);
            Ok(convert(&merge, source, report))
        }
    }
}

/// The candidate with the most messages; of equals a complete one, then the first.
fn best(candidates: &[SourceFile<'_>], source: &DocumentSource<'_>, why: &str) -> Result<usize> {
    let rank = |candidate: &SourceFile<'_>| (candidate.document.messages(), candidate.document.is_complete());
    // Of equals, `max_by_key` returns the last.
    let best = candidates
        .iter()
        .enumerate()
        .rev()
        .max_by_key(|(_, candidate)| rank(candidate));
    best.map(|(index, _)| index).ok_or_else(|| {
        let error = Error::data(format!("not a Penguin session: {why}"));
        match source.name {
            Some(_) => error.hint("sessions are read from this file and from .bak and .temp next to it"),
            None => error.hint("expected one JSON object with messages"),
        }
    })
}

/// The existing backups. An unreadable one only matters if it is needed.
fn backups(
    source: &DocumentSource<'_>,
    endings: &[&str],
    needed: bool,
    report: &mut Report,
) -> Vec<BackupFile> {
    let Some(name) = source.name else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for ending in endings {
        let backup = format!("{name}{ending}");
        match (source.neighbor)(&backup) {
            Ok(Some(bytes)) => found.push((backup, bytes)),
            Ok(None) => {}
            Err(error) if needed => report.damage(
                Position::default(),
                format!("cannot read {backup}: {}", reason(&error)),
            ),
            Err(error) => report.note(
                Position::default(),
                format!("cannot read {backup}: {}", reason(&error)),
            ),
        }
    }
    found
}

fn message_count(messages: usize) -> String {
    if messages == 1 {
        "1 message".to_string()
    } else {
        format!("{messages} messages")
    }
}

/// Reports a complete backup with more messages than were read: a save that was not renamed into place.
fn report_newer_backup(
    backup: &str,
    copy: &PenguinDocument<'_>,
    read: &PenguinDocument<'_>,
    report: &mut Report,
) {
    let more = copy.messages().saturating_sub(read.messages());
    if copy.is_complete() && more > 0 {
        let count = message_count(copy.messages());
        report.note(
            Position::default(),
            format!("{backup} is complete and has {count}, {more} more; not read"),
        );
    }
}

/// Whether a message is the text of a summary that this program wrote.
fn is_summary(raw: &[u8]) -> bool {
    memchr::memmem::find(raw, b"\"convo\"").is_some()
        && json::member(raw, "metadata")
            .and_then(native_metadata::summary)
            .is_some()
}

fn convert(merge: &DocumentMerge<'_>, source: &DocumentSource<'_>, report: &mut Report) -> Session {
    for (place, what) in &merge.damage {
        report.damage(*place, *what);
    }
    let older = header::is_older(&merge.head, merge.is_list, source);
    report.differs_from_input |= older || !merge.damage.is_empty();
    let mut reader = PenguinMessages::new(older, report);
    reader.mixed_times = times::has_mixed_times(merge.elements.iter().map(|(_, raw)| raw.as_ref()));
    let mut session = Session::default();
    let mut push = |mut line: Vec<u8>, place: Position| {
        line.push(b'\n');
        session.push(&Record::parse(&line, place));
    };
    // A summary replaces the previous one, so only the last one becomes an event again.
    let summary = merge.elements.iter().rposition(|(_, raw)| is_summary(raw));
    let reported = reader.report.findings.len();
    let elements = merge.elements.iter().enumerate();
    let lines: Vec<_> = elements
        .map(|(nth, (place, raw))| (reader.line(raw, *place, summary == Some(nth)), *place))
        .collect();
    // The header needs the totals of the messages, but its findings are reported first.
    let of_messages = reader.report.findings.len() - reported;
    push(header::header(merge, source, &mut reader), merge.start);
    reader.report.findings[reported..].rotate_left(of_messages);
    for (line, place) in lines {
        push(line, place);
    }
    if reader.naive {
        report.note(Position::default(), LOCAL_TIMES);
    }
    session
}
