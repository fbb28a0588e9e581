//! JSON compatible with Go's `encoding/json`: name comparison and string encoding.

use crate::model::json;
use std::borrow::Cow;

/// The name in lower case by Go's simple folding, which maps the long s and the Kelvin sign to s and k.
pub fn folded(key: &[u8]) -> Cow<'_, [u8]> {
    if key
        .iter()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase() && *byte != b'\\')
    {
        return Cow::Borrowed(key);
    }
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        _ => c.to_ascii_lowercase(),
    };
    Cow::Owned(
        json::unescape(key)
            .chars()
            .map(fold)
            .collect::<String>()
            .into_bytes(),
    )
}

/// The text as a JSON string, escaped as Go does.
pub fn quoted(text: &str) -> Vec<u8> {
    let mut raw = Vec::with_capacity(text.len() + 2);
    push_text(&mut raw, text);
    raw
}

/// Appends a quoted string.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes());
            }
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// Appends raw JSON without white space, and with the five characters escaped that are special in HTML and JavaScript.
/// They occur only inside strings, so strings need not be parsed.
pub fn push_raw(out: &mut Vec<u8>, raw: &[u8]) {
    let (raw, _) = json::compact(raw);
    let mut rest = raw.as_slice();
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'<' | b'>' | b'&' => {
                out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                rest = after;
            }
            0xe2 if matches!(after, [0x80, 0xa8 | 0xa9, ..]) => {
                out.extend_from_slice(if after[1] == 0xa8 { b"\\u2028" } else { b"\\u2029" });
                rest = &after[2..];
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
}

/// Appends a string as Go would encode it. A string with a lone surrogate, which Go would replace, and any other value
/// are unchanged.
pub fn push_string(out: &mut Vec<u8>, raw: &[u8]) {
    match json::text(raw) {
        Some(text) if !(text.contains('\u{fffd}') && raw.contains(&b'\\')) => push_text(out, &text),
        _ => push_raw(out, raw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(push: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn preserved_json_is_compacted_with_five_escapes() {
        let raw = "{ \"a<\" : [ \"\u{2028}\u{2029}&>\\/\\u00e9 \u{20ac}\" , 1.0 , 1E5 ] }";
        let kept = "{\"a\\u003c\":[\"\\u2028\\u2029\\u0026\\u003e\\/\\u00e9 \u{20ac}\",1.0,1E5]}";
        assert_eq!(written(|out| push_raw(out, raw.as_bytes())), kept);
    }

    #[test]
    fn generated_strings_have_one_encoding() {
        let string = |raw: &str| written(|out| push_string(out, raw.as_bytes()));
        assert_eq!(string(r#""caf\u00e9 \/ \u007f\u0008""#), "\"café / \u{7f}\\b\"");
        assert_eq!(string(r#""\ud83d\ude00\u001F<""#), "\"\u{1f600}\\u001f\\u003c\"");
        assert_eq!(string(r#""half \ud800 <""#), r#""half \ud800 \u003c""#);
        assert_eq!(string("\"\u{fffd}\""), "\"\u{fffd}\"");
    }
}
