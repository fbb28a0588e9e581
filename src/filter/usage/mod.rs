//! Sums recorded usage; a request that several logs contain counts once.

mod prices;
mod shares;

use crate::format::recorded::RecordedRequest;
use crate::format::request::token_figures::Figures;
use crate::model::named_enum::named_enum;
use crate::model::session::Session;
use crate::model::time;
pub use prices::{DOLLAR, Picodollars, Prices};
use shares::ToolShares;
use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet, HashMap};

named_enum! {
    /// A grouping key of rows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum GroupKey {
        /// The day of a request.
        Day = "day",
        /// The Monday of its week.
        Week = "week",
        /// The month of a request.
        Month = "month",
        /// The model.
        Model = "model",
        /// The last part of the working directory.
        Project = "project",
        /// The id of the session.
        Session = "session",
        /// The program that wrote the session.
        Program = "program",
        /// The tool, by its share of the results in the messages before a request.
        Tool = "tool",
    }
}

/// The identification of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputOrigin {
    /// The id of the session.
    pub session: String,
    /// The working directory, or its last component.
    pub project: String,
    /// The program.
    pub program: String,
}

/// The source of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSource {
    /// The log, or else the price table.
    Auto,
    /// Only the log.
    Recorded,
    /// Only the price table.
    Prices,
    /// No costs.
    None,
}

/// The totals of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageRow {
    /// The values of the keys.
    pub keys: Vec<String>,
    /// Number of requests.
    pub requests: u64,
    /// Their tokens.
    pub figures: Figures,
    /// Tokens written to a one-hour cache, a part of those written to a cache.
    pub written_1h: u64,
    /// Total cost of the requests with a known cost.
    pub cost: Picodollars,
    /// Requests with a recorded cost, and with a cost from prices.
    pub costed: (u64, u64),
    /// Whether any figure is estimated.
    pub estimated: bool,
}

impl UsageRow {
    /// Adds a request, or the part of it that concerns a tool, with the cost of that part.
    fn add(&mut self, request: &RecordedRequest, cost: Option<Picodollars>, of_request: &RequestCost) {
        self.requests += 1;
        self.figures += request.figures;
        self.written_1h += request.written_1h;
        self.estimated |= request.estimated;
        self.cost += cost.unwrap_or_default();
        self.costed.0 += u64::from(of_request.recorded.is_some());
        self.costed.1 += u64::from(of_request.priced.is_some());
    }

    /// The sum of all rows.
    pub fn total(rows: &[UsageRow]) -> UsageRow {
        rows.iter().fold(UsageRow::default(), |mut total, row| {
            total.requests += row.requests;
            total.figures += row.figures;
            total.written_1h += row.written_1h;
            total.cost += row.cost;
            total.costed.0 += row.costed.0;
            total.costed.1 += row.costed.1;
            total.estimated |= row.estimated;
            total
        })
    }

    /// The cost in dollars, if any request has one.
    pub fn dollars(&self) -> Option<f64> {
        (self.costed != (0, 0)).then(|| self.cost as f64 / DOLLAR)
    }

    /// The source of the cost: `recorded`, `prices` or `recorded and prices`.
    pub const fn cost_source(&self) -> Option<&'static str> {
        match self.costed {
            (0, 0) => None,
            (_, 0) => Some("recorded"),
            (0, _) => Some("prices"),
            _ => Some("recorded and prices"),
        }
    }

    /// The date of the prices, if they have one and a cost is from them.
    pub fn prices_as_of<'p>(&self, prices: &'p Prices) -> Option<&'p str> {
        Some(prices.as_of.as_str()).filter(|date| self.costed.1 > 0 && !date.is_empty())
    }
}

/// The cost of a request: recorded, else from prices.
struct RequestCost {
    recorded: Option<Picodollars>,
    priced: Option<Picodollars>,
}

impl RequestCost {
    /// Finds the cost of a request; notes its model if that has no price.
    fn of(
        request: &RecordedRequest,
        source: CostSource,
        prices: &Prices,
        unpriced: &mut BTreeSet<String>,
    ) -> RequestCost {
        let recorded = request
            .cost
            .filter(|_| matches!(source, CostSource::Auto | CostSource::Recorded))
            .map(|cost| (cost * DOLLAR).round() as Picodollars);
        let is_priced = recorded.is_none() && matches!(source, CostSource::Auto | CostSource::Prices);
        let priced = is_priced.then(|| prices.cost(request)).flatten();
        if is_priced && priced.is_none() {
            unpriced.insert(request.model.clone());
        }
        RequestCost { recorded, priced }
    }

    fn amount(&self) -> Option<Picodollars> {
        self.recorded.or(self.priced)
    }
}

/// The number of requests found in an input, and of those counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCount {
    /// Requests of its sessions.
    pub found: u64,
    /// Requests that no earlier log contained.
    pub new: u64,
}

