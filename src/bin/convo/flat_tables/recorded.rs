//! Recorded tokens of a session and their cost.

use super::{RowMember, RowPart, members};
use convo::filter::usage::{CostSource, InputOrigin, Ledger, Prices, UsageRow};
use convo::format::recorded;
use convo::model::session::Session;

/// Recorded tokens of a session and their cost.
pub struct RecordedUsage {
    total: UsageRow,
    currency: String,
}

impl RecordedUsage {
    /// Adds up all requests of a session, without regard to other sessions.
    pub fn of(session: &Session, prices: &Prices) -> RecordedUsage {
        let mut ledger = Ledger::default();
        let requests = recorded::requests(session);
        ledger.add(session, requests, InputOrigin::default(), |_| true);
        let (rows, _) = ledger.sessions(CostSource::Auto, prices);
        RecordedUsage::new(UsageRow::total(&rows), prices)
    }

    /// Takes the totals of a session.
    pub fn new(total: UsageRow, prices: &Prices) -> RecordedUsage {
        RecordedUsage {
            total,
            currency: prices.currency.clone(),
        }
    }

    /// Returns a figure, or none without a request.
    fn figure(&self, figure: u64) -> Option<u64> {
        (self.total.requests > 0).then_some(figure)
    }
}

impl RowPart for RecordedUsage {
    const MEMBERS: &'static [RowMember<Self>] = members! {
        "requests": Integer(|usage| Some(usage.total.requests)), "requests with usage";
        "usage_input": Integer(|usage| usage.figure(usage.total.figures.input)),
            "input tokens, neither read from nor written to a cache; null without a request";
        "usage_cache_read": Integer(|usage| usage.figure(usage.total.figures.read)),
            "input tokens read from a cache; null without a request";
        "usage_cache_write": Integer(|usage| usage.figure(usage.total.figures.written)),
            "input tokens written to a cache; null without a request";
        "usage_output": Integer(|usage| usage.figure(usage.total.figures.output)),
            "output tokens; null without a request";
        "usage_reasoning": Integer(|usage| usage.figure(usage.total.figures.reasoning)),
            "reasoning tokens, a part of the output; null without a request";
        "cost": Number(|usage| usage.total.dollars()), "recorded cost, else by prices; null if no request has either";
        "currency": Text(|usage| usage.total.dollars().map(|_| usage.currency.clone())), "currency of the cost";
    };
}

/// The source of the figures.
pub struct UsageSource {
    cost_from: Option<&'static str>,
    prices_as_of: Option<String>,
    is_estimated: bool,
}

impl UsageSource {
    /// Describes the source of totals.
    pub fn of(total: &UsageRow, prices: &Prices) -> UsageSource {
        UsageSource {
            cost_from: total.cost_source(),
            prices_as_of: total.prices_as_of(prices).map(str::to_string),
            is_estimated: total.estimated,
        }
    }
}

impl RowPart for UsageSource {
    const MEMBERS: &'static [RowMember<Self>] = members! {
        "cost_from": Text(|usage| usage.cost_from.map(str::to_string)),
            "`recorded`, `prices` or `recorded and prices`";
        "prices_as_of": Text(|usage| usage.prices_as_of.clone()), "date of the prices";
        "estimated": Boolean(|usage| Some(usage.is_estimated)), "whether a figure is an estimate of `--estimate`";
    };
}
