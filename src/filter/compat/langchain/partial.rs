//! Shortens the message that crosses the limit: drops content parts first, then lines of its text.

use super::super::history::{CompatHistory, MeasureFn, count};
use crate::model::json::{self, Dialect, array, quoted};

/// Which end of the history is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimStrategy {
    /// The oldest messages.
    First,
    /// The newest messages.
    Last,
}

/// Returns the message with as much content as fits, keeping the end for the newest messages and the beginning for
/// the oldest. None when not even one line fits.
pub(super) fn shorten(
    history: &CompatHistory<'_>,
    message: usize,
    strategy: TrimStrategy,
    room: u64,
    measure: MeasureFn<'_>,
) -> Option<Vec<u8>> {
    let body = history.body(message);
    let content = history.message(message)?.content?;
    let with = |content: &[u8]| {
        // A stored token count describes the whole message, so it is removed.
        json::with_members(body, &[("content", Some(content)), ("tokens", None)]).ok()
    };
    let fits = |content: &[u8]| with(content).is_some_and(|line| count(&line, measure) <= room);
    let text = match json::elements(content, Dialect::Strict) {
        Some(parts) => {
            let some = |kept: usize| array(end_of(&parts, kept, strategy));
            let kept = greatest_fitting(parts.len().saturating_sub(1), |kept| fits(&some(kept)));
            if kept > 0 {
                return with(&some(kept));
            }
            let last = end_of(&parts, 1, strategy).first()?;
            match json::member_text(last, "type") {
                Some(kind) if kind == "text" => json::member_text(last, "text")?,
                Some(_) => return None,
                None => json::text(last)?,
            }
        }
        None => json::text(content)?,
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let some = |kept: usize| quoted(&end_of(&lines, kept, strategy).concat());
    let kept = greatest_fitting(lines.len(), |kept| fits(&some(kept)));
    (kept > 0).then(|| with(&some(kept)))?
}

/// The slice of this length at the kept end.
fn end_of<T>(all: &[T], kept: usize, strategy: TrimStrategy) -> &[T] {
    match strategy {
        TrimStrategy::First => &all[..kept.min(all.len())],
        TrimStrategy::Last => &all[all.len().saturating_sub(kept)..],
    }
}

/// The greatest number up to `all` that fits. `fits` must be monotonic.
fn greatest_fitting(all: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut least, mut beyond) = (0, all + 1);
    while least + 1 < beyond {
        let middle = least.midpoint(beyond);
        if fits(middle) {
            least = middle;
        } else {
            beyond = middle;
        }
    }
    least
}
