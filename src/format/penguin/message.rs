//! Converts messages of a Penguin session to lines.

use super::super::report::{Loss, Report};
use super::member::{is_count, is_words, non_null, values, without};
use super::native_metadata::{self, MEMBER, PreservedMembers};
use super::totals::DocumentTotals;
use super::{category, numbers};
use crate::error::Position;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::key::Derive;
use crate::model::message::{Category, Role};
use crate::model::{event, summary, time};
use std::borrow::Cow;
use std::collections::HashSet;

/// The note on numbers that Python writes and that are invalid in JSON.
pub const NO_NUMBER: &str = "NaN or Infinity replaced by null";

/// The known members of a message, in Penguin's order.
const MEMBERS: [&str; 10] = [
    "role", "content", "category", "id", "timestamp", "metadata", "tokens", "agent_id", "recipient_id",
    "message_type",
];

/// The metadata members that are moved to the line.
pub(super) const MOVED_MEMBERS: [&str; 3] = ["tool_calls", "tool_call_id", "action_type"];

/// Line members with an own position when stored in `convo`.
const PLACED: [&str; 9] = [
    "role", "tool_calls", "tool_call_id", "name", "id", "timestamp", "category", "tokens", "metadata",
];

/// Converts messages in order.
pub(super) struct PenguinMessages<'r> {
    /// Whether the document is of the older format.
    pub older: bool,
    /// Whether a time had no zone.
    pub naive: bool,
    /// Whether the times of the messages have several formats.
    pub mixed_times: bool,
    /// Receives damage.
    pub report: &'r mut Report,
    derive: Derive,
    ids: HashSet<String>,
    /// The latest message time so far.
    newest: Option<String>,
    /// The text of the system prompt.
    prompt: Option<String>,
    pub sums: DocumentTotals,
}

/// The id that identifies a message in other copies of the session.
pub(super) fn identity(raw: &[u8], derive: &mut Derive) -> String {
    let [id] = values(raw, ["id"]);
    match id.and_then(json::text) {
        Some(id) if !id.is_empty() => id.into_owned(),
        _ => derive.id(&json::compact(raw).0),
    }
}

impl<'r> PenguinMessages<'r> {
    /// For one session.
    pub fn new(older: bool, report: &'r mut Report) -> Self {
        let (derive, ids) = (Derive::default(), HashSet::new());
        PenguinMessages {
            older,
            naive: false,
            mixed_times: false,
            report,
            derive,
            ids,
            newest: None,
            prompt: None,
            sums: DocumentTotals::default(),
        }
    }

    /// A value in record form: compact, in UTF-8, and without numbers that are invalid in JSON, which are returned
    /// separately. Reports changes and losses.
    pub fn clean(&mut self, raw: &[u8], place: Position) -> (Vec<u8>, Option<Vec<u8>>) {
        let (compact, numbers) = json::compact(raw);
        let mut noted = None;
        if numbers > 0 {
            let found = numbers::found(raw);
            let kept = found.as_ref().map_or(0, |(_, count)| *count);
            noted = found.map(|(object, _)| object);
            self.report.count_loss(Loss::Number, numbers.saturating_sub(kept));
            self.report.damage(place, NO_NUMBER);
        }
        let clean = match String::from_utf8(compact) {
            Ok(text) => text.into_bytes(),
            Err(error) => {
                self.report
                    .damage(place, "bytes that are not UTF-8 replaced by U+FFFD");
                String::from_utf8_lossy(error.as_bytes())
                    .into_owned()
                    .into_bytes()
            }
        };
        (clean, noted)
    }

    /// The time in RFC 3339; reports damage and returns `None` if it is invalid.
    pub fn time(&mut self, raw: &[u8], what: &str, place: Position) -> Option<String> {
        let Some(reading) = json::text(raw).and_then(|text| time::read(&text)) else {
            self.report
                .damage(place, format!("{what} is not a valid timestamp; kept unchanged"));
            return None;
        };
        self.naive |= reading.naive;
        Some(reading.time)
    }

    /// The line for an element of `messages`, without a line ending. `is_current` marks the active summary, which becomes
    /// an event.
    pub fn line(&mut self, raw: &[u8], place: Position, is_current: bool) -> Vec<u8> {
        let (object, numbers) = self.clean(raw, place);
        let [tokens] = values(&object, ["tokens"]);
        self.sums.add(tokens);
        if object.first() == Some(&b'{') {
            let [metadata] = values(&object, ["metadata"]);
            return match metadata.and_then(native_metadata::summary).filter(|_| is_current) {
                Some(event) => self.summary(&object, event, place),
                None => self.message(&object, numbers, place),
            };
        }
        self.report
            .damage(place, "message is not an object; kept unchanged");
        let mut line = event::begin("foreign", &self.derive.id(&object).replacen("msg", "evt", 1));
        if let Some(time) = &self.newest {
            line.text("at", time);
        }
        line.text("format", "penguin").raw("raw", &object);
        line.optional("numbers", numbers);
        line.finish()
    }

