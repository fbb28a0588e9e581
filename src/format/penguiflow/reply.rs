//! Wraps a summary in PenguiFlow's tags.

const OPEN: &str = "<session_summary>";
const CLOSE: &str = "</session_summary>";

/// The summary between its tags. A text with the opening tag is unchanged, except that a missing closing tag is added;
/// an empty text becomes an empty pair of tags.
pub fn wrapped(text: &str) -> String {
    let text = text.trim();
    match text.find(OPEN) {
        _ if text.is_empty() => format!("{OPEN}{CLOSE}"),
        None => format!("{OPEN}\n{text}\n{CLOSE}"),
        Some(at) if text[at..].contains(CLOSE) => text.to_string(),
        Some(_) => format!("{text}{CLOSE}"),
    }
}
