//! Converts items of a view to entries.

use super::new_entries::EntryChain;
use super::{NAME, encode};
use crate::format::kit::residue;
use crate::format::report::{Loss, Report};
use crate::format::request::draft;
use crate::format::request::request_part::{AnnotatedMessage, extra_members};
use crate::format::request::token_figures::Figures;
use crate::model::json::{self, ObjectBuilder, array, wrapped};
use crate::model::message::{Category, Message, Role};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::model::{summary, time};
use std::collections::HashMap;

/// Tool names by call id, each with the line of its call; some programs use an id for several calls.
pub type ToolNames = HashMap<String, Vec<(Option<usize>, String)>>;

/// The tool names of all calls in the view.
pub fn names(session: &Session, view: &View) -> ToolNames {
    let mut names = ToolNames::new();
    for item in &view.items {
        for call in item.message(session).iter().flat_map(Message::tool_calls) {
            let named = (item.line(), call.name.into_owned());
            names.entry(call.id.into_owned()).or_default().push(named);
        }
    }
    names
}

/// The name of the tool whose result a message is: that of the last call before it.
fn tool_name<'n>(message: &Message<'_>, line: Option<usize>, names: &'n ToolNames) -> Option<&'n str> {
    let mut calls = names.get(message.tool_call_id()?.as_ref())?.iter().rev();
    let newest = calls.clone().next();
    let called = calls.find(|(call, _)| line.is_none() || *call < line).or(newest);
    called.map(|(_, name)| name.as_str())
}

/// Appends an item of a view, with this id or a new one. Restores the entry if the item was read from one.
pub fn add(
    chain: &mut EntryChain,
    item: &Item,
    session: &Session,
    time: &[u8],
    id: Option<String>,
    names: &ToolNames,
    report: &mut Report,
) {
    let body = item.body(session);
    let mut members = ObjectBuilder::default();
    if let Some(text) = item.summary(session) {
        report.count_loss(Loss::Summary, 1);
        members
            .text("customType", "summary")
            .text("content", &summary::quoted(&text))
            .raw("display", "true");
        return chain.add("custom_message", time, &members.finish(), id);
    }
    let Some(message) = item.message(session) else {
        return;
    };
    let time = message.timestamp.unwrap_or(time);
    let annotated = AnnotatedMessage::of(0, body, message, NAME);
    let is_own = ["residue", "raw"]
        .iter()
        .any(|name| annotated.noted(name).is_some());
    let Some(note) = annotated.note.filter(|_| is_own) else {
        let tool = tool_name(&annotated.message, item.line(), names);
        return append_message(&annotated, time, id, tool, chain, report);
    };
    if let Some(entry) = residue::noted(note, || Some(encode::entry(&annotated, report))) {
        let kind = json::member_text(&entry, "type").unwrap_or_default();
        chain.add(&kind, time, &entry, id);
    }
}

/// Appends a message from another format.
fn append_message(
    annotated: &AnnotatedMessage<'_>,
    clock: &[u8],
    id: Option<String>,
    tool: Option<&str>,
    chain: &mut EntryChain,
    report: &mut Report,
) {
    let message = &annotated.message;
    let reported = match (message.role(), message.category()) {
        (Role::System | Role::Developer | Role::Other, _) => Some(message.role_name().into_owned()),
        (Role::User, Category::Context | Category::SystemOutput | Category::System) => {
            Some(message.category().name().to_string())
        }
        _ => None,
    };
    if let Some(kind) = reported {
        // Such roles do not exist in this format, and of categories only that of extension messages.
        if kind != Category::Context.name() {
            report.count_loss(Loss::Category, 1);
        }
        let mut custom = ObjectBuilder::default();
        custom
            .text("customType", &kind)
            .raw("content", encode::content(message, report))
            .raw("display", "true");
        return chain.add("custom_message", clock, &custom.finish(), id);
    }
    let encoded = encode::message(annotated, false, report);
    let milliseconds = json::text(clock)
        .and_then(|time| time::milliseconds(&time))
        .unwrap_or(0);
    let mut members = ObjectBuilder::default();
    for (name, value) in extra_members(&encoded, &["usage"]) {
        // The content of a result is a list of blocks.
        let is_text = message.role() == Role::Tool && name == "content" && value.starts_with(b"\"");
        match is_text {
            true => members.raw(&name, array([draft::text_part(value)])),
            false => members.raw(&name, value),
        };
    }
    match message.role() {
        Role::Assistant => {
            let calls = message.calls_tools();
            members.text("api", "unknown").text("provider", "unknown");
            if json::member(&encoded, "model").is_none() {
                members.text("model", "unknown");
            }
            members
                .raw("usage", usage(json::member(annotated.body, "usage"), report))
                .text("stopReason", if calls { "toolUse" } else { "stop" });
        }
        Role::Tool => {
            if message.name.is_none() {
                members.text("toolName", tool.unwrap_or("unknown"));
            }
            let failed = message.metadata.and_then(|raw| json::member(raw, "is_error")) == Some(b"true");
            members.raw("isError", failed.to_string());
        }
        _ => {}
    }
    members.raw("timestamp", milliseconds.to_string());
    chain.add("message", clock, &wrapped("message", members.finish()), id);
}

/// Converts usage in the form of Anthropic or OpenAI to that of this format.
fn usage(reported: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
    let used = reported.and_then(Figures::of);
    report.count_loss(Loss::Usage, u64::from(reported.is_some() && used.is_none()));
    let used = used.unwrap_or_default();
    let mut cost = ObjectBuilder::default();
    for name in ["input", "output", "cacheRead", "cacheWrite", "total"] {
        cost.raw(name, "0");
    }
    let mut usage = ObjectBuilder::default();
    let figures = [
        ("input", used.input),
        ("output", used.output),
        ("cacheRead", used.read),
        ("cacheWrite", used.written),
    ];
    for (name, figure) in figures {
        usage.raw(name, figure.to_string());
    }
    let total: u64 = figures.iter().map(|(_, figure)| figure).sum();
    usage
        .raw("totalTokens", total.to_string())
        .raw("cost", cost.finish());
    usage.finish()
}
