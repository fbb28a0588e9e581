//! What is made here: ids that sort behind those that are there, and what a message says of itself.

use super::element::{Element, milliseconds};
use crate::format::request::figures::Figures;
use crate::format::request::piece::{add_rest, array, rest};
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use std::borrow::Cow;

/// What new messages are made with.
#[derive(Clone, Debug)]
pub struct Making {
    /// The id of the session.
    pub session: String,
    /// Where the session works.
    pub directory: String,
    /// Whose model speaks, and which.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Since 1970, in milliseconds: when the newest message was made.
    pub clock: i64,
    /// The id of the user's last message.
    pub asked: Option<String>,
    /// The last id, and what ids are made of that would not be behind it otherwise.
    last: String,
    base: String,
    made: u64,
    /// What the ids of this session have in common: the program keeps the messages of all sessions in one table.
    salt: String,
    /// Id and time of the message that new ones sort before: the program sorts messages by time, then by id.
    next: Option<(String, i64)>,
}

impl Making {
    /// For a session of this id.
    pub fn new(session: &str, directory: &str) -> Making {
        Making {
            session: session.to_string(),
            directory: directory.to_string(),
            provider: "unknown".to_string(),
            model: "unknown".to_string(),
            clock: 0,
            asked: None,
            last: "msg_".to_string(),
            base: "msg_".to_string(),
            made: 0,
            salt: key::sha256(session.as_bytes())[..8].to_string(),
            next: None,
        }
    }

    /// The same for messages between two that are there.
    pub fn between(&self, before: Option<&Element<'_>>, next: &Element<'_>) -> Making {
        let id = next.text("id").unwrap_or_default().into_owned();
        let time = next.created().unwrap_or(self.clock);
        let mut making = self.clone();
        making.clock = before.and_then(Element::created).unwrap_or(time).min(time);
        making.base = match before.and_then(|before| before.text("id")) {
            Some(before) => before.into_owned(),
            None => id_before(&id),
        };
        making.last.clone_from(&making.base);
        making.asked = before.and_then(|before| match before.speaker {
            super::element::Speaker::User => before.text("id").map(Cow::into_owned),
            super::element::Speaker::Assistant => before.text("parentID").map(Cow::into_owned),
        });
        making.next = Some((id, time));
        making
    }

    /// Goes on with the numbers of what was made between others.
    pub fn pass_numbers(&mut self, other: &Making) {
        self.made = other.made;
    }

    /// Goes on behind a message that is there.
    pub fn pass(&mut self, element: &Element<'_>) {
        if let Some(id) = element.text("id") {
            if id.as_ref() > self.last.as_str() {
                (self.last, self.base) = (id.to_string(), id.to_string());
            }
            if element.speaker == super::element::Speaker::User {
                self.asked = Some(id.into_owned());
            }
        }
        self.clock = self.clock.max(element.created().unwrap_or(0));
        let model = json::member(element.info, "model").unwrap_or(element.info);
        let text = |name| {
            json::member(model, name)
                .and_then(json::text)
                .map(Cow::into_owned)
        };
        self.provider = text("providerID").unwrap_or(std::mem::take(&mut self.provider));
        self.model = text("modelID").unwrap_or(std::mem::take(&mut self.model));
    }

    /// When what was said then is written: not ahead of what is there.
    pub fn time(&mut self, said: Option<i64>) -> i64 {
        self.clock = self.clock.max(said.unwrap_or(0));
        if let Some((_, latest)) = self.next {
            self.clock = self.clock.min(latest);
        }
        self.clock
    }

    /// The id of the next message: its own where that may be. The second value tells whether it is.
    pub fn message_id(&mut self, own: Option<&str>) -> (String, bool) {
        let is_early = |id: &str| self.next.as_ref().is_none_or(|(next, _)| id < next.as_str());
        let fits = |id: &&str| {
            id.starts_with("msg_") && *id > self.last.as_str() && is_early(id) && !id.contains('#')
        };
        if let Some(own) = own.filter(fits) {
            (self.last, self.base) = (own.to_string(), own.to_string());
            return (own.to_string(), true);
        }
        self.made += 1;
        let timely = format!("msg_{}{}{:06x}", stamp(self.clock), self.salt, self.made);
        let id = match timely > self.last && self.base == "msg_" {
            true => timely,
            false => {
                if self.base == "msg_" {
                    self.base.clone_from(&self.last);
                }
                format!("{}{:06}", self.base, self.made)
            }
        };
        self.last = id.clone();
        (id, false)
    }

    /// The id of a new part, behind this one where it is put among others.
    pub fn part_id(&mut self, behind: Option<&str>) -> String {
        self.made += 1;
        match behind {
            Some(behind) => format!("{behind}{:06}", self.made),
            None => format!("prt_{}{}{:06x}", stamp(self.clock), self.salt, self.made),
        }
    }

