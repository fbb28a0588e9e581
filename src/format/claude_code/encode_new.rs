//! Creates new lines in the form that Claude Code writes.

use super::line::{LineId, is_uuid};
use super::log::ClaudeLog;
use super::{NAME, record};
use crate::error::Position;
use crate::format::WritePurpose;
use crate::format::kit::records::note;
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::{has_more_data, has_unknown_members};
use crate::format::request::{Api, draft};
use crate::format::workspace::NO_DIRECTORY;
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use crate::model::message::{Category, Message, Role};
use crate::model::record::Record;
use crate::model::summary;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// The Claude Code version of new lines in a log without one.
const RELEASE: &[u8] = br#""2.0.76""#;

/// A new line, without its newline.
#[derive(Clone, Debug)]
pub struct NewLine {
    pub body: Vec<u8>,
    /// Its id, as raw JSON.
    pub uuid: Vec<u8>,
}

/// Members that the lines of a session have in common, as raw JSON.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    /// The id of the session.
    pub session: Vec<u8>,
    /// `cwd`, `version`, `gitBranch` and `slug`, if known.
    pub members: Vec<(&'static str, Vec<u8>)>,
    /// The latest time so far.
    pub time: Option<Vec<u8>>,
    /// The agent of the sidechain.
    pub agent: Option<Vec<u8>>,
    pub sidechain: bool,
    /// The model of messages without one.
    pub model: Option<Vec<u8>>,
}

/// The ids of new lines.
#[derive(Debug, Default)]
pub struct ClaudeIds {
    taken: HashSet<LineId>,
    /// The next attempt by first attempt, so that equal lines do not repeat attempts.
    next: HashMap<LineId, u64>,
}

/// Creates lines.
pub struct LineFactory<'r> {
    /// The common members.
    pub envelope: Envelope,
    /// The log, whose ids must not be reused.
    pub log: &'r ClaudeLog,
    pub ids: ClaudeIds,
    /// The purpose of writing.
    pub purpose: WritePurpose,
    /// Losses.
    pub report: &'r mut Report,
}

