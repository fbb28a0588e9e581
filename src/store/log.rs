//! The lines of a log and their chain of checksums; see convo-format(5).

use crate::error::{Error, Position, Result};
use crate::model::json;
use crate::model::record::{Record, RecordKind as Line};
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The digits of the previous line at the start of a log.
pub const START: Digits = *b"00000000";

/// A checksum as eight lower-case hexadecimal digits.
pub type Digits = [u8; 8];

const MEMBER: &[u8; 9] = b",\"_crc\":\"";

/// Finds the name of the member; made once, since a session has many lines.
static CHECKSUM: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"_crc\""));

/// Length of `,"_crc":"xxxxxxxx"}`.
pub(super) const SEAL: usize = 19;

const RESUME: &[u8; 11] = b",\"_chain\":\"";

/// Length of `,"_chain":"xxxxxxxx"`.
const RESUMED: usize = 20;

/// Maximum memory that is kept for further lines.
const LARGE: usize = 16 << 20;

/// Maximum number of bytes of a seal that may be wrong in a line that still counts as a damaged line of ours. Sixteen
/// matching bytes, some of them digits of this line's checksum, are not a coincidence.
const DEFACED: usize = 3;

pub(super) fn seal(digits: Digits) -> [u8; SEAL] {
    let mut seal = [0; SEAL];
    seal[..9].copy_from_slice(MEMBER);
    seal[9..17].copy_from_slice(&digits);
    seal[17..].copy_from_slice(b"\"}");
    seal
}

pub(super) fn hex(checksum: u32) -> Digits {
    let mut digits = START;
    for (place, digit) in digits.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(checksum >> (28 - 4 * place)) as usize & 15];
    }
    digits
}

/// Returns the checksum at the end of a line without its newline.
pub fn digits_of(line: &[u8]) -> Option<Digits> {
    let tail = line.last_chunk::<SEAL>()?;
    let digits: Digits = *tail[9..].first_chunk()?;
    let is_hex = digits
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_hex && *tail == seal(digits)).then_some(digits)
}

/// Prefix of a repair record, and the maximum length of one up to its checksum.
const REPAIR: &[u8] = b"{\"type\":\"repair\",";
pub(super) const REPAIR_LENGTH: usize = 256;

/// Returns the chain state that a repair record contains; `covered` is its bytes up to the comma of its checksum. The
/// chain continues from this state and not from the record's own digits, so that the lines after it keep their
/// checksums.
fn resumed(covered: &[u8]) -> Option<u32> {
    if covered.len() > REPAIR_LENGTH || !covered.starts_with(REPAIR) {
        return None;
    }
    let member = covered.last_chunk::<RESUMED>()?;
    let digits = member.strip_prefix(RESUME)?.strip_suffix(b"\"")?;
    let is_hex = digits
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let text = std::str::from_utf8(digits).ok()?;
    is_hex.then(|| u32::from_str_radix(text, 16).ok()).flatten()
}

/// Removes the checksum and keeps the newline; a line without a checksum is unchanged.
pub fn strip(line: &[u8]) -> Cow<'_, [u8]> {
    let mut bare = Vec::new();
    if strip_into(line, &mut bare) {
        Cow::Owned(bare)
    } else {
        Cow::Borrowed(line)
    }
}

/// Returns a line for storage: without its checksum and any other member of that name.
pub fn bare(line: &[u8]) -> Cow<'_, [u8]> {
    let line = strip(line);
    if CHECKSUM.find(&line).is_none() || json::member(&line, "_crc").is_none() {
        return line;
    }
    json::with_members(&line, &[("_crc", None)]).map_or(line, Cow::Owned)
}

/// Writes a line without its checksum to `bare`; returns whether it had one.
pub fn strip_into(line: &[u8], bare: &mut Vec<u8>) -> bool {
    let (ended, newline) = line
        .strip_suffix(b"\n")
        .map_or((line, &b""[..]), |ended| (ended, b"\n"));
    if digits_of(ended).is_none() {
        return false;
    }
    bare.clear();
    bare.extend_from_slice(&ended[..ended.len() - SEAL]);
    bare.push(b'}');
    bare.extend_from_slice(newline);
    true
}

/// The result of checking a line against the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its checksum is correct, and so is every byte since the previous checked line.
    Sealed,
    /// It has no checksum; the checksum of the next checked line covers it.
    Unchecked,
    /// It was changed, or a line between it and the previous checked line was.
    Broken,
}

/// The running checksum of a log: CRC-32C of the last checked line's digits and every byte since its newline.
#[derive(Clone, Copy, Debug)]
pub struct LogChain {
    state: u32,
    /// After a broken line: the state if only its checksum is damaged, so that one broken line does not make the next
    /// one broken too.
    alternative: Option<u32>,
}

impl Default for LogChain {
    fn default() -> Self {
        LogChain::after(START)
    }
}

impl LogChain {
    /// Returns the chain after a checked line with these digits.
    fn after(digits: Digits) -> LogChain {
        LogChain {
            state: crc32c::crc32c(&digits),
            alternative: None,
        }
    }

