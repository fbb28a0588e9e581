//! Decides where to cut a session: exchanges are added to a part until a limit ends it.

use super::copies::CopiedMessage;
use super::options::SplitConditions;
use super::plan::{PlannedPart, Reason};
use crate::error::{Error, ErrorKind, Result};
use crate::model::exchange::Cuts;
use crate::model::session::Session;
use crate::model::time;
use crate::model::view::{Item, View};
use crate::tokens::{Counter, usage};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// An exchange; the first includes the messages before it.
struct SplitExchange {
    items: Range<usize>,
    tokens: u64,
    /// First and last time, in milliseconds since 1970.
    times: Option<(i64, i64)>,
    day: Option<String>,
}

/// Decides at which exchanges parts begin; there is always at least one part.
pub(super) fn decide(
    session: &Session,
    view: &View,
    ways: &SplitConditions,
    copied: &[CopiedMessage],
    counter: Option<Counter>,
    notes: &mut Vec<String>,
) -> Result<Vec<PlannedPart>> {
    let mut bounds = Cuts::of(session, view).exchange_starts();
    match bounds.first_mut() {
        Some(first) => *first = 0,
        None => bounds.push(0),
    }
    bounds.push(view.items.len());
    let requested = requested_cuts(session, view, &bounds, &ways.at, notes)?;
    let mut parts = PlannedParts {
        ways,
        copied,
        done: Vec::new(),
        open: None,
        last: None,
        day: None,
    };
    let mut timed = false;
    for pair in bounds.windows(2) {
        let exchange = measure_exchange(session, view, pair[0]..pair[1], ways, counter);
        timed |= exchange.times.is_some();
        parts.take(exchange, requested.contains(&pair[0]))?;
    }
    if (ways.per_day || ways.gap.is_some()) && !timed && bounds.len() > 2 {
        notes.push("no message has a timestamp; not split by time".to_string());
    }
    Ok(lined(parts.finish(), session, view))
}

/// Computes the properties of an exchange that the options need.
fn measure_exchange(
    session: &Session,
    view: &View,
    items: Range<usize>,
    ways: &SplitConditions,
    counter: Option<Counter>,
) -> SplitExchange {
    let mut exchange = SplitExchange {
        items: items.clone(),
        tokens: 0,
        times: None,
        day: None,
    };
    let by_time = ways.per_day || ways.gap.is_some();
    if !by_time && counter.is_none() {
        return exchange;
    }
    for item in &view.items[items] {
        if let Some(counter) = counter {
            exchange.tokens += usage::of_item(session, item, counter);
        }
        if !by_time {
            continue;
        }
        let message = item.message(session);
        let Some(text) = message.as_ref().and_then(|message| message.timestamp()) else {
            continue;
        };
        let Some(now) = time::milliseconds(&text) else {
            continue;
        };
        if ways.per_day && exchange.day.is_none() {
            exchange.day = time::local_day(&text);
        }
        exchange.times = Some((exchange.times.map_or(now, |(first, _)| first), now));
    }
    exchange
}

/// The items at which cuts were requested by id, moved to the start of their exchange.
fn requested_cuts(
    session: &Session,
    view: &View,
    bounds: &[usize],
    ids: &[String],
    notes: &mut Vec<String>,
) -> Result<BTreeSet<usize>> {
    let mut requested = BTreeSet::new();
    if ids.is_empty() {
        return Ok(requested);
    }
    let places = session.places(ids.iter().cloned().collect::<HashSet<_>>());
    let items: HashMap<usize, usize> = view
        .items
        .iter()
        .enumerate()
        .filter_map(|(at, item)| Some((item.line()?, at)))
        .collect();
    for id in ids {
        let lines = places.get(id).map(Vec::as_slice).unwrap_or_default();
        let Some(item) = lines.iter().find_map(|line| items.get(line)) else {
            return Err(Error::new(
                ErrorKind::No,
                format!("no such message in the view: {id}"),
            ));
        };
        let exchange = bounds.partition_point(|bound| bound <= item) - 1;
        let cut = bounds[exchange];
        if exchange == 0 {
            notes.push(format!("not split at {id}: part of the first exchange"));
            continue;
        }
        if cut != *item {
            notes.push(format!("moved the split point {id} to the start of its exchange"));
        }
        requested.insert(cut);
    }
    Ok(requested)
}

