//! Prints differences as text: a line for each message or run of messages, and the changed lines of text.

use super::DiffCommand;
use super::stat::group;
use crate::context::Context;
use crate::output::{columns, count_of, in_line, visible};
use crate::terminal::measure::{columns_of, cut, many, thousands};
use crate::terminal::palette::{ColorRole, Palette};
use crate::terminal::time_format::Times;
use convo::error::Error;
use convo::filter::diff::{DiffEntry, DiffStep, SessionDiff};
use convo::model::calls::{DetailLine, line_diff};

/// Messages of a run that are listed; the others are counted.
const NAMED: usize = 4;

/// A row of the comparison before its columns are aligned.
struct ComparisonRow {
    sign: char,
    places: String,
    who: String,
    what: String,
    /// The changed lines.
    lines: Vec<DetailLine>,
}

impl DiffCommand {
    pub(super) fn print_text(
        &self,
        context: &Context,
        diff: &SessionDiff<'_>,
        labels: [&str; 2],
    ) -> anyhow::Result<()> {
        let palette = context.palette()?;
        let width = columns();
        let shown = TextDiff {
            diff,
            times: Times::new(self.times, &context.clock),
            around: self.context,
            terminal: width.is_some(),
        };
        let text = shown.text(labels, &palette, width);
        match width {
            Some(_) => context.output.page(&text),
            None => context.output.styled(|out| {
                let written = out.write_all(text.as_bytes());
                Ok(written.map_err(|error| Error::io("cannot write", error))?)
            }),
        }
    }
}

struct TextDiff<'d, 'v> {
    diff: &'d SessionDiff<'v>,
    times: Times,
    around: usize,
    terminal: bool,
}

impl TextDiff<'_, '_> {
    fn text(&self, labels: [&str; 2], palette: &Palette, width: Option<usize>) -> String {
        let rows = self.rows();
        let widest =
            |column: fn(&ComparisonRow) -> &str| rows.iter().map(|row| columns_of(column(row))).max();
        let places = widest(|row| &row.places).unwrap_or_default();
        let who = widest(|row| if row.what.is_empty() { "" } else { &row.who }).unwrap_or_default();
        let mut text = String::new();
        for (sign, label, entries) in [("---", labels[0], &self.diff.a), ("+++", labels[1], &self.diff.b)] {
            let head = format!(
                "{sign} {}  {}",
                in_line(label),
                self.many(entries.len(), "message")
            );
            text.push_str(&palette.paint(ColorRole::Title, &head));
            text.push('\n');
        }
        if !self.diff.members.is_empty() {
            let members = format!("~ session: {}", in_line(&self.diff.members.join(", ")));
            text.push_str(&members);
            text.push('\n');
        }
        for row in rows {
            let pad = |text: &str, to: usize| " ".repeat(to.saturating_sub(columns_of(text)));
            let mut line = format!("{} {}{}  ", row.sign, row.places, pad(&row.places, places));
            line.push_str(&row.who);
            if !row.what.is_empty() {
                line.push_str(&pad(&row.who, who));
                line.push_str("   ");
                line.push_str(&row.what);
            }
            let line = width.map_or(line.clone(), |width| cut(&line, width));
            let ink = match row.sign {
                '+' => Some(ColorRole::Added),
                '-' => Some(ColorRole::Removed),
                ' ' => Some(ColorRole::Dim),
                _ => None,
            };
            text.push_str(&ink.map_or(line.clone(), |ink| palette.paint(ink, line.trim_end())));
            text.push('\n');
            let indent = " ".repeat(places + 4);
            for line in row.lines {
                let (mark, ink, line) = match &line {
                    DetailLine::Added(line) => ("+ ", Some(ColorRole::Added), line),
                    DetailLine::Removed(line) => ("- ", Some(ColorRole::Removed), line),
                    DetailLine::Same(line) | DetailLine::Text(line) => ("  ", None, line),
                    DetailLine::Note(line) => ("  ", Some(ColorRole::Dim), line),
                };
                let line = format!("{mark}{}", visible(line));
                let line = ink.map_or(line.clone(), |ink| palette.paint(ink, &line));
                text.push_str(format!("{indent}{line}").trim_end());
                text.push('\n');
            }
        }
        text.push_str(&self.totals());
        text.push('\n');
        text
    }

    fn rows(&self) -> Vec<ComparisonRow> {
        let mut rows = Vec::new();
        let steps = &self.diff.steps;
        let mut at = 0;
        while at < steps.len() {
            let kind = std::mem::discriminant(&steps[at]);
            let run = steps[at..]
                .iter()
                .take_while(|step| std::mem::discriminant(*step) == kind)
                .count();
            let run = &steps[at..at + run];
            match &run[0] {
                DiffStep::Changed(at_a, at_b, fields) => {
                    rows.push(self.changed('~', *at_a, *at_b, fields));
                    at += 1;
                    continue;
                }
                DiffStep::Moved(at_a, at_b, fields) => {
                    rows.push(self.changed('>', *at_a, *at_b, fields));
                    at += 1;
                    continue;
                }
                DiffStep::Equal(..) => rows.push(self.equal(run)),
                DiffStep::Dropped(_) => rows.push(self.one_sided('-', &self.diff.a, run)),
                DiffStep::Added(_) => rows.push(self.one_sided('+', &self.diff.b, run)),
            }
            at += run.len();
        }
        rows
    }

