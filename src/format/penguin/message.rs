//! One message of a Penguin session as a line of the record stream.

use super::super::report::{Loss, Report};
use crate::error::Place;
use crate::model::json::{self, Dialect, Members, ObjectBuilder};
use crate::model::key::Derive;
use crate::model::message::Category;
use crate::model::time;
use std::collections::HashSet;

/// The members of a message that have a meaning, in Penguin's order.
const MEMBERS: [&str; 10] = [
    "role",
    "content",
    "category",
    "id",
    "timestamp",
    "metadata",
    "tokens",
    "agent_id",
    "recipient_id",
    "message_type",
];

/// Penguin's categories; the first five have the numbers from 1. Those without one of ours go by the role.
const CATEGORIES: [(&str, Option<Category>); 7] = [
    ("SYSTEM", Some(Category::System)),
    ("CONTEXT", Some(Category::Context)),
    ("DIALOG", Some(Category::Dialog)),
    ("SYSTEM_OUTPUT", Some(Category::SystemOutput)),
    ("ERROR", None),
    ("INTERNAL", None),
    ("UNKNOWN", None),
];

/// The names until March 2025.
const OLDER_CATEGORIES: [(&str, Option<Category>); 5] = [
    ("SYSTEM_PROMPT", Some(Category::System)),
    ("DECLARATIVE_NOTES", Some(Category::Context)),
    ("WORKING_MEMORY", Some(Category::Context)),
    ("CONVERSATION", Some(Category::Dialog)),
    ("ACTION_RESULTS", Some(Category::SystemOutput)),
];

/// Turns messages into lines, one after another.
pub(super) struct Messages<'r> {
    /// Whether the document is of the older format.
    pub older: bool,
    /// Whether a time without zone was met.
    pub naive: bool,
    /// Where to tell of damage.
    pub report: &'r mut Report,
    derive: Derive,
    ids: HashSet<String>,
    /// The time of the last message that has one.
    newest: Option<String>,
}

/// The values of these members, the last of repeated ones; what is no object has none.
pub(super) fn values<'a, const N: usize>(object: &'a [u8], names: [&str; N]) -> [Option<&'a [u8]>; N] {
    let mut found = [None; N];
    let Ok(mut members) = Members::new(object, Dialect::Python) else {
        return found;
    };
    while let Ok(Some(member)) = members.next() {
        let name = member.name();
        if let Some(index) = names.iter().position(|known| *known == name) {
            found[index] = Some(member.value);
        }
    }
    found
}

/// The object without these members; none when nothing is left.
pub(super) fn without(object: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    let changes: Vec<(&str, Option<&[u8]>)> = names.iter().map(|name| (*name, None)).collect();
    json::with_members(object, &changes)
        .ok()
        .filter(|rest| rest != b"{}")
}

/// The value, unless it is null.
pub(super) fn given(value: Option<&[u8]>) -> Option<&[u8]> {
    value.filter(|raw| *raw != b"null")
}

/// Whether the value is a string with something to see in it.
pub(super) fn is_words(value: &[u8]) -> bool {
    json::text(value).is_some_and(|text| !text.trim().is_empty())
}

/// The id of a message as it is told apart in other copies of the session.
pub(super) fn identity(raw: &[u8], derive: &mut Derive) -> String {
    let [id] = values(raw, ["id"]);
    match id.and_then(json::text) {
        Some(id) if !id.is_empty() => id.into_owned(),
        _ => derive.id(&json::compact(raw).0),
    }
}

impl<'r> Messages<'r> {
    /// For one session.
    pub fn new(older: bool, report: &'r mut Report) -> Self {
        let (derive, ids) = (Derive::default(), HashSet::new());
        Messages {
            older,
            naive: false,
            report,
            derive,
            ids,
            newest: None,
        }
    }

    /// A value as it may stand on a line of the stream: compact, UTF-8, and without the numbers that JSON
    /// does not have. Tells what had to be changed.
    pub fn clean(&mut self, raw: &[u8], place: Place) -> Vec<u8> {
        let (compact, numbers) = json::compact(raw);
        if numbers > 0 {
            self.report.lose(Loss::Number, numbers);
            self.report
                .damage(place, "NaN or an infinity: null stands for it");
        }
        match String::from_utf8(compact) {
            Ok(text) => text.into_bytes(),
            Err(error) => {
                self.report
                    .damage(place, "bytes that are no UTF-8: U+FFFD stands for them");
                String::from_utf8_lossy(error.as_bytes())
                    .into_owned()
                    .into_bytes()
            }
        }
    }

