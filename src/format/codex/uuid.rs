//! The ids of sessions and turns: UUIDs that begin with the time at which they were made.

use crate::model::key;

/// Milliseconds since 1970, of a UUID of version 7.
pub fn time(id: &str) -> Option<u64> {
    if !is(id) || id.as_bytes()[14] != b'7' {
        return None;
    }
    u64::from_str_radix(&format!("{}{}", &id[..8], &id[9..13]), 16).ok()
}

/// Whether this is a UUID, of whatever version.
pub fn is(id: &str) -> bool {
    let bytes = id.as_bytes();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A UUID of version 7 at this time, its other bits those of a name: the same name at the same time has the same.
pub fn made(milliseconds: i64, name: &[u8]) -> String {
    let time = u64::try_from(milliseconds).unwrap_or(0) & 0xffff_ffff_ffff;
    let name = key::sha256(name);
    // The variant of RFC 9562: one of 8, 9, a, b.
    let variant = ['8', '9', 'a', 'b'][usize::from(name.as_bytes()[3] & 3)];
    let time = format!("{time:012x}");
    format!(
        "{}-{}-7{}-{variant}{}-{}",
        &time[..8],
        &time[8..],
        &name[..3],
        &name[4..7],
        &name[8..20]
    )
}
