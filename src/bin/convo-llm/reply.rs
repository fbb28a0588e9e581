//! Converts a reply of an API to message records with its metadata.

use crate::retry::RequestFailure;
use crate::service_error;
use convo::error::Position;
use convo::format::request::{self, Api};
use convo::model::json::{self, Dialect, Members, ObjectBuilder, array};
use convo::model::key;
use convo::model::message::{Message, ToolCall};
use convo::model::record::{Record, without_mark};

/// A model's reply.
#[derive(Debug)]
pub struct ModelReply {
    /// The records; APIs whose replies are lists of items may return several.
    pub records: Vec<Vec<u8>>,
    /// The text of all records.
    pub text: String,
    /// The stop reason as the service names it.
    pub stop_reason: String,
}

/// Stop reasons of a reply cut at the token limit.
const LENGTH: [&str; 4] = [
    "length",
    "max_tokens",
    "max_output_tokens",
    "model_context_window_exceeded",
];

impl ModelReply {
    /// Whether the reply was cut at the token limit.
    pub fn is_cut(&self) -> bool {
        LENGTH.contains(&self.stop_reason.as_str())
    }

    /// Whether the service withheld a part of the reply.
    pub fn is_filtered(&self) -> bool {
        matches!(self.stop_reason.as_str(), "content_filter" | "refusal")
    }

    /// Passes the tool calls of the reply to `each`, in order.
    pub fn with_calls<T>(&self, each: impl FnOnce(&[ToolCall<'_>]) -> T) -> T {
        let parsed: Vec<Record<'_>> = self.records.iter().map(|raw| parse(raw)).collect();
        let messages = parsed.iter().filter_map(Record::message);
        each(&messages.flat_map(Message::tool_calls).collect::<Vec<_>>())
    }
}

fn parse(raw: &[u8]) -> Record<'_> {
    Record::parse(raw, Position { line: 0, offset: 1 })
}

/// Members of a reply next to its messages.
#[derive(Default)]
struct ReplyMembers<'b> {
    id: Option<&'b [u8]>,
    model: Option<&'b [u8]>,
    usage: Option<&'b [u8]>,
    stop_reason: String,
}

/// Parses a reply that was not streamed, or one assembled from a stream.
pub fn read(api: Api, body: &[u8]) -> Result<ModelReply, RequestFailure> {
    let body = complete_object(body)?;
    if json::member(body, "error").is_some_and(|error| error != b"null") {
        let what = service_error::message(body).unwrap_or_default();
        return Err(RequestFailure::new(format!(
            "the service failed: {}",
            service_error::short(&what)
        )));
    }
    let (messages, extra) = match api {
        Api::Anthropic => anthropic(body)?,
        Api::OpenaiResponses => responses(body)?,
        _ => chat(body)?,
    };
    let count = messages.len();
    let noted = |(nth, raw)| note(raw, &extra, nth + 1 == count);
    let records: Vec<Vec<u8>> = messages.into_iter().enumerate().map(noted).collect();
    let texts = records.iter().filter_map(|raw| {
        let record = parse(raw);
        let message = record.message()?;
        let refusal = json::member_text(raw, "refusal");
        let text = message.text();
        Some(if text.is_empty() {
            refusal.unwrap_or_default().into_owned()
        } else {
            text.into_owned()
        })
    });
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    let reply = ModelReply {
        text: texts.join("\n"),
        stop_reason: extra.stop_reason,
        records,
    };
    let calls = reply.with_calls(|calls| calls.len());
    match (calls, reply.is_cut()) {
        (1.., true) => Err(RequestFailure::new("the reply was cut off within a tool call").hint(MORE)),
        (0, cut) if reply.text.trim().is_empty() && !has_parts(&reply) => {
            let failure = RequestFailure::new(format!("the reply is empty ({})", reply.stop_reason));
            Err(if cut { failure.hint(MORE) } else { failure })
        }
        _ => Ok(reply),
    }
}

const MORE: &str = "raise --max-tokens";

/// Whether the reply contains parts other than text, e.g. of tools that the service ran.
fn has_parts(reply: &ModelReply) -> bool {
    reply.records.iter().any(|raw| {
        let record = parse(raw);
        let parts = record.message().map(Message::parts).unwrap_or_default();
        parts
            .iter()
            .any(|part| matches!(part, convo::model::message::MessagePart::Other(..)))
    })
}

