//! Implements the kit's codec for histories. A group is OpenAI-style reasoning and the message after it.

use super::element::{ElementKind, directory, element_text, elements, is_tagged, last, stamp, text, time};
use super::encode;
use super::panel::Panel;
use crate::format::kit::{Codec, Decoded, DocumentLayout, Draft, SessionInfo, SummaryDraft, Visible};
use crate::format::report::Report;
use crate::format::request::draft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{Format, blocks, content};
use crate::model::json::{self, array, quoted};
use crate::model::key;
use std::collections::{HashMap, HashSet};

#[derive(Default)]
pub struct ClineRoo {
    /// The companion file with the user interface's messages.
    pub panel: Option<Panel>,
    /// Whether the file has the name that all histories share.
    pub is_unnamed: bool,
}

/// Without companion files.
pub static CLINE_ROO: ClineRoo = ClineRoo {
    panel: None,
    is_unnamed: false,
};

/// Information about all groups.
#[derive(Default)]
pub struct ClineRooOutline {
    /// The time of the first group.
    begun: Option<f64>,
    directory: Option<Vec<u8>>,
    /// The id of a session without a specific name.
    id: String,
    /// The first group with a message.
    first: usize,
    /// The last summary; the history from there on is sent.
    summary: Option<usize>,
    /// The last marker of each truncation.
    cuts: HashMap<String, usize>,
    /// Ids of the calls after the summary.
    calls: HashSet<String>,
    /// Units that Cline omits.
    omitted: HashSet<usize>,
    /// Usage by the group of the answer.
    usage: HashMap<usize, Vec<u8>>,
}

impl Codec for ClineRoo {
    const FORMAT: Format = Format::ClineRoo;
    const NAME: &'static str = "cline-roo";
    const PHRASE: &'static str = "a Cline or Roo Code history";
    const LAYOUT: DocumentLayout = DocumentLayout::List;
    const GROUPS_ELEMENTS: bool = true;
    const SUMMARIES: bool = true;
    const RESULTS_FOLLOW_CALLS: bool = true;
    const COPIES_LAYOUT: bool = true;
    const HEADER: &'static [&'static str] = &["type", "version", "id", "key", "created_at", "source"];
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Directory];
    type ElementOutline = ClineRooOutline;

    fn group_length(&self, elements: &[Vec<u8>]) -> usize {
        let is_thought = |element: &&Vec<u8>| ElementKind::of(element) == ElementKind::Reasoning;
        let run = elements.iter().take_while(is_thought).count();
        let is_answer =
            |element: &Vec<u8>| ElementKind::of(element) == ElementKind::Message && is_assistant(element);
        let is_followed = run > 0 && elements.get(run).is_some_and(is_answer);
        run.max(1) + usize::from(is_followed)
    }

    fn add_info(&self, outline: &ClineRooOutline, info: &mut SessionInfo) {
        info.created = outline.begun.and_then(time);
        info.workspace = Workspace::new(outline.directory.as_deref(), None, None);
        info.id = self.is_unnamed.then(|| outline.id.clone());
    }

    fn outline(&self, groups: &[Vec<u8>]) -> ClineRooOutline {
        let messages: Vec<&[u8]> = groups.iter().map(|group| last(group)).collect();
        let kinds: Vec<ElementKind> = messages.iter().map(|message| ElementKind::of(message)).collect();
        let of = |kind: ElementKind| kinds.iter().enumerate().filter(move |(_, own)| **own == kind);
        let mut outline = ClineRooOutline {
            begun: groups.iter().flat_map(|group| elements(group)).find_map(stamp),
            directory: groups.iter().find_map(|group| directory(group)),
            first: of(ElementKind::Message)
                .next()
                .map_or(groups.len(), |(nth, _)| nth),
            summary: of(ElementKind::Summary).next_back().map(|(nth, _)| nth),
            ..ClineRooOutline::default()
        };
        if self.is_unnamed {
            outline.id = match outline.begun {
                Some(begun) => format!("task_{begun}"),
                None => key::id_from("session_", groups.concat()),
            };
        }
        for (nth, _) in of(ElementKind::Marker) {
            let id = text(messages[nth], "truncationId").unwrap_or_default();
            outline.cuts.insert(id.into_owned(), nth);
        }
        if let Some(from) = outline.summary {
            let blocks = messages[from..]
                .iter()
                .flat_map(|message| elements(json::member(message, "content").unwrap_or_default()));
            let calls = blocks.filter(|block| text(block, "type").as_deref() == Some("tool_use"));
            outline.calls = calls
                .filter_map(|call| text(call, "id"))
                .map(|id| id.into_owned())
                .collect();
        }
        if let Some(panel) = &self.panel {
            panel.add_group_info(groups, &messages, &mut outline);
        }
        outline
    }

    fn decode(&self, outline: &ClineRooOutline, nth: usize, group: &[u8]) -> Decoded {
        let elements = elements(group);
        let Some((message, reasoning_parts)) = elements.split_last() else {
            return Decoded::Unrecognized;
        };
        match ElementKind::of(message) {
            ElementKind::Message => {
                let drafts = drafts(message, reasoning_parts, outline.usage.get(&nth));
                let drafts = drafts.into_iter().map(|draft| Draft {
                    visible: match outline.hides(nth, message, &draft) {
                        true => Visible::Hidden,
                        false => Visible::Whole,
                    },
                    message: draft,
                });
                Decoded::Messages(drafts.collect())
            }
            ElementKind::Summary => {
                let text = element_text(message);
                if text.is_empty() {
                    return Decoded::Unrecognized;
                }
                let mut members = vec![("by", quoted(Self::NAME))];
                if outline.first > nth {
                    members.push(("here", b"true".to_vec()));
                }
                Decoded::Summary(SummaryDraft {
                    text,
                    kept: Some(nth),
                    members,
                    ..SummaryDraft::default()
                })
            }
            ElementKind::Marker | ElementKind::Reasoning => Decoded::Passthrough,
            ElementKind::Other => Decoded::Unrecognized,
        }
    }

    fn fault(&self, group: &[u8]) -> Option<String> {
        let message = last(group);
        (ElementKind::of(message) == ElementKind::Message).then(|| content::fault(message, &[]))?
    }

    fn id(&self, group: &[u8]) -> Option<String> {
        let id = text(last(group), "id").filter(|id| !id.is_empty());
        id.map(|id| id.into_owned())
    }

    fn time(&self, group: &[u8]) -> Option<String> {
        stamp(last(group)).and_then(time)
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        encode::group(messages, None, report)
    }
}

