//! Makes control and direction characters visible in text for human readers.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Characters that move the cursor, change colors or reverse the text direction.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}' | '\u{61c}' | '\u{180e}' | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Appends a hidden character in visible form.
pub fn push_visible(out: &mut String, c: char) {
    match c {
        '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
        '\x7f' => out.push('\u{2421}'),
        c => {
            let _ = write!(out, "<U+{:04X}>", u32::from(c));
        }
    }
}

/// Text with control and direction characters in visible, harmless form.
pub fn visible(text: &str) -> Cow<'_, str> {
    // Most text is printable ASCII, which is checked many bytes at a time.
    let is_plain = |bytes: &[u8]| {
        let plain = bytes
            .iter()
            .map(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n'));
        plain.fold(true, |all, plain| all & plain)
    };
    if text.as_bytes().chunks(64).all(is_plain) || !text.chars().any(is_hidden) {
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

/// A number with thousands separators.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
