//! Decides from undecoded bytes whether an input is worth decoding.

use regex::bytes::Regex;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Read};

/// Number of bytes read at once.
const CHUNK: usize = 256 * 1024;

thread_local! {
    /// The buffer of a thread: clearing one for each file would take as long as searching a small file.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// An expression that the undecoded form of every match contains; none, so that everything is decoded, if the pattern
/// requires too little.
#[derive(Clone, Debug, Default)]
pub struct Prefilter {
    regex: Option<Regex>,
    /// A match of the expression contains a match of this one, which is found faster.
    scan: Option<Regex>,
    /// Maximum bytes of a match of the expression.
    longest: usize,
}

impl Prefilter {
    /// For a pattern of which each match contains one of these strings, optionally ignoring case.
    pub fn new(strings: Option<&[String]>, ignores_case: bool) -> Prefilter {
        let Some(strings) = strings.filter(|strings| !strings.is_empty()) else {
            return Prefilter::default();
        };
        // Any character may be encoded as its number, at any quoting depth.
        let mut characters: BTreeSet<char> = strings.iter().flat_map(|text| text.chars()).collect();
        if ignores_case {
            let others: Vec<char> = characters
                .iter()
                .flat_map(|c| [c.to_ascii_lowercase(), c.to_ascii_uppercase()])
                .collect();
            characters.extend(others);
        }
        let codes: Vec<String> = characters
            .iter()
            .map(|c| format!("{:02x}", u32::from(*c)))
            .collect();
        let mut escapes = format!(r"\\u00(?i:{})", codes.join("|"));
        // Two ASCII letters have a non-ASCII case variant: the Kelvin sign and the long s.
        if ignores_case && characters.iter().any(|c| matches!(c, 'k' | 's')) {
            escapes.push_str(r"|\\u(?i:212a|017f)");
        }
        let case = if ignores_case { "i" } else { "-i" };
        let expression = |part: fn(&str) -> &str| {
            let texts: Vec<String> = strings.iter().map(|text| regex::escape(part(text))).collect();
            // Without the expression, everything is decoded.
            Regex::new(&format!("(?{case}:{})|{escapes}", texts.join("|"))).ok()
        };
        let longest = strings.iter().map(String::len).max().unwrap_or_default();
        Prefilter {
            regex: expression(|text| text),
            scan: expression(rarest),
            longest: (longest * 3).max(6),
        }
    }

    /// Whether everything is decoded.
    pub fn is_open(&self) -> bool {
        self.regex.is_none()
    }

    /// Whether undecoded bytes may contain a match.
    pub fn may_match(&self, bytes: &[u8]) -> bool {
        let (Some(regex), Some(scan)) = (&self.regex, &self.scan) else {
            return true;
        };
        let mut at = 0;
        while let Some(found) = scan.find_at(bytes, at) {
            let near =
                found.start().saturating_sub(self.longest)..bytes.len().min(found.end() + self.longest);
            if regex.is_match(&bytes[near]) {
                return true;
            }
            at = found.end();
        }
        false
    }

    /// Whether the rest of an input may contain a match.
    pub fn may_match_rest(&self, input: &mut (impl Read + ?Sized)) -> io::Result<bool> {
        if self.is_open() {
            return Ok(true);
        }
        let mut buffer = BUFFER.take();
        buffer.resize(CHUNK + self.longest, 0);
        let found = self.may_match_buffered(input, &mut buffer);
        BUFFER.set(buffer);
        found
    }

    fn may_match_buffered(&self, input: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<bool> {
        let mut kept = 0;
        loop {
            let read = match input.read(&mut buffer[kept..]) {
                Ok(0) => return Ok(false),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = kept + read;
            if self.may_match(&buffer[..end]) {
                return Ok(true);
            }
            // A match that starts here may end in the next chunk.
            kept = end.min(self.longest);
            buffer.copy_within(end - kept..end, 0);
        }
    }
}

/// Length of the strings that are searched for first, in bytes. All case variants of longer ones are too many to be
/// searched at once.
const SCANNED: usize = 4;

/// ASCII characters from the most frequent in logs to rarer ones; others are the rarest.
const FREQUENT: &[u8] = b" etaoinsrhldcum";

/// The part of a text with the rarest characters: a search that stops at every frequent syllable is slow.
fn rarest(text: &str) -> &str {
    let rank = |byte: &u8| {
        let place = FREQUENT
            .iter()
            .position(|other| *other == byte.to_ascii_lowercase());
        place.unwrap_or(FREQUENT.len())
    };
    let parts = text.as_bytes().windows(SCANNED).enumerate();
    let ranked = parts.max_by_key(|(_, part)| part.iter().map(rank).sum::<usize>());
    ranked
        .and_then(|(at, _)| text.get(at..at + SCANNED))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefilter(text: &str, ignores_case: bool) -> Prefilter {
        Prefilter::new(Some(&[text.to_string()]), ignores_case)
    }

    #[test]
    fn escaped_characters_are_matched() {
        let exact = prefilter("lease", false);
        for bytes in ["a lease", r"l\u0065ase", r"\\u006Cease", r"\u0073"] {
            assert!(exact.may_match(bytes.as_bytes()), "{bytes}");
        }
        // Characters that do not occur in the text: of other commands, or escaped by Go.
        for bytes in ["LEASE", r"\u001b[0m", r"\u003cleas\u003e", "leas e"] {
            assert!(!exact.may_match(bytes.as_bytes()), "{bytes}");
        }
        let any = prefilter("lease", true);
        for bytes in ["LeAsE", r"\u0045", "lea\u{17f}e", r"lea\u017Fe", r"lea\u017fe"] {
            assert!(any.may_match(bytes.as_bytes()), "{bytes}");
        }
        assert!(Prefilter::default().may_match(b""));
        assert!(prefilter("disk", true).may_match("dis\u{212a}".as_bytes()));
    }

    #[test]
    fn the_rarest_part_is_searched_first() {
        for (text, part) in [
            ("conveyor belt", "nvey"),
            ("sensor 4711", "4711"),
            ("zip", "zip"),
            ("eeee", "eeee"),
        ] {
            assert_eq!(rarest(text), part);
        }
        // The part occurs before, in and after the text, also overlapping.
        let exact = prefilter("aaaab", false);
        assert!(exact.may_match(b"aaaaaaab") && !exact.may_match(b"aaaaaaaaac"));
        let any = prefilter("conveyor belt", true);
        assert!(
            any.may_match(b"nvey survey ov a CONVEYOR BELT")
                && !any.may_match(b"nvey a conveyor of surveyors belt")
        );
    }

    #[test]
    fn a_text_is_found_across_chunks() {
        struct Pieces<'b>(&'b [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let length = self.1.min(self.0.len()).min(buffer.len());
                buffer[..length].copy_from_slice(&self.0[..length]);
                self.0 = &self.0[length..];
                Ok(length)
            }
        }
        let exact = prefilter("quorum lease", false);
        for piece in 1..20 {
            let mut input = Pieces(b"the quorum of the quorum lease is", piece);
            assert!(exact.may_match_rest(&mut input).unwrap(), "{piece}");
            let mut input = Pieces(b"the quorum of the lease is", piece);
            assert!(!exact.may_match_rest(&mut input).unwrap(), "{piece}");
        }
        let long = [vec![b'x'; CHUNK + 5], b"quorum lease".to_vec()].concat();
        for start in 0..20 {
            assert!(exact.may_match_rest(&mut &long[start..]).unwrap(), "{start}");
        }
    }
}
