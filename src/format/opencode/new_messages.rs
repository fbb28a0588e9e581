//! Generates ids that sort after existing ones, and the `info` of new messages.

use super::element::{OpencodeMessage, milliseconds};
use crate::format::request::request_part::{add_extra_members, extra_members};
use crate::format::request::token_figures::Figures;
use crate::model::json::{self, ObjectBuilder, array};
use crate::model::key;
use std::borrow::Cow;

/// State for creating new messages.
#[derive(Clone, Debug, Default)]
pub struct MessageFactory {
    /// The id of the session.
    pub session: String,
    /// The working directory.
    pub directory: String,
    /// The provider of the model.
    pub provider: String,
    pub model: String,
    /// Creation time of the latest message, in milliseconds since 1970.
    pub clock: i64,
    /// The id of the last user message.
    pub asked: Option<String>,
    /// The last id; `base` is the prefix of new ids that would otherwise sort before it.
    last: String,
    base: String,
    generated: u64,
    /// A part that all ids of this session share, because opencode stores the messages of all sessions in one table.
    salt: String,
    /// Id and time of the message that new ones must precede, because opencode sorts messages by time, then by id.
    next: Option<(String, i64)>,
}

impl MessageFactory {
    /// For a session with this id.
    pub fn new(session: &str, directory: &str) -> MessageFactory {
        MessageFactory {
            session: session.to_string(),
            directory: directory.to_string(),
            provider: "unknown".to_string(),
            model: "unknown".to_string(),
            clock: 0,
            asked: None,
            last: "msg_".to_string(),
            base: "msg_".to_string(),
            generated: 0,
            salt: key::sha256(session.as_bytes())[..8].to_string(),
            next: None,
        }
    }

    /// For messages between two existing ones.
    pub fn between(
        &self,
        before: Option<&OpencodeMessage<'_>>,
        next: &OpencodeMessage<'_>,
    ) -> MessageFactory {
        let id = next.text("id").unwrap_or_default().into_owned();
        let time = next.created().unwrap_or(self.clock);
        let mut making = self.clone();
        making.clock = before
            .and_then(OpencodeMessage::created)
            .unwrap_or(time)
            .min(time);
        making.base = match before.and_then(|before| before.text("id")) {
            Some(before) => before.into_owned(),
            None => id_before(&id),
        };
        making.last.clone_from(&making.base);
        making.asked = before.and_then(|before| match before.speaker {
            super::element::Sender::User => before.text("id").map(Cow::into_owned),
            super::element::Sender::Assistant => before.text("parentID").map(Cow::into_owned),
        });
        making.next = Some((id, time));
        making
    }

    /// Continues with the numbers of messages created in between.
    pub fn pass_numbers(&mut self, other: &MessageFactory) {
        self.generated = other.generated;
    }

    /// Continues after an existing message.
    pub fn pass(&mut self, element: &OpencodeMessage<'_>) {
        if let Some(id) = element.text("id") {
            if id.as_ref() > self.last.as_str() {
                (self.last, self.base) = (id.to_string(), id.to_string());
            }
            if element.speaker == super::element::Sender::User {
                self.asked = Some(id.into_owned());
            }
        }
        self.clock = self.clock.max(element.created().unwrap_or(0));
        let model = json::member(element.info, "model").unwrap_or(element.info);
        let text = |name| json::member_string(model, name);
        self.provider = text("providerID").unwrap_or(std::mem::take(&mut self.provider));
        self.model = text("modelID").unwrap_or(std::mem::take(&mut self.model));
    }

    /// The time to write for a message, not before that of existing ones.
    pub fn time(&mut self, time: Option<i64>) -> i64 {
        self.clock = self.clock.max(time.unwrap_or(0));
        if let Some((_, latest)) = self.next {
            self.clock = self.clock.min(latest);
        }
        self.clock
    }