    /// The RFC 3339 form of a time; none, and told as damage, when it is not readable as one.
    pub fn time(&mut self, raw: &[u8], what: &str, place: Place) -> Option<String> {
        let Some(reading) = json::text(raw).and_then(|text| time::read(&text)) else {
            self.report
                .damage(place, format!("{what} is not readable as a time: kept as it is"));
            return None;
        };
        self.naive |= reading.naive;
        Some(reading.time)
    }

    /// The line of an element of `messages`, without a line ending.
    pub fn line(&mut self, raw: &[u8], place: Place) -> Vec<u8> {
        let object = self.clean(raw, place);
        if object.first() == Some(&b'{') {
            return self.message(&object, place);
        }
        self.report
            .damage(place, "a message that is no object: carried along, not read");
        let mut line = ObjectBuilder::default();
        line.text("type", "foreign")
            .text("id", &self.derive.id(&object).replacen("msg", "evt", 1));
        if let Some(time) = &self.newest {
            line.text("at", time);
        }
        line.text("format", "penguin").raw("raw", &object);
        line.finish()
    }

    fn message(&mut self, object: &[u8], place: Place) -> Vec<u8> {
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
        // What the line has no member for.
        let mut kept = ObjectBuilder::default();

        let [calls, call_id, action] = values(
            metadata.unwrap_or_default(),
            ["tool_calls", "tool_call_id", "action_type"],
        );
        let calls = calls.filter(|raw| raw.first() == Some(&b'['));
        let call_id = call_id.filter(|raw| is_words(raw));
        let action = action.filter(|raw| is_words(raw));

        let (own_id, duplicate) = self.id(object, id, place);
        if let Some(raw) = given(id).filter(|raw| duplicate || json::text(raw).is_none()) {
            kept.raw("id", raw);
        }
        let (category, category_kept) = self.category(category, place);
        let mut line = ObjectBuilder::default();
        match role.filter(|raw| is_words(raw)) {
            Some(raw) => line.raw("role", raw),
            None => {
                if let Some(raw) = given(role) {
                    kept.raw("role", raw);
                }
                let role = role_of(category, call_id.is_some());
                self.report.damage(place, format!("no role: taken for {role}"));
                line.text("role", role)
            }
        };
        if content.is_none() {
            self.report.damage(place, "no content: null stands for it");
        }
        line.raw(
            "content",
            content.map_or(&b"null"[..], |raw| if self.older { only_text(raw) } else { raw }),
        );
        for (name, value) in [("tool_calls", calls), ("tool_call_id", call_id), ("name", action)] {
            if let Some(raw) = value {
                line.raw(name, raw);
            }
        }
        line.text("id", &own_id);
        if let Some(raw) = given(timestamp) {
            match self.time(raw, "timestamp", place) {
                Some(time) => {
                    line.text("timestamp", &time);
                    self.newest = Some(time);
                }
                None => {
                    kept.raw("timestamp", raw);
                }
            }
        }
        if let Some(category) = category {
            line.text("category", category.name());
        }
        if let Some(raw) = category_kept {
            kept.raw("category", raw);
        }
        match given(tokens) {
            None | Some(b"0") => {}
            Some(raw) if is_count(raw) => {
                line.raw("tokens", raw);
            }
            Some(raw) => {
                self.report.damage(place, "tokens is no count: kept, not used");
                kept.raw("tokens", raw);
            }
        }
        for (name, value) in [
            ("agent_id", agent),
            ("recipient_id", recipient),
            ("message_type", kind),
        ] {
            if let Some(raw) = given(value).filter(|raw| *raw != br#""message""# || name != "message_type") {
                kept.raw(name, raw);
            }
        }
        if let Some(raw) = metadata {
            let taken = [
                ("tool_calls", calls),
                ("tool_call_id", call_id),
                ("action_type", action),
            ];
            let taken: Vec<&str> = taken
                .into_iter()
                .filter(|(_, raw)| raw.is_some())
                .map(|(name, _)| name)
                .collect();
            self.keep_metadata(raw, &taken, &mut kept, place);
        }
        if let Some(rest) = without(object, &MEMBERS) {
            kept.raw("members", rest);
        }
        if !kept.is_empty() {
            line.raw(
                "metadata",
                [br#"{"penguin":"#, kept.finish().as_slice(), b"}"].concat(),
            );
        }
        line.finish()
    }

    /// Keeps what is left of a `metadata` member.
    pub fn keep_metadata(&mut self, raw: &[u8], taken: &[&str], kept: &mut ObjectBuilder, place: Place) {
        if raw.first() == Some(&b'{') {
            if let Some(rest) = without(raw, taken) {
                kept.raw("metadata", rest);
            }
            return;
        }
        self.report.damage(place, "metadata is no object");
        if raw != b"null" {
            kept.raw("metadata", raw);
        }
    }

    /// The id for the line, and whether the message's own one occurred before.
    fn id(&mut self, object: &[u8], id: Option<&[u8]>, place: Place) -> (String, bool) {
        let own = id.and_then(json::text).filter(|id| !id.is_empty());
        let duplicate = own.as_ref().is_some_and(|id| self.ids.contains(id.as_ref()));
        if let Some(id) = own.filter(|_| !duplicate) {
            self.ids.insert(id.clone().into_owned());
            return (id.into_owned(), false);
        }
        // A derived id could be one that the file holds already, when it was written by this program.
        let mut made = self.derive.id(object);
        while !self.ids.insert(made.clone()) {
            made = self.derive.id(object);
        }
        if duplicate {
            self.report.damage(
                place,
                format!("its id occurred before: this message is {made} now"),
            );
        } else if given(id).is_some_and(|raw| json::text(raw).is_none()) {
            self.report.damage(place, "its id is no string: one was derived");
        }
        (made, duplicate)
    }

    /// The category for the line, and what to keep of the file's when it does not follow from that.
    fn category<'m>(&mut self, raw: Option<&'m [u8]>, place: Place) -> (Option<Category>, Option<&'m [u8]>) {
        let Some(raw) = raw else {
            if !self.older {
                self.report.damage(place, "no category: the role decides");
            }
            return (None, None);
        };
        let name = json::text(raw);
        let older: &[_] = if self.older { &OLDER_CATEGORIES } else { &[] };
        let mut known = CATEGORIES.iter().chain(older);
        let found = match &name {
            Some(name) => known.find(|(known, _)| name.eq_ignore_ascii_case(known)),
            None => {
                let number = std::str::from_utf8(raw)
                    .ok()
                    .and_then(|digits| digits.parse::<usize>().ok());
                let found = number
                    .filter(|number| (1..=5).contains(number))
                    .map(|number| &CATEGORIES[number - 1]);
                if let (Some((name, _)), Some(number)) = (found, number) {
                    self.report.damage(
                        place,
                        format!("its category is the number {number}: read as {name}"),
                    );
                }
                found
            }
        };
        match found {
            Some((known, category)) => {
                let follows = category.is_some_and(|category| category.name().to_ascii_uppercase() == *known);
                let same = follows && name.as_deref() == Some(known);
                (*category, (!same).then_some(raw))
            }
            None => {
                self.report.damage(place, "an unknown category: the role decides");
                (None, Some(raw).filter(|raw| *raw != b"null"))
            }
        }
    }
}

/// Who most likely spoke, when the message does not say it.
fn role_of(category: Option<Category>, answers_call: bool) -> &'static str {
    match category {
        Some(Category::SystemOutput) if answers_call => "tool",
        Some(Category::System | Category::Context | Category::SystemOutput) => "system",
        Some(Category::Dialog) | None => "user",
    }
}

/// Whether this is a whole number above 0.
fn is_count(raw: &[u8]) -> bool {
    std::str::from_utf8(raw).is_ok_and(|digits| digits.parse::<u64>().is_ok_and(|count| count > 0))
}

/// The text of a list that is one text part and nothing else, which is how the older format spelled a string.
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