    /// What a message of the user says of itself.
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

    /// What a message of the model says of itself; a summary says so.
    pub fn assistant(&mut self, id: &str, time: i64, told: &Told<'_>) -> Vec<u8> {
        let mut path = ObjectBuilder::default();
        path.text("cwd", &self.directory).text("root", &self.directory);
        let mode = if told.is_summary { "compaction" } else { "build" };
        let mut info = ObjectBuilder::default();
        info.text("id", id)
            .text("sessionID", &self.session)
            .text("role", "assistant")
            .raw("time", times(&[("created", time), ("completed", time)]));
        // Every answer names what it answers.
        info.text("parentID", self.asked.as_deref().unwrap_or(id))
            .text("modelID", told.model.unwrap_or(&self.model))
            .text("providerID", &self.provider)
            .text("mode", mode)
            .text("agent", mode)
            .raw("path", path.finish())
            .raw("cost", "0")
            .raw("tokens", tokens(&told.used));
        if told.is_summary {
            info.raw("summary", "true");
        }
        info.text("finish", if told.calls { "tool-calls" } else { "stop" });
        info.finish()
    }

    /// A part of a message with its ids and times. It sorts after the part before it.
    pub fn part(&mut self, part: &[u8], info: &[u8], after: Option<&str>) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        built.text("id", &self.part_id(after));
        for (name, from) in [("sessionID", "sessionID"), ("messageID", "id")] {
            if let (None, Some(id)) = (json::member(part, name), json::member(info, from)) {
                built.raw(name, id);
            }
        }
        let now = times(&[("start", self.clock), ("end", self.clock)]);
        for (name, value) in rest(part, &["id"]) {
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
        add_rest(&mut built, state, &[]);
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

    /// The parts of a message, those without an id with a new one.
    pub fn parts(&mut self, parts: &[&[u8]], info: &[u8]) -> Vec<Vec<u8>> {
        let mut after: Option<String> = None;
        let mut made = Vec::new();
        for part in parts {
            match json::member(part, "id").and_then(json::text) {
                Some(id) => {
                    after = Some(id.into_owned());
                    made.push(part.to_vec());
                }
                None => made.push(self.part(part, info, after.as_deref())),
            }
        }
        made
    }
}

/// A message of its parts.
pub fn message(info: &[u8], parts: &[Vec<u8>]) -> Vec<u8> {
    let mut message = ObjectBuilder::default();
    message.raw("info", info).raw("parts", array(parts));
    message.finish()
}

/// What a new message of the model is told to say of itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told<'a> {
    /// The model.
    pub model: Option<&'a str>,
    /// What was used.
    pub used: Figures,
    /// Whether it ends with calls.
    pub calls: bool,
    /// Whether it is the answer to a question for a compaction.
    pub is_summary: bool,
}

/// The part that begins a step, or the one that ends it.
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

/// The question for a compaction that keeps the messages from this one on, and its answer.
pub fn compaction(text: &str, kept: Option<&str>, making: &mut Making) -> [Vec<u8>; 2] {
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
    let told = Told {
        is_summary: true,
        ..Told::default()
    };
    let info = making.assistant(&id, time, &told);
    let mut said = ObjectBuilder::default();
    said.text("type", "text")
        .text("text", text)
        .raw("time", times(&[("start", time), ("end", time)]));
    let finish = step("step-finish", Some(("stop", Figures::default())));
    let parts = [step("step-start", None), said.finish(), finish];
    let parts: Vec<_> = parts.iter().map(|part| making.part(part, &info, None)).collect();
    [question, message(&info, &parts)]
}

/// A time as the ids of the program begin with it: 48 bits, the last twelve a number that is 0 here. Source: opencode,
/// id/id.ts.
fn stamp(milliseconds: i64) -> String {
    format!("{:012x}", (milliseconds.max(0) << 12) & 0xffff_ffff_ffff)
}

/// What begins ids that sort before this one.
fn id_before(id: &str) -> String {
    let rest = id.strip_prefix("msg_").unwrap_or_default();
    let at = rest
        .find(|letter: char| letter > '0')
        .unwrap_or(rest.len().saturating_sub(1));
    format!("msg_{}0", &rest[..at])
}

/// A word or more for a session in addresses and paths, out of its title.
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
    let mut built = ObjectBuilder::default();
    for (name, time) in times {
        built.raw(name, time.to_string());
    }
    built.finish()
}

/// What was used, as a message and a step tell it.
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

/// A time of the record stream in milliseconds.
pub fn said(timestamp: Option<&[u8]>) -> Option<i64> {
    let text = timestamp.and_then(json::text)?;
    crate::model::time::milliseconds(&text)
}

/// When the document of a session says that it was begun.
pub fn begun(info: &[u8]) -> Option<i64> {
    milliseconds(json::member(info, "time")?, "created")
}
