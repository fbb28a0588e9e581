//! Prints rows of usage as a table, a bar chart, an HTML page or JSON.

use crate::context::Context;
use crate::output::{columns, in_line};
use crate::terminal::measure::{columns_of, thousands};
use crate::terminal::palette::ColorRole;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use convo::error::Error;
use convo::filter::usage::{GroupKey, Prices, UsageRow};
use convo::format::html::{self, BarRow, BarTable};

/// The rows to print.
pub struct UsageReport<'r> {
    pub keys: &'r [GroupKey],
    pub rows: &'r [UsageRow],
    pub prices: &'r Prices,
    pub has_cost: bool,
}

impl UsageReport<'_> {
    /// Prints a table with totals.
    pub fn table(&self, context: &Context) -> anyhow::Result<()> {
        let is_piped = columns().is_none();
        let mut all: Vec<Column> = self
            .keys
            .iter()
            .map(|key| match key {
                GroupKey::Day => Column::text("DAY"),
                GroupKey::Week => Column::text("WEEK"),
                GroupKey::Month => Column::text("MONTH"),
                GroupKey::Model => Column::text("MODEL").at_most(40),
                GroupKey::Project => Column::text("PROJECT").at_most(40),
                GroupKey::Session => Column::text("SESSION").at_most(40),
                GroupKey::Program => Column::text("PROGRAM"),
                GroupKey::Tool => Column::text("TOOL").at_most(40),
            })
            .collect();
        all.extend([
            Column::number("REQUESTS").needs_width(90),
            Column::number("INPUT"),
            Column::number("CACHE READ"),
            Column::number("CACHE WRITE").needs_width(70),
            Column::number("OUTPUT"),
        ]);
        all.extend(is_piped.then(|| Column::number("REASONING")));
        all.extend(self.has_cost.then(|| Column::number("COST")));
        let cells = |row: &UsageRow| {
            let figures = &row.figures;
            let mut cells: Vec<Cell> = row.keys.iter().map(|key| Cell::Text(key.clone())).collect();
            let is_marked = row.estimated && !is_piped;
            cells.extend(numbers(row).map(|number| match is_marked {
                true => Cell::Text(format!("~{}", thousands(number))),
                false => Cell::Number(Some(number)),
            }));
            cells.extend(is_piped.then_some(Cell::Number(Some(figures.reasoning))));
            if self.has_cost {
                let cost = row.dollars().map(|dollars| match is_piped {
                    true => format!("{dollars:.6}"),
                    false => format!("${}", money(dollars)),
                });
                cells.push(Cell::Text(cost.unwrap_or_else(|| "-".to_string())));
            }
            cells
        };
        let times = Times::new(Default::default(), &context.clock);
        Table::new(&all, &times)
            .footer(self.summary())
            .print(&context.output, self.rows.iter().map(cells))
    }

    /// Summarizes the totals in one line.
    fn summary(&self) -> String {
        let total = UsageRow::total(self.rows);
        let mut parts = vec![
            format!("{} requests", thousands(total.requests)),
            format!(
                "{}{} tokens",
                if total.estimated { "~" } else { "" },
                thousands(tokens(&total))
            ),
        ];
        parts.extend(total.dollars().map(|dollars| format!("${}", money(dollars))));
        let as_of = total.prices_as_of(self.prices);
        parts.extend(as_of.map(|date| format!("prices of {date}")));
        parts.join(" \u{b7} ")
    }

    /// Prints a bar for each row, as wide as the terminal; the share of cache reads is lighter.
    pub fn chart(&self, context: &Context) -> anyhow::Result<()> {
        let width = columns().unwrap_or(80);
        let most = self.rows.iter().map(tokens).max().unwrap_or(0).max(1);
        let names: Vec<String> = self
            .rows
            .iter()
            .map(|row| in_line(&row.keys.join("  ")))
            .collect();
        let name_width = names.iter().map(|name| columns_of(name)).max().unwrap_or(0);
        let number_width = thousands(most).len();
        let room = width.saturating_sub(name_width + number_width + 5).max(8);
        let palette = context.palette()?;
        let mut text = String::new();
        for (row, name) in self.rows.iter().zip(&names) {
            let all = tokens(row);
            let share = |tokens: u64| (tokens as f64 / most as f64 * room as f64).round() as usize;
            let bar = share(all).max(1);
            let light = share(row.figures.read).min(bar);
            let solid = palette.paint(ColorRole::Assistant, &"\u{2588}".repeat(bar - light));
            let shaded = palette.paint(ColorRole::Assistant, &"\u{2591}".repeat(light));
            let padding = " ".repeat(name_width - columns_of(name));
            let space = " ".repeat(room.saturating_sub(bar));
            text.push_str(&format!(
                "{name}{padding}  {solid}{shaded}{space}  {:>number_width$}\n",
                thousands(all)
            ));
        }
        text.push_str(&format!(
            "\u{2588} new  \u{2591} read from a cache  {}\n",
            self.summary()
        ));
        context.output.page(&text)
    }

    /// Prints an HTML page.
    pub fn page(&self, context: &Context) -> anyhow::Result<()> {
        let mut columns: Vec<(&str, bool)> = self.keys.iter().map(|key| (key.name(), false)).collect();
        columns.extend(["requests", "input", "cache read", "cache write", "output"].map(|name| (name, true)));
        columns.extend(self.has_cost.then_some(("cost", true)));
        let row = |row: &UsageRow| {
            let figures = &row.figures;
            let about = if row.estimated { "~" } else { "" };
            let mut cells = row.keys.clone();
            cells.extend(numbers(row).map(|number| format!("{about}{}", thousands(number))));
            let cost = row.dollars().map(|dollars| format!("${}", money(dollars)));
            cells.extend(self.has_cost.then(|| cost.unwrap_or_else(|| "-".to_string())));
            BarRow {
                cells,
                size: tokens(row),
                light: figures.read,
            }
        };
        let rows: Vec<BarRow> = self.rows.iter().map(row).collect();
        let page = html::table(&BarTable {
            title: "Usage",
            summary: &self.summary(),
            columns: &columns,
            bars: ("tokens", "read from a cache"),
            rows: &rows,
        });
        context.output.stdout(|out| {
            let written = out.write_all(page.as_bytes());
            Ok(written.map_err(|error| Error::io("cannot write", error))?)
        })
    }

    /// Prints one flat object per row.
    pub fn json(&self, context: &Context) -> anyhow::Result<()> {
        let object = |row: &UsageRow| {
            let figures = &row.figures;
            let mut object = serde_json::Map::new();
            object.insert("schema".into(), "convo.usage/1".into());
            for key in [
                GroupKey::Day,
                GroupKey::Week,
                GroupKey::Month,
                GroupKey::Model,
                GroupKey::Project,
                GroupKey::Session,
                GroupKey::Program,
                GroupKey::Tool,
            ] {
                let place = self.keys.iter().position(|own| *own == key);
                let value = place
                    .map(|place| row.keys[place].as_str())
                    .filter(|value| *value != "-");
                object.insert(key.name().into(), value.into());
            }
            for (name, number) in [
                ("requests", row.requests),
                ("input", figures.input),
                ("cache_read", figures.read),
                ("cache_write", figures.written),
                ("cache_write_1h", row.written_1h),
                ("output", figures.output),
                ("reasoning", figures.reasoning),
            ] {
                object.insert(name.into(), number.into());
            }
            object.insert("cost".into(), row.dollars().into());
            object.insert(
                "currency".into(),
                row.dollars().map(|_| self.prices.currency.as_str()).into(),
            );
            object.insert("cost_from".into(), row.cost_source().into());
            object.insert("prices_as_of".into(), row.prices_as_of(self.prices).into());
            object.insert("estimated".into(), row.estimated.into());
            serde_json::Value::Object(object).to_string()
        };
        context.output.rows(false, self.rows.iter().map(object))
    }
}

/// Returns requests, input, cache reads, cache writes and output.
fn numbers(row: &UsageRow) -> [u64; 5] {
    let figures = &row.figures;
    [
        row.requests, figures.input, figures.read, figures.written, figures.output,
    ]
}

fn tokens(row: &UsageRow) -> u64 {
    row.figures.sent().saturating_add(row.figures.output)
}

/// Formats dollars with cents; amounts below one cent have four digits.
fn money(dollars: f64) -> String {
    match dollars {
        small if small > 0.0 && small < 0.01 => format!("{small:.4}"),
        dollars => {
            let cents = (dollars * 100.0).round() as u64;
            format!("{}.{:02}", thousands(cents / 100), cents % 100)
        }
    }
}
