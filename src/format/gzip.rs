//! gzip: decompression up to a size limit, and deterministic compression.

use crate::error::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use std::io::{Read, Write};

/// Maximum decompressed size in bytes, because a few kilobytes can expand to gigabytes.
pub const MAXIMUM: u64 = 256 << 20;

/// The operating system in the header: unknown.
const UNKNOWN: u8 = 255;

/// Whether these bytes start like gzip.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Decompresses all members.
///
/// # Errors
/// A data error if the data is damaged, truncated, followed by other data, or larger than [`MAXIMUM`] when decompressed.
pub fn unpack(bytes: &[u8]) -> Result<Vec<u8>> {
    unpack_within(bytes, MAXIMUM)
}

fn unpack_within(bytes: &[u8], most: u64) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(most + 1)
        .read_to_end(&mut out)
        .map_err(|error| Error::data(format!("damaged gzip data: {error}")))?;
    if out.len() as u64 > most {
        let what = format!("larger than {} MiB decompressed", most >> 20);
        return Err(Error::data(what).hint("decompress it first: gunzip -c FILE | convo ..."));
    }
    Ok(out)
}

/// Compresses, with a header without time, operating system and name.
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzBuilder::new()
        .mtime(0)
        .operating_system(UNKNOWN)
        .write(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let written = out.write_all(bytes);
    debug_assert!(written.is_ok());
    out.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn compression_is_reversible_and_deterministic() {
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
    fn damaged_data_and_decompression_bombs_are_refused() {
        let packed = pack(b"a state of some length, so that there is something to cut");
        for length in 2..packed.len() {
            assert_eq!(
                unpack(&packed[..length]).unwrap_err().kind,
                ErrorKind::Data,
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
