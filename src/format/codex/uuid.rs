//! UUIDs of version 7 for sessions and turns, which start with their creation time.

use crate::model::key;

/// The time of a UUID of version 7, in milliseconds since 1970.
pub fn time(id: &str) -> Option<u64> {
    if !key::is_uuid(id) || id.as_bytes()[14] != b'7' {
        return None;
    }
    u64::from_str_radix(&format!("{}{}", &id[..8], &id[9..13]), 16).ok()
}

/// A UUID of version 7 with this time, and other bits derived from a name.
pub fn derived_uuid(milliseconds: i64, name: &[u8]) -> String {
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
