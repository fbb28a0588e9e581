//! Arranges the lines of a log: hidden messages first, which the skip count covers, then the view.

use super::line::MessageLine;
use super::member::ParseRules;
use super::write::LogEncoder;
use crate::error::{Position, Result};
use crate::format::kit::records::passthrough_raw;
use crate::format::report::{Loss, Report};
use crate::model::event::Action;
use crate::model::json;
use crate::model::record::{Record, RecordKind};
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use std::collections::{BTreeSet, HashSet};

/// The lines of a log, without newlines.
#[derive(Debug, Default)]
pub(super) struct LogLayout {
    /// Hidden lines; their number is the skip count.
    pub head: Vec<Vec<u8>>,
    /// Visible lines, and lines that no reader shows.
    pub lines: Vec<Vec<u8>>,
    /// The summary of covered messages.
    pub summary: Option<String>,
}

/// Arranges a session. `whole` includes the hidden lines. In a session read from PicoClaw's files, lines that are not
/// messages are preserved as long as PicoClaw rejects them.
pub(super) fn layout(
    session: &Session,
    view: &View,
    whole: bool,
    writing: &mut LogEncoder<'_>,
    report: &mut Report,
) -> Result<LogLayout> {
    let mut out = LogLayout::default();
    let shown: HashSet<usize> = view
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Line(index) => Some(*index),
            _ => None,
        })
        .collect();
    let first = view.items.iter().filter_map(Item::line).min();
    let own = is_own(session) && writing.is_log();
    // Lines that no reader shows keep their positions; other hidden lines move to the start.
    let mut extra = Vec::new();
    let mut before = BTreeSet::new();
    for index in 0..session.len() {
        match session.class(index) {
            Class::Message(_) if shown.contains(&index) => {}
            Class::Message(_) if is_hidden(session, index) && own => extra.push(index),
            Class::Message(_) => drop(before.insert(index)),
            Class::Unreadable | Class::Event if rejected(session, index).is_some() => {
                if own {
                    extra.push(index);
                } else {
                    report.count_loss(Loss::Unreadable, 1);
                }
            }
            Class::Unreadable => report.count_loss(Loss::Unreadable, 1),
            _ => {}
        }
    }
    // The last line of the log that the skip count may cover.
    let last = match first {
        Some(first) => before.range(..first).next_back().copied(),
        None => before.last().map(|_| session.len()),
    };
    let mut extra = extra.into_iter().peekable();
    while let Some(index) = extra.next_if(|index| last.is_some_and(|last| *index < last)) {
        before.insert(index);
    }
    if whole {
        for index in before {
            out.head.push(log_line(session, index, writing, report)?);
        }
    }
    let mut texts = Vec::new();
    for item in &view.items {
        if let Some(line) = item.line() {
            while let Some(index) = extra.next_if(|index| *index < line) {
                out.lines.push(log_line(session, index, writing, report)?);
            }
        }
        match (item.message(session), item.summary(session)) {
            (Some(message), _) => {
                out.lines
                    .push(writing.line(&message, item.body(session), report)?);
            }
            (None, Some(text)) => texts.push(text.into_owned()),
            (None, None) => {}
        }
    }
    for index in extra {
        out.lines.push(log_line(session, index, writing, report)?);
    }
    out.summary = (!texts.is_empty()).then(|| texts.join("\n\n"));
    Ok(out)
}

/// Converts a line of the session to one of a log.
fn log_line(
    session: &Session,
    index: usize,
    writing: &mut LogEncoder<'_>,
    report: &mut Report,
) -> Result<Vec<u8>> {
    let record = session.record(index);
    match (&record.kind, rejected(session, index)) {
        (RecordKind::Message(message), _) => writing.line(message, record.body, report),
        (_, raw) => Ok(raw.unwrap_or_default()),
    }
}

/// Whether PicoClaw never shows this message.
fn is_hidden(session: &Session, index: usize) -> bool {
    let record = session.record(index);
    let Some(message) = record.message() else {
        return false;
    };
    // Cheap test first: nearly every message has text or calls.
    message.reasoning.is_some()
        && !message.calls_tools()
        && message.text().trim().is_empty()
        && super::write::is_reasoning_only(message, record.body)
}

/// The bytes of a line that PicoClaw counts and rejects.
fn rejected(session: &Session, index: usize) -> Option<Vec<u8>> {
    let record = session.record(index);
    let raw = match &record.kind {
        RecordKind::Unreadable(_) => {
            let full = record.full.strip_suffix(b"\n").unwrap_or(record.full);
            full.strip_suffix(b"\r").unwrap_or(full).to_vec()
        }
        RecordKind::Event(_) => passthrough_text(&record)?,
        _ => return None,
    };
    (!raw.is_empty() && !raw.contains(&b'\n') && MessageLine::read(&raw, ParseRules::Log).is_err())
        .then_some(raw)
}

/// The original text of a passthrough record.
fn passthrough_text(record: &Record<'_>) -> Option<Vec<u8>> {
    let event = record.event()?;
    let raw = passthrough_raw(event.raw, "picoclaw").and_then(json::text)?;
    let raw = raw.into_owned().into_bytes();
    // A value from a document may span several lines.
    Some(if raw.contains(&b'\n') {
        json::compact(&raw).0
    } else {
        raw
    })
}

/// Whether the session was read from PicoClaw's files.
pub(super) fn is_own(session: &Session) -> bool {
    source(session, "format").is_some_and(|format| format == "picoclaw")
}

fn source(session: &Session, name: &str) -> Option<String> {
    json::member_string(session.header_member("source")?, name)
}

/// Counts the events that the files cannot represent; with a sidecar (`kept`), truncations and summaries are
/// represented.
pub(super) fn count_event_losses(session: &Session, view: &View, kept: bool, report: &mut Report) {
    let digest = source(session, "sha256").filter(|_| is_own(session));
    let live: HashSet<usize> = session.live_events().into_iter().collect();
    let summaries: HashSet<usize> = view
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Summary(index) => Some(*index),
            _ => None,
        })
        .collect();
    for index in (0..session.len()).filter(|index| session.class(*index) == Class::Event) {
        let record = session.record(index);
        let Some(event) = record.event() else { continue };
        let name = event.name();
        // Events that the reader adds are added again on reading.
        let built = digest.as_deref().is_some_and(|digest| {
            let id = super::log::event_id(&name, digest);
            event.id().is_some_and(|own| own == id)
        });
        let preserved = match event.action() {
            _ if built || rejected(session, index).is_some() => true,
            Action::Meta(_) => live.contains(&index),
            Action::Truncate(_) => kept && live.contains(&index),
            Action::Summary(_) => summaries.contains(&index),
            _ => false,
        };
        report.count_loss(Loss::Event, u64::from(!preserved));
    }
}

/// The position of session data in a report.
pub(super) const SESSION: Position = Position { line: 0, offset: 0 };
