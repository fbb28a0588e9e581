//! An independent reader of logs and checksum chains (convo-format(5)), so that a bug in the program's reader cannot
//! hide one in its writer.

/// CRC-32C, bit by bit: Castagnoli's polynomial, reflected.
fn checksum(state: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!state, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg())
        })
    })
}

/// Splits a line into the part before its checksum, and the eight digits.
fn sealed(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let bare = line.strip_suffix(b"\"}")?;
    let (before, digits) = bare.split_at_checked(bare.len().checked_sub(8)?)?;
    let hex = digits
        .iter()
        .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    Some((before.strip_suffix(b",\"_crc\":\"")?, digits)).filter(|_| hex)
}

/// A line without its checksum.
pub fn bare(line: &[u8]) -> &[u8] {
    sealed(line).map_or_else(|| line.strip_suffix(b"}").unwrap_or(line), |(before, _)| before)
}

/// The checksum state after a line whose last member before the checksum is `_chain`.
fn resumed(before: &[u8]) -> Option<u32> {
    let (rest, digits) = before.strip_suffix(b"\"")?.split_last_chunk::<8>()?;
    let digits = rest.ends_with(b",\"_chain\":\"").then_some(digits)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The checksum status of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    Right,
    Wrong,
    Missing,
}

/// The lines of a log with their checksum status; the last may lack its newline.
pub fn lines(log: &[u8]) -> Vec<(&[u8], Seal)> {
    let mut state = checksum(0, b"00000000");
    let mut all = Vec::new();
    for whole in log.split_inclusive(|byte| *byte == b'\n') {
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        let seal = match sealed(line) {
            Some((before, digits)) => {
                let right = format!("{:08x}", checksum(state, before));
                state = resumed(before).unwrap_or_else(|| checksum(0, digits));
                if right.as_bytes() == digits {
                    Seal::Right
                } else {
                    Seal::Wrong
                }
            }
            None => {
                state = checksum(state, whole);
                Seal::Missing
            }
        };
        all.push((line, seal));
    }
    all
}

/// Whether a line is a message or event object with a valid checksum.
pub fn is_good((line, seal): &(&[u8], Seal)) -> bool {
    *seal == Seal::Right && serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line).is_ok()
}
