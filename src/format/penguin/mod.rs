//! Penguin: a session is one JSON document `<id>.json`, with a copy from before the last save (`.json.bak`)
//! and perhaps a save that was not finished (`.json.temp`) beside it.
//!
//! A document becomes a header and a line a message. What the record stream has no member for goes to
//! `metadata.penguin`, in a layout from which the document can be built again; what is empty or Penguin's
//! default (`message_type` `message`, `tokens` 0, null, an empty list of records) is left out.
//!
//! | `metadata.penguin` of the header | holds |
//! |---|---|
//! | `id`, `created_at` | as in the document, when `id` is no text or `created_at` no time |
//! | `last_active` | as in the document |
//! | `metadata` | without what the header has: `title`, `continued_from`, `continuation_index` |
//! | `llm_request_lifecycles`, `tool_call_records`, `tool_result_records` | the lists |
//! | `members` | members that Penguin does not know |
//!
//! | `metadata.penguin` of a message | holds |
//! |---|---|
//! | `id` | the message's own id, when another message had it before or it is no text |
//! | `role`, `tokens` | as in the document, when the line could not take it |
//! | `timestamp` | as in the document, when it is no time, or one of several forms in the document |
//! | `category` | as in the document, when it is not the line's category in capitals |
//! | `agent_id`, `recipient_id`, `message_type` | as in the document |
//! | `metadata` | without what the line has: `tool_calls`, `tool_call_id`, `action_type` (as `name`) |
//! | `members` | members that Penguin does not know |
//!
//! A document of the older format is read into the same layout: its `session_id`, `created_at` and
//! `last_active` are taken out of the metadata, a list of one text part becomes a string. An element of
//! `messages` that is no object becomes a `foreign` event. A text of the header that decoding changed, as one
//! with a lone surrogate, stays in `id` or `metadata` as well, so that every parser can read the header.

mod carried;
mod category;
mod checkpoint;
mod document;
mod element;
mod header;
mod index;
mod link;
mod member;
mod mend;
mod merge;
mod message;
mod notice;
mod numbers;
mod print;
mod salvage;
mod shown;
mod sums;
#[cfg(test)]
mod tests;
mod times;
mod write;

use super::{
    Form, Reading, Source,
    report::{Loss, Report},
};
use crate::error::{Error, Kind, Place, Result};
use crate::model::json;
use crate::model::record::Record;
use crate::model::session::Session;
use checkpoint::Checkpoint;
pub use checkpoint::is_checkpoint;
use document::Document;
pub use index::{Row, index};
use merge::{Candidate, Merge};
use message::Messages;
pub use message::NO_NUMBER;
pub use notice::{Condition, condition, is_lost, is_session_name, notice};
pub use shown::write_context;
pub use times::time_text;
pub use write::{Save, name_of, write};

/// Penguin's session documents, as a format.
pub const FORM: Form = Form {
    name: "penguin",
    about: "Penguin session, checkpoint or conversation_*.json",
    read: Reading::Document(read),
    write: Some(|session, view, purpose, out, report| {
        write(session, view, purpose, &Save::default(), out, report)
    }),
    loses: &[Loss::Event, Loss::Unreadable],
    note: "Damaged documents are recovered, also from the copies next to them. Checkpoints cannot be changed in place.",
    ..Form::BLANK
};

