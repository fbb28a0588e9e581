//! A document as a session.

use super::NAME;
use super::item::{self, role, text};
use crate::error::{Place, Result};
use crate::format::content;
use crate::format::kit::Frame;
use crate::format::kit::records::passthrough;
use crate::format::listing::{Unit, refused, whole};
use crate::format::native::HeaderBuilder;
use crate::format::report::Report;
use crate::format::request::piece::{array, quoted, rest_object, wrapped};
use crate::format::workspace::Workspace;
use crate::format::{Format, Source};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::key;
use crate::model::origin::Origin;
use crate::model::session::Session;
use crate::model::time;
use std::collections::HashSet;
use std::sync::Arc;

/// Name of the index that lies beside the documents.
const INDEX: &str = "sessions.json";

/// Reads a document with what lies beside it.
pub fn read(source: &Source<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let (document, listing) = listing(source.bytes)?;
    let index = (source.neighbour)(INDEX).ok().flatten();
    let begun = index.and_then(|index| begun(&index, &text(document, "sessionId")?));
    let mut history = history(source, document, &listing, begun.as_deref(), report);
    history.session.set_origin(Arc::new(Origin {
        bytes: source.bytes.to_vec(),
        ..Origin::default()
    }));
    Ok(vec![history.session])
}

/// When the index says that a session began.
fn begun(index: &[u8], id: &str) -> Option<String> {
    let rows = json::elements(index, Dialect::Strict)?;
    let row = rows
        .into_iter()
        .find(|row| text(row, "sessionId").as_deref() == Some(id))?;
    let told = json::member(row, "dateCreated")?;
    let digits = json::text(told).unwrap_or_else(|| String::from_utf8_lossy(told));
    time::from_epoch(digits.parse::<f64>().ok()? / 1000.0)
}

/// The document without byte order mark, and the list in it.
pub fn listing(bytes: &[u8]) -> Result<(&[u8], Frame<'_>)> {
    let start = whole(bytes, "document")?;
    let mark = usize::from(bytes.starts_with(b"\xef\xbb\xbf")) * 3;
    if bytes[start] == b'[' {
        let error = refused(bytes, start, "not a Continue session: an array");
        return Err(error.hint("give the session files listed in sessions.json"));
    }
    let document = &bytes[mark..];
    match Frame::of(document, Some("history")) {
        Some(listing) => Ok((document, listing)),
        None => Err(refused(bytes, start, "not a Continue session: no history")),
    }
}

/// A session, and which of its lines its items became.
pub struct History {
    /// The session.
    pub session: Session,
    /// The items, those that are read as one together.
    pub units: Vec<Unit>,
}

