//! The input of API writers: messages of a view with their annotations.

use super::contents::{RequestContent, content_parts};
use super::{Api, ProviderRequest};
use crate::error::Position;
use crate::format::WritePurpose;
use crate::format::report::{Loss, Report};
use crate::model::json::{self, Dialect, Members, ObjectBuilder};
use crate::model::message::Message;
use crate::model::record::Record;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// An entry of a history to write. There is one per message, so it is small; the message is parsed on demand.
#[derive(Debug)]
pub enum RequestPart<'a> {
    /// A message: index of the view item, and the line.
    Message(usize, &'a [u8]),
    /// The text of a summary.
    Summary(usize, Cow<'a, str>, Option<String>),
    /// Original elements that are written unchanged, and the view items that they represent.
    Kept(Vec<usize>, Vec<&'a [u8]>),
}

/// A message with its annotations for an API.
#[derive(Clone, Copy, Debug)]
pub struct AnnotatedMessage<'a> {
    /// Index of the view item.
    pub item: usize,
    /// The line.
    pub body: &'a [u8],
    /// Its members.
    pub message: Message<'a>,
    /// `metadata.<API>`.
    pub note: Option<&'a [u8]>,
}

impl<'a> RequestPart<'a> {
    /// The message with its annotations for an API.
    pub fn annotated(&self, api: Api) -> Option<AnnotatedMessage<'a>> {
        let RequestPart::Message(item, body) = *self else {
            return None;
        };
        let record = Record::parse(body, Position { line: 0, offset: 1 });
        Some(AnnotatedMessage::of(item, body, *record.message()?, api.name()))
    }
}

impl<'a> AnnotatedMessage<'a> {
    /// A message with its annotations for any format.
    pub fn of(item: usize, body: &'a [u8], message: Message<'a>, format: &str) -> AnnotatedMessage<'a> {
        let note = message.metadata.and_then(|raw| json::member(raw, format));
        AnnotatedMessage {
            item,
            body,
            message,
            note,
        }
    }

    /// The id of the element that the message was read from: that of the message, without the number of a message that
    /// is not the first of its element.
    pub fn element_id(&self) -> Option<Vec<u8>> {
        let id = json::member(self.body, "id")?;
        let text = json::text(id).unwrap_or_default();
        let is_number = |nth: &str| !nth.is_empty() && nth.bytes().all(|byte| byte.is_ascii_digit());
        let element = text.rsplit_once('#').filter(|(_, nth)| is_number(nth));
        Some(element.map_or_else(|| id.to_vec(), |(element, _)| json::quoted(element)))
    }

    /// An annotation.
    pub fn noted(&self, name: &str) -> Option<&'a [u8]> {
        json::member(self.note?, name)
    }

    /// Whether it starts a new element even though the previous message has the same role.
    pub fn starts_element(&self) -> bool {
        self.noted("apart") == Some(b"true")
    }

    /// The annotations of each call; empty if the number of calls has changed.
    pub fn call_notes(&self, calls: usize) -> Vec<&'a [u8]> {
        let notes = self
            .noted("calls")
            .and_then(|raw| json::elements(raw, Dialect::Strict));
        notes.filter(|notes| notes.len() == calls).unwrap_or_default()
    }

    /// A member of the metadata.
    pub fn metadata(&self, name: &str) -> Option<&'a [u8]> {
        json::member(self.message.metadata?, name)
    }

    /// The parts of the content. None for a string, which [`AnnotatedMessage::string`] returns. Content that is neither a string
    /// nor a list is one part of unknown type, which the writer reports as a loss.
    pub fn parts(&self) -> Vec<&'a [u8]> {
        match self.message.content {
            None | Some(b"null") => Vec::new(),
            Some(raw) if raw.starts_with(b"\"") => Vec::new(),
            Some(raw) => json::elements(raw, Dialect::Strict).unwrap_or_else(|| vec![raw]),
        }
    }

    /// The content's bytes if it is a string.
    pub fn string(&self) -> Option<&'a [u8]> {
        self.message.content.filter(|raw| raw.starts_with(b"\""))
    }

    pub fn reasoning(&self) -> Vec<&'a [u8]> {
        json::items(self.message.reasoning)
    }

    /// The raw calls.
    pub fn calls(&self) -> Vec<&'a [u8]> {
        json::items(self.message.tool_calls)
    }
}

/// Settings and report for writing a history.
pub struct WriteSettings<'w> {
    pub api: Api,
    pub purpose: WritePurpose,
    /// Whether the session was read from a request of this API.
    pub own: bool,
    /// Whether unsigned reasoning is kept in all messages.
    pub keeps_thoughts: bool,
    /// For each result: the item with the call, and the index of the call.
    pub calls: &'w HashMap<usize, (usize, usize)>,
    /// Losses.
    pub report: &'w mut Report,
}

