//! The session line of a continuation: what it says of its chain, and what it takes along.

use super::counted::{Counted, cost};
use super::{Layout, New};
use crate::filter::copies::header_member;
use crate::format::continuation::continued_metadata;
use crate::format::native::HeaderBuilder;
use crate::model::chain::{self, Origin};
use crate::model::session::Session;
use crate::tokens::Counter;

/// Members of the session line that tell of the chain.
const ORIGINAL: &str = "original_created_at";
const SOURCE_TOKENS: &str = "source_tokens";
const CHAIN_TOKENS: &str = "chain_tokens";

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
    std::str::from_utf8(&header_member(session, name)?)
        .ok()?
        .parse()
        .ok()
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
    let mut built = HeaderBuilder::default();
    built.text("created_at", new.created_at);
    for name in ["title", "key", "scope", "tokenizer", "memory", "max_messages"] {
        if let Some(value) = header_member(session, name) {
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
    let metadata = header_member(session, "metadata").unwrap_or(b"{}".to_vec());
    let dated = (new.layout == Layout::Dated).then_some((first.as_deref(), all));
    if let Some(metadata) = continued_metadata(&metadata, dated) {
        built.raw("metadata", metadata);
    }
    built.finish(new.id)
}
