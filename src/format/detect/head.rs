//! The beginning of an input, as far as it is examined.

use crate::model::json::{self, Dialect, JsonError};

/// Number of bytes examined.
pub const HEAD: usize = 64 * 1024;

/// Number of lines that vote.
const VOTERS: usize = 50;

/// Information other than the bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// File name without directory.
    pub name: Option<&'a str>,
    /// Whether `<stem>.meta.json` exists next to the file.
    pub sidecar: bool,
}

/// Whether a multi-line value starts here, as far as visible.
pub(super) fn is_spread(text: &[u8], whole: bool) -> bool {
    let end = match json::value_end(text, 0, Dialect::Python) {
        Ok(end) => end,
        Err(fault) if is_cut(&fault, text, whole) => text.len(),
        Err(_) => return false,
    };
    matches!(text[0], b'{' | b'[') && memchr::memchr(b'\n', &text[..end]).is_some()
}

/// Whether a value is incomplete only because the head ends: the fault is an unterminated string or list, or at the end
/// of the head.
pub(super) fn is_cut(fault: &JsonError, text: &[u8], whole: bool) -> bool {
    !whole && (fault.what.starts_with("unterminated") || fault.offset >= text.len())
}

/// The complete lines: one truncated by the end of the head does not vote.
pub(super) fn whole_lines(text: &[u8], whole: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if !whole || lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let mut lines: Vec<&[u8]> = lines
        .into_iter()
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect();
    lines.retain(|line| !line.trim_ascii_start().is_empty());
    lines.truncate(VOTERS);
    lines
}

/// The start of a text, shortened for a message.
pub(super) fn excerpt(text: &[u8]) -> String {
    let shown: String = String::from_utf8_lossy(&text[..text.len().min(160)])
        .chars()
        .take(40)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    format!("{shown:?}")
}
