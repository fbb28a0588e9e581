//! Test helpers for sessions of any format.

use crate::error::Position;
use crate::filter::truncate::{self, CutPoint};
use crate::filter::{Plan, Stamp};
use crate::format::report::Report;
use crate::format::spec::{WriteBackFn, WriteFn};
use crate::format::{EditedSession, Purpose};
use crate::model::json;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::{Item, View};

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

/// Writes a session from its records alone; returns the bytes and the report.
pub fn written(write: WriteFn, session: &Session, purpose: Purpose) -> (Vec<u8>, Report) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let view = View::replay(session);
    write(session, &view, purpose, &mut out, &mut report).unwrap();
    (out, report)
}

/// Writes sessions back to their input, one by one.
pub fn returned(back: WriteBackFn, sessions: &[Session], changed: bool) -> crate::error::Result<Vec<u8>> {
    let mut out = Vec::new();
    for session in sessions {
        let view = View::replay(session);
        let returned = EditedSession {
            session,
            view: &view,
            changed,
        };
        back(&[returned], &mut out, &mut Report::default())?;
    }
    Ok(out)
}