fn is_assistant(element: &[u8]) -> bool {
    json::member(element, "role") == Some(b"\"assistant\"")
}

impl ClineRooOutline {
    /// Whether a message of a group is not sent: it is truncated, or its call precedes the summary.
    fn hides(&self, nth: usize, message: &[u8], draft: &draft::AnnotatedDraft) -> bool {
        let is_sent = self.summary.is_none_or(|from| nth >= from);
        let from = self.summary.filter(|_| is_sent).unwrap_or(0);
        let cut = text(message, "truncationParent").and_then(|id| self.cuts.get(id.as_ref()));
        let call = draft.get("tool_call_id").and_then(json::text);
        let is_lost = || call.is_some_and(|id| !self.calls.contains(id.as_ref()));
        cut.is_some_and(|marker| *marker >= from)
            || self.omitted.contains(&nth)
            || (self.summary.is_some() && is_sent && is_lost())
    }
}

impl Panel {
    /// Adds the interface file's information about groups, each of which ends with its message.
    fn add_group_info(&self, groups: &[Vec<u8>], messages: &[&[u8]], outline: &mut ClineRooOutline) {
        let (mut is_roo, mut has_figures, mut at) = (false, false, 0);
        let mut used = self.used.iter().peekable();
        for (nth, message) in messages.iter().enumerate() {
            let elements = elements(&groups[nth]);
            is_roo |= elements.iter().any(|element| is_tagged(element));
            at += elements.len();
            let omits = |range: &std::ops::RangeInclusive<usize>| range.contains(&(at - 1));
            if at > 0 && self.left_out.as_ref().is_some_and(omits) {
                outline.omitted.insert(nth);
            }
            has_figures |= json::member(message, "metrics").is_some();
            if let Some(stamp) = stamp(message).filter(|_| is_assistant(message)) {
                let mut last = None;
                while let Some((_, figures)) = used.next_if(|(begun, _)| *begun <= stamp) {
                    last = Some(figures);
                }
                outline.usage.extend(last.map(|figures| (nth, figures.clone())));
            }
        }
        if is_roo {
            outline.omitted.clear();
        }
        if has_figures {
            outline.usage.clear();
        }
    }
}

/// The messages of an element, with the preceding reasoning.
fn drafts(element: &[u8], reasoning_parts: &[&[u8]], used: Option<&Vec<u8>>) -> Vec<draft::AnnotatedDraft> {
    let mut drafts = blocks::drafts(element);
    let stamp = stamp(element).and_then(time).map(|time| quoted(&time));
    for (nth, draft) in drafts.iter_mut().enumerate() {
        let is_environment = |content| blocks::is_within(content, "environment_details");
        if draft.role() == "user" && draft.get("content").is_some_and(is_environment) {
            draft.set("category", "\"context\"");
        }
        if let Some(stamp) = &stamp {
            draft.set("timestamp", stamp.clone());
        }
        if nth > 0 {
            continue;
        }
        let inside = |name: &str, inner| json::member(element, name).and_then(|raw| json::member(raw, inner));
        let model = inside("modelInfo", "modelId").filter(|raw| raw.starts_with(b"\"") && *raw != b"\"\"");
        if let Some(model) = model {
            draft.set("model", model);
        }
        let figures = inside("metrics", "tokens").filter(|raw| raw.starts_with(b"{"));
        if let Some(figures) = used.map(Vec::as_slice).or(figures) {
            draft.set("usage", figures);
        }
        if !reasoning_parts.is_empty() {
            let own = elements(draft.get("reasoning").unwrap_or_default());
            let all = array(reasoning_parts.iter().copied().chain(own));
            draft.set("reasoning", all);
        }
    }
    drafts
}