impl WriteSettings<'_> {
    /// A converted content part. If there is none, a part of this API is kept, and any other one is a loss.
    pub fn converted(&mut self, part: &[u8], is_media: bool, made: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let made = made.or_else(|| (self.own && !is_media).then(|| part.to_vec()));
        if made.is_none() {
            let loss = if is_media { Loss::Attachment } else { Loss::Part };
            self.report.count_loss(loss, 1);
        }
        made
    }

    /// Reports messages that no element of a request has, although they have only texts, so that nothing else is reported.
    pub fn report_dropped(&mut self, pieces: &[RequestPart<'_>], request: &ProviderRequest) {
        let system = request.system_items.iter().filter(|_| request.system.is_some());
        let items = request.elements.iter().flat_map(|element| &element.items);
        let kept: HashSet<usize> = items.chain(system).copied().collect();
        let is_dropped =
            |piece: &&RequestPart<'_>| matches!(piece, RequestPart::Message(item, _) if !kept.contains(item));
        for annotated in pieces
            .iter()
            .filter(is_dropped)
            .filter_map(|piece| piece.annotated(self.api))
        {
            let mut parts = content_parts(annotated.message.content).into_iter();
            let has_texts = parts.all(|part| matches!(part, RequestContent::Text(_)));
            let is_empty = has_texts && annotated.reasoning().is_empty();
            self.report.count_missing(Loss::Message, u64::from(is_empty));
        }
    }

    /// Reports data that no API represents: usage, times and names, for example.
    pub fn report_bookkeeping_losses(&mut self, annotated: &AnnotatedMessage<'_>) {
        use crate::model::message::Role;
        if annotated.message.name.is_some() && annotated.message.role() != Role::Tool {
            self.report.count_loss(Loss::Name, 1);
        }
        if self.purpose != WritePurpose::Export {
            return;
        }
        let own = annotated.noted("members");
        let bookkeeping = [
            ("id", Loss::Id),
            ("timestamp", Loss::Timestamp),
            ("category", Loss::Category),
            ("tokens", Loss::Usage),
            ("usage", Loss::Usage),
            ("model", Loss::Model),
        ];
        for (name, loss) in bookkeeping {
            let kept = own.is_some_and(|own| json::member(own, name).is_some());
            if !kept && json::member(annotated.body, name).is_some() {
                self.report.count_loss(loss, 1);
            }
        }
        let own = self.api.name();
        let free = |(name, value): (Cow<'_, str>, &[u8])| match name.as_ref() {
            "from" => false,
            // No other API has a member for a failed result.
            "is_error" => value == b"true" && !matches!(self.api, Api::Anthropic | Api::Gemini),
            // Members of another API's message; annotations for their position are not a loss.
            name if Api::from_name(name).is_some() => {
                let leftovers = ["members", "item", "part", "calls"];
                name != own && leftovers.iter().any(|name| json::member(value, name).is_some())
            }
            _ => has_more_data(value),
        };
        let lost = annotated
            .message
            .metadata
            .is_some_and(|raw| extra_members(raw, &[]).any(free));
        let lost = lost || has_unknown_members(annotated.body);
        self.report.count_loss(Loss::Metadata, u64::from(lost));
    }
}

/// Whether the annotations of a format have more data than the position in an element that was decoded completely.
pub fn has_more_data(notes: &[u8]) -> bool {
    !notes.starts_with(b"{")
        || extra_members(notes, &["of"]).any(|(name, value)| name != "residue" || value != b"null")
}

/// Members of the native format that a message of another program may have with another meaning.
pub const AMBIGUOUS_MEMBERS: [&str; 7] = [
    "id", "timestamp", "category", "tokens", "usage", "model", "metadata",
];

/// Message members that writers write or count, besides those of the native format alone.
const MESSAGE: [&str; 8] = [
    "role", "content", "name", "tool_calls", "tool_call_id", "reasoning", "refusal", "type",
];

/// Whether a message has members that no writer knows; those without a value are not a loss.
pub fn has_unknown_members(body: &[u8]) -> bool {
    let is_known = |name: &str| AMBIGUOUS_MEMBERS.contains(&name);
    extra_members(body, &MESSAGE).any(|(name, value)| !matches!(value, b"null" | b"[]") && !is_known(&name))
}

/// Adds all members of an object, if there is one, to a built one.
pub fn add_members(built: &mut ObjectBuilder, object: Option<&[u8]>) {
    for (name, value) in object.into_iter().flat_map(|object| extra_members(object, &[])) {
        built.raw(&name, value);
    }
}

/// The members of an object except those with these names, in order.
pub fn extra_members<'o>(
    object: &'o [u8],
    known: &[&str],
) -> impl Iterator<Item = (Cow<'o, str>, &'o [u8])> + use<'o> {
    let mut found = Vec::new();
    if let Ok(mut scan) = Members::new(object, Dialect::Strict) {
        while let Ok(Some(member)) = scan.next() {
            let name = json::unescape(member.key);
            if !known.contains(&name.as_ref()) {
                found.push((name, member.value));
            }
        }
    }
    found.into_iter()
}

/// Adds the members that [`extra_members`] returns to an object under construction.
pub fn add_extra_members(built: &mut ObjectBuilder, object: &[u8], known: &[&str]) {
    for (name, value) in extra_members(object, known) {
        built.raw(&name, value);
    }
}

/// An object of the members that [`extra_members`] returns; `None` if there are none.
pub fn extra_object(object: &[u8], known: &[&str]) -> Option<Vec<u8>> {
    let mut built = ObjectBuilder::default();
    add_extra_members(&mut built, object, known);
    (!built.is_empty()).then(|| built.finish())
}
