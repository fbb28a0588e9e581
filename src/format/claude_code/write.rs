//! Writes any session as a log that Claude Code can resume. Restores the original lines of records that were read from
//! a log, so that a conversion to the record stream and back is lossless.

use super::apply_edits::write_log;
use super::change_plan::decide;
use super::encode_new::{ClaudeIds, Envelope, LineFactory, session_id};
use super::line::{LineId, LineMembers};
use super::line_changes::{LineChanges, ParsedSource};
use super::log::ClaudeLog;
use super::tree::{ClaudeSideSession, LineSet, groups};
use super::{NAME, envelope, parts, record, title};
use crate::error::Result;
use crate::format::kit::losses;
use crate::format::kit::records::{self, passthrough_raw};
use crate::format::request::Api;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{WritePurpose, WriteTarget};
use crate::model::json::{self, Dialect, ObjectBuilder, quoted};
use crate::model::session::{Class, Session};
use crate::model::source_bytes::SourceBytes;
use crate::model::summary;
use crate::model::view::View;
use std::collections::HashSet;
use std::sync::Arc;

/// Writes the view of a session.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let (bytes, sources) = lines(session);
    let log_of = |bytes| {
        ClaudeLog::of(Arc::new(SourceBytes {
            bytes,
            ..SourceBytes::default()
        }))
    };
    let log = log_of(bytes);
    let id = session.header_text("id").unwrap_or_default();
    let log = united_lines(&log, &session_id(&id)).map_or(log, log_of);
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
    let mut maker = LineFactory {
        envelope: envelope(session, &log),
        log: &log,
        ids: ClaudeIds::default(),
        purpose,
        report,
    };
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
fn note(session: &Session, index: usize) -> Option<Vec<u8>> {
    records::note(session.record(index).body, NAME).map(<[u8]>::to_vec)
}

/// The original lines of a session's records, and for each record its lines.
fn lines(session: &Session) -> (Vec<u8>, Vec<Vec<usize>>) {
    let mut sources = vec![Vec::new(); session.len()];
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut index = 0;
    while index < session.len() {
        let (built, records) = match session.class(index) {
            Class::Message(_) => message(session, index),
            Class::Event => (event(session, index), 1),
            _ => (None, 1),
        };
        let first = lines.len();
        lines.extend(built.into_iter().flatten());
        for source in &mut sources[index..index + records] {
            *source = (first..lines.len()).collect();
        }
        index += records;
    }
    (join_lines(lines), sources)
}

/// The original lines of the message at `index`, and the number of records that share them.
fn message(session: &Session, index: usize) -> (Option<Vec<Vec<u8>>>, usize) {
    let Some(note) = note(session, index) else {
        return (None, 1);
    };
    let number = |raw: Option<&[u8]>| json::number::<usize>(raw?);
    let parts = number(json::member(&note, "parts")).unwrap_or(1);
    let follows = |part: &usize| {
        let record = index + part - 1;
        let own = (record < session.len())
            .then(|| self::note(session, record))
            .flatten();
        own.is_some_and(|note| number(json::member(&note, "part")) == Some(*part))
    };
    if (2..=parts).any(|part| !follows(&part)) {
        return (None, 1);
    }
    let bodies: Vec<Vec<u8>> = (index..index + parts.max(1))
        .map(|record| session.record(record).body.to_vec())
        .collect();
    let elements = |name| json::elements(json::member(&note, name)?, Dialect::Strict);
    let lines = match (elements("lines"), elements("raw")) {
        (Some(shells), _) => {
            record::written(&bodies).and_then(|content| envelope::fill(&shells, content.as_deref()))
        }
        (None, Some(raw)) => is_same(&raw, &bodies).then(|| raw.into_iter().map(<[u8]>::to_vec).collect()),
        (None, None) => None,
    };
    match lines {
        Some(lines) => (Some(lines), bodies.len()),
        None => (None, 1),
    }
}

/// Whether lines still decode to these messages.
fn is_same(lines: &[&[u8]], bodies: &[Vec<u8>]) -> bool {
    let facts: Vec<LineMembers<'_>> = lines
        .iter()
        .filter_map(|line| LineMembers::of(line).ok())
        .collect();
    let drafts = record::drafts(&facts);
    let members = ["role", "content", "tool_calls", "tool_call_id", "reasoning"];
    drafts.len() == bodies.len()
        && drafts.iter().zip(bodies).all(|(draft, body)| {
            let then = draft.body(Api::Anthropic);
            members
                .iter()
                .all(|name| json::member(&then, name) == json::member(body, name))
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
            let elements = |name| json::elements(json::member(&note, name)?, Dialect::Strict);
            if let Some(raw) = elements("raw") {
                return Some(raw.into_iter().map(<[u8]>::to_vec).collect());
            }
            let text = json::member_text(event.raw, "content")?;
            let content = match json::member(&note, "quoted") {
                Some(b"true") => quoted(&summary::quoted(&text)),
                _ => quoted(&text),
            };
            envelope::fill(&elements("lines")?, Some(&content))
        }
        _ => None,
    }
}

