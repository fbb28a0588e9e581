//! Converts content (a string, a part, or a list of parts), and finds the time of records.

use crate::format::gemini::{self, GeminiCallIds};
use crate::format::request::Api;
use crate::format::request::draft::{self, AnnotatedDraft};
use crate::model::json::{self, Dialect, ObjectBuilder, array, wrapped};

/// The parts of content, unless it is a string.
pub fn parts(content: &[u8]) -> Option<Vec<u8>> {
    match content.first()? {
        b'{' => Some(array([content])),
        b'[' => {
            let parts = json::elements(content, Dialect::Strict)?;
            Some(array(parts.into_iter().map(
                |part| match part.starts_with(b"\"") {
                    true => wrapped("text", part),
                    false => part.to_vec(),
                },
            )))
        }
        _ => None,
    }
}

/// The messages for these parts in Gemini form.
pub fn of_parts(role: &str, parts: &[u8]) -> Vec<AnnotatedDraft> {
    let mut content = ObjectBuilder::default();
    content.text("role", role).raw("parts", parts);
    let mut drafts = gemini::element(&content.finish(), &mut GeminiCallIds::default());
    // The residue of the record contains its members.
    drafts.iter_mut().for_each(|draft| draft.move_notes(Api::Gemini));
    drafts
}

/// The content of a result, and whether the tool failed.
pub fn result_content(raw: &[u8]) -> (Vec<u8>, bool) {
    let Some(parts) = parts(raw) else {
        return (raw.to_vec(), false);
    };
    let bodies: Vec<Vec<u8>> = of_parts("user", &parts)
        .iter()
        .map(|draft| draft.body(Api::Gemini))
        .collect();
    let failed = bodies.iter().any(|body| {
        json::member(body, "metadata").and_then(|raw| json::member(raw, "is_error")) == Some(b"true")
    });
    let contents: Vec<&[u8]> = bodies
        .iter()
        .filter_map(|body| json::member(body, "content"))
        .collect();
    if let [content] = contents[..] {
        return (content.to_vec(), failed);
    }
    let mut all = Vec::new();
    for content in contents {
        match json::elements(content, Dialect::Strict) {
            Some(parts) => all.extend(parts.into_iter().map(<[u8]>::to_vec)),
            None if content.starts_with(b"\"") => all.push(draft::text_part(content)),
            None => {}
        }
    }
    (array(all), failed)
}
