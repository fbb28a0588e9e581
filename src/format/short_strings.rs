//! A reader of JSON that leaves out the rest of very long strings, for lists: a line with a large result or image then
//! takes little memory, and its other members are as before.

use std::io::{Read, Result};

/// Maximum length of a string in bytes.
const LONGEST: usize = 1 << 20;

/// JSON whose strings are shortened.
#[derive(Debug)]
pub struct ShortStrings<R> {
    input: R,
    place: StringPlace,
}

/// The position in the JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringPlace {
    Outside,
    /// In a string of which this many bytes were read.
    Inside(usize),
    /// In an escape sequence of a string with this length; a number of bytes of the sequence follow.
    Escape(usize, usize),
    /// In the part of a string that is left out.
    Skipped,
    /// After a backslash in such a part.
    SkippedEscape,
}

impl<R: Read> ShortStrings<R> {
    /// Shortens the strings of JSON or JSON Lines.
    pub fn new(input: R) -> ShortStrings<R> {
        ShortStrings {
            input,
            place: StringPlace::Outside,
        }
    }

    /// Moves the bytes that remain to the beginning of a block; returns their number.
    fn shorten(&mut self, block: &mut [u8]) -> usize {
        let (mut read, mut kept) = (0, 0);
        while read < block.len() {
            let rest = &block[read..];
            let (take, place, is_kept) = step(rest, self.place);
            if is_kept {
                block.copy_within(read..read + take, kept);
                kept += take;
            }
            read += take;
            self.place = place;
        }
        kept
    }
}

/// Returns the number of the next bytes that belong together, the place after them, and whether they are kept.
fn step(rest: &[u8], place: StringPlace) -> (usize, StringPlace, bool) {
    match place {
        StringPlace::Outside => match memchr::memchr(b'"', rest) {
            Some(quote) => (quote + 1, StringPlace::Inside(0), true),
            None => (rest.len(), place, true),
        },
        StringPlace::Inside(length) => {
            // A string ends with its line, even if the line is truncated.
            let end = memchr::memchr3(b'"', b'\\', b'\n', rest);
            let run = end.unwrap_or(rest.len());
            let room = LONGEST.saturating_sub(length);
            // A cut at the first byte of a character splits no character or escape sequence.
            let starts = |byte: &u8| byte & 0xc0 != 0x80;
            let cut = rest[..run].iter().skip(room).position(starts);
            match (cut, end.map(|end| rest[end])) {
                (Some(cut), _) => (room + cut, StringPlace::Skipped, true),
                (None, None) => (run, StringPlace::Inside(length + run), true),
                (None, Some(b'\\')) => (run + 1, StringPlace::Escape(length + run + 1, 1), true),
                (None, Some(_)) => (run + 1, StringPlace::Outside, true),
            }
        }
        StringPlace::Escape(length, left) => match (rest[0], left) {
            (b'\n', _) => (1, StringPlace::Outside, true),
            (b'u', 1) => (1, StringPlace::Escape(length + 1, 5), true),
            (_, 1) if length >= LONGEST => (1, StringPlace::Skipped, true),
            (_, 1) => (1, StringPlace::Inside(length + 1), true),
            // The digits after \u.
            (_, 2) => (1, StringPlace::Inside(length + 1), true),
            _ => (1, StringPlace::Escape(length + 1, left - 1), true),
        },
        StringPlace::Skipped => match memchr::memchr3(b'"', b'\\', b'\n', rest) {
            Some(0) if rest[0] == b'\\' => (1, StringPlace::SkippedEscape, false),
            Some(0) => (1, StringPlace::Outside, true),
            Some(run) => (run, place, false),
            None => (rest.len(), place, false),
        },
        StringPlace::SkippedEscape if rest[0] == b'\n' => (1, StringPlace::Outside, true),
        StringPlace::SkippedEscape => (1, StringPlace::Skipped, false),
    }
}

impl<R: Read> Read for ShortStrings<R> {
    fn read(&mut self, block: &mut [u8]) -> Result<usize> {
        loop {
            let read = self.input.read(block)?;
            let kept = self.shorten(&mut block[..read]);
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads with blocks of a size.
    fn shortened(text: &str, size: usize) -> String {
        let mut input = ShortStrings::new(text.as_bytes());
        let (mut block, mut found) = (vec![0; size], Vec::new());
        loop {
            match input.read(&mut block).unwrap() {
                0 => return String::from_utf8(found).unwrap(),
                read => found.extend_from_slice(&block[..read]),
            }
        }
    }

    #[test]
    fn short_strings_are_kept_and_long_ones_end_at_a_character() {
        let short = "{\"a\\\"b\":[1,\"\\\\\",\"\\u00e9\\n\"]}\n{\"torn\":\"x\n{\"a\":\"b\"}\n";
        for size in [1, 2, 7, 4096] {
            assert_eq!(shortened(short, size), short);
        }
        for unit in [
            "x", "é", "😀", "\\n", "\\\"", "\\u00e9", "\\ud83d\\ude00", "a\\\\", "é\\u00e9a",
        ] {
            let long = unit.repeat(LONGEST * 5 / 4 / unit.len()) + &"plain".repeat(9);
            let text = format!("{{\"a\":\"{long}\",\"b\":[\"{long}\",2]}}\n{{\"c\":\"d\"}}\n");
            for size in [4093, 8 << 20] {
                let found = shortened(&text, size);
                let mut lines = found.lines();
                let value: serde_json::Value = serde_json::from_str(lines.next().unwrap()).unwrap();
                assert_eq!(value["b"][1], 2, "{unit}");
                assert!(value["a"].as_str().is_some_and(|text| !text.is_empty()));
                assert_eq!(lines.next(), Some("{\"c\":\"d\"}"));
                // An escaped code unit may be half of a pair: a string of such units ends only before another character.
                let is_cut = !unit.starts_with("\\u");
                let limit = if is_cut { 2 * LONGEST + 1000 } else { text.len() };
                assert!(found.len() < limit, "{unit}");
            }
        }
        // A string without an end, in a line that was truncated.
        let torn = format!("{{\"a\":\"{}\n{{\"b\":1}}\n", "x".repeat(2 * LONGEST));
        let found = shortened(&torn, 5000);
        assert!(found.ends_with("\n{\"b\":1}\n") && found.len() < LONGEST + 100);
    }
}
