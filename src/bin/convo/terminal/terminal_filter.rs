//! Filters data written to a terminal: session text must not move the cursor, color the screen, access the clipboard or
//! change the text direction. A pipe or a file receives the original bytes.

use convo::model::visible::{is_hidden, push_visible};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Replaces control and direction characters of everything written to it.
pub struct TerminalFilter<W: Write> {
    inner: W,
    /// Whether the data is JSON; known after the first byte that is not white space.
    is_json: Option<bool>,
    /// An incomplete character, which the next write completes.
    pending: Vec<u8>,
}

impl<W: Write> TerminalFilter<W> {
    /// Filters what is written to `inner`.
    pub fn new(inner: W) -> Self {
        TerminalFilter {
            inner,
            is_json: None,
            pending: Vec::new(),
        }
    }

    /// Replaces hidden characters. In JSON, escapes preserve the value.
    fn replaced(&mut self, text: &str) -> String {
        if self.is_json.is_none() {
            let first = text.trim_start().as_bytes().first();
            self.is_json = first.map(|first| matches!(first, b'{' | b'['));
        }
        let is_json = self.is_json.unwrap_or_default();
        let mut out = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            match c {
                c if !is_hidden(c) => out.push(c),
                '\r' if is_json => out.push(c),
                c if is_json && c > '\x7f' => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = write!(out, "\\u{unit:04x}");
                    }
                }
                c => push_visible(&mut out, c),
            }
        }
        out
    }
}

impl<W: Write> Write for TerminalFilter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.pending);
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        let mut text = String::with_capacity(all.len());
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                    match error.error_len() {
                        Some(length) => {
                            text.push('\u{fffd}');
                            rest = &after[length..];
                        }
                        None => {
                            self.pending = after.to_vec();
                            rest = &[];
                        }
                    }
                }
            }
        }
        let text = self.replaced(&text);
        self.inner.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.pending).is_empty() {
            self.inner.write_all("\u{fffd}".as_bytes())?;
        }
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the bytes in parts of this size.
    fn filtered(bytes: &[u8], piece: usize) -> String {
        let mut out = Vec::new();
        let mut filter = TerminalFilter::new(&mut out);
        for piece in bytes.chunks(piece) {
            filter.write_all(piece).unwrap();
        }
        filter.flush().unwrap();
        drop(filter);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_has_no_control_and_no_direction_character() {
        let text = "# hello\x1b]52;c;ZXZpbA==\x07\r\n\u{9b}31m \u{202e}é\t😀\n".as_bytes();
        for piece in 1..9 {
            let expected = "# hello␛]52;c;ZXZpbA==␇␍\n<U+009B>31m <U+202E>é\t😀\n";
            assert_eq!(filtered(text, piece), expected, "{piece}");
        }
        assert_eq!(filtered(b"# \xff\xc3", 1), "# \u{fffd}\u{fffd}");
    }

    #[test]
    fn json_is_the_same_value() {
        let line = "{\"content\":\"\u{9b}31m\u{202e}\u{e0041}é\"}\r\n";
        for piece in 1..9 {
            let out = filtered(line.as_bytes(), piece);
            assert_eq!(
                out, "{\"content\":\"\\u009b31m\\u202e\\udb40\\udc41é\"}\r\n",
                "{piece}"
            );
            let (one, other): (serde_json::Value, serde_json::Value) = (
                serde_json::from_str(&out).unwrap(),
                serde_json::from_str(line).unwrap(),
            );
            assert_eq!(one, other);
        }
    }
}
