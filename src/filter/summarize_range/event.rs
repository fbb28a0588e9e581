//! Builds the `summary` event, and verifies that it hides exactly the messages that it covers.

use super::super::compact::NO_GAIN;
use super::super::compact::event::{Size, write_sizes};
use super::super::compact::state::{CompactionState, summary_cost};
use super::super::{Plan, Stamp};
use super::base_view::BaseView;
use super::options::SummaryOptions;
use super::range::{self, is_below_minimum};
use crate::error::{Error, ErrorKind, Result};
use crate::model::event::Action;
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};

/// A summary of a range of items.
pub(super) struct RangeSummary<'w> {
    /// The items, in order.
    pub items: &'w [usize],
    /// Its text.
    pub content: &'w str,
    /// The author of the text.
    pub by: &'w str,
    /// Fingerprint of the summarized messages.
    pub sha256: String,
}

/// Plans the event.
///
/// # Errors
/// [`ErrorKind::Unavailable`] if the view does not become smaller; [`ErrorKind::No`] if no range of ids covers exactly the items.
pub(super) fn plan(
    session: &Session,
    base_view: &BaseView,
    work: &CompactionState<'_>,
    written: &RangeSummary<'_>,
    options: &SummaryOptions,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Plan> {
    let tokens = summary_cost(work.counter, written.content);
    let now = Size {
        messages: (work.items.len() - written.items.len() - usize::from(work.summary_item.is_some())) as u64
            + 1,
        tokens: range::kept_tokens(work, written.items) + tokens,
    };
    let was = base_view.size(session, work);
    if now.tokens >= was.tokens && !options.whatever_gain {
        let covered = was.tokens.saturating_sub(now.tokens - tokens);
        let what = format!("the summary has {tokens} tokens, the summarized messages {covered}");
        return Err(Error::new(ErrorKind::Unavailable, what));
    }
    let requested = options.budget.is_some_and(|budget| was.tokens > budget);
    let gain = was.tokens.saturating_sub(now.tokens);
    if !requested && !options.whatever_gain && is_below_minimum(gain, was.tokens, options) {
        return Ok(Plan::Nothing(NO_GAIN.to_string()));
    }
    let stamp = stamp(&written.sha256)?;
    let line = |ends: [usize; 2]| {
        let mut event = stamp.event("summary");
        event.text("content", written.content);
        write_covered_ids(session, ends, &mut event);
        event.text("sha256", &written.sha256).text("by", written.by);
        if let Some(role) = &options.style.role {
            event.text("as", role);
        }
        write_sizes(&mut event, work.counter.tokenizer().name(), &was, &now);
        event.finish()
    };
    for ends in ranges(session, base_view, written.items) {
        let line = line(ends);
        if covers(session, base_view, written.items, &line) {
            let covered = match written.items.len() as u64 {
                // The number includes messages that the previous summary had hidden.
                covered if base_view.is_other() => covered.to_string(),
                covered => format!("{covered} of {}", was.messages),
            };
            let reported = format!(
                "summarized {covered} messages ({} to {} tokens)",
                was.tokens, now.tokens
            );
            return Ok(Plan::Lines(vec![line], reported));
        }
    }
    let what = "an earlier event inserted messages into the range";
    Err(Error::new(ErrorKind::No, what).hint("summarize them with: convo compact --with extract"))
}

/// Candidates for the covered range of lines: from the start of the previous summary's range; from the first item; and
/// up to the nearest kept messages on both sides, which includes messages inserted in place of dropped ones.
fn ranges(session: &Session, base_view: &BaseView, items: &[usize]) -> Vec<[usize; 2]> {
    let view = &base_view.view.items;
    let lines = || items.iter().filter_map(|at| view[*at].line());
    let (Some(first), Some(last)) = (lines().next(), lines().next_back()) else {
        return Vec::new();
    };
    let stays = |at: &usize| !view[*at].is_never_dropped(session);
    let before = items
        .first()
        .and_then(|at| (0..*at).rev().filter(stays).find_map(|at| view[at].line()));
    let after = items
        .last()
        .and_then(|at| (at + 1..view.len()).filter(stays).find_map(|at| view[at].line()));
    let is_dialog =
        |index: &usize| matches!(session.class(*index), Class::Message(traits) if !traits.is_system());
    let lowest = (before.map_or(0, |line| line + 1)..=first)
        .find(is_dialog)
        .unwrap_or(first);
    let highest = (last..after.unwrap_or(session.len()))
        .rev()
        .find(is_dialog)
        .unwrap_or(last);
    let earlier = base_view.replaced.and_then(|line| first_covered(session, line));
    let mut ranges = Vec::new();
    if let Some(earlier) = earlier.filter(|earlier| *earlier < first) {
        ranges.push([earlier, last]);
    }
    ranges.push([first, last]);
    ranges.push([lowest, highest]);
    ranges
}

/// The first line that a summary covers; none if it no longer exists.
fn first_covered(session: &Session, summary: usize) -> Option<usize> {
    let record = session.record(summary);
    let event = record.event()?;
    let first = match event.action() {
        Action::Summary(summary) => summary
            .covers
            .map(|[first, _]| (first.into_owned(), summary.nth[0]))?,
        _ => {
            let own = json::member(event.raw, "summary")?;
            let ends = json::elements(json::member(own, "covers")?, json::Dialect::Strict)?;
            (json::text(ends.first()?)?.into_owned(), 1)
        }
    };
    let nth = usize::try_from(first.1.checked_sub(1)?).ok()?;
    session.all_of(&first.0).get(nth).copied()
}

/// Writes `covers`, and `nth` if an id is not unique.
fn write_covered_ids(session: &Session, ends: [usize; 2], event: &mut ObjectBuilder) {
    let ids = ends.map(|line| session.id(line).unwrap_or_default());
    let nth = [0, 1].map(|end| {
        let all = session.all_of(&ids[end]);
        all.iter()
            .position(|line| *line == ends[end])
            .map_or(1, |at| at + 1)
    });
    event.raw("covers", json::texts(&ids));
    if nth != [1, 1] {
        event.raw("nth", format!("[{},{}]", nth[0], nth[1]));
    }
}

/// Whether the event hides exactly these items and leaves a single summary.
fn covers(session: &Session, base_view: &BaseView, items: &[usize], line: &[u8]) -> bool {
    let mut after = session.clone();
    after.push_new(line);
    let view = View::replay(&after);
    let mut leaving = items.iter().peekable();
    let expected = base_view.view.items.iter().enumerate().filter(|(at, item)| {
        leaving.next_if(|leaving| *leaving == at).is_none() && !matches!(item, Item::Summary(_))
    });
    let shown = view.items.iter().filter(|item| !matches!(item, Item::Summary(_)));
    let same = expected
        .map(|(_, item)| (item.line(), item.body(session)))
        .eq(shown.map(|item| (item.line(), item.body(&after))));
    let summaries = view.items.iter().filter(|item| matches!(item, Item::Summary(_)));
    same && summaries.count() == 1
}
