//! Creates new lines in the form that Claude Code writes.

use super::line::{LineId, LineMembers, NAME, blocks, is_uuid};
use super::log::ClaudeLog;
use super::record;
use crate::format::WritePurpose;
use crate::format::kit::records::note;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::request_part::{extra_members, has_more_data, has_unknown_members};
use crate::format::workspace::NO_DIRECTORY;
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use crate::model::key;
use crate::model::message::{Category, Message, Role};
use crate::model::session::Session;
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
    /// The id, the workspace, the version and the agent, in order.
    pub members: Vec<(&'static str, Vec<u8>)>,
    /// The latest time so far.
    pub time: Option<Vec<u8>>,
    pub is_sidechain: bool,
    /// The model of messages without one.
    pub model: Option<Vec<u8>>,
}

impl Envelope {
    /// The common members of a session, whose newest line with a message is given; `known` has those that it lacks.
    pub fn of(
        newest: Option<LineMembers<'_>>,
        session: &Session,
        known: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> Envelope {
        let newest = newest.unwrap_or_default();
        let value = |name: &str| newest.get(name).map(<[u8]>::to_vec).or_else(|| known(name));
        let id = value("sessionId").filter(|raw| raw.starts_with(b"\""));
        let id = id.unwrap_or_else(|| session_id(&session.header_text("id").unwrap_or_default()));
        let or = |name, default: &[u8]| value(name).or_else(|| Some(default.to_vec()));
        let members = [
            ("cwd", or("cwd", NO_DIRECTORY)),
            ("sessionId", Some(id.clone())),
            ("version", or("version", RELEASE)),
            ("gitBranch", or("gitBranch", b"\"\"")),
            ("slug", value("slug")),
            ("agentId", newest.agent().map(<[u8]>::to_vec)),
        ];
        Envelope {
            session: id,
            members: { members.into_iter() }
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
            is_sidechain: newest.is_sidechain(),
            ..Envelope::default()
        }
    }
}

/// Creates lines.
pub struct LineFactory<'r> {
    /// The common members.
    pub envelope: Envelope,
    /// The log, whose ids must not be reused.
    log: &'r ClaudeLog,
    /// The ids of new lines.
    taken: HashSet<LineId>,
    /// The next attempt by first attempt, so that equal lines do not repeat attempts.
    next: HashMap<LineId, u64>,
    purpose: WritePurpose,
    pub report: &'r mut Report,
}

