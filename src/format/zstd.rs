//! Zstandard: decompression up to a size limit, and compression. Codex compresses older sessions with it.

use super::gzip::MAXIMUM;
use crate::error::{Error, Result};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Read;

/// Whether these bytes start like Zstandard.
pub fn is_zstd(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// Decompresses all frames.
///
/// # Errors
/// A data error if they are damaged, truncated, followed by other data, or larger than [`MAXIMUM`] when decompressed.
pub fn unpack(mut bytes: &[u8]) -> Result<Vec<u8>> {
    let damaged = |error: String| {
        let error = Error::data(format!("damaged zstd data: {error}"));
        error.hint("check the file with: zstd -t FILE")
    };
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let decoder = StreamingDecoder::new(&mut bytes).map_err(|error| damaged(error.to_string()))?;
        let left = (MAXIMUM + 1).saturating_sub(out.len() as u64);
        let read = decoder.take(left).read_to_end(&mut out);
        read.map_err(|error| damaged(error.to_string()))?;
        if out.len() as u64 > MAXIMUM {
            let what = format!("larger than {} MiB decompressed", MAXIMUM >> 20);
            return Err(Error::data(what).hint("decompress it first: zstd -dc FILE | convo ..."));
        }
    }
    Ok(out)
}

/// Compresses into one frame.
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn compression_is_reversible() {
        for bytes in [Vec::new(), b"x".to_vec(), b"{\"role\":\"user\"}\n".repeat(20_000)] {
            let packed = pack(&bytes);
            assert!(is_zstd(&packed));
            assert_eq!(unpack(&packed).unwrap(), bytes);
            let twice = [packed.clone(), packed.clone()].concat();
            assert_eq!(unpack(&twice).unwrap().len(), 2 * bytes.len());
        }
    }

    #[test]
    fn damaged_data_is_refused() {
        let packed = pack(&b"{\"role\":\"user\"}\n".repeat(200));
        for end in 1..packed.len() {
            assert_eq!(unpack(&packed[..end]).unwrap_err().kind, ErrorKind::Data, "{end}");
        }
        let error = unpack(&[&packed[..], b"words"].concat()).unwrap_err();
        assert!(
            error.message.starts_with("damaged zstd data: "),
            "{}",
            error.message
        );
    }
}
