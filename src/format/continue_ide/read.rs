//! Reads a document as a session.

use super::codec::ContinueCodec;
use super::decode::text;
use crate::error::{Error, Result};
use crate::format::report::Report;
use crate::format::{DocumentSource, kit};
use crate::model::json::{self, Dialect};
use crate::model::record::without_mark;
use crate::model::session::Session;
use crate::model::time;

/// File name of the index next to the documents.
const INDEX: &str = "sessions.json";

/// Reads a document with its companion file.
pub fn read(source: &DocumentSource<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let bytes = without_mark(source.bytes);
    let document = bytes.trim_ascii();
    if document.starts_with(b"[") {
        let error = Error::data("not a Continue session: an array");
        return Err(error.hint("give the session files listed in sessions.json"));
    }
    let index = (source.neighbor)(INDEX).ok().flatten();
    let codec = ContinueCodec {
        created: index.and_then(|index| created_at(&index, &text(document, "sessionId")?)),
    };
    Ok(vec![kit::read_document(&codec, source, report)?])
}

/// The creation time of a session in the index.
fn created_at(index: &[u8], id: &str) -> Option<String> {
    let rows = json::elements(index, Dialect::Strict)?;
    let row = rows
        .into_iter()
        .find(|row| text(row, "sessionId").as_deref() == Some(id))?;
    let reported = json::member(row, "dateCreated")?;
    let digits = json::text(reported).unwrap_or_else(|| String::from_utf8_lossy(reported));
    time::from_epoch(digits.parse::<f64>().ok()? / 1000.0)
}
