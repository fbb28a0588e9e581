//! Converts native messages to lines of a log.

use super::go::Accepted;
use super::line::MessageLine;
use super::member::ParseRules;
use crate::error::{Error, Position, Result};
use crate::format::indent::indented;
use crate::format::report::{Loss, Report};
use crate::format::{WritePurpose, go_json};
use crate::model::json::{self, Dialect, ObjectBuilder, array};
use crate::model::key::Derive;
use crate::model::message::{Message, MessagePart, Role};
use crate::model::record::{Record, RecordKind as Is};
use crate::model::time;
use std::borrow::Cow;

/// Maximum length in bytes of a line that PicoClaw reads; a longer one makes the whole session unreadable for it.
pub const LONGEST: usize = 10_485_759;

/// Lists specific to PicoClaw, in the order of its lines.
const LISTS: [&str; 3] = ["media", "attachments", "system_parts"];

/// Converts native lines to lines of a log, without newlines. A message without a time gets `now`. Reports losses, and
/// messages that PicoClaw will not show. Returns an error for a message that is too long.
pub fn log_lines(bodies: &[Vec<u8>], now: &str, report: &mut Report) -> Result<Vec<Vec<u8>>> {
    let mut writing = LogEncoder::new(Some(now), WritePurpose::Export);
    let mut lines = Vec::new();
    for body in bodies {
        // Not the start of an input, so a byte order mark would be content.
        let record = Record::parse(body, Position { line: 0, offset: 1 });
        match &record.kind {
            Is::Message(message) => lines.push(writing.line(message, record.body, report)?),
            Is::Event(_) => report.count_loss(Loss::Event, 1),
            Is::Unreadable(_) => report.count_loss(Loss::Unreadable, 1),
            Is::Blank => {}
        }
    }
    Ok(lines)
}

/// A line, without its newline, for a message that replaces others in a log; see [`log_lines`].
pub fn log_line_of(
    message: &Message<'_>,
    body: &[u8],
    now: Option<&str>,
    report: &mut Report,
) -> Result<Vec<u8>> {
    LogEncoder::new(now, WritePurpose::Return).line(message, body, report)
}

/// Writes the messages of one log in order.
pub(super) struct LogEncoder<'w> {
    /// The time of messages without one; `None` leaves them without.
    now: Option<&'w str>,
    purpose: WritePurpose,
    /// Whether they are elements of a document, one per line.
    document: bool,
    /// The ids that the lines will have when read again.
    ids: Derive,
    nth: u64,
}

impl<'w> LogEncoder<'w> {
    pub fn new(now: Option<&'w str>, purpose: WritePurpose) -> LogEncoder<'w> {
        LogEncoder {
            now,
            purpose,
            document: false,
            ids: Derive::default(),
            nth: 0,
        }
    }

    /// For messages of a legacy document.
    pub fn in_document(purpose: WritePurpose) -> LogEncoder<'w> {
        LogEncoder {
            document: true,
            ..LogEncoder::new(None, purpose)
        }
    }

    /// Whether lines that are not messages may be in between.
    pub fn is_log(&self) -> bool {
        !self.document
    }

    /// The next message as a line without its newline; see [`log_lines`].
    pub fn line(&mut self, message: &Message<'_>, body: &[u8], report: &mut Report) -> Result<Vec<u8>> {
        self.nth += 1;
        let mut lost = Vec::new();
        let (line, hidden) = log_line(message, body, self.now, &mut lost).map_err(|fault| {
            let what = format!("message {} is invalid for PicoClaw: {}", self.nth, fault.what);
            Error::data(what).hint("nothing was changed")
        })?;
        let line = if self.document { indented(&line, 2) } else { line };
        if line.len() > LONGEST && !self.document {
            let what = format!(
                "message {} would be a line of {} bytes; PicoClaw reads lines of up to {LONGEST}",
                self.nth,
                line.len()
            );
            return Err(Error::data(what).hint("nothing was changed; split the text, or store it elsewhere"));
        }
        if hidden && self.purpose == WritePurpose::Export {
            let what = "only reasoning; kept, but PicoClaw does not show the line";
            report.note(Position::default(), format!("message {}: {what}", self.nth));
        }
        // The id of a message read from PicoClaw is derived from its line, and is restored on reading.
        let again = self.ids.id(&line);
        if message.id().is_some_and(|id| !id.is_empty() && id != again) {
            lost.push(Loss::Id);
        }
        let bookkeeping =
            |loss: &Loss| matches!(loss, Loss::Id | Loss::Usage | Loss::Category | Loss::Metadata);
        lost.retain(|loss| self.purpose == WritePurpose::Export || !bookkeeping(loss));
        lost.into_iter().for_each(|loss| report.count_loss(loss, 1));
        Ok(line)
    }
}

