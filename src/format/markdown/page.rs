//! Writes a session as a page.

use super::prose::{self, ImagePolicy};
use super::{fence, target};
use crate::format::report::Report;
use crate::format::request::media::{Bytes, MediaKind, RequestMedia};
use crate::format::{WritePurpose, page_losses};
use crate::model::display_role::{self, Tools};
use crate::model::json;
use crate::model::message::{Message, MessagePart, Role};
use crate::model::note::{Note, SessionNotes};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::fmt::Write as _;

/// Maximum lines of a result that is not collapsed.
const SHOWN: usize = 30;

/// The page of a session's view.
pub fn of(
    session: &Session,
    view: &View,
    (purpose, images): (WritePurpose, ImagePolicy),
    report: &mut Report,
) -> String {
    let mut page = heading(session, view);
    let mut tools = Tools::default();
    let notes = SessionNotes::of(session);
    let push_notes = |page: &mut String, notes: &[Note]| {
        for note in notes {
            let _ = writeln!(page, "\n**note**\n\n{}", prose::of(&note.text, images).trim_end());
        }
    };
    push_notes(&mut page, &notes.on_session);
    for item in &view.items {
        match (item.summary(session), item.message(session)) {
            (Some(summary), _) => {
                page.push_str("\n## summary\n\n");
                page.push_str(&prose::of(&summary, images));
            }
            (None, Some(next)) => {
                let line = (&next, item.body(session));
                message(line, &tools, images, &mut page);
                tools.note(&next);
            }
            (None, None) => {}
        }
        push_notes(&mut page, notes.on(item.line()));
    }
    page_losses::count(session, view, purpose, report);
    page
}

fn heading(session: &Session, view: &View) -> String {
    let id = session.header_text("id").filter(|id| !id.is_empty());
    let title = session
        .header_text("title")
        .filter(|title| !title.trim().is_empty());
    let named = title.as_deref().or(id.as_deref()).unwrap_or("session");
    let mut page = format!("# {}\n", prose::line(named));
    let messages = view.items.iter().filter(|item| !matches!(item, Item::Summary(_)));
    let count = messages.count();
    let mut facts = vec![format!("{count} message{}", if count == 1 { "" } else { "s" })];
    if title.is_some() {
        facts.extend(id.map(|id| fence::span(&id)));
    }
    facts.extend(session.header_text("key").map(|key| fence::span(&key)));
    facts.extend(session.header_text("created_at").map(|time| prose::line(&time)));
    let continued = session.header_text("continued_from");
    facts.extend(continued.map(|from| format!("continues {}", fence::span(&from))));
    let _ = writeln!(page, "\n{}", facts.join(" · "));
    page
}

fn message((message, body): (&Message<'_>, &[u8]), tools: &Tools, images: ImagePolicy, page: &mut String) {
    let role = message.role_name();
    let mut label = prose::line(&role);
    if let Some(name) = tools.name(message) {
        let _ = write!(label, " {}", fence::span(&name));
    }
    let metadata = |name: &str| message.metadata.and_then(|raw| json::member(raw, name)) == Some(b"true");
    for (name, reported) in [("is_error", "failed"), ("denied", "not allowed")] {
        if metadata(name) {
            let _ = write!(label, " ({reported})");
        }
    }
    let _ = writeln!(page, "\n## {label}\n");
    let mut facts: Vec<String> = Vec::new();
    facts.extend(message.timestamp().map(|time| prose::line(&time)));
    facts.extend(json::member_text(body, "model").map(|model| fence::span(&model)));
    if message.role() == Role::Tool {
        let call = message.tool_call_id().filter(|id| !id.is_empty());
        facts.extend(call.map(|id| format!("of {}", fence::span(&id))));
    }
    if !facts.is_empty() {
        let _ = writeln!(page, "{}\n", facts.join(" · "));
    }
    let mut blocks: Vec<String> = Vec::new();
    for reasoning in display_role::reasoning_texts(message) {
        match reasoning.filter(|text| !text.trim().is_empty()) {
            Some(text) => blocks.push(folded("thinking", &prose::in_fold(&text, images))),
            None => blocks.push("*thinking, encrypted*\n".to_string()),
        }
    }
    for part in message.parts() {
        match part {
            MessagePart::Text(text) if text.is_empty() => {}
            MessagePart::Text(text) if message.role() == Role::Tool => blocks.push(result(&text)),
            MessagePart::Text(text) => blocks.push(prose::of(&text, images)),
            MessagePart::Other(kind, raw) => blocks.push(other(&kind, raw, images)),
        }
    }
    if let Some(refusal) = json::member_text(body, "refusal") {
        blocks.push(format!("refusal:\n\n{}", prose::of(&refusal, images)));
    }
    for call in message.tool_calls() {
        let id = match call.id.is_empty() {
            true => String::new(),
            false => format!(" · {}", fence::span(&call.id)),
        };
        let named = format!("call {}{id}\n", fence::span(&call.name));
        blocks.push(match call.arguments.is_empty() {
            true => named,
            false => format!("{named}\n{}", fence::data(&call.arguments)),
        });
    }
    page.push_str(&blocks.join("\n"));
    // A heading must follow an empty line.
    page.truncate(page.trim_end_matches('\n').len());
    page.push('\n');
}

fn folded(name: &str, block: &str) -> String {
    format!("<details>\n<summary>{name}</summary>\n\n{block}\n</details>\n")
}

fn result(text: &str) -> String {
    let block = fence::data(text);
    match text.lines().count() {
        0..=SHOWN => block,
        lines => folded(&format!("{lines} lines"), &block),
    }
}

/// A part that is not text.
fn other(kind: &str, raw: &[u8], images: ImagePolicy) -> String {
    let Some(media) = RequestMedia::of(raw) else {
        let raw = String::from_utf8_lossy(raw);
        return format!("part {}\n\n{}", fence::span(kind), fence::data(&raw));
    };
    let what = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Audio => "audio",
        MediaKind::File => "file",
    };
    let named = media.name.as_deref().unwrap_or(what);
    match (&media.bytes, media.url()) {
        (Bytes::Kept(id), _) => format!("{what} {}, stored by the provider\n", fence::span(id)),
        (_, Some(url))
            if target::is_embedded_image(&url)
                || images == ImagePolicy::Remote
                    && media.kind == MediaKind::Image
                    && target::is_remote(&url) =>
        {
            format!("![{}](<{}>)\n", prose::line(named), address(&url))
        }
        // Link to a remote image instead of showing it, which would tell its server who reads the page.
        (_, Some(url)) if target::is_safe(&url) || url.starts_with("data:image/") => {
            format!("[{}](<{}>)\n", prose::line(named), address(&url))
        }
        (_, Some(url)) => format!("{what} {}\n", fence::span(&url)),
        (_, None) => format!("{what} {}\n", fence::span(named)),
    }
}

/// An address that cannot close its brackets.
fn address(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        match c {
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            c if c.is_control() || c == ' ' => {
                let _ = write!(out, "%{:02X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
