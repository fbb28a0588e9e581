//! Undoes an event, as if it had never been written.

use super::{Plan, Stamp, appended, metadata};
use crate::error::{Error, ErrorKind, Result};
use crate::model::event::{Action, Event};
use crate::model::json;
use crate::model::session::{Class, Session};
use std::collections::HashSet;

/// The change to undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoTarget<'a> {
    /// The event with this id.
    Event(&'a str),
    /// The newest active cut, compaction, summary, title, tags or note.
    Change,
    /// The same, or a newer append.
    ChangeOrAppend,
    /// The newest exchange, even if another change is newer.
    Exchange,
}

/// Plans to undo a change. Appended messages are undone by an event that drops them.
pub fn plan(
    session: &Session,
    target: UndoTarget<'_>,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Plan> {
    let newest = match target {
        UndoTarget::Event(_) | UndoTarget::Exchange => None,
        UndoTarget::Change | UndoTarget::ChangeOrAppend => newest(session),
    };
    let appended = match target {
        UndoTarget::Event(_) | UndoTarget::Change => None,
        UndoTarget::ChangeOrAppend => {
            let change = newest.as_ref().map(|(index, ..)| *index);
            appended::newest(
                session,
                change.max(packed(session).map(|(index, _)| index)),
                false,
            )
        }
        UndoTarget::Exchange => appended::newest(session, None, true),
    };
    if let Some(appended) = appended {
        return appended.undo(session, stamp);
    }
    let (id, kind) = match (target, newest) {
        (UndoTarget::Event(id), _) => (id.to_string(), named(session, id)?),
        (_, Some((_, id, kind))) => (id, kind),
        (_, None) => {
            let error = Error::new(ErrorKind::No, "nothing to undo");
            return Err(match packed(session) {
                Some((_, gc)) => error.hint(format!(
                    "older changes are archived; undo the gc first with: convo restore NAME {gc}"
                )),
                None => match appended::newest(session, None, false) {
                    Some(_) if target == UndoTarget::Change => {
                        error.hint("undo an append with: convo undo NAME")
                    }
                    _ => error,
                },
            });
        }
    };
    let stamp = stamp(&id)?;
    let mut event = stamp.event("restore");
    event.text("of", &id);
    Ok(Plan::Lines(vec![event.finish()], format!("undid {kind} {id}")))
}

/// An event in the list of changes that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoableChange {
    /// Its id.
    pub id: String,
    /// Its time, as written.
    pub at: String,
    /// Its type.
    pub kind: String,
    /// A short description.
    pub what: String,
    /// Whether it is active.
    pub counts: bool,
}

/// Every event that can be undone, oldest first.
pub fn events(session: &Session) -> Vec<UndoableChange> {
    let live = session.live_events();
    // A restore is active as long as no other restore undoes it.
    let destroyed = session.destroyed();
    let mut taken_back: HashSet<String> = HashSet::new();
    let mut changes = Vec::new();
    for index in (0..session.len()).rev() {
        let record = session.record(index);
        let Some(event) = record.event().filter(|event| !event.is_header()) else {
            continue;
        };
        let (Some(id), kind) = (event.id(), event.name()) else {
            continue;
        };
        if matches!(&*kind, "repair" | "redact")
            || kind == "gc" && (!is_archived_gc(event) || destroyed.contains(id.as_ref()))
        {
            continue;
        }
        let action = event.action();
        let mut counts = live.binary_search(&index).is_ok();
        if let Action::Restore(restore) = &action {
            counts = !taken_back.contains(id.as_ref());
            if counts {
                taken_back.insert(restore.of.to_string());
            }
        }
        let text = |name| json::member_text(record.body, name);
        changes.push(UndoableChange {
            what: words(&action, record.body),
            at: text("at").unwrap_or_default().into_owned(),
            id: id.into_owned(),
            kind: kind.into_owned(),
            counts,
        });
    }
    changes.reverse();
    changes
}

fn words(action: &Action<'_>, body: &[u8]) -> String {
    let count = |all: usize, word: &str| format!("{all} {word}");
    match action {
        Action::Truncate(cut) => match &cut.before {
            Some(id) => format!("messages before {id}"),
            None => "all messages".to_string(),
        },
        Action::Compact(compact) => {
            let parts = [
                (compact.drop.len(), "dropped"),
                (compact.edit.len(), "edited"),
                (compact.insert.len(), "inserted"),
                (compact.summary.iter().flatten().count(), "summary"),
            ];
            let parts = parts.iter().filter(|(all, _)| *all > 0);
            parts
                .map(|(all, word)| count(*all, word))
                .collect::<Vec<_>>()
                .join(", ")
        }
        Action::Summary(summary) => summary.content.chars().take(60).collect(),
        Action::Restore(restore) => format!("undoes {}", restore.of),
        Action::Meta(meta) => {
            let set = meta
                .set
                .and_then(|raw| json::members(raw, json::Dialect::Strict))
                .unwrap_or_default();
            let names = set.iter().map(|(name, _)| name).chain(&meta.unset);
            names.map(AsRef::as_ref).collect::<Vec<&str>>().join(", ")
        }
        Action::Attempt(attempt) => {
            let why = attempt.why.as_deref().unwrap_or("failed");
            format!("failure {}: {why}", attempt.failures)
        }
        Action::Session | Action::Unknown => {
            if let Some(text) = json::member_text(body, "text") {
                return text.chars().take(60).collect();
            }
            let lines = json::member(body, "lines").map(String::from_utf8_lossy);
            let child = json::member_text(body, "continued_to");
            lines
                .map(|lines| format!("{lines} lines"))
                .or(child.map(|id| id.into_owned()))
                .unwrap_or_default()
        }
    }
}

