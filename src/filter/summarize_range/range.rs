//! Selects the messages to summarize: whole exchanges, oldest first, never the newest.

use super::super::compact::state::{CompactionState, Exchange, summary_cost};
use super::super::compact::summary::MINIMUM;
use super::super::compact::{BELOW, NO_GAIN};
use super::base_view::BaseView;
use super::options::SummaryOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::model::health::Health;
use crate::model::session::Session;
use crate::model::view::Item;
use std::collections::HashSet;

/// The messages to summarize.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CoveredRange {
    /// The items in order, without instructions and summaries.
    pub items: Vec<usize>,
    /// Maximum tokens of the summary's text.
    pub budget: u64,
}

impl CoveredRange {
    /// Returns a function that tests whether an item is kept.
    pub fn is_never_dropped(&self) -> impl Fn(usize) -> bool + use<> {
        let leaving: HashSet<usize> = self.items.iter().copied().collect();
        move |at| !leaving.contains(&at)
    }
}

/// Selects the messages, or returns the reason why there are none.
pub(super) fn choose(
    session: &Session,
    base_view: &BaseView,
    work: &CompactionState<'_>,
    options: &SummaryOptions,
) -> Result<std::result::Result<CoveredRange, String>> {
    // Triggers apply to the current view.
    let shown = base_view
        .is_other()
        .then(|| base_view.view_state(session, work.counter));
    let today = shown.as_ref().unwrap_or(work);
    if let Some(when) = &options.when {
        let mut measures = today.measures(options.window);
        measures.failures = Health::of(session).failures;
        if when.fired(&measures).is_none() {
            return Ok(Err(BELOW.to_string()));
        }
    }
    if let Some(budget) = options.budget
        && today.total <= budget
        && options.cover.is_none()
    {
        return Ok(Err(format!("{} tokens fit the budget", today.total)));
    }
    let frame = summary_cost(work.counter, "");
    let wanted = options.maximum_tokens().saturating_add(frame);
    let (items, room) = match &options.cover {
        Some(ends) => {
            let items = named(work, ends, options)?;
            let kept = kept_tokens(work, &items);
            (items, maximum_summary(kept, options.budget, wanted))
        }
        None => match oldest(work, base_view, options, wanted) {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        },
    };
    let items = trimmed(work, items);
    if items.is_empty() {
        return match options.budget {
            Some(budget) if options.cover.is_none() => Err(unreachable(budget, today.total, options)),
            _ => Ok(Err("nothing to summarize".to_string())),
        };
    }
    let kept = kept_tokens(work, &items);
    if room < frame + MINIMUM && !options.whatever_gain {
        return Err(unreachable(
            options.budget.unwrap_or(0),
            kept + frame + MINIMUM,
            options,
        ));
    }
    let gain = today.total.saturating_sub(kept + frame);
    let requested = options.budget.is_some_and(|budget| today.total > budget);
    let gains = gain > 0 && (requested || !is_below_minimum(gain, today.total, options));
    if !gains && !options.whatever_gain {
        return Ok(Err(NO_GAIN.to_string()));
    }
    Ok(Ok(CoveredRange {
        items,
        budget: room - frame,
    }))
}

/// Whether a saving of `gain` tokens is below the minimum.
pub(super) fn is_below_minimum(gain: u64, of: u64, options: &SummaryOptions) -> bool {
    u128::from(gain) * 1000 < u128::from(of) * u128::from(options.min_gain)
}

/// Tokens of the view without the covered items and the previous summary.
pub(super) fn kept_tokens(work: &CompactionState<'_>, items: &[usize]) -> u64 {
    let covered: u64 = items.iter().map(|at| work.items[*at].now).sum();
    let before = work.summary_item.map_or(0, |at| work.items[at].now);
    work.total - covered - before
}

/// Maximum tokens of the text of a summary of these items.
pub(super) fn maximum_text(work: &CompactionState<'_>, items: &[usize], options: &SummaryOptions) -> u64 {
    let frame = summary_cost(work.counter, "");
    let wanted = options.maximum_tokens().saturating_add(frame);
    maximum_summary(kept_tokens(work, items), options.budget, wanted).saturating_sub(frame)
}

/// Maximum tokens of the summary, including its frame.
fn maximum_summary(kept: u64, budget: Option<u64>, wanted: u64) -> u64 {
    budget.map_or(wanted, |budget| budget.saturating_sub(kept).min(wanted))
}

/// Number of oldest exchanges that may be covered: without the newest, and without messages that the model has not
/// seen.
fn coverable(work: &CompactionState<'_>, options: &SummaryOptions) -> usize {
    let most = work.exchanges.len().saturating_sub(options.uncovered_exchanges());
    let Some(unseen) = (options.unseen)(work.session) else {
        return most;
    };
    let reaches = |exchange: &Exchange| {
        let mut items = work.atoms[exchange.atoms.clone()]
            .iter()
            .flat_map(|atom| &atom.items);
        items.any(|at| work.view.items[*at].line().is_some_and(|line| line >= unseen))
    };
    let seen = work.exchanges.iter().position(reaches);
    most.min(seen.unwrap_or(most))
}

