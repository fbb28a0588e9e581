//! Implements the kit's codec for records; each turn is an element.

use super::decode::{ShareGptOutline, member_names, role_of};
use super::encode;
use crate::format::kit::{
    Codec, Decoded, DocumentLayout, Editor, MemberChange, SessionInfo, SourceElements, Writer,
};
use crate::format::object::filled;
use crate::format::report::{Loss, Report};
use crate::format::request::draft::AnnotatedDraft;
use crate::format::request::request_part::{AnnotatedMessage, add_extra_members};
use crate::format::workspace::WorkspaceMember;
use crate::format::{Format, WritePurpose, content};
use crate::model::header;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;

/// The codec, for one of the two forms of records.
#[derive(Clone, Copy)]
pub struct Sharegpt {
    /// Whether the turns are messages whose content is parts.
    pub has_parts: bool,
}

/// The form with turns.
pub static TURNS: Sharegpt = VARIANTS[0];
const VARIANTS: [Sharegpt; 2] = [Sharegpt { has_parts: false }, Sharegpt { has_parts: true }];

impl Codec for Sharegpt {
    const FORMAT: Format = Format::Sharegpt;
    const NAME: &'static str = "sharegpt";
    const PHRASE: &'static str = "a ShareGPT record";
    const LIST: &'static str = "conversations";
    const IS_COLLECTION: bool = true;
    const IDS: bool = false;
    const COPIES_LAYOUT: bool = true;
    const RESULTS_FOLLOW_CALLS: bool = true;
    const QUOTES_SUMMARIES: bool = true;
    const HEADER: &'static [&'static str] = &["type", "version", "id", "key", "source"];
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Tools];
    const VARIANTS: &'static [Sharegpt] = &VARIANTS;
    type ElementOutline = ShareGptOutline;

    fn variant(&self) -> &'static str {
        if self.has_parts { "parts" } else { "turns" }
    }

    fn list(&self) -> &'static str {
        if self.has_parts { "messages" } else { Self::LIST }
    }

    fn info(&self, about: &[u8]) -> SessionInfo {
        let id = json::member(about, "id").filter(|raw| !matches!(raw[0], b'{' | b'[' | b'n'));
        let id = id.map(|raw| match json::text(raw) {
            Some(text) => text.into_owned(),
            None => String::from_utf8_lossy(raw).into_owned(),
        });
        SessionInfo {
            id: id.filter(|id| !id.is_empty()),
            ..SessionInfo::default()
        }
    }

    fn instructions(&self, about: &[u8]) -> Option<AnnotatedDraft> {
        let system = json::string_member(about, "system")?;
        Some(AnnotatedDraft::with_content("system", system))
    }

    fn remarks(&self, outline: &ShareGptOutline, about: &[u8], _: &[Vec<u8>]) -> Vec<String> {
        let mut remarks = outline.remarks.clone();
        let members = json::members(about, Dialect::Strict).unwrap_or_default();
        let names = members.iter().map(|(name, _)| name.as_ref());
        for name in names.filter(|name| matches!(*name, "chosen" | "rejected")) {
            remarks.push(format!("'{name}' is an alternative reply; kept in the metadata"));
        }
        remarks
    }

    fn outline(&self, turns: &[Vec<u8>]) -> ShareGptOutline {
        self.numbered_outline(1, turns)
    }

    /// Calls have the number of their record in their ids.
    fn numbered_outline(&self, number: usize, turns: &[Vec<u8>]) -> ShareGptOutline {
        ShareGptOutline::of(turns, self.has_parts, number)
    }

    fn decode(&self, outline: &ShareGptOutline, nth: usize, _: &[u8]) -> Decoded {
        match outline.messages.get(nth).cloned().flatten() {
            Some(message) => Decoded::Messages(vec![message.into()]),
            None => Decoded::Unrecognized,
        }
    }

    fn fault(&self, turn: &[u8]) -> Option<String> {
        if json::member(turn, "value").is_some() {
            return None;
        }
        filled(turn, member_names(self.has_parts)[0])?;
        content::fault(turn, &["tool_calls", "tool_call_id", "function_call"])
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        encode::turn(messages.first()?, self.has_parts, report)
    }
}

/// State for creating turns.
#[derive(Default)]
pub struct TurnContext {
    /// The sender name of the record by role.
    names: encode::Names,
    /// Whether the last turn is a user message.
    is_asked: bool,
    /// Whether the next message is the first of a new record.
    is_first: bool,
    /// The instructions of a new record.
    system: Option<Vec<u8>>,
}

impl Editor for Sharegpt {
    const SPLITS_JOINED_MESSAGES: bool = true;
    const REPRESENTED_METADATA: &'static [&'static str] = &[Self::NAME];
    type EditContext = TurnContext;

    fn context(&self, about: Option<&[u8]>, source: &SourceElements) -> TurnContext {
        let [speaker, _] = member_names(self.has_parts);
        let mut context = TurnContext {
            is_first: about.is_none() && source.raws.is_empty(),
            ..TurnContext::default()
        };
        for turn in &source.raws {
            let Some(from) = filled(turn, speaker).filter(|from| from != "function_call") else {
                continue;
            };
            let role = role_of(&from).to_string();
            context.is_asked = role == "user";
            context.names.entry(role).or_insert_with(|| from.into_owned());
        }
        context
    }

    fn joins(&self, before: Role, role: Role) -> bool {
        role == Role::Tool && matches!(before, Role::Assistant | Role::Tool)
    }

    fn new_elements(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Vec<Vec<u8>> {
        let role = messages.first().map(|first| first.message.role());
        let is_first = std::mem::take(&mut out.context.is_first);
        if let (Some(Role::System | Role::Developer), true) = (role, is_first) {
            out.context.system = messages.first().map(|first| encode::text(first, out.report));
            return Vec::new();
        }
        let asks = role == Some(Role::User);
        let was_asked = std::mem::replace(&mut out.context.is_asked, asks);
        let is_lost = asks && was_asked && out.purpose == WritePurpose::Export;
        out.report.count_loss(Loss::Order, u64::from(is_lost));
        encode::turns(messages, self.has_parts, &out.context.names, out.report)
    }

    fn new_about(
        &self,
        session: &Session,
        _: &View,
        context: &TurnContext,
        _: DocumentLayout,
    ) -> ObjectBuilder {
        let header = session.header();
        let metadata = header::member(header, "metadata").unwrap_or(b"{}");
        let mut about = ObjectBuilder::default();
        match json::member(metadata, Self::NAME) {
            // Annotations of older versions.
            Some(own) => add_extra_members(&mut about, json::member(own, "members").unwrap_or(b"{}"), &[]),
            None => drop(about.optional("id", header::member(header, "id"))),
        }
        about.optional("system", context.system.as_ref());
        about.optional("tools", json::member(metadata, "tools"));
        about
    }

    fn new_instructions(
        &self,
        message: Option<&AnnotatedMessage<'_>>,
        report: &mut Report,
    ) -> Option<MemberChange> {
        Some(("system", message.map(|message| encode::text(message, report))))
    }
}
