//! Records as the message that they were, or as a new one.

use super::NAME;
use super::content;
use super::element::{kind, rfc3339};
use super::make::{self, Making, Told, times, tokens};
use super::part;
use crate::format::grouped;
use crate::format::report::{Loss, Report};
use crate::format::request::contents::{self, Content};
use crate::format::request::figures::Figures;
use crate::format::request::media::Media;
use crate::format::request::piece::object_arguments;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::message::{Message, Role};
use crate::model::record::Record;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// What a record notes of the message that it was read from.
pub fn note(body: &[u8]) -> Option<&[u8]> {
    grouped::note(body, NAME)
}

/// Results by the ids of their calls.
type Results<'r> = HashMap<String, VecDeque<Message<'r>>>;

/// The message that records are: one of the user, or one of the model with its results. Without `making` it is made of
/// notes alone; none where these do not do, and where nothing would be said.
pub fn element<B: AsRef<[u8]>>(
    info: Option<&[u8]>,
    bodies: &[B],
    mut making: Option<&mut Making>,
    report: &mut Report,
) -> Option<Vec<u8>> {
    let record = |body| Record::parse(body, crate::error::Place { line: 0, offset: 1 });
    let records: Vec<_> = bodies.iter().map(|body| record(body.as_ref())).collect();
    let said: Vec<(&[u8], Message<'_>)> = records
        .iter()
        .filter_map(|record| Some((record.body, *record.message()?)))
        .collect();
    let mut results = Results::new();
    for (_, message) in said.iter().filter(|(_, message)| message.role() == Role::Tool) {
        let id = message.tool_call_id().unwrap_or_default().into_owned();
        results.entry(id).or_default().push_back(*message);
    }
    let steps: Vec<_> = said
        .iter()
        .filter(|(_, message)| message.role() != Role::Tool)
        .collect();
    let made;
    let info = match (info, making.as_deref_mut()) {
        (Some(info), _) => info,
        (None, Some(making)) => {
            made = new_info(&said, making, report);
            &made
        }
        (None, None) => return None,
    };
    let mut parts = Vec::new();
    for (body, message) in &steps {
        let mut laying = Laying {
            info,
            making: making.as_deref_mut(),
            results: &mut results,
            report,
        };
        parts.extend(laying.step(body, message)?);
    }
    let orphans: usize = results.values().map(VecDeque::len).sum();
    report.lose(Loss::Orphan, orphans as u64);
    if steps.is_empty() {
        return None;
    }
    let mut element = ObjectBuilder::default();
    element
        .raw("info", info)
        .raw("parts", crate::format::request::piece::array(&parts));
    Some(element.finish())
}

/// What a new message says of itself.
fn new_info(said: &[(&[u8], Message<'_>)], making: &mut Making, report: &mut Report) -> Vec<u8> {
    let Some((_, first)) = said.first() else {
        return b"{}".to_vec();
    };
    let time = making.time(make::said(first.timestamp));
    let own = first.id();
    let (id, kept) = making.message_id(own.as_deref());
    if making.tells {
        let ids = said[1..]
            .iter()
            .filter(|(_, message)| message.id.is_some())
            .count();
        report.lose(Loss::Id, u64::from(own.is_some() && !kept) + ids as u64);
        // The steps of an answer have the time of the first; what came of calls is told with them.
        let steps = said[1..]
            .iter()
            .filter(|(_, message)| message.role() != Role::Tool);
        let steps = steps.filter(|(_, message)| message.timestamp.is_some()).count();
        let moment = |text: &str| crate::model::time::moment(text);
        let now = rfc3339(time).and_then(|text| moment(&text));
        let moved = first.timestamp().is_some_and(|text| moment(&text) != now);
        report.lose(Loss::Timestamp, u64::from(moved) + steps as u64);
    }
    if first.role() == Role::User {
        return making.user(&id, time);
    }
    let mut used = said
        .iter()
        .filter_map(|(body, _)| Figures::of(json::member(body, "usage")?));
    let model = said
        .iter()
        .rev()
        .find_map(|(body, _)| json::member(body, "model").and_then(json::text));
    let last = said
        .iter()
        .rev()
        .find(|(_, message)| message.role() != Role::Tool);
    let told = Told {
        model: model.as_deref(),
        used: used.next_back().unwrap_or_default(),
        calls: last.is_some_and(|(_, message)| message.calls_tools()),
        is_summary: false,
    };
    making.assistant(&id, time, &told)
}

/// Lays out the parts of one record.
struct Laying<'l, 'r> {
    info: &'l [u8],
    making: Option<&'l mut Making>,
    results: &'l mut Results<'r>,
    report: &'l mut Report,
}

impl Laying<'_, '_> {
    /// The parts of a record; none where some of them are new and nothing new can be made.
    fn step(&mut self, body: &[u8], message: &Message<'_>) -> Option<Vec<Vec<u8>>> {
        let list = |raw: Option<&'_ [u8]>| -> VecDeque<Vec<u8>> {
            let found = raw.and_then(|raw| json::elements(raw, Dialect::Strict));
            found
                .unwrap_or_default()
                .into_iter()
                .map(<[u8]>::to_vec)
                .collect()
        };
        let note = note(body);
        let notes = list(note.and_then(|note| json::member(note, "parts")));
        let mut contents = contents::pieces(message.content);
        let (mut thoughts, mut calls) = (list(message.reasoning), list(message.tool_calls));
        let mut parts = Vec::new();
        for note in &notes {
            let laid = match kind(note).as_ref() {
                "text" => match contents.front() {
                    Some(Content::Text(text)) => {
                        let mut part = part::begun(note, self.info);
                        part.raw("text", text);
                        contents.pop_front();
                        Some(part.finish())
                    }
                    _ => None,
                },
                "file" => match contents.front() {
                    Some(Content::Other(raw)) => {
                        let part = self.file(raw, Some(note));
                        contents.pop_front();
                        part
                    }
                    _ => None,
                },
                "reasoning" => thoughts.pop_front().map(|thought| {
                    let mut part = part::begun(note, self.info);
                    part.raw("text", thought_text(&thought));
                    part.finish()
                }),
                "tool" => match calls.pop_front() {
                    Some(call) => Some(self.tool(&call, Some(note), None)?),
                    None => None,
                },
                _ => Some(part::begun(note, self.info).finish()),
            };
            parts.extend(laid);
        }
        let new = !(thoughts.is_empty() && contents.is_empty() && calls.is_empty());
        let is_user = message.role() == Role::User;
        if note.is_some() && !new {
            return Some(parts);
        }
        self.making.as_ref()?;
        let id = notes
            .back()
            .and_then(|note| json::member(note, "id"))
            .and_then(json::text);
        let behind = id.as_deref();
        let mut made = Vec::new();
        if note.is_none() && !is_user {
            made.push(self.part("step-start", behind)?.finish());
        }
        for thought in thoughts {
            made.push(self.thought(&thought, behind)?);
        }
        for piece in contents {
            match piece {
                Content::Text(text) if text == b"\"\"" => {}
                Content::Text(text) => {
                    let context = message.category == Some(b"\"context\"");
                    let mut part = self.part("text", behind)?;
                    part.raw("text", text);
                    if is_user && context {
                        part.raw("synthetic", "true");
                    }
                    made.push(part.finish());
                }
                Content::Other(raw) => made.extend(self.file(raw, None)),
            }
        }
        for call in calls {
            made.push(self.tool(&call, None, behind)?);
        }
        if note.is_none() && !is_user {
            let told = json::member(body, "usage");
            let used = told.and_then(Figures::of);
            self.report
                .lose(Loss::Usage, u64::from(told.is_some() && used.is_none()));
            let mut part = self.part("step-finish", behind)?;
            part.text(
                "reason",
                if message.calls_tools() {
                    "tool-calls"
                } else {
                    "stop"
                },
            )
            .raw("cost", "0")
            .raw("tokens", tokens(&used.unwrap_or_default()));
            made.push(part.finish());
        }
        let end = parts
            .iter()
            .position(|part| kind(part) == "step-finish")
            .unwrap_or(parts.len());
        parts.splice(end..end, made);
        Some(parts)
    }

    fn part(&mut self, kind: &str, behind: Option<&str>) -> Option<ObjectBuilder> {
        let info = self.info;
        Some(self.making.as_deref_mut()?.part(kind, info, behind))
    }

    fn clock(&self) -> i64 {
        self.making.as_ref().map_or(0, |making| making.clock)
    }

    fn thought(&mut self, thought: &[u8], behind: Option<&str>) -> Option<Vec<u8>> {
        let clock = self.clock();
        let mut part = self.part("reasoning", behind)?;
        part.raw("text", thought_text(thought))
            .raw("time", times(&[("start", clock), ("end", clock)]));
        let sign = |name| json::member(thought, name).filter(|raw| raw.starts_with(b"\"") && raw.len() > 2);
        let anthropic = match kind(thought).as_ref() {
            "thinking" => sign("signature").map(|sign| ("signature", sign)),
            "redacted_thinking" => sign("data").map(|sign| ("redactedData", sign)),
            _ => None,
        };
        let signs = ["signature", "data", "encrypted_content", "thoughtSignature"];
        match anthropic {
            Some((name, sign)) => {
                let own = crate::format::request::piece::wrapped(name, sign);
                part.raw(
                    "metadata",
                    crate::format::request::piece::wrapped("anthropic", &own),
                );
            }
            None => {
                let signed = signs.iter().any(|name| sign(name).is_some());
                self.report.lose(Loss::Signature, u64::from(signed));
            }
        }
        Some(part.finish())
    }

    /// A file, as what it was noted to be or as a new one; none of what cannot be one, which is told.
    fn file(&mut self, raw: &[u8], note: Option<&Vec<u8>>) -> Option<Vec<u8>> {
        if content::is_own_file(raw) {
            return Some(raw.to_vec());
        }
        let Some((url, mime)) = content::address(raw) else {
            let attached = Media::of(raw).is_some();
            self.report
                .lose(if attached { Loss::Attachment } else { Loss::Part }, 1);
            return None;
        };
        let mut part = match note {
            Some(note) => part::begun(note, self.info),
            None => self.part("file", None)?,
        };
        if let (None, Some(name)) = (note, Media::of(raw).and_then(|media| media.name)) {
            part.text("filename", &name);
        }
        part.text("mime", &mime).text("url", &url);
        Some(part.finish())
    }

    /// A call with what came of it.
    fn tool(&mut self, call: &[u8], note: Option<&Vec<u8>>, behind: Option<&str>) -> Option<Vec<u8>> {
        let function = json::member(call, "function")
            .or_else(|| json::member(call, "custom"))
            .unwrap_or(b"{}");
        let id = json::member(call, "id").unwrap_or(b"\"\"");
        let result = json::text(id)
            .and_then(|id| self.results.get_mut(id.as_ref()))
            .and_then(VecDeque::pop_front);
        let noted = note.and_then(|note| json::member(note, "state")).unwrap_or(b"{}");
        let mut part = match note {
            Some(note) => part::begun(note, self.info),
            None => {
                let name = json::member(function, "name").unwrap_or(b"\"\"");
                let mut part = self.part("tool", behind)?;
                part.raw("callID", id).raw("tool", name);
                part
            }
        };
        let (input, wrapped) = input(function);
        self.report.lose(Loss::Arguments, u64::from(wrapped));
        let failed = result
            .as_ref()
            .and_then(|result| json::member(result.metadata?, "is_error"))
            == Some(b"true");
        let status = json::member(noted, "status").and_then(json::text);
        let status = match (result.is_some(), status.as_deref()) {
            (true, Some(status @ ("completed" | "error"))) => status,
            (true, _) if failed => "error",
            (true, _) => "completed",
            (false, Some("pending")) => "pending",
            (false, _) => "running",
        };
        let mut state = ObjectBuilder::default();
        state.text("status", status);
        for (name, value) in crate::format::request::piece::rest(noted, &["status"]) {
            state.raw(&name, value);
        }
        let silent = arguments(function) == Some(b"\"\"");
        if note.is_none() || !silent {
            state.raw("input", input);
        }
        if let Some(result) = &result {
            let name = if status == "error" { "error" } else { "output" };
            if json::member(noted, name).is_none() {
                state.raw(name, self.output(result));
            }
            if note.is_none() && self.making.as_ref().is_some_and(|making| making.tells) {
                self.report
                    .lose(Loss::Timestamp, u64::from(result.timestamp.is_some()));
            }
        }
        if note.is_none() {
            let clock = self.clock();
            match status {
                "running" => drop(state.raw("time", times(&[("start", clock)]))),
                status => {
                    if status == "completed" {
                        state.text("title", "").raw("metadata", "{}");
                    }
                    state.raw("time", times(&[("start", clock), ("end", clock)]));
                }
            }
        }
        part.raw("state", state.finish());
        Some(part.finish())
    }

    /// The text of a result; what is no text is told.
    fn output(&mut self, result: &Message<'_>) -> Vec<u8> {
        if let Some(raw) = result.content.filter(|raw| raw.starts_with(b"\"")) {
            return raw.to_vec();
        }
        let pieces = contents::pieces(result.content);
        let mut texts = Vec::new();
        for piece in &pieces {
            match piece {
                Content::Text(text) => texts.extend(json::text(text).map(Cow::into_owned)),
                Content::Other(raw) => {
                    let attached = Media::of(raw).is_some();
                    self.report
                        .lose(if attached { Loss::Attachment } else { Loss::Part }, 1);
                }
            }
        }
        contents::texts(texts.into_iter().map(Cow::Owned))
    }
}

fn arguments(function: &[u8]) -> Option<&[u8]> {
    json::member(function, "arguments").or_else(|| json::member(function, "input"))
}

/// The arguments of a call as they are written: what they were where they are JSON.
fn input(function: &[u8]) -> (Vec<u8>, bool) {
    let arguments = arguments(function);
    match arguments.and_then(json::text) {
        Some(text) if text.starts_with('{') => match json::value_end(text.as_bytes(), 0, Dialect::Strict) {
            Ok(end) if end == text.len() => (text.into_owned().into_bytes(), false),
            _ => object_arguments(arguments),
        },
        _ => object_arguments(arguments),
    }
}

/// The text of a thought, in whatever words it came.
fn thought_text(thought: &[u8]) -> Vec<u8> {
    let own = ["text", "thinking"];
    let mut own = own.iter().filter_map(|name| json::member(thought, name));
    if let Some(text) = own.find(|raw| raw.starts_with(b"\"")) {
        return text.to_vec();
    }
    let summary = json::member(thought, "summary").and_then(|raw| json::elements(raw, Dialect::Strict));
    let texts = summary.unwrap_or_default().into_iter();
    contents::texts(texts.filter_map(|part| json::member(part, "text").and_then(json::text)))
}
