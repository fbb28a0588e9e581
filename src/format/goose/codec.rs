//! Implements the kit's codec for goose sessions.

use super::element::GooseMessage;
use super::{decode, encode};
use crate::format::kit::{Codec, Decoded, SessionInfo, SummaryDraft};
use crate::format::report::Report;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{Format, content};
use crate::model::{json, summary, time};

pub struct Goose;

/// The element that is the session's summary: the last one that the model receives.
pub struct GooseOutline {
    summary: Option<usize>,
}

impl Codec for Goose {
    const FORMAT: Format = Format::Goose;
    const NAME: &'static str = "goose";
    const PHRASE: &'static str = "a goose session";
    const LIST: &'static str = "conversation";
    const COUNT_MEMBER: Option<&'static str> = Some("message_count");
    const LINES: bool = true;
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Directory, WorkspaceMember::Model];
    type ElementOutline = GooseOutline;

    fn begins(&self, line: &[u8]) -> bool {
        let has = |name| json::member(line, name).is_some();
        has("working_dir") && has("message_count") && !has("role")
    }

    fn info(&self, about: &[u8]) -> SessionInfo {
        let get = |name: &str| json::member(about, name);
        let text = |name: &str| {
            let text = get(name).and_then(json::text).filter(|text| !text.is_empty());
            text.map(|text| text.into_owned())
        };
        let model = get("model_config").and_then(|config| json::member(config, "model_name"));
        SessionInfo {
            id: text("id"),
            title: text("name").or(text("description")),
            created: text("created_at").filter(|created| time::is_rfc3339(created)),
            workspace: Workspace::new(get("working_dir"), None, model),
            lineage: None,
        }
    }

    fn outline(&self, elements: &[Vec<u8>]) -> GooseOutline {
        let is_summary = |raw: &Vec<u8>| summary_of(raw).is_some();
        GooseOutline {
            summary: elements.iter().rposition(is_summary),
        }
    }

    fn decode(&self, outline: &GooseOutline, nth: usize, raw: &[u8]) -> Decoded {
        let Some(element) = GooseMessage::of(raw) else {
            return Decoded::Unrecognized;
        };
        if element.is_notice() {
            return Decoded::Passthrough;
        }
        match summary_of(raw).filter(|_| outline.summary == Some(nth)) {
            Some(text) => Decoded::Summary(SummaryDraft {
                text,
                kept: None,
                members: vec![("as", b"\"user\"".to_vec()), ("here", b"true".to_vec())],
                ..SummaryDraft::default()
            }),
            None => Decoded::Messages(decode::messages(&element)),
        }
    }

    fn fault(&self, raw: &[u8]) -> Option<String> {
        GooseMessage::of(raw)?;
        content::unknown_parts(json::member(raw, "content")?)
    }

    fn id(&self, raw: &[u8]) -> Option<String> {
        let id = json::member_text(raw, "id");
        id.filter(|id| !id.is_empty()).map(|id| id.into_owned())
    }

    fn time(&self, raw: &[u8]) -> Option<String> {
        GooseMessage::of(raw)?.time()
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        encode::element(messages, report)
    }
}

/// The summary in an element.
fn summary_of(raw: &[u8]) -> Option<String> {
    let element = GooseMessage::of(raw).filter(|element| !element.is_model && element.is_sent())?;
    summary::unquoted(&element.text()?)
}
