//! A native message under construction, converted from a provider's element.

use super::Api;
use crate::model::json::{self, ObjectBuilder};
use crate::model::named_enum::named_enum;
use std::borrow::Cow;

/// A message with the annotations that are needed to write it back.
#[derive(Clone, Debug, Default)]
pub struct AnnotatedDraft {
    /// Its members, `role` first, without the metadata.
    members: Vec<(Cow<'static, str>, Vec<u8>)>,
    /// Members of `metadata.<API>`.
    notes: Vec<(&'static str, Vec<u8>)>,
    /// Other members of the metadata.
    free: Vec<(&'static str, Vec<u8>)>,
}

/// Length from which a copy of a member takes noticeable memory, in bytes.
const LONG: usize = 1 << 20;

impl AnnotatedDraft {
    /// A message of this role.
    pub fn new(role: &str) -> AnnotatedDraft {
        let mut draft = AnnotatedDraft::default();
        draft.raw("role", json::quoted(role));
        draft
    }

    /// A message of this role with this content.
    pub fn with_content(role: &str, content: impl Into<Vec<u8>>) -> AnnotatedDraft {
        let mut draft = AnnotatedDraft::new(role);
        draft.raw("content", content);
        draft
    }

    pub fn role(&self) -> &str {
        let role = self.members.first();
        let quoted = role.and_then(|(_, value)| std::str::from_utf8(value).ok());
        quoted.map_or("", |role| role.trim_matches('"'))
    }

    /// Adds a member.
    pub fn raw(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<Vec<u8>>,
    ) -> &mut AnnotatedDraft {
        self.members.push((name.into(), value.into()));
        self
    }

    /// Adds a member, if there is a value.
    pub fn optional(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        value: Option<impl Into<Vec<u8>>>,
    ) -> &mut AnnotatedDraft {
        match value {
            Some(value) => self.raw(name, value),
            None => self,
        }
    }

    /// Adds a member with an array, unless it is empty.
    pub fn list<V: AsRef<[u8]>>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        values: &[V],
    ) -> &mut AnnotatedDraft {
        self.optional(name, (!values.is_empty()).then(|| json::array(values)))
    }

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let mut members = self.members.iter();
        members
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_slice())
    }

    /// Adds or replaces a member.
    pub fn set(&mut self, name: &'static str, value: impl Into<Vec<u8>>) -> &mut AnnotatedDraft {
        self.members.retain(|(known, _)| known != name);
        self.raw(name, value)
    }

    /// Adds what a model message has besides its content: calls with their annotations, reasoning, and the order of all
    /// parts.
    pub fn reply(
        &mut self,
        (calls, notes): (&[Vec<u8>], &[Vec<u8>]),
        reasoning: &[impl AsRef<[u8]>],
        order: &[MemberSlot],
    ) {
        self.list("tool_calls", calls);
        self.list("reasoning", reasoning);
        self.note("blocks", order_note(order))
            .note("calls", call_notes(notes));
    }

    /// Moves the annotations of an API to the metadata, except that of unknown members.
    pub fn move_notes(&mut self, api: Api) {
        let mut notes = ObjectBuilder::default();
        for (name, value) in std::mem::take(&mut self.notes) {
            if name != "members" {
                notes.raw(name, value);
            }
        }
        self.metadata(api.name(), (!notes.is_empty()).then(|| notes.finish()));
    }

    /// Adds an annotation for writing the message back in this format, if there is a value.
    pub fn note(&mut self, name: &'static str, value: Option<Vec<u8>>) -> &mut AnnotatedDraft {
        self.notes.extend(value.map(|value| (name, value)));
        self
    }

    /// Adds a member to the metadata, if there is a value.
    pub fn metadata(&mut self, name: &'static str, value: Option<Vec<u8>>) -> &mut AnnotatedDraft {
        self.free.extend(value.map(|value| (name, value)));
        self
    }

    /// Encodes the message as a line.
    pub fn body(&self, api: Api) -> Vec<u8> {
        self.body_of(api.name())
    }

    /// As [`Self::body`], but builds the line around the longest member, so that this is in memory once.
    pub fn into_body(mut self, api: Api) -> Vec<u8> {
        let lengths = self.members.iter().map(|(_, value)| value.len()).enumerate();
        let longest = lengths.max_by_key(|(_, length)| *length);
        let Some((nth, _)) = longest.filter(|(_, length)| *length >= LONG) else {
            return self.body(api);
        };
        let mut body = std::mem::take(&mut self.members[nth].1);
        let mut before = ObjectBuilder::default();
        for (name, value) in &self.members[..=nth] {
            before.raw(name, value);
        }
        let before = before.finish();
        let before = &before[..before.len() - 1];
        let rest = self.body(api);
        body.splice(..0, before.iter().copied());
        body.extend_from_slice(&rest[before.len()..]);
        body
    }

