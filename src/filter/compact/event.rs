//! The `compact` event: all changes to a view in one line, which `restore` undoes.

use crate::error::{Error, ErrorKind, Result};
use crate::filter::Stamp;
use crate::model::event::MessageEdit;
use crate::model::json::{self, Dialect, ObjectBuilder, quoted};
use crate::model::key;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::{HashMap, HashSet};

/// The change to an item of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemChange {
    /// Keep the item.
    Keep,
    /// Drop the item from the view.
    Drop,
    /// Replace the item with this message: a whole line without its newline.
    Replace(Vec<u8>),
}

/// The changes to a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewEdit {
    /// One change for each item.
    pub changes: Vec<ItemChange>,
    /// Inserted messages, in order: the item that each one precedes (the number of items: at the end), and its line.
    pub inserts: Vec<(usize, Vec<u8>)>,
    /// The summary that replaces any earlier summary.
    pub summary: Option<InsertedSummary>,
}

/// A summary that a compaction inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InsertedSummary {
    /// The item that the summary precedes; the number of items: at the end.
    pub before: usize,
    /// The text.
    pub content: String,
    /// The items that the summary covers; the fingerprint is computed from their lines.
    pub covers: Vec<usize>,
    /// The author of the summary.
    pub by: String,
    /// The role under which the summary is shown; none: the role that suits the target format best.
    pub role: Option<String>,
}

/// Messages and tokens of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Messages and summaries.
    pub messages: u64,
    /// Tokens.
    pub tokens: u64,
}

/// Facts about a compaction that its event records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionInfo {
    /// The strategy: `tiered`, `check`, or the name of another system.
    pub strategy: String,
    /// Tokenizer, size before and size after; none if nothing was counted.
    pub sizes: Option<(String, Size, Size)>,
}

impl Size {
    /// Encodes the size as a JSON object.
    pub fn json(&self) -> String {
        format!("{{\"messages\":{},\"tokens\":{}}}", self.messages, self.tokens)
    }
}

/// Writes the size of the view before and after.
pub(in crate::filter) fn write_sizes(event: &mut ObjectBuilder, tokenizer: &str, was: &Size, now: &Size) {
    event
        .text("tokenizer", tokenizer)
        .raw("was", was.json())
        .raw("now", now.json());
}

impl ViewEdit {
    /// Keeps every item.
    pub fn of(view: &View) -> ViewEdit {
        ViewEdit {
            changes: vec![ItemChange::Keep; view.items.len()],
            ..ViewEdit::default()
        }
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.summary.is_none()
            && self.inserts.is_empty()
            && self.changes.iter().all(|change| *change == ItemChange::Keep)
    }

    /// Encodes the event as a line without its newline. An inserted message without an id gets one derived from the
    /// event's id.
    pub fn event(
        &self,
        session: &Session,
        view: &View,
        about: &CompactionInfo,
        stamp: &Stamp,
    ) -> Result<Vec<u8>> {
        let ids = MessageIdLists::of(session, view, self)?;
        let mut event = ObjectBuilder::default();
        event
            .text("type", "compact")
            .text("id", &stamp.id)
            .text("at", &stamp.at)
            .text("strategy", &about.strategy);
        if let Some((tokenizer, was, now)) = &about.sizes {
            write_sizes(&mut event, tokenizer, was, now);
        }
        let fingerprint = self.write_drop(session, view, &ids, &mut event);
        let edits = self.edits(session, view, &ids);
        if !edits.changed.is_empty() {
            event.raw("edit", json::array(edits.changed));
        }
        let mut inserts: Vec<(usize, &[u8])> = self
            .inserts
            .iter()
            .map(|(at, body)| (*at, body.as_slice()))
            .collect();
        inserts.extend(edits.replaced.iter().map(|(at, body)| (*at, *body)));
        inserts.sort_by_key(|(at, _)| *at);
        let built: Vec<_> = inserts
            .iter()
            .enumerate()
            .map(|(nth, (before, body))| ids.insert(*before, body, &stamp.id, nth))
            .collect::<Result<_>>()?;
        if !built.is_empty() {
            event.raw("insert", json::array(built));
        }
        match &self.summary {
            Some(summary) => drop(event.object("summary", |built| {
                ids.write_summary(session, view, summary, &fingerprint, built)
            })),
            None if self.drops_summary(view) => drop(event.raw("summary", "null")),
            None => {}
        }
        Ok(event.finish())
    }

    fn drops_summary(&self, view: &View) -> bool {
        let pairs = view.items.iter().zip(&self.changes);
        pairs
            .into_iter()
            .any(|(item, change)| matches!(item, Item::Summary(_)) && *change != ItemChange::Keep)
    }