/// Selects as few of the oldest exchanges as the budget allows; returns their items and the tokens left for the
/// summary.
fn oldest(
    work: &CompactionState<'_>,
    base_view: &BaseView,
    options: &SummaryOptions,
    wanted: u64,
) -> std::result::Result<(Vec<usize>, u64), String> {
    let most = coverable(work, options);
    let floor = floor(work, base_view);
    if floor > most {
        return Err("the newest exchanges that can be summarized already are".to_string());
    }
    let most = most.min(within(work, options.share).max(floor));
    let before = work.summary_item.map_or(0, |at| work.items[at].now);
    let mut kept = work.total - before;
    let mut covered = 0;
    while covered < most
        && (covered < floor.max(1)
            || options
                .budget
                .is_none_or(|budget| kept.saturating_add(wanted) > budget))
    {
        kept -= work.exchange_tokens(covered);
        covered += 1;
    }
    if covered == 0 && options.budget.is_none() {
        let what = match options.uncovered_exchanges() {
            1 => "only the newest exchange is left".to_string(),
            several => format!("only the newest {several} exchanges are left"),
        };
        return Err(what);
    }
    let atoms = work.exchanges[..covered]
        .iter()
        .flat_map(|exchange| exchange.atoms.clone());
    let mut items: Vec<usize> = atoms
        .flat_map(|atom| work.atoms[atom].items.iter().copied())
        .collect();
    items.sort_unstable();
    Ok((items, maximum_summary(kept, options.budget, wanted)))
}

/// Number of oldest exchanges within a share of the messages, at least one.
fn within(work: &CompactionState<'_>, share: Option<u64>) -> usize {
    let Some(share) = share else { return usize::MAX };
    let most = u128::from(share) * work.items.len() as u128 / 1000;
    let begin = |exchange: &Exchange| work.atoms[exchange.atoms.start].items[0];
    let begun = work
        .exchanges
        .iter()
        .skip(1)
        .take_while(|exchange| begin(exchange) as u128 <= most);
    begun.count().max(1)
}

/// Number of exchanges that a new summary must cover: those before the current summary, or those that it covers.
fn floor(work: &CompactionState<'_>, base_view: &BaseView) -> usize {
    let returned = base_view.returned();
    let must = |exchange: &Exchange| {
        let mut items = work.atoms[exchange.atoms.clone()]
            .iter()
            .flat_map(|atom| &atom.items);
        items.any(|at| returned.contains(at) || work.summary_item.is_some_and(|summary| *at < summary))
    };
    work.exchanges.iter().rposition(must).map_or(0, |last| last + 1)
}

/// Selects the items between two messages, extended to whole message groups.
fn named(
    work: &CompactionState<'_>,
    ends: &[Option<String>; 2],
    options: &SummaryOptions,
) -> Result<Vec<usize>> {
    let [first, last] = ends;
    let missing = |id: &str| Error::new(ErrorKind::No, format!("no such message in the view: {id}"));
    let movable = |at: &usize| work.items[*at].atom().is_some();
    let find = |id: &String| {
        let mut all = (0..work.items.len()).filter(movable);
        all.find(|at| work.id(*at) == *id).ok_or_else(|| missing(id))
    };
    let newest = work.exchanges.len().saturating_sub(options.uncovered_exchanges());
    let stays = coverable(work, options);
    let exchange = |at: usize| work.items[at].atom().map(|atom| work.atoms[atom].exchange);
    let mut low = match first {
        Some(id) => find(id)?,
        None => (0..work.items.len()).find(movable).unwrap_or(0),
    };
    let mut high = match last {
        Some(id) => find(id)?,
        None => (0..work.items.len())
            .filter(movable)
            .rfind(|at| exchange(*at).is_some_and(|exchange| exchange < stays))
            .unwrap_or(low),
    };
    if low > high {
        let error = Error::new(ErrorKind::No, "the first message of the range follows the last");
        return Err(error.hint("give --range FIRST..LAST in the order of the view"));
    }
    // Extend both ends to include every message group they cut; groups never cross exchanges.
    let mut at = low;
    while at <= high {
        if let Some(atom) = work.items[at].atom() {
            let items = &work.atoms[atom].items;
            high = high.max(items.last().copied().unwrap_or(high));
            if let Some(front) = items.first().copied().filter(|front| *front < low) {
                low = front;
                at = front;
                continue;
            }
        }
        at += 1;
    }
    if exchange(high).is_some_and(|exchange| exchange >= stays && exchange < newest) {
        let error = Error::new(
            ErrorKind::No,
            "the range includes messages that the model has not seen",
        );
        return Err(error.hint("end the range before the unanswered messages"));
    }
    if exchange(high).is_some_and(|exchange| exchange >= stays) {
        let error = Error::new(
            ErrorKind::No,
            format!(
                "the range includes the newest {} exchanges",
                options.uncovered_exchanges()
            ),
        );
        return Err(error.hint("lower the number of kept exchanges with --keep-last N"));
    }
    if let Some(summary) = work.summary_item {
        let between = match summary < low {
            true => summary + 1..low,
            false => high + 1..summary.max(high + 1),
        };
        if let Some(at) = between.into_iter().find(|at| movable(at)) {
            let what = "messages lie between the range and the summary that it would replace";
            let id = work.id(at);
            return Err(Error::new(ErrorKind::No, what)
                .hint(format!("include {id} in the range, or undo the summary first")));
        }
    }
    Ok((low..=high).filter(movable).collect())
}

/// Drops trailing items that are not lines of the log, because the event cannot refer to them.
fn trimmed(work: &CompactionState<'_>, mut items: Vec<usize>) -> Vec<usize> {
    let is_line = |at: &usize| !matches!(work.view.items[*at], Item::Inserted(_));
    while items.last().is_some_and(|last| !is_line(last)) {
        items.pop();
    }
    items
}

fn unreachable(budget: u64, smallest: u64, options: &SummaryOptions) -> Error {
    let what = format!("a summary cannot reach {budget} tokens; the minimum is {smallest}");
    let kept = options.uncovered_exchanges();
    Error::new(ErrorKind::No, what).hint(format!("lower --keep-last ({kept}), or use: convo compact"))
}
