//! The member `refusal` of OpenAI Chat messages, for formats that have no such member.

use super::Format;
use super::request::draft;
use crate::model::json::{self, ObjectBuilder, array};
use crate::model::session::Session;
use crate::model::view::{Item, View};

/// How a format represents a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefusalForm {
    /// As a member of the message.
    Member,
    /// As a part of the content.
    Part,
    Text,
}

impl RefusalForm {
    fn of(format: Format) -> RefusalForm {
        match format {
            Format::Native
            | Format::Jsonl
            | Format::OpenaiChat
            | Format::OpenaiFinetune
            | Format::Trl
            | Format::Goaitools
            | Format::Penguin
            | Format::Langchain
            | Format::Markdown
            | Format::Html => RefusalForm::Member,
            Format::OpenaiResponses | Format::Codex => RefusalForm::Part,
            _ => RefusalForm::Text,
        }
    }
}

/// The view with refusals in the content; `None` if there are none, or the format has the member.
pub fn in_content(format: Format, session: &Session, view: &View) -> Option<View> {
    let form = Some(RefusalForm::of(format)).filter(|form| *form != RefusalForm::Member)?;
    let finder = memchr::memmem::Finder::new(b"\"refusal\"");
    let mut edited = view.items.iter().enumerate().filter_map(|(nth, item)| {
        finder.find(item.body(session))?;
        Some((nth, message(form, item, session)?))
    });
    let first = edited.next()?;
    let mut items = view.items.clone();
    for (nth, body) in std::iter::once(first).chain(edited) {
        items[nth] = match items[nth].line() {
            Some(line) => Item::Edited(line, body),
            None => Item::Inserted(body),
        };
    }
    Some(View {
        items,
        ..View::default()
    })
}

/// The message with its refusal at the end of the content; `None` if it has none.
fn message(form: RefusalForm, item: &Item, session: &Session) -> Option<Vec<u8>> {
    let message = item.message(session)?;
    let refusal = message.refusal.filter(|raw| !matches!(*raw, b"null" | b"\"\""))?;
    let part = match form {
        RefusalForm::Text if refusal.starts_with(b"\"") => draft::text_part(refusal),
        _ => {
            let mut part = ObjectBuilder::default();
            part.text("type", "refusal").raw("refusal", refusal);
            part.finish()
        }
    };
    let text = message
        .content
        .filter(|raw| raw.len() > 2 && raw.starts_with(b"\""));
    let text = text.map(draft::text_part);
    let mut parts = json::items(message.content);
    parts.extend(text.as_deref());
    parts.push(&part);
    let changes = [("content", Some(&*array(parts))), ("refusal", None)];
    json::with_members(item.body(session), &changes).ok()
}
