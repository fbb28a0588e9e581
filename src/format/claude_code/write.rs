//! Writes any session as a log that Claude Code can resume. Restores the original lines of records that were read from
//! a log, so that a conversion to the record stream and back is lossless.

use super::apply_edits::write_log;
use super::change_plan::decide;
use super::encode_new::{Envelope, LineFactory, session_id};
use super::line::{LineMembers, NAME, parent_member};
use super::line_changes::{LineChanges, ParsedSource};
use super::log::{ClaudeLog, LogLine};
use super::tree::{ClaudeSideSession, LineSet, groups};
use super::{envelope, parts, record, title};
use crate::error::Result;
use crate::format::kit::losses;
use crate::format::kit::records::{self, passthrough_raw};
use crate::format::request::Api;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{WritePurpose, WriteTarget};
use crate::model::json::{self, Dialect, ObjectBuilder, quoted};
use crate::model::session::{Class, Session};
use crate::model::summary;
use crate::model::view::View;
use std::collections::HashSet;

/// Writes the view of a session.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let (bytes, sources) = lines(session);
    let log = ClaudeLog::of_bytes(bytes);
    let log = with_present_parents(&log).map_or(log, ClaudeLog::of_bytes);
    let id = session.header_text("id").unwrap_or_default();
    let log = united_lines(&log, &session_id(&id)).map_or(log, ClaudeLog::of_bytes);
    let own = session.live_events().into_iter();
    let own = own.filter(|index| View::is_moved_by(session, *index) && note(session, *index).is_some());
    let before = View::after(session, own.collect());
    let all: Vec<usize> = (0..log.lines.len()).collect();
    let parsed = ParsedSource {
        log: &log,
        session,
        sources: &sources,
        lines: &all,
        last: true,
        before: &before,
        now: view,
    };
    let mut maker = LineFactory::new(&log, purpose, report);
    maker.envelope = envelope(session, &log);
    let mut changes = LineChanges::new(log.lines.len());
    decide(&mut changes, &parsed, &mut maker)?;
    let id = maker.envelope.session;
    write_log(&log, changes, out)?;
    if purpose == WritePurpose::Export {
        let placed = [
            WorkspaceMember::Directory,
            WorkspaceMember::Branch,
            WorkspaceMember::Model,
        ];
        let keeps = |body: &[u8]| losses::keeps_header(body, &losses::HEADER, &placed, NAME);
        let keeps_event = |index: usize| !sources[index].is_empty() || View::is_moved_by(session, index);
        losses::records(session, keeps, keeps_event, report);
    }
    match session
        .header_text("title")
        .filter(|name| title::of(&log).as_ref() != Some(name))
    {
        Some(name) => {
            let mut line = ObjectBuilder::default();
            line.text("type", "custom-title")
                .text("customTitle", &name)
                .raw("sessionId", id);
            let mut line = line.finish();
            line.push(b'\n');
            crate::format::written(out.write_all(&line))
        }
        None => Ok(()),
    }
}

/// The format's annotation of a record.
fn note(session: &Session, index: usize) -> Option<&[u8]> {
    records::note(session.record(index).body, NAME)
}

/// The elements of an annotation.
fn elements(note: &[u8], name: &str) -> Option<Vec<Vec<u8>>> {
    let elements = json::elements(json::member(note, name)?, Dialect::Strict)?;
    Some(elements.into_iter().map(<[u8]>::to_vec).collect())
}

/// The original lines of a session's records, and for each record its lines.
fn lines(session: &Session) -> (Vec<u8>, Vec<Vec<usize>>) {
    let mut sources = vec![Vec::new(); session.len()];
    let (mut bytes, mut count) = (Vec::new(), 0);
    let mut index = 0;
    while index < session.len() {
        let restored = match session.class(index) {
            Class::Message(_) => message(session, index),
            Class::Event => event(session, index).map(|lines| (lines, 1)),
            _ => None,
        };
        let (lines, records) = restored.unwrap_or((Vec::new(), 1));
        for source in &mut sources[index..index + records] {
            *source = (count..count + lines.len()).collect();
        }
        count += lines.len();
        for line in lines {
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
        }
        index += records;
    }
    (bytes, sources)
}

/// The original lines of the message at `index`, and the number of records that share them.
fn message(session: &Session, index: usize) -> Option<(Vec<Vec<u8>>, usize)> {
    let own = note(session, index)?;
    let number = |note, name| json::member(note, name).and_then(json::number::<usize>);
    let parts = number(own, "parts").unwrap_or(1).max(1);
    let follows = |part: usize| {
        let record = index + part - 1;
        record < session.len() && { note(session, record) }.and_then(|note| number(note, "part"))
            == Some(part)
    };
    (2..=parts).all(follows).then_some(())?;
    let bodies: Vec<&[u8]> = (index..index + parts)
        .map(|record| session.record(record).body)
        .collect();
    let lines = match elements(own, "lines") {
        Some(shells) => envelope::fill(&shells, record::written(&bodies)?.as_deref())?,
        None => elements(own, "raw").filter(|raw| is_same(raw, &bodies))?,
    };
    Some((lines, parts))
}

