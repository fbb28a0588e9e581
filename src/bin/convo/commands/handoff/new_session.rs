//! Builds the session for the other program: the view under a new header.

use super::flatten::flattened;
use crate::context::Context;
use crate::input::quiet;
use convo::check::{Api, CheckOptions, RULES, Severity};
use convo::error::Result;
use convo::filter::materialize::materialize;
use convo::filter::repair::{self, RepairOptions};
use convo::filter::{Plan, Stamp};
use convo::format::Format;
use convo::format::report::Report;
use convo::model::event::begin_session;
use convo::model::json::{self, quoted};
use convo::model::message::Role;
use convo::model::session::Session;
use convo::model::time;
use convo::model::view::View;
use serde_json::{Map, Value, json};

/// Values of the new session that the original does not have.
pub struct NewSessionValues<'m> {
    pub project: &'m str,
    pub model: Option<&'m str>,
    /// Whether the program understands the models of the messages.
    pub keeps_models: bool,
    /// Whether to drop message ids, because the program stores the messages of all sessions together.
    pub renames: bool,
    pub flatten: bool,
    pub id: String,
}

impl NewSessionValues<'_> {
    /// Builds the session.
    pub fn session(&self, source: &Session, view: &View, now: &str) -> Result<Session> {
        let mut lines = Vec::new();
        materialize(source, view, &mut lines)?;
        let mut built = Session::default();
        built.push_new(&self.header(source, now));
        let mut messages: Vec<Value> = Vec::new();
        for line in lines.split(|byte| *byte == b'\n') {
            let Ok(mut value) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            let Some(members) = value.as_object_mut() else {
                continue;
            };
            if !members.contains_key("role") && members.get("type").is_some_and(|kind| kind != "summary") {
                continue; // headers and other events
            }
            if !self.keeps_models {
                members.remove("model");
            }
            if self.renames && members.contains_key("role") {
                members.remove("id");
            }
            remove_links(members);
            messages.push(value);
        }
        if self.flatten {
            messages = flattened(messages);
        }
        for message in messages {
            built.push_new(message.to_string().as_bytes());
        }
        Ok(built)
    }

    fn header(&self, source: &Session, now: &str) -> Vec<u8> {
        let mut metadata = json!({ "cwd": self.project });
        if let Some(model) = self.model {
            metadata["model"] = json!(model);
        }
        if let Some(branch) = metadata_member(source, "git_branch") {
            metadata["git_branch"] = json!(branch);
        }
        let mut header = begin_session(&self.id);
        header.text("created_at", now);
        if let Some(title) = title(source) {
            header.text("title", &title);
        }
        header.raw("metadata", metadata.to_string().as_bytes());
        header.finish()
    }
}

/// Removes the metadata that a format or an API noted, which links a message to its original record.
fn remove_links(message: &mut Map<String, Value>) {
    if let Some(Value::Object(metadata)) = message.get_mut("metadata") {
        metadata.retain(|name, _| Format::from_name(name).is_none());
        if metadata.is_empty() {
            message.remove("metadata");
        }
    }
}

/// Answers open calls and drops results without calls, which providers reject; returns a description of the changes.
pub fn repair_orphans(session: &mut Session, target: Format, now: &str) -> Result<Option<String>> {
    let others = RULES.iter().filter(|rule| !ORPHANS.contains(&rule.id));
    let check = CheckOptions {
        levels: others.map(|rule| (rule, Severity::Warn)).collect(),
        ..CheckOptions::default()
    };
    let options = RepairOptions {
        api: target.sent_to().unwrap_or(Api::OpenaiChat),
        check: &check,
        mode: None,
        warnings: false,
    };
    let stamp = |_: &str| {
        Ok(Stamp {
            id: "evt_0".to_string(),
            at: now.to_string(),
        })
    };
    let repaired = repair::plan(session, &options, stamp);
    let repaired = repaired.map_err(|error| error.hint("turn calls and results into text with --flatten"))?;
    let Plan::Lines(lines, words) = repaired.plan else {
        return Ok(None);
    };
    lines.iter().for_each(|line| session.push_new(line));
    // Other programs have no event for a repair.
    let mut lines = Vec::new();
    materialize(session, &View::replay(session), &mut lines)?;
    *session = Session::default();
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        session.push_new(line);
    }
    Ok(Some(words))
}

/// The rules of all APIs about calls without results and results without calls.
const ORPHANS: [&str; 8] = ["OC01", "OC02", "OR01", "OR02", "AN03", "AN04", "GE03", "GE04"];

