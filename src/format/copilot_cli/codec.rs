//! Implements the kit's codec for event logs; each event, or all events of a message, is an element.

use super::encode::events;
use super::event::{self, NAME, data, member};
use super::sessions;
use crate::format::kit::{
    Assembly, Codec, Decoded, DocumentLayout, Editor, ElementEdit, ElementEdits, NewIds, SessionInfo,
    Sidecar, SourceElements, Writer, lines_of,
};
use crate::format::object::{text, timestamp};
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{Format, SessionInput};
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use crate::model::time;
use std::collections::{HashMap, HashSet};

pub struct Copilot;

/// Information about all events.
#[derive(Default)]
pub struct CopilotOutline {
    /// The calls that messages request.
    requested: HashSet<String>,
    /// Reasoning in a separate event before its message.
    reasoning: HashMap<usize, Vec<u8>>,
    /// The start of each completed compaction.
    begun: HashMap<usize, usize>,
    title: Option<String>,
    workspace: Workspace,
}

impl Codec for Copilot {
    const FORMAT: Format = Format::CopilotCli;
    const NAME: &'static str = NAME;
    const PHRASE: &'static str = "a GitHub Copilot event log";
    const LIST: &'static str = "events";
    const LAYOUT: DocumentLayout = DocumentLayout::Lines;
    const IDS: bool = false;
    const LINK: Option<[&'static str; 2]> = Some(["id", "parentId"]);
    const REPRESENTED: &'static [WorkspaceMember] = &[
        WorkspaceMember::Directory,
        WorkspaceMember::Branch,
        WorkspaceMember::Model,
    ];
    /// Session events contain the title.
    const HAS_TITLE: bool = false;
    type ElementOutline = CopilotOutline;

    fn begins(&self, line: &[u8]) -> bool {
        data(line, "session.start").is_some()
    }

    fn is_line(&self, line: &[u8]) -> bool {
        json::member(line, "data").is_some()
    }

    fn assemble(&self, lines: &[&[u8]]) -> Option<Assembly> {
        Some(sessions::assemble(lines))
    }

    fn info(&self, about: &[u8]) -> SessionInfo {
        let start = json::member(about, "data").unwrap_or(b"{}");
        let context = json::member(start, "context").unwrap_or(b"{}");
        let inner = |name| json::member(context, name);
        SessionInfo {
            id: text(start, "sessionId"),
            created: text(start, "startTime").filter(|time| time::is_rfc3339(time)),
            workspace: Workspace::new(
                inner("cwd"),
                inner("branch"),
                json::member(start, "selectedModel"),
            ),
            ..SessionInfo::default()
        }
    }

    fn add_info(&self, outline: &CopilotOutline, info: &mut SessionInfo) {
        info.title = outline.title.clone();
        let (own, first) = (outline.workspace.clone(), std::mem::take(&mut info.workspace));
        info.workspace = Workspace {
            cwd: own.cwd.or(first.cwd),
            branch: own.branch.or(first.branch),
            model: own.model.or(first.model),
        };
    }

    /// Reads the session's name and directory from `workspace.yaml`.
    fn sidecar(&self, input: &SessionInput, neighbor: &dyn Fn(&str) -> Option<Vec<u8>>) -> Sidecar {
        let mut sidecar = Sidecar::default();
        if input.name.as_deref() == Some("events.jsonl")
            && let Some(workspace) = neighbor("workspace.yaml")
        {
            let workspace = String::from_utf8_lossy(&workspace);
            sidecar.info.title = scalar(&workspace, "name");
            let cwd = scalar(&workspace, "cwd").map(|cwd| quoted(&cwd));
            sidecar.info.workspace = Workspace::new(cwd.as_deref(), None, None);
        }
        sidecar
    }

    fn outline(&self, elements: &[Vec<u8>]) -> CopilotOutline {
        let mut outline = CopilotOutline::default();
        let (mut reasoning, mut begun) = (None, None);
        let context = |event, name| json::member(member(event, "context")?, name);
        for (nth, element) in elements.iter().enumerate() {
            for event in lines_of(element)
                .into_iter()
                .filter(|line| line.starts_with(b"{"))
            {
                let kind = json::member_text(event, "type").unwrap_or_default();
                let own = json::member(event, "data").unwrap_or(b"{}");
                match kind.as_ref() {
                    "assistant.message" => {
                        let ids = json::list(own, "toolRequests")
                            .into_iter()
                            .filter_map(|call| text(call, "toolCallId"));
                        outline.requested.extend(ids);
                        if let Some(reasoning) =
                            reasoning.take().filter(|_| text(own, "reasoningText").is_none())
                        {
                            outline.reasoning.insert(nth, reasoning);
                        }
                    }
                    "assistant.reasoning" => {
                        let content = json::string_member(own, "content");
                        reasoning = content.map(<[u8]>::to_vec);
                    }
                    "session.compaction_start" => begun = Some(nth),
                    "session.compaction_complete" => {
                        outline.begun.extend([(nth, begun.take().unwrap_or(nth))])
                    }
                    "session.context_cleared" => outline.begun.extend([(nth, nth)]),
                    "session.title_changed" => outline.title = text(own, "title").or(outline.title.take()),
                    "session.model_change" | "session.resume" | "session.context_changed" => {
                        let model = json::member(own, "newModel").or(json::member(own, "selectedModel"));
                        let directory = context(event, "cwd").or(json::member(own, "cwd"));
                        let now = Workspace::new(directory, context(event, "branch"), model);
                        let then = std::mem::take(&mut outline.workspace);
                        outline.workspace = Workspace {
                            cwd: now.cwd.or(then.cwd),
                            branch: now.branch.or(then.branch),
                            model: now.model.or(then.model),
                        };
                    }
                    _ => {}
                }
            }
        }
        outline
    }