    /// As [`Self::body`], with annotations of any format.
    pub fn body_of(&self, format: &str) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        for (name, value) in &self.members {
            built.raw(name, value);
        }
        let mut metadata = ObjectBuilder::default();
        for (name, value) in &self.free {
            metadata.raw(name, value);
        }
        if !self.notes.is_empty() {
            let mut notes = ObjectBuilder::default();
            for (name, value) in &self.notes {
                notes.raw(name, value);
            }
            metadata.raw(format, notes.finish());
        }
        built.members("metadata", metadata);
        built.finish()
    }
}

/// A string unchanged; the JSON text of any other value as a string.
pub fn text_of(value: &[u8]) -> Vec<u8> {
    match value.starts_with(b"\"") {
        true => value.to_vec(),
        false => json::quoted(&String::from_utf8_lossy(value)),
    }
}

/// A call from members that may be missing, with arguments of any type.
pub fn call_of(id: Option<&[u8]>, name: Option<&[u8]>, arguments: Option<&[u8]>) -> Vec<u8> {
    let arguments = text_of(arguments.unwrap_or(b"\"{}\""));
    call(id.unwrap_or(b"null"), name.unwrap_or(b"\"\""), &arguments)
}

/// A call in the native format; `arguments` is a JSON string.
pub fn call(id: &[u8], name: &[u8], arguments: &[u8]) -> Vec<u8> {
    // Arguments may be long, so they are copied once.
    let parts: [&[u8]; 7] = [
        br#"{"id":"#,
        id,
        br#","type":"function","function":{"name":"#,
        name,
        br#","arguments":"#,
        arguments,
        b"}}",
    ];
    parts.concat()
}

/// An annotation for the order of a message's parts, unless it is the default: reasoning, content, calls.
pub fn order_note(order: &[MemberSlot]) -> Option<Vec<u8>> {
    let usual = order.is_sorted();
    (!usual).then(|| {
        let names = order.iter().map(|slot| json::quoted(slot.name()));
        json::array(names)
    })
}

named_enum! {
    /// The member that a part of a message is stored in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum MemberSlot {
        /// The reasoning.
        Reasoning = "reasoning",
        /// The content.
        Content = "content",
        /// The calls.
        Call = "call",
    }
}

/// Restores the annotated order of a message's parts; parts without an entry follow in the default order.
pub fn in_order(note: Option<&[u8]>, pieces: [Vec<Vec<u8>>; 3]) -> Vec<Vec<u8>> {
    let mut queues = pieces.map(Vec::into_iter);
    let mut all = Vec::new();
    for name in json::items(note) {
        let slot = json::text(name).and_then(|name| MemberSlot::from_name(&name));
        all.extend(slot.and_then(|slot| queues[slot as usize].next()));
    }
    all.extend(queues.into_iter().flatten());
    all
}

pub fn text_part(text: &[u8]) -> Vec<u8> {
    let mut part = ObjectBuilder::default();
    part.text("type", "text").raw("text", text);
    part.finish()
}

/// An element that is not an object of the API, as the only part of a model message.
pub fn raw_draft(element: &[u8]) -> AnnotatedDraft {
    AnnotatedDraft::with_content("assistant", json::array([element]))
}

/// The annotations of a call: the members without a native equivalent.
pub fn noted(rest: Option<Vec<u8>>) -> Vec<u8> {
    rest.unwrap_or_else(|| b"{}".to_vec())
}

/// The annotations of all calls; `None` if there are none.
pub fn call_notes(notes: &[Vec<u8>]) -> Option<Vec<u8>> {
    notes.iter().any(|note| note != b"{}").then(|| json::array(notes))
}

/// The annotations of all parts, with null for a part without one; `None` if there are none.
pub fn part_notes(notes: &[Option<Vec<u8>>]) -> Option<Vec<u8>> {
    let note = |note: &Option<Vec<u8>>| note.clone().unwrap_or_else(|| b"null".to_vec());
    let has_notes = notes.iter().any(Option::is_some);
    has_notes.then(|| json::array(notes.iter().map(note)))
}
