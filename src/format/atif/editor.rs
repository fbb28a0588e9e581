//! Writes trajectories with the kit.

use super::codec::{Atif, NOTE};
use super::encode;
use crate::format::WritePurpose;
use crate::format::kit::{
    Codec, DocumentLayout, Editor, ElementEdit, ElementEdits, SourceElements, Writer, losses,
};
use crate::format::object::text;
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::Workspace;
use crate::model::header;
use crate::model::json::{self, ObjectBuilder, wrapped};
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;

/// Members that only agent steps have.
const AGENT: [&str; 6] = [
    "model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics", "llm_call_count",
];

impl Editor for Atif {
    /// The number of the last new step.
    type EditContext = usize;

    fn context(&self, _: Option<&[u8]>, source: &SourceElements) -> usize {
        source.raws.len()
    }

    /// Numbers steps without gaps.
    fn edit(&self, edits: &ElementEdits<'_, Self>, writer: &mut Writer<'_, Self>) -> Vec<ElementEdit> {
        let raws = &edits.source.raws;
        let list = edits.rewritten_or_plain(writer);
        let is_kept = |(nth, edit): (usize, &ElementEdit)| match edit {
            ElementEdit::Keep(own) | ElementEdit::Replace(own, _) => nth == *own,
            ElementEdit::Insert(_) => false,
        };
        // Renumber only if steps were removed, or new ones are not at the end.
        let first = list.iter().enumerate().position(|edit| !is_kept(edit));
        let is_changed = first.is_some() || list.len() != raws.len();
        let numbered = list.into_iter().enumerate().map(|(nth, edit)| {
            let raw = edit.element(raws);
            let number = (nth + 1).to_string();
            let is_agent = text(raw, "source").as_deref() == Some("agent");
            let mut changes: Vec<(&str, Option<&[u8]>)> = Vec::new();
            if is_changed && json::member(raw, "step_id") != Some(number.as_bytes()) {
                changes.push(("step_id", Some(number.as_bytes())));
            }
            // A step that has lost its reply.
            if matches!(edit, ElementEdit::Replace(..)) && !is_agent {
                let own = AGENT.into_iter().filter(|name| json::member(raw, name).is_some());
                changes.extend(own.map(|name| (name, None)));
            }
            let Some(raw) = (!changes.is_empty())
                .then(|| json::with_members(raw, &changes).ok())
                .flatten()
            else {
                return edit;
            };
            match edit {
                ElementEdit::Keep(nth) | ElementEdit::Replace(nth, _) => ElementEdit::Replace(nth, raw),
                ElementEdit::Insert(_) => ElementEdit::Insert(raw),
            }
        });
        numbered.collect()
    }

    fn joins(&self, before: Role, role: Role) -> bool {
        matches!(before, Role::Assistant | Role::Tool) && role == Role::Tool
    }

    fn new_element(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Option<Vec<u8>> {
        if out.purpose == WritePurpose::Export {
            // Results have the time of their step.
            let mut times = messages.iter().map(|annotated| annotated.message.timestamp);
            let of_step = times.next().flatten();
            let others = times.filter(|time| time.is_some() && *time != of_step).count();
            out.report.count_loss(Loss::Timestamp, others as u64);
        }
        Some(numbered(&encode::step(messages, true, out.report)?, out.context))
    }

    fn new_summary(&self, text: &str, body: &[u8], _: &[Vec<u8>], last: &mut usize) -> Option<Vec<Vec<u8>>> {
        let mut step = ObjectBuilder::default();
        step.text("source", "user");
        step.optional("timestamp", json::member(body, "at"));
        step.text("message", text)
            .raw("extra", wrapped(NOTE, wrapped("summary", b"true")));
        Some(vec![numbered(&step.finish(), last)])
    }

    fn new_about(&self, session: &Session, view: &View, _: &usize, _: DocumentLayout) -> ObjectBuilder {
        let header = session.header();
        let get = |name: &str| header::member(header, name);
        let source = |name: &str| json::member(get("source")?, name);
        let workspace = Workspace::of(session);
        let mut agent = ObjectBuilder::default();
        agent
            .raw("name", source("format").unwrap_or(b"\"convo\""))
            .text("version", "unknown");
        agent.optional("model_name", workspace.last_model(session, view));
        let mut about = ObjectBuilder::default();
        about
            .text("schema_version", "ATIF-v1.4")
            .raw("session_id", get("id").unwrap_or(b"\"session\""))
            .raw("agent", agent.finish());
        if let Some(directory) = workspace.cwd {
            about.raw("extra", wrapped("cwd", &directory));
        }
        about
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, _: bool, report: &mut Report) {
        // The role determines whether a message is an instruction.
        let is_usual = match annotated.message.category {
            Some(category) => category == b"\"system\"" && annotated.message.role() == Role::System,
            None => true,
        };
        report.count_loss(Loss::Category, u64::from(!is_usual));
        losses::of(annotated, &[Loss::Id, Loss::Name], &[Self::NAME], report);
    }
}

/// A step with the next number.
fn numbered(step: &[u8], last: &mut usize) -> Vec<u8> {
    *last += 1;
    let mut built = ObjectBuilder::default();
    built.raw("step_id", last.to_string());
    for (name, value) in json::members(step, json::Dialect::Strict).unwrap_or_default() {
        built.raw(&name, value);
    }
    built.finish()
}