impl<'r> LineFactory<'r> {
    pub fn new(log: &'r ClaudeLog, purpose: WritePurpose, report: &'r mut Report) -> LineFactory<'r> {
        LineFactory {
            envelope: Envelope::default(),
            log,
            taken: HashSet::new(),
            next: HashMap::new(),
            purpose,
            report,
        }
    }

    /// A new id, derived from the line and its session.
    fn uuid(&mut self, seed: &[u8]) -> Vec<u8> {
        let session = self.envelope.session.clone();
        let attempt = |nth: u64| {
            let hash = Sha256::new_with_prefix(&session).chain_update(nth.to_le_bytes());
            quoted(&uuid_of_digest(&hash.chain_update(seed).finalize()))
        };
        let mut uuid = attempt(0);
        let first = LineId::of(&uuid);
        let known = first.and_then(|id| self.next.get(&id));
        let mut nth = known.copied().unwrap_or(1);
        while !self.take(&uuid) {
            uuid = attempt(nth);
            nth += 1;
            self.next.extend(first.map(|id| (id, nth)));
        }
        uuid
    }

    /// Reserves an id; `false` if it is already in use.
    fn take(&mut self, uuid: &[u8]) -> bool {
        LineId::of(uuid).is_some_and(|id| !self.log.has(id) && self.taken.insert(id))
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
        line.raw("isSidechain", self.envelope.is_sidechain.to_string());
        line.text("userType", "external");
        for (name, value) in &self.envelope.members {
            line.raw(name, value);
        }
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
    pub fn message(
        &mut self,
        message: &Message<'_>,
        body: &[u8],
        parent: Option<&[u8]>,
        linked: bool,
    ) -> Vec<NewLine> {
        if let Some(time) = message.timestamp.filter(|raw| raw.starts_with(b"\"")) {
            self.envelope.time = Some(time.to_vec());
        }
        let content = record::content(body, note(body, NAME).is_some(), self.report);
        let role = message.role();
        let Some(content) = content.or((role == Role::Assistant).then(|| b"[]".to_vec())) else {
            return Vec::new();
        };
        let uuid = self.message_uuid(message, body);
        if role == Role::Assistant {
            return self.assistant(body, uuid, &content, parent, linked);
        }
        let is_meta =
            role != Role::Tool && (role != Role::User || matches!(message.category(), Category::Context));
        vec![self.line("user", &uuid, parent, |line| {
            line.object("message", |message| {
                message.text("role", "user").raw("content", &content);
            });
            if is_meta {
                line.raw("isMeta", "true");
            }
            line.optional("sourceToolAssistantUUID", parent.filter(|_| role == Role::Tool));
        })]
    }

    /// The lines of a model message, one per block; the first one has this id.
    fn assistant(
        &mut self,
        body: &[u8],
        first: Vec<u8>,
        content: &[u8],
        parent: Option<&[u8]>,
        linked: bool,
    ) -> Vec<NewLine> {
        let blocks = blocks(content);
        let model = json::string_member(body, "model");
        let model = model.map(<[u8]>::to_vec).or_else(|| self.envelope.model.clone());
        let usage = json::member(body, "usage").filter(|raw| json::member(raw, "input_tokens").is_some());
        let hash = key::sha256(&[&first[..], b"\n", body].concat());
        let id = format!("msg_{}", &hash[..24]);
        let calls = blocks.iter().any(|block| json::member(block, "input").is_some());
        let reason = if calls { r#""tool_use""# } else { r#""end_turn""# };
        let mut lines: Vec<NewLine> = Vec::with_capacity(blocks.len());
        for (nth, block) in blocks.iter().enumerate() {
            let uuid = match nth {
                0 => first.clone(),
                nth => self.uuid(&[&first[..], nth.to_string().as_bytes()].concat()),
            };
            let above = lines.last().filter(|_| linked).map(|line| line.uuid.as_slice());
            let line = self.line("assistant", &uuid, above.or(parent), |line| {
                line.object("message", |message| {
                    let is_last = nth + 1 == blocks.len();
                    message
                        .raw("model", model.as_deref().unwrap_or(br#""unknown""#))
                        .text("id", &id)
                        .text("type", "message")
                        .text("role", "assistant")
                        .raw("content", array([block]))
                        .raw("stop_reason", if is_last { reason } else { "null" })
                        .raw("stop_sequence", "null")
                        .raw(
                            "usage",
                            usage.unwrap_or(br#"{"input_tokens":0,"output_tokens":0}"#),
                        );
                });
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
            line.object("message", |message| {
                message.text("role", "user").raw("content", &content);
            })
            .raw("isVisibleInTranscriptOnly", "true")
            .raw("isCompactSummary", "true");
        }));
        lines
    }

    /// Reports the data of a message that lines cannot represent.
    pub fn report_losses(&mut self, message: &Message<'_>, body: &[u8]) {
        let role = message.role();
        let has = |name: &str| json::member(body, name).is_some();
        let is_export = self.purpose == WritePurpose::Export;
        let has_usage = |raw| role == Role::Assistant && json::member(raw, "input_tokens").is_some();
        // System messages are written as user messages that are not turns.
        let is_turn = matches!(role, Role::User | Role::Assistant | Role::Tool);
        let is_usual = match message.category() {
            Category::Context => matches!(role, Role::User),
            category => is_turn && category == role.category(),
        };
        let known = ["is_error", "from", NAME, Api::Anthropic.name()];
        let mut free = { message.metadata.into_iter() }.flat_map(|raw| extra_members(raw, &known));
        let has_free = free.any(|(_, value)| has_more_data(value));
        let losses = [
            (Loss::Id, is_export && message.id.is_some_and(|id| !is_uuid(id))),
            (Loss::Usage, is_export && has("tokens")),
            (
                Loss::Usage,
                json::member(body, "usage").is_some_and(|raw| !has_usage(raw)),
            ),
            (Loss::Model, has("model") && role != Role::Assistant),
            (Loss::Category, !is_usual),
            (Loss::Metadata, has_free || has_unknown_members(body)),
        ];
        for (loss, is_lost) in losses {
            self.report.count_loss(loss, u64::from(is_lost));
        }
    }
}

/// An id in UUID form, derived from a digest.
fn uuid_of_digest(digest: &[u8]) -> String {
    let mut bytes: [u8; 16] = std::array::from_fn(|at| digest[at]);
    bytes[6] = bytes[6] & 0x0f | 0x50;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = key::hex(&bytes);
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