/// Converts a message to a line; also returns whether PicoClaw never shows it.
fn log_line(
    message: &Message<'_>,
    body: &[u8],
    now: Option<&str>,
    lost: &mut Vec<Loss>,
) -> Accepted<(Vec<u8>, bool)> {
    let own = message
        .metadata
        .and_then(|metadata| json::member(metadata, "picoclaw"))
        .unwrap_or(b"{}");
    let lists = LISTS.map(|name| json::member(own, name).or_else(|| json::member(body, name)));
    let whole = candidate(message, body, own, lists, now, lost);
    // Manually edited PicoClaw members may be invalid.
    let plain;
    let line = match MessageLine::read(&whole, ParseRules::Log) {
        Ok(line) => line,
        Err(_) => {
            lost.clear();
            lost.push(Loss::Metadata);
            plain = candidate(message, body, b"{}", [None; 3], now, lost);
            MessageLine::read(&plain, ParseRules::Log)?
        }
    };
    let mut encoded = line.encoded();
    match json::member(own, "members").map(|members| with_unknown(&encoded, members)) {
        Some(Some(more)) => encoded = more,
        Some(None) => lost.push(Loss::Metadata),
        None => {}
    }
    lost.extend(losses(message, body, own));
    Ok((encoded, line.is_reasoning_only()))
}

/// Whether PicoClaw never shows this message.
pub(super) fn is_reasoning_only(message: &Message<'_>, body: &[u8]) -> bool {
    log_line(message, body, None, &mut Vec::new()).is_ok_and(|(_, hidden)| hidden)
}

/// Appends members unknown to PicoClaw to a line; `None` if they would change what PicoClaw reads.
fn with_unknown(line: &[u8], members: &[u8]) -> Option<Vec<u8>> {
    let inner = members.strip_prefix(b"{")?.strip_suffix(b"}")?;
    if inner.is_empty() {
        return Some(line.to_vec());
    }
    let mut more = line.strip_suffix(b"}")?.to_vec();
    more.push(b',');
    more.extend_from_slice(inner);
    more.push(b'}');
    let read = MessageLine::read(&more, ParseRules::Log).ok()?;
    (read.encoded() == line).then_some(more)
}

/// The message with PicoClaw's member names, not yet in Go's encoding.
fn candidate(
    message: &Message<'_>,
    body: &[u8],
    own: &[u8],
    lists: [Option<&[u8]>; 3],
    now: Option<&str>,
    lost: &mut Vec<Loss>,
) -> Vec<u8> {
    let text = |name: &str| json::member_text(body, name);
    let mut built = ObjectBuilder::default();
    let role = match message.role() {
        Role::Developer => Cow::Borrowed("system"),
        _ => message.role_name(),
    };
    built.text("role", &role);
    // Keep a string unchanged as long as possible; the reader handles invalid characters.
    match message.content {
        Some(raw) if raw.starts_with(b"\"") => built.raw("content", raw),
        _ => built.text("content", &message.text()),
    };
    for part in message.parts() {
        if let MessagePart::Other(kind, _) = part {
            let attached = matches!(kind.as_ref(), "image_url" | "input_audio" | "file" | "image");
            lost.push(if attached { Loss::Attachment } else { Loss::Part });
        }
    }
    if let Some(model) = text("model").or_else(|| text("model_name")) {
        built.text("model_name", &model);
    }
    let timestamp = message.timestamp().or_else(|| text("created_at"));
    let time = timestamp
        .as_deref()
        .and_then(time::read)
        .map(|reading| reading.time);
    let time = time.filter(|time| time::is_rfc3339(time));
    if timestamp.is_some() && time.is_none() {
        lost.push(Loss::Timestamp);
    }
    if let Some(time) = time.as_deref().or(now) {
        built.raw("created_at", go_json::quoted(time));
    }
    for (name, list) in LISTS.iter().zip(lists) {
        built.optional(name, list);
    }
    let reasoning = match message.reasoning {
        Some(raw) => reasoning(raw, lost),
        None => text("reasoning_content").unwrap_or_default().into_owned(),
    };
    built.text("reasoning_content", &reasoning);
    if message.calls_tools() {
        built.raw("tool_calls", calls(message, own, lost));
    }
    if let Some(id) = message.tool_call_id() {
        built.text("tool_call_id", &id);
    }
    built.finish()
}

