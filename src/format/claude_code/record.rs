//! Converts lines to records: joins the lines of one message, and splits off tool results as messages.

use super::envelope;
use super::line::{ClaudeLineKind, LineId, LineMembers, LineMessage, NAME, blocks};
use super::log::ClaudeLog;
use crate::format::kit::records::passthrough;
use crate::format::report::Report;
use crate::format::request::Api;
use crate::format::request::draft::AnnotatedDraft;
use crate::format::request::request_part::{RequestPart, WriteSettings};
use crate::format::{WritePurpose, anthropic};
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use crate::model::key::{self, Derive};
use crate::model::{event, summary};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::HashMap;

/// What the sessions of a log are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPurpose {
    /// Writing them in any format: messages have the data to restore their lines.
    Write,
    /// Displaying them: the messages alone, because checking that a line can be restored takes several times its size.
    Display,
}

/// Elements with the output of a program command.
const PRINTED: [&str; 2] = ["<local-command-stdout>", "<local-command-stderr>"];

/// The common part of their names.
const PRINTED_NAME: &[u8] = b"local-command-std";

/// Converts lines to messages.
pub struct ClaudeMessages<'l> {
    log: &'l ClaudeLog,
    purpose: ReadPurpose,
    ids: Derive,
}

pub struct ConvertedMessage {
    pub body: Vec<u8>,
    pub id: String,
    /// The event that hides it, if the program never sends it to a model.
    pub hidden: Option<Vec<u8>>,
}

impl<'l> ClaudeMessages<'l> {
    pub fn new(log: &'l ClaudeLog, purpose: ReadPurpose) -> Self {
        ClaudeMessages {
            log,
            purpose,
            ids: Derive::default(),
        }
    }

    /// The messages of lines that belong together: those of one model message, or one line of the user.
    pub fn of(&mut self, lines: &[usize]) -> Vec<ConvertedMessage> {
        let facts: Vec<LineMembers<'_>> = lines.iter().filter_map(|line| self.log.facts(*line)).collect();
        let Some(first) = facts.first() else {
            return Vec::new();
        };
        let category = category(&facts);
        let mut drafts = drafts(&facts);
        let id = match first.uuid().and_then(json::text) {
            Some(uuid) => uuid.into_owned(),
            None => self.ids.id(self.log.body(lines[0])),
        };
        let name = |nth: usize| match nth {
            0 => id.clone(),
            nth => format!("{id}.{}", nth + 1),
        };
        for (nth, draft) in drafts.iter_mut().enumerate() {
            draft.raw("id", quoted(&name(nth)));
            draft.optional("timestamp", first.timestamp());
            if draft.role() == "user" {
                category.map(|category| draft.raw("category", quoted(category)));
            }
            if nth == 0 {
                let model = facts.iter().find_map(|facts| facts.message.as_ref()?.model);
                model.map(|model| draft.raw("model", model));
                // Input usage is repeated on every line; output usage is complete on the last.
                let usage = facts.iter().rev().find_map(|facts| facts.message.as_ref()?.usage);
                usage.map(|usage| draft.raw("usage", usage));
            } else {
                draft.metadata(NAME, Some(wrapped("part", (nth + 1).to_string())));
            }
        }
        if self.purpose == ReadPurpose::Write {
            let residue = self.residue(lines, &facts, &drafts);
            drafts[0].metadata(NAME, Some(residue));
        }
        // A report of a failed request is never sent to the model.
        let is_hidden = facts.iter().any(|facts| facts.is("isApiErrorMessage"));
        let converted = drafts.into_iter().enumerate().map(|(nth, draft)| {
            let (body, id) = (draft.into_body(Api::Anthropic), name(nth));
            let hidden = is_hidden.then(|| hidden_event(&body, &id, first.timestamp()));
            ConvertedMessage { body, id, hidden }
        });
        converted.collect()
    }

