//! Joins sessions, e.g. a chain of continuations, into one with each message once.

mod remap_events;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::format::continuation::joined_metadata;
use crate::format::native::HeaderBuilder;
use crate::model::chain::{self, COPIED_FROM, ChainOrder, ChainStep, MessageOrigin};
use crate::model::json::{self, Dialect, quoted};
use crate::model::key;
use crate::model::message::Message;
use crate::model::record::{Record, RecordKind as Line};
use crate::model::session::Session;
use crate::model::view::View;
use remap_events::{JoinChange, JoinChanges, MessageIds};
use std::collections::{HashMap, HashSet};

/// Events that belong to a log or a position in a chain, not to the conversation.
const OF_ONE: [&str; 5] = ["link", "gc", "repair", "redact", "archive"];

/// The joined session and what was merged.
#[derive(Debug, Default)]
pub struct JoinResult {
    /// The session.
    pub session: Session,
    /// Its id.
    pub id: String,
    /// Copies and markers that were left out.
    pub left_out: u64,
    /// Copies that were kept because their originals are missing.
    pub kept: u64,
    /// Messages and events that an earlier session also has, included once.
    pub shared: u64,
    /// Messages that got another id because an earlier session uses theirs for other content.
    pub renamed: u64,
    /// The original ids of those messages.
    pub conflicts: Vec<String>,
}

/// Joins sessions in this order. Without an `id` it is derived from the first session's id and the result.
///
/// # Errors
/// Returns a usage error if the list of sessions is empty.
pub fn join(sessions: &[Session], order: &ChainOrder, id: Option<&str>) -> Result<JoinResult> {
    let present: Vec<&Session> = order
        .steps
        .iter()
        .filter_map(|step| match step {
            ChainStep::Session(nth) => sessions.get(*nth),
            ChainStep::Missing(_) => None,
        })
        .collect();
    let Some(first) = present.first() else {
        return Err(Error::usage("no session to join"));
    };
    let mut work = JoinState::default();
    let mut before: Option<&Session> = None;
    for (place, step) in order.steps.iter().enumerate() {
        match step {
            ChainStep::Session(nth) => {
                let ends = (place == 0, place + 1 == order.steps.len());
                work.session(&sessions[*nth], before, ends);
                before = Some(&sessions[*nth]);
            }
            ChainStep::Missing(_) => before = None,
        }
    }
    let own = first.header_text("id").unwrap_or_else(|| "session".to_string());
    let (lines, joined) = work.ended();
    let id = id.map_or_else(|| derived(&own, &lines), str::to_string);
    Ok(JoinResult {
        session: lines.with_first(&header(&present, &id)),
        id,
        ..joined
    })
}

/// Derives an id; the same sessions always give the same id.
fn derived(first: &str, lines: &Session) -> String {
    let digest = key::sha256_of((0..lines.len()).map(|index| lines.full(index)));
    let named = format!("{first}.joined-{}", &digest[..8]);
    match key::is_id(&named) {
        true => named,
        false => format!("session_{}", &digest[..16]),
    }
}

/// The common title of parts of one session, without the part number.
fn whole_title(present: &[&Session]) -> Option<Vec<u8>> {
    let lineage = |session: &&Session| {
        let metadata = session.header_member("metadata")?;
        let lineage = json::member(metadata, "lineage")?;
        let text = |name| json::member_string(lineage, name);
        text("kind").filter(|kind| kind == "split")?;
        Some((text("parent"), json::member(lineage, "title")?.to_vec()))
    };
    let (parent, title) = lineage(present.first()?)?;
    let same = |session: &&Session| lineage(session).is_some_and(|(other, _)| other == parent);
    present.iter().all(same).then_some(title)
}

/// The first session's header, adapted to the joined session.
fn header(present: &[&Session], id: &str) -> Vec<u8> {
    let raw = |name: &str| present[0].header_member(name);
    let mut built = HeaderBuilder::default();
    for name in ["created_at", "title", "key", "scope", "tokenizer", "source"] {
        let later = || {
            present[1..]
                .iter()
                .find_map(|session| session.header_member(name))
        };
        if name == "title"
            && let Some(whole) = whole_title(present)
        {
            built.raw(name, whole);
            continue;
        }
        // A later session may have set the title; its other members describe that session only.
        if let Some(value) = raw(name).or_else(|| if name == "title" { later() } else { None }) {
            built.raw(name, value);
        }
    }
    let metadata = present.iter().map(|session| session.header_member("metadata"));
    let all: Vec<&[u8]> = metadata.map(|raw| raw.unwrap_or(b"{}")).collect();
    let mut metadata = joined_metadata(&all).unwrap_or(b"{}".to_vec());
    let ids = present.iter().filter_map(|session| session.header_text("id"));
    let joined = json::texts(ids);
    metadata = json::with_members(&metadata, &[("joined", Some(&joined))]).unwrap_or(metadata);
    built.raw("metadata", metadata);
    built.finish(id)
}

