//! Converts items of a view to entries.

use super::encode;
use super::entry::NAME;
use super::new_entries::EntryChain;
use crate::format::kit::residue;
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::{AnnotatedMessage, add_extra_members};
use crate::format::request::token_figures::Figures;
use crate::model::json::{self, ObjectBuilder, object, quoted, wrapped};
use crate::model::message::{Category, Message, Role};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::model::{summary, time};
use std::collections::HashMap;

/// Appends entries for the items of a view to a chain.
pub struct ItemWriter<'s> {
    pub session: &'s Session,
    pub chain: &'s mut EntryChain,
    pub report: &'s mut Report,
    /// Tool names by call id, each with the line of its call; some programs use an id for several calls.
    names: HashMap<String, Vec<(Option<usize>, String)>>,
}

impl<'s> ItemWriter<'s> {
    pub fn new(
        session: &'s Session,
        view: &View,
        chain: &'s mut EntryChain,
        report: &'s mut Report,
    ) -> ItemWriter<'s> {
        let mut names: HashMap<_, Vec<_>> = HashMap::new();
        for item in &view.items {
            for call in item.message(session).iter().flat_map(Message::tool_calls) {
                let named = (item.line(), call.name.into_owned());
                names.entry(call.id.into_owned()).or_default().push(named);
            }
        }
        ItemWriter {
            session,
            chain,
            report,
            names,
        }
    }

    /// Appends an item, with this id or a new one, and with this time unless it has one. Restores the entry if the item
    /// was read from one.
    pub fn add(&mut self, item: &Item, time: &[u8], id: Option<String>) {
        if let Some(text) = item.summary(self.session) {
            self.report.count_loss(Loss::Summary, 1);
            return self.add_custom("summary", &quoted(&summary::quoted(&text)), time, id);
        }
        let Some(message) = item.message(self.session) else {
            return;
        };
        let time = message.timestamp.unwrap_or(time);
        let annotated = AnnotatedMessage::of(0, item.body(self.session), message, NAME);
        let is_own = |name: &&str| annotated.noted(name).is_some();
        let Some(note) = annotated.note.filter(|_| ["residue", "raw"].iter().any(is_own)) else {
            return self.add_message(&annotated, item.line(), time, id);
        };
        if let Some(entry) = residue::noted(note, || Some(encode::entry(&annotated, self.report))) {
            let kind = json::member_text(&entry, "type").unwrap_or_default();
            self.chain.add(&kind, time, &entry, id);
        }
    }

    /// Appends a message of an extension; `content` is raw JSON.
    fn add_custom(&mut self, kind: &str, content: &[u8], time: &[u8], id: Option<String>) {
        let mut custom = ObjectBuilder::default();
        custom
            .text("customType", kind)
            .raw("content", content)
            .raw("display", "true");
        self.chain.add("custom_message", time, &custom.finish(), id);
    }

    /// Appends a message from another format.
    fn add_message(
        &mut self,
        annotated: &AnnotatedMessage<'_>,
        line: Option<usize>,
        time: &[u8],
        id: Option<String>,
    ) {
        let message = &annotated.message;
        let kind = match (message.role(), message.category()) {
            (Role::System | Role::Developer | Role::Other, _) => Some(message.role_name().into_owned()),
            (Role::User, Category::Context | Category::SystemOutput | Category::System) => {
                Some(message.category().name().to_string())
            }
            _ => None,
        };
        if let Some(kind) = kind {
            // Such roles do not exist in this format, and of categories only that of extension messages.
            let is_lost = kind != Category::Context.name();
            self.report.count_loss(Loss::Category, u64::from(is_lost));
            let content = encode::content(message, self.report);
            return self.add_custom(&kind, &content, time, id);
        }
        let encoded = encode::message(annotated, false, self.report);
        let mut members = ObjectBuilder::default();
        add_extra_members(&mut members, &encoded, &["usage"]);
        match message.role() {
            Role::Assistant => {
                members.text("api", "unknown").text("provider", "unknown");
                if json::member(&encoded, "model").is_none() {
                    members.text("model", "unknown");
                }
                let usage = usage(json::member(annotated.body, "usage"), self.report);
                let is_call = message.calls_tools();
                members
                    .raw("usage", usage)
                    .text("stopReason", if is_call { "toolUse" } else { "stop" });
            }
            Role::Tool => {
                if message.name.is_none() {
                    members.text("toolName", self.tool_name(message, line).unwrap_or("unknown"));
                }
                let has_failed = annotated.metadata("is_error") == Some(b"true");
                members.raw("isError", has_failed.to_string());
            }
            _ => {}
        }
        let milliseconds = json::text(time).and_then(|time| time::milliseconds(&time));
        members.raw("timestamp", milliseconds.unwrap_or(0).to_string());
        let entry = wrapped("message", members.finish());
        self.chain.add("message", time, &entry, id);
    }

    /// The name of the tool whose result a message is: that of the last call before it.
    fn tool_name(&self, message: &Message<'_>, line: Option<usize>) -> Option<&str> {
        let mut calls = self.names.get(message.tool_call_id()?.as_ref())?.iter().rev();
        let newest = calls.clone().next();
        let called = calls.find(|(call, _)| line.is_none() || *call < line).or(newest);
        called.map(|(_, name)| name.as_str())
    }
}

/// Converts usage in the form of Anthropic or OpenAI to that of this format.
fn usage(reported: Option<&[u8]>, report: &mut Report) -> Vec<u8> {
    let used = reported.and_then(Figures::of);
    report.count_loss(Loss::Usage, u64::from(reported.is_some() && used.is_none()));
    let used = used.unwrap_or_default();
    let mut usage = ObjectBuilder::default();
    for (name, figure) in [
        ("input", used.input),
        ("output", used.output),
        ("cacheRead", used.read),
        ("cacheWrite", used.written),
        ("totalTokens", used.sent().saturating_add(used.output)),
    ] {
        usage.raw(name, figure.to_string());
    }
    let cost = ["input", "output", "cacheRead", "cacheWrite", "total"].map(|name| (name, "0"));
    usage.raw("cost", object(cost));
    usage.finish()
}
