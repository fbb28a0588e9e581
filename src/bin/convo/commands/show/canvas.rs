//! Collects lines of text for a terminal or a pipe: colored, wrapped by display width.

use crate::output::visible;
use crate::terminal::palette::{ColorRole, Palette, RESET};
use std::borrow::Cow;

/// A text built line by line.
pub struct Canvas {
    /// The lines so far.
    pub text: String,
    /// Width in columns at which lines are wrapped; none: not wrapped.
    pub width: Option<usize>,
    pub palette: Palette,
}

impl Canvas {
    /// Adds a line verbatim.
    pub fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end_matches(' '));
        self.text.push('\n');
    }

    pub fn paint(&self, ink: ColorRole, text: &str) -> String {
        self.palette.paint(ink, text)
    }

    /// Adds wrapped text that may contain colors and newlines. `first` indents the first line, `rest` all others.
    pub fn wrapped(&mut self, first: &str, rest: &str, text: &str) {
        let mut open = String::new();
        for (nth, line) in text.split('\n').enumerate() {
            let first = if nth == 0 { first } else { rest };
            let Some(width) = self.width else {
                self.line(&format!("{first}{line}"));
                continue;
            };
            let options = textwrap::Options::new(width)
                .initial_indent(first)
                .subsequent_indent(rest);
            for (nth, line) in textwrap::wrap(line, options).into_iter().enumerate() {
                let indent = if nth == 0 { first } else { rest };
                let line = self.recolored(&line, indent, &mut open);
                self.line(&line);
            }
        }
    }

    /// Opens and closes the colors of a wrapped line on the line itself.
    fn recolored<'l>(&self, line: &'l str, indent: &str, open: &mut String) -> Cow<'l, str> {
        if !self.palette.is_colored() {
            return line.into();
        }
        let content = line.strip_prefix(indent).unwrap_or(line);
        let before = std::mem::take(open);
        open.push_str(&before);
        let mut rest = content;
        while let Some(start) = rest.find("\x1b[") {
            let end = rest[start..].find('m').map_or(rest.len(), |end| start + end + 1);
            match &rest[start..end] {
                RESET => open.clear(),
                code => open.push_str(code),
            }
            rest = &rest[end..];
        }
        if before.is_empty() && open.is_empty() {
            return line.into();
        }
        let indent = &line[..line.len() - content.len()];
        let end = if open.is_empty() { "" } else { RESET };
        format!("{indent}{before}{content}{end}").into()
    }

    /// Adds indented text of at most `most` lines. If text is folded, long lines such as those of a minified file are
    /// cut.
    pub fn paragraph(&mut self, indent: &str, text: &str, most: usize, ink: Option<ColorRole>) {
        let text = self.shown(text);
        let text = text.trim_end_matches('\n');
        let limit = if most == usize::MAX { usize::MAX } else { LONGEST };
        let count = match most {
            usize::MAX => 0,
            _ => text.split('\n').count(),
        };
        for line in text.split('\n').take(most) {
            let cut = line
                .char_indices()
                .nth(limit)
                .map_or(line, |(end, _)| &line[..end]);
            let mut cut = match ink {
                Some(ink) => self.paint(ink, cut),
                None => cut.to_string(),
            };
            let more = line.len() - line.char_indices().nth(limit).map_or(line.len(), |(end, _)| end);
            if more > 0 {
                cut.push_str(&self.paint(ColorRole::Dim, &format!(" … {more} more bytes")));
            }
            self.wrapped(indent, indent, &cut);
        }
        self.more(indent, count.saturating_sub(most));
    }

    /// Adds a note with the number of folded lines.
    pub fn more(&mut self, indent: &str, lines: usize) {
        if lines > 0 {
            let ending = if lines == 1 { "" } else { "s" };
            let text = self.paint(ColorRole::Dim, &format!("… {lines} more line{ending} (--full)"));
            self.wrapped(indent, indent, &text);
        }
    }

    /// Escapes terminal control characters; on a terminal, also expands tabs.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.width.is_none() {
            return visible(text);
        }
        match text.contains(['\t', '\r']) {
            true => visible(&text.replace("\r\n", "\n").replace('\t', "    "))
                .into_owned()
                .into(),
            false => visible(text),
        }
    }
}

/// Characters of a line before it is cut.
const LONGEST: usize = 400;
