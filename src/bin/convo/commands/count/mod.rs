//! `count`: counts messages, exchanges and tokens of a session.

mod bar_chart;

use super::Run;
use crate::args::{ChainArgs, InputArgs, TokenizerArgs, Window, window};
use crate::context::Context;
use crate::flat_tables::{self, RecordedUsage, SessionCounts, SessionOrigin, TableRow};
use crate::input::{chain_reader, each_session_and_format, operands};
use crate::output::{columns, count_of, in_line, visible};
use crate::terminal::measure::thousands;
use clap::{Args, ValueEnum};
use convo::error::Error;
use convo::filter::retention::{self, MemoryState};
use convo::filter::usage::Prices;
use convo::model::health::Health;
use convo::model::session::Session;
use convo::model::stats::{MessageCounts, Stats};
use convo::tokens::usage::{GroupBy, TokenFigure, TokenUsage, UsageGroup};
use std::io::{IsTerminal, Write};

/// Count messages, exchanges and tokens
///
/// Prints counts for the whole log and for the view, by role, category and tool. Tokens are the model's input: text, tool
/// calls, tool results, media and the overhead of each message.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo count chat
  convo count --by tool chat                      tokens of the calls and results of each tool
  convo count --window gpt-4o chat                share of the context window in use
  convo count --json chat | jq .view.tokens.total
  convo count --flat *.jsonl > sessions.jsonl     a table for DuckDB or Spark
  convo count < session.json")]
pub struct CountCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    chained: ChainArgs,
    #[command(flatten)]
    tokenizer_args: TokenizerArgs,
    /// Show the share of this context window in use
    #[arg(long, value_name = "TOKENS|MODEL", value_parser = window, help_heading = "Tokens")]
    window: Option<Window>,
    /// Break tokens down by role, category, tool or exchange
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    by: Option<CountGrouping>,
    /// Print one object per session
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print one object without nested members per session, for tables
    ///
    /// The same members with the same types for every session; an absent value is null. Costs use the built-in prices.
    /// `sha256` is that of the messages without ids and times: equal sessions have equal hashes. `generate tables` prints
    /// the members.
    #[arg(long, conflicts_with_all = ["chain", "window", "by"], help_heading = "Output")]
    flat: bool,
}

/// The groups that tokens are broken down by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CountGrouping {
    /// Sender role
    Role,
    /// Category
    Category,
    /// Calls and results of each tool
    Tool,
    /// Exchanges of the log
    Exchange,
}

impl CountGrouping {
    const fn by(self) -> GroupBy {
        match self {
            CountGrouping::Role => GroupBy::Role,
            CountGrouping::Category => GroupBy::Category,
            CountGrouping::Tool => GroupBy::Tool,
            CountGrouping::Exchange => GroupBy::Exchange,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            CountGrouping::Role => "role",
            CountGrouping::Category => "category",
            CountGrouping::Tool => "tool",
            CountGrouping::Exchange => "exchange",
        }
    }
}

impl Run for CountCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json || self.flat);
        self.tokenizer_args.report_estimate(context)?;
        let inputs = operands::inputs(context, &self.inputs)?;
        if self.flat {
            let prices = Prices::built_in()?;
            return context.output.stdout(|out| {
                each_session_and_format(context, &inputs, &self.reading, |label, format, session| {
                    let counter = self.tokenizer_args.counter(context, label, &session)?;
                    let usage = TokenUsage::of(&session, counter);
                    let row = TableRow::new(flat_tables::COUNTS)
                        .with(&SessionOrigin::of(label, format, &session))
                        .with(&SessionCounts::of(&session, &usage))
                        .with(&RecordedUsage::of(&session, &prices));
                    write(out, &format!("{row}\n"))
                })
            });
        }
        let report = |out: &mut dyn Write| {
            let mut first = true;
            chain_reader::each(context, &inputs, &self.reading, self.chained, |label, session| {
                let counter = self.tokenizer_args.counter(context, label, &session)?;
                let usage = TokenUsage::of(&session, counter);
                if self.json {
                    let line = self.object(&session, label, &usage, &context.clock.now());
                    return write(out, &format!("{line}\n"));
                }
                if !std::mem::take(&mut first) {
                    write(out, "\n")?;
                }
                let rows = match self.by {
                    None => self.rows(&session, label, &usage, &context.clock.now()),
                    Some(by) => self.token_rows(&session, label, &usage, by),
                };
                text(&rows, out)?;
                if let Some(columns) = columns() {
                    let by = self.by.unwrap_or(CountGrouping::Role);
                    let name = counter.tokenizer().name();
                    let groups = usage.groups(by.by());
                    let colored = context.output.colored();
                    write(out, &bar_chart::bars(&groups, by.name(), name, columns, colored))?;
                }
                Ok(())
            })
        };
        match self.json {
            true => context.output.stdout(report),
            // Print sessions as they are read, unless a pager may show them.
            false if columns().is_none() => context.output.styled(report),
            false => {
                let mut text = Vec::new();
                let done = report(&mut text);
                context.output.page(&String::from_utf8_lossy(&text))?;
                done
            }
        }
    }
}

