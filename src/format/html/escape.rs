//! Escapes session text for HTML content and attribute values.

use crate::model::visible::{is_hidden, push_visible};

/// Appends text. Terminal escape sequences are dropped; other control and direction characters become visible.
pub fn push(out: &mut String, text: &str) {
    let mut start = 0;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let replaced = match c {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&#39;",
            '\u{fffe}' | '\u{ffff}' => "\u{fffd}",
            c if is_hidden(c) => "",
            _ => continue,
        };
        out.push_str(&text[start..at]);
        out.push_str(replaced);
        start = at + c.len_utf8();
        match c {
            '\x1b' => start = at + sequence(&text[at..]),
            '\r' if text[start..].starts_with('\n') => {}
            c if is_hidden(c) => {
                let mut shown = String::new();
                push_visible(&mut shown, c);
                out.push_str(&shown.replace('<', "&lt;").replace('>', "&gt;"));
            }
            _ => {}
        }
        while rest.peek().is_some_and(|(next, _)| *next < start) {
            rest.next();
        }
    }
    out.push_str(&text[start..]);
}

/// As [`push`], returning a string.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    push(&mut out, text);
    out
}

/// Reverses [`push`] for a text without hidden characters.
pub fn unescaped(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    pairs
        .iter()
        .fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}

/// The length of the terminal escape sequence at the start of a text, including ESC (ECMA-48, 5.4 and 5.6).
fn sequence(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        Some(b'[') => {
            let end = bytes[2..].iter().position(|byte| !(0x20..=0x3f).contains(byte));
            match end.map(|end| end + 2) {
                Some(end) if (0x40..=0x7e).contains(&bytes[end]) => end + 1,
                Some(end) => end,
                None => bytes.len(),
            }
        }
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = bytes[2..]
                .iter()
                .position(|byte| matches!(byte, 0x07 | 0x1b | b'\n'));
            match end.map(|end| end + 2) {
                Some(end) if bytes[end] == 0x07 => end + 1,
                Some(end) if bytes[end..].starts_with(b"\x1b\\") => end + 2,
                Some(end) => end,
                None => bytes.len(),
            }
        }
        _ => {
            let end = bytes[1..].iter().position(|byte| !(0x20..=0x2f).contains(byte));
            match end.map(|end| end + 1) {
                Some(end) if (0x30..=0x7e).contains(&bytes[end]) => end + 1,
                _ => 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_hidden_characters_are_text() {
        for (text, page) in [
            ("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"),
            ("\u{202e}x\0y\x7f", "&lt;U+202E&gt;x␀y␡"),
            ("a\r\nb\rc\td", "a\nb␍c\td"),
            (
                "\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07l\x1b]8;;\x1b\\ \x1b(B.",
                "red l .",
            ),
            ("\x1b", ""),
            ("\x1b[", ""),
            ("\x1b]never\nended", "\nended"),
            ("é\u{1b}é漢", "éé漢"),
        ] {
            assert_eq!(escaped(text), page, "{text:?}");
        }
        let text = "&lt;<\"'>&amp;";
        assert_eq!(unescaped(&escaped(text)), text);
    }
}
