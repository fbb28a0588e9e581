//! Renders a Markdown table: aligned if it fits, else one line per cell.

use super::canvas::Canvas;
use crate::terminal::palette::ColorRole;
use textwrap::core::display_width;

/// Cells with their colors; the first row is the header.
#[derive(Default)]
pub struct MarkdownTable {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
}

/// Columns between two cells.
const GAP: usize = 2;

impl MarkdownTable {
    /// Adds a cell to the current row.
    pub fn cell(&mut self, text: String) {
        self.row.push(text);
    }

    /// Ends the current row.
    pub fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// Writes the table.
    pub fn draw(&self, canvas: &mut Canvas, first: &str, rest: &str) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &[String], nth: usize| row.get(nth).map_or(0, |cell| display_width(cell));
        let widths: Vec<usize> = (0..columns)
            .map(|nth| self.rows.iter().map(|row| cell(row, nth)).max().unwrap_or(0))
            .collect();
        let whole = widths.iter().sum::<usize>() + GAP * columns.saturating_sub(1) + display_width(first);
        let mut first = first;
        if canvas.width.is_some_and(|width| whole > width) {
            let Some((heading, rows)) = self.rows.split_first() else {
                return;
            };
            for (nth, row) in rows.iter().enumerate() {
                if nth > 0 {
                    canvas.line(rest);
                }
                for (name, cell) in heading.iter().zip(row) {
                    let name = canvas.paint(ColorRole::Heading, name);
                    canvas.wrapped(first, &format!("{rest}  "), &format!("{name}: {cell}"));
                    first = rest;
                }
            }
            return;
        }
        for (nth, row) in self.rows.iter().enumerate() {
            let mut line = first.to_string();
            for (column, width) in widths.iter().enumerate() {
                let text = row.get(column).map_or("", String::as_str);
                let padding = " ".repeat(width - display_width(text) + GAP);
                line.push_str(&match nth {
                    0 => canvas.paint(ColorRole::Heading, text),
                    _ => text.to_string(),
                });
                line.push_str(&padding);
            }
            canvas.line(line.trim_end());
            first = rest;
            if nth == 0 {
                let rule = "─".repeat(whole.saturating_sub(display_width(rest)));
                let rule = canvas.paint(ColorRole::Dim, &rule);
                canvas.line(&format!("{rest}{rule}"));
            }
        }
    }
}
