//! Prints the hits of a search. Session text is sanitized: it cannot move the cursor or set colors.

use super::hits::Matched;
use super::sources::SearchSource;
use crate::output::{columns, in_line, visible};
use crate::terminal::palette::{ColorRole, Palette};
use crate::terminal::time_format::{Times, machine};
use convo::search::{FoundText, Ranked, TextLine};
use std::borrow::Cow;
use std::io::{Result, Write};
use std::ops::Range;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOutput {
    /// A heading for each session, followed by its lines.
    Terminal,
    /// Tab-separated values.
    Lines,
    /// The names of sessions.
    Names,
    /// The names of sessions, and their numbers of matching lines.
    Counts,
    Json,
}

/// Minimum number of characters shown before a match.
const BEFORE: usize = 24;

/// Maximum width of titles and lines of ranked sessions.
const LONGEST: usize = 72;

/// Minimum number of columns for a line on a terminal.
const MINIMUM: usize = 20;

/// Prints the sessions of a search.
pub struct Printer<'p> {
    form: SearchOutput,
    null: bool,
    palette: &'p Palette,
    times: &'p Times,
    has_printed: bool,
    columns: usize,
}

impl<'p> Printer<'p> {
    /// Creates a printer; with `null`, rows of names and counts end with NUL.
    pub fn new(form: SearchOutput, null: bool, palette: &'p Palette, times: &'p Times) -> Printer<'p> {
        Printer {
            form,
            null,
            palette,
            times,
            has_printed: false,
            columns: columns().unwrap_or(usize::MAX),
        }
    }

    /// Whether anything was printed.
    pub fn has_printed(&self) -> bool {
        self.has_printed
    }

    /// Prints the hits in a source.
    pub fn session(&mut self, out: &mut dyn Write, source: &SearchSource, matched: &[Matched]) -> Result<()> {
        // Sessions have the name of their file unless they have their own names.
        for matched in matched.chunk_by(|one, other| one.name == other.name) {
            let name = matched[0].name.as_deref().unwrap_or(&source.name);
            self.named(out, name, source, matched)?;
        }
        out.flush()
    }

    /// Prints a ranked session.
    pub fn ranked(
        &mut self,
        out: &mut dyn Write,
        name: &str,
        source: &SearchSource,
        title: Option<&str>,
        ranked: &Ranked,
    ) -> Result<()> {
        let end = if self.null { '\0' } else { '\n' };
        let score = format!("{:.2}", ranked.score);
        match self.form {
            SearchOutput::Names | SearchOutput::Counts if self.null => write!(out, "{name}{end}")?,
            SearchOutput::Names | SearchOutput::Counts => write!(out, "{}{end}", in_line(name))?,
            SearchOutput::Json => {
                let object = serde_json::json!({
                    "schema": "convo.ranked/1", "name": name, "score": ranked.score, "title": title,
                    "position": ranked.position, "message": ranked.message, "text": ranked.text,
                    "path": source.path(),
                });
                writeln!(out, "{object}")?;
            }
            SearchOutput::Lines => {
                let (name, text) = (value(name), value(&ranked.text));
                writeln!(out, "{name}\t{score}\t{}\t{text}", ranked.position)?;
            }
            SearchOutput::Terminal => {
                let name = self.palette.paint(ColorRole::Title, &in_line(name));
                let title = title
                    .map(|title| shortened(title, self.columns))
                    .unwrap_or_default();
                writeln!(
                    out,
                    "{score:>6}  {name}  {}",
                    self.palette.paint(ColorRole::Dim, &title)
                )?;
                let text = shortened(&ranked.text, self.columns.saturating_sub(8));
                writeln!(out, "        {text}")?;
            }
        }
        self.has_printed = true;
        Ok(())
    }

    fn named(
        &mut self,
        out: &mut dyn Write,
        name: &str,
        source: &SearchSource,
        matched: &[Matched],
    ) -> Result<()> {
        let count: usize = matched
            .iter()
            .flat_map(|one| &one.found)
            .map(FoundText::count)
            .sum();
        let end = if self.null { '\0' } else { '\n' };
        match self.form {
            // A name is an operand of other commands: exact if separated by NUL.
            SearchOutput::Names if self.null => write!(out, "{name}{end}")?,
            SearchOutput::Names => write!(out, "{}{end}", in_line(name))?,
            SearchOutput::Counts => write!(out, "{}\t{count}{end}", value(name))?,
            SearchOutput::Json => self.objects(out, name, source, matched)?,
            SearchOutput::Lines => self.lines(out, name, matched)?,
            SearchOutput::Terminal => self.page(out, name, matched)?,
        }
        self.has_printed = true;
        Ok(())
    }

    fn lines(&self, out: &mut dyn Write, name: &str, matched: &[Matched]) -> Result<()> {
        let name = value(name);
        let mut is_first = !self.has_printed;
        for found in matched.iter().flat_map(|one| &one.found) {
            let is_grouped = found.lines.iter().any(|line| line.spans.is_none());
            let mut last = None;
            for line in &found.lines {
                let is_next = last.is_some_and(|last| line.number == last + 1);
                if is_grouped && !is_next && !is_first {
                    writeln!(out, "--")?;
                }
                (last, is_first) = (Some(line.number), false);
                let part = line.spans.as_ref().map_or("-", |_| found.part.name());
                let role = value(&found.role);
                writeln!(
                    out,
                    "{name}\t{}\t{role}\t{part}\t{}",
                    found.position,
                    value(&line.text)
                )?;
            }
        }
        Ok(())
    }

    fn objects(
        &self,
        out: &mut dyn Write,
        name: &str,
        source: &SearchSource,
        matched: &[Matched],
    ) -> Result<()> {
        let path = source.path();
        for (one, found) in matched
            .iter()
            .flat_map(|one| one.found.iter().map(move |found| (one, found)))
        {
            for line in &found.lines {
                let spans = line.spans.as_deref().unwrap_or_default();
                let spans: Vec<[usize; 2]> = spans.iter().map(|span| [span.start, span.end]).collect();
                let hit = serde_json::json!({
                    "schema": "convo.hit/1", "name": name, "program": one.program, "id": one.id,
                    "title": one.title, "project": one.project, "message": found.message,
                    "position": found.position, "role": found.role, "part": found.part.name(),
                    "tool": found.tool, "timestamp": found.timestamp.as_deref().map(machine),
                    "line": line.number, "text": line.text, "spans": spans, "path": path,
                    "resume": one.resume, "offset": found.offset, "live": found.live,
                });
                writeln!(out, "{hit}")?;
            }
        }
        Ok(())
    }

    fn page(&self, out: &mut dyn Write, name: &str, matched: &[Matched]) -> Result<()> {
        if self.has_printed {
            writeln!(out)?;
        }
        let palette = self.palette;
        for (nth, one) in matched.iter().enumerate() {
            let name = match nth {
                0 => in_line(name),
                _ => in_line(one.id.as_deref().unwrap_or(name)),
            };
            let mut heading = palette.paint(ColorRole::Title, &name);
            let age = one.updated.as_deref().map(|time| self.times.shown(time));
            let title = one.title.as_deref().map(|title| shortened(title, self.columns));
            for fact in [age, one.project.as_deref().map(in_line), title]
                .into_iter()
                .flatten()
            {
                heading.push_str("  ");
                heading.push_str(&palette.paint(ColorRole::Dim, &fact));
            }
            writeln!(out, "{heading}")?;
            for found in &one.found {
                let is_grouped = found.lines.iter().any(|line| line.spans.is_none());
                let mut last = None;
                for line in &found.lines {
                    if is_grouped && last.is_some_and(|last| line.number > last + 1) {
                        writeln!(out, "{}", palette.paint(ColorRole::Dim, "--"))?;
                    }
                    last = Some(line.number);
                    let role = match found.role.as_str() {
                        "" => found.part.name(),
                        role => role,
                    };
                    let (position, role) = (found.position.to_string(), in_line(role));
                    let left = self
                        .columns
                        .saturating_sub(position.len() + role.len() + 3)
                        .max(MINIMUM);
                    let role = palette.paint(ink(&found.role), &role);
                    let position = palette.paint(ColorRole::Dim, &position);
                    writeln!(out, "{position} {role}  {}", self.highlighted(line, left))?;
                }
            }
        }
        if let Some(line) = matched.first().and_then(|one| one.resume.as_deref()) {
            let line = format!("resume it with: {}", in_line(line));
            writeln!(out, "{}", palette.paint(ColorRole::Dim, &line))?;
        }
        Ok(())
    }

    /// Highlights the matches in a line; cuts a line that is too long around its first match.
    fn highlighted(&self, line: &TextLine, columns: usize) -> String {
        let spans = line.spans.as_deref().unwrap_or_default();
        let shown = window(&line.text, spans.first(), columns);
        let mut text = String::new();
        if shown.start > 0 {
            text.push('…');
        }
        let mut at = shown.start;
        for span in spans {
            let span = span.start.clamp(at, shown.end)..span.end.clamp(at, shown.end);
            text.push_str(&in_line(&line.text[at..span.start]));
            text.push_str(
                &self
                    .palette
                    .paint(ColorRole::Match, &in_line(&line.text[span.clone()])),
            );
            at = span.end;
        }
        text.push_str(&in_line(&line.text[at..shown.end]));
        if shown.end < line.text.len() {
            text.push('…');
        }
        match line.spans {
            Some(_) => text,
            None => self.palette.paint(ColorRole::Dim, &text),
        }
    }
}