    /// Returns the chain after a checked line: its bytes up to the comma of its checksum, and its digits.
    pub fn behind(covered: &[u8], digits: Digits) -> LogChain {
        match resumed(covered) {
            Some(state) => LogChain {
                state,
                alternative: None,
            },
            None => LogChain::after(digits),
        }
    }

    /// Returns the checksum of all bytes so far, which [`crc32c::crc32c_append`] can continue.
    pub(super) fn state(&self) -> u32 {
        self.state
    }

    /// Adds bytes that have no checksum of their own, newlines included.
    pub fn pass(&mut self, bytes: &[u8]) {
        self.state = crc32c::crc32c_append(self.state, bytes);
        self.alternative = self.alternative.map(|state| crc32c::crc32c_append(state, bytes));
    }

    /// Adds a line up to the position of its checksum's comma; returns the checksum.
    pub fn close(&mut self, covered: &[u8]) -> Digits {
        let digits = hex(crc32c::crc32c_append(self.state, covered));
        *self = LogChain::behind(covered, digits);
        digits
    }

    /// Checks a line, its newline included, and advances past it. After a broken line, continues from the digits in
    /// that line, so that one broken line is reported once.
    pub fn verify(&mut self, line: &[u8]) -> Verdict {
        let ended = line.strip_suffix(b"\n").unwrap_or(line);
        let Some((covered, tail)) = ended.split_last_chunk::<SEAL>() else {
            self.pass(line);
            return Verdict::Unchecked;
        };
        let mut after = *self;
        after.pass(covered);
        let expected = hex(after.state);
        let other = after.alternative.map(hex);
        if let Some(stored) = digits_of(ended) {
            *self = LogChain::behind(covered, stored);
            if stored == expected || other == Some(stored) {
                return Verdict::Sealed;
            }
            self.alternative = Some(crc32c::crc32c(&expected));
            return Verdict::Broken;
        }
        after.pass(&line[covered.len()..]);
        for expected in std::iter::once(expected).chain(other) {
            let differing = tail
                .iter()
                .zip(seal(expected))
                .filter(|(byte, right)| **byte != *right)
                .count();
            if differing <= DEFACED {
                // A writer that finds no seal continues from the previous line.
                *self = LogChain {
                    alternative: Some(after.state),
                    ..LogChain::after(expected)
                };
                return Verdict::Broken;
            }
        }
        *self = after;
        Verdict::Unchecked
    }
}

/// Lines to be written to a log, with placeholders for the checksums, which are only known under the lock.
#[derive(Debug)]
pub struct Pending {
    /// A newline to end a truncated tail, then the lines.
    bytes: Vec<u8>,
    lines: Vec<PendingLine>,
}

#[derive(Clone, Copy, Debug)]
struct PendingLine {
    end: usize,
    checked: bool,
}

impl Default for Pending {
    fn default() -> Self {
        Pending {
            bytes: vec![b'\n'],
            lines: Vec::new(),
        }
    }
}