fn write(out: &mut dyn Write, text: &str) -> anyhow::Result<()> {
    Ok(out
        .write_all(text.as_bytes())
        .map_err(|error| Error::io("cannot write", error))?)
}

/// Name, log and view.
type CountRow = (String, String);

fn text(rows: &[CountRow], out: &mut dyn Write) -> anyhow::Result<()> {
    let terminal = std::io::stdout().is_terminal();
    for (name, value) in rows {
        let line = match (terminal, name.is_empty(), value.split_once('\t')) {
            (true, true, _) => format!("{value}\n{:<30} {:>10} {:>10}\n", "", "log", "view"),
            (true, false, Some((log, view))) => {
                let shown = |figure: &str| figure.parse().map_or(figure.to_string(), thousands);
                format!("{name:<30} {:>10} {:>10}\n", shown(log), shown(view))
            }
            (_, true, _) => format!("session\t{value}\n"),
            _ => format!("{name}\t{value}\n"),
        };
        write(out, &line)?;
    }
    Ok(())
}

fn next_attempt(health: &Health) -> String {
    let next = health.next_attempt_at.as_deref();
    next.map_or(String::new(), |next| {
        format!(", next attempt at {}", in_line(next))
    })
}

fn title(session: &Session, label: &str) -> CountRow {
    let id = session.header_text("id").unwrap_or_else(|| label.to_string());
    (String::new(), id)
}

fn tokens(group: &UsageGroup) -> String {
    format!("{}\t{}", group.log.tokens, group.view.tokens)
}

impl CountCommand {
    fn rows(&self, session: &Session, label: &str, usage: &TokenUsage<'_>, now: &str) -> Vec<CountRow> {
        let stats = Stats::of(session);
        let row =
            |count: &dyn Fn(&MessageCounts) -> u64| format!("{}\t{}", count(&stats.log), count(&stats.view));
        let mut rows = vec![
            title(session, label),
            ("messages".to_string(), row(&|counts| counts.messages)),
            ("exchanges".to_string(), row(&|counts| counts.exchanges)),
        ];
        for role in stats.log.roles.keys() {
            let count = |counts: &MessageCounts| counts.roles.get(role).copied().unwrap_or_default();
            rows.push((format!("role {role}"), row(&count)));
        }
        for category in stats.log.categories.keys() {
            let count = |counts: &MessageCounts| counts.categories.get(category).copied().unwrap_or_default();
            rows.push((format!("category {}", category.name()), row(&count)));
        }
        for tool in stats.log.tools.keys() {
            let count = |counts: &MessageCounts| counts.tools.get(tool).copied().unwrap_or_default();
            rows.push((format!("tool {}", visible(tool)), row(&count)));
        }
        if stats.summary {
            rows.push(("summary".to_string(), "0\t1".to_string()));
        }
        if stats.unreadable > 0 {
            rows.push(("unreadable".to_string(), format!("{}\t0", stats.unreadable)));
        }
        let health = Health::of(session);
        if health.failures > 0 {
            let state = health.state(now).name();
            let failed = count_of(health.failures, "failure");
            rows.push((
                "health".to_string(),
                format!("{state}: {failed}{}", next_attempt(&health)),
            ));
        }
        if let Ok(Some(state)) = retention::memory_state(session, usage.counter()) {
            let MemoryState { memory, .. } = state;
            let waiting = state.pending + state.backlog;
            let total = match memory.total {
                0 => String::new(),
                total => format!(" of {total}"),
            };
            rows.push((
                "memory".to_string(),
                format!(
                    "{}: {} kept completely, {waiting} awaiting a summary, {} tokens{total}",
                    memory.strategy.name(),
                    count_of(state.recent as u64, "turn"),
                    state.tokens
                ),
            ));
        }
        self.push_total(&usage.total(), &mut rows);
        rows
    }

