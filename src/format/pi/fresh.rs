//! A session that came from elsewhere as a file of the third version: one chain of entries, their ids made of what they
//! hold.

use super::made::{Chain, EPOCH};
use super::spell;
use crate::error::Result;
use crate::format::report::{Loss, Report};
use crate::format::request::piece::{array, rest};
use crate::format::{Purpose, written};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::{Category, Message, Role};
use crate::model::session::{Class, Session};
use crate::model::time;
use crate::model::view::{Item, View};
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// Writes the view of a session.
pub fn write(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let header = session.header();
    let find = |name: &str| {
        header
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, raw)| raw.clone())
    };
    let said = || {
        view.messages(session)
            .find_map(|message| message.timestamp.map(<[u8]>::to_vec))
    };
    let begun = find("created_at").or_else(said).unwrap_or_else(|| EPOCH.to_vec());
    let cwd = find("metadata").and_then(|raw| json::member(&raw, "cwd").map(<[u8]>::to_vec));
    let mut first = ObjectBuilder::default();
    first
        .text("type", "session")
        .raw("version", "3")
        .text(
            "id",
            &session.header_text("id").unwrap_or_else(|| "session".to_string()),
        )
        .raw("timestamp", &begun)
        .raw("cwd", cwd.unwrap_or_else(|| b"\"/\"".to_vec()));
    let mut chain = Chain::new(true, HashSet::new(), None);
    chain.lines.push(first.finish());
    if let Some(title) = session.header_text("title") {
        let mut info = ObjectBuilder::default();
        info.text("name", &title);
        chain.add("session_info", &begun, &info.finish(), None);
    }
    if purpose == Purpose::Export {
        tell_lines(session, report);
    }
    let mut clock = begun;
    let mut names = HashMap::new();
    // What stands before a summary is kept by it.
    let mut kept = None;
    for item in &view.items {
        if let Some(message) = item.message(session) {
            for call in message.tool_calls() {
                names.insert(call.id.into_owned(), call.name.into_owned());
            }
            clock = message.timestamp.map_or(clock, <[u8]>::to_vec);
            if purpose == Purpose::Export {
                tell(&message, report);
            }
            entry(&message, item, session, &clock, &names, &mut chain, report);
            kept = kept.or(chain.last.clone());
        } else if let Some(text) = item.summary(session) {
            let own = chain.next_id(text.as_bytes());
            let mut compaction = ObjectBuilder::default();
            compaction
                .text("summary", &text)
                .text("firstKeptEntryId", kept.as_deref().unwrap_or(&own))
                .raw("tokensBefore", "0");
            chain.add("compaction", &clock, &compaction.finish(), Some(own));
        }
    }
    for line in &chain.lines {
        written(out.write_all(line))?;
        written(out.write_all(b"\n"))?;
    }
    Ok(())
}

/// Adds a message as an entry.
fn entry(
    message: &Message<'_>,
    item: &Item,
    session: &Session,
    clock: &[u8],
    names: &HashMap<String, String>,
    chain: &mut Chain,
    report: &mut Report,
) {
    let body = item.body(session);
    let told = match (message.role(), message.category()) {
        (Role::System | Role::Developer | Role::Other, _) => Some(message.role_name().into_owned()),
        (Role::User, Category::Context | Category::SystemOutput | Category::System) => {
            Some(message.category().name().to_string())
        }
        _ => None,
    };
    if let Some(kind) = told {
        // There is no such role, and no such category but that of what an extension says.
        if kind != Category::Context.name() {
            report.lose(Loss::Category, 1);
        }
        let mut custom = ObjectBuilder::default();
        custom
            .text("customType", &kind)
            .raw("content", spell::content(message, report))
            .raw("display", "true");
        return chain.add("custom_message", clock, &custom.finish(), None);
    }
    let plain = without_notes(body);
    let Some(made) = spell::message(&plain, report) else {
        return;
    };
    let milliseconds = json::text(clock)
        .and_then(|time| time::milliseconds(&time))
        .unwrap_or(0);
    let mut members = ObjectBuilder::default();
    for (name, value) in rest(&made, &["usage"]) {
        members.raw(&name, value);
    }
    match message.role() {
        Role::Assistant => {
            let calls = message.calls_tools();
            members.text("api", "unknown").text("provider", "unknown");
            if json::member(&made, "model").is_none() {
                members.text("model", "unknown");
            }
            members
                .raw("usage", usage(json::member(body, "usage"), report))
                .text("stopReason", if calls { "toolUse" } else { "stop" });
        }
        Role::Tool => {
            let id = message.tool_call_id().unwrap_or_default();
            if message.name.is_none() {
                members.text(
                    "toolName",
                    names.get(id.as_ref()).map_or("unknown", String::as_str),
                );
            }
            let text = json::member(&made, "content").filter(|raw| raw.starts_with(b"\""));
            if let Some(text) = text {
                let parts = array([crate::format::request::draft::text_part(text)]);
                let made = json::with_members(&members.finish(), &[("content", Some(&parts))]);
                members = object(&made.unwrap_or_default());
            }
            let failed = message.metadata.and_then(|raw| json::member(raw, "is_error")) == Some(b"true");
            members.raw("isError", if failed { "true" } else { "false" });
        }
        _ => {}
    }
    members.raw("timestamp", milliseconds.to_string());
    let mut wrapped = ObjectBuilder::default();
    wrapped.raw("message", members.finish());
    chain.add("message", clock, &wrapped.finish(), None);
}

