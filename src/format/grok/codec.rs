//! Implements the kit's codec for histories and streams; the lines of a message are an element.

use super::{chat, sidecar, updates};
use crate::format::kit::{
    Assembly, Codec, Decoded, DocumentLayout, Draft, Editor, SessionInfo, Sidecar, SourceElements, Writer,
    lines_of, losses,
};
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::WorkspaceMember;
use crate::format::{Format, SessionInput};
use crate::model::json::{self, Dialect, array, quoted};
use crate::model::message::Role;

pub struct Grok {
    /// Whether it is a display stream.
    is_stream: bool,
}

/// The codec for histories.
pub static CHAT: Grok = Grok { is_stream: false };

impl Codec for Grok {
    const FORMAT: Format = Format::Grok;
    const NAME: &'static str = "grok";
    const PHRASE: &'static str = "a Grok session";
    const LAYOUT: DocumentLayout = DocumentLayout::Lines;
    const HAS_TITLE: bool = false;
    const REPRESENTED: &'static [WorkspaceMember] = &[
        WorkspaceMember::Directory,
        WorkspaceMember::Branch,
        WorkspaceMember::Model,
    ];
    const VARIANTS: &'static [Grok] = &[Grok { is_stream: false }, Grok { is_stream: true }];
    /// The session that the lines of a stream name.
    type ElementOutline = Option<String>;

    fn variant(&self) -> &'static str {
        if self.is_stream { "updates" } else { "chat" }
    }

    fn has_variant(&self, element: &[u8]) -> bool {
        updates::GrokUpdate::of(lines_of(element)[0]).is_some() == self.is_stream
    }

    fn is_line(&self, line: &[u8]) -> bool {
        ["type", "params"]
            .iter()
            .any(|name| json::member(line, name).is_some())
    }

    fn assemble(&self, lines: &[&[u8]]) -> Option<Assembly> {
        if lines.iter().any(|line| updates::GrokUpdate::of(line).is_some()) {
            return Some(updates::assemble(lines));
        }
        Some(Assembly {
            first: chat::first_lines(lines),
            session: vec![0; lines.len()],
            others: Vec::new(),
        })
    }

    fn info(&self, _: &[u8]) -> SessionInfo {
        SessionInfo::default()
    }

    fn add_info(&self, session: &Option<String>, info: &mut SessionInfo) {
        info.id = session.clone();
    }

    fn sidecar(&self, input: &SessionInput, neighbor: &dyn Fn(&str) -> Option<Vec<u8>>) -> Sidecar {
        sidecar::read(input.name.as_deref(), neighbor)
    }

    fn complete(&self, sidecar: &Sidecar, element: &[u8], messages: &mut [Draft]) {
        let [draft] = messages else { return };
        let draft = &mut draft.message;
        let id = |raw: Option<&[u8]>| raw.and_then(json::text).map(String::from);
        let name = match draft.role() {
            _ if self.is_stream => None,
            "user" => json::member(element, "prompt_index").map(sidecar::prompt),
            "tool" => {
                let id = id(draft.get("tool_call_id"));
                let is_failed = id.as_ref().is_some_and(|id| sidecar.failed.contains(id));
                draft.metadata("is_error", is_failed.then(|| b"true".to_vec()));
                id.map(|id| sidecar::call(&id, true))
            }
            "assistant" => {
                let calls = draft.get("tool_calls");
                let calls = calls.and_then(|raw| json::elements(raw, Dialect::Strict));
                let first = calls.and_then(|calls| id(json::member(calls.first()?, "id")));
                first.map(|id| sidecar::call(&id, false))
            }
            _ => None,
        };
        if let Some(time) = name.and_then(|name| sidecar.times.get(&name)) {
            draft.raw("timestamp", quoted(time));
        }
    }

    fn outline(&self, elements: &[Vec<u8>]) -> Option<String> {
        let mut sessions = elements.iter().filter_map(|element| {
            let params = json::member(lines_of(element)[0], "params")?;
            json::member_text(params, "sessionId")
        });
        sessions.next().map(String::from)
    }

    fn decode(&self, _: &Option<String>, _: usize, element: &[u8]) -> Decoded {
        let lines = lines_of(element);
        let mut decoded = match self.is_stream {
            true => updates::decode(&lines),
            false => chat::decode(&lines),
        };
        if let Decoded::Messages(drafts) = &mut decoded
            && lines.len() > 1
        {
            drafts[0].message.note("lines", Some(b"true".to_vec()));
        }
        decoded
    }

    fn time(&self, element: &[u8]) -> Option<String> {
        updates::time_of(lines_of(element)[0])
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        let mut lines = match self.is_stream {
            true => updates::encode(messages.first()?, report),
            false => chat::encode(messages.first()?, report),
        };
        let is_one = messages[0].noted("lines").is_none();
        match lines.len() {
            1 if is_one => lines.pop(),
            _ => Some(array(lines)),
        }
    }
}

impl Editor for Grok {
    type EditContext = updates::NewUpdates;

    fn context(&self, _: Option<&[u8]>, source: &SourceElements) -> updates::NewUpdates {
        let lines = source.raws.iter().flat_map(|raw| lines_of(raw));
        updates::NewUpdates::after(self.outline(&source.raws), lines)
    }

    fn has_role(&self, role: Role) -> bool {
        !self.is_stream || !matches!(role, Role::System | Role::Developer)
    }

    fn new_elements(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Vec<Vec<u8>> {
        let lines = messages.iter().flat_map(|annotated| match self.is_stream {
            true => out.context.lines(annotated, out.report),
            false => chat::encode(annotated, out.report),
        });
        lines.collect()
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, _: bool, report: &mut Report) {
        let lost = [Loss::Id, Loss::Usage, Loss::Category, Loss::Name];
        losses::of(annotated, &lost, &["is_error", Self::NAME], report);
        let is_timed = !self.is_stream && annotated.message.timestamp().is_some();
        report.count_loss(Loss::Timestamp, u64::from(is_timed));
        let model = self.is_stream && json::member(annotated.body, "model").is_some();
        report.count_loss(Loss::Model, u64::from(model));
    }
}