    fn passed(&mut self, time: String) {
        self.sums.newest = self.sums.newest.max(time::moment(&time));
        self.newest = Some(time);
    }

    /// The event of the summary whose text is this message.
    fn summary(&mut self, object: &[u8], event: &[u8], place: Position) -> Vec<u8> {
        let [content, id, timestamp] = values(object, ["content", "id", "timestamp"]);
        let text = content.and_then(json::text).unwrap_or_default();
        let mut line = event::begin("summary", &self.id(object, id, place).0);
        if let Some(time) = non_null(timestamp).and_then(|raw| self.time(raw, "timestamp", place)) {
            line.text("at", &time);
            self.passed(time);
        }
        line.text(
            "content",
            &summary::unquoted(&text).unwrap_or_else(|| text.into_owned()),
        );
        for (name, value) in native_metadata::in_order(event).unwrap_or_default() {
            if !matches!(
                name.as_ref(),
                "type" | "id" | "at" | "content" | "covers" | "here"
            ) {
                line.raw(&name, value);
            }
        }
        line.raw("here", "true");
        line.finish()
    }

    fn message(&mut self, object: &[u8], numbers: Option<Vec<u8>>, place: Position) -> Vec<u8> {
        let [
            role,
            content,
            category,
            id,
            timestamp,
            metadata,
            tokens,
            agent,
            recipient,
            kind,
        ] = values(object, MEMBERS);
        // Data that the line cannot represent, and data that Penguin cannot represent.
        let mut kept = ObjectBuilder::default();
        let own = metadata.map(PreservedMembers::of).unwrap_or_default();

        let [calls, call_id, action] = values(metadata.unwrap_or_default(), MOVED_MEMBERS);
        let calls = calls.filter(|raw| raw.first() == Some(&b'['));
        let call_id = call_id.filter(|raw| is_words(raw));
        let action = action.filter(|raw| is_words(raw));

        let (own_id, duplicate) = self.id(object, id, place);
        kept.optional(
            "id",
            non_null(id).filter(|raw| duplicate || json::text(raw).is_none()),
        );
        let (category, category_kept) = self.category(category, place);
        let mut line = ObjectBuilder::default();
        let role = role.filter(|raw| is_words(raw)).ok_or(role);
        match role {
            Ok(raw) => line.raw("role", own.or("role", None).unwrap_or(raw)),
            Err(role) => {
                kept.optional("role", non_null(role));
                let role = role_of(category, call_id.is_some());
                self.report.damage(place, format!("no role; read as {role}"));
                line.text("role", role)
            }
        };
        if content.is_none() {
            self.report.damage(place, "no content; replaced by null");
        }
        line.raw(
            "content",
            content.map_or(&b"null"[..], |raw| if self.older { only_text(raw) } else { raw }),
        );
        for (name, value) in [("tool_calls", calls), ("tool_call_id", call_id), ("name", action)] {
            line.optional(name, own.or(name, value));
        }
        match own.get("id") {
            Some(raw) => line.raw("id", raw),
            None => line.text("id", &own_id),
        };
        if own.get("timestamp").is_some() {
            line.optional("timestamp", own.or("timestamp", None));
        } else if let Some(raw) = non_null(timestamp) {
            match self.time(raw, "timestamp", place) {
                Some(time) => {
                    line.text("timestamp", &time);
                    // Penguin sorts messages by this text, so several formats yield a different order than the
                    // instants.
                    if self.mixed_times && time::local(&time) != json::text(raw).map(Cow::into_owned) {
                        kept.raw("timestamp", raw);
                    }
                    self.passed(time);
                }
                None => {
                    kept.raw("timestamp", raw);
                }
            }
        }
        if own.get("category").is_some() {
            line.optional("category", own.or("category", None));
        } else {
            if let Some(category) = category {
                line.text("category", category.name());
            }
            kept.optional("category", category_kept);
        }
        match non_null(tokens) {
            None | Some(b"0") => {
                line.optional("tokens", own.or("tokens", None));
            }
            Some(raw) if is_count(raw) => {
                line.raw("tokens", raw);
            }
            Some(raw) => {
                self.report.damage(place, "tokens is not a count; kept unchanged");
                kept.raw("tokens", raw);
            }
        }
        for (name, value) in [("agent_id", agent), ("recipient_id", recipient)] {
            kept.optional(name, non_null(value));
        }
        let is_prompt = self.is_prompt(role.ok(), category, content);
        let role = role.ok().and_then(json::text).unwrap_or_default();
        let usual = category::message_type(Role::from_name(&role), is_prompt);
        kept.optional(
            "message_type",
            non_null(kind).filter(|raw| json::text(raw).as_deref() != Some(usual)),
        );
        if let Some(raw) = metadata {
            let found = [calls, call_id, action].map(|raw| raw.is_some());
            let names = MOVED_MEMBERS.into_iter().zip(found).filter(|(_, found)| *found);
            let mut taken: Vec<&str> = names.map(|(name, _)| name).collect();
            taken.extend(own.shared_marks(raw));
            taken.extend((!own.is_empty()).then_some(MEMBER));
            if raw != b"null" {
                self.keep_metadata(raw, &taken, &mut kept, place);
            }
            kept.optional("places", native_metadata::member_positions(raw, &taken));
        }
        kept.optional("members", without(object, &MEMBERS));
        kept.optional("numbers", numbers);
        line.optional(
            "metadata",
            own.metadata((!kept.is_empty()).then(|| kept.finish())),
        );
        for (name, value) in own.others(&PLACED) {
            line.raw(name, value);
        }
        line.finish()
    }