/// Checks that the body is one JSON object; otherwise describes it.
fn complete_object(body: &[u8]) -> Result<&[u8], RequestFailure> {
    let body = without_mark(body).trim_ascii();
    let begins = || service_error::of_error(&body[..body.len().min(4096)]).unwrap_or_default();
    match body.first() {
        None => Err(RequestFailure::retryable("the reply is empty")),
        Some(b'<') => {
            let what = format!("the reply is an HTML page: {}", begins());
            Err(RequestFailure::new(what)
                .hint("another server answers at this address: check --base-url and the proxy"))
        }
        Some(b'{') => match json::value_end(body, 0, Dialect::Strict) {
            Ok(end) if end == body.len() && std::str::from_utf8(body).is_ok() => Ok(body),
            Ok(end) if end == body.len() => Err(RequestFailure::new("the reply is not UTF-8")),
            Ok(_) => Err(RequestFailure::new(
                "the reply is not valid JSON: text after the value",
            )),
            Err(fault) => Err(RequestFailure::retryable(format!(
                "the reply is not valid JSON: byte {}: {}",
                fault.offset, fault.what
            ))),
        },
        Some(_) => Err(RequestFailure::new(format!(
            "the reply is not a JSON object: {}",
            begins()
        ))),
    }
}

/// The native messages of a reply, and the members next to them.
type ReplyParts<'b> = (Vec<Vec<u8>>, ReplyMembers<'b>);

fn members_next_to_messages<'b>(body: &'b [u8], stop: Option<&[u8]>) -> ReplyMembers<'b> {
    ReplyMembers {
        id: json::string_member(body, "id"),
        model: json::string_member(body, "model"),
        usage: json::member(body, "usage").filter(|raw| raw.starts_with(b"{")),
        stop_reason: stop.and_then(json::text).unwrap_or_default().into_owned(),
    }
}

fn elements(raw: Option<&[u8]>) -> Vec<&[u8]> {
    json::items(raw)
}

fn chat(body: &[u8]) -> Result<ReplyParts<'_>, RequestFailure> {
    let choices = elements(json::member(body, "choices"));
    let choice = choices
        .first()
        .ok_or_else(|| RequestFailure::new("the reply has no choices"))?;
    let message = json::member(choice, "message").filter(|raw| raw.starts_with(b"{"));
    let message = message.ok_or_else(|| RequestFailure::new("the reply has no message"))?;
    let mut element = ObjectBuilder::default();
    element.text("role", "assistant");
    for (name, value) in members(message) {
        match (name.as_str(), value) {
            ("role", _) | (_, b"[]") => {}
            ("content", value) => drop(element.raw("content", json::compact(value).0)),
            (_, b"null") => {}
            ("tool_calls", value) => drop(element.raw("tool_calls", calls(value))),
            (name, value) => drop(element.raw(name, json::compact(value).0)),
        }
    }
    let found = request::records(Api::OpenaiChat, &element.finish());
    Ok((
        found,
        members_next_to_messages(body, json::member(choice, "finish_reason")),
    ))
}

/// Normalizes calls as other programs expect them: with an id and string arguments.
fn calls(raw: &[u8]) -> Vec<u8> {
    let each = elements(Some(raw)).into_iter().enumerate().map(|(nth, call)| {
        let (call, _) = json::compact(call);
        let function = json::member(&call, "function").unwrap_or(b"{}");
        let arguments = json::member(function, "arguments").filter(|raw| !raw.starts_with(b"\""));
        let function = arguments.and_then(|arguments| {
            let mut text = Vec::new();
            let given = if arguments == b"null" {
                ""
            } else {
                std::str::from_utf8(arguments).unwrap_or("")
            };
            json::push_text(&mut text, given);
            json::with_members(function, &[("arguments", Some(&text))]).ok()
        });
        let id = json::member_text(&call, "id").unwrap_or_default();
        let built = id.is_empty().then(|| {
            let built = key::sha256(&[nth.to_string().as_bytes(), &call].concat());
            format!("\"call_{}\"", &built[..16]).into_bytes()
        });
        let mut changes: Vec<(&str, Option<&[u8]>)> = vec![("index", None)];
        changes.extend(function.as_deref().map(|raw| ("function", Some(raw))));
        changes.extend(built.as_deref().map(|raw| ("id", Some(raw))));
        json::with_members(&call, &changes).unwrap_or(call)
    });
    array(each)
}