/// A message without what other formats have noted on it.
fn without_notes(body: &[u8]) -> Vec<u8> {
    json::with_members(body, &[("metadata", None)]).unwrap_or_else(|_| body.to_vec())
}

fn object(raw: &[u8]) -> ObjectBuilder {
    let mut built = ObjectBuilder::default();
    for (name, value) in rest(raw, &[]) {
        built.raw(&name, value);
    }
    built
}

/// What was used in the words of this format, as far as it is told in those of Anthropic or OpenAI.
fn usage(told: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
    let told_at = told.unwrap_or(b"{}");
    let number = |names: &[&str]| -> Option<u64> {
        let mut values = names.iter().filter_map(|name| json::member(told_at, name));
        values.find_map(|raw| std::str::from_utf8(raw).ok()?.parse().ok())
    };
    let input = number(&["input_tokens", "prompt_tokens", "promptTokenCount", "input"]);
    let output = number(&[
        "output_tokens",
        "completion_tokens",
        "candidatesTokenCount",
        "output",
    ])
    .unwrap_or(0);
    let read = number(&["cache_read_input_tokens", "cacheRead"]);
    let within = number(&["cached_input_tokens", "cachedContentTokenCount"]);
    let written = number(&["cache_creation_input_tokens", "cacheWrite"]).unwrap_or(0);
    report.lose(Loss::Usage, u64::from(told.is_some() && input.is_none()));
    // What is cached counts beside the input here.
    let input = input.unwrap_or(0).saturating_sub(within.unwrap_or(0));
    let read = read.or(within).unwrap_or(0);
    let mut cost = ObjectBuilder::default();
    for name in ["input", "output", "cacheRead", "cacheWrite", "total"] {
        cost.raw(name, "0");
    }
    let mut usage = ObjectBuilder::default();
    let figures = [
        ("input", input),
        ("output", output),
        ("cacheRead", read),
        ("cacheWrite", written),
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

/// Counts what a message has that its entry has no place for.
fn tell(message: &Message<'_>, report: &mut Report) {
    report.lose(Loss::Id, u64::from(message.id().is_some()));
    let named = message.name.is_some() && message.role() != Role::Tool;
    report.lose(Loss::Name, u64::from(named));
    let free = message
        .metadata
        .is_some_and(|raw| rest(raw, &["is_error"]).next().is_some());
    report.lose(Loss::Metadata, u64::from(free));
}

/// Counts the lines that a file has no place for.
fn tell_lines(session: &Session, report: &mut Report) {
    let kept = ["type", "version", "id", "created_at", "title", "source"];
    for index in 0..session.len() {
        match session.class(index) {
            Class::Header => {
                let other = rest(session.record(index).body, &kept).any(|(name, raw)| match name.as_ref() {
                    "metadata" => rest(raw, &["cwd"]).next().is_some(),
                    _ => true,
                });
                report.lose(Loss::Header, u64::from(other));
            }
            Class::Event => report.lose(Loss::Event, 1),
            Class::Unreadable => report.lose(Loss::Unreadable, 1),
            Class::Message(_) | Class::Blank => {}
        }
    }
}