/// A hash that a message and an unmarked copy share: role, content and category.
fn content_hash(message: &Message<'_>) -> [u8; 32] {
    let members = [Some(message.role), message.content, message.category];
    // JSON values contain no NUL.
    key::digest(
        members
            .into_iter()
            .flat_map(|raw| [raw.unwrap_or_default(), b"\0"]),
    )
}

#[derive(Default)]
struct JoinState {
    out: Session,
    joined: JoinResult,
    /// Included messages: the id by which a copy may refer to one, and its current id.
    there: HashMap<String, String>,
    alike: HashMap<[u8; 32], String>,
    /// Content hashes of the included messages, by original id.
    contents: HashMap<String, Vec<String>>,
    /// Included events: their ids, and hashes of their rewritten lines.
    events: HashMap<String, String>,
}

impl JoinState {
    /// Returns the lines and the statistics.
    fn ended(self) -> (Session, JoinResult) {
        (self.out, self.joined)
    }

    /// Adds a session; `before` is the session that it continues, if present. The flags mark the first and the last
    /// session.
    fn session(&mut self, session: &Session, before: Option<&Session>, (is_first, is_last): (bool, bool)) {
        let parent = session.header_text("continued_from");
        let follows = parent.is_some() && before.and_then(|before| before.header_text("id")) == parent;
        let origins = chain::origins(session);
        // Similarity is needed only if an unmarked copy can follow.
        let likens = !is_last
            || origins
                .iter()
                .any(|(_, origin)| *origin == MessageOrigin::Copy(None));
        let mut derived = session.derived_ids().peekable();
        let moves = session
            .live_events()
            .into_iter()
            .any(|index| View::is_moved_by(session, index));
        let mut changes = JoinChanges::new(session.len());
        let (mut new, mut new_contents) = (Vec::new(), Vec::new());
        for (index, origin) in origins {
            let record = session.record(index);
            let Some(message) = record.message() else { continue };
            let own = message.id().map(|id| id.into_owned());
            let id = own
                .clone()
                .or_else(|| Some(derived.next_if(|(line, _)| *line == index)?.1))
                .unwrap_or_default();
            let original = match &origin {
                MessageOrigin::Own => None,
                MessageOrigin::Copy(Some(of)) => self.there.get(of).cloned().map(Some),
                MessageOrigin::Copy(None) => match self.alike.get(&content_hash(message)) {
                    Some(original) => Some(Some(original.clone())),
                    None => follows.then_some(None),
                },
                MessageOrigin::Marker => Some(None),
            };
            if let Some(original) = original {
                self.joined.left_out += 1;
                changes.insert(index, original.map_or(JoinChange::Removed, JoinChange::Copy));
                continue;
            }
            let content = own.as_ref().map(|_| message_hash(&record));
            if let (Some(own), Some(content)) = (&own, &content)
                && self
                    .contents
                    .get(own)
                    .is_some_and(|known| known.contains(content))
                && let Some(now) = self.there.get(own)
            {
                self.joined.shared += 1;
                changes.insert(index, JoinChange::Copy(now.clone()));
                continue;
            }
            if let MessageOrigin::Copy(of) = &origin {
                self.joined.kept += 1;
                // Later copies of the same original are copies of this one.
                new.extend(of.clone().map(|of| (of, id.clone())));
            }
            let taken = self.there.contains_key(&id);
            // Events refer to a message without an id by a derived id, which depends on the lines before.
            let changed =
                (taken && own.is_some() || moves && own.is_none() && !is_first).then(|| match taken {
                    true => other_id("msg_", session, &id),
                    false => id.clone(),
                });
            if let (true, Some(own)) = (taken, &own) {
                self.joined.renamed += 1;
                self.joined.conflicts.push(own.clone());
            }
            let now = changed.clone().unwrap_or(id);
            if likens {
                self.alike
                    .entry(content_hash(message))
                    .or_insert_with(|| now.clone());
            }
            if !is_last {
                new_contents.extend(own.zip(content));
                new.push((now.clone(), now));
            }
            changes.insert(index, JoinChange::Kept(changed));
        }
        self.lines(session, &changes, moves);
        self.there.extend(new);
        for (id, content) in new_contents {
            self.contents.entry(id).or_default().push(content);
        }
    }

