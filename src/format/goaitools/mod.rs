//! goaitools: conversation states, which are JSON objects that each call receives and returns updated.
//!
//! | `metadata.goaitools` of the header | contents |
//! |---|---|
//! | `provider` | the provider of the messages |
//! | `processed_length` | how many messages the model has seen, starting with the oldest |
//! | `members` | members unknown to goaitools |
//!
//! Messages are native, with three exceptions: a message lacks a required member, has a member that conflicts with a
//! native one, or Go reads more from it than it contains. The original is then stored in `metadata.goaitools.raw` and
//! written back unless the message has changed. An element that is not a message is a `foreign` event, and is counted
//! as a message, as in goaitools. A summary that this program wrote as a message is read as a summary again.
//!
//! The format is not one of the kit's codecs, because its messages are native: they keep their own members and need no
//! residue, and an input can be compressed and in Base64.

mod encode;
mod message;
mod state;
#[cfg(test)]
mod tests;
mod write;

pub use write::write;

use super::detect::Signature;
use super::native::{HeaderBuilder, HeaderSource};
use super::{
    DocumentSource, Format, FormatSpec, ReadFn,
    report::{Loss, LossSet, Report},
};
use crate::error::{Position, Result};
use crate::model::json::{self, ObjectBuilder, wrapped};
use crate::model::session::{Class, Session};
use state::StatePositions;

/// goaitools' states, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: message::NAME,
    about: "goaitools conversation state",
    read: ReadFn::Document(read),
    write: Some(write),
    unsupported: LossSet::USUAL.without(&[Loss::Arguments, Loss::Name]).with(&[
        Loss::Model,
        Loss::Summary,
        Loss::Orphan,
    ]),
    note: "gzip and Base64 are decoded, and encoded again on output.",
    ..FormatSpec::BLANK
};

/// The signature of a state.
pub(super) const SIGNATURE: Signature = Signature {
    name: SPEC.name,
    what: "a goaitools state",
    document: |shape| {
        let begun = shape.has("processed_length") && shape.any(&["provider", "messages"]);
        begun || (shape.all(&["version", "provider"]) && shape.is_array("messages"))
    },
    ..Signature::BLANK
};

/// The provider of a new state; goaitools has only one.
const PROVIDER: &[u8] = br#""openai""#;

/// Reads a state; an empty input is a new one.
///
/// # Errors
/// [`crate::error::ErrorKind::Data`] for states that goaitools would discard: invalid JSON, another version, members of
/// wrong types.
pub fn read(source: &DocumentSource<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let state = state::read(source.bytes, report)?;
    let mut session = Session::default();
    session.push_new(&header(source, &state));
    let mut places = StatePositions::of(source.bytes);
    // A summary replaces the previous one, so only the last one becomes an event again.
    let mut texts = state.messages.iter().enumerate().rev();
    let summary = texts.find_map(|(nth, (_, element))| Some((nth, message::summary_text(element)?)));
    for (nth, (offset, element)) in state.messages.iter().enumerate() {
        let place = places.at(*offset);
        let message::ConvertedElement { line, fault } = match &summary {
            Some((at, text)) if *at == nth => message::summary_line(element, text).into(),
            _ => message::read(element),
        };
        if let Some(fault) = fault {
            report.damage(place, format!("message {nth}: {fault}; kept unchanged"));
        }
        session.push_generated(line, place);
    }
    Ok(vec![session])
}

fn header(source: &DocumentSource<'_>, state: &state::GoaitoolsState<'_>) -> Vec<u8> {
    let mut header = HeaderBuilder::default();
    let id = header.named(&HeaderSource::of(Format::Goaitools, source), None, 0);
    let new = source.bytes.is_empty().then_some(PROVIDER);
    let mut own = ObjectBuilder::default();
    own.optional("provider", state.provider.or(new));
    own.optional("processed_length", state.processed);
    if !state.others.is_empty() {
        let others: Vec<Vec<u8>> = state.others.iter().map(|raw| json::compact(raw).0).collect();
        own.raw("members", [b"{".as_slice(), &others.join(&b','), b"}"].concat());
    }
    header.raw("metadata", wrapped(message::NAME, own.finish()));
    header.finish(&id)
}

/// A state with this provider and no messages.
pub fn new_state(provider: &str) -> Vec<u8> {
    let mut state = b"{\"version\":1,\"provider\":".to_vec();
    super::go_json::push_text(&mut state, provider);
    state.extend_from_slice(b",\"processed_length\":0,\"messages\":[]}");
    state
}

/// The provider of a session that was read from a state, if the state has it.
pub fn provider(session: &Session) -> Option<String> {
    let own = session.metadata(message::NAME)?;
    json::member_string(&own, "provider")
}

/// The lines that count as messages in a state: messages, other elements, and a summary that was one.
fn counted_lines(session: &Session) -> impl Iterator<Item = usize> + '_ {
    (0..session.len()).filter(|index| match session.class(*index) {
        Class::Message(_) => true,
        Class::Event => message::preserved_element(session.record(*index).body).is_some(),
        _ => false,
    })
}

/// For a session that was read from a state: the first line that the model has not seen, or the number of lines. `None`
/// for any other session.
pub fn unseen(session: &Session) -> Option<usize> {
    let own = session.metadata(message::NAME)?;
    let processed = json::member(&own, "processed_length").map_or(0, state::number);
    Some(counted_lines(session).nth(processed).unwrap_or(session.len()))
}

/// The session's metadata with all messages marked as seen, including `more` messages to be added.
pub fn all_seen(session: &Session, more: usize) -> Vec<u8> {
    let metadata = session.header_member("metadata");
    let metadata = metadata.unwrap_or(b"{}");
    let object = |raw: Option<&[u8]>| {
        raw.filter(|raw| raw.starts_with(b"{"))
            .map_or(b"{}".to_vec(), <[u8]>::to_vec)
    };
    let count = (counted_lines(session).count() + more).to_string();
    let own = object(json::member(metadata, message::NAME));
    let own = json::with_members(&own, &[("processed_length", Some(count.as_bytes()))]).unwrap_or(own);
    let metadata = object(Some(metadata));
    json::with_members(&metadata, &[(message::NAME, Some(&own))]).unwrap_or(metadata)
}

/// Whether a document with these members is a state.
pub(super) fn is_state(has: impl Fn(&str) -> bool) -> bool {
    has("processed_length") || ["version", "provider", "messages"].into_iter().all(has)
}

/// The position of the state as a whole.
const WHOLE: Position = Position { line: 0, offset: 0 };
