//! goaitools: the state of a conversation, one JSON object that goes into a call and comes out of it anew.
//!
//! | `metadata.goaitools` of the header | holds |
//! |---|---|
//! | `provider` | whose messages these are |
//! | `processed_length` | how many messages the model has seen, from the oldest |
//! | `members` | members that goaitools does not know |
//!
//! Messages go over as they are. Where the record stream needs a member that a message has not, has a use of its own
//! for one that it has, or Go reads more in it than is written there, the message as it was stands in its
//! `metadata.goaitools.raw`, and is what is written again unless something of it changed. An element that is no message
//! is a `foreign` event, and counts among the messages as it does there. The message that a summary of this program's became
//! is that summary again.

mod message;
mod spell;
mod state;
#[cfg(test)]
mod tests;
mod write;

pub use write::write;

use super::detect::Signature;
use super::native::HeaderBuilder;
use super::{
    Form, Format, Reading, Source,
    report::{Loss, Report},
};
use crate::error::{Place, Result};
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::{Class, Session};
use state::Places;

/// goaitools' states, as a format.
pub const FORM: Form = Form {
    name: NAME,
    about: "goaitools conversation state",
    read: Reading::Document(read),
    write: Some(write),
    loses: &[
        Loss::Id,
        Loss::Timestamp,
        Loss::Usage,
        Loss::Model,
        Loss::Reasoning,
        Loss::Signature,
        Loss::Attachment,
        Loss::Part,
        Loss::Category,
        Loss::Metadata,
        Loss::Summary,
        Loss::Orphan,
        Loss::Event,
        Loss::Header,
        Loss::Unreadable,
    ],
    note: "gzip and Base64 are decoded, and encoded again on output.",
    ..Form::BLANK
};

/// What a state looks like.
pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    what: "a goaitools state",
    document: |shape| {
        let begun = shape.has("processed_length") && shape.any(&["provider", "messages"]);
        begun || (shape.all(&["version", "provider"]) && shape.is_array("messages"))
    },
    ..Signature::BLANK
};

/// The word under which leftovers are kept.
const NAME: &str = "goaitools";

/// Whose messages a new state holds: the one provider that goaitools has.
const PROVIDER: &[u8] = br#""openai""#;

/// Reads a state; empty bytes are a new one.
///
/// # Errors
/// [`crate::error::Kind::Data`] for what goaitools would throw away whole: no JSON, another version, members of another type.
pub fn read(source: &Source<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let state = state::read(source.bytes, report)?;
    let mut session = Session::default();
    session.push_new(&header(source, &state));
    let mut places = Places::of(source.bytes);
    // A summary replaces the one before it, so that only the last one is still an event.
    let mut texts = state.messages.iter().enumerate().rev();
    let summary = texts.find_map(|(nth, (_, element))| Some((nth, message::summary_text(element)?)));
    for (nth, (offset, element)) in state.messages.iter().enumerate() {
        let place = places.at(*offset);
        let message::Read { line, fault } = match &summary {
            Some((at, text)) if *at == nth => message::summary_line(element, text).into(),
            _ => message::read(element),
        };
        if let Some(fault) = fault {
            report.damage(place, format!("message {nth}: {fault}; kept unchanged"));
        }
        session.push_made(line, place);
    }
    Ok(vec![session])
}

fn header(source: &Source<'_>, state: &state::State<'_>) -> Vec<u8> {
    let mut header = HeaderBuilder::default();
    let id = header.named(Format::Goaitools, source, None, 0);
    let new = source.bytes.is_empty().then_some(PROVIDER);
    let mut own = ObjectBuilder::default();
    if let Some(provider) = state.provider.or(new) {
        own.raw("provider", provider);
    }
    if let Some(processed) = state.processed {
        own.raw("processed_length", processed);
    }
    if !state.others.is_empty() {
        let others: Vec<Vec<u8>> = state.others.iter().map(|raw| json::compact(raw).0).collect();
        own.raw("members", [b"{".as_slice(), &others.join(&b','), b"}"].concat());
    }
    let mut metadata = ObjectBuilder::default();
    metadata.raw(NAME, own.finish());
    header.raw("metadata", metadata.finish());
    header.finish(&id)
}

/// A state of this provider without any message.
pub fn new_state(provider: &str) -> Vec<u8> {
    let mut state = b"{\"version\":1,\"provider\":".to_vec();
    super::go::push_text(&mut state, provider);
    state.extend_from_slice(b",\"processed_length\":0,\"messages\":[]}");
    state
}

/// What the header of a session keeps of the state that it came from; none when it came from none.
fn own(session: &Session) -> Option<Vec<u8>> {
    let header = session.header();
    let (_, metadata) = header.iter().find(|(name, _)| name == "metadata")?;
    json::member(metadata, NAME).map(<[u8]>::to_vec)
}

/// Whose messages a session holds that came from a state; none for any other, and where the state does not say it.
pub fn provider(session: &Session) -> Option<String> {
    let own = own(session)?;
    json::member(&own, "provider")
        .and_then(json::text)
        .map(std::borrow::Cow::into_owned)
}

/// The lines that count as messages in a state: messages, elements that are none, and a summary that was one.
fn counted(session: &Session) -> impl Iterator<Item = usize> + '_ {
    (0..session.len()).filter(|index| match session.class(*index) {
        Class::Message(_) => true,
        Class::Event => message::carried(session.record(*index).body).is_some(),
        _ => false,
    })
}

/// The line with which begins what the model has not seen, in a session that came from a state; the number of lines
/// when it has seen everything. None for any other session.
pub fn unseen(session: &Session) -> Option<usize> {
    let own = own(session)?;
    let processed = json::member(&own, "processed_length").map_or(0, state::number);
    Some(counted(session).nth(processed).unwrap_or(session.len()))
}

/// The session's metadata with everything marked as seen, `more` messages that are to be added included.
pub fn all_seen(session: &Session, more: usize) -> Vec<u8> {
    let header = session.header();
    let metadata = header.iter().find(|(name, _)| name == "metadata");
    let metadata = metadata.map_or(b"{}".as_slice(), |(_, metadata)| metadata);
    let object = |raw: Option<&[u8]>| {
        raw.filter(|raw| raw.starts_with(b"{"))
            .map_or(b"{}".to_vec(), <[u8]>::to_vec)
    };
    let count = (counted(session).count() + more).to_string();
    let own = object(json::member(metadata, NAME));
    let own = json::with_members(&own, &[("processed_length", Some(count.as_bytes()))]).unwrap_or(own);
    let metadata = object(Some(metadata));
    json::with_members(&metadata, &[(NAME, Some(&own))]).unwrap_or(metadata)
}

/// Whether a document with these members is a state.
pub(super) fn is_state(has: impl Fn(&str) -> bool) -> bool {
    has("processed_length") || ["version", "provider", "messages"].into_iter().all(has)
}

/// A state of the messages that a place is told of as a whole.
const WHOLE: Place = Place { line: 0, offset: 0 };