fn anthropic(body: &[u8]) -> Result<ReplyParts<'_>, RequestFailure> {
    let content = json::member(body, "content").filter(|raw| raw.starts_with(b"["));
    let content = content.ok_or_else(|| RequestFailure::new("the reply has no content"))?;
    let blocks: Vec<Vec<u8>> = elements(Some(content)).into_iter().map(without_nulls).collect();
    let mut element = ObjectBuilder::default();
    element.text("role", "assistant");
    match blocks.as_slice() {
        // Content with only text becomes a string.
        [only] if members(only).len() == 2 && json::member(only, "type") == Some(br#""text""#) => {
            element.raw("content", json::member(only, "text").unwrap_or(b"\"\""));
        }
        blocks => {
            element.raw("content", array(blocks.iter()));
        }
    }
    let found = request::records(Api::Anthropic, &element.finish());
    Ok((
        found,
        members_next_to_messages(body, json::member(body, "stop_reason")),
    ))
}

fn without_nulls(block: &[u8]) -> Vec<u8> {
    let mut kept = ObjectBuilder::default();
    for (name, value) in members(block) {
        if value != b"null" {
            kept.raw(&name, json::compact(value).0);
        }
    }
    kept.finish()
}

fn responses(body: &[u8]) -> Result<ReplyParts<'_>, RequestFailure> {
    let output = json::member(body, "output").filter(|raw| raw.starts_with(b"["));
    let output = output.ok_or_else(|| RequestFailure::new("the reply has no output"))?;
    let items: Vec<Vec<u8>> = elements(Some(output)).into_iter().map(item).collect();
    let raws: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
    let units = request::read(Api::OpenaiResponses, &raws);
    let found = units.into_iter().flat_map(|unit| unit.records).collect();
    let reason = json::member(body, "incomplete_details").and_then(|raw| json::member(raw, "reason"));
    Ok((
        found,
        members_next_to_messages(body, reason.or(json::member(body, "status"))),
    ))
}

/// Removes empty members from an item, because it is sent back with the next request.
fn item(raw: &[u8]) -> Vec<u8> {
    let item = without_nulls(raw);
    let parts = json::member(&item, "content").and_then(|raw| json::elements(raw, Dialect::Strict));
    let Some(parts) = parts else { return item };
    let bare = |part: &&[u8]| {
        let part = without_nulls(part);
        match json::member(&part, "logprobs") {
            Some(b"[]") => json::with_members(&part, &[("logprobs", None)]).unwrap_or(part),
            _ => part,
        }
    };
    let content = array(parts.iter().map(bare));
    json::with_members(&item, &[("content", Some(&content))]).unwrap_or(item)
}

/// The members of an object, in order.
fn members(object: &[u8]) -> Vec<(String, &[u8])> {
    let mut all = Vec::new();
    if let Ok(mut scan) = Members::new(object, Dialect::Strict) {
        while let Ok(Some(member)) = scan.next() {
            all.push((member.name().into_owned(), member.value));
        }
    }
    all
}

/// Adds the reply's members to a message; usage describes the whole reply, so it goes to the last message.
fn note(message: Vec<u8>, extra: &ReplyMembers<'_>, last: bool) -> Vec<u8> {
    let mut metadata = ObjectBuilder::default();
    if last && !extra.stop_reason.is_empty() {
        metadata.text("stop_reason", &extra.stop_reason);
    }
    if let Some(id) = extra.id {
        metadata.raw("response_id", id);
    }
    let own = json::member(&message, "metadata").unwrap_or(b"{}");
    for (name, value) in members(own) {
        metadata.raw(&name, value);
    }
    let usage = extra.usage.filter(|_| last).map(|raw| json::compact(raw).0);
    let mut changes: Vec<(&str, Option<&[u8]>)> = Vec::new();
    changes.extend(extra.model.map(|raw| ("model", Some(raw))));
    changes.extend(usage.as_deref().map(|raw| ("usage", Some(raw))));
    let metadata = (!metadata.is_empty()).then(|| metadata.finish());
    changes.extend(metadata.as_deref().map(|raw| ("metadata", Some(raw))));
    json::with_members(&message, &changes).unwrap_or(message)
}