    /// Whether this is the system prompt at the start of the session.
    fn is_prompt(&mut self, role: Option<&[u8]>, category: Option<Category>, content: Option<&[u8]>) -> bool {
        let is_rule = role == Some(br#""system""#) && category == Some(Category::System);
        let Some(text) = content.and_then(json::text).filter(|_| is_rule) else {
            return false;
        };
        *self.prompt.get_or_insert_with(|| text.clone().into_owned()) == text
    }

    /// Stores the rest of a `metadata` member.
    pub fn keep_metadata(&mut self, raw: &[u8], taken: &[&str], kept: &mut ObjectBuilder, place: Position) {
        if raw.first() == Some(&b'{') {
            kept.optional("metadata", without(raw, taken));
            return;
        }
        self.report.damage(place, "metadata is not an object");
        if raw != b"null" {
            kept.raw("metadata", raw);
        }
    }

    /// The id for the line, and whether the message's own one is a duplicate.
    fn id(&mut self, object: &[u8], id: Option<&[u8]>, place: Position) -> (String, bool) {
        let own = id.and_then(json::text).filter(|id| !id.is_empty());
        let duplicate = own.as_ref().is_some_and(|id| self.ids.contains(id.as_ref()));
        if let Some(id) = own.filter(|_| !duplicate) {
            self.ids.insert(id.clone().into_owned());
            return (id.into_owned(), false);
        }
        // If this program wrote the file, it may already contain the derived id.
        let mut built = self.derive.id(object);
        while !self.ids.insert(built.clone()) {
            built = self.derive.id(object);
        }
        if duplicate {
            self.report.damage(place, format!("duplicate id; new id {built}"));
        } else if non_null(id).is_some_and(|raw| json::text(raw).is_none()) {
            self.report
                .damage(place, "the id is not a string; derived a new id");
        }
        (built, duplicate)
    }

    /// The category for the line, and the original value if it does not follow from that.
    fn category<'m>(
        &mut self,
        raw: Option<&'m [u8]>,
        place: Position,
    ) -> (Option<Category>, Option<&'m [u8]>) {
        let Some(raw) = raw else {
            if !self.older {
                self.report.damage(place, "no category; derived from the role");
            }
            return (None, None);
        };
        let name = json::text(raw);
        let found = match &name {
            Some(name) => category::named(name, self.older),
            None => category::numbered(raw).map(|(number, known)| {
                let what = format!("the category is the number {number}; read as {}", known.0);
                self.report.damage(place, what);
                known
            }),
        };
        match found {
            Some((known, category)) => {
                let follows = category.is_some_and(|category| category::name_of(category) == known);
                let same = follows && name.as_deref() == Some(known);
                if let Some(name) = name.filter(|name| name.eq_ignore_ascii_case(known) && name != known) {
                    let what =
                        format!("the category is '{name}', which Penguin reads as DIALOG; read as {known}");
                    self.report.damage(place, what);
                }
                (category, (!same).then_some(raw))
            }
            None => {
                self.report
                    .damage(place, "unknown category; derived from the role");
                (None, Some(raw).filter(|raw| *raw != b"null"))
            }
        }
    }
}

/// The most likely role of a message without one.
fn role_of(category: Option<Category>, answers_call: bool) -> &'static str {
    match category {
        Some(Category::SystemOutput) if answers_call => "tool",
        Some(Category::System | Category::Context | Category::SystemOutput) => "system",
        Some(Category::Dialog) | None => "user",
    }
}

/// The text of a list with a single text part, which is how the older format encodes a string.
fn only_text(content: &[u8]) -> &[u8] {
    let parts = json::elements(content, Dialect::Python).unwrap_or_default();
    let [part] = parts.as_slice() else { return content };
    let members = ["type", "text"];
    match values(part, members) {
        [Some(br#""text""#), Some(text)]
            if text.first() == Some(&b'"') && without(part, &members).is_none() =>
        {
            text
        }
        _ => content,
    }
}
