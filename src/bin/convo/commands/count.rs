//! `count`: what is in a session.

use super::Run;
use crate::args::{Input, Reading};
use crate::context::Context;
use crate::inputs::each_session;
use clap::Args;
use convo::error::Error;
use convo::model::session::Session;
use convo::model::stats::{Counts, Stats};
use std::io::{IsTerminal, Write};

/// Count messages and exchanges, by role, category and tool
///
/// Two figures each: of the whole log, and of what is in view.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo count chat
  convo count --json chat | jq .view.messages
  convo count < session.json")]
pub struct Count {
    /// Sessions: names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    reading: Reading,
    /// One JSON object a session
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for Count {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let inputs = Input::all(&self.inputs);
        context.output.stdout(|out| {
            let mut first = true;
            each_session(context, &inputs, &self.reading, |label, session| {
                let stats = Stats::of(&session);
                if self.json {
                    return json(&session, label, &stats, out);
                }
                if !std::mem::take(&mut first) {
                    write(out, "\n")?;
                }
                text(&session, label, &stats, out)
            })
        })
    }
}

fn write(out: &mut dyn Write, text: &str) -> anyhow::Result<()> {
    Ok(out
        .write_all(text.as_bytes())
        .map_err(|error| Error::io("cannot write", error))?)
}

fn text(session: &Session, label: &str, stats: &Stats, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut rows = vec![
        (
            String::new(),
            session.header_text("id").unwrap_or_else(|| label.to_string()),
        ),
        ("messages".to_string(), row(stats, |counts| counts.messages)),
        ("exchanges".to_string(), row(stats, |counts| counts.exchanges)),
    ];
    for role in stats.log.roles.keys() {
        rows.push((
            format!("role {role}"),
            row(stats, |counts| {
                counts.roles.get(role).copied().unwrap_or_default()
            }),
        ));
    }
    for category in stats.log.categories.keys() {
        let count = |counts: &Counts| counts.categories.get(category).copied().unwrap_or_default();
        rows.push((format!("category {}", category.name()), row(stats, count)));
    }
    for tool in stats.log.tools.keys() {
        let name = crate::output::visible(tool);
        rows.push((
            format!("tool {name}"),
            row(stats, |counts| {
                counts.tools.get(tool).copied().unwrap_or_default()
            }),
        ));
    }
    if stats.summary {
        rows.push(("summary".to_string(), "0\t1".to_string()));
    }
    if stats.unreadable > 0 {
        rows.push(("unreadable".to_string(), format!("{}\t0", stats.unreadable)));
    }
    let terminal = std::io::stdout().is_terminal();
    for (name, value) in rows {
        let line = match (terminal, name.is_empty(), value.split_once('\t')) {
            (true, true, _) => format!("{value}\n{:<30} {:>8} {:>8}\n", "", "log", "view"),
            (true, false, Some((log, view))) => format!("{name:<30} {log:>8} {view:>8}\n"),
            (_, true, _) => format!("session\t{value}\n"),
            _ => format!("{name}\t{value}\n"),
        };
        write(out, &line)?;
    }
    Ok(())
}

fn row(stats: &Stats, count: impl Fn(&Counts) -> u64) -> String {
    format!("{}\t{}", count(&stats.log), count(&stats.view))
}

fn json(session: &Session, label: &str, stats: &Stats, out: &mut dyn Write) -> anyhow::Result<()> {
    let counts = |counts: &Counts| {
        let categories: std::collections::BTreeMap<_, _> = counts
            .categories
            .iter()
            .map(|(category, count)| (category.name(), count))
            .collect();
        serde_json::json!({
            "messages": counts.messages, "exchanges": counts.exchanges, "roles": counts.roles,
            "categories": categories, "tools": counts.tools,
        })
    };
    let line = serde_json::json!({
        "schema": "convo.count/1", "input": label, "id": session.header_text("id"), "log": counts(&stats.log),
        "view": counts(&stats.view), "summary": stats.summary, "unreadable": stats.unreadable,
    });
    write(out, &format!("{line}\n"))
}