    /// Writes the ids of the dropped items, runs of lines as ranges, and the fingerprint of the lines, which it returns.
    fn write_drop(
        &self,
        session: &Session,
        view: &View,
        ids: &MessageIdLists<'_>,
        event: &mut ObjectBuilder,
    ) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        let mut spans: Vec<Vec<u8>> = Vec::new();
        let mut items = (0..view.items.len()).peekable();
        while let Some(at) = items.next() {
            let goes = |at: usize| {
                let becomes = matches!(&self.changes[at], ItemChange::Replace(body) if ids.is_replaced(at, body, session, view));
                (self.changes[at] == ItemChange::Drop || becomes)
                    && !matches!(view.items[at], Item::Summary(_))
            };
            if !goes(at) {
                continue;
            }
            fingerprint.items.push(at);
            let mut last = at;
            // A range drops every line between its ends, so it must not contain a kept line.
            while let Some(next) = items.next_if(|next| goes(*next) && ids.is_run(last, *next)) {
                fingerprint.items.push(next);
                last = next;
            }
            spans.push(if last == at {
                ids.span(at)
            } else {
                json::texts([ids.id(at), ids.id(last)])
            });
        }
        fingerprint.sha256 = sha256(session, view, &fingerprint.items);
        if !spans.is_empty() {
            event.raw("drop", json::array(spans));
            event.text("sha256", &fingerprint.sha256);
        }
        fingerprint
    }

    fn edits<'r>(&'r self, session: &Session, view: &View, ids: &MessageIdLists<'_>) -> ViewEdits<'r> {
        let mut edits = ViewEdits::default();
        for (at, change) in self.changes.iter().enumerate() {
            let ItemChange::Replace(body) = change else {
                continue;
            };
            if ids.is_replaced(at, body, session, view) {
                edits.replaced.push((at, body));
            } else if let Some(edit) = edit(view.items[at].body(session), body) {
                edits.changed.push(ids.edit(at, edit));
            }
        }
        edits
    }
}

/// The fingerprint of items.
#[derive(Default)]
struct Fingerprint {
    items: Vec<usize>,
    sha256: String,
}

/// The SHA-256 of the lines of items.
fn sha256(session: &Session, view: &View, items: &[usize]) -> String {
    let bodies = items.iter().map(|at| view.items[*at].body(session));
    key::sha256_of(bodies.flat_map(|body| [body, b"\n"]))
}

#[derive(Default)]
struct ViewEdits<'r> {
    changed: Vec<Vec<u8>>,
    /// Messages that no edit can name: the event drops the old message and inserts the new one.
    replaced: Vec<(usize, &'r [u8])>,
}

/// Changed members, and names of removed ones.
type Difference<'b> = (Vec<(String, &'b [u8])>, Vec<String>);

/// The difference between two lines; none if an edit cannot express it or the lines are equal.
fn edit<'b>(before: &[u8], after: &'b [u8]) -> Option<Difference<'b>> {
    let old = json::members(before, Dialect::Strict)?;
    let new = json::members(after, Dialect::Strict)?;
    let known: HashMap<&str, &[u8]> = old.iter().map(|(name, value)| (name.as_ref(), *value)).collect();
    let set: Vec<_> = new
        .iter()
        .filter(|(name, value)| known.get(name.as_ref()) != Some(value))
        .map(|(name, value)| (name.to_string(), *value))
        .collect();
    let names: HashSet<&str> = new.iter().map(|(name, _)| name.as_ref()).collect();
    let unset: Vec<_> = old
        .iter()
        .filter(|(name, _)| !names.contains(name.as_ref()))
        .map(|(name, _)| name.to_string())
        .collect();
    let own = |name: &str| MessageEdit::OWN.contains(&name);
    if set.iter().any(|(name, _)| own(name)) || unset.iter().any(|name| own(name)) {
        return None;
    }
    Some((set, unset))
}

/// How the event names what it changes.
struct MessageIdLists<'s> {
    session: &'s Session,
    view: &'s View,
    /// Which items have a name that is needed.
    named: Vec<bool>,
    /// Which message of its id an item is, from 1; absent: the first.
    nth: HashMap<usize, usize>,
    /// The log line of each item that has one.
    lines: Vec<Option<usize>>,
    /// For each item, the item whose id names the position before it.
    anchors: Vec<Option<usize>>,
}

