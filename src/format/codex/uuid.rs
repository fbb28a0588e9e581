//! The ids of sessions and turns: UUIDs that begin with the time at which they were made.

/// Milliseconds since 1970, of a UUID of version 7.
pub fn time(id: &str) -> Option<u64> {
    let bytes = id.as_bytes();
    let shape = bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            14 => *byte == b'7',
            _ => byte.is_ascii_hexdigit(),
        });
    if !shape {
        return None;
    }
    u64::from_str_radix(&format!("{}{}", &id[..8], &id[9..13]), 16).ok()
}
