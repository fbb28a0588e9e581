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
    let style = LineStyle {
        unit,
        // Further levels are not indented further, because the indentation would exceed the content.
        deepest: 128,
        is_flat_below: false,
        push_string: |out, string| out.extend_from_slice(string),
    };
    style.push(&mut out, &value, depth);
    out
}

/// How values are written over several lines.
pub(super) struct LineStyle<'s> {
    /// The indentation per level.
    pub unit: &'s [u8],
    /// Maximum indentation in levels.
    pub deepest: usize,
    /// Whether deeper values remain on one line.
    pub is_flat_below: bool,
    /// Appends a string with its quotes.
    pub push_string: fn(&mut Vec<u8>, &[u8]),
}

impl LineStyle<'_> {
    /// Appends a valid JSON value of this level; its first line is not indented.
    pub fn push(&self, out: &mut Vec<u8>, value: &[u8], level: usize) {
        let (mut depth, mut at) = (level, 0);
        while let Some(&byte) = value.get(at) {
            at += 1;
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => {}
                b'"' => {
                    let end = json::value_end(value, at - 1, json::Dialect::Python).unwrap_or(value.len());
                    (self.push_string)(out, &value[at - 1..end]);
                    at = end;
                }
                b'{' | b'[' => {
                    out.push(byte);
                    let inside = json::skip_space(value, at);
                    match value.get(inside) {
                        Some(end @ (b'}' | b']')) => {
                            out.push(*end);
                            at = inside + 1;
                        }
                        _ => {
                            depth += 1;
                            self.begin_line(out, depth, b"");
                        }
                    }
                }
                b'}' | b']' => {
                    // A value that begins on the deepest level ends there.
                    if !self.is_flat_below || depth <= self.deepest {
                        self.begin_line(out, depth.saturating_sub(1), b"");
                    }
                    depth = depth.saturating_sub(1);
                    out.push(byte);
                }
                b',' => {
                    out.push(byte);
                    self.begin_line(out, depth, b" ");
                }
                b':' => out.extend_from_slice(b": "),
                _ => out.push(byte),
            }
        }
    }

    /// Begins a line of this level, or appends `space` if the value remains on its line.
    pub fn begin_line(&self, out: &mut Vec<u8>, depth: usize, space: &[u8]) {
        if self.is_flat_below && depth > self.deepest {
            return out.extend_from_slice(space);
        }
        out.push(b'\n');
        for _ in 0..depth.min(self.deepest) {
            out.extend_from_slice(self.unit);
        }
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
