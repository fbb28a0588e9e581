//! A session that goes on where another ends: what stands is copied, and the exchange that has no answer yet.

use super::settle::summary_line;
use crate::error::{Error, Kind, Result};
use crate::format::native::HeaderBuilder;
use crate::model::chain::{self, COPIED_FROM, MARKER, Origin};
use crate::model::exchange::Cuts;
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use crate::model::message::{Category, Role};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use std::collections::HashMap;

/// Members of the session line that tell of the chain.
const ORIGINAL: &str = "original_created_at";
const SOURCE_TOKENS: &str = "source_tokens";
const CHAIN_TOKENS: &str = "chain_tokens";

/// What Penguin notes of one session and not of the conversation.
pub(super) const OF_ONE: [&str; 12] = [
    "message_count",
    "token_count",
    "continued_from",
    "continued_to",
    "continuation_index",
    "continuation_time",
    "original_created_at",
    "source_session_tokens",
    "total_chain_tokens",
    "recovered_from",
    "flattened_snapshot",
    "snapshot_id",
];

/// The lists that Penguin keeps beside the messages of a session.
pub(super) const RECORDS: [&str; 3] = [
    "llm_request_lifecycles",
    "tool_call_records",
    "tool_result_records",
];

/// What is known of the sessions ahead of one in its chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// How many there are.
    pub sessions: u64,
    /// When the first one of the chain began.
    pub created_at: Option<String>,
    /// Tokens of their messages, each message once.
    pub tokens: u64,
}

impl Before {
    /// What the session says itself, when it can be believed: it begins a chain, or convo has counted it.
    pub fn told(session: &Session) -> Option<Before> {
        if session.header_text("continued_from").is_none() {
            let created_at = session.header_text("created_at");
            return Some(Before {
                created_at,
                ..Before::default()
            });
        }
        Some(Before {
            tokens: number(session, CHAIN_TOKENS)?,
            sessions: number(session, "continuation_index")?,
            created_at: session.header_text(ORIGINAL),
        })
    }

    /// What the session says of itself, where the sessions ahead of it are not there to be counted.
    pub fn guessed(session: &Session) -> Before {
        Before::told(session).unwrap_or_else(|| Before {
            sessions: number(session, "continuation_index").unwrap_or(1).max(1),
            created_at: session
                .header_text(ORIGINAL)
                .or_else(|| session.header_text("created_at")),
            tokens: number(session, CHAIN_TOKENS).unwrap_or(0),
        })
    }

    /// What is known of the sessions ahead of the one that continues this one.
    pub fn and(self, session: &Session, counter: Counter) -> Before {
        Before {
            sessions: self.sessions + 1,
            created_at: self.created_at.or_else(|| session.header_text("created_at")),
            tokens: self.tokens + tokens(session, counter).1,
        }
    }
}

/// A number in the session line.
fn number(session: &Session, name: &str) -> Option<u64> {
    let header = session.header();
    let (_, raw) = header.iter().find(|(known, _)| known == name)?;
    std::str::from_utf8(raw).ok()?.parse().ok()
}

/// Tokens of all messages of a session, and of those that are no copies.
fn tokens(session: &Session, counter: Counter) -> (u64, u64) {
    let mut sums = (0, 0);
    for (index, origin) in chain::origins(session) {
        let count = session
            .record(index)
            .message()
            .map_or(0, |message| counter.message(message));
        sums.0 += count;
        if origin == Origin::Own {
            sums.1 += count;
        }
    }
    sums
}

/// How the new session is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Copies stand in the order of the view and keep their times.
    #[default]
    Native,
    /// As Penguin writes them: rules, then context, with the time of the continuation.
    Penguin,
}

/// The session that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct New<'a> {
    /// Its id.
    pub id: &'a str,
    /// When it begins.
    pub created_at: Option<&'a str>,
    /// How it is laid out.
    pub layout: Layout,
    /// The number of messages at which it will be full itself.
    pub limit: Option<u64>,
}

/// A session that goes on where another ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Continuation {
    /// Its lines, the session line first.
    pub lines: Vec<Vec<u8>>,
    /// Messages among them that are copies.
    pub copies: u64,
    /// Things that happened and that were left behind, since with them it would be full too soon.
    pub left: u64,
}

/// The id of the session that continues this one: its own with the number of the continuation behind it, which is the
/// same whenever it is asked for. The second is taken when somebody else has the first.
pub fn ids(source: &str, index: u64) -> [String; 2] {
    let before = format!(".{}", index.saturating_sub(1));
    let stem = match index {
        0 | 1 => source,
        _ => source.strip_suffix(&before).unwrap_or(source),
    };
    let digest = key::sha256(source.as_bytes());
    let fit = |ending: String| match stem.len() + ending.len() <= key::LONGEST {
        true => format!("{stem}{ending}"),
        false => format!("session_{}{ending}", &digest[..16]),
    };
    [
        fit(format!(".{index}")),
        fit(format!("-{}.{index}", &digest[..8])),
    ]
}

