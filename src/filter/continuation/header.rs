//! Builds the header of a continuation: its chain members and the members copied from its predecessor.

use super::counted::{CountedSession, cost};
use super::new_session::{NewSession, SessionLayout};
use crate::format::continuation::continued_metadata;
use crate::format::native::HeaderBuilder;
use crate::model::chain::{self, MessageOrigin};
use crate::model::json;
use crate::model::session::Session;
use crate::tokens::Counter;

/// Header members that describe the chain.
const ORIGINAL: &str = "original_created_at";
const SOURCE_TOKENS: &str = "source_tokens";
const CHAIN_TOKENS: &str = "chain_tokens";

/// Facts about the earlier sessions of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierSessions {
    /// Number of sessions.
    pub sessions: u64,
    /// Creation time of the first session of the chain.
    pub created_at: Option<String>,
    /// Tokens of their messages, each message counted once.
    pub tokens: u64,
}

impl EarlierSessions {
    /// Reads the facts from the header, if it is reliable: the session begins a chain, or convo counted it.
    pub fn from_header(session: &Session) -> Option<EarlierSessions> {
        if session.header_text("continued_from").is_none() {
            let created_at = session.header_text("created_at");
            return Some(EarlierSessions {
                created_at,
                ..EarlierSessions::default()
            });
        }
        Some(EarlierSessions {
            tokens: number(session, CHAIN_TOKENS)?,
            sessions: number(session, "continuation_index")?,
            created_at: session.header_text(ORIGINAL),
        })
    }

    /// Reads the facts from the header, with defaults, when the earlier sessions are not available.
    pub fn guessed(session: &Session) -> EarlierSessions {
        EarlierSessions::from_header(session).unwrap_or_else(|| EarlierSessions {
            sessions: number(session, "continuation_index").unwrap_or(1).max(1),
            created_at: session
                .header_text(ORIGINAL)
                .or_else(|| session.header_text("created_at")),
            tokens: number(session, CHAIN_TOKENS).unwrap_or(0),
        })
    }

    /// The facts including `session`, for its continuation.
    pub fn and(self, session: &Session, counter: Counter) -> EarlierSessions {
        EarlierSessions {
            sessions: self.sessions.saturating_add(1),
            created_at: self.created_at.or_else(|| session.header_text("created_at")),
            tokens: self.tokens.saturating_add(tokens(session, counter, None).1),
        }
    }
}

fn number(session: &Session, name: &str) -> Option<u64> {
    json::number(session.header_member(name)?)
}

/// Tokens of all messages of a session, and of those that are not copies.
pub(super) fn tokens(session: &Session, counter: Counter, counted: Option<&CountedSession>) -> (u64, u64) {
    let mut sums = (0, 0);
    for (index, origin) in chain::origins(session) {
        let known = counted.and_then(|counted| counted.tokens(session, index, counter));
        let count = known.unwrap_or_else(|| cost(session, index, counter));
        sums.0 += count;
        if origin == MessageOrigin::Own {
            sums.1 += count;
        }
    }
    sums
}

pub(super) fn line(
    session: &Session,
    before: &EarlierSessions,
    new: &NewSession<'_>,
    (all, chain): (u64, u64),
) -> Vec<u8> {
    let mut built = HeaderBuilder::default();
    built.text("created_at", new.created_at);
    for name in ["title", "key", "scope", "tokenizer", "memory", "max_messages"] {
        if let Some(value) = session.header_member(name) {
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
    let metadata = session.header_member("metadata").unwrap_or(b"{}");
    let dated = (new.layout == SessionLayout::Dated).then_some((first.as_deref(), all));
    if let Some(metadata) = continued_metadata(metadata, dated) {
        built.raw("metadata", metadata);
    }
    built.finish(new.id)
}