    fn token_rows(
        &self,
        session: &Session,
        label: &str,
        usage: &TokenUsage<'_>,
        by: CountGrouping,
    ) -> Vec<CountRow> {
        let mut rows = vec![title(session, label)];
        let groups = usage.groups(by.by());
        let name = |group: &UsageGroup| format!("{} {}", by.name(), in_line(&group.name));
        rows.extend(groups.iter().map(|group| (name(group), tokens(group))));
        self.push_total(&usage.total(), &mut rows);
        rows
    }

    fn push_total(&self, total: &UsageGroup, rows: &mut Vec<CountRow>) {
        rows.push(("tokens".to_string(), tokens(total)));
        if let Some(Window(window)) = self.window {
            let share = |figure: TokenFigure| format!("{:.1}%", figure.tokens as f64 * 100.0 / window as f64);
            rows.push((
                format!("of {window}"),
                format!("{}\t{}", share(total.log), share(total.view)),
            ));
        }
    }

    fn object(&self, session: &Session, label: &str, usage: &TokenUsage<'_>, now: &str) -> serde_json::Value {
        let health = Health::of(session);
        let stats = Stats::of(session);
        let total = usage.total();
        let by = [GroupBy::Role, GroupBy::Category, GroupBy::Tool].map(|by| usage.groups(by));
        let figures = |counts: &MessageCounts, place: &dyn Fn(&UsageGroup) -> TokenFigure| {
            let categories = counts
                .categories
                .iter()
                .map(|(category, count)| (category.name(), count));
            let [roles, categories_, tools] = by.each_ref().map(|groups| {
                let tokens = groups
                    .iter()
                    .map(|group| (group.name.as_str(), place(group).tokens));
                tokens
                    .filter(|(_, tokens)| *tokens > 0)
                    .collect::<std::collections::BTreeMap<_, _>>()
            });
            serde_json::json!({
                "messages": counts.messages, "exchanges": counts.exchanges, "roles": counts.roles,
                "categories": categories.collect::<std::collections::BTreeMap<_, _>>(), "tools": counts.tools,
                "tokens": {
                    "total": place(&total).tokens, "roles": roles, "categories": categories_, "tools": tools,
                },
            })
        };
        let mut line = serde_json::json!({
            "schema": "convo.count/1", "input": label, "id": session.header_text("id"),
            "tokenizer": usage.counter().tokenizer().name(),
            "exact": usage.counter().tokenizer().is_exact(),
            "log": figures(&stats.log, &|group| group.log), "view": figures(&stats.view, &|group| group.view),
            "summary": stats.summary, "unreadable": stats.unreadable,
            "health": health.state(now).name(), "failures": health.failures,
            "next_attempt_at": health.next_attempt_at, "why": health.why,
        });
        if let Ok(Some(state)) = retention::memory_state(session, usage.counter()) {
            line["memory"] = serde_json::json!({
                "strategy": state.memory.strategy.name(), "turns": state.recent, "pending": state.pending,
                "backlog": state.backlog, "tokens": state.tokens, "total": state.memory.total,
            });
        }
        if let Some(Window(window)) = self.window {
            line["window"] = window.into();
            line["used"] = (total.view.tokens as f64 / window as f64).into();
        }
        if self.by == Some(CountGrouping::Exchange) {
            let figure = |figure: TokenFigure| serde_json::json!({"messages": figure.messages, "tokens": figure.tokens});
            let exchanges = usage.groups(GroupBy::Exchange).into_iter().map(|group| {
                let first = group.first.and_then(|index| session.id(index));
                serde_json::json!({
                    "name": group.name, "first": first, "log": figure(group.log), "view": figure(group.view),
                })
            });
            line["by_exchange"] = exchanges.collect();
        }
        line
    }
}