/// Returns a member of the session's metadata.
fn metadata_member(session: &Session, name: &str) -> Option<String> {
    let header = session.header();
    let (_, metadata) = header.iter().find(|(known, _)| known == "metadata")?;
    let metadata: Value = serde_json::from_slice(metadata).ok()?;
    // Older versions stored it among the members of the format.
    let older = if name == "cwd" { name } else { "gitBranch" };
    let mut inner = metadata.as_object()?.values().map(|member| &member[older]);
    let found = metadata[name].as_str().or_else(|| inner.find_map(Value::as_str));
    found.filter(|text| !text.is_empty()).map(str::to_string)
}

/// The working directory of a session.
pub fn project(session: &Session) -> Option<String> {
    metadata_member(session, "cwd").map(|cwd| convo::home::plain_project(&cwd))
}

pub fn title(session: &Session) -> Option<String> {
    let header = session.header();
    let (_, title) = header.iter().find(|(name, _)| name == "title")?;
    Some(json::text(title)?.into_owned()).filter(|title| !title.is_empty())
}

/// Generates an id in the format's own form.
pub fn new_id(context: &Context, to: Format, label: &str) -> Result<String> {
    let digits = context.chance.id("", || label.to_string())? + &context.chance.id("", String::new)?;
    let (version, head) = match to {
        Format::Codex => {
            let milliseconds = time::milliseconds(&context.clock.now()).unwrap_or_default();
            ('7', format!("{milliseconds:012x}"))
        }
        _ => ('4', digits[20..32].to_string()),
    };
    Ok(format!(
        "{}-{}-{version}{}-a{}-{}",
        &head[..8],
        &head[8..12],
        &digits[..3],
        &digits[3..6],
        &digits[6..18]
    ))
}

/// Extracts the session id from the encoded session.
pub fn id_in(to: Format, bytes: &[u8]) -> Option<String> {
    if to != Format::Opencode {
        return None;
    }
    let info = json::member(bytes, "info")?;
    Some(json::text(json::member(info, "id")?)?.into_owned())
}

/// Whether an encoded session has a text of the user that its program resumes.
pub fn has_question(bytes: &[u8]) -> bool {
    let mut found = false;
    let mut each = |_, session: Session| {
        let view = View::replay(&session);
        found |= view
            .messages(&session)
            .any(|message| message.role() == Role::User);
        !found
    };
    let read = quiet::bytes(bytes.to_vec(), &mut Report::default(), &mut each);
    read.is_ok() && found
}

/// Sets the time of the last update: Gemini CLI deletes logs that have not changed for a month.
pub fn with_last_update(bytes: &[u8], now: &str) -> Vec<u8> {
    let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    let quoted = quoted(now);
    match json::with_members(&bytes[..end], &[("lastUpdated", Some(&quoted))]) {
        Ok(line) => [&line, &bytes[end..]].concat(),
        Err(_) => bytes.to_vec(),
    }
}

/// Sets the provider of a Codex log.
pub fn with_provider(bytes: &[u8], provider: &str) -> Vec<u8> {
    let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    let changed = (|| {
        let payload = json::member(&bytes[..end], "payload")?;
        let quoted = quoted(provider);
        let payload = json::with_members(payload, &[("model_provider", Some(&quoted))]).ok()?;
        json::with_members(&bytes[..end], &[("payload", Some(&payload))]).ok()
    })();
    match changed {
        Some(line) => [&line, &bytes[end..]].concat(),
        None => bytes.to_vec(),
    }
}

/// Sets the model of an opencode session. Removes metadata of reasoning from other models, such as signatures.
pub fn with_model(bytes: &[u8], provider: &str, model: &str, is_own: bool) -> Vec<u8> {
    let Ok(mut export) = serde_json::from_slice::<Value>(bytes) else {
        return bytes.to_vec();
    };
    for message in export["messages"].as_array_mut().into_iter().flatten() {
        if message["info"]["role"] == "user" {
            message["info"]["model"] = json!({"providerID": provider, "modelID": model});
        } else {
            message["info"]["providerID"] = json!(provider);
            message["info"]["modelID"] = json!(model);
        }
        let parts = message["parts"].as_array_mut().into_iter().flatten();
        let reasoning_parts = parts.filter(|part| part["type"] == "reasoning" && !is_own);
        for part in reasoning_parts.filter_map(Value::as_object_mut) {
            part.remove("metadata");
        }
    }
    export.to_string().into_bytes()
}
