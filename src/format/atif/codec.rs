//! Implements the kit's codec for trajectories; each step is an element.

use super::{decode, encode};
use crate::format::Format;
use crate::format::kit::{Codec, Decoded, SessionInfo, SideSession, SummaryDraft};
use crate::format::object::text;
use crate::format::report::Report;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::model::json;

pub struct Atif;

/// The member of `extra` that marks the summaries of this program.
pub const NOTE: &str = "convo";

/// The newest supported version.
const NEWEST: u64 = 7;

impl Codec for Atif {
    const FORMAT: Format = Format::Atif;
    const NAME: &'static str = "atif";
    const PHRASE: &'static str = "an ATIF trajectory";
    const LIST: &'static str = "steps";
    const MAY_BE_COLLECTION: bool = true;
    const RESULTS_FOLLOW_CALLS: bool = true;
    const COPIES_LAYOUT: bool = true;
    const INDENTS: bool = true;
    const HEADER: &'static [&'static str] = &["type", "version", "id", "source"];
    const HAS_TITLE: bool = false;
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Directory, WorkspaceMember::Model];
    /// The first step that is not a system step.
    type ElementOutline = Option<usize>;

    fn info(&self, about: &[u8]) -> SessionInfo {
        let inner = |object, name| json::member(json::member(about, object)?, name);
        SessionInfo {
            id: text(about, "session_id").or_else(|| text(about, "trajectory_id")),
            workspace: Workspace::new(inner("extra", "cwd"), None, inner("agent", "model_name")),
            ..SessionInfo::default()
        }
    }

    fn remarks(&self, _: &Option<usize>, about: &[u8], steps: &[Vec<u8>]) -> Vec<String> {
        let mut remarks = Vec::new();
        let version = text(about, "schema_version").unwrap_or_default();
        let number = version
            .strip_prefix("ATIF-v1.")
            .map(|number| number.parse::<u64>());
        if !matches!(number, Some(Ok(number)) if number <= NEWEST) {
            remarks.push(format!("version '{version}'; read as version 1.{NEWEST}"));
        }
        let is_compaction = |step: &Vec<u8>| {
            let management =
                json::member(step, "extra").and_then(|raw| json::member(raw, "context_management"));
            management.and_then(|raw| text(raw, "type")).as_deref() == Some("compaction")
        };
        let compactions = steps.iter().filter(|step| is_compaction(step)).count();
        if compactions > 0 {
            remarks.push(format!(
                "{compactions} compacted steps; the document does not say which messages the model no longer received"
            ));
        }
        remarks
    }

    fn nested(&self, about: &[u8], steps: &[&[u8]]) -> Vec<(SideSession, Vec<u8>)> {
        let list = json::member(about, "subagent_trajectories");
        let nested = json::items(list).into_iter().map(|document| {
            let id = text(document, "trajectory_id");
            let side = SideSession {
                kind: "sidechain",
                at: id.as_deref().and_then(|id| decode::referring_message(steps, id)),
                id: id.or_else(|| text(document, "session_id")),
            };
            (side, document.to_vec())
        });
        nested.collect()
    }

    fn outline(&self, steps: &[Vec<u8>]) -> Option<usize> {
        let mut sources = steps.iter().map(|step| text(step, "source"));
        sources.position(|source| source.is_some_and(|source| source != "system"))
    }

    fn decode(&self, first: &Option<usize>, nth: usize, step: &[u8]) -> Decoded {
        let note = json::member(step, "extra").and_then(|extra| json::member(extra, NOTE));
        if note.and_then(|note| json::member(note, "summary")) == Some(b"true")
            && let Some(summary) = text(step, "message")
        {
            return Decoded::Summary(SummaryDraft {
                text: summary,
                members: vec![("here", b"true".to_vec())],
                ..SummaryDraft::default()
            });
        }
        let is_lead = first.is_none_or(|first| nth < first);
        match decode::drafts(step, is_lead) {
            Some(drafts) => Decoded::Messages(drafts.into_iter().map(Into::into).collect()),
            None => Decoded::Unrecognized,
        }
    }

    fn id(&self, step: &[u8]) -> Option<String> {
        decode::id(step)
    }

    fn further_id(id: &str, nth: usize) -> String {
        format!("{id}_r{nth}")
    }

    fn time(&self, step: &[u8]) -> Option<String> {
        decode::time(step)
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        encode::step(messages, false, report)
    }
}
