//! Merges two copies of a session that changed independently into one with all records of both.
//!
//! Records are paired by id, or by bytes without one. The order of the first side is kept; a new record of the second
//! side follows the last common record before it. Where both sides continue after the same record, a format whose
//! lines refer to the previous line keeps both continuations; in the native format the second becomes a branch.

mod hidden;
mod merged;
mod place;
mod record;
mod resolve;
mod side;
#[cfg(test)]
mod tests;
mod work;

pub use merged::{Conflict, LineSource, MergeOptions, MergeTotals, Merged, MergedLine};
pub use record::Prefer;
pub use resolve::{Version, resolve};

use super::fork;
use crate::error::{Error, Result};
use crate::model::event::EPOCH;
use crate::model::lineage::{Lineage, SideBranch};
use crate::model::session::Session;
use crate::model::time;
use side::Sides;
use std::borrow::Cow;
use work::Merging;

/// Merges the sessions of `b` into those of `a`; `base` is their common origin, or empty if unknown.
///
/// # Errors
/// A usage error when the two have nothing in common, and a data error when a format cannot represent both
/// continuations.
pub fn merge<'s>(
    base: &'s [Session],
    a: &'s [Session],
    b: &'s [Session],
    options: &MergeOptions<'_>,
) -> Result<Merged<'s>> {
    let Some(sides) = Sides::of(base, a, b, options.keyed) else {
        let error = Error::usage("the sessions have different ids and no common record");
        return Err(error.hint("combine different sessions with: convo join A B"));
    };
    let at = options.now.map_or_else(|| newest(a, b), str::to_string);
    Merging::new(sides, options, at).merged()
}

/// The sessions of another input as their fork with the id of `a` has them, if both have one session and its branches:
/// a fork rewrites the session id in data of formats, which changes no record.
pub fn with_id_of<'o>(a: &[Session], other: &'o [Session]) -> Cow<'o, [Session]> {
    match (only_id(a), only_id(other)) {
        (Some(new), Some(old)) if old != new => {
            let renamed = other.iter().map(|session| fork::with_id(session, &old, &new));
            Cow::Owned(renamed.collect())
        }
        _ => Cow::Borrowed(other),
    }
}

/// The id of the only session that is not a branch.
fn only_id(sessions: &[Session]) -> Option<String> {
    let is_branch = |session: &&Session| {
        let first = (!session.is_empty()).then(|| session.record(0));
        let lineage = first.and_then(|first| Lineage::of_header(first.body));
        lineage.and_then(|lineage| lineage.side_branch()) == Some(SideBranch::Branch)
    };
    let mut roots = sessions.iter().filter(|session| !is_branch(session));
    let id = roots.next()?.header_text("id")?;
    roots.next().is_none().then_some(id)
}

/// The newest time in two inputs.
fn newest(a: &[Session], b: &[Session]) -> String {
    let times = a.iter().chain(b).filter_map(Session::newest_time);
    let newer = |one: String, other: String| match time::is_before(&one, &other) {
        Some(true) => other,
        Some(false) => one,
        None if time::moment(&one).is_some() => one,
        None => other,
    };
    times.reduce(newer).unwrap_or_else(|| EPOCH.to_string())
}
