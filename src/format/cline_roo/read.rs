//! Reads a history and its companion file as a session.

use super::codec::ClineRoo;
use super::element::{is_tagged, text};
use super::panel::{self, Panel};
use crate::error::{Error, Position, Result};
use crate::format::report::Report;
use crate::format::{DocumentSource, kit};
use crate::model::json::{self, Dialect};
use crate::model::record::without_mark;
use crate::model::session::Session;
use crate::model::view::View;

/// File names that all histories share.
const USUAL: [&str; 2] = ["api_conversation_history.json", "claude_messages.json"];

/// Reads a history.
pub fn read(source: &DocumentSource<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let bytes = without_mark(source.bytes);
    let refused = |what| Err(Error::data(what));
    let start = json::skip_space(bytes, 0);
    if bytes.get(start) != Some(&b'[') {
        return refused("not an array of messages");
    }
    let first = json::skip_space(bytes, start + 1);
    let first = &bytes[first..json::value_end(bytes, first, Dialect::Strict).unwrap_or(first)];
    if text(first, "say").is_some() || text(first, "ask").is_some() {
        let error = Error::data("the messages that Cline or Roo display");
        return Err(error.hint("read the session from api_conversation_history.json next to this file"));
    }
    let panel = (source.neighbor)(panel::NAME).ok().flatten();
    let codec = ClineRoo {
        panel: panel.and_then(|bytes| Panel::of(&bytes)),
        is_unnamed: source.name.is_none_or(|name| USUAL.contains(&name)),
    };
    let session = kit::read_document(&codec, source, report)?;
    if View::replay(&session).items.is_empty() && session.messages().next().is_none() {
        return refused("contains no messages");
    }
    if codec.panel.is_none() && !is_roo(&bytes[start..]) {
        let what = format!(
            "{}, which lists the messages that Cline omits, is missing; all messages are in the view",
            panel::NAME
        );
        report.note(Position { line: 0, offset: 0 }, what);
    }
    Ok(vec![session])
}

/// Whether a history has Roo's tags.
fn is_roo(bytes: &[u8]) -> bool {
    let is_possible = ["\"condense", "\"truncation"]
        .iter()
        .any(|tag| memchr::memmem::find(bytes, tag.as_bytes()).is_some());
    let elements = json::elements(bytes, Dialect::Strict).filter(|_| is_possible);
    elements.is_some_and(|elements| elements.into_iter().any(is_tagged))
}
