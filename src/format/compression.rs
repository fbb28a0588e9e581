//! Compressed or encoded documents: gzip, zstd, Base64, or gzip in Base64. Changed content is written back with the
//! same encoding.

use super::{base64, gzip, zstd};
use crate::error::Result;
use crate::model::json;
use crate::model::record::without_mark;

/// A document with its encoding.
#[derive(Clone, Debug)]
pub struct Wrapped {
    style: Option<base64::Base64Style>,
    packing: Option<Compression>,
    outer: Vec<u8>,
    inner: Vec<u8>,
}

/// The compression of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    fn of(bytes: &[u8]) -> Option<Compression> {
        match bytes {
            _ if gzip::is_gzip(bytes) => Some(Compression::Gzip),
            _ if zstd::is_zstd(bytes) => Some(Compression::Zstd),
            _ => None,
        }
    }

    fn unpack(self, bytes: &[u8]) -> Result<Vec<u8>> {
        match self {
            Compression::Gzip => gzip::unpack(bytes),
            Compression::Zstd => zstd::unpack(bytes),
        }
    }

    fn pack(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Compression::Gzip => gzip::pack(bytes),
            Compression::Zstd => zstd::pack(bytes),
        }
    }
}

/// Whether an input that starts with these bytes may be compressed or encoded, and is worth decoding.
pub fn is_likely(head: &[u8]) -> bool {
    Compression::of(head).is_some() || base64::is_likely(head)
}

impl Wrapped {
    /// Decodes a document; returns the bytes unchanged if they are neither compressed nor encoded.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Data`] for compressed data that is damaged or too large.
    pub fn of(outer: Vec<u8>) -> Result<std::result::Result<Wrapped, Vec<u8>>> {
        let (style, decoded) = match base64::decode(&outer).filter(|_| base64::is_likely(&outer)) {
            Some((style, decoded)) => (Some(style), Some(decoded)),
            None => (None, None),
        };
        let packing = Compression::of(decoded.as_deref().unwrap_or(&outer));
        let inner = match (decoded, packing) {
            (Some(decoded), Some(packing)) => packing.unpack(&decoded)?,
            // Plain text can look like Base64, so the decoded bytes must look like a document.
            (Some(decoded), None) if is_document(&decoded) => decoded,
            (None, Some(packing)) => packing.unpack(&outer)?,
            _ => return Ok(Err(outer)),
        };
        Ok(Ok(Wrapped {
            style,
            packing,
            outer,
            inner,
        }))
    }

    /// The decoded content.
    pub fn inner(&self) -> &[u8] {
        &self.inner
    }

    /// The encoded bytes with new content; the original bytes if the content is unchanged.
    pub fn with(&self, inner: &[u8]) -> Vec<u8> {
        if inner == self.inner {
            return self.outer.clone();
        }
        let packed = match self.packing {
            Some(packing) => packing.pack(inner),
            None => inner.to_vec(),
        };
        match &self.style {
            Some(style) => base64::encode(&packed, style),
            None => packed,
        }
    }
}

fn is_document(bytes: &[u8]) -> bool {
    let text = without_mark(bytes);
    matches!(text.get(json::skip_space(text, 0)), Some(b'{' | b'['))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &[u8] = br#"{"version":1,"provider":"openai","processed_length":0,"messages":[]}"#;

    const LESS: &[u8] = br#"{"version":1}"#;

    fn style(text: &[u8]) -> base64::Base64Style {
        base64::decode(text).unwrap().0
    }

    #[test]
    fn wrapped_data_is_detected_and_wrapped_again() {
        let plain = style(b"Zg==");
        let raw = style(b"Zg");
        let lines = style(b"Zm9v\nZm9v\nZg==\n");
        let packed = gzip::pack(STATE);
        for outer in [
            packed.clone(),
            zstd::pack(STATE),
            base64::encode(STATE, &plain),
            base64::encode(STATE, &raw),
            base64::encode(STATE, &lines),
            base64::encode(&packed, &plain),
            base64::encode(&packed, &lines),
        ] {
            assert!(is_likely(&outer));
            let wrapped = Wrapped::of(outer.clone()).unwrap().unwrap();
            assert_eq!(wrapped.inner(), STATE);
            assert_eq!(wrapped.with(STATE), outer);
            let other = wrapped.with(LESS);
            let again = Wrapped::of(other.clone()).unwrap().unwrap();
            assert_eq!(
                (again.inner(), &again.style, again.packing),
                (LESS, &wrapped.style, wrapped.packing)
            );
        }
    }

    #[test]
    fn data_without_wrapping_is_returned_unchanged() {
        for plain in [STATE, b"", b"words", b"Zm9v", b"aGVsbG8gd29ybGQ="] {
            assert_eq!(Wrapped::of(plain.to_vec()).unwrap().unwrap_err(), plain);
        }
        assert!(Wrapped::of(b"\x1f\x8b\x08".to_vec()).is_err());
        assert!(Wrapped::of(b"\x28\xb5\x2f\xfd\x08".to_vec()).is_err());
    }
}
