//! Writes a view as an array of messages, without members that this program added. Results directly follow the message
//! with their calls, as the API requires.

use crate::format::WritePurpose;
use crate::format::report::{Loss, Report};
use crate::format::request::media::RequestMedia;
use crate::format::request::request_part::{AMBIGUOUS_MEMBERS, extra_members, has_more_data};
use crate::format::request::{self, Api, ProviderRequest, RequestElement, part_losses};
use crate::model::json::{self, Dialect};
use crate::model::message::{MessagePart, Role};
use crate::model::record::{Record, RecordKind};
use crate::model::session::Session;
use crate::model::view::{Item, View};

/// Types of parts that the API accepts.
const PARTS: [&str; 5] = ["text", "image_url", "input_audio", "file", "refusal"];

/// Types of parts that only other APIs have; parts of Gemini have no type.
const FOREIGN: [&str; 10] = [
    "", "document", "search_result", "server_tool_use", "mcp_tool_use", "container_upload", "compaction",
    "item_reference", "mcp_list_tools", "mcp_approval_request",
];

/// The view as messages of the API; a history read from this API keeps its order.
pub fn request(
    session: &Session,
    view: &View,
    purpose: WritePurpose,
    report: &mut Report,
) -> ProviderRequest {
    let kept = request::was_read_from(Api::OpenaiChat, session);
    let order = request::order(session, view, kept, report);
    let element = |index: usize| {
        let raw = match view.items[index].summary_message(session) {
            Some(message) => {
                // A summary is read back from a history of this API.
                if purpose != WritePurpose::Context && !kept {
                    report.count_loss(Loss::Summary, 1);
                }
                message
            }
            None => message(&view.items[index], session, purpose, report),
        };
        RequestElement {
            raw,
            items: vec![index],
        }
    };
    ProviderRequest {
        elements: order.items.into_iter().map(element).collect(),
        ..ProviderRequest::default()
    }
}

/// A message without the members that this program added.
pub fn message(item: &Item, session: &Session, purpose: WritePurpose, report: &mut Report) -> Vec<u8> {
    let body = item.body(session);
    let place = crate::error::Position { line: 0, offset: 1 };
    let RecordKind::Message(read) = Record::parse(body, place).kind else {
        return body.to_vec();
    };
    let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
    let unknown = |part: &MessagePart<'_>| matches!(part, MessagePart::Other(kind, _) if !PARTS.contains(&kind.as_ref()));
    if read.parts().iter().any(unknown) {
        changes.extend(content(&read, report).map(|content| ("content", Some(content))));
    }
    let metadata = json::member(body, "metadata");
    let notes = metadata.and_then(|raw| json::member(raw, "openai-chat"));
    let note = |name: &str| notes.and_then(|notes| json::member(notes, name));
    let own = json::items(note("own"));
    let had = |name: &str| {
        own.iter()
            .any(|raw| json::text(raw).is_some_and(|own| own == name))
    };
    for (name, loss) in AMBIGUOUS_MEMBERS.into_iter().zip([
        Loss::Id,
        Loss::Timestamp,
        Loss::Category,
        Loss::Usage,
        Loss::Usage,
        Loss::Model,
        Loss::Metadata,
    ]) {
        let Some(raw) = json::member(body, name) else {
            continue;
        };
        let only_notes = name == "metadata"
            && !extra_members(raw, &["openai-chat"]).any(|(_, notes)| has_more_data(notes));
        if purpose == WritePurpose::Return && had(name) {
            if name == "metadata" {
                changes.push((name, json::with_members(raw, &[("openai-chat", None)]).ok()));
            }
            continue;
        }
        changes.push((name, None));
        if purpose == WritePurpose::Export && !only_notes {
            report.count_loss(loss, 1);
        }
    }
    if let Some(raw) = read.reasoning {
        reasoning(raw, note("reasoning"), &mut changes, report);
    }
    if note("function").is_some() {
        legacy(&read, &mut changes);
    }
    json::with_owned_members(body, &changes).unwrap_or_else(|_| body.to_vec())
}

/// The content with attachments converted to this API's form, and without other parts of other APIs. Parts of unknown
/// type may be new in this API: they are kept and reported.
fn content(read: &crate::model::message::Message<'_>, report: &mut Report) -> Option<Vec<u8>> {
    let mut parts = Vec::new();
    for raw in json::elements(read.content?, Dialect::Strict)? {
        let kind = json::member_text(raw, "type");
        let kind = kind.as_deref().unwrap_or_default();
        if raw.starts_with(b"\"") || PARTS.contains(&kind) {
            parts.push(raw.to_vec());
            continue;
        }
        let media = RequestMedia::of(raw);
        match media.as_ref().and_then(RequestMedia::chat) {
            Some(part) => parts.push(part),
            None if media.is_some() => report.count_loss(Loss::Attachment, 1),
            None => {
                report.count_loss(Loss::Part, 1);
                let foreign = FOREIGN.contains(&kind) || kind.ends_with("_result") || kind.ends_with("_call");
                if !foreign {
                    parts.push(raw.to_vec());
                }
            }
        }
    }
    Some(match parts.is_empty() {
        true => b"null".to_vec(),
        false => json::array(parts),
    })
}

/// Restores reasoning to its original member; the API cannot represent other reasoning.
fn reasoning(
    raw: &[u8],
    note: Option<&[u8]>,
    changes: &mut Vec<(&str, Option<Vec<u8>>)>,
    report: &mut Report,
) {
    let parts = json::items(raw);
    let text = parts.first().and_then(|part| json::member(part, "text"));
    match (note.and_then(json::text).as_deref(), text) {
        (Some("reasoning_content"), Some(text)) => {
            changes.push(("reasoning", None));
            changes.push(("reasoning_content", Some(text.to_vec())));
        }
        (Some("reasoning"), Some(text)) => changes.push(("reasoning", Some(text.to_vec()))),
        (Some("reasoning_details"), _) => {
            changes.push(("reasoning", None));
            changes.push(("reasoning_details", Some(raw.to_vec())));
        }
        _ => {
            changes.push(("reasoning", None));
            report.count_loss(Loss::Reasoning, parts.len() as u64);
            parts.iter().for_each(|part| part_losses::signature(part, report));
        }
    }
}

/// Restores a legacy call or result with `function_call`.
fn legacy(read: &crate::model::message::Message<'_>, changes: &mut Vec<(&str, Option<Vec<u8>>)>) {
    if read.role() == Role::Tool {
        changes.push(("role", Some(b"\"function\"".to_vec())));
        changes.push(("tool_call_id", None));
    } else if let Some(calls) = read
        .tool_calls
        .and_then(|raw| json::elements(raw, Dialect::Strict))
    {
        let function = calls
            .first()
            .and_then(|call| json::member(call, "function"))
            .map(<[u8]>::to_vec);
        changes.push(("tool_calls", None));
        changes.push(("function_call", function));
    }
}
