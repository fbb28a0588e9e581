//! The session line of a continuation: what it says of its chain, and what it takes along.

use super::copies::quoted;
use super::counted::{Counted, cost};
use super::{Layout, New};
use crate::format::native::HeaderBuilder;
use crate::model::chain::{self, Origin};
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::Session;
use crate::model::time;
use crate::tokens::Counter;

/// Members of the session line that tell of the chain.
const ORIGINAL: &str = "original_created_at";
const SOURCE_TOKENS: &str = "source_tokens";
const CHAIN_TOKENS: &str = "chain_tokens";

/// What Penguin notes of one session and not of the conversation.
pub(in crate::filter) const OF_ONE: [&str; 15] = [
    "tool_call_record_count",
    "tool_result_record_count",
    "llm_request_lifecycle_count",
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
pub(in crate::filter) const RECORDS: [&str; 3] = [
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
            sessions: self.sessions.saturating_add(1),
            created_at: self.created_at.or_else(|| session.header_text("created_at")),
            tokens: self.tokens.saturating_add(tokens(session, counter, None).1),
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
pub(super) fn tokens(session: &Session, counter: Counter, counted: Option<&Counted>) -> (u64, u64) {
    let mut sums = (0, 0);
    for (index, origin) in chain::origins(session) {
        let known = counted.and_then(|counted| counted.tokens(session, index, counter));
        let count = known.unwrap_or_else(|| cost(session, index, counter));
        sums.0 += count;
        if origin == Origin::Own {
            sums.1 += count;
        }
    }
    sums
}

pub(super) fn line(session: &Session, before: &Before, new: &New<'_>, (all, chain): (u64, u64)) -> Vec<u8> {
    let header = session.header();
    let raw = |name: &str| {
        header
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, raw)| raw.clone())
    };
    let mut built = HeaderBuilder::default();
    built.text("created_at", new.created_at);
    for name in ["title", "key", "scope", "tokenizer", "memory", "max_messages"] {
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
            before.sessions.saturating_add(1).to_string().into_bytes(),
        )
        .text(ORIGINAL, first.as_deref())
        .raw(SOURCE_TOKENS, all.to_string().into_bytes())
        .raw(CHAIN_TOKENS, chain.to_string().into_bytes());
    let metadata = raw("metadata").unwrap_or(b"{}".to_vec());
    if let Some(metadata) = carried(&metadata, first.as_deref(), all, new) {
        built.raw("metadata", metadata);
    }
    built.finish(new.id)
}

/// The object without these members.
pub(in crate::filter) fn without(object: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    let gone: Vec<(&str, Option<&[u8]>)> = names.iter().map(|name| (*name, None)).collect();
    json::with_members(object, &gone).ok()
}

/// The free members of the session line as far as they are of the conversation and not of one session.
fn carried(metadata: &[u8], first: Option<&str>, tokens: u64, new: &New<'_>) -> Option<Vec<u8>> {
    let mut foreign = Vec::new();
    if new.layout == Layout::Penguin {
        if let Some(first) = first {
            let local = time::local(first);
            foreign.push(("original_created_at", quoted(local.as_deref().unwrap_or(first))));
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
pub(in crate::filter) fn of_conversation(metadata: &[u8], foreign: &[(&str, Vec<u8>)]) -> Option<Vec<u8>> {
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
