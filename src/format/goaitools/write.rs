//! Writes a session's view as a state: messages read from a state keep their bytes, others are encoded in goaitools'
//! order.

use super::message::{self, NAME};
use super::{PROVIDER, WHOLE, encode, state, unseen};
use crate::error::{Position, Result};
use crate::format::kit::losses;
use crate::format::report::{Loss, Report};
use crate::format::{WritePurpose, WriteTarget, go_json, openai_chat, written};
use crate::model::json::{self, Dialect, quoted};
use crate::model::message::{MessagePart, Role};
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::summary;
use crate::model::view::{Item, View};
use std::borrow::Cow;

/// A message of the new state.
struct StateElement {
    raw: Vec<u8>,
    /// Whether the model has seen it.
    seen: bool,
    /// Whether goaitools drops it at the start of a state.
    system: bool,
    /// Whether a compaction inserted it.
    inserted: bool,
    by_model: bool,
}

/// Writes one session's view.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let own = session.metadata(NAME);
    if purpose == WritePurpose::Export {
        let keeps_event = |index: usize| {
            let body = session.record(index).body;
            message::preserved_element(body).is_some() || sets_processed(body)
        };
        losses::records(session, is_lossless, keeps_event, report);
    }
    let mut elements = match &own {
        Some(_) => state_elements(session, view, purpose, report),
        None => converted(session, view, purpose, report),
    };
    move_before_rules(&mut elements);
    if elements.first().is_some_and(|first| first.system) {
        let what = "the state starts with a system message, which goaitools drops at the next call";
        report.note(WHOLE, what);
    }
    let own = own.unwrap_or_default();
    let mut bytes = b"{\"version\":1".to_vec();
    let provider = json::member(&own, "provider").or(own.is_empty().then_some(PROVIDER));
    if let Some(provider) = provider {
        bytes.extend_from_slice(b",\"provider\":");
        go_json::push_raw(&mut bytes, provider);
    }
    bytes.extend_from_slice(b",\"processed_length\":");
    bytes.extend_from_slice(&processed(session, &own, &elements));
    bytes.extend_from_slice(b",\"messages\":[");
    for (nth, element) in elements.iter().enumerate() {
        if nth > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(&element.raw);
    }
    bytes.push(b']');
    if let Some([b'{', members @ .., b'}']) = json::member(&own, "members") {
        bytes.push(b',');
        go_json::push_raw(&mut bytes, members);
    }
    bytes.push(b'}');
    written(out.write_all(&bytes))
}

/// The messages of a session read from a state, including elements that are not messages.
fn state_elements(
    session: &Session,
    view: &View,
    purpose: WritePurpose,
    report: &mut Report,
) -> Vec<StateElement> {
    let limit = unseen(session).unwrap_or(0);
    let is_foreign = |index: &usize| {
        let record = session.record(*index);
        let foreign = record.event().is_some_and(|event| event.name() == "foreign");
        foreign && message::preserved_element(record.body).is_some()
    };
    let mut foreign = (0..session.len()).filter(is_foreign).peekable();
    let mut elements = Vec::new();
    let other = |index: usize| {
        let mut raw = Vec::new();
        let record = session.record(index);
        go_json::push_raw(
            &mut raw,
            message::preserved_element(record.body).unwrap_or(b"null"),
        );
        StateElement {
            raw,
            seen: index < limit,
            system: false,
            inserted: false,
            by_model: false,
        }
    };
    for item in &view.items {
        let (line, stored) = match item {
            Item::Summary(index) => {
                let raw = message::preserved_element(session.record(*index).body).map(<[u8]>::to_vec);
                (raw.is_some().then_some(*index), raw)
            }
            item => (
                item.line(),
                item.line().and_then(|_| message::stored(item.body(session))),
            ),
        };
        if let Some(line) = line {
            while let Some(index) = foreign.next_if(|index| *index < line) {
                elements.push(other(index));
            }
        }
        let raw = match stored {
            Some(stored) => {
                let mut raw = Vec::new();
                go_json::push_raw(&mut raw, &stored);
                raw
            }
            None => {
                if purpose == WritePurpose::Return && item.line().is_some() {
                    count_added_losses(item, session, report);
                }
                encode::message(&encode_message(item, session, purpose, report))
            }
        };
        elements.push(StateElement {
            seen: line.is_none_or(|line| line < limit),
            inserted: line.is_none(),
            ..element(raw, item, session)
        });
    }
    elements.extend(foreign.map(other));
    elements
}

/// Counts the losses of a message that was added to a state. Ids, times and token counts were added by the conversion
/// and are not losses.
fn count_added_losses(item: &Item, session: &Session, report: &mut Report) {
    let body = item.body(session);
    for (name, loss) in [("usage", Loss::Usage), ("model", Loss::Model)] {
        report.count_loss(loss, u64::from(json::member(body, name).is_some()));
    }
    let metadata = json::member(body, "metadata").and_then(|raw| json::members(raw, Dialect::Strict));
    let others = metadata.unwrap_or_default().iter().any(|(name, _)| name != NAME);
    report.count_loss(Loss::Metadata, u64::from(others));
}

