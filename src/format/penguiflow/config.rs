//! The retention policy in a document's `config_snapshot`.

use super::EXTRA_MEMBER;
use crate::error::Result;
use crate::model::json::{self, ObjectBuilder};
use crate::model::retention::{RetentionPolicy, RetentionStrategy};
use crate::model::session::Session;
use std::time::Duration;

/// Members of a policy, and their paths in a snapshot.
const NAMES: [(&str, &[&str]); 8] = [
    ("strategy", &["strategy"]),
    ("keep_last", &["budget", "full_zone_turns"]),
    ("summary", &["budget", "summary_max_tokens"]),
    ("total", &["budget", "total_max_tokens"]),
    ("overflow", &["budget", "overflow_policy"]),
    ("digests", &["include_trajectory_digest"]),
    ("backlog", &["recovery_backlog_limit"]),
    ("retry_attempts", &["retry_attempts"]),
];

/// PenguiFlow members that a policy does not have.
const ISOLATION: &str = r#"{"tenant_key":"tenant_id","user_key":"user_id","session_key":"session_id","require_explicit_key":true}"#;

fn at<'a>(snapshot: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    path.iter()
        .try_fold(snapshot, |object, name| json::member(object, name))
}

/// The policy of a snapshot; missing members have PenguiFlow's defaults.
///
/// # Errors
///
/// The snapshot is one that PenguiFlow would reject.
pub fn memory(snapshot: &[u8]) -> Result<RetentionPolicy> {
    let mut memory = RetentionPolicy {
        strategy: RetentionStrategy::None,
        ..RetentionPolicy::default()
    };
    for (key, path) in NAMES {
        if let Some(value) = at(snapshot, path) {
            let text = json::text(value).unwrap_or_else(|| String::from_utf8_lossy(value));
            let hint = || format!("correct {} in config_snapshot", path.join("."));
            memory.set(key, &text).map_err(|error| error.hint(hint()))?;
        }
    }
    memory.check()?;
    Ok(memory)
}

/// A snapshot for this policy; other members of the previous snapshot are kept.
pub fn snapshot(memory: &RetentionPolicy, before: Option<&[u8]>) -> Vec<u8> {
    let text = |text: &str| format!("\"{text}\"").into_bytes();
    let mut budget = ObjectBuilder::default();
    budget
        .raw("full_zone_turns", memory.keep_last.to_string())
        .raw("summary_max_tokens", memory.summary.to_string())
        .raw("total_max_tokens", memory.total.to_string())
        .raw("overflow_policy", text(memory.overflow.name()));
    let budget = budget.finish();
    let old = |name: &str| before.and_then(|before| json::member(before, name));
    let mut built = ObjectBuilder::default();
    built
        .raw("strategy", text(memory.strategy.name()))
        .raw("budget", &budget)
        .raw("isolation", old("isolation").unwrap_or(ISOLATION.as_bytes()))
        .raw("summarizer_model", old("summarizer_model").unwrap_or(b"null"))
        .raw("include_trajectory_digest", memory.digests.to_string())
        .raw("recovery_backlog_limit", memory.backlog.to_string())
        .raw("retry_attempts", memory.retry_attempts.to_string());
    built.finish()
}

/// The policy in `metadata.penguiflow` of a header, including the two delays that snapshots lack.
pub fn noted_memory(noted: &[u8]) -> Option<Result<RetentionPolicy>> {
    let snapshot = json::member(noted, "config_snapshot").filter(|raw| raw.first() == Some(&b'{'))?;
    Some(memory(snapshot).map(|memory| {
        let own = json::member(noted, "convo");
        let wait = |name: &str| {
            let raw = json::member(own?, name)?;
            let seconds = json::number::<f64>(raw)?;
            Duration::try_from_secs_f64(seconds).ok()
        };
        RetentionPolicy {
            backoff: wait("backoff").unwrap_or(memory.backoff),
            rest: wait("rest").unwrap_or(memory.rest),
            ..memory
        }
    }))
}

/// The delays of a policy that differ from PenguiFlow's, which snapshots cannot represent.
pub(super) fn changed_delays(memory: &RetentionPolicy) -> [(&'static str, Option<Vec<u8>>); 2] {
    let default = RetentionPolicy::default();
    let wait = |own: Duration, default: Duration| {
        (own != default).then(|| own.as_secs_f64().to_string().into_bytes())
    };
    [
        ("backoff", wait(memory.backoff, default.backoff)),
        ("rest", wait(memory.rest, default.rest)),
    ]
}

/// The header metadata of a session that was read from a document, with another policy; `None` for other sessions.
pub fn with_memory(session: &Session, memory: &RetentionPolicy) -> Option<Vec<u8>> {
    let metadata = session.header_member("metadata")?;
    let noted = json::member(metadata, "penguiflow")?;
    let snapshot = snapshot(memory, json::member(noted, "config_snapshot"));
    let waits = changed_delays(memory);
    let waits = waits.each_ref().map(|(name, wait)| (*name, wait.as_deref()));
    let own = json::with_members(json::member(noted, EXTRA_MEMBER).unwrap_or(b"{}"), &waits).ok()?;
    let changes = [
        ("config_snapshot", Some(snapshot.as_slice())),
        (EXTRA_MEMBER, (own != b"{}").then_some(own.as_slice())),
    ];
    let noted = json::with_members(noted, &changes).ok()?;
    json::with_members(metadata, &[("penguiflow", Some(&noted))]).ok()
}
