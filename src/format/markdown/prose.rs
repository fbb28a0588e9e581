//! Embeds the text of messages in a page: Markdown is kept as far as it cannot break out of its position.

use super::{fence, target};

/// Words that start the headings of a page. A text with such a heading could be mistaken for another message.
const SPEAKERS: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "summary"];

/// Which images of a text a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImagePolicy {
    /// Inline ones; others become links.
    Embedded,
    /// Also remote ones, which are requested from their servers when the page is opened.
    Remote,
}

/// Embeds a text in a page.
pub fn of(text: &str, images: ImagePolicy) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim_end_matches('\n');
    match without_tags(text, images) {
        Some(tamed) => tamed + "\n",
        None => fence::block(text, "text"),
    }
}

/// Embeds a text in a collapsible element, whose content Python-Markdown treats as HTML, so that code spans do not
/// escape tags.
pub fn in_fold(text: &str, images: ImagePolicy) -> String {
    match has_tag(text) && text.contains('`') {
        true => fence::block(text.trim_end_matches(['\n', '\r']), "text"),
        false => of(text, images),
    }
}

/// Escapes all Markdown in a single line of text.
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            c if c.is_control() => out.push(' '),
            // Python-Markdown cannot escape these two with a backslash.
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '>' | '#' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

struct OpenFence {
    mark: char,
    length: usize,
    indent: usize,
    /// Whether Python-Markdown also treats it as a fence: not indented, and followed by at most one word.
    common: bool,
}

/// The text with tags escaped; `None` if it could break out of its position.
fn without_tags(text: &str, images: ImagePolicy) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut open: Option<OpenFence> = None;
    let mut before = "";
    // An unclosed run of backticks may be closed on another line; then code cannot be determined line by line.
    let spans = text.split('\n').all(|line| is_border(line) || is_paired(line));
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        if !out.is_empty() || !before.is_empty() {
            out.push('\n');
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let rest = line.trim_start_matches(' ');
        let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let length = mark.map_or(0, |mark| rest.chars().take_while(|c| *c == mark).count());
        if let Some(fence) = &open {
            let ends = mark == Some(fence.mark) && length >= fence.length && rest[length..].trim().is_empty();
            // A fence in a list item ends with the item.
            let leaves = !rest.trim().is_empty() && indent < fence.indent;
            // Python-Markdown treats other fences as text, in which tags are active.
            let shows = !fence.common && has_tag(line);
            let unequal = ends && fence.common && (length != fence.length || indent > 0);
            if leaves || shows || unequal || (ends && indent > 3 && fence.indent <= 3) {
                return None;
            }
            out.push_str(line);
            if ends {
                open = None;
            }
            before = "";
            continue;
        }
        let begins = length >= 3 && !(mark == Some('`') && rest[length..].contains('`'));
        if let (true, Some(mark)) = (begins, mark) {
            let word = rest[length..].trim();
            let named = word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_#.+-".contains(&byte));
            open = Some(OpenFence {
                mark,
                length,
                indent,
                common: indent == 0 && named,
            });
            out.push_str(line);
            before = "";
            continue;
        }
        let next = lines.peek().copied().unwrap_or_default();
        if begins_metadata(line, next) {
            return None;
        }
        // After markers of quotations and lists, the end of a fence is not detected here.
        let inner = rest.trim_start_matches(|c: char| "> \t-+*.):".contains(c) || c.is_ascii_digit());
        if inner.len() < rest.len() && (inner.starts_with("```") || inner.starts_with("~~~")) {
            return None;
        }
        if is_heading(inner) || (is_underline(rest) && starts_like_heading(before)) {
            return None;
        }
        escape_line(line, next, (spans, images), &mut out);
        before = rest;
    }
    open.is_none().then_some(out)
}

/// Whether a line and the next start a block that some renderers treat as metadata up to the next such line, including
/// headings of messages.
fn begins_metadata(line: &str, next: &str) -> bool {
    matches!(line.trim_end(), "---" | "+++") && !next.trim().is_empty()
}

/// Whether a line is a heading that resembles one of the page.
fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=2).contains(&level) && line[level..].starts_with([' ', '\t']) && starts_like_heading(&line[level..])
}

/// Whether a line turns the previous one into a heading, also in a quotation or list.
fn is_underline(line: &str) -> bool {
    let line = line.trim_end_matches([' ', '\t']);
    let bare = line.trim_end_matches(['=', '-']);
    bare.len() < line.len()
        && bare
            .chars()
            .all(|c| "> \t-+*.):".contains(c) || c.is_ascii_digit())
}

