//! PicoClaw's keys: the hash of a lower-case signature, and explicit keys that are used unchanged.

use super::picoclaw_normalize::folded;
use crate::model::key;

/// Prefix of hashed keys.
const OPAQUE: &str = "sk_v1_";

/// Prefix of legacy keys.
const LEGACY: &str = "agent:";

/// The hashed key of a text; empty if the text is blank.
pub fn opaque(text: &str) -> String {
    let text = folded(text);
    if text.is_empty() {
        return String::new();
    }
    format!("{OPAQUE}{}", key::sha256(text.as_bytes()))
}

/// The signature of a scope: all parts trimmed and in lower case, without escapes.
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

/// The alias of an agent's main session, which all sessions of that agent share.
pub fn main_alias(agent: &str) -> String {
    format!("{LEGACY}{agent}:main")
}

/// The key of an agent's main session.
pub fn main_key(agent: &str) -> String {
    opaque(&main_alias(agent))
}

/// Whether this is the alias of any agent's main session.
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

/// Whether a key is used unchanged, not derived.
pub fn is_explicit(key: &str) -> bool {
    let key = key.trim();
    starts(key, OPAQUE) || starts(key, LEGACY)
}

/// Whether a key looks like a hashed one.
pub fn is_opaque(key: &str) -> bool {
    starts(key.trim(), OPAQUE)
}

/// Agent and rest of a legacy key: `agent:<agent>:<rest>`.
pub fn legacy(key: &str) -> Option<(&str, &str)> {
    let (agent, rest) = key.trim().strip_prefix(LEGACY)?.split_once(':')?;
    let agent = agent.trim();
    (!agent.is_empty() && !rest.is_empty()).then_some((agent, rest))
}