/// Encodes a message of another format as an OpenAI Chat message.
fn encode_message(item: &Item, session: &Session, purpose: WritePurpose, report: &mut Report) -> Vec<u8> {
    match item.summary(session) {
        Some(text) => {
            if purpose == WritePurpose::Export {
                report.count_loss(Loss::Summary, 1);
            }
            // By default user, because a leading system message is lost in the next call.
            let role = item.summary_role(session);
            summary::message(&text, Some(role.as_deref().unwrap_or("user")))
        }
        None => with_text(openai_chat::message(item, session, purpose, report), report),
    }
}

/// Reduces content to text, because goaitools discards a whole conversation if a message has parts.
fn with_text(raw: Vec<u8>, report: &mut Report) -> Vec<u8> {
    if json::member(&raw, "content").is_none_or(|content| !matches!(content, [b'[' | b'{', ..])) {
        return raw;
    }
    let record = Record::parse(&raw, Position { line: 1, offset: 1 });
    let Some(message) = record.message() else {
        return raw;
    };
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    for part in message.parts() {
        match part {
            MessagePart::Text(text) => texts.push(text),
            MessagePart::Other(kind, _) => report.count_loss(
                match KINDS.iter().any(|known| kind.contains(known)) {
                    true => Loss::Attachment,
                    false => Loss::Part,
                },
                1,
            ),
        }
    }
    let content = quoted(&texts.join("\n"));
    json::with_members(&raw, &[("content", Some(&content))]).unwrap_or_else(|_| raw.clone())
}

/// Texts that occur in the types of media parts.
const KINDS: [&str; 4] = ["image", "audio", "file", "video"];

/// The messages of any other session; the model has seen all messages up to its latest one.
fn converted(
    session: &Session,
    view: &View,
    purpose: WritePurpose,
    report: &mut Report,
) -> Vec<StateElement> {
    let request = openai_chat::request(session, view, purpose, report);
    let mut elements: Vec<StateElement> = request
        .elements
        .into_iter()
        .filter_map(|sent| {
            let item = &view.items[*sent.items.first()?];
            let raw = match item.summary(session) {
                Some(_) => encode_message(item, session, WritePurpose::Return, report),
                None => with_text(sent.raw, report),
            };
            Some(element(encode::message(&raw), item, session))
        })
        .collect();
    let newest = elements.iter().rposition(|element| element.by_model);
    let seen = newest.map_or(0, |newest| newest + 1);
    elements[..seen]
        .iter_mut()
        .for_each(|element| element.seen = true);
    elements
}

fn element(raw: Vec<u8>, item: &Item, session: &Session) -> StateElement {
    StateElement {
        seen: false,
        system: json::member(&raw, "role") == Some(b"\"system\""),
        inserted: item.line().is_none(),
        by_model: item
            .traits(session)
            .is_some_and(|traits| traits.role == Role::Assistant),
        raw,
    }
}

/// Moves messages that a compaction inserted after the leading system messages before them, where they keep them from
/// being dropped.
fn move_before_rules(elements: &mut [StateElement]) {
    let rules = elements.iter().take_while(|element| element.system).count();
    let inserted = elements[rules..]
        .iter()
        .take_while(|element| element.inserted && !element.system)
        .count();
    elements[..rules + inserted].rotate_left(rules);
}

/// The number of messages that the model has seen: that of the state while all messages are present, else of the
/// remaining ones.
fn processed(session: &Session, own: &[u8], elements: &[StateElement]) -> Vec<u8> {
    let known = json::member(own, "processed_length");
    let whole = !elements.iter().any(|element| element.inserted)
        && elements.len() == super::counted_lines(session).count();
    match known {
        Some(raw) if whole => raw.to_vec(),
        None if whole && !own.is_empty() => b"0".to_vec(),
        _ => {
            let seen = elements.iter().filter(|element| element.seen).count();
            seen.to_string().into_bytes()
        }
    }
}

/// Whether a header has no data that would be lost.
fn is_lossless(header: &[u8]) -> bool {
    let members = json::members(header, Dialect::Strict).unwrap_or_default();
    members.iter().all(|(name, value)| match name.as_ref() {
        "type" | "version" | "id" | "key" | "source" => true,
        "metadata" => {
            let inner = json::members(value, Dialect::Strict).unwrap_or_default();
            inner.iter().all(|(name, _)| name == NAME)
        }
        _ => false,
    })
}

/// Whether an event only sets the number of seen messages.
fn sets_processed(event: &[u8]) -> bool {
    let metadata = json::member(event, "set").and_then(|set| json::member(set, "metadata"));
    let own = metadata.and_then(|metadata| json::member(metadata, NAME));
    own.and_then(|own| json::member(own, "processed_length"))
        .is_some_and(|raw| state::number(raw) > 0)
}
