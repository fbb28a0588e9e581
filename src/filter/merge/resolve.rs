//! Resolves a conflict that a merge left.

use super::record::{edit, restore};
use crate::error::{Error, ErrorKind, Result};
use crate::filter::{Plan, Stamp};
use crate::model::json;
use crate::model::session::Session;

/// Which version of a record to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The current one.
    Ours,
    /// The one stored in the event.
    Theirs,
}

/// Plans the resolution of a conflict: of the event with this id, or of all conflicts about the record with this id.
///
/// # Errors
/// [`ErrorKind::No`] when the other version is not a message. A session without such a conflict does not change: one
/// stream may hold the merged session and its branches.
pub fn resolve(
    session: &Session,
    id: &str,
    version: Version,
    stamp: impl Fn(&str) -> Result<Stamp>,
) -> Result<Plan> {
    let text = |raw: &[u8], name: &str| json::member_string(raw, name);
    let mut lines = Vec::new();
    for index in session.live_events() {
        let record = session.record(index);
        let Some(event) = record.event().filter(|event| event.name() == "conflict") else {
            continue;
        };
        let (own, of) = (text(event.raw, "id"), text(event.raw, "of").unwrap_or_default());
        let Some(own) = own.filter(|own| own == id || of == id) else {
            continue;
        };
        let at = stamp(&own)?.at;
        if version == Version::Theirs {
            let theirs = json::member(event.raw, "theirs").unwrap_or_default();
            let place = session.all_of(&of).first().copied();
            let Some(place) = place.filter(|_| json::member(theirs, "role").is_some()) else {
                let error = Error::new(ErrorKind::No, format!("conflict {own} is not about a message"));
                return Err(error.hint("merge again with --theirs, or keep ours"));
            };
            lines.push(edit(&of, session.record(place).body, theirs, &at));
        }
        lines.push(restore(&own, &at));
    }
    let what = match version {
        Version::Ours => format!("resolved {id}: kept ours"),
        Version::Theirs => format!("resolved {id}: took theirs"),
    };
    match lines.is_empty() {
        true => Ok(Plan::Nothing(format!("no unresolved conflict {id}"))),
        false => Ok(Plan::Lines(lines, what)),
    }
}