#[derive(Debug)]
struct CountedRequest {
    request: RecordedRequest,
    /// Index of its origin.
    origin: usize,
    shares: ToolShares,
}

/// The distinct requests of many sessions.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Whether rows may be grouped by tool.
    pub by_tool: bool,
    requests: Vec<CountedRequest>,
    origins: Vec<InputOrigin>,
    by_key: HashMap<String, usize>,
}

impl Ledger {
    /// Adds the selected requests of a session. Of two records of a request the larger counts, for the session that
    /// recorded it first.
    pub fn add(
        &mut self,
        session: &Session,
        requests: Vec<RecordedRequest>,
        origin: InputOrigin,
        selects: impl Fn(&RecordedRequest) -> bool,
    ) -> RequestCount {
        let mut counted = RequestCount::default();
        self.origins.push(origin);
        let origin = self.origins.len() - 1;
        let requests: Vec<RecordedRequest> = requests.into_iter().filter(selects).collect();
        let lines: Vec<usize> = requests.iter().map(|request| request.line).collect();
        let mut shares = match self.by_tool {
            true => shares::before(session, &lines),
            false => Vec::new(),
        }
        .into_iter();
        for request in requests {
            counted.found += 1;
            let shares = shares.next().unwrap_or_default();
            match self.by_key.get(&request.key) {
                Some(known) => {
                    let known = &mut self.requests[*known].request;
                    if size(&request) > size(known) {
                        (known.figures, known.written_1h) = (request.figures, request.written_1h);
                        known.cost = request.cost.or(known.cost);
                    }
                }
                None => {
                    counted.new += 1;
                    self.by_key.insert(request.key.clone(), self.requests.len());
                    self.requests.push(CountedRequest {
                        request,
                        origin,
                        shares,
                    });
                }
            }
        }
        counted
    }

    /// The sorted rows, and the models without a price.
    pub fn rows(
        &self,
        keys: &[GroupKey],
        utc: bool,
        source: CostSource,
        prices: &Prices,
    ) -> (Vec<UsageRow>, BTreeSet<String>) {
        let mut rows: BTreeMap<Vec<String>, UsageRow> = BTreeMap::new();
        let mut unpriced = BTreeSet::new();
        for CountedRequest {
            request,
            origin,
            shares,
        } in &self.requests
        {
            let origin = &self.origins[*origin];
            let costs = RequestCost::of(request, source, prices, &mut unpriced);
            let mut add = |tool: &str, part: &RecordedRequest, cost: Option<Picodollars>| {
                let value = |key: &GroupKey| value(*key, request, origin, tool, utc);
                let row = match rows.entry(keys.iter().map(value).collect()) {
                    Slot::Occupied(row) => row.into_mut(),
                    Slot::Vacant(place) => {
                        let keys = place.key().clone();
                        place.insert(UsageRow {
                            keys,
                            ..UsageRow::default()
                        })
                    }
                };
                row.add(part, cost, &costs);
            };
            let cost = costs.amount();
            match keys.contains(&GroupKey::Tool) {
                true => shares::split(request, cost, shares, prices)
                    .iter()
                    .for_each(|(tool, part, cost)| add(tool, part, *cost)),
                false => add("", request, cost),
            }
        }
        (rows.into_values().collect(), unpriced)
    }

    /// One row without keys for each session in the order of [`add`](Ledger::add), also for one without requests, and the
    /// models without a price.
    pub fn sessions(&self, source: CostSource, prices: &Prices) -> (Vec<UsageRow>, BTreeSet<String>) {
        let mut rows = vec![UsageRow::default(); self.origins.len()];
        let mut unpriced = BTreeSet::new();
        for counted in &self.requests {
            let costs = RequestCost::of(&counted.request, source, prices, &mut unpriced);
            rows[counted.origin].add(&counted.request, costs.amount(), &costs);
        }
        (rows, unpriced)
    }
}

fn size(request: &RecordedRequest) -> u64 {
    request.figures.sent().saturating_add(request.figures.output)
}

fn value(key: GroupKey, request: &RecordedRequest, origin: &InputOrigin, tool: &str, utc: bool) -> String {
    let day = || request.time.as_deref().and_then(|time| time::day(time, utc));
    let text = match key {
        GroupKey::Day => day().map(|day| day.to_string()).unwrap_or_default(),
        GroupKey::Week => day().map(|day| time::monday(day).to_string()).unwrap_or_default(),
        GroupKey::Month => day()
            .map(|day| day.to_string()[..7].to_string())
            .unwrap_or_default(),
        GroupKey::Model => request.model.clone(),
        GroupKey::Project => origin.project.clone(),
        GroupKey::Session => origin.session.clone(),
        GroupKey::Program => origin.program.clone(),
        GroupKey::Tool => tool.to_string(),
    };
    if text.is_empty() { "-".to_string() } else { text }
}
