//! Ids: which are valid, how new ones are generated, how ids are derived for messages without one, and how keys of
//! other systems become file names.

use crate::error::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// Maximum length of an id in bytes.
pub const LONGEST: usize = 128;

/// Whether the text is a valid id: `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
pub fn is_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..=LONGEST).contains(&bytes.len())
        && bytes[0].is_ascii_alphanumeric()
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// Rejects an invalid id with the reason.
pub fn checked_id(text: &str) -> Result<&str> {
    if is_id(text) {
        return Ok(text);
    }
    let why = if text.is_empty() {
        "empty".to_string()
    } else if text.len() > LONGEST {
        format!("{} bytes, more than {LONGEST}", text.len())
    } else if !text.as_bytes()[0].is_ascii_alphanumeric() {
        "starts with neither a letter nor a digit".to_string()
    } else {
        let odd = text
            .chars()
            .find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-'));
        format!("contains {:?}", odd.unwrap_or(' '))
    };
    let shown: String = text.chars().take(40).collect();
    Err(
        Error::new(ErrorKind::Unsafe, format!("{shown}: invalid session id: {why}"))
            .hint("use up to 128 letters, digits, '.', '_' and '-', starting with a letter or digit"),
    )
}

const KEY: &str = "key_";
const HASH: &str = "hash_";

/// The id under which a store keeps the session of a key. A key that is a valid id is used unchanged. Any other key is
/// encoded as `key_` and the key with `_` and two hex digits for each byte that is not a letter, digit, `.` or `-`, so
/// that different keys never collide. If the result is too long, the id is `hash_` and the SHA-256 of the key.
pub fn id_for_key(key: &str) -> String {
    if is_id(key) && !key.starts_with(KEY) && !key.starts_with(HASH) {
        return key.to_string();
    }
    let mut id = String::from(KEY);
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-') {
            id.push(char::from(byte));
        } else {
            id.push_str(&format!("_{byte:02x}"));
        }
    }
    if id.len() > LONGEST {
        format!("{HASH}{}", hex(&Sha256::digest(key.as_bytes())))
    } else {
        id
    }
}

