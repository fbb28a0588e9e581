//! Renders Markdown as lines for a terminal.

use super::canvas::Canvas;
use super::table::MarkdownTable;
use crate::output::visible;
use crate::terminal::palette::{ColorRole, RESET};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Maximum nesting of quotes and lists that is indented.
const DEEPEST: usize = 6;

/// Renders Markdown on the canvas. Keeps newlines in paragraphs, because people write them on purpose.
pub fn render(canvas: &mut Canvas, indent: &str, text: &str) {
    let text = canvas.shown(text).into_owned();
    let mut page = MarkdownPage {
        canvas,
        blocks: vec![LinePrefixes {
            first: None,
            rest: indent.to_string(),
        }],
        inline: String::new(),
        inks: Vec::new(),
        links: Vec::new(),
        lists: Vec::new(),
        table: None,
        code: None,
        gap: false,
    };
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        page.event(event);
    }
    page.flush();
}

/// Prefixes of the lines of a quote or a list item.
struct LinePrefixes {
    /// Prefix of the first line, until that is written.
    first: Option<String>,
    rest: String,
}

struct MarkdownPage<'c> {
    canvas: &'c mut Canvas,
    blocks: Vec<LinePrefixes>,
    /// Text of the current paragraph, with its colors.
    inline: String,
    inks: Vec<ColorRole>,
    links: Vec<String>,
    /// The next number of each open list; none for an unnumbered list.
    lists: Vec<Option<u64>>,
    table: Option<MarkdownTable>,
    /// The current code block.
    code: Option<String>,
    /// Whether a blank line precedes the next block.
    gap: bool,
}

