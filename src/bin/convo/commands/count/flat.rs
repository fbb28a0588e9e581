//! Prints a session as one object without nested members, as a table row.

use crate::args::{program_of, project_of};
use crate::terminal::time_format::machine;
use convo::check::{CheckOptions, structure};
use convo::filter::overview::Overview;
use convo::filter::sieve::{calls, fingerprint};
use convo::filter::usage::{CostSource, InputOrigin, Ledger, Prices, UsageRow};
use convo::format::{Format, native, recorded};
use convo::model::session::Session;
use convo::model::stats::Stats;
use convo::model::view::View;
use convo::tokens::usage::{GroupBy, TokenUsage};
use serde_json::{Value, json};

/// Roles with their own columns; other roles count only in the totals.
const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

/// Returns the row of a session that was read from this format.
pub fn object(
    label: &str,
    format: Format,
    session: &Session,
    usage: &TokenUsage<'_>,
    prices: &Prices,
) -> Value {
    let view = View::replay(session);
    let stats = Stats::of(session);
    let about = Overview::of(session, stats.unreadable > 0, None);
    let time = |time: &Option<String>| time.as_deref().map(machine);
    let total = usage.total();
    let calls = calls(session, &view);
    let options = CheckOptions {
        open_end: true,
        ..CheckOptions::default()
    };
    let findings = structure(session, &view, &options);
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let recorded = recorded(session, prices);
    let figure = |figure: u64| (recorded.requests > 0).then_some(figure);
    let mut row = json!({
        "schema": "convo.session/1", "input": label, "id": about.id,
        "format": native::source_format(session).unwrap_or_else(|| format.name().to_string()),
        "program": program_of(session, format), "model": about.model,
        "title": about.title.as_ref().map(|title| &title.text), "cwd": about.cwd,
        "project": project_of(about.cwd.as_deref()), "lineage": about.lineage, "parent": about.parent,
        "continued_from": about.continued_from,
        "created_at": time(&about.created), "updated_at": time(&about.updated),
        "messages": stats.log.messages, "view_messages": stats.view.messages,
        "exchanges": stats.log.exchanges, "view_exchanges": stats.view.exchanges,
        "tokens": total.log.tokens, "view_tokens": total.view.tokens,
        "tokenizer": usage.counter().tokenizer().name(), "exact": usage.counter().tokenizer().is_exact(),
        "calls": calls.all, "calls_failed": calls.failed, "calls_open": calls.open,
        "requests": recorded.requests, "usage_input": figure(recorded.figures.input),
        "usage_cache_read": figure(recorded.figures.read), "usage_cache_write": figure(recorded.figures.written),
        "usage_output": figure(recorded.figures.output), "usage_reasoning": figure(recorded.figures.reasoning),
        "cost": recorded.dollars(), "currency": recorded.dollars().map(|_| &prices.currency),
        "errors": errors, "warnings": findings.len() - errors, "unreadable": stats.unreadable,
        "sha256": fingerprint(session, &view),
    });
    let tokens = usage.groups(GroupBy::Role);
    for role in ROLES {
        let messages = stats.view.roles.get(role).copied().unwrap_or_default();
        let group = tokens.iter().find(|group| group.name == role);
        row[format!("messages_{role}")] = messages.into();
        row[format!("tokens_{role}")] = group.map_or(0, |group| group.view.tokens).into();
    }
    row
}

/// Adds the recorded usage of all requests of the session.
fn recorded(session: &Session, prices: &Prices) -> UsageRow {
    let mut ledger = Ledger::default();
    ledger.add(
        session,
        recorded::requests(session),
        InputOrigin::default(),
        |_| true,
    );
    let (rows, _) = ledger.rows(&[], true, CostSource::Auto, prices);
    UsageRow::total(&rows)
}