impl LineFactory<'_> {
    /// A new id, derived from the line and its session.
    fn uuid(&mut self, seed: &[u8]) -> Vec<u8> {
        let session = self.envelope.session.clone();
        let attempt = |nth: u64| {
            let mut hash = Sha256::new();
            hash.update(&session);
            hash.update(nth.to_le_bytes());
            hash.update(seed);
            quoted(&uuid_of_digest(&hash.finalize()))
        };
        let first = attempt(0);
        if self.take(&first) {
            return first;
        }
        let first = LineId::of(&first);
        let known = first.and_then(|id| self.ids.next.get(&id));
        let mut nth = known.copied().unwrap_or(1);
        loop {
            let uuid = attempt(nth);
            nth += 1;
            if self.take(&uuid) {
                first.map(|id| self.ids.next.insert(id, nth));
                return uuid;
            }
        }
    }

    /// Reserves an id; `false` if it is already in use.
    fn take(&mut self, uuid: &[u8]) -> bool {
        LineId::of(uuid).is_some_and(|id| !self.log.has(id) && self.ids.taken.insert(id))
    }

    fn line(
        &mut self,
        kind: &str,
        uuid: &[u8],
        parent: Option<&[u8]>,
        own: impl FnOnce(&mut ObjectBuilder),
    ) -> NewLine {
        let mut line = ObjectBuilder::default();
        line.raw("parentUuid", parent.unwrap_or(b"null"));
        line.raw("isSidechain", self.envelope.sidechain.to_string());
        line.text("userType", "external");
        let known = |name: &str| self.envelope.members.iter().find(|(known, _)| *known == name);
        line.raw("cwd", known("cwd").map_or(NO_DIRECTORY, |(_, value)| value));
        line.raw("sessionId", &self.envelope.session);
        line.raw("version", known("version").map_or(RELEASE, |(_, value)| value));
        line.raw(
            "gitBranch",
            known("gitBranch").map_or(&b"\"\""[..], |(_, value)| value),
        );
        known("slug").map(|(_, value)| line.raw("slug", value));
        self.envelope
            .agent
            .as_ref()
            .map(|agent| line.raw("agentId", agent));
        line.text("type", kind);
        own(&mut line);
        line.raw("uuid", uuid);
        line.raw("timestamp", self.envelope.time.as_deref().unwrap_or(EPOCH_MILLIS));
        NewLine {
            body: line.finish(),
            uuid: uuid.to_vec(),
        }
    }

    /// The lines of a message with this parent; if `linked`, each line is the parent of the next.
    pub fn message(&mut self, body: &[u8], parent: Option<&[u8]>, linked: bool) -> Vec<NewLine> {
        let record = Record::parse(body, Position { line: 0, offset: 1 });
        let Some(message) = record.message() else {
            return Vec::new();
        };
        if let Some(time) = message.timestamp.filter(|raw| raw.starts_with(b"\"")) {
            self.envelope.time = Some(time.to_vec());
        }
        let content = record::content(body, note(body, NAME).is_some(), self.report);
        match message.role() {
            Role::Assistant => self.assistant(body, content.as_deref(), parent, linked),
            role => {
                let Some(content) = content else { return Vec::new() };
                let meta = role != Role::Tool
                    && (role != Role::User || matches!(message.category(), Category::Context));
                let uuid = self.message_uuid(message, body);
                vec![self.line("user", &uuid, parent, |line| {
                    let mut message = ObjectBuilder::default();
                    message.text("role", "user").raw("content", &content);
                    line.raw("message", message.finish());
                    if meta {
                        line.raw("isMeta", "true");
                    }
                    if let (Role::Tool, Some(parent)) = (role, parent) {
                        line.raw("sourceToolAssistantUUID", parent);
                    }
                })]
            }
        }
    }

    /// The lines of a model message, one per block.
    fn assistant(
        &mut self,
        body: &[u8],
        content: Option<&[u8]>,
        parent: Option<&[u8]>,
        linked: bool,
    ) -> Vec<NewLine> {
        let blocks: Vec<Vec<u8>> = match content {
            Some(raw) => match json::elements(raw, Dialect::Strict) {
                Some(blocks) => blocks.into_iter().map(<[u8]>::to_vec).collect(),
                None => vec![draft::text_part(raw)],
            },
            None => Vec::new(),
        };
        let record = Record::parse(body, Position { line: 0, offset: 1 });
        let model = json::member(body, "model").filter(|raw| raw.starts_with(b"\""));
        let model = model.map(<[u8]>::to_vec).or_else(|| self.envelope.model.clone());
        let usage = json::member(body, "usage").filter(|raw| json::member(raw, "input_tokens").is_some());
        let first = match record.message() {
            Some(message) => self.message_uuid(message, body),
            None => self.uuid(body),
        };
        let id = format!(
            "msg_{}",
            &crate::model::key::sha256(&[&first[..], b"\n", body].concat())[..24]
        );
        let calls = blocks.iter().any(|block| json::member(block, "input").is_some());
        let mut lines: Vec<NewLine> = Vec::with_capacity(blocks.len());
        let last = blocks.len().saturating_sub(1);
        for (nth, block) in blocks.iter().enumerate() {
            let uuid = match nth {
                0 => first.clone(),
                nth => self.uuid(&[&first[..], nth.to_string().as_bytes()].concat()),
            };
            let above = lines.last().filter(|_| linked).map(|line| line.uuid.clone());
            let line = self.line("assistant", &uuid, above.as_deref().or(parent), |line| {
                let mut message = ObjectBuilder::default();
                message
                    .raw("model", model.as_deref().unwrap_or(br#""unknown""#))
                    .text("id", &id)
                    .text("type", "message")
                    .text("role", "assistant")
                    .raw("content", array([block]));
                let reason = if calls { r#""tool_use""# } else { r#""end_turn""# };
                message
                    .raw("stop_reason", if nth == last { reason } else { "null" })
                    .raw("stop_sequence", "null")
                    .raw(
                        "usage",
                        usage.unwrap_or(br#"{"input_tokens":0,"output_tokens":0}"#),
                    );
                line.raw("message", message.finish());
            });
            lines.push(line);
        }
        lines
    }

    /// The message's id if it is valid for a line, otherwise a new one.
    fn message_uuid(&mut self, message: &Message<'_>, body: &[u8]) -> Vec<u8> {
        match message.id.filter(|id| is_uuid(id)) {
            Some(id) if self.take(id) => id.to_vec(),
            _ => self.uuid(body),
        }
    }

    /// A compaction boundary; lines after it start a new tree.
    pub fn boundary(&mut self, seed: &[u8], logical: Option<&[u8]>) -> NewLine {
        let uuid = self.uuid(&[b"boundary\n", seed].concat());
        self.line("system", &uuid, None, |line| {
            line.raw("logicalParentUuid", logical.unwrap_or(b"null"))
                .text("subtype", "compact_boundary")
                .text("content", "Conversation compacted")
                .raw("isMeta", "false")
                .text("level", "info")
                .raw("compactMetadata", br#"{"trigger":"manual","preTokens":0}"#);
        })
    }

    /// The line with a summary, after a boundary if it hides earlier lines.
    pub fn summary(
        &mut self,
        text: &str,
        boundary: Option<Option<&[u8]>>,
        parent: Option<&[u8]>,
    ) -> Vec<NewLine> {
        let mut lines = Vec::new();
        let mut above = parent.map(<[u8]>::to_vec);
        if let Some(logical) = boundary {
            let line = self.boundary(text.as_bytes(), logical);
            above = Some(line.uuid.clone());
            lines.push(line);
        }
        let uuid = self.uuid(&[b"summary\n", text.as_bytes()].concat());
        let content = quoted(&summary::quoted(text));
        lines.push(self.line("user", &uuid, above.as_deref(), |line| {
            let mut message = ObjectBuilder::default();
            message.text("role", "user").raw("content", &content);
            line.raw("message", message.finish())
                .raw("isVisibleInTranscriptOnly", "true")
                .raw("isCompactSummary", "true");
        }));
        lines
    }

    /// Reports the data of a message that lines cannot represent.
    pub fn report_losses(&mut self, body: &[u8]) {
        let record = Record::parse(body, Position { line: 0, offset: 1 });
        let Some(message) = record.message() else { return };
        let role = message.role();
        let has = |name: &str| json::member(body, name).is_some();
        if self.purpose == WritePurpose::Export {
            let id = message.id.is_some_and(|id| !is_uuid(id));
            self.report.count_loss(Loss::Id, u64::from(id));
            self.report.count_loss(Loss::Usage, u64::from(has("tokens")));
        }
        let usage = json::member(body, "usage")
            .is_some_and(|raw| role != Role::Assistant || json::member(raw, "input_tokens").is_none());
        self.report.count_loss(Loss::Usage, u64::from(usage));
        let model = has("model") && role != Role::Assistant;
        self.report.count_loss(Loss::Model, u64::from(model));
        // System messages are written as user messages that are not turns.
        let is_turn = matches!(role, Role::User | Role::Assistant | Role::Tool);
        let plain = match message.category() {
            Category::Context => matches!(role, Role::User),
            category => is_turn && category == role.category(),
        };
        self.report.count_loss(Loss::Category, u64::from(!plain));
        let free = message
            .metadata
            .and_then(|raw| json::members(raw, Dialect::Strict));
        let known = ["is_error", "from", NAME, Api::Anthropic.name()];
        let lost = free
            .unwrap_or_default()
            .iter()
            .any(|(name, value)| !known.contains(&name.as_ref()) && has_more_data(value));
        let lost = lost || has_unknown_members(body);
        self.report.count_loss(Loss::Metadata, u64::from(lost));
    }
}

/// An id in UUID form, derived from a digest.
fn uuid_of_digest(digest: &[u8]) -> String {
    let mut bytes: [u8; 16] = std::array::from_fn(|at| digest[at]);
    bytes[6] = bytes[6] & 0x0f | 0x50;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = crate::model::key::hex(&bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// The id of a session in a log: its own if that is a UUID, otherwise one derived from it.
pub fn session_id(id: &str) -> Vec<u8> {
    let raw = quoted(id);
    match is_uuid(&raw) {
        true => raw,
        false => quoted(&uuid_of_digest(&Sha256::digest(id.as_bytes()))),
    }
}
