//! Implements the kit's codec for Continue's items. A group is reasoning and the reply that follows it.

use super::decode::{self, message_of, role, text};
use super::encode;
use crate::format::kit::{Codec, Decoded, SessionInfo, SummaryDraft};
use crate::format::report::Report;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{Format, content};
use crate::model::json::{self, quoted};
use std::collections::HashSet;

#[derive(Default)]
pub struct ContinueCodec {
    /// The creation time in the index.
    pub created: Option<String>,
}

/// Without an index.
pub static CONTINUE: ContinueCodec = ContinueCodec { created: None };

/// Information about all groups.
pub struct ContinueOutline {
    /// Ids of calls whose results are separate items.
    answered: HashSet<String>,
}

impl Codec for ContinueCodec {
    const FORMAT: Format = Format::Continue;
    const NAME: &'static str = "continue";
    const PHRASE: &'static str = "a Continue session";
    const LIST: &'static str = "history";
    const GROUPS_ELEMENTS: bool = true;
    const SUMMARIES: bool = true;
    const COPIES_LAYOUT: bool = true;
    const INDENTS: bool = true;
    const HEADER: &'static [&'static str] = &["type", "version", "id", "title", "source"];
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Directory, WorkspaceMember::Model];
    type ElementOutline = ContinueOutline;

    fn group_length(&self, items: &[Vec<u8>]) -> usize {
        // A summary covers everything up to its item, so it also ends the reasoning.
        let is_thought = |item: &&Vec<u8>| role(item).as_deref() == Some("thinking");
        let run = items.iter().take_while(is_thought).count();
        let summed = items[..run].iter().position(|item| summary(item).is_some());
        let is_followed = |item: &Vec<u8>| role(item).as_deref() == Some("assistant");
        match summed {
            Some(nth) => nth + 1,
            None if run > 0 && items.get(run).is_some_and(is_followed) => run + 1,
            None => run.max(1),
        }
    }

    fn info(&self, about: &[u8]) -> SessionInfo {
        let filled = |name| text(about, name).filter(|text| !text.is_empty());
        let get = |name| json::member(about, name);
        SessionInfo {
            id: filled("sessionId").map(|id| id.into_owned()),
            title: filled("title").map(|title| title.into_owned()),
            created: self.created.clone(),
            workspace: Workspace::new(get("workspaceDirectory"), None, get("chatModelTitle")),
            lineage: None,
        }
    }

    fn outline(&self, groups: &[Vec<u8>]) -> ContinueOutline {
        let items = groups.iter().flat_map(|group| json::items(group.as_slice()));
        let tools = items.filter(|item| role(item).as_deref() == Some("tool"));
        let ids = tools.filter_map(|item| text(message_of(item), "toolCallId"));
        ContinueOutline {
            answered: ids.map(|id| id.into_owned()).collect(),
        }
    }

    fn decode(&self, outline: &ContinueOutline, _: usize, group: &[u8]) -> Decoded {
        let items = json::items(group);
        if items.first().is_none_or(|item| role(item).is_none()) {
            return Decoded::Unrecognized;
        }
        let messages = decode::messages(&items, &outline.answered).into_iter();
        let messages = messages.map(Into::into);
        match items.iter().rev().find_map(|item| summary(item)) {
            Some(text) => Decoded::Summarized(
                messages.collect(),
                SummaryDraft {
                    text,
                    kept: Some(usize::MAX),
                    members: vec![("by", quoted(Self::NAME))],
                    ..SummaryDraft::default()
                },
            ),
            None => Decoded::Messages(messages.collect()),
        }
    }

    fn fault(&self, group: &[u8]) -> Option<String> {
        let items = json::items(group);
        let messages = items.iter().filter(|item| role(item).is_some());
        let others = ["toolCalls", "toolCallId", "redactedThinking", "signature"];
        messages.map(|item| message_of(item)).find_map(|message| {
            let calls = json::list(message, "toolCalls");
            let is_unrecognized = !calls.iter().all(|call| decode::is_call(call));
            let what = "call whose id, name or arguments are missing or not strings";
            content::fault(message, &others).or_else(|| is_unrecognized.then(|| what.to_string()))
        })
    }

    fn id(&self, group: &[u8]) -> Option<String> {
        let id = text(message_of(json::items(group).last()?), "id")?;
        Some(id.into_owned()).filter(|id| !id.is_empty())
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        encode::group(messages, false, report)
    }
}

pub fn summary(item: &[u8]) -> Option<String> {
    text(item, "conversationSummary").map(|text| text.into_owned())
}