impl MarkdownPage<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.push(&text),
            },
            Event::Code(text) => match self.canvas.palette.is_colored() {
                true => self.colored(ColorRole::Code, &text),
                false => self.push(&format!("`{text}`")),
            },
            Event::SoftBreak | Event::HardBreak => self.inline.push('\n'),
            Event::Rule => {
                self.flush();
                self.inline = self.canvas.paint(ColorRole::Dim, "────────");
                self.end_block();
            }
            // Extensions that are not enabled.
            Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.flush();
                if self.canvas.palette.is_colored() {
                    self.open(ColorRole::Heading);
                } else {
                    self.inline.push_str(&"#".repeat(level as usize));
                    self.inline.push(' ');
                }
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.blank();
                let bar = self.canvas.paint(ColorRole::Dim, "│ ");
                self.nest(None, &bar);
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.code = Some(String::new());
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                    && !self.canvas.palette.is_colored()
                {
                    self.inline = format!("  [{}]", visible(&language));
                    self.flush();
                }
            }
            Tag::HtmlBlock | Tag::Paragraph => self.flush(),
            Tag::List(number) => {
                self.flush();
                // A nested list follows the text of its item without a blank line.
                self.gap &= self.lists.is_empty();
                self.lists.push(number);
            }
            Tag::Item => {
                self.flush();
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_string(),
                };
                self.nest(Some(&marker), &" ".repeat(textwrap::core::display_width(&marker)));
            }
            Tag::Table(_) => {
                self.flush();
                self.table = Some(MarkdownTable::default());
            }
            Tag::Emphasis => self.open(ColorRole::Emphasis),
            Tag::Strong => self.open(ColorRole::Heading),
            Tag::Link { dest_url, .. } => {
                self.links.push(visible(&dest_url).into_owned());
                self.open(ColorRole::Link);
            }
            Tag::Image { dest_url, .. } => {
                self.push("[image: ");
                self.links.push(visible(&dest_url).into_owned());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.close();
                self.end_block();
            }
            TagEnd::Paragraph => self.end_block(),
            TagEnd::HtmlBlock => {
                self.inline.truncate(self.inline.trim_end().len());
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.blocks.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                self.code(&code);
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.gap |= self.lists.is_empty();
            }
            TagEnd::Item => {
                let is_empty = self.blocks.last().is_some_and(|block| block.first.is_some());
                match is_empty && self.inline.is_empty() {
                    true => self.put(""),
                    false => self.flush(),
                }
                self.blocks.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.cell(cell.replace('\n', " "));
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::Table => self.table(),
            TagEnd::Emphasis | TagEnd::Strong => self.close(),
            TagEnd::Link => {
                self.close();
                let address = self.links.pop().unwrap_or_default();
                let bare = address.strip_prefix("mailto:").unwrap_or(&address);
                if !address.is_empty() && !self.inline_ends_with(bare) {
                    self.inline.push_str(" (");
                    self.colored(ColorRole::Link, &address);
                    self.inline.push(')');
                }
            }
            TagEnd::Image => {
                let address = self.links.pop().unwrap_or_default();
                self.push(&format!("] ({address})"));
            }
            _ => {}
        }
    }

    /// Whether the current text ends with this one, ignoring colors.
    fn inline_ends_with(&self, text: &str) -> bool {
        self.inline.trim_end_matches(RESET).ends_with(text)
    }

    fn nest(&mut self, first: Option<&str>, rest: &str) {
        let outer = self.blocks.last_mut();
        let (mut before_first, mut before) = (String::new(), String::new());
        if let Some(outer) = outer {
            before.push_str(&outer.rest);
            before_first = outer.first.take().unwrap_or_else(|| outer.rest.clone());
        }
        if self.blocks.len() <= DEEPEST {
            before.push_str(rest);
        }
        // If an item begins with another block, its marker is written on the first line of that block.
        let first = match first {
            Some(first) => Some(before_first + first),
            None if before_first != self.blocks.last().map_or("", |outer| &outer.rest) => {
                Some(before_first + rest)
            }
            None => None,
        };
        self.blocks.push(LinePrefixes { first, rest: before });
    }

    /// Adds session text; escapes control characters, which an HTML entity may have encoded.
    fn push(&mut self, text: &str) {
        self.inline.push_str(&visible(text));
    }

    fn colored(&mut self, ink: ColorRole, text: &str) {
        self.open(ink);
        self.push(text);
        self.close();
    }

    fn open(&mut self, ink: ColorRole) {
        self.inline.push_str(&self.canvas.palette.open(ink));
        self.inks.push(ink);
    }

    /// Closes the innermost color and reopens the outer ones.
    fn close(&mut self) {
        if self.inks.pop().is_none() || !self.canvas.palette.is_colored() {
            return;
        }
        self.inline.push_str(RESET);
        for ink in &self.inks {
            self.inline.push_str(&self.canvas.palette.open(*ink));
        }
    }

    fn end_block(&mut self) {
        self.flush();
        self.gap = true;
    }

    /// Writes the current paragraph.
    fn flush(&mut self) {
        if !self.inline.is_empty() {
            let text = std::mem::take(&mut self.inline);
            self.put(&text);
        }
    }

    fn put(&mut self, text: &str) {
        let (first, rest) = self.indents();
        self.canvas.wrapped(&first, &rest, text);
    }

    /// Writes a pending blank line, and returns the prefixes of the first and the other lines.
    fn indents(&mut self) -> (String, String) {
        self.blank();
        let Some(block) = self.blocks.last_mut() else {
            return Default::default();
        };
        let rest = block.rest.clone();
        let first = block.first.take().unwrap_or_else(|| rest.clone());
        (first, rest)
    }

    /// Writes a pending blank line with the prefix of the enclosing quotes.
    fn blank(&mut self) {
        if std::mem::take(&mut self.gap) {
            let around = match &self.blocks[..] {
                [.., outer, LinePrefixes { first: Some(_), .. }] | [.., outer] => outer.rest.clone(),
                [] => String::new(),
            };
            self.canvas.line(&around);
        }
    }

    fn code(&mut self, code: &str) {
        let (first, rest) = self.indents();
        let (mut first, rest) = (format!("{first}  "), format!("{rest}  "));
        for line in visible(code).trim_end_matches('\n').split('\n') {
            let line = self.canvas.paint(ColorRole::Code, line);
            self.canvas.wrapped(&first, &rest, &line);
            first.clone_from(&rest);
        }
        self.gap = true;
    }

    fn table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let (first, rest) = self.indents();
        table.draw(self.canvas, &first, &rest);
        self.gap = true;
    }
}