/// The key of an id: the id itself, or the key that [`id_for_key`] encoded. `None` for a hashed one.
pub fn key_for_id(id: &str) -> Option<String> {
    if id.starts_with(HASH) {
        return None;
    }
    let Some(encoded) = id.strip_prefix(KEY) else {
        return Some(id.to_string());
    };
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'_' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Lower-case hex digits of these bytes.
pub fn hex(bytes: &[u8]) -> String {
    with_hex("", bytes)
}

/// A prefix and lower-case hex digits of these bytes.
fn with_hex(prefix: &str, bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hex = String::with_capacity(prefix.len() + 2 * bytes.len());
    hex.push_str(prefix);
    for byte in bytes {
        hex.push(char::from(DIGITS[usize::from(byte >> 4)]));
        hex.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    hex
}

/// SHA-256 of these bytes as 64 hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    sha256_of([bytes])
}

/// An id derived from data: the prefix, such as `evt_`, and 16 hex digits of its SHA-256.
pub fn id_from(prefix: &str, data: impl AsRef<[u8]>) -> String {
    format!("{prefix}{}", &sha256(data.as_ref())[..16])
}

/// SHA-256 of concatenated slices as 64 hex digits.
pub fn sha256_of<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> String {
    hex(&digest(pieces))
}

/// SHA-256 of concatenated slices.
pub fn digest<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> [u8; 32] {
    let mut digest = Sha256::new();
    pieces.into_iter().for_each(|piece| digest.update(piece));
    digest.finalize().into()
}

/// A writer that computes the SHA-256 of everything written to it.
#[derive(Clone, Debug, Default)]
pub struct HashWriter(Sha256);

impl HashWriter {
    /// The digest as 64 hex digits.
    pub fn hex(self) -> String {
        hex(&self.0.finalize())
    }
}

impl std::io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An id in UUID format, derived from a name.
pub fn uuid(name: &[u8]) -> String {
    let hash = sha256(name);
    format!(
        "{}-{}-4{}-8{}-{}",
        &hash[..8],
        &hash[8..12],
        &hash[13..16],
        &hash[17..20],
        &hash[20..32]
    )
}

/// Whether a name has UUID format.
pub fn is_uuid(name: &str) -> bool {
    let is_place = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    name.len() == 36 && name.bytes().enumerate().all(is_place)
}

/// Generates ids for messages without one: `msg_` and the first 16 hex digits of the SHA-256 of the line, so that every
/// read yields the same id. From the second identical line on, the hash covers the line, a newline and the ordinal.
#[derive(Clone, Debug, Default)]
pub struct Derive {
    seen: HashMap<Short, u64>,
}

impl Derive {
    /// The id of the next message without one.
    pub fn id(&mut self, line: &[u8]) -> String {
        derived_id(self.next(line).1)
    }

    /// First bytes of the SHA-256 of the line, and of the digest that its id shows.
    pub(super) fn next(&mut self, line: &[u8]) -> (Short, Short) {
        let own = Derive::digest(line);
        (own, self.shown(own, line))
    }

    /// The beginning of the SHA-256 of a line.
    pub(super) fn digest(line: &[u8]) -> Short {
        short([line])
    }

    /// The beginning of the SHA-256 that the id of the next line shows, of which that of the line itself is known.
    pub(super) fn shown(&mut self, own: Short, line: &[u8]) -> Short {
        match self.count(own) {
            0 => own,
            ordinal => short([line, b"\n", ordinal.to_string().as_bytes()]),
        }
    }

    /// Number of lines with this SHA-256 before the last one.
    pub(super) fn ordinal(&self, line: Short) -> u64 {
        self.seen.get(&line).map_or(0, |seen| seen - 1)
    }

    /// Counts a line with this SHA-256 and returns how many preceded it.
    pub(super) fn count(&mut self, line: Short) -> u64 {
        let seen = self.seen.entry(line).or_insert(0);
        *seen += 1;
        *seen - 1
    }
}

/// First bytes of a SHA-256.
pub(super) type Short = [u8; 8];

fn short<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Short {
    *digest(pieces).first_chunk().unwrap_or(&[0; 8])
}

const DERIVED: &str = "msg_";

/// The id that shows these bytes.
pub(super) fn derived_id(digest: Short) -> String {
    format!("{DERIVED}{}", hex(&digest))
}

/// The bytes that a derived id shows; none of an id that cannot be a derived one.
pub(super) fn derived_digest(id: &str) -> Option<Short> {
    let digits = id.strip_prefix(DERIVED)?;
    let number = u64::from_str_radix(digits, 16).ok()?.to_be_bytes();
    (derived_id(number) == id).then_some(number)
}

/// Hash for a fast first comparison of ids; identical in every run of one build.
pub fn hash(id: &str) -> NonZeroU64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    NonZeroU64::new(hasher.finish()).unwrap_or(NonZeroU64::MIN)
}

/// Random bytes that are asked for at once: as many as the system gives without interruption.
const BATCH_BYTES: usize = 256;

/// Where new ids come from: chance, or a seed that makes them the same on every run.
#[derive(Debug)]
pub enum Chance {
    /// The system's randomness, and what was asked for ahead.
    System(RwLock<Vec<u8>>),
    /// `CONVO_SEED`, and how many ids were made.
    Seed(String, AtomicU64),
}

impl Chance {
    /// From the value of `CONVO_SEED`, if set.
    pub fn new(seed: Option<String>) -> Chance {
        match seed {
            Some(seed) => Chance::Seed(seed, AtomicU64::new(0)),
            None => Chance::System(RwLock::default()),
        }
    }

