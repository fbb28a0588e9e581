//! A document that holds a list of elements, as many programs keep a session: what stands in it is written back as it
//! came, and what is new stands between in the document's own manner.

#[cfg(test)]
mod tests;
mod weave;

pub use weave::{Made, Piece, Unit, weave};

use crate::error::{Error, Kind, Place, Result};
use crate::model::json::{self, Dialect};

/// Where the value of a document begins, behind a byte order mark. The errors name the place of what is wrong: it is no
/// JSON, no UTF-8, or something follows it, as `what` calls it.
///
/// # Errors
/// [`Kind::Data`].
pub fn whole(bytes: &[u8], what: &str) -> Result<usize> {
    let mark = usize::from(bytes.starts_with(b"\xef\xbb\xbf")) * 3;
    let start = json::skip_space(bytes, mark);
    let end = json::value_end(bytes, start, Dialect::Strict).map_err(|fault| {
        refused(
            bytes,
            fault.offset.min(bytes.len()),
            format!("not valid JSON: {}", fault.what),
        )
    })?;
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(refused(bytes, error.valid_up_to(), "not UTF-8"));
    }
    if !bytes[end..].trim_ascii().is_empty() {
        return Err(refused(bytes, end, format!("unexpected text after the {what}")));
    }
    Ok(start)
}

/// What is wrong with a document, at its place.
pub fn refused(bytes: &[u8], offset: usize, what: impl Into<String>) -> Error {
    let line = 1 + memchr::memchr_iter(b'\n', &bytes[..offset.min(bytes.len())]).count() as u64;
    let place = Place {
        line,
        offset: offset as u64,
    };
    Error::new(Kind::Data, what).at("", place)
}