/// Makes a session of a document.
pub fn history(
    source: &Source<'_>,
    document: &[u8],
    listing: &Frame<'_>,
    begun: Option<&str>,
    report: &mut Report,
) -> History {
    let items: Vec<Vec<u8>> = (0..listing.elements.len())
        .map(|nth| json::compact(listing.element(nth)).0)
        .collect();
    let roles: Vec<_> = items.iter().map(|item| role(item)).collect();
    let tools = (0..items.len()).filter(|nth| roles[*nth].as_deref() == Some("tool"));
    let answered: HashSet<String> = tools
        .filter_map(|nth| Some(text(json::member(&items[nth], "message")?, "toolCallId")?.into_owned()))
        .collect();
    let mut session = Session::default();
    let (header, name) = header(source, document, begun);
    session.push_new(&header);
    let mut units = Vec::new();
    let mut place = Place { line: 1, offset: 0 };
    let mut counted = 0;
    let mut ids: Option<(String, String)> = None;
    let mut known = HashSet::new();
    let mut at = 0;
    while at < items.len() {
        let offset = listing.elements[at].start;
        place.line += memchr::memchr_iter(b'\n', &document[counted..offset]).count() as u64;
        place.offset = (offset + source.bytes.len() - document.len()) as u64;
        counted = offset;
        // Thoughts, and what was said then; a summary stands for what is up to its item, so that it ends them.
        let is_thought = |nth: &usize| roles[*nth].as_deref() == Some("thinking");
        let run = (at..items.len()).take_while(is_thought).count();
        let summed = (at..at + run).position(|nth| has_summary(&items[nth]));
        let thoughts = summed.map_or(run, |nth| nth + 1);
        let followed = thoughts > 0
            && summed.is_none()
            && roles
                .get(at + thoughts)
                .is_some_and(|role| role.as_deref() == Some("assistant"));
        let behind = match (thoughts, followed) {
            (0, _) => at + 1,
            (thoughts, true) => at + thoughts + 1,
            (thoughts, false) => at + thoughts,
        };
        let start = session.len();
        let group: Vec<&[u8]> = items[at..behind].iter().map(Vec::as_slice).collect();
        if roles[at].is_some() {
            for message in group.iter().filter_map(|item| json::member(item, "message")) {
                let others = ["toolCalls", "toolCallId", "redactedThinking", "signature"];
                if let Some(fault) = content::fault(message, &others) {
                    report.damage(place, fault);
                }
            }
            let last = group.last().copied().unwrap_or_default();
            let own = json::member(last, "message").and_then(|message| text(message, "id"));
            let own = own.filter(|id| !id.is_empty() && known.insert(id.to_string()));
            let id = own.map_or_else(|| format!("{name}#{}", at + 1), |id| id.into_owned());
            for body in item::bodies(&group, &answered, &id) {
                let id = text(&body, "id").unwrap_or_default().into_owned();
                ids = Some((ids.map_or_else(|| id.clone(), |(first, _)| first), id));
                session.push_made(body, place);
            }
        } else {
            report.damage(place, "not a message; kept unchanged");
            session.push_made(passthrough(NAME, group[0]), place);
        }
        let mut texts = group
            .iter()
            .filter_map(|item| json::member(item, "conversationSummary"));
        if let Some(text) = texts.rfind(|raw| raw.starts_with(b"\"")) {
            session.push_made(summary(text, ids.as_ref(), at), place);
        }
        units.push(Unit {
            elements: at..behind,
            lines: start..session.len(),
        });
        at = behind;
    }
    History { session, units }
}

/// Whether an item carries a summary of what was said up to it.
fn has_summary(item: &[u8]) -> bool {
    json::member(item, "conversationSummary").is_some_and(|raw| raw.starts_with(b"\""))
}

/// The event that a summary is: it stands for all up to the last of these messages.
fn summary(text: &[u8], ids: Option<&(String, String)>, at: usize) -> Vec<u8> {
    let id = key::sha256(&[format!("{at}\n").as_bytes(), text].concat());
    let mut event = ObjectBuilder::default();
    event
        .text("type", "summary")
        .text("id", &format!("evt_{}", &id[..16]))
        .text("at", "1970-01-01T00:00:00Z")
        .raw("content", text);
    match ids {
        Some((first, last)) => event.raw("covers", array([quoted(first), quoted(last)])),
        None => event.raw("here", "true"),
    };
    event.text("by", NAME);
    event.finish()
}

/// The header, and the name of the session.
fn header(source: &Source<'_>, document: &[u8], begun: Option<&str>) -> (Vec<u8>, String) {
    let own = text(document, "sessionId").filter(|id| !id.is_empty());
    let title = text(document, "title").filter(|title| !title.is_empty());
    let name = own
        .as_deref()
        .map_or_else(|| source.name_or_hash(), str::to_string);
    let mut header = HeaderBuilder::default();
    header.text("created_at", begun).text("title", title.as_deref());
    let id = header.named(Format::Continue, source, own.as_deref(), 0);
    let compact = json::compact(document).0;
    if let Some(rest) = rest_object(&compact, &["history"]) {
        let mut metadata = ObjectBuilder::default();
        let get = |name| json::member(&compact, name);
        Workspace::new(get("workspaceDirectory"), None, get("chatModelTitle")).add_to(&mut metadata);
        metadata.raw(NAME, wrapped("session", &rest));
        header.raw("metadata", metadata.finish());
    }
    (header.finish(&id), name)
}
