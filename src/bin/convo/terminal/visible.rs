//! Replaces control characters in text for terminals.

pub use convo::model::visible::visible;

/// Like [`visible`], but for text that must fit on one line.
pub fn in_line(text: &str) -> String {
    visible(text).replace('\n', "\u{240a}").replace('\t', "\u{2409}")
}
