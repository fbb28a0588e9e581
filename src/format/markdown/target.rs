//! Decides which addresses of links and images a page may have.

/// Schemes that never run scripts.
const SAFE: [&str; 3] = ["http", "https", "mailto"];

/// Whether a link may have this address: a safe scheme, or relative. Entities and escapes can hide a scheme, so they
/// are unsafe in the position of one.
pub fn is_safe(address: &str) -> bool {
    let start = address.split(['/', '?', '#']).next().unwrap_or_default();
    match start.split_once(':') {
        Some((scheme, _)) => SAFE.contains(&scheme.to_ascii_lowercase().as_str()),
        None => !start.contains(['&', '\\', '%']) && !start.chars().any(char::is_control),
    }
}

/// Whether an address is an inline image that cannot contain scripts.
pub fn is_embedded_image(address: &str) -> bool {
    let kinds = ["png", "jpeg", "jpg", "gif", "webp"];
    let Some(rest) = address.strip_prefix("data:image/") else {
        return false;
    };
    kinds.iter().any(|kind| {
        rest.strip_prefix(kind)
            .is_some_and(|rest| rest.starts_with([';', ',']))
    })
}

pub fn is_remote(address: &str) -> bool {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        ["http", "https"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme))
    })
}

/// The address at the start of the text after `](` or `]:`.
pub fn at_start(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| c == '>' || c.is_whitespace());
    let end = text.find(|c: char| c.is_whitespace() || c == ')');
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_execute_code_are_unsafe() {
        for safe in [
            "https://a/b?c:d", "HTTP://a", "mailto:a@b", "a/b:c", "#top", "../x", "", "see", "/a&b",
        ] {
            assert!(is_safe(safe), "{safe}");
        }
        for unsafe_one in [
            "javascript:alert(1)", "JavaScript:x", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
            "java&#115;cript:x", "javascript&colon;x", "java\\script:x", "\u{1}javascript:x", "x:y",
            "%6aavascript:x",
        ] {
            assert!(!is_safe(unsafe_one), "{unsafe_one}");
        }
        assert!(is_remote("https://a/b") && is_remote("HTTP://a"));
        assert!(!is_remote("//a") && !is_remote("javascript:http://a") && !is_remote("<https://a"));
        assert!(is_embedded_image("data:image/png;base64,AA=="));
        assert!(!is_embedded_image("data:image/svg+xml,<svg>") && !is_embedded_image("data:text/html,x"));
    }
}
