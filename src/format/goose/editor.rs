//! Writes goose sessions with the kit. Nothing is removed: hidden messages are marked, and changed ones are marked and
//! followed by a new message.

use super::codec::Goose;
use super::element::{self, GooseMessage, visibility};
use super::encode::created;
use crate::error::Position;
use crate::format::kit::{
    Codec, DocumentLayout, Editor, ElementChange, ElementEdit, ElementEdits, NextElement, SourceElements,
    Writer, losses,
};
use crate::format::report::{Loss, Report};
use crate::format::request::draft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::Workspace;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use crate::model::message::{Category, Role};
use crate::model::session::Session;
use crate::model::view::View;
use crate::model::{event, summary};

impl Editor for Goose {
    /// The time of the latest message.
    type EditContext = i64;

    fn context(&self, _: Option<&[u8]>, source: &SourceElements) -> i64 {
        let created = |raw: &Vec<u8>| json::number(json::member(raw, "created")?);
        source.raws.iter().filter_map(created).max().unwrap_or(0)
    }

    fn edit(&self, edits: &ElementEdits<'_, Self>, writer: &mut Writer<'_, Self>) -> Vec<ElementEdit> {
        let raw = |nth: usize| &edits.source.raws[nth];
        let summary = edits.source.summaries.first().filter(|_| !edits.keeps_summary());
        let mut out = Vec::new();
        for next in edits.order() {
            match next {
                NextElement::Element(nth) => {
                    let sent = match edits.changes[nth] {
                        _ if summary.is_some_and(|(summary, _)| *summary == nth) => Some(false),
                        ElementChange::None => None,
                        ElementChange::Removed | ElementChange::Edited => Some(false),
                        ElementChange::Restored => Some(true),
                    };
                    out.push(match sent {
                        Some(sent) => ElementEdit::Replace(nth, element::sent(raw(nth), sent)),
                        None => ElementEdit::Keep(nth),
                    });
                }
                NextElement::Edited(nth, items) => {
                    out.push(ElementEdit::Replace(nth, element::sent(raw(nth), false)));
                    let edited = edits.edited(nth, &items, writer);
                    out.extend(
                        edited
                            .and_then(|edited| instead(&edited, raw(nth)))
                            .map(ElementEdit::Insert),
                    );
                }
                NextElement::Items(items) => out.extend(edits.insertions(&items, writer)),
            }
        }
        out
    }

    fn has_role(&self, role: Role) -> bool {
        matches!(role, Role::User | Role::Assistant | Role::Tool)
    }

    fn joins(&self, before: Role, role: Role) -> bool {
        before == Role::Tool && role == Role::Tool
    }

    fn new_element(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Option<Vec<u8>> {
        let times = messages.iter().map(|annotated| created(&annotated.message));
        *out.context = times.fold(*out.context, i64::max);
        self.encode(messages, out.report)
    }

    fn new_summary(&self, text: &str, _: &[u8], _: &[Vec<u8>], now: &mut i64) -> Option<Vec<Vec<u8>>> {
        let text = draft::text_part(&quoted(&summary::quoted(text)));
        let mut message = ObjectBuilder::default();
        message
            .raw("id", "null")
            .text("role", "user")
            .raw("created", now.to_string())
            .raw("content", array([text]))
            .raw("metadata", visibility(false, true));
        Some(vec![message.finish()])
    }

    fn new_about(&self, session: &Session, view: &View, _: &i64, layout: DocumentLayout) -> ObjectBuilder {
        let workspace = Workspace::of(session);
        let title = session.header_text("title").unwrap_or_default();
        let mut about = ObjectBuilder::default();
        if layout == DocumentLayout::Lines {
            about
                .raw("working_dir", workspace.directory())
                .text("description", &title)
                .raw("message_count", "0");
            for name in ["total_tokens", "input_tokens", "output_tokens"] {
                about.raw(name, "null");
            }
            return about;
        }
        let begun = view.start_time(session).unwrap_or_else(|| quoted(event::EPOCH));
        let newest = session.newest_time().map(|time| quoted(&time));
        about
            .text(
                "id",
                &session.header_text("id").unwrap_or_else(|| "session".to_string()),
            )
            .raw("working_dir", workspace.directory())
            .text("name", &title)
            .raw("user_set_name", if title.is_empty() { "false" } else { "true" })
            .text("session_type", "user")
            .raw("created_at", &begun)
            .raw("updated_at", newest.as_deref().unwrap_or(&begun))
            .raw("extension_data", "{}");
        if let Some(model) = workspace.last_model(session, view) {
            about.raw("model_config", model_config(&model));
        }
        about
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, joined: bool, report: &mut Report) {
        let message = &annotated.message;
        let mut lost = vec![Loss::Usage, Loss::Model, Loss::Name];
        lost.extend(joined.then_some(Loss::Id));
        let is_part = |time: &str| time.contains('.') || !time.ends_with('Z');
        let time = message.timestamp().filter(|time| is_part(time) || joined);
        lost.extend(time.map(|_| Loss::Timestamp));
        losses::of(annotated, &lost, &["is_error", "visibility"], report);
        let is_named = message.name.is_some() && message.role() == Role::Tool;
        report.count_loss(Loss::Name, u64::from(is_named));
        let has_place = match message.role() {
            Role::User | Role::Assistant => {
                matches!(message.category(), Category::Dialog | Category::Context)
            }
            role => message.category() == role.category(),
        };
        report.count_loss(Loss::Category, u64::from(!has_place));
    }

    fn check_lines(&self, lines: &[Vec<u8>], report: &mut Report) {
        let long = lines.iter().filter(|line| line.len() > LONGEST).count();
        let mut note = |what: String| report.note(Position::default(), what);
        if long > 0 {
            note(format!("{long} lines are longer than 5 MiB, which goose skips"));
        }
        if lines.len() > MAXIMUM + 1 {
            note("more than 10,000 messages, which is all that goose reads".to_string());
        }
        if lines.iter().map(|line| line.len() + 1).sum::<usize>() > LARGEST {
            note("more than 50 MiB, which goose does not read".to_string());
        }
    }
}

/// Limits of goose's line reader. Source: goose, session/legacy.rs.
const LONGEST: usize = 5 * 1024 * 1024;
const MAXIMUM: usize = 10_000;
const LARGEST: usize = 50 * 1024 * 1024;

/// The replacement of an edited message. It has no id and is not shown to the user, who sees the original.
fn instead(edited: &[u8], source: &[u8]) -> Option<Vec<u8>> {
    // If only a notice remains, the model receives nothing.
    GooseMessage::of(edited).filter(|element| !element.is_notice())?;
    let created = json::member(source, "created").unwrap_or(b"0");
    let changes: [(&str, Option<&[u8]>); 3] = [
        ("id", Some(b"null")),
        ("created", Some(created)),
        ("metadata", Some(&visibility(false, true))),
    ];
    json::with_members(edited, &changes).ok()
}

/// The model settings that goose requires. Source: goose, ModelConfig.
fn model_config(model: &[u8]) -> Vec<u8> {
    let mut config = ObjectBuilder::default();
    config.raw("model_name", model);
    for name in ["context_limit", "temperature", "max_tokens"] {
        config.raw(name, "null");
    }
    config.raw("toolshim", "false").raw("toolshim_model", "null");
    config.finish()
}