/// Whether lines still decode to these messages.
fn is_same(lines: &[Vec<u8>], bodies: &[&[u8]]) -> bool {
    let facts: Vec<LineMembers<'_>> = lines
        .iter()
        .filter_map(|line| LineMembers::of(line).ok())
        .collect();
    let drafts = record::drafts(&facts);
    let members = ["role", "content", "tool_calls", "tool_call_id", "reasoning"];
    drafts.len() == bodies.len()
        && drafts.iter().zip(bodies).all(|(draft, body)| {
            let then = draft.body(Api::Anthropic);
            json::several(&then, members) == json::several(body, members)
        })
}

/// The original line of an event.
fn event(session: &Session, index: usize) -> Option<Vec<Vec<u8>>> {
    let record = session.record(index);
    let event = record.event()?;
    match event.name().as_ref() {
        "foreign" => Some(vec![passthrough_raw(event.raw, NAME)?.to_vec()]),
        "summary" => {
            let note = note(session, index)?;
            elements(note, "raw").or_else(|| {
                let text = json::member_text(event.raw, "content")?;
                let content = match json::member(note, "quoted") {
                    Some(b"true") => quoted(&summary::quoted(&text)),
                    _ => quoted(&text),
                };
                envelope::fill(&elements(note, "lines")?, Some(&content))
            })
        }
        _ => None,
    }
}

/// A log with parents that are not in it replaced by the preceding line; `None` if there are none. If no line has a
/// parent and several are roots, the line order defines the session; then no parents are set, because one line with a
/// parent would separate the others.
fn with_present_parents(log: &ClaudeLog) -> Option<Vec<u8>> {
    let has_parent = |line: &LogLine| line.parent.is_some_and(|parent| log.has(parent));
    let is_lost = |line: &LogLine| line.parent.is_some() && !has_parent(line);
    let is_root = |line: &&LogLine| line.uuid.is_some() && line.parent.is_none();
    let is_loose = !log.lines.iter().any(has_parent) && log.lines.iter().filter(is_root).count() > 1;
    if is_loose || !log.lines.iter().any(is_lost) {
        return None;
    }
    let mut last: Option<Vec<u8>> = None;
    Some(rewritten(log, |index| {
        let (line, body) = (&log.lines[index], log.body(index));
        let above = is_lost(line).then(|| last.clone().unwrap_or_else(|| b"null".to_vec()));
        let own = line.uuid.and_then(|_| log.uuid(index));
        last = own.or(last.take());
        json::with_members(body, &[(parent_member(body), Some(&above?))]).ok()
    }))
}

/// The lines of a log with changes; `changed` returns a line if it changes.
fn rewritten(log: &ClaudeLog, mut changed: impl FnMut(usize) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for index in 0..log.lines.len() {
        bytes.extend_from_slice(changed(index).as_deref().unwrap_or(log.body(index)));
        bytes.push(b'\n');
    }
    bytes
}

/// The lines of several logs that were joined, as one log of this session: the first lines of the later logs get the last
/// message as parent. `None` if the lines are one log.
fn united_lines(log: &ClaudeLog, session: &[u8]) -> Option<Vec<u8>> {
    let is_branch = |group: &LineSet| matches!(group.side, Some(ClaudeSideSession::Branch(_)));
    if parts::is_single(log) && !groups(log).iter().any(is_branch) {
        return None;
    }
    let parents: HashSet<usize> = log.lines.iter().filter_map(|line| line.above).collect();
    let is_first = |index: usize| {
        let line = &log.lines[index];
        let has_messages = line.is_message() || parents.contains(&index);
        line.uuid.is_some() && line.parent.is_none() && line.sidechain.is_none() && has_messages
    };
    let mut last: Option<Vec<u8>> = None;
    let mut is_united = false;
    let bytes = rewritten(log, |index| {
        let facts = log.facts(index).filter(|facts| !facts.is_sidechain())?;
        let mut changes = Vec::new();
        changes.extend(facts.get("sessionId").map(|_| ("sessionId", Some(session))));
        let is_boundary = facts.get("logicalParentUuid").is_some();
        let name = if is_boundary {
            "logicalParentUuid"
        } else {
            "parentUuid"
        };
        let above = last
            .as_deref()
            .filter(|above| is_first(index) && facts.uuid() != Some(*above));
        is_united |= above.is_some();
        changes.extend(above.map(|above| (name, Some(above))));
        let body = json::with_members(log.body(index), &changes).ok();
        let uuid = facts.uuid().filter(|_| log.lines[index].is_message());
        last = uuid.map(<[u8]>::to_vec).or(last.take());
        body
    });
    is_united.then_some(bytes)
}

/// The common members of the lines, as in the newest one with a message, else as in the header.
fn envelope(session: &Session, log: &ClaudeLog) -> Envelope {
    let mut lines = (0..log.lines.len()).rev();
    let newest = lines.find_map(|line| log.message_facts(line));
    let own = session.metadata(NAME);
    let workspace = Workspace::of(session);
    let known = |name: &str| match name {
        "cwd" => workspace.cwd.clone(),
        "gitBranch" => workspace.branch.clone(),
        name => json::member(own.as_deref()?, name).map(<[u8]>::to_vec),
    };
    Envelope {
        time: session.header_member("created_at").map(<[u8]>::to_vec),
        model: workspace.model.clone(),
        ..Envelope::of(newest, session, known)
    }
}
