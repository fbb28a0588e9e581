//! Computes the shares of tools in requests: how much their results add to the input.

use super::prices::{Picodollars, Prices};
use crate::format::recorded::RecordedRequest;
use crate::model::display_role::Tools;
use crate::model::message::Role;
use crate::model::session::Session;
use std::collections::BTreeMap;

/// Tools with their share of all bytes in the messages before a request.
pub type ToolShares = Vec<(String, f64)>;

/// The shares in the messages before each of these lines, given in ascending order.
pub fn before(session: &Session, lines: &[usize]) -> Vec<ToolShares> {
    let mut tools = Tools::default();
    let mut results: BTreeMap<String, u64> = BTreeMap::new();
    let mut all = 0u64;
    let mut shares = Vec::with_capacity(lines.len());
    let mut lines = lines.iter().peekable();
    for (index, _) in session.messages() {
        while lines.next_if(|line| **line <= index).is_some() {
            shares.push(of(&results, all));
        }
        let record = session.record(index);
        let Some(message) = record.message() else { continue };
        let contents = [message.content, message.tool_calls, message.reasoning];
        let bytes = contents.iter().flatten().map(|raw| raw.len() as u64).sum::<u64>();
        all += bytes;
        tools.note(message);
        if message.role() == Role::Tool {
            let name = tools.name(message).unwrap_or_default();
            *results.entry(name).or_default() += bytes;
        }
    }
    lines.for_each(|_| shares.push(of(&results, all)));
    shares
}

fn of(results: &BTreeMap<String, u64>, all: u64) -> ToolShares {
    let share = |(name, bytes): (&String, &u64)| (name.clone(), *bytes as f64 / all.max(1) as f64);
    results.iter().map(share).collect()
}

/// Splits a request by tool; the last part, without a tool, is the output and the other messages. The parts add up to
/// the figures and the cost of the request.
pub fn split(
    request: &RecordedRequest,
    cost: Option<Picodollars>,
    shares: &ToolShares,
    prices: &Prices,
) -> Vec<(String, RecordedRequest, Option<Picodollars>)> {
    let mut rest = request.clone();
    let mut rest_cost = cost;
    let sent = cost.map(|cost| {
        let silent = |output: u64| {
            let mut request = request.clone();
            (request.figures.output, request.figures.reasoning) = (output, 0);
            prices.cost(&request)
        };
        match (silent(0), silent(request.figures.output)) {
            (Some(sent), Some(whole)) if whole > 0 => cost as f64 * (sent as f64 / whole as f64),
            _ => {
                let sent = request.figures.sent() as f64;
                cost as f64 * sent / (sent + request.figures.output as f64).max(1.0)
            }
        }
    });
    let mut parts = Vec::with_capacity(shares.len() + 1);
    for (tool, share) in shares {
        let of = |tokens: u64| (tokens as f64 * share) as u64;
        let mut part = request.clone();
        part.figures.input = of(request.figures.input);
        part.figures.read = of(request.figures.read);
        part.figures.written = of(request.figures.written);
        part.written_1h = of(request.written_1h);
        (part.figures.output, part.figures.reasoning) = (0, 0);
        rest.figures.input -= part.figures.input;
        rest.figures.read -= part.figures.read;
        rest.figures.written -= part.figures.written;
        rest.written_1h -= part.written_1h;
        let part_cost = sent.map(|sent| (sent * share) as Picodollars);
        rest_cost = rest_cost.zip(part_cost).map(|(rest, part)| rest - part);
        parts.push((tool.clone(), part, part_cost));
    }
    parts.push((String::new(), rest, rest_cost));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::request::token_figures::Figures;

    #[test]
    fn parts_add_up_to_the_request() {
        let prices =
            Prices::read("as-of = \"2026-01-01\"\n[model]\nm = { input = 1, output = 10 }\n").unwrap();
        let request = RecordedRequest {
            model: "m".to_string(),
            figures: Figures {
                input: 1001,
                output: 100,
                ..Figures::default()
            },
            ..RecordedRequest::default()
        };
        let shares = vec![("Bash".to_string(), 0.5), ("Read".to_string(), 0.25)];
        let cost = prices.cost(&request);
        let parts = split(&request, cost, &shares, &prices);
        let inputs: Vec<u64> = parts.iter().map(|(_, part, _)| part.figures.input).collect();
        assert_eq!(inputs, [500, 250, 251]);
        assert_eq!(
            parts.iter().map(|(_, part, _)| part.figures.output).sum::<u64>(),
            100
        );
        assert_eq!(
            parts.iter().filter_map(|(.., cost)| *cost).sum::<Picodollars>(),
            cost.unwrap()
        );
        assert_eq!(parts[0].2, Some(500_500_000));
    }
}
