//! Converts the content of a node's message to native parts.

use crate::format::object::Object;
use crate::format::request::draft::text_part;
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use std::borrow::Cow;

/// Members with information about the user, in order.
const CONTEXT: [&str; 3] = ["user_profile", "user_instructions", "model_set_context"];

#[derive(Clone, Debug, PartialEq, Eq)]
enum ExportPart<'a> {
    /// A text as a JSON string.
    Text(Cow<'a, [u8]>),
    /// Any other part.
    Other(Vec<u8>),
}

/// Types of content with text in further members.
const KINDS: [&str; 5] = [
    "thoughts", "reasoning_recap", "computer_output", "app_pairing_content", "user_editable_context",
];

/// The fault of a message without content, or with content of an unknown type without text.
pub fn fault(raw: Option<&[u8]>) -> Option<String> {
    let Some(object) = raw.and_then(Object::of) else {
        return raw.is_none().then(|| "message without content".to_string());
    };
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
    parts: Vec<ExportPart<'a>>,
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
        let Some(object) = raw.and_then(Object::of) else {
            match raw {
                Some(raw) if raw.starts_with(b"\"") => content.text(raw, None),
                Some(b"null") | None => {}
                Some(raw) => content.add(ExportPart::Other(raw.to_vec()), None),
            }
            return content;
        };
        let kind = object.text("content_type").unwrap_or_default();
        let filled = |name: &'static str| {
            let text = object.string(name).filter(|raw| *raw != b"\"\"");
            text.map(|raw| (name, raw))
        };
        let member = match kind.as_ref() {
            "text" | "multimodal_text" => {
                if let Some(parts) = object.list("parts") {
                    parts.into_iter().for_each(|part| content.part(part));
                    content.rest = object.extra_members(&["content_type", "parts"]);
                    return content;
                }
                None
            }
            "code" | "execution_output" | "system_error" => object.string("text").map(|raw| ("text", raw)),
            "tether_browsing_display" | "tether_quote" => filled("text").or_else(|| filled("result")),
            "user_editable_context" | "model_editable_context" => {
                content.is_context = true;
                let mut known = Vec::new();
                for (name, raw) in CONTEXT.into_iter().filter_map(filled) {
                    content.text(raw, None);
                    known.push(name);
                }
                content.rest = object.extra_members(&known);
                return content;
            }
            _ => None,
        };
        match member {
            Some((name, raw)) => {
                content.text(raw, None);
                content.rest = object.extra_members(&[name]);
            }
            None => {
                content.add(ExportPart::Other(raw.unwrap_or_default().to_vec()), None);
                let mut rest = ObjectBuilder::default();
                rest.optional("content_type", object.string("content_type"));
                content.rest = (!rest.is_empty()).then(|| rest.finish());
            }
        }
        content
    }

    fn add(&mut self, part: ExportPart<'a>, note: Option<Vec<u8>>) {
        self.parts.push(part);
        self.notes.push(note);
    }

    fn text(&mut self, raw: &'a [u8], note: Option<Vec<u8>>) {
        self.add(ExportPart::Text(raw.into()), note);
    }

    fn part(&mut self, raw: &'a [u8]) {
        if raw.starts_with(b"\"") {
            return self.text(raw, None);
        }
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
                self.add(ExportPart::Other(part.finish()), note);
            }
            ("audio_transcription", _, Some(text)) => self.text(text, object.extra_members(&["text"])),
            _ => self.add(ExportPart::Other(raw.to_vec()), None),
        }
    }

    /// Appends other content.
    pub fn append(&mut self, mut more: NodeContent<'a>) {
        self.parts.append(&mut more.parts);
        self.notes.append(&mut more.notes);
    }

    pub fn is_empty(&self) -> bool {
        let empty = |part: &ExportPart<'_>| matches!(part, ExportPart::Text(raw) if &raw[..] == b"\"\"");
        self.parts.iter().all(empty)
    }

    /// The `content` of a native message.
    pub fn value(&self) -> Vec<u8> {
        match &self.parts[..] {
            [] => b"\"\"".to_vec(),
            [ExportPart::Text(raw)] => raw.to_vec(),
            parts => array(parts.iter().map(|part| match part {
                ExportPart::Text(raw) => text_part(raw),
                ExportPart::Other(raw) => raw.clone(),
            })),
        }
    }

    /// The additional members of the parts.
    pub fn notes(&self) -> Option<Vec<u8>> {
        let noted = self.notes.iter().any(Option::is_some);
        let note = |note: &Option<Vec<u8>>| note.clone().unwrap_or_else(|| b"null".to_vec());
        noted.then(|| array(self.notes.iter().map(note)))
    }

    /// The content as the arguments of a call, a JSON string: the text, if that is a JSON object.
    pub fn arguments(&self, raw: Option<&[u8]>) -> Vec<u8> {
        let texts = self.parts.iter().map(|part| match part {
            ExportPart::Text(raw) => Some(raw),
            ExportPart::Other(_) => None,
        });
        let input = match texts.collect::<Option<Vec<_>>>().as_deref() {
            Some([raw]) if is_object(raw) => return raw.to_vec(),
            Some([raw]) => wrapped("input", &raw[..]),
            Some(texts) => {
                let texts = texts.iter().filter_map(|raw| json::text(raw));
                wrapped("input", quoted(&texts.collect::<Vec<_>>().join("\n")))
            }
            None => wrapped("input", raw.unwrap_or(b"null")),
        };
        quoted(&String::from_utf8_lossy(&input))
    }
}

fn is_object(raw: &[u8]) -> bool {
    json::text(raw).is_some_and(|text| json::is_object(text.trim().as_bytes()))
}

/// The reasoning parts of a thoughts content, and its additional members.
pub fn reasoning_parts(raw: Option<&[u8]>) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
    let object = raw.and_then(Object::of).unwrap_or_default();
    let built = |text: &[u8], extra: &Object<'_>| {
        let mut part = ObjectBuilder::default();
        part.text("type", "text").raw("text", text);
        let extra = extra
            .members()
            .filter(|(name, _)| !["type", "text", "content"].contains(name));
        for (name, value) in extra {
            part.raw(name, value);
        }
        part.finish()
    };
    let listed = |name| object.list(name).map(|list| (name, list));
    let (name, list) = listed("thoughts").or_else(|| listed("parts")).unwrap_or_default();
    let parts = list.into_iter().map(|raw| {
        let reasoning = Object::of(raw).unwrap_or_default();
        let text = reasoning
            .string("content")
            .or(Some(raw).filter(|raw| raw.starts_with(b"\"")));
        match text {
            Some(text) => built(text, &reasoning),
            None => raw.to_vec(),
        }
    });
    (parts.collect(), object.extra_members(&["content_type", name]))
}