    fn lines(&mut self, session: &Session, changes: &JoinChanges, moves: bool) {
        let names = moves.then(|| MessageIds::of(session, changes));
        let renames = changes
            .iter()
            .any(|change| matches!(change, JoinChange::Kept(Some(_))));
        let mut renamed: HashMap<String, String> = HashMap::new();
        let mut removed: HashSet<String> = HashSet::new();
        let mut here: Vec<(String, String)> = Vec::new();
        for index in 0..session.len() {
            let record = session.record(index);
            let event = match &record.kind {
                Line::Message(_) => {
                    match changes.get(index) {
                        Some(JoinChange::Kept(None)) => self.out.push(&record),
                        Some(JoinChange::Kept(Some(id))) => {
                            let id = quoted(id);
                            let line = json::with_members(record.body, &[("id", Some(&id))]);
                            match line {
                                Ok(line) => self.out.push_new(&line),
                                Err(_) => self.out.push(&record),
                            }
                        }
                        _ => {}
                    }
                    continue;
                }
                Line::Event(event) => event,
                Line::Unreadable(_) => {
                    self.out.push(&record);
                    continue;
                }
                Line::Blank => continue,
            };
            let (name, id) = (event.name(), event.id().map(|id| id.into_owned()));
            let of = json::member_text(event.raw, "of");
            let copied = json::member_text(event.raw, COPIED_FROM);
            let is_left = event.is_header()
                || OF_ONE.contains(&name.as_ref())
                || copied.is_some_and(|of| self.events.contains_key(of.as_ref()))
                || name == "restore" && of.as_ref().is_some_and(|of| removed.contains(of.as_ref()));
            let line = match (is_left, &names) {
                (true, _) => None,
                (false, Some(names)) if View::is_moved_by(session, index) => names.rewritten(index, event),
                _ => Some(record.body.to_vec()),
            };
            let Some(mut line) = line else {
                removed.extend(id);
                continue;
            };
            if let Some(id) = id {
                // Two events are equal only if they name the same messages.
                let hash = key::sha256(&line);
                if (names.is_some() || !renames) && self.events.get(&id) == Some(&hash) {
                    self.joined.shared += 1;
                    continue;
                }
                if self.events.contains_key(&id) {
                    let other = other_id("evt_", session, &id);
                    line = json::with_members(&line, &[("id", Some(&quoted(&other)))]).unwrap_or(line);
                    here.push((other.clone(), hash));
                    renamed.insert(id, other);
                } else {
                    here.push((id, hash));
                }
            }
            if let Some(other) = of.and_then(|of| renamed.get(of.as_ref())) {
                line = json::with_members(&line, &[("of", Some(&quoted(other)))]).unwrap_or(line);
            }
            match line == record.body {
                true => self.out.push(&record),
                false => self.out.push_new(&line),
            }
        }
        self.events.extend(here);
    }
}

/// A hash of a message's content, equal for copies of which one lacks a count or a time.
fn message_hash(record: &Record<'_>) -> String {
    const ASIDE: [(&str, Option<&[u8]>); 3] = [("tokens", None), ("timestamp", None), ("metadata", None)];
    let essential = json::with_members(record.body, &ASIDE);
    let mut members =
        json::members(essential.as_deref().unwrap_or(record.body), Dialect::Strict).unwrap_or_default();
    members.sort();
    let mut whole = Vec::new();
    for (name, value) in members {
        json::push_text(&mut whole, &name);
        whole.extend_from_slice(value);
        whole.push(b'\n');
    }
    key::sha256(&whole)
}

/// Derives a replacement for an id that an earlier session uses; the same for every join.
fn other_id(prefix: &str, session: &Session, id: &str) -> String {
    let whose = session.header_text("id").unwrap_or_default();
    key::id_from(prefix, format!("{whose}\n{id}"))
}
