//! Implements the kit's codec for logs; each record, or all records of a message, is an element.

use super::record::{self, NAME, message};
use super::{compression, encode, tree};
use crate::format::gemini::GeminiCallIds;
use crate::format::kit::{
    Assembly, Codec, Decoded, DocumentLayout, Draft, LineageInfo, SessionInfo, Visible, lines_of,
};
use crate::format::object::{text, timestamp};
use crate::format::report::Report;
use crate::format::request::draft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{Format, content};
use crate::model::json;

pub struct QwenCode;

/// Information about all records.
#[derive(Default)]
pub struct QwenOutline {
    /// The messages of each element.
    drafts: Vec<Option<Vec<draft::AnnotatedDraft>>>,
    id: Option<String>,
    title: Option<String>,
    created: Option<String>,
    workspace: Workspace,
    lineage: Option<(&'static str, String)>,
}

impl Codec for QwenCode {
    const FORMAT: Format = Format::QwenCode;
    const NAME: &'static str = NAME;
    const PHRASE: &'static str = "a Qwen Code session";
    const LAYOUT: DocumentLayout = DocumentLayout::Lines;
    const IDS: bool = false;
    const SEVERAL_PER_LINE: bool = true;
    const SUMMARIES: bool = true;
    const RESULTS_FOLLOW_CALLS: bool = true;
    const LINK: Option<[&'static str; 2]> = Some(["uuid", "parentUuid"]);
    const HAS_TITLE: bool = false;
    const REPRESENTED: &'static [WorkspaceMember] = &[
        WorkspaceMember::Directory,
        WorkspaceMember::Branch,
        WorkspaceMember::Model,
    ];
    type ElementOutline = QwenOutline;

    fn is_line(&self, line: &[u8]) -> bool {
        json::member(line, "type").is_some()
    }

    fn assemble(&self, lines: &[&[u8]]) -> Option<Assembly> {
        tree::assemble(lines)
    }

    fn info(&self, _: &[u8]) -> SessionInfo {
        SessionInfo::default()
    }

    fn add_info(&self, outline: &QwenOutline, info: &mut SessionInfo) {
        info.id = outline.id.clone();
        info.title = outline.title.clone();
        info.created = outline.created.clone();
        info.workspace = outline.workspace.clone();
        info.lineage = outline.lineage.clone().map(|(kind, parent)| LineageInfo {
            kind,
            parent,
            at: None,
        });
    }

    fn outline(&self, elements: &[Vec<u8>]) -> QwenOutline {
        let mut calls = GeminiCallIds::default();
        let lines = elements.iter().flat_map(|raw| lines_of(raw));
        let lines: Vec<&[u8]> = lines.filter(|line| line.starts_with(b"{")).collect();
        let last = |name| lines.iter().rev().find_map(|line| json::member(line, name));
        let titles = lines.iter().rev().filter_map(|line| {
            let is_title = text(line, "subtype").as_deref() == Some("custom_title");
            text(
                json::member(line, "systemPayload").filter(|_| is_title)?,
                "customTitle",
            )
        });
        let session = lines.iter().find_map(|line| text(line, "sessionId"));
        let fork = lines
            .iter()
            .find_map(|line| text(json::member(line, "forkedFrom")?, "sessionId"));
        let is_side_session = |line: &&[u8]| json::member(line, "isSidechain") == Some(b"true");
        let is_sidechain = lines.iter().any(is_side_session)
            && lines
                .iter()
                .filter(|line| message(line).is_some())
                .all(is_side_session);
        let agent = lines.iter().find_map(|line| text(line, "agentId"));
        let created = lines.iter().find_map(|line| json::text(timestamp(line)?));
        QwenOutline {
            title: { titles }.next(),
            created: created.map(|time| time.into_owned()),
            workspace: Workspace::new(last("cwd"), last("gitBranch"), last("model")),
            lineage: match (is_sidechain, fork) {
                (true, _) => session.clone().map(|id| ("sidechain", id)),
                (false, fork) => fork.map(|id| ("fork", id)),
            },
            id: match is_sidechain {
                true => agent.map(|agent| format!("agent-{agent}")),
                false => session,
            },
            drafts: elements
                .iter()
                .map(|raw| record::drafts(&lines_of(raw), &mut calls))
                .collect(),
        }
    }

    fn decode(&self, outline: &QwenOutline, nth: usize, element: &[u8]) -> Decoded {
        let line = lines_of(element)[0];
        let visible = match text(line, "subtype").as_deref() {
            Some("realtime_message") => Visible::Hidden,
            _ => Visible::Whole,
        };
        if let Some(drafts) = outline.drafts.get(nth).cloned().flatten() {
            let with = |message| Draft {
                message,
                visible: visible.clone(),
            };
            return Decoded::Messages(drafts.into_iter().map(with).collect());
        }
        match text(line, "type").as_deref() {
            Some("system") => compression::decode(line, nth),
            Some("user" | "assistant" | "tool_result") | None => Decoded::Unrecognized,
            Some(_) => Decoded::Passthrough,
        }
    }

    fn fault(&self, element: &[u8]) -> Option<String> {
        lines_of(element).into_iter().find_map(|line| {
            let message = message(line)?;
            match json::member(message, "parts") {
                Some(parts) => content::unknown_parts(parts),
                None => Some("message without parts".to_string()),
            }
        })
    }

    fn id(&self, element: &[u8]) -> Option<String> {
        text(lines_of(element)[0], "uuid")
    }

    fn time(&self, element: &[u8]) -> Option<String> {
        let time = json::text(timestamp(lines_of(element)[0])?)?;
        Some(time.into_owned())
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        encode::records(messages, report)
    }
}
