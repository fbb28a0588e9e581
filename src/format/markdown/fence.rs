//! Code fences and code spans that their content cannot close.

use crate::model::json;

/// The longest run of backticks in a text.
fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A code block; `kind` is its info string.
pub fn block(text: &str, kind: &str) -> String {
    let marks = "`".repeat((longest_run(text) + 1).max(3));
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{marks}{kind}\n{text}{end}{marks}\n")
}

/// A code block for a text that may be JSON.
pub fn data(text: &str) -> String {
    let bytes = text.trim().as_bytes();
    let object = matches!(bytes.first(), Some(b'{' | b'['));
    let whole = object && json::is_value(bytes);
    block(text, if whole { "json" } else { "" })
}

/// An inline code span.
pub fn span(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.trim().is_empty() {
        return "` `".to_string();
    }
    let marks = "`".repeat(longest_run(&text) + 1);
    let edge = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let space = if edge { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}
