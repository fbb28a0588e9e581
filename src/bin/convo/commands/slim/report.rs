//! Reports bytes by kind of record.

use crate::args::TimeOptions;
use crate::context::Context;
use crate::terminal::measure::size;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use convo::format::Format;
use convo::format::slim::{RecordShares, SlimShare};

/// The result for one input.
pub struct SlimRow {
    pub label: String,
    pub is_written: bool,
    format: Format,
    shares: RecordShares,
}

impl SlimRow {
    pub fn new(label: String, format: Format, shares: RecordShares) -> SlimRow {
        SlimRow {
            label,
            is_written: false,
            format,
            shares,
        }
    }

    /// Whether the saving is less than 1 %.
    pub fn is_small(&self) -> bool {
        let (bytes, left) = self.shares.total();
        (bytes - left.min(bytes)) * 100 < bytes.max(1)
    }

    /// Describes the saving: percentage and sizes.
    pub fn saved(&self) -> String {
        let (bytes, left) = self.shares.total();
        let saved = bytes - left.min(bytes);
        let percent = (saved * 1000).checked_div(bytes).unwrap_or(0);
        format!(
            "{}.{} % ({} of {})",
            percent / 10,
            percent % 10,
            size(saved),
            size(bytes)
        )
    }

    /// Returns the kinds, largest first.
    fn kinds(shares: &RecordShares) -> Vec<(&str, &SlimShare)> {
        let mut kinds: Vec<(&str, &SlimShare)> = shares
            .0
            .iter()
            .map(|(kind, share)| (kind.as_str(), share))
            .collect();
        kinds.sort_by_key(|(_, share)| std::cmp::Reverse(share.bytes));
        kinds
    }

    fn object(&self) -> String {
        let (bytes, left) = self.shares.total();
        let kinds: Vec<_> = SlimRow::kinds(&self.shares)
            .into_iter()
            .map(|(kind, share)| {
                serde_json::json!({
                    "kind": kind, "lines": share.lines, "bytes": share.bytes, "left": share.left, "loss": share.loss,
                })
            })
            .collect();
        serde_json::json!({
            "schema": "convo.slim/1", "input": self.label, "format": self.format.name(), "bytes": bytes, "left": left,
            "written": self.is_written, "kinds": kinds,
        })
        .to_string()
    }
}

const COLUMNS: [Column; 5] = [
    Column::text("KIND"),
    Column::number("LINES"),
    Column::number("BYTES"),
    Column::number("LEFT"),
    Column::rest("GIVES UP"),
];

/// The results for all inputs.
pub struct SlimReport {
    json: bool,
    rows: Vec<SlimRow>,
}

impl SlimReport {
    pub fn new(json: bool) -> SlimReport {
        SlimReport {
            json,
            rows: Vec::new(),
        }
    }

    pub fn add(&mut self, row: SlimRow) {
        self.rows.push(row);
    }

    /// Prints one object per input, or with `table` the kinds of all inputs.
    pub fn print(self, context: &Context, table: bool) -> anyhow::Result<()> {
        let output = &context.output;
        if self.json {
            return output.done(output.rows(false, self.rows.iter().map(SlimRow::object)));
        }
        if !table || output.is_quiet() {
            return Ok(());
        }
        let mut all = RecordShares::default();
        self.rows.iter().for_each(|row| all.join(&row.shares));
        let cells = SlimRow::kinds(&all).into_iter().map(|(kind, share)| {
            vec![
                Cell::Text(kind.to_string()),
                Cell::Number(Some(share.lines)),
                Cell::Bytes(Some(share.bytes)),
                Cell::Bytes(Some(share.left)),
                Cell::Text(share.loss.unwrap_or("-").to_string()),
            ]
        });
        let times = Times::new(TimeOptions::default(), &context.clock);
        Table::new(&COLUMNS, &times).print(output, cells)
    }
}
