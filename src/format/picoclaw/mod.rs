//! PicoClaw sessions: a log of messages (`<name>.jsonl`) with its sidecar (`<name>.meta.json`), or a legacy
//! document (`<name>.json`) with the complete history.
//!
//! The session has the same view as in PicoClaw. Data without a native member is stored unchanged in
//! `metadata.picoclaw`:
//!
//! - of the session: `aliases`, `updated_at` (of a document `updated`), members of a wrong type under their names, and
//!   unknown ones in `members`;
//! - of a message: `media`, `attachments`, `system_parts`, unknown ones in `members`, and `calls`: an array parallel to
//!   `tool_calls` with null or an object of `thought_signature`, `extra_content`, `members` and `function_members`.
//!
//! Not built on the kit: a session is a pair of files, of which the sidecar counts the lines of the log that are hidden;
//! both change together (`store/foreign/picoclaw`).

mod call;
mod counted_lines;
mod encode;
mod export;
mod facts;
mod go;
mod layout;
mod line;
mod log;
mod member;
mod message_count;
mod pair;
mod raw;
mod sidecar;
#[cfg(test)]
mod tests;
mod write;

pub use counted_lines::{CountedLine, LineTraits, counted_lines, repaired_log};
pub use export::{write, write_document};
pub use message_count::messages_among;
pub use pair::{file_stem, grown_files, is_continued, pair, stem};
pub use raw::{PLACEHOLDER, RawRange, first_time, is_document, is_log, raw_lines};
pub use sidecar::PicoclawSidecar;
pub use write::{LONGEST, log_line_of, log_lines};

use super::kit::records;
use super::native::source_member;
use super::report::{Loss, LossSet, Report};
use super::{DocumentSource, Format, FormatSpec, ReadFn};
use crate::error::{Error, Position, Result};
use crate::model::record::{mark_length, without_mark};
use crate::model::session::Session;
use crate::model::{json, key};
use facts::{InputKind, MemberNames, RawMembers};
use line::MessageLine as Message;
use log::PicoclawLog;
use member::ParseRules;
use raw::lines;
use std::borrow::Cow;

/// PicoClaw's logs with their sidecars, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: "picoclaw",
    about: "PicoClaw log with .meta.json",
    read: ReadFn::Document(read),
    write: Some(write),
    variant: Some(|document| match is_document(document) {
        true => Format::PicoclawLegacy,
        false => Format::Picoclaw,
    }),
    unsupported: LossSet::USUAL.without(&[Loss::Timestamp]).with(&[Loss::Summary]),
    note: "Reads the sidecar (.meta.json) next to the log. In place, appends to the log and updates the sidecar.",
    ..FormatSpec::BLANK
};

/// PicoClaw's documents of before, as a format.
pub const LEGACY: FormatSpec = FormatSpec {
    name: "picoclaw-legacy",
    about: "PicoClaw JSON document",
    read: ReadFn::Document(read),
    write: Some(write_document),
    unsupported: LossSet::USUAL.without(&[Loss::Timestamp]),
    ..FormatSpec::BLANK
};

/// File extension of a log.
pub const LOG: &str = ".jsonl";

/// File extension of a sidecar.
pub const SIDECAR: &str = ".meta.json";

const DOCUMENT: &str = ".json";

/// The position of the input as a whole.
const WHOLE: Position = Position { line: 0, offset: 0 };

