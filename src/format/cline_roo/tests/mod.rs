//! Histories read and written.

mod damage;
mod fixtures;
mod small;

use super::{panel, read, write};
use crate::error::Result;
use crate::filter::truncate::{self, Cut};
use crate::filter::{Plan, Stamp};
use crate::format::report::Report;
use crate::format::{Purpose, Source};
use crate::model::json;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::{Item, View};

/// The session of a history beside which a panel may lie.
pub fn session(bytes: &[u8], panel: Option<&[u8]>) -> Session {
    try_session(bytes, panel, &mut Report::default()).unwrap()
}

pub fn try_session(bytes: &[u8], panel: Option<&[u8]>, report: &mut Report) -> Result<Session> {
    let neighbour = |name: &str| Ok(panel.filter(|_| name == panel::NAME).map(<[u8]>::to_vec));
    let source = Source {
        neighbour: &neighbour,
        ..Source::alone(bytes)
    };
    read::read(&source, report).map(|mut all| all.remove(0))
}

/// The lines of a session read anew, as if they had been a file; what it came from is not known then.
pub fn through_lines(session: &Session) -> Session {
    let mut again = Session::default();
    for index in 0..session.len() {
        again.push(&Record::parse(session.full(index), session.place(index)));
    }
    again
}

/// A session as a history.
pub fn written(session: &Session, purpose: Purpose) -> Result<(Vec<u8>, Report)> {
    let (mut out, mut report) = (Vec::new(), Report::default());
    write::write(session, &View::replay(session), purpose, &mut out, &mut report)?;
    Ok((out, report))
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
pub fn with<L: AsRef<[u8]>>(session: &Session, lines: &[L]) -> Session {
    let mut session = session.clone();
    lines.iter().for_each(|line| session.push_new(line.as_ref()));
    session
}

/// What a model would be sent, without books.
pub fn shown(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    assert!(view.dangling.is_empty(), "{:?}", view.dangling);
    let item = |item: &Item| {
        if let Some(text) = item.summary(session) {
            return format!("summary: {text}");
        }
        let body = item.body(session);
        let own = ["role", "content", "tool_calls", "tool_call_id", "reasoning"];
        let members = own.iter().filter_map(|name| json::member(body, name));
        String::from_utf8(members.collect::<Vec<_>>().join(&b'\n')).unwrap()
    };
    view.items.iter().map(item).collect()
}