/// The items of a view that a continuation takes along, in order.
struct Taken {
    /// Rules and background.
    standing: Vec<usize>,
    /// The exchange without an answer, with whatever stands in it.
    open: Vec<usize>,
    left: u64,
}

/// What is to be copied; none when the exchange that is open leaves no room for anything more.
fn take(session: &Session, view: &View, limit: Option<u64>) -> Result<Option<Taken>> {
    let start = open_exchange(session, view).unwrap_or(view.items.len());
    let mut taken = Taken {
        standing: Vec::new(),
        open: Vec::new(),
        left: 0,
    };
    let mut happened = Vec::new();
    for (place, item) in view.items.iter().enumerate() {
        let (Some(traits), Some(message)) = (item.traits(session), item.message(session)) else {
            continue;
        };
        if chain::marks(&message).is_some() {
            continue;
        }
        match (traits.category, traits.role) {
            _ if place >= start => taken.open.push(place),
            (Category::Context, Role::User) => happened.push(place),
            (Category::System | Category::Context, _) => taken.standing.push(place),
            _ => {}
        }
    }
    let fixed = taken.standing.len() as u64;
    if let Some(limit) = limit {
        if limit <= fixed + 2 {
            let what =
                format!("a session of {limit} messages is full with the {fixed} that every continuation has");
            return Err(
                Error::new(Kind::Usage, what).hint(format!("the least here is --boundary {}", fixed + 3))
            );
        }
        // The marker, and one that is new.
        let Some(room) = limit.checked_sub(fixed + taken.open.len() as u64 + 2) else {
            return Ok(None);
        };
        let most = usize::try_from(room / 2).unwrap_or(usize::MAX);
        let left = happened.len().saturating_sub(most);
        taken.left = left as u64;
        happened.drain(..left);
    }
    taken.standing.extend(happened);
    taken.standing.sort_unstable();
    Ok(Some(taken))
}

/// The item with which the last exchange begins, when it has no answer yet.
fn open_exchange(session: &Session, view: &View) -> Option<usize> {
    let said = |item: &&Item| {
        let traits = item.traits(session);
        traits.filter(|traits| matches!(traits.category, Category::Dialog | Category::SystemOutput))
    };
    let last = view.items.iter().rev().find_map(|item| said(&item))?;
    if last.role == Role::Assistant && !last.calls {
        return None;
    }
    Cuts::of(session, view).exchange_starts().last().copied()
}

/// Plans the session that continues this one; none when an exchange that is not finished fills it by itself.
///
/// # Errors
/// [`Kind::Usage`] when a new session would be full as soon as it is made.
pub fn plan(
    session: &Session,
    counter: Counter,
    before: &Before,
    new: &New<'_>,
) -> Result<Option<Continuation>> {
    let view = View::replay(session);
    let Some(taken) = take(session, &view, new.limit)? else {
        return Ok(None);
    };
    let source = session.header_text("id").unwrap_or_default();
    let (all, own) = tokens(session, counter);
    let mut made = Continuation {
        left: taken.left,
        copies: (taken.standing.len() + taken.open.len()) as u64,
        lines: vec![header(session, before, new, (all, before.tokens + own))],
    };
    let mut standing = taken.standing;
    if new.layout == Layout::Penguin {
        let category = |place: &usize| view.items[*place].traits(session).map(|traits| traits.category);
        standing.sort_by_key(category);
    }
    let derived: HashMap<usize, String> = session.derived_ids().collect();
    let copy = |place: usize| {
        let item = &view.items[place];
        let id = item.line().and_then(|line| derived.get(&line)).cloned();
        let made = copy(session, item, id, place, new);
        made.ok_or_else(|| Error::new(Kind::Data, "a message that is to be copied cannot be read"))
    };
    for place in standing {
        made.lines.push(copy(place)?);
    }
    let summary = view.items.iter().find_map(|item| match item {
        Item::Summary(index) => summary(session, *index, new),
        _ => None,
    });
    made.lines.extend(summary);
    made.lines.push(marker(&source, all, new));
    for place in taken.open {
        made.lines.push(copy(place)?);
    }
    Ok(Some(made))
}

fn header(session: &Session, before: &Before, new: &New<'_>, (all, chain): (u64, u64)) -> Vec<u8> {
    let header = session.header();
    let raw = |name: &str| {
        header
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, raw)| raw.clone())
    };
    let mut built = HeaderBuilder::default();
    built.text("created_at", new.created_at);
    for name in ["title", "key", "scope", "tokenizer"] {
        if let Some(value) = raw(name) {
            built.raw(name, value);
        }
    }
    let first = before
        .created_at
        .clone()
        .or_else(|| session.header_text("created_at"));
    built
        .text("continued_from", session.header_text("id").as_deref())
        .raw(
            "continuation_index",
            (before.sessions + 1).to_string().into_bytes(),
        )
        .text(ORIGINAL, first.as_deref())
        .raw(SOURCE_TOKENS, all.to_string().into_bytes())
        .raw(CHAIN_TOKENS, chain.to_string().into_bytes());
    if let Some(metadata) =
        raw("metadata").and_then(|metadata| carried(&metadata, first.as_deref(), all, new))
    {
        built.raw("metadata", metadata);
    }
    built.finish(new.id)
}

