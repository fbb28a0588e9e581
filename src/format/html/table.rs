//! Writes a page with a table whose rows have bars.

use super::escape::{self, escaped};
use super::frame;
use crate::format::page::PageOptions;
use std::fmt::Write as _;

/// A row of a table with bars.
pub struct BarRow {
    /// The cells, as text.
    pub cells: Vec<String>,
    /// The size of the bar.
    pub size: u64,
    /// The size of its lighter part.
    pub light: u64,
}

/// A table with a bar per row.
pub struct BarTable<'t> {
    /// The title of the page.
    pub title: &'t str,
    /// A line with totals, below the title.
    pub summary: &'t str,
    /// Column names, and whether they are numeric.
    pub columns: &'t [(&'t str, bool)],
    /// Labels of the bars and of their lighter parts.
    pub bars: (&'t str, &'t str),
    /// The rows.
    pub rows: &'t [BarRow],
}

/// Writes the page of a table.
pub fn table(table: &BarTable<'_>) -> String {
    let options = PageOptions {
        script: false,
        ..PageOptions::default()
    };
    let mut out = String::new();
    frame::head(&mut out, table.title, None, &options);
    let (solid, light) = table.bars;
    let _ = write!(
        out,
        "<header>\n<h1>{}</h1>\n<ul class=\"facts\">\n<li>{}</li>\n</ul>\n<p><span class=\"key assistant\">{}</span> \
         <span class=\"key system\">{}</span></p>\n</header>\n<main>\n<div class=\"table bars\"><table>\n<thead><tr>",
        escaped(table.title),
        escaped(table.summary),
        escaped(solid),
        escaped(light)
    );
    let class = |is_number: bool| if is_number { " class=\"right\"" } else { "" };
    for (name, is_number) in table.columns {
        let _ = write!(
            out,
            "<th scope=\"col\"{}>{}</th>",
            class(*is_number),
            escaped(name)
        );
    }
    out.push_str("<th scope=\"col\">share</th></tr></thead>\n<tbody>\n");
    let most = table.rows.iter().map(|row| row.size).max().unwrap_or(0).max(1);
    for row in table.rows {
        out.push_str("<tr>");
        for (cell, (_, is_number)) in row.cells.iter().zip(table.columns) {
            let _ = write!(out, "<td{}>", class(*is_number));
            escape::push(&mut out, cell);
            out.push_str("</td>");
        }
        // A precision of 0.1 percent suffices.
        let width = |size: u64| (size as f64 / most as f64 * 1000.0).round() / 10.0;
        let (all, light) = (width(row.size), width(row.light.min(row.size)));
        let _ = writeln!(
            out,
            "<td><svg class=\"row\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{all} per cent of the largest\">\
             <path class=\"assistant\" d=\"M0 0H{all}V8H0z\"/><path class=\"system\" d=\"M{} 0H{all}V8H{}z\"/></svg></td></tr>",
            ((all - light) * 10.0).round() / 10.0,
            ((all - light) * 10.0).round() / 10.0
        );
    }
    out.push_str("</tbody>\n</table></div>\n</main>\n");
    frame::foot(&mut out, &options);
    out
}
