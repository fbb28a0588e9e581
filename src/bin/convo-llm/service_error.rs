//! Extracts short messages from error responses.

use convo::model::json;

/// Maximum characters of a message.
const MAXIMUM: usize = 300;

/// The message of an error body, or else the beginning of the body.
pub fn of_error(body: &[u8]) -> Option<String> {
    let body = body.trim_ascii();
    // Some services send an error as the first event of a requested stream.
    let first = body.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let piece = first.strip_prefix(b"data:").map(<[u8]>::trim_ascii);
    let text = message(piece.unwrap_or(body)).unwrap_or_else(|| plain(&String::from_utf8_lossy(body)));
    let text = short(&text);
    (!text.is_empty()).then_some(text)
}

/// Whether a quota is exhausted, which a retry does not change.
pub fn is_quota(body: &[u8]) -> bool {
    let error = json::member(body, "error").unwrap_or(b"{}");
    ["code", "type"]
        .iter()
        .any(|name| json::member(error, name) == Some(br#""insufficient_quota""#))
}

/// The message of an error in the usual forms: `{"error":{"message"}}`, `{"error":"..."}`, `{"message"}`,
/// `{"detail"}`.
pub fn message(body: &[u8]) -> Option<String> {
    if !body.starts_with(b"{") {
        return None;
    }
    let text = |object: &[u8], name: &str| {
        let raw = json::member(object, name)?;
        Some(json::text(raw)?.into_owned())
    };
    let inner = json::member(body, "error").filter(|raw| raw.starts_with(b"{"));
    inner
        .and_then(|error| text(error, "message").or_else(|| text(error, "type")))
        .or_else(|| text(body, "error"))
        .or_else(|| text(body, "message"))
        .or_else(|| text(body, "detail"))
}

/// Converts to one line of text, without HTML tags.
fn plain(text: &str) -> String {
    if !text.trim_start().starts_with('<') {
        return text.to_string();
    }
    let mut out = String::new();
    for piece in text.split('<') {
        let inside = piece.split_once('>').map_or(piece, |(_, after)| after);
        out.push_str(inside);
        out.push(' ');
    }
    out
}

/// Shortens to one line without control characters.
pub fn short(text: &str) -> String {
    let clean = text.replace(char::is_control, " ");
    let words: Vec<&str> = clean.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAXIMUM) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_bodies_yield_the_message_of_the_service() {
        for (body, expected) in [
            (
                r#"{"error":{"message":"No such\nmodel","type":"x"}}"#,
                Some("No such model"),
            ),
            (
                r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
                Some("overloaded_error"),
            ),
            (r#"{"error":"model 'x' not found"}"#, Some("model 'x' not found")),
            (r#"{"detail":"Not Found"}"#, Some("Not Found")),
            (
                "<html><h1>502 Bad Gateway</h1>\n<hr></html>",
                Some("502 Bad Gateway"),
            ),
            ("plain\u{1b}[31m text", Some("plain [31m text")),
            ("", None),
        ] {
            assert_eq!(of_error(body.as_bytes()).as_deref(), expected, "{body}");
        }
        assert_eq!(short(&"x".repeat(1000)).len(), MAXIMUM + 3);
        assert!(is_quota(br#"{"error":{"code":"insufficient_quota"}}"#));
    }
}
