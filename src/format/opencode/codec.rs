//! Implements the kit's codec for opencode sessions.

use super::compaction::{self, CompactionRole};
use super::element::{OpencodeMessage, rfc3339};
use super::{decode, encode, new_messages};
use crate::format::kit::{Codec, Decoded, LineageInfo, SessionInfo, SummaryDraft};
use crate::format::report::Report;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{Format, content};
use crate::model::json::{self, quoted};

pub struct Opencode;

impl Codec for Opencode {
    const FORMAT: Format = Format::Opencode;
    const NAME: &'static str = "opencode";
    const PHRASE: &'static str = "an opencode session";
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Directory, WorkspaceMember::Model];
    type ElementOutline = Vec<CompactionRole>;

    fn info(&self, about: &[u8]) -> SessionInfo {
        let info = json::member(about, "info")
            .filter(|raw| raw.starts_with(b"{"))
            .unwrap_or(b"{}");
        let text = |name: &str| {
            let text = json::member_text(info, name).filter(|text| !text.is_empty());
            text.map(|text| text.into_owned())
        };
        SessionInfo {
            id: text("id"),
            title: text("title"),
            created: new_messages::created_at(info).and_then(rfc3339),
            workspace: Workspace::new(json::member(info, "directory"), None, None),
            lineage: text("parentID").map(|parent| LineageInfo {
                kind: "child",
                parent,
                at: None,
            }),
        }
    }

    fn outline(&self, elements: &[Vec<u8>]) -> Vec<CompactionRole> {
        let elements: Vec<_> = elements.iter().map(|raw| OpencodeMessage::of(raw)).collect();
        compaction::parts(&elements)
    }

    fn decode(&self, outline: &Vec<CompactionRole>, nth: usize, raw: &[u8]) -> Decoded {
        let Some(element) = OpencodeMessage::of(raw) else {
            return Decoded::Unrecognized;
        };
        match outline[nth] {
            CompactionRole::Message => Decoded::Messages(decode::messages(&element)),
            CompactionRole::Passthrough => Decoded::Passthrough,
            CompactionRole::Summary(kept) => {
                let mut members = vec![("by", quoted(Self::NAME))];
                let used = element.parts.iter().find_map(|part| decode::tokens(part));
                let used = used.or(json::member(element.info, "tokens"));
                members.extend(used.map(|used| ("usage", used.to_vec())));
                Decoded::Summary(SummaryDraft {
                    text: element.full_text(),
                    kept: Some(kept),
                    members,
                    ..SummaryDraft::default()
                })
            }
        }
    }

    fn fault(&self, raw: &[u8]) -> Option<String> {
        OpencodeMessage::of(raw)?;
        content::unknown_parts(json::member(raw, "parts")?)
    }

    fn id(&self, raw: &[u8]) -> Option<String> {
        OpencodeMessage::of(raw)?.text("id").map(|id| id.into_owned())
    }

    fn time(&self, raw: &[u8]) -> Option<String> {
        OpencodeMessage::of(raw)?.created().and_then(rfc3339)
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        encode::element(messages, report)
    }
}
