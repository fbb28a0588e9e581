//! Encodes lines as messages of a Penguin session: restores data that the reader moved, and stores data that Penguin
//! cannot represent in the metadata.

use super::super::kit::records::passthrough_raw;
use super::super::report::{Loss, Report};
use super::member::{is_count, is_words, non_null};
use super::native_metadata::{self, MEMBER, SUMMARY, in_order};
use super::totals::DocumentTotals;
use super::{category, numbers};
use crate::model::json::{self, ObjectBuilder, quoted, wrapped};
use crate::model::key::Derive;
use crate::model::message::{Category, Message, Role};
use crate::model::session::Session;
use crate::model::view::Item;
use crate::model::{summary, time};
use std::borrow::Cow;
use std::collections::HashSet;

/// Members of a line that Penguin can represent, or that are handled separately.
const KNOWN: [&str; 10] = [
    "role", "content", "tool_calls", "tool_call_id", "name", "id", "timestamp", "category", "tokens",
    "metadata",
];

/// Members of `metadata.penguin` that the reader creates.
const READER_MEMBERS: [&str; 12] = [
    "role", "id", "timestamp", "tokens", "category", "agent_id", "recipient_id", "message_type", "metadata",
    "members", "places", "numbers",
];

/// Encodes messages in order.
pub(super) struct Elements<'w> {
    /// Counts losses.
    pub report: &'w mut Report,
    /// Local time for messages without one.
    time: Option<String>,
    /// Whether messages without a time are new, and get the current time.
    is_now: bool,
    derive: Derive,
    ids: HashSet<String>,
    prompt: Option<String>,
    /// Totals of the messages, without times.
    pub sums: DocumentTotals,
}

/// A time in Penguin's format as JSON, and whether it denotes the same instant; `None` if invalid.
pub(super) fn local_time(raw: &[u8]) -> Option<(Vec<u8>, bool)> {
    let reading = time::read(&json::text(raw)?)?;
    let local = time::local(&reading.time)?;
    let again = time::read(&local).and_then(|reading| time::moment(&reading.time));
    let same = again.is_some() && again == time::moment(&reading.time);
    Some((quoted(&local), same))
}

impl<'w> Elements<'w> {
    /// With the local time for messages without one: `now`, or else that of the previous message, initially `first`.
    pub fn new(now: Option<String>, first: Option<String>, report: &'w mut Report) -> Self {
        Elements {
            report,
            is_now: now.is_some(),
            time: now.or(first),
            derive: Derive::default(),
            ids: HashSet::new(),
            prompt: None,
            sums: DocumentTotals::default(),
        }
    }

    /// Registers a message that is copied from the file.
    pub fn pass(&mut self, message: &Message<'_>, raw: &[u8]) {
        self.is_prompt(message, None);
        self.ids.extend(message.id().map(Cow::into_owned));
        self.sums.add(json::member(raw, "tokens"));
    }

    /// An element of the document that is not a message, and was preserved as an event.
    pub fn foreign(&mut self, event: &[u8]) -> Option<Vec<u8>> {
        let raw = passthrough_raw(event, "penguin")?;
        self.sums.add(None);
        Some(numbered(raw.to_vec(), json::member(event, "numbers")))
    }

    /// The element for an item of the view.
    pub fn item(&mut self, session: &Session, item: &Item) -> Option<Vec<u8>> {
        if let Item::Summary(index) = item {
            return self.summary(session, item, *index);
        }
        let message = item.message(session)?;
        Some(self.message(item.body(session), &message))
    }

    /// A summary as a context message in its original position.
    fn summary(&mut self, session: &Session, item: &Item, index: usize) -> Option<Vec<u8>> {
        let record = session.record(index);
        let event = record.event()?;
        let own = match event.name().as_ref() {
            "compact" => json::member(event.raw, "summary")?,
            _ => event.raw,
        };
        let mut members = ObjectBuilder::default();
        for (name, value) in in_order(own)? {
            let own = ["type", "id", "at", "content", "covers", "here", "before", "nth"];
            if !own.contains(&name.as_ref()) {
                members.raw(&name, value);
            }
        }
        let mut metadata = ObjectBuilder::default();
        metadata
            .text("type", "summary")
            .raw(MEMBER, wrapped(SUMMARY, members.finish()));
        let text = item.summary(session)?;
        let mut line = ObjectBuilder::default();
        line.text(
            "role",
            &item.summary_role(session).unwrap_or_else(|| "system".to_string()),
        )
        .text("content", &summary::quoted(&text))
        .text("category", "CONTEXT");
        let (id, _) = self.id(event.raw, json::member(event.raw, "id"));
        line.text("id", &id);
        let at = json::member(event.raw, "at").and_then(local_time);
        if let Some(time) = at.map(|(time, _)| time).or_else(|| self.filled()) {
            line.raw("timestamp", time);
        }
        line.raw("metadata", metadata.finish())
            .raw("tokens", "0")
            .raw("agent_id", "null")
            .raw("recipient_id", "null")
            .text("message_type", "message");
        self.sums.add(None);
        Some(line.finish())
    }