    fn decode(&self, outline: &CopilotOutline, nth: usize, element: &[u8]) -> Decoded {
        let events = lines_of(element);
        let call = data(events[0], "tool.execution_start").and_then(|data| text(data, "toolCallId"));
        let is_requested = call.is_some_and(|call| outline.requested.contains(&call));
        let reasoning = outline.reasoning.get(&nth).map(Vec::as_slice);
        event::decode(&events, reasoning, is_requested, outline.begun.get(&nth).copied())
    }

    fn fault(&self, element: &[u8]) -> Option<String> {
        let event = lines_of(element)[0];
        let no_content =
            |data: &&[u8]| json::member(data, "content").is_none_or(|raw| !raw.starts_with(b"\""));
        let annotated = data(event, "user.message")
            .or(data(event, "system.message"))
            .filter(no_content);
        annotated.map(|_| "message without content".to_string())
    }

    fn id(&self, element: &[u8]) -> Option<String> {
        let event = lines_of(element)[0];
        text(event, "id")
    }

    fn time(&self, element: &[u8]) -> Option<String> {
        let time = json::text(timestamp(lines_of(element)[0])?)?;
        Some(time.into_owned())
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        let annotated = messages.first()?;
        let member = |name| json::member(annotated.body, name);
        let mut lines: Vec<Vec<u8>> = Vec::new();
        for (kind, data) in events(annotated, report) {
            let mut line = ObjectBuilder::default();
            line.text("type", kind).raw("data", data);
            for name in ["id", "timestamp"] {
                line.optional(name, member(name));
            }
            lines.push(line.finish());
        }
        match lines.len() {
            1 => lines.pop(),
            _ => Some(array(lines)),
        }
    }
}

/// A single-line string member of a YAML mapping.
fn scalar(yaml: &str, name: &str) -> Option<String> {
    let mut values = yaml
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let value = values.next()?.trim();
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let text = match (inner('"'), inner('\'')) {
        (Some(_), _) => json::text(value.as_bytes())?.into_owned(),
        (_, Some(text)) => text.replace("''", "'"),
        // Multi-line strings, and values that are not strings.
        _ if value.starts_with(['|', '>', '[', '{', '&', '*', '!']) || matches!(value, "null" | "~") => {
            return None;
        }
        _ => value
            .split(" #")
            .next()
            .unwrap_or_default()
            .trim_end()
            .to_string(),
    };
    Some(text).filter(|text| !text.is_empty())
}

/// State for creating new events.
#[derive(Default)]
pub struct EventFactory {
    /// The time of the last event with one.
    clock: Vec<u8>,
    ids: NewIds,
}

impl Editor for Copilot {
    type EditContext = EventFactory;
    const LOST: &'static [Loss] = &[Loss::Category, Loss::Name];

    fn context(&self, _: Option<&[u8]>, source: &SourceElements) -> EventFactory {
        let lines: Vec<&[u8]> = source.raws.iter().flat_map(|raw| lines_of(raw)).collect();
        let clock = lines.iter().rev().find_map(|line| timestamp(line));
        EventFactory {
            clock: clock.unwrap_or(EPOCH_MILLIS).to_vec(),
            ids: lines.iter().filter_map(|line| text(line, "id")).collect(),
        }
    }

    fn edit(&self, edits: &ElementEdits<'_, Self>, writer: &mut Writer<'_, Self>) -> Vec<ElementEdit> {
        let mut list = edits.rewritten_or_plain(writer);
        // The start event of a call is removed with its message.
        let raws = &edits.source.raws;
        let left: Vec<Vec<u8>> = list.iter().map(|edit| edit.element(raws).to_vec()).collect();
        let (then, now) = (self.outline(raws).requested, self.outline(&left).requested);
        list.retain(|edit| {
            let start = data(edit.element(raws), "tool.execution_start");
            let call = start.and_then(|data| text(data, "toolCallId"));
            call.is_none_or(|call| !then.contains(&call) || now.contains(&call))
        });
        list
    }

    fn new_elements(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for annotated in messages {
            if let Some(time) = timestamp(annotated.body) {
                out.context.clock = time.to_vec();
            }
            for (kind, data) in events(annotated, out.report) {
                let mut line = ObjectBuilder::default();
                line.text("type", kind)
                    .raw("data", data)
                    .raw("id", out.context.ids.id(annotated.body))
                    .raw("timestamp", &out.context.clock)
                    .raw("parentId", "null");
                lines.push(line.finish());
            }
        }
        lines
    }
}
