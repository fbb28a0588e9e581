//! Writes sessions back to their log; unchanged lines keep their bytes.

use super::apply_edits::write_log;
use super::change_plan::decide;
use super::encode_new::{Envelope, LineFactory, NewLine};
use super::line::ClaudeLineKind;
use super::line_changes::{LineChanges, ParsedSource};
use super::log::ClaudeLog;
use super::parts::parts;
use super::session::{BuiltSession, LogConversion};
use crate::error::{Error, Result};
use crate::format::report::Report;
use crate::format::{EditedSession, WritePurpose, written};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;
use std::io::Write;

/// Writes the sessions of a log back.
///
/// # Errors
/// A usage error for changes that a log cannot represent, such as undoing a compaction by the program.
pub fn write_back(sessions: &[EditedSession<'_>], out: &mut dyn Write, report: &mut Report) -> Result<()> {
    let Some(origin) = sessions.first().and_then(|first| first.session.origin()) else {
        return Ok(());
    };
    written(out.write_all(&origin.before))?;
    if sessions.iter().all(|returned| !returned.changed) {
        return written(out.write_all(&origin.bytes));
    }
    let name = name(sessions[0].session);
    let mut left: Vec<&EditedSession<'_>> = sessions.iter().filter(|returned| returned.changed).collect();
    for log in parts(ClaudeLog::of(origin.clone())) {
        let mut making = LogConversion::new(log, name.clone(), false, super::record::ReadPurpose::Write);
        let built: Vec<BuiltSession> = std::iter::from_fn(|| making.next()).collect();
        let mut own = Vec::new();
        for built in &built {
            let returned = left.iter().position(|returned| is_from(returned.session, built));
            own.extend(returned.map(|at| (left.remove(at), built)));
        }
        change(&making.log, &built, &own, out, report)?;
    }
    match left.first() {
        Some(returned) => {
            let id = returned.session.header_text("id").unwrap_or_default();
            let what = format!("session {id} was modified by another program");
            Err(Error::data(what))
        }
        None => Ok(()),
    }
}

/// Writes a log in which these sessions have changed.
fn change(
    log: &ClaudeLog,
    all: &[BuiltSession],
    changed: &[(&EditedSession<'_>, &BuiltSession)],
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let mut changes = LineChanges::new(log.lines.len());
    let mut maker = LineFactory::new(log, WritePurpose::Return, report);
    let mut main = None;
    for (returned, built) in changed {
        let before = View::replay(&built.session);
        let parsed = ParsedSource {
            log,
            session: returned.session,
            sources: &built.sources,
            lines: &built.lines,
            last: built.is_main,
            before: &before,
            now: returned.view,
        };
        let mut lines = built.lines.iter().rev();
        let newest = lines.find_map(|line| log.message_facts(*line));
        maker.envelope = Envelope::of(newest, returned.session, |_| None);
        decide(&mut changes, &parsed, &mut maker)?;
        if built.is_main {
            main = Some((maker.envelope.clone(), returned.view.items.is_empty()));
        }
    }
    if let (Some((envelope, is_empty)), [first, others @ ..]) = (main, all) {
        maker.envelope = envelope;
        keep_separate(log, &mut changes, (&first.lines, is_empty), others, &mut maker)?;
        check_order(log, &changes)?;
    }
    write_log(log, changes, out)
}

fn has_parent(new: &NewLine) -> bool {
    json::string_member(&new.body, "parentUuid").is_some()
}

/// Returns an error if a log in which no line has a parent, so that it is read in line order, would get lines with one
/// before a message: the last message, which has none, would hide the new lines and all other messages.
fn check_order(log: &ClaudeLog, changes: &LineChanges) -> Result<()> {
    let is_kept = |line: usize| log.lines[line].is_message() && !changes.is_removed(line);
    let new = changes.new.iter().filter(|(_, new)| new.iter().any(has_parent));
    let first = new.map(|(at, _)| *at).min().unwrap_or(log.lines.len());
    if log.linked || changes.parents.contains_key(&first) || !(first..log.lines.len()).any(is_kept) {
        return Ok(());
    }
    Err(Error::not_in_place(
        "a log without parents cannot get a summary in place",
    ))
}

/// Keeps branches and sidechains out of the main session. If no remaining line has a parent, a log is read in line order,
/// and branches would become part of the main session; if no message of it remains, another session takes its place.
/// Therefore, inserts a boundary as the parent of the main session, or in place of it.
///
/// # Errors
/// A usage error if only lines that are not messages remain visible, which the boundary would hide.
fn keep_separate(
    log: &ClaudeLog,
    changes: &mut LineChanges,
    (main, is_empty): (&[usize], bool),
    others: &[BuiltSession],
    maker: &mut LineFactory<'_>,
) -> Result<()> {
    let is_kept = |line: &&usize| log.lines[**line].is_message() && !changes.is_removed(**line);
    let first = main.iter().find(is_kept).copied();
    let end = log.lines.len();
    let appends = changes.new.get(&end).is_some_and(|new| !new.is_empty());
    let is_replaced = first.is_none() && !appends;
    let extra = |line: &&usize| is_kept(line) && (is_replaced || log.lines[**line].sidechain.is_none());
    if !others
        .iter()
        .any(|built| built.lines.iter().any(|line| extra(&line)))
    {
        return Ok(());
    }
    if is_replaced && !is_empty {
        return Err(Error::not_in_place(
            "another branch or a sidechain would replace the session, which has no message left",
        ));
    }
    let kept = changes.nearest_kept(log);
    let is_linked = |line: usize| {
        let above = log.lines[line].above.and_then(|above| kept[above]);
        kept[line] == Some(line) && above.is_some()
    };
    let linked = !changes.parents.is_empty()
        || changes.new.values().flatten().any(has_parent)
        || (0..log.lines.len()).any(is_linked);
    if linked && !is_replaced {
        return Ok(());
    }
    // The boundary hides all lines before it, including attached context.
    let is_visible = |line: &&usize| {
        let is_attached = log.lines[**line].kind == ClaudeLineKind::Attachment;
        is_kept(line) || is_attached && !changes.is_removed(**line)
    };
    let first = first.and_then(|_| main.iter().find(is_visible).copied());
    let boundary = maker.boundary(log.sha256.as_deref().unwrap_or_default().as_bytes(), None);
    let uuid = boundary.uuid.clone();
    let new = changes.new.entry(first.unwrap_or(end)).or_default();
    if let (None, Some(next)) = (first, new.first_mut())
        && let Ok(body) = json::with_members(&next.body, &[("parentUuid", Some(&uuid))])
    {
        next.body = body;
    }
    new.insert(0, boundary);
    if let Some(first) = first {
        changes.parents.insert(first, uuid);
    }
    Ok(())
}

/// The file name of a session's input.
fn name(session: &Session) -> Option<String> {
    json::member_string(session.header_member("source")?, "name")
}

/// Whether a session starts with the records that were read.
fn is_from(session: &Session, built: &BuiltSession) -> bool {
    let read = &built.session;
    session.len() >= read.len() && (0..read.len()).all(|index| session.full(index) == read.full(index))
}