    /// The data to restore the lines of these messages: the lines without their content, or complete ones if the
    /// messages do not yield them.
    fn residue(&self, lines: &[usize], facts: &[LineMembers<'_>], drafts: &[AnnotatedDraft]) -> Vec<u8> {
        let shells: Vec<Vec<u8>> = lines
            .iter()
            .zip(facts)
            .map(|(line, facts)| envelope::of(self.log.body(*line), facts))
            .collect();
        let bodies: Vec<Vec<u8>> = drafts.iter().map(|draft| draft.body(Api::Anthropic)).collect();
        let whole = written(&bodies).and_then(|content| envelope::fill(&shells, content.as_deref()));
        let same = whole.is_some_and(|whole| {
            whole
                .iter()
                .zip(lines)
                .all(|(built, line)| json::same(built, self.log.body(*line)))
        });
        // Lines with attachments are stored completely, because their content is elsewhere.
        let same = same && facts.iter().all(|facts| facts.attachment.is_none());
        let mut own = ObjectBuilder::default();
        match same {
            true => own.raw("lines", array(&shells)),
            // Store lines that cannot be restored from the message.
            false => own.raw("raw", array(lines.iter().map(|line| self.log.body(*line)))),
        };
        if drafts.len() > 1 {
            own.raw("parts", drafts.len().to_string());
        }
        own.finish()
    }
}

/// The messages of lines without ids, times and annotations.
pub fn drafts(facts: &[LineMembers<'_>]) -> Vec<AnnotatedDraft> {
    let Some(message) = facts.first().and_then(|facts| facts.message.as_ref()) else {
        return Vec::new();
    };
    let contents: Vec<&[u8]> = facts
        .iter()
        .filter_map(|facts| facts.message.as_ref()?.content)
        .collect();
    let heading = facts[0]
        .attachment
        .as_ref()
        .and_then(|attachment| attachment.heading.as_ref());
    let content = match (heading, contents.as_slice()) {
        (Some(heading), [content, ..]) if content.starts_with(b"\"") => {
            let text = json::text(content).unwrap_or_default();
            Some(Cow::Owned(quoted(&format!("{heading}{text}"))))
        }
        (_, []) => None,
        (_, [content]) => Some(Cow::Borrowed(*content)),
        (_, contents) => Some(Cow::Owned(joined(contents.iter().copied()))),
    };
    let mut drafts = anthropic::message(&message.role, content.as_deref());
    if drafts.is_empty() {
        drafts.push(AnnotatedDraft::new(&message.role));
    }
    drafts
}

/// The content of lines for these messages; `None` if they cannot be encoded.
pub fn written<B: AsRef<[u8]>>(bodies: &[B]) -> Option<Option<Vec<u8>>> {
    let mut report = Report::default();
    let contents: Vec<Vec<u8>> = bodies
        .iter()
        .filter_map(|body| content(body.as_ref(), true, &mut report))
        .collect();
    match contents.as_slice() {
        [] => Some(None),
        [content] => Some(Some(content.clone())),
        contents => {
            let has_blocks = contents.iter().all(|content| content.starts_with(b"["));
            has_blocks.then(|| Some(joined(contents.iter().map(Vec::as_slice))))
        }
    }
}

/// The blocks of several contents.
fn joined<'c>(contents: impl Iterator<Item = &'c [u8]>) -> Vec<u8> {
    array(contents.flat_map(blocks))
}

/// The content of a message, as blocks or a string. Reports losses. A message that was read from a log (`own`) keeps
/// blocks of unknown types.
pub fn content(body: &[u8], own: bool, report: &mut Report) -> Option<Vec<u8>> {
    let mut writing = WriteSettings {
        api: Api::Anthropic,
        purpose: WritePurpose::Return,
        own,
        keeps_thoughts: false,
        calls: &HashMap::new(),
        report,
    };
    let pieces = [RequestPart::Message(0, body)];
    let request = anthropic::write(&pieces, &mut writing);
    writing.report_dropped(&pieces, &request);
    match (request.elements.first(), request.system) {
        (Some(element), _) => json::member(&element.raw, "content").map(<[u8]>::to_vec),
        (None, system) => system,
    }
}

/// The category of a user message, unless it is the default.
fn category(facts: &[LineMembers<'_>]) -> Option<&'static str> {
    let first = facts.first()?;
    if first.kind == ClaudeLineKind::Assistant {
        return None;
    }
    let queued = first.attachment.as_ref();
    if first.is("isMeta") || queued.is_some_and(|attachment| !attachment.is_typed) {
        return Some("context");
    }
    let message = first.message.as_ref()?;
    let content = message.content?;
    // Most texts are not decoded. A character may be escaped as \u followed by digits.
    if memmem::find(content, PRINTED_NAME).is_none() && memmem::find(content, b"\\u").is_none() {
        return None;
    }
    let text = text_of(message);
    let printed = PRINTED.iter().any(|mark| text.trim_start().starts_with(mark));
    printed.then_some("system_output")
}

/// The text of a message: its string, or that of its blocks.
fn text_of(message: &LineMessage<'_>) -> String {
    let blocks = message.content.map(blocks).unwrap_or_default();
    let texts = blocks
        .iter()
        .filter_map(|block| json::member_string(block, "text"));
    texts.collect::<Vec<_>>().join("\n")
}

/// An event whose id is derived from its purpose and a line, with the members that `write` adds, and with annotations,
/// which mark it as part of the log.
fn log_event(
    [kind, purpose]: [&str; 2],
    body: &[u8],
    timestamp: Option<&[u8]>,
    write: impl FnOnce(&mut ObjectBuilder) -> ObjectBuilder,
) -> Vec<u8> {
    let id = key::id_from("evt_", [purpose.as_bytes(), b"\n", body].concat());
    let mut event = event::begin(kind, &id);
    event.optional("at", timestamp);
    let annotations = write(&mut event);
    event.raw("metadata", wrapped(NAME, annotations.finish()));
    event.finish()
}

/// The first and last message that an event covers: their ids, and how often each occurred before.
pub type Covered = [(String, u64); 2];

/// The event for the summary of a compaction.
pub fn summary_event(
    body: &[u8],
    facts: &LineMembers<'_>,
    boundary: Option<&LineMembers<'_>>,
    covers: Option<&Covered>,
) -> Vec<u8> {
    let Some(message) = &facts.message else {
        return passthrough(NAME, body.trim_ascii());
    };
    let text = text_of(message);
    let unquoted = summary::unquoted(&text);
    log_event(["summary", "summary"], body, facts.timestamp(), |event| {
        event.text("content", unquoted.as_deref().unwrap_or(&text));
        match covers {
            Some([first, last]) => {
                event.raw("covers", array([quoted(&first.0), quoted(&last.0)]));
                if first.1 > 1 || last.1 > 1 {
                    event.raw("nth", format!("[{},{}]", first.1, last.1));
                }
            }
            None => drop(event.raw("here", "true")),
        }
        event.text("by", NAME);
        let mut own = ObjectBuilder::default();
        match message.is_string() {
            true => own.raw("lines", array([envelope::of(body, facts)])),
            false => own.raw("raw", array([body])),
        };
        own.optional("quoted", unquoted.is_some().then_some("true"));
        own.optional(
            "compactMetadata",
            boundary.and_then(|boundary| boundary.get("compactMetadata")),
        );
        own
    })
}

/// The event for a compaction without a summary, which hides all earlier messages.
pub fn cut_event(body: &[u8], facts: &LineMembers<'_>) -> Vec<u8> {
    log_event(["truncate", "truncate"], body, facts.timestamp(), |event| {
        event.raw("before", "null");
        ObjectBuilder::default()
    })
}

/// The event that removes the summary before a compaction without one.
pub fn summary_removal(body: &[u8], facts: &LineMembers<'_>) -> Vec<u8> {
    log_event(["compact", "removal"], body, facts.timestamp(), |event| {
        let event = event.text("strategy", NAME).raw("drop", "[]");
        event.raw("summary", "null");
        ObjectBuilder::default()
    })
}

/// The event that hides a message that the program never sends.
fn hidden_event(body: &[u8], id: &str, timestamp: Option<&[u8]>) -> Vec<u8> {
    log_event(["compact", "hidden"], body, timestamp, |event| {
        event.text("strategy", NAME).raw("drop", array([quoted(id)]));
        ObjectBuilder::default()
    })
}

/// The lines of each model message: all of them for its first line, none for the others.
pub fn message_lines(log: &ClaudeLog, lines: &[usize]) -> HashMap<usize, Vec<usize>> {
    let mut first: HashMap<LineId, usize> = HashMap::new();
    let mut pieces: HashMap<usize, Vec<usize>> = HashMap::new();
    for &line in lines {
        let Some(references) = &log.lines[line].references else {
            continue;
        };
        let lead = match references.message {
            Some(id) => *first.entry(id).or_insert(line),
            None => line,
        };
        pieces.entry(lead).or_default().push(line);
    }
    pieces
}
