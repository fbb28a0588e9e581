//! Counts differences by role and tool.

use super::{DiffCommand, DiffSide};
use crate::context::Context;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use convo::filter::diff::{DiffEntry, DiffStep, SessionDiff};
use convo::model::view::View;
use convo::tokens::usage::of_item;
use std::collections::BTreeMap;

const COLUMNS: [Column; 6] = [
    Column::rest("MESSAGES OF"),
    Column::number("ADDED"),
    Column::number("DROPPED"),
    Column::number("CHANGED"),
    Column::number("TOKENS BEFORE"),
    Column::number("TOKENS AFTER"),
];

/// Added, dropped, changed; tokens before and after.
type StatRow = [u64; 5];

pub fn group(entry: &DiffEntry<'_>) -> String {
    match (entry.role.as_ref(), &entry.tool) {
        ("tool", Some(tool)) => format!("tool {tool}"),
        (role, _) => role.to_string(),
    }
}

impl DiffCommand {
    pub(super) fn print_stat(
        &self,
        context: &Context,
        diff: &SessionDiff<'_>,
        sides: [&DiffSide; 2],
        views: &[View; 2],
    ) -> anyhow::Result<()> {
        self.tokenizer_args.report_estimate(context)?;
        let mut rows: BTreeMap<String, StatRow> = BTreeMap::new();
        for (nth, entries) in [&diff.a, &diff.b].into_iter().enumerate() {
            let session = &sides[nth].session;
            let counter = self.tokenizer_args.counter(context, &sides[nth].label, session)?;
            for (entry, item) in entries.iter().zip(&views[nth].items) {
                rows.entry(group(entry)).or_default()[3 + nth] += of_item(session, item, counter);
            }
        }
        for step in &diff.steps {
            let (place, entry) = match step {
                DiffStep::Equal(..) => continue,
                DiffStep::Added(at) => (0, &diff.b[*at]),
                DiffStep::Dropped(at) => (1, &diff.a[*at]),
                DiffStep::Changed(_, at, _) | DiffStep::Moved(_, at, _) => (2, &diff.b[*at]),
            };
            rows.entry(group(entry)).or_default()[place] += 1;
        }
        let total = rows.values().fold(StatRow::default(), |mut total, row| {
            total
                .iter_mut()
                .zip(row)
                .for_each(|(total, figure)| *total += figure);
            total
        });
        let cells = |(name, row): (String, StatRow)| {
            let figures = row.map(|figure| Cell::Number(Some(figure)));
            [Cell::Text(name)].into_iter().chain(figures).collect()
        };
        let times = Times::new(self.times, &context.clock);
        let rows = rows.into_iter().chain([("total".to_string(), total)]).map(cells);
        Table::new(&COLUMNS, &times).print(&context.output, rows)
    }
}