/// The text of reasoning, one part per line.
fn reasoning(raw: &[u8], lost: &mut Vec<Loss>) -> String {
    if let Some(text) = json::text(raw) {
        return text.into_owned();
    }
    let mut texts = Vec::new();
    for part in json::items(raw) {
        match json::member_text(part, "text").or(json::text(part)) {
            Some(text) => texts.push(text),
            None => lost.push(Loss::Reasoning),
        }
        let members = json::members(part, Dialect::Strict).unwrap_or_default();
        if members.iter().any(|(name, _)| name == "signature") {
            lost.push(Loss::Signature);
        }
    }
    texts.join("\n")
}

/// The calls, with PicoClaw's additional members.
fn calls(message: &Message<'_>, own: &[u8], lost: &mut Vec<Loss>) -> Vec<u8> {
    let raws = json::items(message.tool_calls);
    let own_calls = json::items(json::member(own, "calls"));
    let all = message.tool_calls().into_iter().zip(raws).enumerate();
    array(all.map(|(nth, (call, raw))| {
        let own_call = own_calls.get(nth).copied().unwrap_or(b"{}");
        let mut built = ObjectBuilder::default();
        built.text("id", &call.id);
        if let Some(kind) = json::member_text(raw, "type") {
            built.text("type", &kind);
        }
        let custom = json::member(raw, "custom").is_some();
        if custom {
            lost.push(Loss::Arguments); // read back as a function call
        }
        if custom || json::member(raw, "function").is_some() {
            let mut function = ObjectBuilder::default();
            function
                .text("name", &call.name)
                .text("arguments", &call.arguments);
            function.optional("thought_signature", json::member(own_call, "thought_signature"));
            built.raw("function", function.finish());
        }
        built.optional(
            "extra_content",
            json::member(own_call, "extra_content").or(json::member(raw, "extra_content")),
        );
        if ["members", "function_members"]
            .iter()
            .any(|name| json::member(own_call, name).is_some())
        {
            lost.push(Loss::Metadata);
        }
        built.finish()
    }))
}