/// Reads a session, whose lines have their positions in the log or document. Damage is reported and preserved; an input
/// without any session is a data error.
pub fn read(source: &DocumentSource<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let neighbor = |name: &str| {
        (source.neighbor)(name).map_err(|error| Error::io(format_args!("cannot read {name}"), error))
    };
    if let Some(stem) = source.name.and_then(|name| name.strip_suffix(SIDECAR)) {
        report.differs_from_input = true;
        let name = format!("{stem}{LOG}");
        let Some(lines) = neighbor(&name)? else {
            return read_sidecar(source, Some(stem), report);
        };
        // The result is the same for either file name.
        let log = DocumentSource {
            name: Some(&name),
            bytes: &lines,
            neighbor: source.neighbor,
        };
        return Ok(vec![read_log(&log, Some(stem), Some(source.bytes), report)]);
    }
    let bom = mark_length(source.bytes);
    let bytes = &source.bytes[bom..];
    let whole = facts::input_kind(bytes);
    match whole {
        InputKind::Document(document) => return Ok(vec![read_document(source, bom, &document, report)]),
        InputKind::Sidecar => return read_sidecar(source, None, report),
        InputKind::Other | InputKind::NotOneObject(_) => {}
    }
    if let Some(stem) = source.name.and_then(|name| name.strip_suffix(LOG)) {
        let sidecar = neighbor(&format!("{stem}{SIDECAR}"))?;
        report.differs_from_input |= sidecar.is_some();
        return Ok(vec![read_log(source, Some(stem), sidecar.as_deref(), report)]);
    }
    // Without a file name, the lines have to show that this is a log.
    let is_document = source
        .name
        .is_some_and(|name| name.to_ascii_lowercase().contains(DOCUMENT));
    let mut lines = lines(source.bytes).map(|raw| Message::read(raw.text, ParseRules::Log).is_ok());
    let is_log = if is_document {
        lines.next() == Some(true)
    } else {
        lines.any(|is_message| is_message)
    };
    let is_list = bytes.get(json::skip_space(bytes, 0)) == Some(&b'[');
    if is_log && !is_list {
        return Ok(vec![read_log(source, source.name.map(stem_of), None, report)]);
    }
    let why = match whole {
        _ if is_list => "a list",
        InputKind::NotOneObject(fault) if !bytes.is_empty() => {
            let offset = fault.offset + bom;
            let before = &source.bytes[..offset.min(source.bytes.len())];
            let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
            let place = Position {
                line,
                offset: offset as u64,
            };
            return Err(not_a_session(fault.what).at("", place));
        }
        InputKind::NotOneObject(_) => "empty",
        _ => "object without messages and summary",
    };
    Err(not_a_session(why))
}

fn not_a_session(why: &str) -> Error {
    Error::data(format!("not a PicoClaw session: {why}"))
}

/// The aliases in a session's header: trimmed, without blank ones, duplicates and the session's own key.
pub fn aliases(header_line: &[u8]) -> Vec<String> {
    let own = json::member_text(header_line, "key").unwrap_or_default();
    let note = records::note(header_line, "picoclaw").unwrap_or_default();
    let all = json::list(note, "aliases").into_iter().filter_map(json::text);
    aliases_among(all.map(Cow::into_owned), &own)
}

/// Normalizes aliases like PicoClaw: trimmed, without blank ones, duplicates and the session's own key.
fn aliases_among(all: impl IntoIterator<Item = String>, own: &str) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    all.into_iter()
        .map(|alias| alias.trim().to_string())
        .filter(|alias| !alias.is_empty() && alias != own && seen.insert(alias.clone()))
        .collect()
}

/// The file name without its session extension.
fn stem_of(name: &str) -> &str {
    let lower = name.to_ascii_lowercase();
    let ending = [".json.migrated", DOCUMENT, LOG]
        .into_iter()
        .find(|ending| lower.ends_with(ending));
    // ASCII case folding does not change the length.
    ending.map_or(name, |ending| &name[..name.len() - ending.len()])
}

/// The digest in a `source` member.
fn digest(source: &[u8]) -> String {
    json::member_string(source, "sha256").unwrap_or_default()
}

/// The key in a file, else that of its name; `None` on a pipe.
fn key_of<'a>(facts: &'a RawMembers<'_>, stem: Option<&'a str>) -> Option<&'a str> {
    facts.key.as_deref().filter(|key| !key.is_empty()).or(stem)
}

/// Starts a session with its header; a session without a key is named by a hash of its bytes.
fn start_log<'r>(
    facts: &RawMembers<'_>,
    stem: Option<&str>,
    source: Vec<u8>,
    report: &'r mut Report,
) -> PicoclawLog<'r> {
    let key = key_of(facts, stem);
    let id = match key {
        Some(key) => key::id_for_key(key),
        None => format!("session_{}", digest(&source).get(..16).unwrap_or_default()),
    };
    let header = facts.header(key, &id, source);
    if std::str::from_utf8(&header).is_err()
        || facts.summary.is_some_and(|raw| std::str::from_utf8(raw).is_err())
    {
        report.damage(
            WHOLE,
            "the sidecar is not UTF-8; invalid bytes replaced by U+FFFD",
        );
    }
    PicoclawLog::new(&go::repaired(header), report)
}

fn read_log(
    source: &DocumentSource<'_>,
    stem: Option<&str>,
    sidecar: Option<&[u8]>,
    report: &mut Report,
) -> Session {
    let member = source_member(Format::Picoclaw, source, sidecar.as_slice());
    let digest = digest(&member);
    let facts = sidecar_facts(sidecar, stem, report);
    let mut log = start_log(&facts, stem, member, report);
    let mut count = 0;
    for raw in lines(source.bytes) {
        count += 1;
        let skipped = count <= facts.skip;
        // PicoClaw counts a line that is only a byte order mark, but there is no content to preserve.
        if raw.text.is_empty() {
            continue;
        }
        let begins = Position {
            offset: raw.place.offset + raw.bom as u64,
            ..raw.place
        };
        match Message::read(raw.text, ParseRules::Log) {
            Ok(line) => log.message(&line, raw.text, begins, skipped),
            Err(fault) => {
                if !skipped {
                    log.report_fault(begins, fault);
                }
                log.reject(raw.full, raw.text, raw.place, skipped);
            }
        }
    }
    if facts.skip > count {
        let what = format!(
            "the sidecar skips {} lines, but the log has {count}; the view is empty",
            facts.skip
        );
        log.report.damage(WHOLE, what);
    }
    log.finish(
        facts.summary(),
        facts.skip > 0,
        facts.updated().as_deref(),
        &digest,
    )
}

