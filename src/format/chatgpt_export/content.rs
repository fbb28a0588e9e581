//! Converts the content of a node's message to native parts.

use crate::format::object::Object;
use crate::format::request::{contents, draft};
use crate::model::json::{self, ObjectBuilder, wrapped};
use std::borrow::Cow;

/// Members with information about the user, in order.
const CONTEXT: [&str; 3] = ["user_profile", "user_instructions", "model_set_context"];

/// Types of content with text in further members.
const KINDS: [&str; 5] = [
    "thoughts", "reasoning_recap", "computer_output", "app_pairing_content", "user_editable_context",
];

/// The fault of a message without content, or with content of an unknown type without text.
pub fn fault(raw: Option<&[u8]>) -> Option<String> {
    let Some(raw) = raw else {
        return Some("message without content".to_string());
    };
    let object = Object::of(raw)?;
    let kind = object.text("content_type").unwrap_or_default();
    let has_content = ["parts", "text", "result", "model_set_context"]
        .iter()
        .any(|name| object.get(name).is_some());
    let known = has_content || KINDS.contains(&kind.as_ref());
    (!known).then(|| format!("unknown content type '{kind}'"))
}

/// The content of a message.
#[derive(Clone, Debug, Default)]
pub struct NodeContent<'a> {
    /// Texts as JSON strings, and other parts.
    parts: Vec<Cow<'a, [u8]>>,
    /// Additional members of each part.
    notes: Vec<Option<Vec<u8>>>,
    /// Additional members of the content.
    pub rest: Option<Vec<u8>>,
    /// Whether it is information about the user, not a message of the dialog.
    pub is_context: bool,
}

impl<'a> NodeContent<'a> {
    /// From a message's member `content`.
    pub fn of(raw: Option<&'a [u8]>) -> NodeContent<'a> {
        let mut content = NodeContent::default();
        let Some(raw) = raw.filter(|raw| *raw != b"null") else {
            return content;
        };
        let Some(object) = Object::of(raw) else {
            content.add(raw, None);
            return content;
        };
        let kind = object.text("content_type").unwrap_or_default();
        let has_parts = matches!(kind.as_ref(), "text" | "multimodal_text");
        if let Some(parts) = object.list("parts").filter(|_| has_parts) {
            parts.into_iter().for_each(|part| content.part(part));
            content.rest = object.extra_members(&["content_type", "parts"]);
            return content;
        }
        content.is_context = matches!(kind.as_ref(), "user_editable_context" | "model_editable_context");
        let text = |name: &'static str| object.string(name).map(|raw| (name, raw));
        let filled = |name| text(name).filter(|(_, raw)| *raw != b"\"\"");
        let texts: Vec<_> = match kind.as_ref() {
            _ if content.is_context => CONTEXT.into_iter().filter_map(filled).collect(),
            "code" | "execution_output" | "system_error" => text("text").into_iter().collect(),
            "tether_browsing_display" | "tether_quote" => {
                filled("text").or_else(|| filled("result")).into_iter().collect()
            }
            _ => Vec::new(),
        };
        if texts.is_empty() && !content.is_context {
            content.add(raw, None);
            let kind = object.string("content_type");
            content.rest = kind.map(|kind| wrapped("content_type", kind));
            return content;
        }
        let names: Vec<&str> = texts.iter().map(|(name, _)| *name).collect();
        content.rest = object.extra_members(&names);
        texts.into_iter().for_each(|(_, raw)| content.add(raw, None));
        content
    }

    fn add(&mut self, part: impl Into<Cow<'a, [u8]>>, note: Option<Vec<u8>>) {
        self.parts.push(part.into());
        self.notes.push(note);
    }

    fn part(&mut self, raw: &'a [u8]) {
        let object = Object::of(raw).unwrap_or_default();
        let kind = object.text("content_type").unwrap_or_default();
        match (
            kind.as_ref(),
            object.string("asset_pointer"),
            object.string("text"),
        ) {
            ("image_asset_pointer", Some(pointer), _) => {
                let mut part = ObjectBuilder::default();
                part.text("type", "image_url")
                    .raw("image_url", wrapped("url", pointer));
                let note = object.extra_members(&["content_type", "asset_pointer"]);
                self.add(part.finish(), note);
            }
            ("audio_transcription", _, Some(text)) => self.add(text, object.extra_members(&["text"])),
            _ => self.add(raw, None),
        }
    }

    /// Appends other content.
    pub fn append(&mut self, mut more: NodeContent<'a>) {
        self.parts.append(&mut more.parts);
        self.notes.append(&mut more.notes);
    }

    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| &part[..] == b"\"\"")
    }

    /// The `content` of a native message.
    pub fn value(&self) -> Vec<u8> {
        contents::of_texts(&self.parts, b"\"\"")
    }

    /// The additional members of the parts.
    pub fn notes(&self) -> Option<Vec<u8>> {
        draft::part_notes(&self.notes)
    }

    /// The content as the arguments of a call, a JSON string: the text, if that is a JSON object.
    pub fn arguments(&self, raw: Option<&[u8]>) -> Vec<u8> {
        let is_text = |part: &Cow<'_, [u8]>| part.starts_with(b"\"");
        let input = match &self.parts[..] {
            [text] if is_object(text) => return text.to_vec(),
            [text] if is_text(text) => text.to_vec(),
            parts if parts.iter().all(is_text) => {
                contents::texts(parts.iter().filter_map(|text| json::text(text)))
            }
            _ => raw.unwrap_or(b"null").to_vec(),
        };
        draft::text_of(&wrapped("input", input))
    }
}

/// Whether a value is a string with a JSON object.
fn is_object(raw: &[u8]) -> bool {
    json::text(raw).is_some_and(|text| json::is_object(text.trim().as_bytes()))
}

/// The reasoning parts of a thoughts content, and its additional members.
pub fn reasoning_parts(raw: Option<&[u8]>) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
    let object = raw.and_then(Object::of).unwrap_or_default();
    let listed = |name| object.list(name).map(|list| (name, list));
    let (name, list) = listed("thoughts").or_else(|| listed("parts")).unwrap_or_default();
    let parts = list.into_iter().map(|raw| {
        let reasoning = Object::of(raw).unwrap_or_default();
        let own = Some(raw).filter(|raw| raw.starts_with(b"\""));
        let Some(text) = reasoning.string("content").or(own) else {
            return raw.to_vec();
        };
        let mut part = ObjectBuilder::default();
        part.text("type", "text").raw("text", text);
        let known = ["type", "text", "content"];
        for (name, value) in reasoning.members().filter(|(name, _)| !known.contains(name)) {
            part.raw(name, value);
        }
        part.finish()
    });
    (parts.collect(), object.extra_members(&["content_type", name]))
}
