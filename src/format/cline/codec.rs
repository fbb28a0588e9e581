//! Implements the kit's codec for Cline sessions; each message is an element.

use super::element::{self, compaction, element, time_of};
use crate::format::kit::{
    Codec, Decoded, Draft, Editor, LineageInfo, SessionInfo, SummaryDraft, Visible, Writer, losses,
};
use crate::format::object::text;
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::request::{Api, draft};
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{Format, content};
use crate::model::json::{self, quoted};

#[derive(Default)]
pub struct Cline {
    /// The manifest next to the session.
    pub manifest: Option<Vec<u8>>,
    /// The messages that the model receives in place of the session's.
    pub compacted: Option<CompactionFile>,
}

/// Without companion files.
pub static CLINE: Cline = Cline {
    manifest: None,
    compacted: None,
};

/// The messages of a compaction file.
pub struct CompactionFile {
    /// Their ids, without that of the compaction message.
    pub ids: Vec<String>,
    /// Id and text of the compaction message.
    pub summary: Option<(String, String)>,
}

impl CompactionFile {
    /// From the messages of a compaction file.
    pub fn of(messages: &[&[u8]]) -> CompactionFile {
        let id = |message: &&[u8]| text(message, "id");
        let summary = messages
            .iter()
            .find_map(|message| Some((id(message)?, compaction(message)?)));
        let others = messages.iter().filter(|message| compaction(message).is_none());
        CompactionFile {
            ids: others.filter_map(id).collect(),
            summary,
        }
    }
}

impl Codec for Cline {
    const FORMAT: Format = Format::Cline;
    const NAME: &'static str = "cline";
    const PHRASE: &'static str = "a Cline session";
    const COPIES_LAYOUT: bool = true;
    const HEADER: &'static [&'static str] = &["type", "version", "id", "source"];
    const HAS_TITLE: bool = false;
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Directory, WorkspaceMember::Model];
    type ElementOutline = Option<Vec<u8>>;

    fn info(&self, about: &[u8]) -> SessionInfo {
        let manifest = self.manifest.as_deref().unwrap_or(b"{}");
        let member = |name| json::member(manifest, name);
        let inner = |name, inner| text(json::member(member("metadata")?, name)?, inner);
        let id = text(about, "sessionId");
        let lead = || id.as_deref()?.split_once("__").map(|(lead, _)| lead.to_string());
        let is_lead = text(about, "agent").is_none_or(|agent| agent == "lead");
        let lineage = match is_lead {
            true => inner("fork", "forkedFromSessionId").map(|parent| ("fork", parent)),
            false => lead().map(|parent| ("sidechain", parent)),
        };
        let title = member("metadata").and_then(|metadata| text(metadata, "title"));
        SessionInfo {
            title,
            created: text(manifest, "started_at"),
            workspace: Workspace::new(member("cwd"), None, member("model")),
            lineage: lineage.map(|(kind, parent)| LineageInfo {
                kind,
                parent,
                at: None,
            }),
            id,
        }
    }

    fn add_info(&self, model: &Option<Vec<u8>>, info: &mut SessionInfo) {
        info.workspace.model = info.workspace.model.take().or_else(|| model.clone());
    }

    fn instructions(&self, about: &[u8]) -> Option<draft::AnnotatedDraft> {
        let prompt = json::string_member(about, "system_prompt")?;
        let mut message = draft::AnnotatedDraft::with_content("system", prompt);
        message.raw("category", "\"system\"");
        Some(message)
    }

    /// The model of the last reply.
    fn outline(&self, messages: &[Vec<u8>]) -> Option<Vec<u8>> {
        let mut models = messages
            .iter()
            .rev()
            .filter_map(|message| element::model(message));
        models.next().map(<[u8]>::to_vec)
    }

    fn decode(&self, _: &Option<Vec<u8>>, nth: usize, raw: &[u8]) -> Decoded {
        if let Some(text) = compaction(raw) {
            return Decoded::Summary(summary(text, nth));
        }
        let Some(drafts) = element::drafts(raw) else {
            return Decoded::Unrecognized;
        };
        let id = text(raw, "id");
        let compacted = self.compacted.as_ref();
        let is_hidden = |compacted: &CompactionFile| id.as_ref().is_none_or(|id| !compacted.ids.contains(id));
        let visible = match compacted.is_some_and(is_hidden) {
            true => Visible::Hidden,
            false => Visible::Whole,
        };
        let drafts = drafts.into_iter().map(|message| Draft {
            message,
            visible: visible.clone(),
        });
        let drafts = drafts.collect();
        let summarized = compacted.and_then(|compacted| compacted.summary.as_ref());
        match summarized.filter(|(own, _)| Some(own) == id.as_ref()) {
            Some((_, text)) => Decoded::Summarized(drafts, summary(text.clone(), nth + 1)),
            None => Decoded::Messages(drafts),
        }
    }

    fn fault(&self, raw: &[u8]) -> Option<String> {
        content::fault(raw, &[])
    }

    fn id(&self, raw: &[u8]) -> Option<String> {
        text(raw, "id")
    }

    fn time(&self, raw: &[u8]) -> Option<String> {
        time_of(raw)
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        element(messages, false, report)
    }
}

fn summary(text: String, kept: usize) -> SummaryDraft {
    SummaryDraft {
        text,
        kept: Some(kept),
        members: vec![("by", quoted(Cline::NAME))],
        ..SummaryDraft::default()
    }
}

impl Editor for Cline {
    type EditContext = ();

    fn new_element(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Option<Vec<u8>> {
        element(messages, true, out.report)
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, _: bool, report: &mut Report) {
        let lost = [Loss::Category, Loss::Name];
        let time = annotated.message.timestamp();
        report.count_loss(
            Loss::Timestamp,
            u64::from(time.is_some_and(|time| !element::is_exact(&time))),
        );
        let known = ["is_error", Self::NAME, Api::Anthropic.name()];
        losses::of(annotated, &lost, &known, report);
    }
}
