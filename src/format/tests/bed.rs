//! What the tests of several formats do to sessions.

use crate::error::Place;
use crate::filter::truncate::{self, Cut};
use crate::filter::{Plan, Stamp};
use crate::model::record::Record;
use crate::model::session::Session;

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