/// What Penguin would send, as a format.
pub const CONTEXT: Form = Form {
    name: "penguin-context",
    about: "Penguin model input (write-only)",
    write: Some(write_context),
    loses: &[
        Loss::Id,
        Loss::Timestamp,
        Loss::Metadata,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    ..Form::BLANK
};

/// The spare copies, the one that is preferred first.
const SPARES: [&str; 2] = [".temp", ".bak"];

/// The file in which Penguin lists the sessions of a folder.
pub const INDEX: &str = "session_index.json";

/// What a source without a name is called.
const PIPE: &str = "the document";

/// What is told of times without a zone.
const LOCAL_TIMES: &str = "timestamps without time zone read as local time";

/// Takes out of a report what concerns nobody who goes on in Penguin's own form, where all of it is as it was.
pub fn tell_own(report: &mut Report) {
    let own = [LOCAL_TIMES, message::NO_NUMBER];
    report
        .findings
        .retain(|finding| !own.contains(&finding.what.as_ref()));
}

/// A spare copy: its name and its bytes.
type Spare = (String, Vec<u8>);

/// Reads a document, or what is left of a damaged or missing one and of the copies beside it, into one session. An
/// error when there is no session in any of them.
pub fn read(source: &Source<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let session = match Checkpoint::of(source.bytes) {
        Some(checkpoint) => checkpoint.read(source, report, session)?,
        None => session(source, report)?,
    };
    Ok(vec![session])
}

fn session(source: &Source<'_>, report: &mut Report) -> Result<Session> {
    let list_allowed = header::has_older_name(source);
    let primary = Document::read(source.bytes, list_allowed);
    match primary {
        Ok(document) if document.is_whole() => {
            for (name, bytes) in spares(source, &SPARES[..1], false, report) {
                if let Ok(copy) = Document::read(&bytes, list_allowed) {
                    tell_newer(&name, &copy, &document, report);
                }
            }
            Ok(convert(&Merge::alone(&document), source, report))
        }
        primary => {
            report.mended = true;
            let spares = spares(source, &SPARES, true, report);
            let mut candidates = Vec::new();
            let (place, why) = match &primary {
                Ok(document) => document.torn().unwrap_or_default(),
                Err(what) => (Place::default(), *what),
            };
            if let Ok(document) = primary {
                candidates.push(Candidate {
                    name: source.name.unwrap_or(PIPE),
                    document,
                    spare: None,
                });
            }
            for (name, bytes) in &spares {
                if let Ok(document) = Document::read(bytes, list_allowed) {
                    candidates.push(Candidate {
                        name,
                        document,
                        spare: Some(bytes),
                    });
                }
            }
            let base = best(&candidates, source, why)?;
            let name = source.name.unwrap_or(PIPE);
            let merge = Merge::of(&candidates, base, name, (place, why), report);
            Ok(convert(&merge, source, report))
        }
    }
}

/// Which candidate has the most messages; of equals a whole one, then the first.
fn best(candidates: &[Candidate<'_>], source: &Source<'_>, why: &str) -> Result<usize> {
    let rank = |candidate: &Candidate<'_>| (candidate.document.messages(), candidate.document.is_whole());
    // Of equals, `max_by_key` takes the last.
    let best = candidates
        .iter()
        .enumerate()
        .rev()
        .max_by_key(|(_, candidate)| rank(candidate));
    best.map(|(index, _)| index).ok_or_else(|| {
        let error = Error::new(Kind::Data, format!("not a Penguin session: {why}"));
        match source.name {
            Some(_) => error.hint("sessions are read from this file and from .bak and .temp next to it"),
            None => error.hint("expected one JSON object with messages"),
        }
    })
}

/// The copies beside the source that are there. One that cannot be read matters only when it is needed.
fn spares(source: &Source<'_>, endings: &[&str], needed: bool, report: &mut Report) -> Vec<Spare> {
    let Some(name) = source.name else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for ending in endings {
        let spare = format!("{name}{ending}");
        match (source.neighbour)(&spare) {
            Ok(Some(bytes)) => found.push((spare, bytes)),
            Ok(None) => {}
            Err(error) if needed => report.damage(Place::default(), format!("cannot read {spare}: {error}")),
            Err(error) => report.note(Place::default(), format!("cannot read {spare}: {error}")),
        }
    }
    found
}

fn counted(messages: usize) -> String {
    if messages == 1 {
        "1 message".to_string()
    } else {
        format!("{messages} messages")
    }
}

/// Names a finished copy that has more than what is read: a save that only was not put in place.
fn tell_newer(spare: &str, copy: &Document<'_>, read: &Document<'_>, report: &mut Report) {
    let more = copy.messages().saturating_sub(read.messages());
    if copy.is_whole() && more > 0 {
        let count = counted(copy.messages());
        report.note(
            Place::default(),
            format!("{spare} is complete and has {count}, {more} more; not read"),
        );
    }
}

/// Whether a message is the text of a summary of ours.
fn is_summary(raw: &[u8]) -> bool {
    memchr::memmem::find(raw, b"\"convo\"").is_some()
        && json::member(raw, "metadata").and_then(carried::summary).is_some()
}

fn convert(merge: &Merge<'_>, source: &Source<'_>, report: &mut Report) -> Session {
    for (place, what) in &merge.damage {
        report.damage(*place, *what);
    }
    let older = header::is_older(&merge.head, merge.is_list, source);
    report.mended |= older || !merge.damage.is_empty();
    let mut reader = Messages::new(older, report);
    reader.mixed_times = times::has_mixed_times(merge.elements.iter().map(|(_, raw)| raw.as_ref()));
    let mut session = Session::default();
    let mut push = |mut line: Vec<u8>, place: Place| {
        line.push(b'\n');
        session.push(&Record::parse(&line, place));
    };
    // A summary replaces the one before it, so that only the last one is still the event that it was.
    let summary = merge.elements.iter().rposition(|(_, raw)| is_summary(raw));
    let told = reader.report.findings.len();
    let elements = merge.elements.iter().enumerate();
    let lines: Vec<_> = elements
        .map(|(nth, (place, raw))| (reader.line(raw, *place, summary == Some(nth)), *place))
        .collect();
    // The header knows what the messages come to, and still is told of first.
    let of_messages = reader.report.findings.len() - told;
    push(header::header(merge, source, &mut reader), merge.start);
    reader.report.findings[told..].rotate_left(of_messages);
    for (line, place) in lines {
        push(line, place);
    }
    if reader.naive {
        report.note(Place::default(), LOCAL_TIMES);
    }
    session
}