    /// Gives back the last id, which was not used; with a seed, the next call generates it again.
    pub fn take_back(&self) {
        if let Chance::Seed(_, built) = self {
            built.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Number of ids generated with a seed, for [`Self::reset_to`].
    pub fn generated(&self) -> u64 {
        match self {
            Chance::Seed(_, built) => built.load(Ordering::Relaxed),
            Chance::System(_) => 0,
        }
    }

    /// Resets the number of generated ids to `to`, because later ids were not used.
    pub fn reset_to(&self, to: u64) {
        if let Chance::Seed(_, built) = self {
            built.store(to, Ordering::Relaxed);
        }
    }

    /// Returns the prefix and sixteen hex digits. With a seed, `what` distinguishes one invocation from another; otherwise it
    /// is not called.
    pub fn id(&self, prefix: &str, what: impl FnOnce() -> String) -> Result<String> {
        match self {
            Chance::System(before) => {
                let mut before = before.write().unwrap_or_else(PoisonError::into_inner);
                if before.is_empty() {
                    let mut bytes = [0; BATCH_BYTES];
                    getrandom::fill(&mut bytes).map_err(|e| {
                        Error::new(
                            ErrorKind::InputOutput,
                            format!("no random numbers for an id: {e}"),
                        )
                    })?;
                    before.extend_from_slice(&bytes);
                }
                let rest = before.len() - size_of::<Short>();
                let id = with_hex(prefix, &before[rest..]);
                before.truncate(rest);
                Ok(id)
            }
            Chance::Seed(seed, made) => {
                let nth = made.fetch_add(1, Ordering::Relaxed);
                let digest = Sha256::digest(format!("{seed}\n{nth}\n{}", what()));
                Ok(with_hex(prefix, &digest[..8]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_follow_the_grammar() {
        for good in [
            "a",
            "session_20261120_180203_9f2c41d07ab3e655",
            "A.b-c_9",
            &"x".repeat(128),
        ] {
            assert!(is_id(good), "{good}");
        }
        for bad in [
            "",
            "..",
            "../x",
            ".a",
            "-a",
            "_a",
            "a/b",
            "a b",
            "é",
            "a\0",
            &"x".repeat(129),
        ] {
            assert!(checked_id(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn five_keys_are_five_ids() {
        let keys = ["a:b", "a/b", "a\\b", "a_b", "A_B"];
        let ids: std::collections::HashSet<_> = keys.iter().map(|key| id_for_key(key)).collect();
        assert_eq!(ids.len(), 5);
        assert_eq!(id_for_key("agent:main:main"), "key_agent_3amain_3amain");
        assert_ne!(id_for_key("key_a"), "key_a");
        assert!(id_for_key(&"ü".repeat(100)).starts_with("hash_"));
    }

    proptest! {
        #[test]
        fn keys_are_restored_from_ids(key in ".{1,30}") {
            let id = id_for_key(&key);
            prop_assert!(is_id(&id));
            if !id.starts_with(HASH) {
                prop_assert_eq!(key_for_id(&id), Some(key));
            }
        }
    }

    #[test]
    fn a_derived_id_shows_its_digest() {
        let id = Derive::default().id(b"{}");
        assert_eq!(derived_digest(&id).map(derived_id), Some(id));
        for other in [
            "msg_", "msg_0", "msg_00000000000000FF", "msg_+0000000000000ff", "evt_00000000000000ff",
        ] {
            assert_eq!(derived_digest(other), None, "{other}");
        }
    }

    #[test]
    fn random_ids_differ() {
        let chance = Chance::new(None);
        let ids: Vec<String> = (0..1000).map(|_| chance.id("", String::new).unwrap()).collect();
        assert!(ids.iter().all(|id| id.len() == 16));
        assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), 1000);
    }

    #[test]
    fn identical_lines_have_different_ids() {
        let mut derive = Derive::default();
        let first = derive.id(b"{}");
        assert_ne!(first, derive.id(b"{}"));
        assert_eq!(first, Derive::default().id(b"{}"));
    }
}
