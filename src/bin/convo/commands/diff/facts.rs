//! Lists facts that one side has and the other lacks.

use super::{DiffCommand, FailOn};
use crate::context::Context;
use crate::output::in_line;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use convo::error::ErrorKind;
use convo::filter::diff::SessionDiff;
use convo::filter::dropped::{self, Fact};
use convo::model::session::Session;

const COLUMNS: [Column; 4] = [
    Column::text("KIND"),
    Column::rest("TEXT"),
    Column::number("MESSAGE"),
    Column::text("KEPT"),
];

impl DiffCommand {
    pub(super) fn list_dropped(
        &self,
        context: &Context,
        session: &Session,
        diff: &SessionDiff<'_>,
    ) -> anyhow::Result<()> {
        let facts = dropped::facts(session, &diff.a, &diff.b);
        let default = [
            FailOn::Kind(dropped::FactKind::Rule),
            FailOn::Kind(dropped::FactKind::Decision),
        ];
        let fail_on = match self.fail_on.as_slice() {
            [] => &default,
            given => given,
        };
        let fails = |fact: &Fact| {
            let is_one = |on: &FailOn| *on == FailOn::Any || *on == FailOn::Kind(fact.kind);
            !fact.kept && fail_on.iter().any(is_one)
        };
        if facts.iter().any(fails) && !self.git {
            context.output.note_status(ErrorKind::No);
        }
        if context.output.is_quiet() {
            return Ok(());
        }
        let shown = facts.iter().filter(|fact| self.all || !fact.kept);
        if self.json {
            return context.output.rows(false, shown.map(|fact| object(fact, diff)));
        }
        let rows = shown.map(|fact| {
            let mut cells = vec![
                Cell::Text(fact.kind.name().to_string()),
                Cell::Text(in_line(&fact.text)),
                Cell::Number(Some(fact.at as u64 + 1)),
            ];
            if self.all {
                cells.push(Cell::Text(if fact.kept { "yes" } else { "no" }.to_string()));
            }
            cells
        });
        let times = Times::new(self.times, &context.clock);
        let columns = if self.all { &COLUMNS[..] } else { &COLUMNS[..3] };
        Table::new(columns, &times).print(&context.output, rows)?;
        context.output.notice("", &summary(&facts));
        Ok(())
    }
}

fn object(fact: &Fact, diff: &SessionDiff<'_>) -> String {
    let entry = &diff.a[fact.at];
    serde_json::json!({
        "schema": "convo.dropped/1", "kind": fact.kind.name(), "text": fact.text, "id": entry.id,
        "index": fact.at + 1, "kept": fact.kept,
    })
    .to_string()
}

/// Summarizes facts, e.g. `kept 7 of 9 decisions, 31 of 40 paths`.
fn summary(facts: &[Fact]) -> String {
    let kinds = dropped::FactKind::ALL.into_iter().filter_map(|kind| {
        let all = facts.iter().filter(|fact| fact.kind == kind);
        let kept = all.clone().filter(|fact| fact.kept).count();
        let all = all.count();
        let plural = if all == 1 { "" } else { "s" };
        (all > 0).then(|| format!("{kept} of {all} {}{plural}", kind.name()))
    });
    match kinds.collect::<Vec<_>>().join(", ") {
        kinds if kinds.is_empty() => "no facts found".to_string(),
        kinds => format!("kept {kinds}"),
    }
}