    /// The id of the next message: its own if valid. The second value is whether it is.
    pub fn message_id(&mut self, own: Option<&str>) -> (String, bool) {
        let is_early = |id: &str| self.next.as_ref().is_none_or(|(next, _)| id < next.as_str());
        let fits = |id: &&str| {
            id.starts_with("msg_") && *id > self.last.as_str() && is_early(id) && !id.contains('#')
        };
        if let Some(own) = own.filter(fits) {
            (self.last, self.base) = (own.to_string(), own.to_string());
            return (own.to_string(), true);
        }
        self.generated += 1;
        let timely = format!("msg_{}{}{:06x}", stamp(self.clock), self.salt, self.generated);
        let id = match timely > self.last && self.base == "msg_" {
            true => timely,
            false => {
                if self.base == "msg_" {
                    self.base.clone_from(&self.last);
                }
                format!("{}{:06}", self.base, self.generated)
            }
        };
        self.last = id.clone();
        (id, false)
    }

    /// The id of a new part; after the part `behind`, if given.
    pub fn part_id(&mut self, after: Option<&str>) -> String {
        self.generated += 1;
        match after {
            Some(after) => format!("{after}{:06}", self.generated),
            None => format!("prt_{}{}{:06x}", stamp(self.clock), self.salt, self.generated),
        }
    }

    /// The `info` of a user message.
    pub fn user(&mut self, id: &str, time: i64) -> Vec<u8> {
        self.asked = Some(id.to_string());
        let mut model = ObjectBuilder::default();
        model
            .text("providerID", &self.provider)
            .text("modelID", &self.model);
        let mut info = ObjectBuilder::default();
        info.text("id", id)
            .text("sessionID", &self.session)
            .text("role", "user")
            .raw("time", times(&[("created", time)]))
            .text("agent", "build")
            .raw("model", model.finish());
        info.finish()
    }

    /// The `info` of a model message.
    pub fn assistant(&mut self, id: &str, time: i64, reported: &ModelInfo<'_>) -> Vec<u8> {
        let mut path = ObjectBuilder::default();
        path.text("cwd", &self.directory).text("root", &self.directory);
        let mode = if reported.is_summary {
            "compaction"
        } else {
            "build"
        };
        let mut info = ObjectBuilder::default();
        info.text("id", id)
            .text("sessionID", &self.session)
            .text("role", "assistant")
            .raw("time", times(&[("created", time), ("completed", time)]));
        // Every answer names the message that it answers.
        info.text("parentID", self.asked.as_deref().unwrap_or(id))
            .text("modelID", reported.model.unwrap_or(&self.model))
            .text("providerID", &self.provider)
            .text("mode", mode)
            .text("agent", mode)
            .raw("path", path.finish())
            .raw("cost", "0")
            .raw("tokens", tokens(&reported.used));
        if reported.is_summary {
            info.raw("summary", "true");
        }
        info.text("finish", if reported.calls { "tool-calls" } else { "stop" });
        info.finish()
    }

    /// A part of a message with its ids and times. It sorts after the previous part.
    pub fn part(&mut self, part: &[u8], info: &[u8], after: Option<&str>) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        built.text("id", &self.part_id(after));
        for (name, from) in [("sessionID", "sessionID"), ("messageID", "id")] {
            if let (None, Some(id)) = (json::member(part, name), json::member(info, from)) {
                built.raw(name, id);
            }
        }
        let now = times(&[("start", self.clock), ("end", self.clock)]);
        for (name, value) in extra_members(part, &["id"]) {
            match name.as_ref() {
                "state" => drop(built.raw("state", self.state(value))),
                _ => drop(built.raw(&name, value)),
            }
        }
        if json::member(part, "type") == Some(b"\"reasoning\"") && json::member(part, "time").is_none() {
            built.raw("time", now);
        }
        built.finish()
    }

    /// The state of a call with its times.
    fn state(&self, state: &[u8]) -> Vec<u8> {
        if json::member(state, "time").is_some() {
            return state.to_vec();
        }
        let mut built = ObjectBuilder::default();
        add_extra_members(&mut built, state, &[]);
        let (start, end) = (("start", self.clock), ("end", self.clock));
        match json::member(state, "status") {
            Some(b"\"running\"") => drop(built.raw("time", times(&[start]))),
            status => {
                if status == Some(b"\"completed\"") {
                    built.text("title", "").raw("metadata", "{}");
                }
                built.raw("time", times(&[start, end]));
            }
        }
        built.finish()
    }

    /// The parts of a message, with new ids for those without one.
    pub fn parts(&mut self, parts: &[&[u8]], info: &[u8]) -> Vec<Vec<u8>> {
        let mut after: Option<String> = None;
        let mut built = Vec::new();
        for part in parts {
            match json::member_text(part, "id") {
                Some(id) => {
                    after = Some(id.into_owned());
                    built.push(part.to_vec());
                }
                None => built.push(self.part(part, info, after.as_deref())),
            }
        }
        built
    }
}