    /// Encodes a message.
    fn message(&mut self, body: &[u8], message: &Message<'_>) -> Vec<u8> {
        let own = message.metadata.and_then(|raw| json::member(raw, "penguin"));
        let own = own.filter(|raw| raw.first() == Some(&b'{'));
        let kept = |name: &str| json::member(own?, name);
        let mut preserved = ObjectBuilder::default();
        let mut line = ObjectBuilder::default();

        match message.role() {
            Role::Developer => line.text("role", "system"),
            Role::Other if !is_words(message.role) => line.text("role", "user"),
            _ => line.raw("role", message.role),
        };
        if message.role() == Role::Developer || !is_words(message.role) {
            preserved.raw("role", message.role);
        }
        self.count_loss(Loss::Metadata, kept("role").is_some());
        line.raw("content", message.content.unwrap_or(b"null"));

        let is_prompt = self.is_prompt(message, kept("category"));
        line.raw(
            "category",
            category_of(message, kept("category"), is_prompt, &mut preserved),
        );

        let own_id = kept("id").filter(|raw| json::text(raw).is_some_and(|id| !id.is_empty()));
        self.count_loss(Loss::Id, kept("id").is_some() && own_id.is_none());
        let (id, is_own) = self.id(body, message.id);
        match own_id {
            Some(raw) => line.raw("id", raw),
            None => line.text("id", &id),
        };
        if let (false, Some(raw)) = (is_own, non_null(message.id)) {
            preserved.raw("id", raw);
        }
        line.optional(
            "timestamp",
            self.timestamp(message, kept("timestamp"), &mut preserved),
        );
        line.raw("metadata", self.metadata(body, message, own, &mut preserved));
        let tokens = kept("tokens").or(message.tokens).unwrap_or(b"0");
        if kept("tokens").is_none() && !is_count(tokens) && tokens != b"0" {
            line.raw("tokens", "0");
            self.sums.add(None);
        } else {
            line.raw("tokens", tokens);
            self.sums.add(Some(tokens));
        }
        for name in ["agent_id", "recipient_id"] {
            line.raw(name, kept(name).unwrap_or(b"null"));
        }
        match kept("message_type") {
            Some(raw) => line.raw("message_type", raw),
            None => line.text("message_type", category::message_type(message.role(), is_prompt)),
        };
        for (name, value) in kept("members").and_then(in_order).unwrap_or_default() {
            line.raw(&name, value);
        }
        for (name, _) in own.and_then(in_order).unwrap_or_default() {
            self.count_loss(Loss::Metadata, !READER_MEMBERS.contains(&name.as_ref()));
        }
        numbered(line.finish(), kept("numbers"))
    }

    /// The metadata, including members of the line that Penguin stores there, and those it cannot represent.
    fn metadata(
        &mut self,
        body: &[u8],
        message: &Message<'_>,
        own: Option<&[u8]>,
        preserved: &mut ObjectBuilder,
    ) -> Vec<u8> {
        let kept = |name: &str| json::member(own?, name);
        let mut taken: Vec<(&str, Vec<u8>)> = Vec::new();
        let calls = message.tool_calls.filter(|raw| raw.first() == Some(&b'['));
        let words = |raw: Option<&'_ [u8]>| raw.is_some_and(is_words);
        for (line, name, raw, fits) in [
            ("tool_calls", "tool_calls", message.tool_calls, calls.is_some()),
            (
                "tool_call_id",
                "tool_call_id",
                message.tool_call_id,
                words(message.tool_call_id),
            ),
            ("name", "action_type", message.name, words(message.name)),
        ] {
            match raw {
                Some(raw) if fits => taken.push((name, raw.to_vec())),
                Some(raw) if raw != b"null" => {
                    preserved.raw(line, raw);
                }
                _ => {}
            }
        }
        let is_odd = kept("tokens").is_none()
            && message
                .tokens
                .is_some_and(|raw| !is_count(raw) && !matches!(raw, b"0" | b"null"));
        preserved.optional("tokens", message.tokens.filter(|_| is_odd));
        if let Some(raw) = message.metadata {
            match json::with_members(raw, &[("penguin", None)]) {
                Ok(rest) if own.is_some() && rest != b"{}" => {
                    preserved.raw("metadata", rest);
                }
                Ok(_) if own.is_some() => {}
                _ if raw != b"null" => {
                    preserved.raw("metadata", raw);
                }
                _ => {}
            }
        }
        for (name, value) in in_order(body).unwrap_or_default() {
            if KNOWN.contains(&name.as_ref()) {
                continue;
            }
            let fits = !name.is_empty() && name != SUMMARY;
            self.count_loss(Loss::Metadata, !fits);
            if fits {
                preserved.raw(&name, value);
            }
        }
        let inner = kept("metadata");
        let is_free = |name: &str| inner.is_none_or(|inner| json::member(inner, name).is_none());
        let marks = message.metadata.map(native_metadata::marks).unwrap_or_default();
        for (name, value) in marks.into_iter().filter(|(name, _)| is_free(name)) {
            taken.push((name, value.to_vec()));
        }
        let rest = inner.and_then(in_order);
        self.count_loss(Loss::Metadata, inner.is_some() && rest.is_none());
        let rest = rest.unwrap_or_default().into_iter();
        let rest = rest.map(|(name, value)| (name, value.to_vec())).collect();
        let preserved = std::mem::take(preserved);
        if !preserved.is_empty() {
            taken.push((MEMBER, preserved.finish()));
        }
        native_metadata::restore_order(rest, taken, kept("places"))
    }