impl<'s> MessageIdLists<'s> {
    fn of(session: &'s Session, view: &'s View, reshaping: &ViewEdit) -> Result<MessageIdLists<'s>> {
        let line = |item: &Item| match item {
            Item::Line(index) | Item::Edited(index, _) => Some(*index),
            Item::Inserted(_) | Item::Summary(_) => None,
        };
        let lines: Vec<Option<usize>> = view.items.iter().map(line).collect();
        let is_summary = |at: usize| matches!(view.items[at], Item::Summary(_));
        let mut anchors = vec![None; view.items.len() + 1];
        for at in (0..lines.len()).rev() {
            anchors[at] = if is_summary(at) { anchors[at + 1] } else { Some(at) };
        }
        let changed = (0..lines.len()).filter(|at| reshaping.changes[*at] != ItemChange::Keep);
        let places = reshaping.inserts.iter().map(|(at, _)| *at);
        let places = places.chain(reshaping.summary.iter().map(|summary| summary.before));
        let mut named = vec![false; lines.len()];
        for at in changed {
            named[at] = !is_summary(at);
            anchors[at].into_iter().for_each(|at| named[at] = true);
        }
        places
            .filter_map(|at| anchors[at])
            .for_each(|at| named[at] = true);
        let mut ids = MessageIdLists {
            session,
            view,
            named,
            nth: HashMap::new(),
            lines,
            anchors,
        };
        let all = || (0..ids.named.len()).filter(|at| ids.named[*at]);
        let derives = session.derives_ids();
        // The messages of lines have an id or a derived one.
        let may_lack = |at: &usize| !(derives && matches!(view.items[*at], Item::Line(_)));
        if all().filter(may_lack).any(|at| ids.found(at).is_none()) {
            return Err(Error::new(
                ErrorKind::No,
                "an earlier event inserted a message without an id, which no event can refer to",
            ));
        }
        // What was put in is no line, and its id may be that of lines.
        let repeated = session.repeated(all().filter_map(|at| ids.lines[at]));
        let is_alone = |at: usize| ids.lines[at].is_some_and(|line| !repeated.contains(&line));
        let several = all().filter(|at| !is_alone(*at)).map(|at| ids.id(at));
        let places = session.places(several.collect());
        let several = places.into_values().filter(|all| all.len() > 1);
        let numbers: HashMap<usize, usize> = several
            .flat_map(|all| all.into_iter().enumerate().map(|(nth, line)| (line, nth + 1)))
            .collect();
        let which = |at: usize| Some((at, *numbers.get(&ids.lines[at]?)?));
        ids.nth = match numbers.is_empty() {
            true => HashMap::new(),
            false => all().filter_map(which).collect(),
        };
        Ok(ids)
    }

    /// The id of an item: its own, or the derived one.
    fn found(&self, at: usize) -> Option<String> {
        let own = self.view.items[at].message(self.session);
        let own = own.and_then(|message| Some(message.id()?.into_owned()));
        own.or_else(|| self.session.derived_id(self.lines[at]?))
    }

    /// The id of an item that has a name.
    fn id(&self, at: usize) -> String {
        self.found(at).unwrap_or_default()
    }

    /// Whether one line directly follows the other, and both can be the end of a range.
    fn is_run(&self, last: usize, next: usize) -> bool {
        let named = |at: usize| !self.nth.contains_key(&at);
        let (Some(one), Some(other)) = (self.lines[last], self.lines[next]) else {
            return false;
        };
        one + 1 == other && named(last) && named(next)
    }

    /// Whether no edit can turn the item into this line.
    fn is_replaced(&self, at: usize, body: &[u8], session: &Session, view: &View) -> bool {
        matches!(view.items[at], Item::Summary(_)) || edit(view.items[at].body(session), body).is_none()
    }

    fn span(&self, at: usize) -> Vec<u8> {
        let name = quoted(&self.id(at));
        match self.nth.get(&at) {
            Some(nth) => [b"[", name.as_slice(), format!(",{nth}]").as_bytes()].concat(),
            None => name,
        }
    }

    fn edit(&self, at: usize, (set, unset): Difference<'_>) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        self.name(&mut built, "id", at);
        if !unset.is_empty() {
            built.raw("unset", json::texts(&unset));
        }
        for (name, value) in set {
            built.raw(&name, value);
        }
        built.finish()
    }

    fn name(&self, built: &mut ObjectBuilder, member: &str, at: usize) {
        built.text(member, &self.id(at));
        if let Some(nth) = self.nth.get(&at) {
            built.raw("nth", nth.to_string());
        }
    }

    fn insert(&self, before: usize, body: &[u8], event: &str, nth: usize) -> Result<Vec<u8>> {
        let mut built = ObjectBuilder::default();
        if let Some(anchor) = self.anchors[before] {
            self.name(&mut built, "before", anchor);
        }
        let has_id = json::member_text(body, "id").is_some_and(|id| !id.is_empty());
        if has_id {
            built.raw("message", body);
        } else {
            let id = quoted(&key::id_from("msg_", format!("{event} {nth}")));
            let named = json::with_members(body, &[("id", Some(&id))]);
            built.raw("message", named.map_err(|fault| Error::data(fault.what))?);
        }
        Ok(built.finish())
    }

    /// `dropped` is the fingerprint of the dropped items, which mostly are the covered ones.
    fn write_summary(
        &self,
        session: &Session,
        view: &View,
        summary: &InsertedSummary,
        dropped: &Fingerprint,
        built: &mut ObjectBuilder,
    ) {
        let fingerprint = match summary.covers == dropped.items {
            true => dropped.sha256.clone(),
            false => sha256(session, view, &summary.covers),
        };
        if let Some(anchor) = self.anchors[summary.before] {
            self.name(built, "before", anchor);
        }
        built.text("content", &summary.content);
        let named = |at: &&usize| self.named[**at];
        let (first, last) = (
            summary.covers.iter().find(named),
            summary.covers.iter().rev().find(named),
        );
        if let (Some(first), Some(last)) = (first, last) {
            built.raw("covers", json::texts([self.id(*first), self.id(*last)]));
        }
        built.text("sha256", &fingerprint).text("by", &summary.by);
        if let Some(role) = &summary.role {
            built.text("role", role);
        }
    }
}
