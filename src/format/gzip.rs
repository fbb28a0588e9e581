//! gzip: unpacked within a bound, and packed so that the same bytes always give the same bytes.

use crate::error::{Error, Kind, Result};
use flate2::bufread::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use std::io::{Read, Write};

/// The most that is unpacked: a few kilobytes may hold gigabytes of nothing.
pub const MOST: u64 = 256 << 20;

/// The operating system that the header names: unknown.
const UNKNOWN: u8 = 255;

/// Whether these bytes begin as gzip does.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Unpacks all of it.
///
/// # Errors
/// [`Kind::Data`] when it is damaged, cut off, followed by something else, or larger than [`MOST`] when unpacked.
pub fn unpack(bytes: &[u8]) -> Result<Vec<u8>> {
    unpack_within(bytes, MOST)
}

fn unpack_within(bytes: &[u8], most: u64) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(most + 1)
        .read_to_end(&mut out)
        .map_err(|error| Error::new(Kind::Data, format!("damaged gzip data: {error}")))?;
    if out.len() as u64 > most {
        let what = format!("larger than {} MiB decompressed", most >> 20);
        return Err(Error::new(Kind::Data, what).hint("decompress it first: gunzip -c FILE | convo ..."));
    }
    Ok(out)
}

/// Packs, with a header that says neither when nor where nor what.
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzBuilder::new()
        .mtime(0)
        .operating_system(UNKNOWN)
        .write(Vec::new(), Compression::default());
    // Memory takes whatever is written to it.
    let written = out.write_all(bytes);
    debug_assert!(written.is_ok());
    out.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_and_always_packed_alike() {
        for bytes in [Vec::new(), b"x".to_vec(), vec![7; 300_000]] {
            let packed = pack(&bytes);
            assert!(is_gzip(&packed));
            assert_eq!(packed[3..10], [0, 0, 0, 0, 0, 0, UNKNOWN], "no name, no time");
            assert_eq!(packed, pack(&bytes));
            assert_eq!(unpack(&packed).unwrap(), bytes);
        }
        let two = [pack(b"a"), pack(b"b")].concat();
        assert_eq!(unpack(&two).unwrap(), b"ab");
    }

    #[test]
    fn damage_and_bombs_are_refused() {
        let packed = pack(b"a state of some length, so that there is something to cut");
        for length in 2..packed.len() {
            assert_eq!(
                unpack(&packed[..length]).unwrap_err().kind,
                Kind::Data,
                "{length}"
            );
        }
        let mut flipped = packed.clone();
        flipped[20] ^= 1;
        assert!(unpack(&flipped).is_err());
        assert!(
            unpack(&[packed, b"x".to_vec()].concat()).is_err(),
            "something follows"
        );
        let bomb = pack(&vec![0; 3 << 20]);
        let error = unpack_within(&bomb, 2 << 20).unwrap_err();
        assert!(error.message.contains("larger than 2 MiB"), "{error:?}");
        assert!(unpack_within(&bomb, 3 << 20).is_ok());
    }
}
