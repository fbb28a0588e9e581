//! A manual page from text in a small part of Markdown: headings, paragraphs, `term` lines with a `:` paragraph
//! below, indented examples and code. The output is man(7), for groff and mandoc alike.

/// A page in the making.
#[derive(Debug, Default)]
pub struct Page(String);

/// Date of the pages. Fixed, so that the same program makes the same pages; set with the version.
const DATE: &str = "2026-11-20";

impl Page {
    /// A page with its title line; `name` as in `convo-append`.
    pub fn new(name: &str, section: u8) -> Page {
        let mut page = Page::default();
        let title = format!(
            ".TH {} {section} {DATE} \"convo {}\" \"convo manual\"",
            plain(&name.to_uppercase()),
            env!("CARGO_PKG_VERSION")
        );
        page.line(".\\\" Made by `convo generate man`; not to be edited.");
        page.line(&title);
        page
    }

    /// The page's source, its text in lines of at most 80 bytes where it has spaces.
    pub fn finish(self) -> String {
        let mut out = String::with_capacity(self.0.len() + 256);
        let (mut literal, mut term) = (false, false);
        for line in self.0.lines() {
            literal = line == ".EX" || (literal && line != ".EE");
            if literal || term || line.starts_with('.') {
                out.push_str(line);
                out.push('\n');
            } else {
                wrap(line, &mut out);
            }
            term = line == ".TP"; // the line below it, all of it
        }
        out
    }

    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Source as it is.
    pub fn source(&mut self, source: &str) {
        self.0.push_str(source);
    }

    /// A heading.
    pub fn heading(&mut self, heading: &str) {
        self.line(&format!(".SH {}", plain(heading)));
    }

    /// A heading below a heading.
    pub fn heading_below(&mut self, heading: &str) {
        self.line(&format!(".SS {}", plain(heading)));
    }

    /// A term and what it means.
    pub fn item(&mut self, term: &str, meaning: &str) {
        self.line(".TP");
        self.line(&inline(term));
        self.line(&inline(meaning));
    }

    /// A line of text.
    pub fn text(&mut self, text: &str) {
        self.line(&inline(text));
    }

    /// A paragraph begins.
    pub fn paragraph(&mut self) {
        self.line(".PP");
    }

    /// Lines as they are.
    pub fn example<'t>(&mut self, lines: impl IntoIterator<Item = &'t str>) {
        self.line(".RS 2");
        self.line(".EX");
        for line in lines {
            self.line(&guarded(plain(line)));
        }
        self.line(".EE");
        self.line(".RE");
    }

    /// Text with several blocks, between blank lines; `{name}` alone in a block is filled in by `fill`.
    pub fn blocks(&mut self, text: &str, mut fill: impl FnMut(&mut Page, &str)) {
        let mut begun = true; // behind a heading no paragraph begins
        for block in text.split("\n\n").map(|block| block.trim_matches('\n')) {
            let lines: Vec<&str> = block.lines().collect();
            let Some(first) = lines.first() else { continue };
            if let Some(heading) = first.strip_prefix("## ") {
                self.heading_below(heading);
            } else if let Some(heading) = first.strip_prefix("# ") {
                self.heading(heading);
            } else if let Some(name) = block.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                fill(self, name);
            } else if first.starts_with("    ") {
                if !begun {
                    self.paragraph();
                }
                self.example(lines.iter().map(|line| line.get(4..).unwrap_or_default()));
            } else if let Some(meaning) = lines.get(1).and_then(|line| line.strip_prefix(": ")) {
                let rest = lines[2..].iter().map(|line| line.trim_start());
                let meaning: Vec<&str> = std::iter::once(meaning).chain(rest).collect();
                self.item(first, &meaning.join(" "));
            } else {
                if !begun {
                    self.paragraph();
                }
                self.text(&lines.join(" "));
            }
            begun = first.starts_with('#');
        }
    }
}

/// Text with everything escaped that roff would take for its own.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            c => out.push(c),
        }
    }
    out
}

/// Appends a line of text in pieces; roff fills its lines anew.
fn wrap(line: &str, out: &mut String) {
    let mut length = 0;
    for (nth, word) in line.split(' ').enumerate() {
        let word = guarded(word.to_string());
        if nth > 0 && length + word.len() >= 80 {
            out.push('\n');
            length = 0;
        } else if nth > 0 {
            out.push(' ');
            length += 1;
        }
        out.push_str(&word);
        length += word.len();
    }
    out.push('\n');
}

/// A line that is no request, whatever it begins with.
fn guarded(line: String) -> String {
    if line.starts_with('.') {
        format!("\\&{line}")
    } else {
        line
    }
}

/// Text with code in bold.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for (nth, piece) in text.split('`').enumerate() {
        if nth % 2 == 1 {
            out.push_str(&format!("\\fB{}\\fR", plain(piece)));
        } else {
            out.push_str(&plain(piece));
        }
    }
    guarded(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_source() {
        let mut page = Page::default();
        let text = "# NAME\n\n.a `b-c` d\ne\n\nf\n\n`-x`\n: g\n  h\n\n    'i\\\n\n{here}\n";
        page.blocks(text, |page, name| page.text(name));
        assert_eq!(
            page.finish(),
            ".SH NAME\n\\&.a \\fBb\\-c\\fR d e\n.PP\nf\n.TP\n\\fB\\-x\\fR\ng h\n\
             .PP\n.RS 2\n.EX\n\\(aqi\\e\n.EE\n.RE\nhere\n"
        );
    }
}
