//! Text without control characters, for terminals.

pub use convo::model::visible::visible;

/// The same for text that must stay on its line.
pub fn in_line(text: &str) -> String {
    visible(text).replace('\n', "\u{240a}").replace('\t', "\u{2409}")
}
