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

pub use merged::{Conflict, LineSource, MergeOptions, Merged, MergedLine, Totals};
pub use record::Prefer;
pub use resolve::{Version, resolve};

use crate::error::{Error, Result};
use crate::model::event::EPOCH;
use crate::model::session::Session;
use crate::model::time;
use side::Sides;
use work::Merging;

/// Merges the sessions of `b` into those of `a`; `base` is their common origin, or empty if unknown.
///
/// # Errors
/// [`Error::usage`] when the two have nothing in common, and [`Error::data`] when a format cannot represent both
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
