//! Checks the structure of a session regardless of the provider: calls and results, ids, roles and times.

use super::finding::ApiViolation;
use super::options::CheckOptions;
use super::raw::short_id;
use super::rules::{HistoryRule, Severity};
use crate::format::{Format, native};
use crate::model::json::{self, Dialect};
use crate::model::message::{Message, Role, ToolCall};
use crate::model::session::Session;
use crate::model::time;
use crate::model::view::View;
use std::collections::{HashMap, HashSet};

/// A call that a result may answer.
struct PendingCall {
    item: usize,
    nth: usize,
    id: String,
    answered: bool,
}

/// The violations of structure rules in the view of a session, by item.
pub fn structure(session: &Session, view: &View, options: &CheckOptions) -> Vec<ApiViolation> {
    let mut look = Structure {
        options,
        findings: Vec::new(),
        calls: Vec::new(),
        by_id: HashMap::new(),
        newest: 0,
        open_end: 0,
        ids: HashSet::new(),
        time: None,
    };
    for (item, message) in view.items.iter().enumerate() {
        if let Some(message) = message.message(session) {
            look.message(item, &message);
        }
    }
    look.open_calls(view, session);
    look.findings.sort_by_key(|finding| finding.index);
    look.findings
}

struct Structure<'o> {
    options: &'o CheckOptions,
    findings: Vec<ApiViolation>,
    calls: Vec<PendingCall>,
    /// The calls that may be unanswered, by id, oldest first.
    by_id: HashMap<String, Vec<usize>>,
    /// The first call of the latest message with calls.
    newest: usize,
    /// End of the calls of that message that may be unanswered.
    open_end: usize,
    ids: HashSet<String>,
    time: Option<i64>,
}

impl Structure<'_> {
    fn add(&mut self, id: &str, (index, part): (usize, usize), message: String) {
        self.note(id, (index, part), Severity::Error, message);
    }

    fn note(&mut self, id: &str, (index, part): (usize, usize), most: Severity, message: String) {
        let Some(rule) = HistoryRule::of(id) else { return };
        let level = self.options.level(rule).min(most);
        if level > Severity::Off {
            self.findings.push(ApiViolation {
                rule,
                level,
                api: None,
                index,
                message,
                part,
                open: false,
            });
        }
    }

    fn message(&mut self, item: usize, message: &Message<'_>) {
        let role = message.role_name();
        if message.role() == Role::Other
            && role != "function"
            && !self.options.roles.contains(&role.to_string())
        {
            let role = if role.is_empty() {
                "empty role".to_string()
            } else {
                format!("unknown role {}", short_id(&role))
            };
            self.add("ST06", (item, 0), role);
        }
        if let Some(id) = message.id()
            && !self.ids.insert(id.to_string())
        {
            self.add("ST05", (item, 0), format!("duplicate message {}", short_id(&id)));
        }
        if let Some(at) = message.timestamp().and_then(|text| time::milliseconds(&text)) {
            if self.time.is_some_and(|before| at < before) {
                self.add("ST08", (item, 0), "earlier than the message before".to_string());
            }
            self.time = Some(at);
        }
        let calls = message.tool_calls();
        if !calls.is_empty() {
            self.calls(item, calls);
        }
        if message.role() == Role::Tool {
            let id = message.tool_call_id().unwrap_or_default();
            self.result(item, &id);
        }
    }

    fn calls(&mut self, item: usize, calls: Vec<ToolCall<'_>>) {
        self.newest = self.calls.len();
        self.open_end = self.newest + calls.len();
        let mut seen = HashSet::new();
        for (nth, call) in calls.into_iter().enumerate() {
            if !call.id.is_empty() && !seen.insert(call.id.to_string()) {
                self.add(
                    "ST03",
                    (item, nth),
                    format!("duplicate call {}", short_id(&call.id)),
                );
            }
            let arguments = call.arguments.as_bytes();
            if !arguments.is_empty() && !is_json(arguments) {
                let what = format!("the arguments of {} are not valid JSON", short_id(&call.name));
                self.add("ST07", (item, nth), what);
            }
            let number = self.calls.len();
            self.by_id.entry(call.id.to_string()).or_default().push(number);
            self.calls.push(PendingCall {
                item,
                nth,
                id: call.id.into_owned(),
                answered: false,
            });
        }
    }

    /// A result belongs to the nearest unanswered call with its id; without an id, to the next call of the latest
    /// message with calls.
    fn result(&mut self, item: usize, id: &str) {
        let (is_known, number) = match id.is_empty() {
            true => (self.newest < self.calls.len(), self.open_of_newest()),
            false => (self.by_id.contains_key(id), self.open_of(id)),
        };
        match number {
            Some(number) => self.calls[number].answered = true,
            None if !is_known => {
                let what = if id.is_empty() {
                    "result without call id".to_string()
                } else {
                    format!("the result for {} has no call before it", short_id(id))
                };
                self.add("ST01", (item, 0), what);
            }
            None => {
                let what = if id.is_empty() {
                    "more results than calls".to_string()
                } else {
                    format!("duplicate result for {}", short_id(id))
                };
                self.add("ST04", (item, 0), what);
            }
        }
    }

    /// The last unanswered call with an id. An answered call remains answered.
    fn open_of(&mut self, id: &str) -> Option<usize> {
        let numbers = self.by_id.get_mut(id)?;
        while numbers.last().is_some_and(|number| self.calls[*number].answered) {
            numbers.pop();
        }
        numbers.last().copied()
    }

    /// The last unanswered call of the latest message with calls.
    fn open_of_newest(&mut self) -> Option<usize> {
        while self.open_end > self.newest && self.calls[self.open_end - 1].answered {
            self.open_end -= 1;
        }
        (self.open_end > self.newest).then(|| self.open_end - 1)
    }

    /// Reports calls without results; at the end of a session, they are warnings.
    fn open_calls(&mut self, view: &View, session: &Session) {
        let role = |item: usize| view.items[item].traits(session).map(|traits| traits.role);
        let end = (0..view.items.len())
            .rev()
            .find(|item| !matches!(role(*item), Some(Role::Tool)))
            .unwrap_or(0);
        let calls = std::mem::take(&mut self.calls);
        let format = native::source_format(session).and_then(|name| Format::from_name(&name));
        let is_usual = format.is_some_and(|format| format.spec().omits_results);
        if let [first, _, ..] = &calls[..]
            && is_usual
            && calls.iter().all(|call| !call.answered)
        {
            let what = format!(
                "none of the {} calls has a result, as usual in this format",
                calls.len()
            );
            return self.note("ST02", (first.item, first.nth), Severity::Warn, what);
        }
        for call in calls {
            if !call.answered {
                let most = if call.item >= end {
                    Severity::Warn
                } else {
                    Severity::Error
                };
                let what = format!("the call {} has no result", short_id(&call.id));
                self.note("ST02", (call.item, call.nth), most, what);
            }
        }
    }
}

fn is_json(text: &[u8]) -> bool {
    let start = json::skip_space(text, 0);
    json::value_end(text, start, Dialect::Strict).is_ok_and(|end| json::skip_space(text, end) == text.len())
}
