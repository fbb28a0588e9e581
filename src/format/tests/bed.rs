//! Test helpers for sessions of any format.

use super::truth;
use crate::error::{Position, Result};
use crate::filter::truncate::{self, CutPoint};
use crate::filter::{Plan, Stamp};
use crate::format::report::Report;
use crate::format::{EditedSession, Format, SessionInput, WritePurpose, WriteTarget, write};
use crate::model::json;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::source_bytes::SourceBytes;
use crate::model::view::{Item, View};
use std::io;
use std::sync::Arc;

/// The session parsed again from its lines.
pub fn through_lines(session: &Session) -> Session {
    let mut again = Session::default();
    let mut offset = 0;
    for index in 0..session.len() {
        let full = session.full(index);
        let place = Position {
            line: index as u64 + 1,
            offset,
        };
        again.push(&Record::parse(full, place));
        offset += full.len() as u64;
    }
    again
}

/// The session with a cut that keeps its last messages; `None` if nothing can be cut.
pub fn cut(session: &Session, keep: usize) -> Option<Session> {
    let stamp = |_: &str| {
        Ok(Stamp {
            id: "evt_1".to_string(),
            at: "2026-01-01T00:00:00Z".to_string(),
        })
    };
    match truncate::plan(session, &CutPoint::LastMessages(keep), stamp).unwrap() {
        Plan::Lines(lines, _) => Some(with(session, &lines)),
        Plan::Nothing(_) | Plan::Refused(_) => None,
    }
}

/// The session with these lines appended.
pub fn with<L: AsRef<[u8]>>(session: &Session, lines: &[L]) -> Session {
    let mut session = session.clone();
    lines.iter().for_each(|line| session.push_new(line.as_ref()));
    session
}

/// The session without `count` of its visible messages from one on.
pub fn without(session: &Session, from: usize, count: usize) -> Session {
    let view = View::replay(session);
    let ids = view.items.iter().filter_map(|item| session.id(item.line()?));
    dropping(session, ids.skip(from).take(count))
}

/// The session without these messages.
pub fn dropping(session: &Session, ids: impl Iterator<Item = String>) -> Session {
    let ids: Vec<String> = ids.collect();
    if ids.is_empty() {
        return session.clone();
    }
    let event = format!(
        r#"{{"type":"compact","id":"evt_{}","at":"2026-01-01T00:00:00Z","strategy":"s","drop":{ids:?}}}"#,
        ids.len()
    );
    with(session, &[event])
}

/// What a model would receive of a session, without ids, times and annotations; a summary is `summary: TEXT`.
pub fn shown(session: &Session) -> Vec<String> {
    shown_members(session, &RECEIVED)
}

/// The same with categories.
pub fn shown_with_category(session: &Session) -> Vec<String> {
    shown_members(session, &[&RECEIVED[..], &["category"]].concat())
}

/// The same without summaries, which are placeholders for truncations in some formats.
pub fn shown_messages(session: &Session) -> Vec<String> {
    let mut shown = shown_with_category(session);
    shown.retain(|shown| !shown.starts_with("summary: "));
    shown
}

const RECEIVED: [&str; 5] = ["role", "content", "tool_calls", "tool_call_id", "reasoning"];

fn shown_members(session: &Session, names: &[&str]) -> Vec<String> {
    let view = View::replay(session);
    assert!(view.dangling.is_empty(), "{:?}", view.dangling);
    let item = |item: &Item| match item.summary(session) {
        Some(text) => format!("summary: {text}"),
        None => {
            let members = names
                .iter()
                .filter_map(|name| json::member(item.body(session), name));
            String::from_utf8(members.collect::<Vec<_>>().join(&b'\n')).unwrap()
        }
    };
    view.items.iter().map(item).collect()
}

/// The sessions of an input, the report, and the bytes after the last session. The head of the input is short, so that a
/// reader that does not continue after it fails.
pub fn read(format: Format, name: &str, bytes: &[u8]) -> (Result<Vec<Session>>, Report, Vec<u8>) {
    let mut report = Report::default();
    let (head, rest) = bytes.split_at(bytes.len().min(100));
    let input = SessionInput {
        name: Some(name.to_string()),
        returns: true,
        rest: Box::new(io::Cursor::new(rest.to_vec())),
        ..SessionInput::of(head.to_vec())
    };
    match format.sessions(input) {
        Ok(Ok(mut reader)) => {
            let sessions = truth::all(reader.as_mut(), &mut report);
            let tail = reader.tail().to_vec();
            (sessions, report, tail)
        }
        Ok(Err(_)) => panic!("not read session by session"),
        Err(error) => (Err(error), report, Vec::new()),
    }
}

/// Writes a session from its records alone; returns the bytes and the report.
pub fn written(format: Format, session: &Session, purpose: WritePurpose) -> (Vec<u8>, Report) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let view = View::replay(session);
    write(format, session, &view, purpose, &mut out, &mut report).unwrap();
    (out, report)
}

/// Exports a session as text.
pub fn exported(format: Format, session: &Session) -> (String, Report) {
    let (out, report) = written(format, session, WritePurpose::Export);
    (String::from_utf8(out).unwrap(), report)
}

/// Writes sessions back to their inputs; `is_changed` selects the changed ones.
pub fn returned(format: Format, sessions: &[Session], is_changed: impl Fn(usize) -> bool) -> Result<Vec<u8>> {
    let views: Vec<View> = sessions.iter().map(View::replay).collect();
    let returned = sessions.iter().zip(&views).enumerate();
    let returned = returned.map(|(nth, (session, view))| EditedSession {
        session,
        view,
        changed: is_changed(nth),
    });
    let returned: Vec<EditedSession<'_>> = returned.collect();
    let (mut out, mut report) = (Vec::new(), Report::default());
    let origin = |returned: &EditedSession<'_>| returned.session.origin().map(Arc::as_ptr);
    let is_same = |one: &_, other: &_| origin(one).is_some() && origin(one) == origin(other);
    for group in returned.chunk_by(is_same) {
        let EditedSession { session, view, .. } = group[0];
        match (format.spec().write_back, format.spec().write) {
            (Some(back), _) => back(group, &mut out, &mut report)?,
            (None, Some(write)) => write(
                session,
                view,
                WriteTarget(WritePurpose::Return, &mut out, &mut report),
            )?,
            (None, None) => {}
        }
    }
    Ok(out)
}

/// The sessions with these bytes as their common source.
pub fn read_from(bytes: &[u8], sessions: &[Session]) -> Vec<Session> {
    let origin = Arc::new(SourceBytes {
        bytes: bytes.to_vec(),
        ..SourceBytes::default()
    });
    let mut sessions = sessions.to_vec();
    { sessions.iter_mut() }.for_each(|session| session.set_origin(origin.clone()));
    sessions
}

/// A reader that returns a limited number of bytes per call.
pub struct SlowReader<'a>(pub &'a [u8], pub usize);

impl std::io::Read for SlowReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let take = self.1.min(self.0.len()).min(buffer.len());
        buffer[..take].copy_from_slice(&self.0[..take]);
        self.0 = &self.0[take..];
        Ok(take)
    }
}
