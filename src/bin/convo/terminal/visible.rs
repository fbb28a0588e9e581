//! Text without control characters, for terminals.

use crate::terminal::terminal_filter::{is_hidden, push_visible};

/// Text in which control and direction characters can be seen and do nothing.
pub fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_hidden(c) {
            false => out.push(c),
            true => push_visible(&mut out, c),
        }
    }
    out.into()
}

/// The same for text that must stay on its line.
pub fn in_line(text: &str) -> String {
    visible(text).replace('\n', "\u{240a}").replace('\t', "\u{2409}")
}
