//! Messages of the record stream as lines of a log.

use super::encode::quoted;
use super::go::Accepted;
use super::line::Line;
use super::member::{Rules, array};
use crate::error::{Error, Kind, Place, Result};
use crate::format::report::{Loss, Report};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::key::Derive;
use crate::model::message::{Message, Part, Role};
use crate::model::record::{Kind as Is, Record};
use crate::model::time;
use std::borrow::Cow;

/// Bytes of the longest line that PicoClaw reads; one more makes the whole session unreadable for it.
pub const LONGEST: usize = 10_485_759;

/// Lists that only PicoClaw has, in the order of its lines.
const LISTS: [&str; 3] = ["media", "attachments", "system_parts"];

/// The lines, without newlines, for these lines of the record stream. A message without a time gets `now`. What
/// does not come along is counted as lost, and a message that PicoClaw will not show is told of. A message that
/// is too long is refused.
pub fn log_lines(bodies: &[Vec<u8>], now: &str, report: &mut Report) -> Result<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    for (nth, body) in bodies.iter().enumerate() {
        // Not the start of an input: a byte order mark would be content here.
        let record = Record::parse(body, Place { line: 0, offset: 1 });
        let message = match &record.kind {
            Is::Message(message) => message,
            Is::Event(_) => {
                report.lose(Loss::Event, 1);
                continue;
            }
            Is::Unreadable(_) => {
                report.lose(Loss::Unreadable, 1);
                continue;
            }
            Is::Blank => continue,
        };
        let (line, hidden) = log_line(message, record.body, now, report).map_err(|fault| {
            let what = format!("message {} is none of PicoClaw's: {}", nth + 1, fault.what);
            Error::new(Kind::Data, what).hint("nothing was changed")
        })?;
        if line.len() > LONGEST {
            let what = format!(
                "message {} would be a line of {} bytes, and PicoClaw reads no session with one over {LONGEST}",
                nth + 1,
                line.len()
            );
            return Err(Error::new(Kind::Data, what)
                .hint("nothing was changed: split the text, or store it elsewhere"));
        }
        if hidden {
            let what = "nothing but reasoning: the line is kept, PicoClaw does not show it";
            report.note(Place::default(), format!("message {}: {what}", nth + 1));
        }
        lines.push(line);
    }
    Ok(lines)
}

/// One message as a line, and whether PicoClaw never shows it.
fn log_line(message: &Message<'_>, body: &[u8], now: &str, report: &mut Report) -> Accepted<(Vec<u8>, bool)> {
    let mut lost = Vec::new();
    let own = message
        .metadata
        .and_then(|metadata| json::member(metadata, "picoclaw"))
        .unwrap_or(b"{}");
    let lists = LISTS.map(|name| json::member(own, name).or_else(|| json::member(body, name)));
    let whole = candidate(message, body, own, lists, now, &mut lost);
    // What was put among PicoClaw's own members by hand may be nothing that it reads.
    let plain;
    let line = match Line::read(&whole, Rules::Log) {
        Ok(line) => line,
        Err(_) => {
            lost.clear();
            lost.push(Loss::Metadata);
            plain = candidate(message, body, b"{}", [None; 3], now, &mut lost);
            Line::read(&plain, Rules::Log)?
        }
    };
    let encoded = line.encoded();
    // The id of a message that came from PicoClaw is made of its line, and comes again with it.
    let id = message.id();
    if id.is_some_and(|id| !id.is_empty() && id != Derive::default().id(&encoded)) {
        lost.push(Loss::Id);
    }
    for loss in lost.into_iter().chain(losses(message, body, own)) {
        report.lose(loss, 1);
    }
    Ok((encoded, line.is_thought_only()))
}

