//! Checks the consistency of the records of a log.

use super::problem::Problem;
use super::session_links::{PartReference, SessionLinks};
use crate::model::chain;
use crate::model::event::{Action, Event, MessageRange, Meta};
use crate::model::json::{self, Dialect};
use crate::model::lineage::Lineage;
use crate::model::record::RecordKind as Line;
use crate::model::session::{Class, Session};
use crate::model::view::View;
use crate::store::split;
use std::collections::HashSet;

/// Inconsistencies: index of the line, kind, and description.
pub(super) fn problems(session: &Session, name: &str) -> Vec<(usize, Problem, String)> {
    let mut problems = Vec::new();
    if let Some(id) = session.header_text("id").filter(|id| id != name) {
        let first = (0..session.len()).find(|index| session.class(*index) == Class::Header);
        let what = format!("the header has the id '{id}', but the log is named {name}");
        problems.push((first.unwrap_or(0), Problem::Header, what));
    }
    let mut headers = (0..session.len()).filter(|index| session.class(*index) == Class::Header);
    if let (Some(_), Some(second)) = (headers.next(), headers.next()) {
        problems.push((second, Problem::Header, "duplicate header".to_string()));
    }
    for (index, what) in View::dangling(session) {
        problems.push((index, Problem::DanglingEvent, what));
    }
    let mut events: HashSet<String> = HashSet::new();
    let mut ids: HashSet<(bool, String)> = HashSet::new();
    // Most ids of messages need not be remembered.
    let repeated = session.repeated(session.messages().map(|(index, _)| index));
    for index in 0..session.len() {
        let record = session.record(index);
        let id = match &record.kind {
            Line::Message(message) if repeated.contains(&index) => {
                message.id().map(|id| (true, id.into_owned()))
            }
            Line::Event(event) if !event.is_header() => event.id().map(|id| (false, id.into_owned())),
            _ => None,
        };
        if let Some(Action::Restore(restore)) = record.event().map(Event::action)
            && !events.contains(restore.of.as_ref())
        {
            let what = format!("undoes the event {}, which is missing", restore.of);
            problems.push((index, Problem::DanglingEvent, what));
        }
        if let Some(Action::Meta(meta)) = record.event().map(Event::action) {
            let set = meta.set.and_then(|raw| json::members(raw, Dialect::Strict));
            let set = set.unwrap_or_default().into_iter().map(|(name, _)| name);
            for name in set
                .chain(meta.unset)
                .filter(|name| Meta::FIXED.contains(&name.as_ref()))
            {
                let what = format!("a meta event changes the member {name}; ignored");
                problems.push((index, Problem::Header, what));
            }
        }
        // The replacement of an updated record may reuse its id.
        if let Some(event) = record.event().filter(|event| event.is_update()) {
            match event.action() {
                Action::Restore(restore) => drop(ids.remove(&(false, restore.of.into_owned()))),
                Action::Compact(compact) => compact.drop.iter().for_each(|span| {
                    if let MessageRange::One(target) = span {
                        ids.remove(&(true, target.id.to_string()));
                    }
                }),
                _ => {}
            }
        }
        let Some((is_message, id)) = id else { continue };
        if !is_message {
            events.insert(id.clone());
        }
        let what = format!("duplicate id {id}");
        if !ids.insert((is_message, id)) {
            problems.push((index, Problem::DuplicateId, what));
        }
    }
    problems
}

/// The links of the session to others.
pub(super) fn links(session: &Session) -> SessionLinks {
    let mut links = SessionLinks {
        continued_from: session.header_text("continued_from"),
        split_from: part(session),
        ..SessionLinks::default()
    };
    let live = session.live_events();
    let events = (0..session.len()).filter(|index| session.class(*index) == Class::Event);
    for index in events.filter(|index| live.binary_search(index).is_err()) {
        let record = session.record(index);
        links.unlinked.extend(record.event().and_then(chain::child));
    }
    for index in live {
        let record = session.record(index);
        let Some(event) = record.event() else { continue };
        let id = event.id().map(|id| id.into_owned());
        match event.name().as_ref() {
            "link" => {
                let to = json::member_text(event.raw, "continued_to");
                links.continued_to.extend(to.map(|to| (to.into_owned(), id)));
            }
            "split" => {
                let pieces = split::parts_of_event(event.raw);
                links.split_into.extend(id.zip(pieces));
            }
            "gc" => {
                let discarded = json::member(event.raw, "discarded") == Some(b"true");
                links.packed.extend(id.filter(|_| !discarded));
            }
            _ => {}
        }
    }
    let destroyed = session.destroyed();
    links.packed.retain(|event| !destroyed.contains(event));
    let next = session
        .header_member("metadata")
        .and_then(chain::child_in_metadata);
    links.continued_to.extend(next.map(|to| (to, None)));
    links
}

/// The session of which this is a part, according to its header.
fn part(session: &Session) -> Option<PartReference> {
    let lineage = Lineage::of(session).filter(|lineage| lineage.kind == "split")?;
    let (part, parts) = lineage.part?;
    Some(PartReference {
        parent: lineage.parent?,
        part,
        parts,
    })
}
