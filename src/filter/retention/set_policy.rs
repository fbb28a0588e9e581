//! Plans a change of a session's retention policy, stored as an event that changes its header.

use super::session::memory_of;
use crate::error::{ErrorKind, Result};
use crate::filter::Stamp;
use crate::format::penguiflow;
use crate::model::json::{self, wrapped};
use crate::model::retention::RetentionPolicy;
use crate::model::session::Session;

/// Returns the event that sets the requested policy and a description of the change; none when nothing changes.
/// Settings that were not requested are kept.
///
/// # Errors
///
/// [`ErrorKind::Usage`]: the requested policy is invalid.
pub fn configure(
    session: &Session,
    requested: &str,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Option<(Vec<u8>, String)>> {
    let before = memory_of(session)?;
    let memory = before.unwrap_or_default().with(requested)?;
    memory.check().map_err(|error| error.kind(ErrorKind::Usage))?;
    if before == Some(memory) {
        return Ok(None);
    }
    let (name, value) = match penguiflow::with_memory(session, &memory) {
        Some(metadata) => ("metadata", metadata),
        None => ("memory", memory.write()),
    };
    let stamp = stamp("memory")?;
    let mut event = stamp.event("meta");
    event.raw("set", wrapped(name, value));
    Ok(Some((event.finish(), difference(before, &memory))))
}

/// Describes the changed settings by key.
fn difference(before: Option<RetentionPolicy>, now: &RetentionPolicy) -> String {
    let text = |raw: &[u8]| match json::text(raw) {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(raw).into_owned(),
    };
    let raw = now.write();
    let Some(before) = before.map(|before| before.write()) else {
        return format!("retention policy: {}", now.strategy.name());
    };
    let members = json::members(&raw, json::Dialect::Strict).unwrap_or_default();
    let changed = members.iter().filter_map(|(name, value)| {
        let old = json::member(&before, name)?;
        (old != *value).then(|| format!("{name} {} instead of {}", text(value), text(old)))
    });
    changed.collect::<Vec<_>>().join(", ")
}
