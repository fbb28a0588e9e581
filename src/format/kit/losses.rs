//! The losses that formats have in common.

use crate::format::report::{Loss, Report};
use crate::format::request::piece::{Said, rest};
use crate::format::workspace::{Member, unplaced};
use crate::model::json;
use crate::model::message::Role;
use crate::model::session::{Class, Session};

/// Counts the records of a session that are not messages. `kept` are the members of the header that the format has a
/// place for, `placed` those of its metadata; `own` is the format that the session was read from, whose events it keeps.
pub fn records(session: &Session, kept: &[&str], placed: &[Member], own: Option<&str>, report: &mut Report) {
    for index in 0..session.len() {
        match session.class(index) {
            Class::Header if own.is_none() => {
                let body = session.record(index).body;
                let lost = rest(body, kept).any(|(name, raw)| match name.as_ref() {
                    "metadata" => unplaced(raw, placed, "").next().is_some(),
                    _ => true,
                });
                report.lose(Loss::Header, u64::from(lost));
            }
            Class::Event => {
                let is_kept = own.is_some_and(|own| is_kept(session, index, own));
                report.lose(Loss::Event, u64::from(!is_kept));
            }
            Class::Unreadable if own.is_none() => report.lose(Loss::Unreadable, 1),
            _ => {}
        }
    }
}

/// Whether the format that a session was read from has a place for an event: for all that change the view.
fn is_kept(session: &Session, index: usize, own: &str) -> bool {
    let record = session.record(index);
    record.event().is_some_and(|event| match event.name().as_ref() {
        "session" | "truncate" | "restore" | "compact" | "summary" => true,
        "foreign" => json::member(event.raw, "format").and_then(json::text).as_deref() == Some(own),
        _ => false,
    })
}

/// Counts members of a message that the format has no place for: those of these names, and metadata beside `known`.
pub fn members(said: &Said<'_>, lost: &[Loss], known: &[&str], report: &mut Report) {
    let has = |name| json::member(said.body, name).is_some();
    for (name, loss) in [
        ("id", Loss::Id),
        ("timestamp", Loss::Timestamp),
        ("usage", Loss::Usage),
        ("tokens", Loss::Usage),
        ("model", Loss::Model),
    ] {
        // A count of tokens by this program has a place in no format.
        let is_lost = name == "tokens" || lost.contains(&loss);
        report.lose(loss, u64::from(is_lost && has(name)));
    }
    let named =
        said.message.name.is_some() && (said.message.role() != Role::Tool || lost.contains(&Loss::Name));
    report.lose(Loss::Name, u64::from(named));
    let free = |raw| rest(raw, known).next().is_some();
    report.lose(Loss::Metadata, u64::from(said.message.metadata.is_some_and(free)));
}
