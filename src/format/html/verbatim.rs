//! Writes text of tools verbatim.

use super::escape;
use crate::model::visible::thousands;

/// Maximum lines of a part or argument on a page.
pub const LINES: usize = 400;

/// Maximum bytes of a tool's text on a page.
pub const BYTES: usize = 128 << 10;

/// Appends text verbatim, truncated to a number of lines.
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
