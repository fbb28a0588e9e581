//! JSON over several lines, as formatted by Go's `MarshalIndent` and JavaScript's `JSON.stringify`: empty lists and
//! objects stay on one line.

use crate::model::json;

/// The value with each element and member on its own line; strings and numbers are unchanged. `depth` is the nesting
/// level of the value; each level is indented by two spaces.
pub(super) fn indented(value: &[u8], depth: usize) -> Vec<u8> {
    laid_out(value, depth, b"  ")
}

/// As [`indented`], with another indentation per level.
pub(super) fn laid_out(value: &[u8], depth: usize, unit: &[u8]) -> Vec<u8> {
    let value = json::compact(value).0;
    let mut out = Vec::with_capacity(value.len() * 2);
    let (mut depth, mut at) = (depth, 0);
    while at < value.len() {
        let byte = value[at];
        match byte {
            b'"' => {
                let end = json::value_end(&value, at, json::Dialect::Python).unwrap_or(value.len());
                out.extend_from_slice(&value[at..end]);
                at = end;
                continue;
            }
            b'{' | b'[' if matches!(value.get(at + 1), Some(b'}' | b']')) => {
                out.extend_from_slice(&value[at..at + 2]);
                at += 2;
                continue;
            }
            b'{' | b'[' => {
                out.push(byte);
                depth += 1;
                begin_line(&mut out, depth, unit);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                begin_line(&mut out, depth, unit);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                begin_line(&mut out, depth, unit);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.push(byte),
        }
        at += 1;
    }
    out
}

/// Deeper levels are not indented further, because the indentation would exceed the content.
const DEEPEST: usize = 128;

fn begin_line(out: &mut Vec<u8>, depth: usize, unit: &[u8]) {
    out.push(b'\n');
    for _ in 0..depth.min(DEEPEST) {
        out.extend_from_slice(unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_indented_as_in_go() {
        let raw = br#"{"a": [1, {"b:,":"{[\"" }],"c":{},"d":[ ],"e":1e400}"#;
        let laid = "{\n    \"a\": [\n      1,\n      {\n        \"b:,\": \"{[\\\"\"\n      }\n    ],\n    \"c\": {},\n    \"d\": [],\n    \"e\": 1e400\n  }";
        assert_eq!(String::from_utf8(indented(raw, 1)).unwrap(), laid);
        assert_eq!(indented(b"\"x, y\"", 3), b"\"x, y\"");
    }
}
