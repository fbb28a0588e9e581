//! Tests of reading and writing histories.

mod damage;
mod fixtures;
mod small;

use super::{FORM, panel, read};
use crate::error::Result;
use crate::format::report::Report;
pub use crate::format::tests::bed::{through_lines, with};
use crate::format::{DocumentSource, Purpose};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::{Item, View};

/// The session of a history, with an optional interface file.
pub fn session(bytes: &[u8], panel: Option<&[u8]>) -> Session {
    try_session(bytes, panel, &mut Report::default()).unwrap()
}

pub fn try_session(bytes: &[u8], panel: Option<&[u8]>, report: &mut Report) -> Result<Session> {
    let neighbor = |name: &str| Ok(panel.filter(|_| name == panel::NAME).map(<[u8]>::to_vec));
    let source = DocumentSource {
        neighbor: &neighbor,
        ..DocumentSource::alone(bytes)
    };
    read::read(&source, report).map(|mut all| all.remove(0))
}

/// Writes a session as a history.
pub fn written(session: &Session, purpose: Purpose) -> Result<(Vec<u8>, Report)> {
    let (mut out, mut report) = (Vec::new(), Report::default());
    FORM.write.unwrap()(session, &View::replay(session), purpose, &mut out, &mut report)?;
    Ok((out, report))
}

/// The messages that a model would receive, without ids, times and annotations.
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
