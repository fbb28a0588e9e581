//! Implements the kit's codec for the records of a chat.

use super::encode::{self, NAME};
use super::line::LogOperation;
use super::repeats::repeats;
use super::{decode, replay};
use crate::error::Position;
use crate::format::kit::{Codec, Decoded, DocumentLayout, Draft, Parsed, SessionInfo, Visible};
use crate::format::object::timestamp;
use crate::format::report::Report;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::WorkspaceMember;
use crate::format::{Format, content};
use crate::model::json::{self, Dialect};
use crate::model::time;
use std::collections::HashMap;

pub struct GeminiCli;

impl Codec for GeminiCli {
    const FORMAT: Format = Format::GeminiCli;
    const NAME: &'static str = NAME;
    const PHRASE: &'static str = "a Gemini CLI log";
    const LAYOUT: DocumentLayout = DocumentLayout::Lines;
    const RESULTS_FOLLOW_CALLS: bool = true;
    const COPIES_LAYOUT: bool = true;
    const QUOTES_SUMMARIES: bool = true;
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Directory];
    type ElementOutline = HashMap<usize, Vec<usize>>;

    fn replay(&self, bytes: &[u8], start: Position) -> Option<Parsed> {
        Some(replay::replay(bytes, start))
    }

    fn begins(&self, line: &[u8]) -> bool {
        // Fast test that excludes most lines.
        let has_word = memchr::memmem::find(line, b"\"projectHash\"").is_some();
        has_word && LogOperation::of(line.trim_ascii()) == LogOperation::Session
    }

    fn info(&self, about: &[u8]) -> SessionInfo {
        let text = |name| {
            let text = json::member_text(about, name);
            text.filter(|text| !text.is_empty()).map(|text| text.into_owned())
        };
        SessionInfo {
            id: text("sessionId"),
            title: text("summary"),
            created: text("startTime").filter(|time| time::is_rfc3339(time)),
            ..SessionInfo::default()
        }
    }

    fn outline(&self, records: &[Vec<u8>]) -> HashMap<usize, Vec<usize>> {
        repeats(records)
    }

    fn decode(&self, repeats: &HashMap<usize, Vec<usize>>, nth: usize, record: &[u8]) -> Decoded {
        if !record.starts_with(b"{") {
            return Decoded::Unrecognized;
        }
        if repeats.contains_key(&nth) {
            return Decoded::Passthrough;
        }
        let Some(messages) = decode::messages(record) else {
            return Decoded::Passthrough;
        };
        let visible = match is_hidden(record) {
            true => Visible::Hidden,
            false => Visible::Whole,
        };
        let messages = messages.into_iter().map(|message| Draft {
            message,
            visible: visible.clone(),
        });
        Decoded::Messages(messages.collect())
    }

    fn fault(&self, record: &[u8]) -> Option<String> {
        let kind = json::member_text(record, "type");
        match kind.as_deref() {
            Some("user" | "gemini") => content::fault(record, &["toolCalls", "thoughts"]),
            Some("info" | "error" | "warning") => None,
            Some(kind) => Some(format!("unknown record type '{kind}'")),
            None => record
                .starts_with(b"{")
                .then(|| "record without type".to_string()),
        }
    }

    fn id(&self, record: &[u8]) -> Option<String> {
        let id = json::member_text(record, "id");
        id.filter(|id| !id.is_empty()).map(|id| id.into_owned())
    }

    fn time(&self, record: &[u8]) -> Option<String> {
        timestamp(record)
            .and_then(json::text)
            .map(|time| time.into_owned())
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        encode::record(messages, None, report)
    }
}

/// Whether Gemini CLI does not resend this user message when it resumes: commands, and context that it generates again.
pub(super) fn is_hidden(record: &[u8]) -> bool {
    if json::member(record, "type") != Some(b"\"user\"") {
        return false;
    }
    let content = json::member(record, "content").unwrap_or_default();
    let parts = json::elements(content, Dialect::Strict).unwrap_or_else(|| vec![content]);
    let text = parts
        .first()
        .and_then(|part| json::text(json::member(part, "text").unwrap_or(part)));
    let marks = ["/", "?", "<session_context>", "<hook_context>"];
    text.is_some_and(|text| marks.iter().any(|mark| text.trim_start().starts_with(mark)))
}