/// The parts planned so far.
struct PlannedParts<'p> {
    ways: &'p SplitConditions,
    copied: &'p [CopiedMessage],
    done: Vec<PlannedPart>,
    open: Option<PlannedPart>,
    /// The newest time so far.
    last: Option<i64>,
    /// The day on which the current part began.
    day: Option<String>,
}

impl PlannedParts<'_> {
    /// Adds the exchange to the current part, or begins another.
    fn take(&mut self, exchange: SplitExchange, requested: bool) -> Result<()> {
        let messages = exchange.items.len() as u64;
        let reason = match &self.open {
            None => Some(Reason::First),
            Some(open) => self.ends(open, &exchange, requested),
        };
        if let Some(reason) = reason {
            self.close();
            self.open = Some(self.begin(exchange.items.start, reason)?);
            self.day = None;
        }
        if let Some(open) = &mut self.open {
            open.items.end = exchange.items.end;
            open.exchanges += 1;
            open.messages += messages;
            open.tokens += exchange.tokens;
        }
        self.day = self.day.take().or(exchange.day);
        self.last = exchange.times.map(|(_, last)| last).or(self.last);
        Ok(())
    }

    /// Why the current part ends before this exchange, if it does.
    fn ends(&self, open: &PlannedPart, exchange: &SplitExchange, requested: bool) -> Option<Reason> {
        let ways = self.ways;
        let is_over = |limit: Option<u64>, size: u64| limit.is_some_and(|limit| size > limit);
        let pause = || {
            let paused = exchange.times?.0.checked_sub(self.last?)?;
            Some(u128::try_from(paused).ok()? >= ways.gap?.as_millis())
        };
        let another_day = || Some(exchange.day.as_ref()? != self.day.as_ref()?);
        if requested {
            Some(Reason::Asked)
        } else if another_day() == Some(true) {
            Some(Reason::Day)
        } else if pause() == Some(true) {
            Some(Reason::Gap)
        } else if is_over(ways.every_turns, open.exchanges + 1) {
            Some(Reason::Turns)
        } else if is_over(ways.max_messages, open.messages + exchange.items.len() as u64) {
            Some(Reason::Messages)
        } else if is_over(ways.max_tokens, open.tokens + exchange.tokens) {
            Some(Reason::Tokens)
        } else {
            None
        }
    }

    /// Begins a part with this item; fails if the copied messages leave no room.
    fn begin(&self, item: usize, reason: Reason) -> Result<PlannedPart> {
        let copied = self.copied.partition_point(|copied| copied.item < item);
        let messages = copied as u64;
        let tokens = copied.checked_sub(1).map_or(0, |last| self.copied[last].tokens);
        let full = |limit: Option<u64>, size: u64| limit.filter(|limit| size >= *limit && size > 0);
        let full = match (
            full(self.ways.max_messages, messages),
            full(self.ways.max_tokens, tokens),
        ) {
            (Some(limit), _) => Some((limit, "messages", messages)),
            (None, Some(limit)) => Some((limit, "tokens", tokens)),
            (None, None) => None,
        };
        if let Some((limit, unit, copied)) = full {
            let what = format!("a part of {limit} {unit} is too small: {copied} are copied into each part");
            return Err(Error::usage(what).hint("raise the limit, or use --carry none"));
        }
        Ok(PlannedPart {
            items: item..item,
            lines: 0..0,
            reason,
            exchanges: 0,
            messages,
            tokens,
            is_too_large: false,
            copied,
        })
    }

    fn close(&mut self) {
        if let Some(mut open) = self.open.take() {
            let is_over = |limit: Option<u64>, size: u64| limit.is_some_and(|limit| size > limit);
            let ways = self.ways;
            open.is_too_large =
                is_over(ways.max_messages, open.messages) || is_over(ways.max_tokens, open.tokens);
            self.done.push(open);
        }
    }

    fn finish(mut self) -> Vec<PlannedPart> {
        self.close();
        self.done
    }
}

/// Assigns log lines to the parts: a part begins at the line of its first item, and hidden messages belong to the
/// part before.
fn lined(mut parts: Vec<PlannedPart>, session: &Session, view: &View) -> Vec<PlannedPart> {
    let mut end = session.len();
    for part in parts.iter_mut().rev() {
        let first = view.items[part.items.start..].iter().find_map(Item::line);
        let start = match part.items.start {
            0 => 0,
            _ => first.map_or(end, |first| first.min(end)),
        };
        part.lines = start..end;
        end = start;
    }
    parts
}