/// Active changes of the view, newest last: id and type.
pub fn changes(session: &Session) -> Vec<(String, String)> {
    let live = session.live_events().into_iter();
    live.filter_map(|index| counting(session, index, moves_view))
        .map(|(_, id, kind)| (id, kind))
        .collect()
}

/// The newest active change of the view, title, tags or notes: line, id and type. A further undo does not redo an
/// undone append.
fn newest(session: &Session) -> Option<(usize, String, String)> {
    let changes =
        |event: &Event<'_>| (moves_view(event) && !appended::is_undo(event)) || metadata::is_change(event);
    let mut live = session.live_events().into_iter().rev();
    live.find_map(|index| counting(session, index, changes))
}

/// Line, id and type of the event on a line, if it is one of those.
fn counting(
    session: &Session,
    index: usize,
    is_one: impl Fn(&Event<'_>) -> bool,
) -> Option<(usize, String, String)> {
    let record = session.record(index);
    let event = record.event().filter(|event| is_one(event))?;
    Some((index, event.id()?.into_owned(), event.name().into_owned()))
}

fn moves_view(event: &Event<'_>) -> bool {
    matches!(event.name().as_ref(), "truncate" | "compact" | "summary") && !is_final(event)
}

/// Line and id of an active gc; earlier records are in the archive.
fn packed(session: &Session) -> Option<(usize, String)> {
    let destroyed = session.destroyed();
    session.live_events().into_iter().rev().find_map(|index| {
        let record = session.record(index);
        let event = record.event().filter(|event| is_archived_gc(event))?;
        let id = event.id()?.into_owned();
        (!destroyed.contains(&id)).then_some((index, id))
    })
}

/// The type of the event with this id, which must be active.
fn named(session: &Session, id: &str) -> Result<String> {
    let has_id = |index: &usize| {
        let record = session.record(*index);
        record
            .event()
            .and_then(|event| event.id())
            .is_some_and(|own| own == id)
    };
    let all: Vec<usize> = (0..session.len())
        .filter(|index| session.class(*index) == Class::Event)
        .collect();
    let Some(index) = all.into_iter().rev().find(has_id) else {
        return Err(Error::new(ErrorKind::No, format!("no such event: {id}")));
    };
    let record = session.record(index);
    let kind = record
        .event()
        .map(|event| event.name().into_owned())
        .unwrap_or_default();
    if matches!(kind.as_str(), "gc" | "repair" | "redact") && session.live_events().contains(&index) {
        let why = match kind.as_str() {
            "gc" => "only stored sessions have an archive".to_string(),
            kind => format!("a {kind} event cannot be undone"),
        };
        return Err(Error::new(ErrorKind::No, why));
    }
    if record.event().is_some_and(is_final) {
        let error = Error::new(ErrorKind::No, "the summarized messages are not in the log");
        return Err(match packed(session) {
            Some((_, gc)) => error.hint(format!("undo the gc first with: convo restore NAME {gc}")),
            None => error,
        });
    }
    if kind == "restore"
        && let Some(Action::Restore(restore)) = record.event().map(Event::action)
        && is_gc(session, &restore.of)
    {
        return Err(Error::new(
            ErrorKind::No,
            "this event restored archived lines; archive them again with: convo gc",
        ));
    }
    if kind != "restore" && !session.live_events().contains(&index) {
        return Err(Error::new(ErrorKind::No, format!("{id}: already undone")));
    }
    Ok(kind)
}

/// Whether the event is a summary of messages that gc removed, so that it is their only trace.
fn is_final(event: &Event<'_>) -> bool {
    matches!(event.action(), Action::Summary(summary) if summary.covers.is_none())
}

/// Whether the lines that a gc removed are in an archive.
fn is_archived_gc(event: &Event<'_>) -> bool {
    event.name() == "gc" && json::member(event.raw, "discarded") != Some(b"true")
}

fn is_gc(session: &Session, id: &str) -> bool {
    (0..session.len()).any(|index| {
        let record = session.record(index);
        record
            .event()
            .is_some_and(|event| event.name() == "gc" && event.id().is_some_and(|own| own == id))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::session::of_lines as session;
    use crate::model::view::View;

    fn undo(session: &mut Session, id: Option<&str>, new: &str) -> Result<()> {
        let stamp = |_: &str| {
            Ok(Stamp {
                id: new.into(),
                at: "2026-01-01T00:00:00Z".into(),
            })
        };
        let target = id.map_or(UndoTarget::Change, UndoTarget::Event);
        let Plan::Lines(lines, _) = plan(session, target, stamp)? else {
            return Ok(());
        };
        lines.iter().for_each(|line| session.push_new(line));
        Ok(())
    }

    #[test]
    fn the_newest_change_is_undone_first() {
        let mut session = session(&[
            r#"{"role":"user","content":"1","id":"a"}"#,
            r#"{"role":"user","content":"2","id":"b"}"#,
            r#"{"type":"truncate","id":"e1","at":"x","before":"b"}"#,
            r#"{"type":"truncate","id":"e2","at":"x","before":null}"#,
        ]);
        let seen = |session: &Session| View::replay(session).items.len();
        assert_eq!(seen(&session), 0);
        undo(&mut session, None, "r1").unwrap();
        assert_eq!(seen(&session), 1);
        undo(&mut session, None, "r2").unwrap();
        assert_eq!(seen(&session), 2);
        assert_eq!(undo(&mut session, None, "r3").unwrap_err().kind, ErrorKind::No);
        assert!(undo(&mut session, Some("e1"), "r3").is_err());
        // Undoing the undo reapplies the change.
        undo(&mut session, Some("r2"), "r3").unwrap();
        assert_eq!(seen(&session), 1);
    }
}