/// Builds a message from its parts.
pub fn message(info: &[u8], parts: &[Vec<u8>]) -> Vec<u8> {
    let mut message = ObjectBuilder::default();
    message.raw("info", info).raw("parts", array(parts));
    message.finish()
}

/// Data for the `info` of a new model message.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelInfo<'a> {
    pub model: Option<&'a str>,
    /// Token usage.
    pub used: Figures,
    /// Whether it ends with calls.
    pub calls: bool,
    /// Whether it answers a compaction request.
    pub is_summary: bool,
}

/// The part that starts a step, or the one that ends it.
pub fn step(kind: &str, finish: Option<(&str, Figures)>) -> Vec<u8> {
    let mut part = ObjectBuilder::default();
    part.text("type", kind);
    if let Some((reason, used)) = finish {
        part.text("reason", reason)
            .raw("cost", "0")
            .raw("tokens", tokens(&used));
    }
    part.finish()
}

/// A compaction request that keeps the messages from this one on, and its answer.
pub fn compaction(text: &str, kept: Option<&str>, making: &mut MessageFactory) -> [Vec<u8>; 2] {
    let time = making.time(None);
    let (id, _) = making.message_id(None);
    let info = making.user(&id, time);
    let mut question = ObjectBuilder::default();
    question.text("type", "compaction").raw("auto", "false");
    if let Some(kept) = kept {
        question.text("tail_start_id", kept);
    }
    let question = message(&info, &[making.part(&question.finish(), &info, None)]);
    let (id, _) = making.message_id(None);
    let reported = ModelInfo {
        is_summary: true,
        ..ModelInfo::default()
    };
    let info = making.assistant(&id, time, &reported);
    let mut part = ObjectBuilder::default();
    part.text("type", "text")
        .text("text", text)
        .raw("time", times(&[("start", time), ("end", time)]));
    let finish = step("step-finish", Some(("stop", Figures::default())));
    let parts = [step("step-start", None), part.finish(), finish];
    let parts: Vec<_> = parts.iter().map(|part| making.part(part, &info, None)).collect();
    [question, message(&info, &parts)]
}

/// A time in the form at the start of opencode ids: 48 bits, of which the last twelve are a counter, here 0. Source:
/// opencode, id/id.ts.
fn stamp(milliseconds: i64) -> String {
    format!("{:012x}", (milliseconds.max(0) << 12) & 0xffff_ffff_ffff)
}

/// A prefix for ids that sort before this one.
fn id_before(id: &str) -> String {
    let rest = id.strip_prefix("msg_").unwrap_or_default();
    let at = rest
        .find(|letter: char| letter > '0')
        .unwrap_or(rest.len().saturating_sub(1));
    format!("msg_{}0", &rest[..at])
}

/// A slug for a session in URLs and paths, derived from its title.
pub fn slug(title: &str) -> String {
    let words = title
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase);
    let slug = words.take(6).collect::<Vec<_>>().join("-");
    match slug.is_empty() {
        true => "session".to_string(),
        false => slug,
    }
}

/// An object of times.
pub fn times(times: &[(&str, i64)]) -> Vec<u8> {
    json::object(times.iter().map(|(name, time)| (name, time.to_string())))
}

/// Usage in the form of messages and steps.
pub fn tokens(used: &Figures) -> Vec<u8> {
    let mut cache = ObjectBuilder::default();
    cache
        .raw("read", used.read.to_string())
        .raw("write", used.written.to_string());
    let mut tokens = ObjectBuilder::default();
    tokens
        .raw("input", used.input.to_string())
        .raw("output", used.output.to_string())
        .raw("reasoning", used.reasoning.to_string())
        .raw("cache", cache.finish());
    tokens.finish()
}

/// A native time in milliseconds.
pub fn native_time(timestamp: Option<&[u8]>) -> Option<i64> {
    let text = timestamp.and_then(json::text)?;
    crate::model::time::milliseconds(&text)
}

/// The creation time in a session's document.
pub fn created_at(info: &[u8]) -> Option<i64> {
    milliseconds(json::member(info, "time")?, "created")
}
