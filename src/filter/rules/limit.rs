//! `limit`: totals of a session.

use super::subject::Subject;
use super::violation::Violation;
use crate::filter::usage::{CostSource, InputOrigin, Ledger, Prices, UsageRow};
use crate::format::recorded;
use crate::model::exchange::Cuts;
use serde::Deserialize;

/// The limits, by total.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Limit {
    tokens: Option<Bounds>,
    messages: Option<Bounds>,
    exchanges: Option<Bounds>,
    calls: Option<Bounds>,
    seconds: Option<Bounds>,
    cost: Option<Bounds>,
    tool_errors: Option<Bounds>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { max = 10 }")]
struct Bounds {
    min: Option<f64>,
    max: Option<f64>,
}

/// A total, or the reason why there is none.
type LimitTotal = Result<f64, String>;

type LimitMeasure = fn(&Subject<'_>, &Prices) -> LimitTotal;

impl Limit {
    pub fn fault(&self) -> Option<String> {
        let all = [
            self.tokens, self.messages, self.exchanges, self.calls, self.seconds, self.cost, self.tool_errors,
        ];
        if all.iter().all(Option::is_none) {
            return Some("limit requires a total, e.g. messages = { max = 10 }".to_string());
        }
        all.iter().flatten().find_map(|bounds| match bounds {
            Bounds { min: None, max: None } => Some("expected min or max".to_string()),
            Bounds {
                min: Some(min),
                max: Some(max),
            } if min > max => Some(format!("min {min} exceeds max {max}")),
            _ => None,
        })
    }

    pub fn check(&self, subject: &Subject<'_>, prices: &Prices) -> Vec<Violation> {
        let totals: [(&str, Option<Bounds>, LimitMeasure); 7] = [
            ("tokens", self.tokens, tokens),
            ("messages", self.messages, |subject, _| {
                Ok(subject.messages.len() as f64)
            }),
            ("exchanges", self.exchanges, |subject, _| {
                Ok(Cuts::of(subject.session, subject.view).exchanges() as f64)
            }),
            ("calls", self.calls, |subject, _| Ok(subject.calls.len() as f64)),
            ("seconds", self.seconds, seconds),
            ("cost", self.cost, cost),
            ("tool_errors", self.tool_errors, |subject, _| {
                let failed = subject.calls.iter().filter(|call| call.failed == Some(true));
                Ok(failed.count() as f64)
            }),
        ];
        let violation = |(name, bounds, measure): (&str, Option<Bounds>, LimitMeasure)| {
            let bounds = bounds?;
            let message = match measure(subject, prices) {
                Ok(total) => format!("{name} {total}; {}", bounds.missed(total)?),
                Err(reason) => format!("{name}: {reason}"),
            };
            Some(Violation::new(None, message))
        };
        totals.into_iter().filter_map(violation).collect()
    }
}

impl Bounds {
    fn missed(self, total: f64) -> Option<String> {
        let low = self.min.filter(|min| total < *min);
        let low = low.map(|min| format!("expected at least {min}"));
        low.or_else(|| {
            let high = self.max.filter(|max| total > *max);
            high.map(|max| format!("expected at most {max}"))
        })
    }
}

/// The recorded usage of the whole log, and the models without a price.
fn usage(subject: &Subject<'_>, prices: &Prices) -> Result<(UsageRow, Vec<String>), String> {
    let mut ledger = Ledger::default();
    let requests = recorded::requests(subject.session);
    ledger.add(subject.session, requests, InputOrigin::default(), |_| true);
    let (rows, unpriced) = ledger.rows(&[], true, CostSource::Auto, prices);
    let total = UsageRow::total(&rows);
    match total.requests {
        0 => Err("no usage recorded".to_string()),
        _ => Ok((total, unpriced.into_iter().collect())),
    }
}

fn tokens(subject: &Subject<'_>, prices: &Prices) -> LimitTotal {
    let (total, _) = usage(subject, prices)?;
    Ok(total.figures.sent().saturating_add(total.figures.output) as f64)
}

fn cost(subject: &Subject<'_>, prices: &Prices) -> LimitTotal {
    let (total, unpriced) = usage(subject, prices)?;
    match unpriced.iter().find(|model| !model.is_empty()) {
        Some(model) => Err(format!("no price for {model}")),
        None if !unpriced.is_empty() => Err("the model is not recorded".to_string()),
        None => total.dollars().ok_or_else(|| "no cost recorded".to_string()),
    }
}

/// From the first to the last message.
fn seconds(subject: &Subject<'_>, _: &Prices) -> LimitTotal {
    let times = || subject.messages.iter().filter_map(|message| message.time);
    let (first, last) = times().min().zip(times().max()).ok_or("no times recorded")?;
    Ok((last - first) as f64 / 1000.0)
}