/// The message under PicoClaw's names, spelled in any way.
fn candidate(
    message: &Message<'_>,
    body: &[u8],
    own: &[u8],
    lists: [Option<&[u8]>; 3],
    now: &str,
    lost: &mut Vec<Loss>,
) -> Vec<u8> {
    let text = |name: &str| json::member(body, name).and_then(json::text);
    let mut built = ObjectBuilder::default();
    let role = match message.role() {
        Role::Developer => Cow::Borrowed("system"),
        _ => message.role_name(),
    };
    built.text("role", &role);
    // A text keeps its spelling as long as it can: what is no character is told apart by the reader.
    match message.content {
        Some(raw) if raw.starts_with(b"\"") => built.raw("content", raw),
        _ => built.text("content", &message.text()),
    };
    for part in message.parts() {
        if let Part::Other(kind, _) = part {
            let attached = matches!(kind.as_ref(), "image_url" | "input_audio" | "file" | "image");
            lost.push(if attached { Loss::Attachment } else { Loss::Part });
        }
    }
    if let Some(model) = text("model").or_else(|| text("model_name")) {
        built.text("model_name", &model);
    }
    let said = message.timestamp().or_else(|| text("created_at"));
    let time = said.as_deref().and_then(time::read).map(|reading| reading.time);
    let time = time.filter(|time| time::is_rfc3339(time));
    if said.is_some() && time.is_none() {
        lost.push(Loss::Timestamp);
    }
    built.raw("created_at", quoted(time.as_deref().unwrap_or(now)));
    for (name, list) in LISTS.iter().zip(lists) {
        if let Some(list) = list {
            built.raw(name, list);
        }
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

/// The text of reasoning, its parts on lines of their own.
fn reasoning(raw: &[u8], lost: &mut Vec<Loss>) -> String {
    if let Some(text) = json::text(raw) {
        return text.into_owned();
    }
    let mut texts = Vec::new();
    for part in json::elements(raw, Dialect::Strict).unwrap_or_default() {
        match json::member(part, "text")
            .and_then(json::text)
            .or(json::text(part))
        {
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

fn elements(list: Option<&[u8]>) -> Vec<&[u8]> {
    list.and_then(|raw| json::elements(raw, Dialect::Strict))
        .unwrap_or_default()
}

/// The calls, with what PicoClaw had said of them beside.
fn calls(message: &Message<'_>, own: &[u8], lost: &mut Vec<Loss>) -> Vec<u8> {
    let raws = elements(message.tool_calls);
    let beside = elements(json::member(own, "calls"));
    let all = message.tool_calls().into_iter().zip(raws).enumerate();
    array(all.map(|(nth, (call, raw))| {
        let beside = beside.get(nth).copied().unwrap_or(b"{}");
        let mut built = ObjectBuilder::default();
        built.text("id", &call.id);
        if let Some(kind) = json::member(raw, "type").and_then(json::text) {
            built.text("type", &kind);
        }
        let custom = json::member(raw, "custom").is_some();
        if custom {
            lost.push(Loss::Arguments); // it comes back as a function's
        }
        if custom || json::member(raw, "function").is_some() {
            let mut function = ObjectBuilder::default();
            function
                .text("name", &call.name)
                .text("arguments", &call.arguments);
            if let Some(signature) = json::member(beside, "thought_signature") {
                function.raw("thought_signature", signature);
            }
            built.raw("function", function.finish());
        }
        if let Some(extra) = json::member(beside, "extra_content").or(json::member(raw, "extra_content")) {
            built.raw("extra_content", extra);
        }
        if ["members", "function_members"]
            .iter()
            .any(|name| json::member(beside, name).is_some())
        {
            lost.push(Loss::Metadata);
        }
        built.finish()
    }))
}

/// What a line has no place for, whatever it holds.
fn losses(message: &Message<'_>, body: &[u8], own: &[u8]) -> Vec<Loss> {
    let members = json::members(body, Dialect::Python).unwrap_or_default();
    let said = members
        .iter()
        .filter(|(_, value)| !matches!(*value, b"null" | b"{}" | b"[]" | b"\"\""));
    let mut lost: Vec<Loss> = said
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
    if json::member(own, "members").is_some() || json::member(own, "created_at").is_some() {
        lost.push(Loss::Metadata);
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_message_has_picoclaws_shape() {
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
    fn what_has_no_place_is_told() {
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
    fn thinking_alone_is_kept_and_told() {
        let (line, report) = written(r#"{"role":"assistant","content":"","reasoning_content":"r"}"#);
        assert!(line.ends_with(r#""reasoning_content":"r"}"#));
        assert!(report.findings[0].what.contains("nothing but reasoning") && !report.is_damaged());
    }

    #[test]
    fn a_line_that_picoclaw_cannot_read_is_refused() {
        let body = |length: usize| {
            let around = r#"{"role":"user","content":"","created_at":"2026-11-20T18:02:03Z"}"#.len();
            format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(length - around))
        };
        assert_eq!(written(&body(LONGEST)).0.len(), LONGEST);
        let error = log_lines(&[body(LONGEST + 1).into_bytes()], NOW, &mut Report::default()).unwrap_err();
        assert_eq!(error.kind, Kind::Data);
    }
}
