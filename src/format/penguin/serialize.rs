//! Encodes JSON like Penguin, which uses Python's `json.dumps(indent=2)`: one item per line, ASCII only. Numbers and
//! escapes are unchanged.

use crate::format::indent::LineStyle;

/// Deeper values remain on one line; otherwise, indentation would make a short text of brackets very long. Python reads
/// at most a thousand levels.
const DEEPEST: usize = 100;

const STYLE: LineStyle<'_> = LineStyle {
    unit: b"  ",
    deepest: DEEPEST,
    is_flat_below: true,
    push_string,
};

/// Appends a valid JSON value; its first line is not indented, further lines are `level` levels deep.
pub(super) fn push(out: &mut Vec<u8>, value: &[u8], level: usize) {
    STYLE.push(out, value, level);
}

/// Starts a line at this depth.
pub(super) fn new_line(out: &mut Vec<u8>, depth: usize) {
    STYLE.begin_line(out, depth, b"");
}

/// Appends a string: escapes are unchanged, other characters that are not printable ASCII become `\uxxxx`.
fn push_string(out: &mut Vec<u8>, string: &[u8]) {
    if string.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        return out.extend_from_slice(string);
    }
    for character in String::from_utf8_lossy(string).chars() {
        if (' '..'\u{7f}').contains(&character) {
            out.push(character as u8);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json;

    fn printed(value: &str) -> String {
        let mut out = Vec::new();
        push(&mut out, value.as_bytes(), 0);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_layout_is_that_of_python() {
        assert_eq!(
            printed(r#"{"a":[1,[],{}],"b" : {"c":NaN,"d:e,":"f"}}"#),
            "{\n  \"a\": [\n    1,\n    [],\n    {}\n  ],\n  \"b\": {\n    \"c\": NaN,\n    \"d:e,\": \"f\"\n  }\n}"
        );
        assert_eq!(printed("[ ]"), "[]");
        let mut out = Vec::new();
        push(&mut out, b"[1]", 2);
        assert_eq!(out, b"[\n      1\n    ]");
    }

    #[test]
    fn very_deep_values_are_not_indented() {
        let deep = format!("{}1, 2{}", "[".repeat(50_000), "]".repeat(50_000));
        let text = printed(&deep);
        assert_eq!(json::compact(text.as_bytes()).0, json::compact(deep.as_bytes()).0);
        assert!(text.len() < deep.len() + 600 * DEEPEST, "{}", text.len());
        assert!(text.contains("[1, 2]"));
        let edge = format!("{}1{}", "[".repeat(DEEPEST), "]".repeat(DEEPEST));
        assert_eq!(printed(&edge).lines().count(), 2 * DEEPEST + 1);
    }

    #[test]
    fn output_is_ascii_and_escapes_are_preserved() {
        assert_eq!(
            printed("\"a\\\"\\\\é\u{7f}😀\\ud83d\\/\u{2028}\""),
            r#""a\"\\\u00e9\u007f\ud83d\ude00\ud83d\/\u2028""#
        );
    }

    #[test]
    fn numbers_keep_their_notation() {
        let numbers = "[18446744073709551616,-0.0,5e-324,1E+2,-Infinity]";
        assert_eq!(printed(numbers).replace(['\n', ' '], ""), numbers);
    }
}
