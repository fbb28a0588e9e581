//! Files read and written.

mod damage;
mod fixtures;
mod small;

use super::{read, write};
use crate::error::Place;
use crate::filter::truncate::{self, Cut};
use crate::filter::{Plan, Stamp};
use crate::format::report::Report;
use crate::format::{Purpose, Returned};
use crate::model::json;
use crate::model::origin::Origin;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::sync::Arc;

/// The sessions of a file, and what is told of it.
pub fn sessions(file: &[u8]) -> (Vec<Session>, Report) {
    let mut report = Report::default();
    (
        read::read(None, file, Place { line: 0, offset: 0 }, &mut report),
        report,
    )
}

/// The lines of a session read anew, as if they had been a file.
pub fn through_lines(session: &Session) -> Session {
    let mut again = Session::default();
    let mut offset = 0;
    for index in 0..session.len() {
        let full = session.full(index);
        let place = Place {
            line: index as u64 + 1,
            offset,
        };
        again.push(&Record::parse(full, place));
        offset += full.len() as u64;
    }
    again
}

/// A session as a file, made of its records alone.
pub fn written(session: &Session) -> Vec<u8> {
    let mut out = Vec::new();
    let view = View::replay(session);
    write::write(session, &view, Purpose::Return, &mut out, &mut Report::default()).unwrap();
    out
}

/// Sessions as the file that they came from, as if the first had changed.
pub fn returned(sessions: &[Session], bytes: &[u8]) -> crate::error::Result<Vec<u8>> {
    let origin = Arc::new(Origin {
        bytes: bytes.to_vec(),
        ..Origin::default()
    });
    let mut sessions = sessions.to_vec();
    sessions
        .iter_mut()
        .for_each(|session| session.set_origin(origin.clone()));
    let views: Vec<View> = sessions.iter().map(View::replay).collect();
    let returned: Vec<Returned<'_>> = sessions
        .iter()
        .zip(&views)
        .enumerate()
        .map(|(nth, (session, view))| Returned {
            session,
            view,
            changed: nth == 0,
        })
        .collect();
    let mut out = Vec::new();
    write::back(&returned, &mut out, &mut Report::default())?;
    Ok(out)
}

/// The session with a cut that keeps its last messages; none when there is nothing to cut.
pub fn cut(session: &Session, keep: usize) -> Option<Session> {
    let stamp = |_: &str| {
        Ok(Stamp {
            id: "evt_1".to_string(),
            at: "2026-01-01T00:00:00Z".to_string(),
        })
    };
    match truncate::plan(session, &Cut::LastMessages(keep), stamp).unwrap() {
        Plan::Lines(lines, _) => Some(with(session, &lines)),
        Plan::Nothing(_) => None,
    }
}

/// The session with these lines more.
pub fn with(session: &Session, lines: &[Vec<u8>]) -> Session {
    let mut session = session.clone();
    lines.iter().for_each(|line| session.push_new(line));
    session
}

/// What a model would be sent, without books and without what stands for cuts.
pub fn shown(session: &Session) -> Vec<Vec<u8>> {
    let view = View::replay(session);
    let item = |item: &Item| {
        if item.summary(session).is_some() {
            return None;
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
        Some(members.collect::<Vec<_>>().join(&b'\n'))
    };
    view.items.iter().filter_map(item).collect()
}
