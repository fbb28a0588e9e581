//! Text of tools, as it is.

use super::escape;
use crate::model::visible::thousands;

/// Lines of a part or an argument that a page shows.
pub const LINES: usize = 400;

/// Bytes of a text of a tool that a page shows.
pub const BYTES: usize = 128 << 10;

/// Text as it is, cut to so many lines.
pub fn push(out: &mut String, class: &str, text: &str, lines: usize) {
    let mut end = text.len().min(BYTES);
    let mut starts =
        std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|line| line + 1));
    if let Some(start) = starts.nth(lines) {
        end = end.min(start);
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    out.push_str(&format!("<pre class=\"{class}\" dir=\"auto\">\n"));
    escape::push(out, &text[..end]);
    out.push_str("</pre>\n");
    let rest = &text[end..];
    if !rest.trim().is_empty() {
        let (lines, bytes) = (rest.lines().count() as u64, rest.len() as u64);
        out.push_str(&format!(
            "<p class=\"mark\">\u{2026} {} more lines, {} bytes</p>\n",
            thousands(lines),
            thousands(bytes)
        ));
    }
}