/// Joins lines to a log, replacing parents that are not in it by the preceding line. If no line has a parent and
/// several are roots, the line order defines the session; then no parents are set, because one line with a parent would
/// separate the others.
fn join_lines(lines: Vec<Vec<u8>>) -> Vec<u8> {
    let id = |raw: Option<&[u8]>| raw.and_then(LineId::of);
    let ids: Vec<(Option<LineId>, Option<LineId>)> = lines
        .iter()
        .filter_map(|line| LineMembers::of(line).ok())
        .map(|facts| (id(facts.uuid()), id(facts.parent())))
        .collect();
    let all: HashSet<LineId> = ids.iter().filter_map(|(own, _)| *own).collect();
    let has_parent = |parent: &Option<LineId>| parent.is_some_and(|parent| all.contains(&parent));
    let roots = ids
        .iter()
        .filter(|(own, parent)| own.is_some() && parent.is_none());
    let loose = !ids.iter().any(|(_, parent)| has_parent(parent)) && roots.count() > 1;
    let mut bytes = Vec::new();
    let mut last: Option<Vec<u8>> = None;
    for line in lines {
        let facts = LineMembers::of(&line).ok();
        let parent = facts.as_ref().and_then(|facts| facts.parent());
        let lost = !loose && id(parent).is_some_and(|id| !all.contains(&id));
        let changed = lost.then(|| {
            let own = json::member(&line, "parentUuid").is_some_and(|raw| raw.starts_with(b"\""));
            let name = if own { "parentUuid" } else { "logicalParentUuid" };
            let above = last.as_deref().unwrap_or(b"null");
            json::with_members(&line, &[(name, Some(above))]).ok()
        });
        if let Some(uuid) = facts.as_ref().and_then(|facts| facts.uuid()) {
            last = Some(uuid.to_vec());
        }
        bytes.extend_from_slice(changed.flatten().as_ref().unwrap_or(&line));
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
    let mut bytes = Vec::new();
    let mut last: Option<Vec<u8>> = None;
    let mut is_united = false;
    for (index, line) in log.lines.iter().enumerate() {
        let mut changes = Vec::new();
        let facts = log.facts(index).filter(|facts| !facts.is_sidechain());
        if let Some(facts) = &facts {
            let own = facts.get("sessionId");
            changes.extend(own.map(|_| ("sessionId", Some(session))));
            let is_boundary = json::member(log.body(index), "logicalParentUuid").is_some();
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
        }
        let body = json::with_members(log.body(index), &changes);
        bytes.extend_from_slice(body.as_deref().unwrap_or(log.body(index)));
        bytes.push(b'\n');
        let uuid = facts.and_then(|facts| facts.uuid()).filter(|_| line.is_message());
        last = uuid.map(<[u8]>::to_vec).or(last);
    }
    is_united.then_some(bytes)
}

fn envelope(session: &Session, log: &ClaudeLog) -> Envelope {
    let own = session.metadata(NAME);
    let member = |name: &str| json::member(own.as_deref()?, name).map(<[u8]>::to_vec);
    let newest = (0..log.lines.len())
        .rev()
        .find_map(|line| log.facts(line).filter(|facts| facts.message.is_some()));
    let newest_value = |name: &str| {
        newest
            .as_ref()
            .and_then(|facts| facts.get(name))
            .map(<[u8]>::to_vec)
    };
    let id = session.header_text("id").unwrap_or_default();
    let workspace = Workspace::of(session);
    let known = |name: &str| match name {
        "cwd" => workspace.cwd.clone(),
        "gitBranch" => workspace.branch.clone(),
        name => member(name),
    };
    Envelope {
        session: newest_value("sessionId")
            .or_else(|| member("sessionId"))
            .filter(|raw| raw.starts_with(b"\""))
            .unwrap_or_else(|| session_id(&id)),
        members: ["cwd", "version", "gitBranch", "slug"]
            .into_iter()
            .filter_map(|name| Some((name, newest_value(name).or_else(|| known(name))?)))
            .collect(),
        time: session.header_member("created_at").map(<[u8]>::to_vec),
        agent: newest
            .as_ref()
            .and_then(|facts| facts.agent())
            .map(<[u8]>::to_vec),
        sidechain: newest.as_ref().is_some_and(|facts| facts.is_sidechain()),
        model: workspace.model,
    }
}