/// The object without these members.
pub(super) fn without(object: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    let gone: Vec<(&str, Option<&[u8]>)> = names.iter().map(|name| (*name, None)).collect();
    json::with_members(object, &gone).ok()
}

/// The free members of the session line as far as they are of the conversation and not of one session.
fn carried(metadata: &[u8], first: Option<&str>, tokens: u64, new: &New<'_>) -> Option<Vec<u8>> {
    let mut foreign = Vec::new();
    if new.layout == Layout::Penguin {
        if let Some(first) = first {
            foreign.push(("original_created_at", quoted(first)));
        }
        foreign.push(("source_session_tokens", tokens.to_string().into_bytes()));
    }
    let inner = json::member(metadata, "penguin").and_then(|raw| json::member(raw, "metadata"));
    let mut inner = without(inner.unwrap_or(b"{}"), &OF_ONE)?;
    for (name, value) in foreign {
        inner = json::with_members(&inner, &[(name, Some(&value))]).ok()?;
    }
    let kept = match inner == b"{}" {
        true => Vec::new(),
        false => vec![("metadata", inner)],
    };
    of_conversation(metadata, &kept)
}

/// The same, with these members of what Penguin has beside the messages.
pub(super) fn of_conversation(metadata: &[u8], foreign: &[(&str, Vec<u8>)]) -> Option<Vec<u8>> {
    let kept = without(metadata, &["lineage", "joined", "response", "penguin"])?;
    let mut penguin = ObjectBuilder::default();
    for (name, value) in foreign {
        penguin.raw(name, value);
    }
    if penguin.is_empty() {
        return (kept != b"{}").then_some(kept);
    }
    json::with_members(&kept, &[("penguin", Some(&penguin.finish()))]).ok()
}

/// An id for a line of the new session: the same whenever it is made.
fn derived(prefix: &str, new: &New<'_>, of: &str) -> String {
    let digits = match new.layout {
        Layout::Native => 16,
        Layout::Penguin => 8,
    };
    format!(
        "{prefix}{}",
        &key::sha256(format!("{}\n{of}", new.id).as_bytes())[..digits]
    )
}

fn quoted(text: &str) -> Vec<u8> {
    let mut raw = Vec::new();
    json::push_text(&mut raw, text);
    raw
}

/// A message as it stands in the view, with an id of its own and the id of the one that it is a copy of.
fn copy(session: &Session, item: &Item, id: Option<String>, place: usize, new: &New<'_>) -> Option<Vec<u8>> {
    let message = item.message(session)?;
    let own = id.or_else(|| message.id().map(|id| id.into_owned()));
    // A copy of a copy is one of the first.
    let of = chain::copied_from(&message).or(own).unwrap_or_default();
    let metadata = message
        .metadata
        .filter(|raw| raw.first() == Some(&b'{'))
        .unwrap_or(b"{}");
    let noted = json::with_members(metadata, &[(COPIED_FROM, Some(&quoted(&of)))]).ok()?;
    let id = quoted(&derived("msg_", new, &format!("{place} {of}")));
    let time = new
        .created_at
        .filter(|_| new.layout == Layout::Penguin)
        .map(quoted);
    let mut changes: Vec<(&str, Option<&[u8]>)> = vec![("id", Some(&id)), ("metadata", Some(&noted))];
    if let Some(time) = &time {
        changes.push(("timestamp", Some(time)));
    }
    json::with_members(item.body(session), &changes).ok()
}

/// The summary that stands, standing where it is now.
fn summary(session: &Session, index: usize, new: &New<'_>) -> Option<Vec<u8>> {
    let record = session.record(index);
    let line = summary_line(session, index).unwrap_or_else(|| record.body.to_vec());
    let of = json::member(&line, COPIED_FROM).or_else(|| json::member(&line, "id"));
    let of = of.and_then(json::text).unwrap_or_default();
    let id = quoted(&derived("evt_", new, &of));
    let changes: [(&str, Option<&[u8]>); 3] = [
        ("id", Some(&id)),
        ("here", Some(b"true")),
        (COPIED_FROM, Some(&quoted(&of))),
    ];
    json::with_members(&line, &changes).ok()
}

/// The message that marks where the session goes on.
fn marker(source: &str, tokens: u64, new: &New<'_>) -> Vec<u8> {
    let mut noted = ObjectBuilder::default();
    noted
        .text("type", MARKER)
        .text("previous_session", source)
        .raw("previous_session_tokens", tokens.to_string());
    let mut noted = noted.finish();
    if new.layout == Layout::Penguin {
        noted = [br#"{"penguin":{"metadata":"#, noted.as_slice(), b"}}"].concat();
    }
    let mut marker = ObjectBuilder::default();
    marker
        .text("role", "system")
        .text("content", &format!("Continuing from session {source}"))
        .text("id", &derived("msg_", new, "marker"));
    if let Some(time) = new.created_at {
        marker.text("timestamp", time);
    }
    marker
        .text("category", Category::System.name())
        .raw("metadata", noted);
    marker.finish()
}