impl Pending {
    /// Adds a line, with or without a newline at its end. A message or event gets a checksum, which replaces any
    /// existing one; other lines are not changed.
    pub fn push(&mut self, line: &[u8]) -> Result<()> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if memchr::memchr(b'\n', line).is_some() {
            return Err(Error::data("cannot store a line that contains a newline"));
        }
        // Not at offset 0: a byte order mark would be content here.
        self.add(line, &Record::parse(line, Position { line: 0, offset: 1 }).kind);
        Ok(())
    }

    /// Adds a parsed line.
    pub fn push_record(&mut self, record: &Record<'_>) {
        self.add(record.body, &record.kind);
    }

    fn add(&mut self, line: &[u8], kind: &Line<'_>) {
        let is_record = matches!(kind, Line::Message(_) | Line::Event(_));
        let bare = if is_record { bare(line) } else { line.into() };
        let line = bare.as_ref();
        let closed = is_record && line.last() == Some(&b'}');
        let covered = match (closed, digits_of(line).is_some()) {
            (true, true) => Some(line.len() - SEAL),
            (true, false) => Some(line.len() - 1),
            // Not a record, but looks like a checked line: a second seal, which is removed on reading, protects it.
            (false, true) => Some(line.len() - 1),
            (false, false) => None,
        };
        match covered {
            Some(covered) => {
                self.bytes.extend_from_slice(&line[..covered]);
                self.bytes.extend_from_slice(&seal(START));
            }
            None => self.bytes.extend_from_slice(line),
        }
        self.bytes.push(b'\n');
        self.lines.push(PendingLine {
            end: self.bytes.len(),
            checked: covered.is_some(),
        });
    }

    /// Adds the lines of another one behind its own.
    pub fn extend(&mut self, other: Pending) {
        if self.is_empty() {
            *self = other;
            return;
        }
        let before = self.size();
        self.bytes.extend_from_slice(&other.bytes[1..]);
        self.lines.extend(other.lines.iter().map(|piece| PendingLine {
            end: piece.end + before,
            ..*piece
        }));
    }

    /// Adds a line for a file outside a store: without its checksum.
    pub fn push_bare(&mut self, line: &[u8]) {
        self.bytes
            .extend_from_slice(&strip(line.strip_suffix(b"\n").unwrap_or(line)));
        self.bytes.push(b'\n');
        self.lines.push(PendingLine {
            end: self.bytes.len(),
            checked: false,
        });
    }

    /// Computes the checksums as a continuation of `chain`, and advances it past the lines.
    pub fn close(&mut self, chain: &mut LogChain) {
        let mut start = 1;
        for piece in &self.lines {
            if piece.checked {
                let comma = piece.end - 1 - SEAL;
                let digits = chain.close(&self.bytes[start..comma]);
                self.bytes[comma..comma + SEAL].copy_from_slice(&seal(digits));
            } else {
                chain.pass(&self.bytes[start..piece.end]);
            }
            start = piece.end;
        }
    }

    /// Returns the bytes to write, after a newline if the log's last line is truncated.
    pub fn bytes(&self, truncated: bool) -> &[u8] {
        if truncated { &self.bytes } else { &self.bytes[1..] }
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the number of pending bytes.
    pub fn size(&self) -> usize {
        self.bytes.len() - 1
    }

    /// Removes all lines and keeps the allocated memory up to a limit.
    pub fn clear(&mut self) {
        self.bytes.truncate(1);
        self.bytes.shrink_to(LARGE);
        self.lines.clear();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::store) fn stored(lines: &[&str]) -> Vec<u8> {
        let mut pending = Pending::default();
        for line in lines {
            pending.push(line.as_bytes()).unwrap();
        }
        pending.close(&mut LogChain::default());
        pending.bytes(false).to_vec()
    }

    pub(in crate::store) fn verdicts(log: &[u8]) -> Vec<Verdict> {
        let mut chain = LogChain::default();
        log.split_inclusive(|byte| *byte == b'\n')
            .map(|line| chain.verify(line))
            .collect()
    }

    #[test]
    fn checksums_match_the_specification() {
        // Computed bit by bit with another program, with the reflected polynomial 0x82f63b78.
        let log = stored(&[
            r#"{"role":"user","content":"hi"}"#,
            "# by hand",
            r#"{"type":"note","id":"evt_1"}"#,
        ]);
        let expected = concat!(
            r#"{"role":"user","content":"hi","_crc":"8f59bf48"}"#,
            "\n# by hand\n",
            r#"{"type":"note","id":"evt_1","_crc":"86084568"}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(log.clone()).unwrap(), expected);
        assert_eq!(
            verdicts(&log),
            [Verdict::Sealed, Verdict::Unchecked, Verdict::Sealed]
        );
    }

    #[test]
    fn joined_batches_have_the_checksums_of_one() {
        let lines = [r#"{"role":"user"}"#, "# by hand", r#"{"role":"tool","_crc":1}"#];
        let mut pending = Pending::default();
        for some in [&lines[..2], &lines[2..], &lines[..1]] {
            let mut more = Pending::default();
            some.iter().for_each(|line| more.push(line.as_bytes()).unwrap());
            pending.extend(more);
        }
        pending.close(&mut LogChain::default());
        assert_eq!(pending.bytes(false), stored(&[&lines[..], &lines[..1]].concat()));
        assert_eq!((pending.len(), pending.size()), (4, pending.bytes(false).len()));
    }

    #[test]
    fn only_records_get_a_checksum_and_all_bytes_are_restored() {
        let odd = [
            "{}",
            "",
            "x",
            "[1]",
            "{\"role\":\"user\"} ",
            "{\"role\":\"user\"}\r",
            "\u{feff}{\"role\":\"user\"}",
            "not ours,\"_crc\":\"01234567\"}",
            "{,\"_crc\":\"01234567\"}",
            "{\"role\":\"user\"}",
        ];
        let log = stored(&odd);
        let back: Vec<u8> = log
            .split_inclusive(|byte| *byte == b'\n')
            .flat_map(|line| strip(line).into_owned())
            .collect();
        assert_eq!(String::from_utf8(back).unwrap(), odd.join("\n") + "\n");
        assert!(!verdicts(&log).contains(&Verdict::Broken));
        assert_eq!(
            stored(&["{\"role\":\"user\",\"_crc\":\"01234567\"}"]),
            stored(&["{\"role\":\"user\"}"])
        );
        for forged in [
            r#"{"_crc":"01234567","role":"user"}"#,
            r#"{"role":"user","_crc":"0123456X"}"#,
            r#"{"_crc":1,"role":"user","_crc":"01234567"}"#,
        ] {
            assert_eq!(stored(&[forged]), stored(&[r#"{"role":"user"}"#]), "{forged}");
        }
        let inner = r#"{"role":"user","metadata":{"_crc":"x"}}"#;
        assert_eq!(strip(&stored(&[inner])), format!("{inner}\n").as_bytes());
        assert!(Pending::default().push(b"{\"role\":\n\"user\"}").is_err());
    }
}
