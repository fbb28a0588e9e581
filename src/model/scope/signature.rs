//! Keys as PicoClaw makes them: a signature in lower case, hashed; and the keys that it takes as they are given.

use super::fold::{self, folded};
use crate::model::key;

/// Every hashed key begins so.
const OPAQUE: &str = "sk_v1_";

/// Keys of the time before begin so.
const LEGACY: &str = "agent:";

/// The hashed key of a text; of a blank one the empty text.
pub fn opaque(text: &str) -> String {
    let text = folded(text);
    if text.is_empty() {
        return String::new();
    }
    format!("{OPAQUE}{}", key::sha256(text.as_bytes()))
}

/// The signature of a scope: every part trimmed and in lower case. Nothing is escaped.
pub(super) fn signature<'p>(
    agent: &str,
    channel: &str,
    account: &str,
    values: impl Iterator<Item = (&'p str, &'p str)>,
) -> String {
    let mut out = String::with_capacity(96);
    out.push_str("v=1|agent=");
    out.push_str(&folded(agent));
    out.push_str("|channel=");
    out.push_str(&folded(channel));
    out.push_str("|account=");
    out.push_str(&folded(account));
    for (dimension, value) in values {
        out.push('|');
        out.push_str(&folded(dimension));
        out.push('=');
        out.push_str(&folded(value));
    }
    out
}

/// The alias of an agent's main session; it is one of every session of that agent.
pub fn main_alias(agent: &str) -> String {
    format!("{LEGACY}{agent}:main")
}

/// The key of an agent's main session.
pub fn main_key(agent: &str) -> String {
    opaque(&main_alias(agent))
}

/// Whether this names the main session of an agent, whichever it is, in the form of an alias.
pub fn is_main_alias(name: &str) -> bool {
    let name = folded(name);
    name.strip_prefix(LEGACY)
        .and_then(|rest| rest.strip_suffix(":main"))
        .is_some_and(|agent| !agent.trim().is_empty() && !agent.contains(':'))
}

fn starts(text: &str, start: &str) -> bool {
    text.get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Whether a key is taken as it is given, and not derived.
pub fn is_explicit(key: &str) -> bool {
    let key = key.trim();
    starts(key, OPAQUE) || starts(key, LEGACY)
}

/// Whether a key is, or looks like, a hashed one.
pub fn is_opaque(key: &str) -> bool {
    starts(key.trim(), OPAQUE)
}

/// Agent and rest of a key of the time before: `agent:<agent>:<rest>`.
pub fn legacy(key: &str) -> Option<(&str, &str)> {
    let (agent, rest) = key.trim().strip_prefix(LEGACY)?.split_once(':')?;
    let agent = agent.trim();
    (!agent.is_empty() && !rest.is_empty()).then_some((agent, rest))
}

/// The agent that a key of the time before names, as ids of agents are; empty when it names none.
pub fn agent_of(key: &str) -> String {
    legacy(key).map_or_else(String::new, |(agent, _)| fold::agent(agent).into_owned())
}
