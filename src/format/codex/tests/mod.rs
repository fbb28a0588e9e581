//! Tests of reading and writing logs.

mod damage;
mod fixtures;
mod small;

use super::{read, write};
use crate::error::Position;
use crate::filter::truncate::{self, CutPoint};
use crate::filter::{Plan, Stamp};
use crate::format::report::Report;
pub use crate::format::tests::bed::through_lines;
use crate::format::{EditedSession, Purpose};
use crate::model::json;
use crate::model::session::Session;
use crate::model::source_bytes::SourceBytes;
use crate::model::view::{Item, View};
use std::sync::Arc;

/// The session of a log, and the report.
pub fn session(log: &[u8]) -> (Session, Report) {
    let mut report = Report::default();
    (
        read::read(None, log, Position { line: 0, offset: 0 }, &mut report),
        report,
    )
}

/// Writes a session as a log from its records alone.
pub fn written(session: &Session) -> Vec<u8> {
    let mut out = Vec::new();
    let view = View::replay(session);
    write::write(session, &view, Purpose::Return, &mut out, &mut Report::default()).unwrap();
    out
}

/// Writes a session back to its log, marked as changed.
pub fn returned(session: &Session, bytes: &[u8]) -> Vec<u8> {
    let mut session = session.clone();
    session.set_origin(Arc::new(SourceBytes {
        bytes: bytes.to_vec(),
        ..SourceBytes::default()
    }));
    let view = View::replay(&session);
    let returned = EditedSession {
        session: &session,
        view: &view,
        changed: true,
    };
    let mut out = Vec::new();
    write::write_back(&[returned], &mut out, &mut Report::default()).unwrap();
    out
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
        Plan::Lines(lines, _) => {
            let mut session = session.clone();
            lines.iter().for_each(|line| session.push_new(line));
            Some(session)
        }
        Plan::Nothing(_) | Plan::Refused(_) => None,
    }
}

/// The messages that a model would receive, without ids, times and annotations.
pub fn shown(session: &Session) -> Vec<Vec<u8>> {
    let view = View::replay(session);
    let item = |item: &Item| {
        if let Some(text) = item.summary(session) {
            return text.into_owned().into_bytes();
        }
        let body = item.body(session);
        let own = [
            "role",
            "content",
            "tool_calls",
            "tool_call_id",
            "reasoning",
            "category",
        ];
        let members = own.iter().filter_map(|name| json::member(body, name));
        members.collect::<Vec<_>>().join(&b'\n')
    };
    view.items.iter().map(item).collect()
}

/// The lines of a log that are not empty, without their endings.
pub fn full_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty()).collect()
}
