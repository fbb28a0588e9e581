//! Recorded usage, added up: a request counts once, in whatever logs it is.

mod prices;

use crate::format::recorded::{self, Request};
use crate::format::request::figures::Figures;
use crate::model::session::Session;
use crate::model::time;
pub use prices::{DOLLAR, Picodollars, Prices};
use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What rows are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// The day of a request.
    Day,
    /// The Monday of its week.
    Week,
    /// Its month.
    Month,
    /// The model.
    Model,
    /// The last part of the working directory.
    Project,
    /// The id of the session.
    Session,
    /// The program that wrote the session.
    Program,
}

impl Key {
    /// The name in reports and options.
    pub const fn name(self) -> &'static str {
        match self {
            Key::Day => "day",
            Key::Week => "week",
            Key::Month => "month",
            Key::Model => "model",
            Key::Project => "project",
            Key::Session => "session",
            Key::Program => "program",
        }
    }
}

/// What an input records of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The id of the session.
    pub session: String,
    /// Its working directory, or the last part of it.
    pub project: String,
    /// Its program.
    pub program: String,
}

/// Where costs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSource {
    /// The log, else prices.
    Auto,
    /// The log.
    Recorded,
    /// Prices.
    Prices,
    /// There are none.
    None,
}

/// Figures of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The values of the keys.
    pub keys: Vec<String>,
    /// Requests.
    pub requests: u64,
    /// Their tokens.
    pub figures: Figures,
    /// Of the tokens written to a cache, those that it keeps for an hour.
    pub written_1h: u64,
    /// Costs of the requests that have one.
    pub cost: Picodollars,
    /// Requests with a recorded cost, and with one by prices.
    pub costed: (u64, u64),
}

impl Row {
    fn add(&mut self, request: &Request) {
        self.requests += 1;
        self.figures += request.figures;
        self.written_1h += request.written_1h;
    }

    /// The rows as one.
    pub fn total(rows: &[Row]) -> Row {
        rows.iter().fold(Row::default(), |mut total, row| {
            total.requests += row.requests;
            total.figures += row.figures;
            total.written_1h += row.written_1h;
            total.cost += row.cost;
            total.costed.0 += row.costed.0;
            total.costed.1 += row.costed.1;
            total
        })
    }

    /// The cost in dollars, if any request has one.
    pub fn dollars(&self) -> Option<f64> {
        (self.costed != (0, 0)).then(|| self.cost as f64 / DOLLAR)
    }
}

/// What an input had, and what of it counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Requests of its sessions.
    pub found: u64,
    /// Those that no other log has.
    pub new: u64,
}

/// The requests of many sessions, each once.
#[derive(Debug, Default)]
pub struct Ledger {
    requests: Vec<(Request, usize)>,
    origins: Vec<Origin>,
    by_key: HashMap<String, usize>,
}

impl Ledger {
    /// Adds the requests of a session that are selected. Of two records of one request the larger counts, for the session that had it first.
    pub fn add(&mut self, session: &Session, origin: Origin, selects: impl Fn(&Request) -> bool) -> Counted {
        let mut counted = Counted::default();
        self.origins.push(origin);
        let origin = self.origins.len() - 1;
        for request in recorded::requests(session).into_iter().filter(selects) {
            counted.found += 1;
            match self.by_key.get(&request.key) {
                Some(known) => {
                    let known = &mut self.requests[*known].0;
                    if size(&request) > size(known) {
                        (known.figures, known.written_1h) = (request.figures, request.written_1h);
                        known.cost = request.cost.or(known.cost);
                    }
                }
                None => {
                    counted.new += 1;
                    self.by_key.insert(request.key.clone(), self.requests.len());
                    self.requests.push((request, origin));
                }
            }
        }
        counted
    }

    /// The rows in order, and the models without a price.
    pub fn rows(
        &self,
        keys: &[Key],
        utc: bool,
        source: CostSource,
        prices: &Prices,
    ) -> (Vec<Row>, BTreeSet<String>) {
        let mut rows: BTreeMap<Vec<String>, Row> = BTreeMap::new();
        let mut unpriced = BTreeSet::new();
        for (request, origin) in &self.requests {
            let origin = &self.origins[*origin];
            let keys: Vec<String> = keys.iter().map(|key| value(*key, request, origin, utc)).collect();
            let row = match rows.entry(keys) {
                Slot::Occupied(row) => row.into_mut(),
                Slot::Vacant(place) => {
                    let keys = place.key().clone();
                    place.insert(Row {
                        keys,
                        ..Row::default()
                    })
                }
            };
            row.add(request);
            let recorded = request
                .cost
                .filter(|_| matches!(source, CostSource::Auto | CostSource::Recorded));
            if let Some(cost) = recorded {
                row.cost += (cost * DOLLAR).round() as Picodollars;
                row.costed.0 += 1;
            } else if matches!(source, CostSource::Auto | CostSource::Prices) {
                match prices.cost(request) {
                    Some(cost) => {
                        row.cost += cost;
                        row.costed.1 += 1;
                    }
                    None => drop(unpriced.insert(request.model.clone())),
                }
            }
        }
        (rows.into_values().collect(), unpriced)
    }
}

fn size(request: &Request) -> u64 {
    request.figures.sent().saturating_add(request.figures.output)
}

fn value(key: Key, request: &Request, origin: &Origin, utc: bool) -> String {
    let day = || request.time.as_deref().and_then(|time| time::day(time, utc));
    let text = match key {
        Key::Day => day().map(|day| day.to_string()).unwrap_or_default(),
        Key::Week => day().map(|day| time::monday(day).to_string()).unwrap_or_default(),
        Key::Month => day()
            .map(|day| day.to_string()[..7].to_string())
            .unwrap_or_default(),
        Key::Model => request.model.clone(),
        Key::Project => origin.project.clone(),
        Key::Session => origin.session.clone(),
        Key::Program => origin.program.clone(),
    };
    match text.is_empty() {
        true => "-".to_string(),
        false => text,
    }
}
