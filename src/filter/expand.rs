//! Finds the log lines that a placeholder, digest, summary or event removed from the view.

use crate::error::{Error, ErrorKind, Result};
use crate::filter::compact::head_tail::is_shortened;
use crate::filter::compact::placeholders;
use crate::format::slim::placeholder::{self, Placeholder};
use crate::model::event::{Action, Compact, Event, MessageRange, MessageTarget};
use crate::model::json::{self, Dialect};
use crate::model::session::{Class, Session};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The lines that an id refers to: those of a message itself; for an event, or a message that it inserted, those that
/// it hid or changed.
///
/// # Errors
/// [`ErrorKind::No`] when the id is unknown, or refers to a placeholder whose original is not in this log.
pub fn lines(session: &Session, id: &str) -> Result<Vec<usize>> {
    let own = session.all_of(id);
    if !own.is_empty() {
        return match own.iter().find(|index| is_elided(session, **index, id)) {
            None => Ok(own),
            Some(_) => {
                let error = Error::new(ErrorKind::No, format!("{id}: the original is not in this log"));
                Err(match packed(session) {
                    Some(gc) => error.hint(format!(
                        "restore the archived lines with: convo restore NAME {gc}"
                    )),
                    None => error.hint("expand the stored session, or a stream compacted with --log"),
                })
            }
        };
    }
    for index in (0..session.len()).filter(|index| session.class(*index) == Class::Event) {
        let record = session.record(index);
        let Some(event) = record.event() else { continue };
        let is_own = event.id().is_some_and(|own| own == id);
        let found = match event.action() {
            Action::Compact(compact) if is_own => Some(changed(session, event, &compact)),
            Action::Compact(compact) => put_in(session, &compact, id),
            Action::Summary(summary) if is_own => {
                let [first, last] = summary.covers.unwrap_or_default();
                Some(between(session, [&first, &last], summary.nth))
            }
            _ => None,
        };
        match found {
            None => {}
            Some(lines) if !lines.is_empty() => return Ok(lines),
            Some(_) => {
                return Err(Error::new(
                    ErrorKind::No,
                    format!("{id}: removed no message that is in this log"),
                ));
            }
        }
    }
    let error = Error::new(ErrorKind::No, format!("no such message or event: {id}"));
    Err(match packed(session) {
        Some(gc) => error.hint(format!(
            "restore the archived lines with: convo restore NAME {gc}"
        )),
        None => error.hint("ids appear in placeholders and in: convo restore --list NAME"),
    })
}

/// The placeholder of the image with this file name in the messages of a session.
pub fn image(session: &Session, file_name: &str) -> Option<Placeholder> {
    let mut found = None;
    for (index, _) in session.messages() {
        let mut look = |placeholder: &Placeholder| {
            if placeholder.file_name == file_name {
                found.get_or_insert(placeholder.clone());
            }
            Ok(None)
        };
        // Nothing is replaced, so that nothing fails.
        let _ = placeholder::restored(session.record(index).body, &mut look);
        if found.is_some() {
            break;
        }
    }
    found
}

/// Whether a placeholder replaces the content of a message, a part of it, or the arguments of a call.
fn is_elided(session: &Session, index: usize, id: &str) -> bool {
    let record = session.record(index);
    let Some(message) = record.message() else {
        return false;
    };
    let is_own = |text: &str| placeholders::is_mark(text) && text.ends_with(&format!(", id {id}]"));
    let is_part = |text: &str| is_own(text) || is_shortened(text);
    let parts = json::items(message.content);
    let mut parts = parts
        .into_iter()
        .filter_map(|part| json::member_text(part, "text"));
    let is_call = |arguments: &str| {
        let members = json::members(arguments.as_bytes(), Dialect::Strict).unwrap_or_default();
        let mut values = members.into_iter().filter_map(|(_, value)| json::text(value));
        placeholders::is_arguments(arguments) || values.any(|text| is_shortened(&text))
    };
    placeholders::content(message).is_some_and(|text| is_part(&text))
        || parts.any(|text| is_part(&text))
        || message.tool_calls().iter().any(|call| is_call(&call.arguments))
}

fn packed(session: &Session) -> Option<String> {
    let mut live = session.live_events().into_iter().rev();
    live.find_map(|index| {
        let record = session.record(index);
        let event = record.event().filter(|event| event.name() == "gc")?;
        Some(event.id()?.into_owned())
    })
}

/// The lines that a compaction hid or edited.
fn changed(session: &Session, event: &Event<'_>, compact: &Compact<'_>) -> Vec<usize> {
    let mut targets: Vec<&MessageTarget<'_>> = compact.edit.iter().map(|edit| &edit.of).collect();
    let mut lines = BTreeSet::new();
    for span in &compact.drop {
        match span {
            MessageRange::One(target) => targets.push(target),
            MessageRange::Range([first, last]) => lines.extend(between(session, [first, last], [1, 1])),
        }
    }
    let ids: HashSet<String> = targets.iter().map(|target| target.id.to_string()).collect();
    let places: HashMap<String, Vec<usize>> = session.places(ids);
    for target in targets {
        let nth = target.nth.unwrap_or(1).saturating_sub(1);
        let place = places
            .get(target.id.as_ref())
            .and_then(|all| all.get(usize::try_from(nth).ok()?));
        lines.extend(place);
    }
    // Without a list of dropped messages, use the range that the summary covers.
    if lines.is_empty()
        && let Some(ends) =
            json::member(event.raw, "summary").and_then(|summary| json::member(summary, "covers"))
    {
        lines.extend(range(session, ends));
    }
    lines.into_iter().collect()
}

/// The lines that a message inserted by a compaction replaces; none if the compaction inserted no message with this
/// id.
fn put_in(session: &Session, compact: &Compact<'_>, id: &str) -> Option<Vec<usize>> {
    let mut inserts = compact.insert.iter();
    let insert =
        inserts.find(|insert| json::member_text(insert.message, "id").is_some_and(|own| own == id))?;
    let own = json::member(insert.message, "metadata").and_then(|metadata| json::member(metadata, "convo"));
    let ends = own.and_then(|own| json::member(own, "digest"));
    Some(ends.map_or_else(Vec::new, |ends| range(session, ends)))
}

fn range(session: &Session, ends: &[u8]) -> Vec<usize> {
    match json::elements(ends, Dialect::Strict).as_deref() {
        Some([first, last]) => match (json::text(first), json::text(last)) {
            (Some(first), Some(last)) => between(session, [&first, &last], [1, 1]),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The messages from one id to another except instructions; `nth` selects among duplicate ids.
fn between(session: &Session, [first, last]: [&str; 2], nth: [u64; 2]) -> Vec<usize> {
    let places = session.places([first.to_string(), last.to_string()].into());
    let end = |id: &str, nth: u64| {
        let nth = usize::try_from(nth.checked_sub(1)?).ok()?;
        places.get(id).and_then(|all| all.get(nth).copied())
    };
    let (Some(first), Some(last)) = (end(first, nth[0]), end(last, nth[1])) else {
        return Vec::new();
    };
    let is_dialog =
        |index: &usize| matches!(session.class(*index), Class::Message(traits) if !traits.is_system());
    (first..=last).filter(is_dialog).collect()
}