/// Returns the range of a line around a match that fits this number of columns.
fn window(text: &str, span: Option<&Range<usize>>, columns: usize) -> Range<usize> {
    // A line may be as long as a session, so only the characters around the match are examined.
    if text.char_indices().nth(columns).is_none() {
        return 0..text.len();
    }
    let wanted = columns.saturating_sub(2);
    let before = BEFORE.max(wanted / 3).min(wanted / 2);
    let start = span.map_or(0, |span| span.start);
    let back = |count: usize| {
        let before = text[..start].char_indices().rev().nth(count.saturating_sub(1));
        before.map(|(at, _)| at)
    };
    let first = back(wanted).and_then(|_| back(before)).unwrap_or(0);
    let end = text[first..].char_indices().nth(wanted);
    first..end.map_or(text.len(), |(at, _)| first + at)
}

fn shortened(text: &str, columns: usize) -> String {
    crate::terminal::measure::cut(&in_line(text), columns.clamp(MINIMUM, LONGEST))
}

fn ink(role: &str) -> ColorRole {
    match role {
        "user" => ColorRole::User,
        "assistant" => ColorRole::Assistant,
        "tool" => ColorRole::Tool,
        _ => ColorRole::System,
    }
}

/// Converts a text to a tab-separated value.
fn value(text: &str) -> Cow<'_, str> {
    match visible(text) {
        // A line may be as long as a session: not copied unless it changes.
        text if memchr::memchr2(b'\t', b'\n', text.as_bytes()).is_none() => text,
        text => text.replace(['\t', '\n'], " ").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_around_its_match() {
        let text = format!("{}match{}", "é".repeat(500), "b".repeat(500));
        let span = 1000..1005;
        for columns in 20..200 {
            let shown = window(&text, Some(&span), columns);
            assert!(text[shown.clone()].contains("match"), "{columns}");
            assert!(text[shown].chars().count() <= columns, "{columns}");
        }
        assert_eq!(window("short", None, 20), 0..5);
        assert_eq!(
            &"match and more of it"[window("match and more of it", Some(&(0..5)), 12)],
            "match and "
        );
    }
}