    fn equal(&self, run: &[DiffStep]) -> ComparisonRow {
        let place = |step: &DiffStep| match step {
            DiffStep::Equal(_, at) => *at,
            _ => 0,
        };
        let first = place(&run[0]);
        ComparisonRow {
            sign: ' ',
            places: line_range(first, run.len()),
            who: format!("{} equal", self.number(run.len() as u64)),
            what: String::new(),
            lines: Vec::new(),
        }
    }

    fn one_sided(&self, sign: char, entries: &[DiffEntry<'_>], run: &[DiffStep]) -> ComparisonRow {
        let all: Vec<usize> = run
            .iter()
            .filter_map(|step| match step {
                DiffStep::Dropped(at) | DiffStep::Added(at) => Some(*at),
                _ => None,
            })
            .collect();
        let what = match all.as_slice() {
            [at] => beginning(&entries[*at]),
            several => {
                let bytes: usize = several.iter().map(|at| entries[*at].bytes()).sum();
                self.many(bytes, "byte")
            }
        };
        let named = all.iter().take(NAMED).map(|at| in_line(&group(&entries[*at])));
        let mut who = named.collect::<Vec<_>>().join(", ");
        if let [at] = all.as_slice() {
            who.push_str(&self.time(&entries[*at]));
        } else if all.len() > NAMED {
            who.push_str(&format!(", {} more", self.number((all.len() - NAMED) as u64)));
        }
        ComparisonRow {
            sign,
            places: spans(&all),
            who,
            what,
            lines: Vec::new(),
        }
    }

    fn changed(&self, sign: char, at_a: usize, at_b: usize, fields: &[&'static str]) -> ComparisonRow {
        let (a, b) = (&self.diff.a[at_a], &self.diff.b[at_b]);
        let diff = |name: &&'static str| line_diff(&a.field(name), &b.field(name), self.around).0;
        let mut what = fields.join(", ");
        if sign == '>' {
            let from = format!("was {}", at_a + 1);
            what = if what.is_empty() {
                from
            } else {
                format!("{from}, {what}")
            };
        }
        ComparisonRow {
            sign,
            places: (at_b + 1).to_string(),
            who: in_line(&group(b)) + &self.time(b),
            what,
            lines: fields.iter().flat_map(diff).collect(),
        }
    }

    /// Formats a time: the time of day on a terminal, otherwise the full time.
    fn time(&self, entry: &DiffEntry<'_>) -> String {
        let time = entry.timestamp.as_deref().and_then(|time| match self.terminal {
            true => self.times.minute(time),
            false => Some(self.times.machine(time)),
        });
        time.map_or(String::new(), |time| format!(" {time}"))
    }

    fn number(&self, number: u64) -> String {
        if self.terminal {
            thousands(number)
        } else {
            number.to_string()
        }
    }

    fn many(&self, number: usize, thing: &str) -> String {
        match self.terminal {
            true => many(number as u64, thing),
            false => count_of(number as u64, thing),
        }
    }

    fn totals(&self) -> String {
        let totals = self.diff.totals();
        let figures = [
            (totals.changed, "changed"),
            (totals.moved, "moved"),
            (totals.added, "added"),
            (totals.dropped, "dropped"),
            (totals.equal, "equal"),
        ];
        let named = figures
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, name)| format!("{} {name}", self.number(number)));
        match named.collect::<Vec<_>>().join(", ") {
            totals if totals.is_empty() => "no messages".to_string(),
            totals => totals,
        }
    }
}

fn line_range(first: usize, length: usize) -> String {
    match length {
        1 => (first + 1).to_string(),
        _ => format!("{}-{}", first + 1, first + length),
    }
}

/// Formats numbers as ranges, e.g. `8-10,12`.
fn spans(all: &[usize]) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for at in all {
        match spans.last_mut() {
            Some((first, length)) if *first + *length == *at => *length += 1,
            _ => spans.push((*at, 1)),
        }
    }
    let spans = spans.into_iter().map(|(first, length)| line_range(first, length));
    spans.collect::<Vec<_>>().join(",")
}

/// Returns the first line of text, or the first call.
fn beginning(entry: &DiffEntry<'_>) -> String {
    let text = entry.text();
    let calls = entry.field("tool_calls");
    let mut lines = text
        .lines()
        .chain(calls.lines())
        .filter(|line| !line.trim().is_empty());
    let first = lines.next().map(in_line).unwrap_or_default();
    match lines.count() {
        0 => first,
        more => format!("{first} [+{}]", count_of(more as u64, "line")),
    }
}