    fn count_loss(&mut self, loss: Loss, lost: bool) {
        self.report.count_loss(loss, u64::from(lost));
    }

    /// Whether this is the system prompt at the start of the session; `kept` is a category without a native equivalent.
    fn is_prompt(&mut self, message: &Message<'_>, kept: Option<&[u8]>) -> bool {
        let is_rule = matches!(message.role(), Role::System | Role::Developer)
            && message.category() == Category::System
            && kept.is_none_or(|raw| category::read(raw, true).is_some_and(|known| known.1.is_some()));
        let Some(text) = message.content.and_then(json::text).filter(|_| is_rule) else {
            return false;
        };
        *self.prompt.get_or_insert_with(|| text.clone().into_owned()) == text
    }

    /// The id, and whether it is the line's own. Without one, a digest shortened to eight digits.
    fn id(&mut self, body: &[u8], raw: Option<&[u8]>) -> (String, bool) {
        if let Some(id) = raw.and_then(json::text).filter(|id| !id.is_empty()) {
            self.ids.insert(id.clone().into_owned());
            return (id.into_owned(), true);
        }
        let mut length = "msg_".len() + 8;
        let mut built = self.derive.id(body);
        while !self.ids.insert(built[..length.min(built.len())].to_string()) {
            if length >= built.len() {
                built = self.derive.id(body);
            }
            length = built.len();
        }
        built.truncate(length);
        (built, false)
    }

    /// The time in Penguin's format; stores the original if it would be read back differently.
    fn timestamp(
        &mut self,
        message: &Message<'_>,
        kept: Option<&[u8]>,
        preserved: &mut ObjectBuilder,
    ) -> Option<Vec<u8>> {
        match non_null(message.timestamp) {
            Some(raw) => match local_time(raw) {
                Some((time, same)) => {
                    if !same {
                        preserved.raw("timestamp", raw);
                    }
                    if !self.is_now {
                        self.time = json::text(&time).map(Cow::into_owned);
                    }
                    Some(time)
                }
                None => {
                    preserved.raw("timestamp", raw);
                    self.filled()
                }
            },
            None if kept.is_some() => kept.map(<[u8]>::to_vec),
            None => {
                let time = self.filled();
                if time.is_some() && !self.is_now {
                    preserved.raw("timestamp", "null");
                }
                time
            }
        }
    }

    fn filled(&self) -> Option<Vec<u8>> {
        self.time.as_deref().map(quoted)
    }
}

/// The value with numbers restored that are invalid in JSON.
pub(super) fn numbered(value: Vec<u8>, noted: Option<&[u8]>) -> Vec<u8> {
    match noted {
        Some(noted) => numbers::restore_numbers(&value, noted).0,
        None => value,
    }
}

/// The category; stores the original if it would be read back differently.
fn category_of(
    message: &Message<'_>,
    kept: Option<&[u8]>,
    is_prompt: bool,
    preserved: &mut ObjectBuilder,
) -> Vec<u8> {
    let named = message.category.and_then(json::text);
    let explicit = named.as_deref().and_then(Category::from_name);
    if let Some(raw) = kept {
        let is_text = json::text(raw).is_some();
        match category::read(raw, false) {
            Some((_, ours)) if ours == explicit && is_text => return raw.to_vec(),
            Some((name, None)) if explicit.is_none() => return quoted(name),
            // A name that Penguin does not know and reads as DIALOG.
            None if explicit.is_none() && is_text => return raw.to_vec(),
            _ => {}
        }
    }
    let category = explicit.unwrap_or_else(|| {
        let category = category::by_rule(message.role(), &message.text(), is_prompt);
        if let Some(raw) = non_null(message.category) {
            preserved.raw("category", raw);
        } else if category != message.category() {
            preserved.raw("category", "null");
        }
        category
    });
    quoted(category::name_of(category))
}