/// The data of the sidecar; empty if it is missing or unreadable.
fn sidecar_facts<'a>(sidecar: Option<&'a [u8]>, stem: Option<&str>, report: &mut Report) -> RawMembers<'a> {
    let Some(bytes) = sidecar else {
        return RawMembers::default();
    };
    let name = format!("{}{SIDECAR}", stem.unwrap_or_default());
    let facts = match RawMembers::read(without_mark(bytes), MemberNames::Sidecar) {
        Ok(facts) => facts,
        Err(fault) => {
            let what = format!(
                "{name} is unreadable ({}); all lines are in the view, a summary is lost",
                fault.what
            );
            report.damage(WHOLE, what);
            return RawMembers::default();
        }
    };
    for (member, ..) in &facts.misfits {
        report.damage(
            WHOLE,
            format!("{name}: {member} has a wrong type; kept in the metadata"),
        );
    }
    if let (Some(key), Some(stem)) = (&facts.key, stem)
        && key.replace([':', '/', '\\'], "_") != stem
    {
        report.note(
            WHOLE,
            format!("{name}: the key '{key}' does not match the file name"),
        );
    }
    facts
}

/// A sidecar without a log is a session without messages.
fn read_sidecar(
    source: &DocumentSource<'_>,
    stem: Option<&str>,
    report: &mut Report,
) -> Result<Vec<Session>> {
    let read = RawMembers::read(without_mark(source.bytes), MemberNames::Sidecar);
    match &read {
        Ok(facts) if facts.is_known => {}
        Ok(_) => return Err(not_a_session("object is not a sidecar either")),
        Err(fault) => {
            return Err(not_a_session(fault.what).at(
                "",
                Position {
                    line: 1,
                    offset: fault.offset as u64,
                },
            ));
        }
    }
    let stem = stem.or_else(|| source.name.map(stem_of));
    let member = source_member(Format::Picoclaw, source, &[]);
    let digest = digest(&member);
    let facts = sidecar_facts(Some(source.bytes), stem, report);
    if facts.count > 0 {
        report.note(
            WHOLE,
            format!("the sidecar counts {} lines, but the log is missing", facts.count),
        );
    }
    if facts.skip > 0 {
        report.damage(
            WHOLE,
            format!("the sidecar skips {} lines, but the log is missing", facts.skip),
        );
    }
    let log = start_log(&facts, stem, member, report);
    Ok(vec![log.finish(
        facts.summary(),
        facts.skip > 0,
        facts.updated().as_deref(),
        &digest,
    )])
}

fn read_document(
    source: &DocumentSource<'_>,
    bom: usize,
    facts: &RawMembers<'_>,
    report: &mut Report,
) -> Session {
    let mut places = LogPositions {
        bytes: source.bytes,
        offset: 0,
        line: 1,
    };
    for (member, _, at) in &facts.misfits {
        report.damage(
            places.at(bom + at),
            format!("{member} has a wrong type; kept in the metadata"),
        );
    }
    let member = source_member(Format::Picoclaw, source, &[]);
    let digest = digest(&member);
    let mut log = start_log(facts, source.name.map(stem_of), member, report);
    for (at, raw) in &facts.messages {
        let place = places.at(bom + at);
        match Message::read(raw, ParseRules::Document) {
            Ok(line) => log.message(&line, raw, place, false),
            Err(fault) => {
                log.report_fault(place, fault);
                log.foreign(raw, place);
            }
        }
    }
    log.finish(facts.summary(), false, facts.updated().as_deref(), &digest)
}

/// Computes positions of mostly ascending offsets.
struct LogPositions<'a> {
    bytes: &'a [u8],
    offset: usize,
    line: u64,
}

impl LogPositions<'_> {
    fn at(&mut self, offset: usize) -> Position {
        if offset < self.offset {
            (self.offset, self.line) = (0, 1);
        }
        let between = self.bytes.get(self.offset..offset).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', between).count() as u64;
        self.offset = offset;
        Position {
            line: self.line,
            offset: offset as u64,
        }
    }
}
