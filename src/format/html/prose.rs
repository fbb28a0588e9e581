//! Converts Markdown to HTML. HTML in it is escaped, and links have one of three schemes.

use super::escape::{self, escaped};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag};

/// Maximum nesting of elements; deeper ones are dropped, but not their text.
const DEEPEST: usize = 40;

/// Heading level of messages.
const MESSAGE: usize = 2;

/// Appends Markdown as HTML.
pub fn push(out: &mut String, text: &str) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = ProsePage {
        out,
        closing: Vec::new(),
        level: MESSAGE,
        aligned: Vec::new(),
        column: 0,
        is_head: false,
        links: 0,
    };
    for event in Parser::new_ext(text, options) {
        page.event(event);
    }
}

struct ProsePage<'o> {
    out: &'o mut String,
    /// The end tags of open elements.
    closing: Vec<String>,
    /// Level of the last heading, so that no level is skipped.
    level: usize,
    aligned: Vec<Alignment>,
    column: usize,
    is_head: bool,
    /// Number of open links, because links cannot be nested.
    links: usize,
}

impl ProsePage<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => escape::push(self.out, &text),
            Event::Code(text) => {
                self.out.push_str("<code>");
                escape::push(self.out, &text);
                self.out.push_str("</code>");
            }
            // Line breaks in messages are intended.
            Event::SoftBreak | Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(done) => self.out.push_str(if done { "\u{2611} " } else { "\u{2610} " }),
            // These extensions are not enabled.
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        if self.closing.len() >= DEEPEST {
            self.out.push(' ');
            return self.closing.push(String::new());
        }
        let closing = match tag {
            Tag::Paragraph => self.element("p"),
            Tag::HtmlBlock => {
                self.out.push_str("<p class=\"html\">");
                "</p>\n".to_string()
            }
            Tag::Heading { level, .. } => {
                self.level = (level as usize + MESSAGE).min(self.level + 1).min(6);
                self.element(["h3", "h4", "h5", "h6"][self.level - 3])
            }
            Tag::BlockQuote(_) => self.element("blockquote"),
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => language(info),
                    CodeBlockKind::Indented => "",
                };
                self.out.push_str("<pre><code");
                if !language.is_empty() {
                    self.out
                        .push_str(&format!(" class=\"language-{}\"", escaped(language)));
                }
                self.out.push('>');
                "</code></pre>\n".to_string()
            }
            Tag::List(None) => self.element("ul"),
            Tag::List(Some(first)) => {
                self.out.push_str(&match first {
                    1 => "<ol>".to_string(),
                    first => format!("<ol start=\"{first}\">"),
                });
                "</ol>\n".to_string()
            }
            Tag::Item => self.element("li"),
            Tag::Table(aligned) => {
                self.aligned = aligned;
                self.out.push_str(
                    "<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"table\"><table>",
                );
                "</table></div>\n".to_string()
            }
            Tag::TableHead => {
                (self.column, self.is_head) = (0, true);
                self.out.push_str("<thead><tr>");
                "</tr></thead>\n".to_string()
            }
            Tag::TableRow => {
                (self.column, self.is_head) = (0, false);
                self.element("tr")
            }
            Tag::TableCell => {
                let class = match self.aligned.get(self.column) {
                    Some(Alignment::Right) => " class=\"right\"",
                    Some(Alignment::Center) => " class=\"center\"",
                    _ => "",
                };
                self.column += 1;
                let name = if self.is_head { "th" } else { "td" };
                self.out.push_str(&format!("<{name}{class}>"));
                format!("</{name}>")
            }
            Tag::Emphasis => self.inline("em"),
            Tag::Strong => self.inline("strong"),
            Tag::Strikethrough => self.inline("del"),
            Tag::Link { dest_url, .. } => self.link(&dest_url, ""),
            Tag::Image { dest_url, .. } => self.link(&dest_url, "image: "),
            _ => String::new(),
        };
        self.closing.push(closing);
    }

    fn end(&mut self) {
        let closing = self.closing.pop().unwrap_or_default();
        if closing == "</a>" {
            self.links -= 1;
        }
        self.out.push_str(&closing);
    }

    fn element(&mut self, name: &str) -> String {
        self.inline(name) + "\n"
    }

    fn inline(&mut self, name: &str) -> String {
        self.out.push_str(&format!("<{name}>"));
        format!("</{name}>")
    }

    /// A link, or its text followed by the address if a page must not link to it.
    fn link(&mut self, address: &str, before: &str) -> String {
        if is_address(address) && self.links == 0 {
            self.links += 1;
            self.out.push_str(&anchor(address));
            self.out.push_str(before);
            return "</a>".to_string();
        }
        self.out.push_str(before);
        match address.is_empty() {
            true => String::new(),
            false => format!(" ({})", escaped(address)),
        }
    }
}

