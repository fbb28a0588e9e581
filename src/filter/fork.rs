//! Forks a session: copies its beginning into a new session. Messages keep their ids.
use super::split;
use crate::error::{Error, ErrorKind, Result};
use crate::model::exchange::Cuts;
use crate::model::json::{self, quoted};
use crate::model::key;
use crate::model::note::is_note;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use memchr::memmem;
use std::collections::BTreeMap;

/// The end of a fork.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ForkEnd {
    /// The end of the session.
    #[default]
    Whole,
    /// After this message.
    At(String),
    /// Before this message.
    Before(String),
    /// After the exchange with this number in the view, counted from 1.
    Exchange(usize),
}

/// A planned fork.
#[derive(Debug)]
pub struct PlannedFork<'s> {
    session: &'s Session,
    view: View,
    end: usize,
    /// The id of the last message.
    pub at: Option<String>,
    /// Number of messages in the fork.
    pub messages: u64,
    /// Number of messages in the view.
    pub of: u64,
    /// Why the fork does not end at the given message.
    pub note: Option<String>,
}

impl<'s> PlannedFork<'s> {
    /// Finds the end of the fork in the view. A tool call keeps its results.
    ///
    /// # Errors
    /// [`ErrorKind::No`] if the view has no such message or exchange.
    pub fn plan(session: &'s Session, end: &ForkEnd) -> Result<PlannedFork<'s>> {
        let view = View::replay(session);
        let cuts = Cuts::of(session, &view);
        let place = |id: &str| {
            let lines = session.all_of(id);
            let item = |line: usize| view.items.iter().position(|item| item.line() == Some(line));
            lines.into_iter().find_map(item).ok_or_else(|| {
                let error = Error::new(ErrorKind::No, format!("no such message in the view: {id}"));
                error.hint("list the ids of messages with: convo context INPUT | jq -r .id")
            })
        };
        let (requested, mut end) = match end {
            ForkEnd::Whole => (view.items.len(), view.items.len()),
            ForkEnd::At(id) => {
                let requested = place(id)? + 1;
                let whole = (requested..).find(|cut| cuts.is_whole(*cut));
                (requested, whole.unwrap_or(requested))
            }
            ForkEnd::Before(id) => {
                let requested = place(id)?;
                let whole = (0..=requested).rev().find(|cut| cuts.is_whole(*cut));
                (requested, whole.unwrap_or(requested))
            }
            ForkEnd::Exchange(number) => {
                let starts = cuts.exchange_starts();
                if *number == 0 || *number > starts.len() {
                    let error = Error::new(ErrorKind::No, format!("no exchange {number} in the view"));
                    return Err(error.hint("list exchanges with: convo count --by exchange"));
                }
                let end = starts.get(*number).copied().unwrap_or(view.items.len());
                (end, end)
            }
        };
        end = end.min(view.items.len());
        let messages = |items: &[Item]| {
            let is_message = |item: &&Item| !matches!(item, Item::Summary(_));
            items.iter().filter(is_message).count() as u64
        };
        let last = view.items[..end].iter().rev().find_map(Item::line);
        let at = last.and_then(|line| {
            let derived = || session.derived_ids().find(|(index, _)| *index == line);
            session.id(line).or_else(|| derived().map(|(_, id)| id))
        });
        let note = (requested != end).then(|| {
            let last = at.as_deref().unwrap_or("the beginning");
            format!("moved the end to {last}, so that no tool call is separated from its result")
        });
        Ok(PlannedFork {
            session,
            messages: messages(&view.items[..end]),
            of: messages(&view.items),
            view,
            end,
            at,
            note,
        })
    }

    /// Derives an id from the session and the end.
    pub fn derived_id(&self) -> String {
        let parent = self.session.header_text("id").unwrap_or_default();
        let at = self.at.as_deref().unwrap_or_default();
        key::id_from("session_", format!("fork\n{parent}\n{at}\n{}", self.end))
    }

    /// Builds the session.
    ///
    /// Annotations after the end are copied if they refer to the session or to a message of the fork. Format-specific
    /// data of the lines gets the new session id, in the form of the old id.
    pub fn make(self, id: &str, created_at: Option<&str>) -> Result<Session> {
        let session = self.session;
        let end = self.view.items[self.end..].iter().find_map(Item::line);
        let about = (id, self.at.as_deref(), created_at);
        let mut built = split::beginning(session, self.view, self.end, about)?;
        let later = session.live_events().into_iter();
        for index in later.filter(|index| end.is_some_and(|end| *index > end)) {
            let record = session.record(index);
            let Some(event) = record.event().filter(|event| is_note(event)) else {
                continue;
            };
            let of = json::member_text(event.raw, "of");
            if of.is_none_or(|of| !built.all_of(&of).is_empty()) {
                built.push_from(session, index);
            }
        }
        match session.header_text("id").filter(|parent| !parent.is_empty()) {
            Some(parent) => Ok(with_id(&built, &parent, id)),
            None => Ok(built),
        }
    }
}

/// Replaces the old session id with the new one in the metadata and passthrough records. Formats whose ids are UUIDs have
/// an id derived from another id.
pub(super) fn with_id(session: &Session, old: &str, new: &str) -> Session {
    let uuid = |id: &str| match key::is_uuid(id) {
        true => id.to_string(),
        false => key::uuid(id.as_bytes()),
    };
    let [old_uuid, new_uuid] = [old, new].map(uuid);
    let pairs = [(&*old_uuid, &*new_uuid), (old, new)].map(|(from, to)| (quoted(from), quoted(to)));
    let finders = pairs.each_ref().map(|(from, _)| memmem::Finder::new(from));
    let renamed = |raw: &[u8]| {
        let places = finders
            .iter()
            .zip(&pairs)
            .flat_map(|(finder, pair)| finder.find_iter(raw).map(move |at| (at, pair)));
        // In order of the position; of equal ids, the UUID.
        let places: BTreeMap<usize, _> = places.collect::<Vec<_>>().into_iter().rev().collect();
        let mut out = Vec::with_capacity(raw.len());
        let mut last = 0;
        for (at, (from, to)) in places {
            out.extend_from_slice(&raw[last..at]);
            out.extend_from_slice(to);
            last = at + from.len();
        }
        out.extend_from_slice(&raw[last..]);
        out
    };
    let mut built = Session::default();
    for index in 0..session.len() {
        let body = session.record(index).body;
        let changed: Vec<(&str, Vec<u8>)> = ["metadata", "raw"]
            .into_iter()
            .filter_map(|name| {
                let raw = json::member(body, name)?;
                finders.iter().find_map(|finder| finder.find(raw))?;
                let lineage = json::member(raw, "lineage").map(<[u8]>::to_vec);
                let new = renamed(raw);
                // The lineage keeps the old session id.
                let new = match &lineage {
                    Some(lineage) => json::with_members(&new, &[("lineage", Some(lineage))]).ok()?,
                    None => new,
                };
                Some((name, new))
            })
            .collect();
        let members: Vec<_> = changed
            .iter()
            .map(|(name, raw)| (*name, Some(raw.as_slice())))
            .collect();
        match json::with_members(body, &members) {
            Ok(line) if !members.is_empty() => built.push_new(&line),
            _ => built.push_from(session, index),
        }
    }
    built
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::session::of_lines;

    const LOG: [&str; 8] = [
        r#"{"type":"session","version":1,"id":"s","title":"T","key":"k","created_at":"2026-01-01T00:00:00Z","source":{"format":"x"},"metadata":{"cwd":"/w","lineage":{"kind":"split"}}}"#,
        r#"{"role":"user","content":"1","id":"u1"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"id":"c1"}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"r","id":"t1"}"#,
        r#"{"role":"assistant","content":"a","id":"a1"}"#,
        r#"{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","drop":["u1"]}"#,
        r#"{"role":"user","content":"2","id":"u2"}"#,
        r#"{"type":"compact","id":"e2","at":"2026-01-01T00:00:01Z","edit":[{"id":"a1","content":"b"}]}"#,
    ];

    fn fork(end: ForkEnd) -> Result<(String, Option<String>)> {
        let session = of_lines(&LOG);
        let fork = PlannedFork::plan(&session, &end)?;
        let note = fork.note.clone();
        let built = fork.make("f", Some("2026-02-02T00:00:00Z"))?;
        let shown = View::replay(&built).shown(&built);
        let whole = View::replay(&session).shown(&session);
        // The view of a fork is a prefix of the original view.
        assert_eq!(shown[..], whole[..shown.len()], "{}", built.text());
        let ids = built.messages().filter_map(|(line, _)| built.id(line));
        Ok((ids.collect::<Vec<_>>().join(" "), note))
    }

    #[test]
    fn a_fork_ends_where_no_call_loses_its_result() {
        let at = |id: &str| fork(ForkEnd::At(id.to_string())).unwrap();
        let before = |id: &str| fork(ForkEnd::Before(id.to_string())).unwrap();
        // The log of the fork includes the hidden messages.
        assert_eq!(at("a1"), ("u1 c1 t1 a1".to_string(), None));
        let (ids, note) = at("c1");
        assert_eq!(ids, "u1 c1 t1");
        assert!(note.unwrap().starts_with("moved the end to t1"));
        let (ids, note) = before("t1");
        assert_eq!(ids, "u1");
        assert!(note.is_some());
        assert_eq!(before("u2").0, "u1 c1 t1 a1");
        assert_eq!(fork(ForkEnd::Whole).unwrap().0, "u1 c1 t1 a1 u2");
        assert_eq!(fork(ForkEnd::Exchange(1)).unwrap().0, "u1 c1 t1 a1");
        for missing in [
            ForkEnd::At("u1".into()),
            ForkEnd::Exchange(3),
            ForkEnd::Exchange(0),
        ] {
            assert_eq!(fork(missing).unwrap_err().kind, ErrorKind::No);
        }
    }

    #[test]
    fn the_header_names_the_origin_and_no_linked_session() {
        let session = of_lines(&LOG);
        let fork = PlannedFork::plan(&session, &ForkEnd::At("a1".into())).unwrap();
        let built = fork.make("f", Some("2026-02-02T00:00:00Z")).unwrap();
        let header = String::from_utf8_lossy(built.record(0).body).into_owned();
        let expected = r#"{"type":"session","version":1,"id":"f","created_at":"2026-02-02T00:00:00Z","title":"T","metadata":{"cwd":"/w","lineage":{"kind":"fork","parent":"s","at":"a1"}}}"#;
        assert_eq!(header, expected);
    }
}