/// Whether a text starts with a word that starts headings of a page.
fn starts_like_heading(text: &str) -> bool {
    let bare: String = text
        .chars()
        .filter(|c| c.is_alphanumeric() || c.is_whitespace())
        .collect();
    let first = bare.split_whitespace().next().unwrap_or_default().to_lowercase();
    SPEAKERS.contains(&first.as_str())
}

/// Whether a line may contain a tag.
fn has_tag(line: &str) -> bool {
    memchr::memchr_iter(b'<', line.as_bytes()).any(|at| begins_tag(line.as_bytes(), at))
}

/// Whether a tag may start at this offset.
fn begins_tag(bytes: &[u8], at: usize) -> bool {
    let next = bytes.get(at + 1);
    next.is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?'))
}

/// The end of the next token of a line (an escape, a code span, or other text), and whether it is code.
fn piece(bytes: &[u8], at: usize) -> (usize, bool) {
    match bytes[at] {
        b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => (at + 2, true),
        b'`' => {
            let run = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
            match closing(&bytes[at + run..], run) {
                Some(end) => (at + run + end, true),
                None => (at + run, false),
            }
        }
        _ => {
            let special = |byte: &u8| matches!(byte, b'\\' | b'`' | b'<' | b'!' | b']' | b'{');
            let next = bytes[at + 1..].iter().position(special);
            (next.map_or(bytes.len(), |next| at + 1 + next), true)
        }
    }
}

/// Whether a line can only start or end a fence.
fn is_border(line: &str) -> bool {
    let rest = line.trim_start_matches(' ');
    let bare = rest.trim_start_matches('`');
    line.len() - rest.len() <= 3 && rest.len() - bare.len() >= 3 && !bare.contains('`')
}

/// Whether every run of backticks in a line is closed in it.
fn is_paired(line: &str) -> bool {
    let mut at = 0;
    while at < line.len() {
        let (end, paired) = piece(line.as_bytes(), at);
        if !paired {
            return false;
        }
        at = end;
    }
    true
}

/// Appends a line with tags, unsafe links, unwanted images and attribute lists (of Python-Markdown) escaped. With
/// `spans`, text between backticks is code.
fn escape_line(line: &str, next: &str, (spans, images): (bool, ImagePolicy), out: &mut String) {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &line[at..];
        let replaced = match bytes[at] {
            // As an entity, because Python-Markdown cannot escape it.
            b'<' if begins_tag(bytes, at) => Some(("&lt;", 1)),
            b'\\' if rest.starts_with("\\<") && begins_tag(bytes, at + 1) => Some(("&lt;", 2)),
            b'!' if rest.starts_with("![") && !is_shown(rest, images) => Some(("\\!", 1)),
            b']' if rest.starts_with("](") && !has_safe_target(rest, next) => Some(("]\\(", 2)),
            b']' if rest.starts_with("]:") && !has_safe_target(rest, next) => Some(("]\\:", 2)),
            b'{' if has_attributes(rest) => Some(("\\{", 1)),
            _ => None,
        };
        if let Some((text, length)) = replaced {
            out.push_str(text);
            at += length;
            continue;
        }
        let end = match bytes[at] {
            b'`' if !spans => at + 1,
            _ => piece(bytes, at).0,
        };
        out.push_str(&line[at..end]);
        at = end;
    }
}

/// Whether the address after `](` or `]:` is safe; it may be on the next line.
fn has_safe_target(rest: &str, next: &str) -> bool {
    let address = target::at_start(&rest[2..]);
    target::is_safe(if address.is_empty() {
        target::at_start(next)
    } else {
        address
    })
}

/// Whether a page shows the image that starts here.
fn is_shown(rest: &str, images: ImagePolicy) -> bool {
    match rest.find("](").map(|at| target::at_start(&rest[at + 2..])) {
        Some(address) => {
            target::is_embedded_image(address) || images == ImagePolicy::Remote && target::is_remote(address)
        }
        // Its address is in a definition, and unsafe definitions are escaped.
        None => images == ImagePolicy::Remote,
    }
}

/// Whether this may be an attribute list, which Python-Markdown converts to attributes such as `onclick`.
fn has_attributes(rest: &str) -> bool {
    rest.find('}').is_some_and(|end| rest[..end].contains('='))
}

/// The end of a closing run of this many backticks.
fn closing(bytes: &[u8], length: usize) -> Option<usize> {
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
        if run == length {
            return Some(at + run);
        }
        at += run.max(1);
    }
    None
}
