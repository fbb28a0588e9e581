//! Counts losses that several formats have in common.

use super::records::is_passthrough;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::request_part::{
    AnnotatedMessage, extra_members, has_more_data, has_unknown_members,
};
use crate::format::workspace::{WorkspaceMember, unplaced};
use crate::model::json;
use crate::model::message::{Message, Role};
use crate::model::session::{Class, Session};
use std::borrow::Cow;

/// Header members that most formats can represent.
pub const HEADER: [&str; 6] = ["type", "version", "id", "created_at", "title", "source"];

/// Losses of messages that [`members`] counts.
pub const MEMBERS: [Loss; 6] = [
    Loss::Id,
    Loss::Timestamp,
    Loss::Usage,
    Loss::Model,
    Loss::Category,
    Loss::Name,
];

/// [`MEMBERS`] without the name, for formats that also count it in a changed file.
pub const UNNAMED_MEMBERS: &[Loss] = MEMBERS.split_at(5).0;

/// Counts the records of a session that are not messages, except headers and events that the format keeps.
pub fn records(
    session: &Session,
    keeps_header: impl Fn(&[u8]) -> bool,
    keeps_event: impl Fn(usize) -> bool,
    report: &mut Report,
) {
    for index in 0..session.len() {
        let (loss, is_kept) = match session.class(index) {
            Class::Header => (Loss::Header, keeps_header(session.record(index).body)),
            Class::Event => (Loss::Event, keeps_event(index)),
            Class::Unreadable => (Loss::Unreadable, false),
            Class::Message(_) | Class::Blank => continue,
        };
        report.count_loss(loss, u64::from(!is_kept));
    }
}

/// Counts the events of a session written back to its original format, which represents those that change the view.
pub fn events(session: &Session, name: &str, report: &mut Report) {
    for index in 0..session.len() {
        let record = session.record(index);
        let Some(event) = record.event() else { continue };
        let is_kept = match event.name().as_ref() {
            "session" | "truncate" | "restore" | "compact" | "summary" => true,
            _ => is_passthrough(event.raw, name),
        };
        report.count_loss(Loss::Event, u64::from(!is_kept));
    }
}

/// Counts a header written back to its original format if it has data that the source lacks: a different title, or
/// further members.
pub fn count_header_losses(
    session: &Session,
    title: Option<&str>,
    placed: &[WorkspaceMember],
    own: &str,
    report: &mut Report,
) {
    let is_kept = |(name, raw): &(String, Vec<u8>)| match name.as_str() {
        "title" => json::text(raw).as_deref() == title,
        "metadata" => unplaced(raw, placed, own).all(|name| name == "lineage"),
        name => name == "key" || HEADER.contains(&name),
    };
    report.count_loss(Loss::Header, u64::from(!session.header().iter().all(is_kept)));
}

/// Whether a header has only these members, and its metadata only those that the format can represent or owns.
pub fn keeps_header(header: &[u8], members: &[&str], placed: &[WorkspaceMember], own: &str) -> bool {
    extra_members(header, members).all(|(name, raw)| match name.as_ref() {
        "metadata" => unplaced(raw, placed, own).next().is_none(),
        _ => false,
    })
}

/// As [`members`], for a message with its annotations.
pub fn of(annotated: &AnnotatedMessage<'_>, lost: &[Loss], known: &[&str], report: &mut Report) {
    members(&annotated.message, annotated.body, lost, known, report);
}

/// Counts the members of a message that are among these losses, and metadata other than `known`.
pub fn members(message: &Message<'_>, body: &[u8], lost: &[Loss], known: &[&str], report: &mut Report) {
    for (name, loss) in [
        ("id", Loss::Id),
        ("timestamp", Loss::Timestamp),
        ("usage", Loss::Usage),
        ("model", Loss::Model),
        ("category", Loss::Category),
    ] {
        let is_lost = lost.contains(&loss) && json::member(body, name).is_some();
        report.count_loss(loss, u64::from(is_lost));
    }
    // No format can represent token counts of this program.
    report.count_loss(Loss::Usage, u64::from(json::member(body, "tokens").is_some()));
    let is_named = message.name.is_some() && message.role() != Role::Tool;
    report.count_loss(Loss::Name, u64::from(is_named && lost.contains(&Loss::Name)));
    // The position of a message in a request is not a loss, but the members next to it are.
    let is_lost = |(name, raw): (Cow<'_, str>, &[u8])| {
        let leftovers = ["members", "item", "part", "calls"];
        (Api::from_name(&name).is_none() && has_more_data(raw))
            || leftovers.iter().any(|name| json::member(raw, name).is_some())
    };
    let is_free = |raw| extra_members(raw, known).any(is_lost);
    let is_free = message.metadata.is_some_and(is_free);
    report.count_loss(Loss::Metadata, u64::from(is_free || has_unknown_members(body)));
}