/// The first word after a fence.
fn language(info: &str) -> &str {
    let end = info.find(|c: char| c.is_whitespace() || c == ',');
    let word = &info[..end.unwrap_or(info.len())];
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"+#._-".contains(&byte);
    match word.len() <= 32 && word.bytes().all(is_name) {
        true => word,
        false => "",
    }
}

/// Whether a page may link to an address.
pub fn is_address(address: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| {
        let start = address.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// The start of a link.
pub fn anchor(address: &str) -> String {
    format!(
        "<a href=\"{}\" rel=\"noopener noreferrer nofollow\">",
        escaped(address)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> String {
        let mut out = String::new();
        push(&mut out, text);
        out
    }

    #[test]
    fn markdown_becomes_elements() {
        for (text, expected) in [
            ("a\nb", "<p>a<br>b</p>\n"),
            ("# A\n\n### B", "<h3>A</h3>\n<h4>B</h4>\n"),
            (
                "1. x\n2. **y**",
                "<ol><li>x</li>\n<li><strong>y</strong></li>\n</ol>\n",
            ),
            (
                "3. x\n- [x] d",
                "<ol start=\"3\"><li>x</li>\n</ol>\n<ul><li>\u{2611} d</li>\n</ul>\n",
            ),
            (
                "```rust x\n<a>\n```",
                "<pre><code class=\"language-rust\">&lt;a&gt;\n</code></pre>\n",
            ),
            ("```\"><i>\nx\n```", "<pre><code>x\n</code></pre>\n"),
            ("a `<b>` ~~c~~", "<p>a <code>&lt;b&gt;</code> <del>c</del></p>\n"),
            (
                "|a|b|\n|-|-:|\n|1|2|",
                "<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"table\"><table><thead><tr><th>a</th>\
                 <th class=\"right\">b</th></tr></thead>\n<tr><td>1</td><td class=\"right\">2</td></tr>\n</table></div>\n",
            ),
        ] {
            assert_eq!(page(text), expected, "{text}");
        }
    }

    #[test]
    fn links_without_a_known_scheme_are_text() {
        let link = "<a href=\"https://a/?b&amp;c\" rel=\"noopener noreferrer nofollow\">";
        assert_eq!(page("[x](https://a/?b&c)"), format!("<p>{link}x</a></p>\n"));
        assert_eq!(
            page("![x](https://a/?b&c)"),
            format!("<p>{link}image: x</a></p>\n")
        );
        assert_eq!(
            page("[![x](http://i)](https://a/?b&c)"),
            format!("<p>{link}image: x (http://i)</a></p>\n")
        );
        for (text, expected) in [
            ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
            ("[x](java&#115;cript:a)", "x (javascript:a)"),
            ("[x](src/a.rs)", "x (src/a.rs)"),
            ("[x](<java\tscript:a>)", "x (java\tscript:a)"),
            ("[x](data:text/html,y)", "x (data:text/html,y)"),
            ("<img src=x onerror=y>", "&lt;img src=x onerror=y&gt;"),
        ] {
            let shown = page(text).replace("<p>", "").replace("<p class=\"html\">", "");
            assert!(shown.starts_with(expected), "{text}: {shown}");
            assert!(
                !page(text).contains("<a") && !page(text).contains("<img"),
                "{text}"
            );
        }
    }

    #[test]
    fn ten_thousand_quotes_are_a_few_elements() {
        let shown = page(&format!("{} deep", ">".repeat(10_000)));
        assert!(shown.contains("deep") && shown.matches("<blockquote>").count() <= DEEPEST);
    }
}
