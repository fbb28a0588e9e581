//! Reports a split: parts as rows or objects, and parts that exceed a limit.

use crate::args::TimeOptions;
use crate::context::Context;
use crate::terminal::measure::short_id;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use convo::error::{Error, ErrorKind, Position};
use convo::filter::split::{PlannedPart, PlannedSplit};

/// Columns of a dry run.
const COLUMNS: [Column; 6] = [
    Column::text("ID"),
    Column::number("MESSAGES"),
    Column::number("EXCHANGES"),
    Column::number("TOKENS"),
    Column::dim("BEGINS"),
    Column::text("REASON"),
];

/// A split and the label of its session in messages.
pub struct SplitReport<'l> {
    label: &'l str,
    /// Whether tokens were counted.
    counted: bool,
}

impl<'l> SplitReport<'l> {
    pub fn of(_: &PlannedSplit<'_>, label: &'l str, counted: bool) -> SplitReport<'l> {
        SplitReport { label, counted }
    }

    /// Prints one row for each part.
    pub fn rows(&self, context: &Context, split: &PlannedSplit<'_>, json: bool) -> anyhow::Result<()> {
        if json {
            return context.output.print(&self.object(split, None).to_string());
        }
        let cells = |(nth, part): (usize, &PlannedPart)| {
            vec![
                Cell::Id {
                    short: short_id(&split.id(nth)),
                    id: split.id(nth),
                    unique: 0,
                    depth: 0,
                },
                Cell::Number(Some(part.messages)),
                Cell::Number(Some(part.exchanges)),
                Cell::Number(self.counted.then_some(part.tokens)),
                Cell::Time(split.began(nth)),
                Cell::Text(part.reason.name().to_string()),
            ]
        };
        let times = Times::new(TimeOptions::default(), &context.clock);
        Table::new(&COLUMNS, &times).print(&context.output, split.parts.iter().enumerate().map(cells))
    }

    fn object(&self, split: &PlannedSplit<'_>, changed: Option<bool>) -> serde_json::Value {
        let pieces = split.parts.iter().enumerate().map(|(nth, part)| {
            let mut piece = serde_json::json!({
                "id": split.id(nth), "messages": part.messages, "exchanges": part.exchanges,
                "began": split.began(nth), "reason": part.reason.name(), "too_large": part.is_too_large,
            });
            if self.counted {
                piece["tokens"] = part.tokens.into();
            }
            piece
        });
        let mut object = serde_json::json!({
            "schema": "convo.split/1", "input": self.label, "pieces": pieces.collect::<Vec<_>>(),
        });
        if let Some(changed) = changed {
            object["changed"] = changed.into();
        }
        object
    }

    /// Prints notes, and an error for each part that exceeds a limit.
    pub fn notes(&self, context: &Context, split: &PlannedSplit<'_>) {
        for note in &split.notes {
            context.output.notice(self.label, note);
        }
        for (nth, part) in split
            .parts
            .iter()
            .enumerate()
            .filter(|(_, part)| part.is_too_large)
        {
            let size = if self.counted {
                format!("{} messages, {} tokens", part.messages, part.tokens)
            } else {
                format!("{} messages", part.messages)
            };
            let what = format!(
                "{}: exchange of {size} exceeds the limit; not divided",
                split.id(nth)
            );
            let error = Error::new(ErrorKind::No, what).at(self.label, Position::default());
            context.output.error(&error);
        }
    }

    fn what(split: &PlannedSplit<'_>) -> String {
        match split.parts.len() {
            1 => "unchanged: nothing to split".to_string(),
            _ => format!("split into {}", SplitReport::parts(split)),
        }
    }

    fn parts(split: &PlannedSplit<'_>) -> String {
        let count = split.parts.len();
        format!("{count} parts: {} to {}", split.id(0), split.id(count - 1))
    }

    /// Reports parts in the store: prints their ids to standard output.
    pub fn stored(
        &self,
        context: &Context,
        split: &PlannedSplit<'_>,
        changed: bool,
        json: bool,
    ) -> anyhow::Result<()> {
        self.notes(context, split);
        if json {
            return context
                .output
                .print_done(&self.object(split, Some(changed)).to_string());
        }
        let what = match (changed, split.has_no_cut()) {
            (false, false) => format!("unchanged: already split into {}", SplitReport::parts(split)),
            _ => SplitReport::what(split),
        };
        context.output.notice(self.label, &what);
        if split.has_no_cut() {
            return Ok(());
        }
        let ids: Vec<String> = (0..split.parts.len()).map(|nth| split.id(nth)).collect();
        context.output.print_done(&ids.join("\n"))
    }

    /// Reports parts that were written to a stream or to files.
    pub fn streamed(&self, context: &Context, split: &PlannedSplit<'_>) {
        context.output.detail(self.label, &SplitReport::what(split));
        self.notes(context, split);
    }
}