/// Counts data that a line can never represent.
fn losses(message: &Message<'_>, body: &[u8], own: &[u8]) -> Vec<Loss> {
    let members = json::members(body, Dialect::Python).unwrap_or_default();
    let filled = members
        .iter()
        .filter(|(_, value)| !matches!(*value, b"null" | b"{}" | b"[]" | b"\"\""));
    let mut lost: Vec<Loss> = filled
        .filter_map(|(name, value)| match name.as_ref() {
            "role" | "content" | "tool_calls" | "tool_call_id" | "timestamp" | "model" | "reasoning"
            | "id" => None,
            "model_name" | "created_at" | "reasoning_content" | "media" | "attachments" | "system_parts" => {
                None
            }
            "name" => Some(Loss::Name),
            "category" => (message.category() != message.role().category()).then_some(Loss::Category),
            "usage" | "tokens" => Some(Loss::Usage),
            "metadata" => {
                let all = json::members(value, Dialect::Python).unwrap_or_default();
                let ours = all.len() == 1 && json::member(value, "picoclaw").is_some();
                (!ours).then_some(Loss::Metadata)
            }
            _ => Some(Loss::Metadata),
        })
        .collect();
    if json::member(own, "created_at").is_some() {
        lost.push(Loss::Metadata);
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    const NOW: &str = "2026-11-20T18:02:03Z";

    fn written(body: &str) -> (String, Report) {
        let mut report = Report::default();
        let lines = log_lines(&[body.as_bytes().to_vec()], NOW, &mut report).unwrap();
        (String::from_utf8(lines.concat()).unwrap(), report)
    }

    fn lost(body: &str) -> Vec<&'static str> {
        written(body).1.losses.keys().map(|loss| loss.name()).collect()
    }

    #[test]
    fn a_message_has_the_shape_of_picoclaw() {
        let (line, report) = written(concat!(
            r#"{"tool_call_id":"t","content":[{"type":"text","text":"a<b"},{"type":"text","text":"c"}],"role":"developer","#,
            r#""model":"m","timestamp":"2026-03-01T09:00:00.10+00:00","reasoning":[{"type":"text","text":"why"}],"id":""}"#
        ));
        assert_eq!(
            line,
            concat!(
                r#"{"role":"system","content":"a\u003cb\nc","model_name":"m","created_at":"2026-03-01T09:00:00.1Z","#,
                r#""reasoning_content":"why","tool_call_id":"t"}"#
            )
        );
        assert!(report.losses.is_empty() && report.findings.is_empty());
        let (line, _) = written(
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":{"a": 1}}}]}"#,
        );
        assert_eq!(
            line,
            concat!(
                r#"{"role":"assistant","content":"","created_at":"2026-11-20T18:02:03Z","#,
                r#""tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\": 1}"}}]}"#
            )
        );
    }

    #[test]
    fn members_without_an_equivalent_are_reported_lost() {
        let with = |more: &str| lost(&format!(r#"{{"role":"user","content":"a",{more}}}"#));
        assert_eq!(with(r#""id":"msg_1""#), ["id"]);
        assert_eq!(with(r#""timestamp":"soon""#), ["timestamp"]);
        assert_eq!(with(r#""category":"context","name":"n""#), ["name", "category"]);
        assert!(with(r#""category":"dialog","name":null,"metadata":{}"#).is_empty());
        assert_eq!(with(r#""usage":{"n":1},"x":1"#), ["usage", "metadata"]);
        assert_eq!(with(r#""metadata":{"a":1}"#), ["metadata"]);
        assert_eq!(with(r#""metadata":{"picoclaw":{"media":5}}"#), ["metadata"]);
        assert_eq!(
            with(r#""reasoning":[{"type":"text","text":"a","signature":"s"},{"type":"x"}]"#),
            ["reasoning", "signature"]
        );
        assert_eq!(
            lost(r#"{"role":"user","content":[{"type":"image_url"},{"type":"x"}]}"#),
            ["attachment", "part"]
        );
        assert_eq!(lost(r#"{"type":"note","id":"e"}"#), ["event"]);
        assert_eq!(lost("half a li"), ["unreadable"]);
    }

    #[test]
    fn reasoning_without_content_is_kept_and_reported() {
        let (line, report) = written(r#"{"role":"assistant","content":"","reasoning_content":"r"}"#);
        assert!(line.ends_with(r#""reasoning_content":"r"}"#));
        assert!(report.findings[0].what.contains("only reasoning") && !report.is_damaged());
    }

    #[test]
    fn a_line_that_picoclaw_cannot_read_is_refused() {
        let body = |length: usize| {
            let around = r#"{"role":"user","content":"","created_at":"2026-11-20T18:02:03Z"}"#.len();
            format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(length - around))
        };
        assert_eq!(written(&body(LONGEST)).0.len(), LONGEST);
        let error = log_lines(&[body(LONGEST + 1).into_bytes()], NOW, &mut Report::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data);
    }
}
