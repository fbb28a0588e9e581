//! Selects messages by exchange, role, category, tool, text or id. A tool call and its results are selected together.

use super::materialize::remaining_lines;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::model::exchange::Cuts;
use crate::model::message::{Category, Message, Role};
use crate::model::record::Record;
use crate::model::session::{Class, DerivedLine, Session};
use crate::model::view::{Item, View};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// The messages to select: those that match every condition; an empty condition matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Roles, any of which matches.
    pub roles: Vec<String>,
    /// Categories, any of which matches.
    pub categories: Vec<Category>,
    /// Tools, any of which the message calls or answers.
    pub tools: Vec<String>,
    /// Ids, any of which matches.
    pub ids: Vec<String>,
    /// Text in the content or in the arguments of a call, ignoring case.
    pub text: Option<String>,
    /// The exchanges that the message is in.
    pub exchanges: Option<Exchanges>,
}

/// Exchanges at one end of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchanges {
    /// The oldest, with the messages before them.
    First(usize),
    /// The newest.
    Last(usize),
}

/// The facts about a message that the selection uses.
struct MessageFacts {
    role: String,
    category: Category,
    /// Whether it calls tools, and the ids and tools of its calls.
    calls: Option<Vec<(String, String)>>,
    /// Whether it is the result of a call, and its id.
    answers: Option<Option<String>>,
    /// Whether it has one of the ids, and the text.
    matches: bool,
}

impl MessageFacts {
    fn of(session: &Session, item: &Item, selection: &Selection) -> Option<MessageFacts> {
        if let Some(line) = item.summary_message(session) {
            let record = Record::parse(&line, Position { line: 1, offset: 1 });
            return record
                .message()
                .map(|message| MessageFacts::read(message, None, selection));
        }
        let message = item.message(session)?;
        let id = match item.line() {
            Some(line) if !selection.ids.is_empty() => session.id(line),
            _ => message.id().map(|id| id.into_owned()),
        };
        Some(MessageFacts::read(&message, id, selection))
    }

    fn read(message: &Message<'_>, own: Option<String>, selection: &Selection) -> MessageFacts {
        let ids = || {
            let calls = message.tool_calls().into_iter();
            calls
                .map(|call| (call.id.into_owned(), call.name.into_owned()))
                .collect()
        };
        let id = message.tool_call_id().map(|id| id.into_owned());
        let is_result = message.role() == Role::Tool;
        let has_id = || selection.ids.is_empty() || own.is_some_and(|own| selection.ids.contains(&own));
        let text = selection.text.as_ref().map(|text| text.to_lowercase());
        let has_text = || text.is_none_or(|text| contains(message, &text));
        MessageFacts {
            role: message.role_name().into_owned(),
            category: message.category(),
            matches: has_id() && has_text(),
            calls: message.calls_tools().then(ids),
            answers: is_result.then(|| id.filter(|id| !id.is_empty())),
        }
    }

    /// The tools that it calls.
    fn tools(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().flatten().map(|(_, tool)| tool.as_str())
    }
}

/// Whether a message contains a text in lower case.
fn contains(message: &Message<'_>, text: &str) -> bool {
    let found = |own: &str| own.to_lowercase().contains(text);
    found(&message.text())
        || message
            .tool_calls()
            .iter()
            .any(|call| found(&call.name) || found(&call.arguments))
}

impl Selection {
    /// Whether there are no conditions, so that everything is selected.
    pub fn is_empty(&self) -> bool {
        *self == Selection::default()
    }

    /// Whether each item is selected, directly or through its call or result.
    pub fn chosen(&self, session: &Session, items: &[Item]) -> Vec<bool> {
        self.choose(&self.candidates(session, items), &self.range(session, items))
    }

    fn candidates(&self, session: &Session, items: &[Item]) -> Vec<Option<MessageFacts>> {
        let read = |item| MessageFacts::of(session, item, self);
        items.iter().map(read).collect()
    }

    /// The items of the selected exchanges.
    fn range(&self, session: &Session, items: &[Item]) -> Range<usize> {
        let Some(exchanges) = self.exchanges else {
            return 0..items.len();
        };
        let view = View {
            items: items.to_vec(),
            ..View::default()
        };
        let cuts = Cuts::of(session, &view);
        let starts: Vec<usize> = (0..items.len()).filter(|item| cuts.begins(*item)).collect();
        match exchanges {
            Exchanges::First(count) => 0..starts.get(count).copied().unwrap_or(items.len()),
            Exchanges::Last(count) => {
                let first = starts.len().checked_sub(count).and_then(|nth| starts.get(nth));
                first.copied().unwrap_or(0)..items.len()
            }
        }
    }

    fn matches(&self, candidate: &MessageFacts, tool: Option<&str>) -> bool {
        let calls = || tool.is_some_and(|tool| self.tools.iter().any(|own| own == tool));
        let calls_one = || {
            candidate
                .tools()
                .any(|tool| self.tools.iter().any(|own| own == tool))
        };
        candidate.matches
            && (self.roles.is_empty() || self.roles.contains(&candidate.role))
            && (self.categories.is_empty() || self.categories.contains(&candidate.category))
            && (self.tools.is_empty() || calls() || calls_one())
    }

    fn choose(&self, candidates: &[Option<MessageFacts>], range: &Range<usize>) -> Vec<bool> {
        let callers = callers(candidates);
        let matches = |(index, candidate): (usize, &Option<MessageFacts>)| {
            // A result refers to its call, and the call to its tool.
            let tool = || {
                let id = candidate.as_ref()?.answers.as_ref()?.as_ref()?;
                let calls = candidates[callers[index]?].as_ref()?.calls.as_ref()?;
                calls
                    .iter()
                    .find_map(|(own, tool)| (own == id).then_some(tool.as_str()))
            };
            let is_match = |own: &MessageFacts| self.matches(own, tool());
            range.contains(&index) && candidate.as_ref().is_some_and(is_match)
        };
        let own: Vec<bool> = candidates.iter().enumerate().map(matches).collect();
        let mut groups: HashMap<usize, bool> = HashMap::new();
        for (index, caller) in callers.iter().enumerate() {
            if let Some(caller) = caller {
                *groups.entry(*caller).or_default() |= own[index];
            }
        }
        let grouped = |caller: &Option<usize>| caller.is_some_and(|caller| groups[&caller]);
        own.iter()
            .zip(&callers)
            .map(|(own, caller)| *own || grouped(caller))
            .collect()
    }

    /// The session reduced to the selected messages of its view. The header and events that do not change the view
    /// are kept, but neither passthrough records nor the source bytes, whose messages are found by their position.
    ///
    /// # Errors
    /// [`ErrorKind::No`] when no message is selected; the hint lists the names that occur.
    pub fn narrowed(&self, session: &Session) -> Result<Session> {
        let mut view = View::replay(session);
        let candidates = self.candidates(session, &view.items);
        let chosen = self.choose(&candidates, &self.range(session, &view.items));
        if !chosen.contains(&true) {
            return Err(no_match(&candidates));
        }
        let mut is_chosen = chosen.iter();
        view.items.retain(|_| is_chosen.next() == Some(&true));
        let live: HashSet<usize> = session.live_events().into_iter().collect();
        let is_kept = |index: usize| match session.class(index) {
            Class::Header => true,
            // Passthrough records may repeat messages that are not selected.
            Class::Event => {
                let event = session.record(index);
                let is_passthrough = event.event().is_some_and(|event| event.name() == "foreign");
                live.contains(&index) && !is_passthrough && !changes_view(session, index)
            }
            _ => false,
        };
        let mut narrowed = Session::default();
        for piece in remaining_lines(session, &view, is_kept) {
            match piece {
                DerivedLine::Line(index) => narrowed.push_from(session, index),
                DerivedLine::Edited(_, body) | DerivedLine::Generated(body) => narrowed.push_new(&body),
            }
        }
        Ok(narrowed)
    }

    /// The error for a selection without matches.
    pub fn nothing(session: &Session, items: &[Item]) -> Error {
        no_match(&Selection::default().candidates(session, items))
    }
}

/// Whether the event on a line changes the view.
fn changes_view(session: &Session, index: usize) -> bool {
    let record = session.record(index);
    let name = record.event().map(|event| event.name()).unwrap_or_default();
    ["restore", "truncate", "compact", "summary", "attempt"].contains(&name.as_ref())
}

/// The session without its truncations, compactions and summaries. Changes to match its source remain.
pub fn original(session: &Session) -> Session {
    let live: HashSet<usize> = session.live_events().into_iter().collect();
    let is_update = |index: usize| {
        session
            .record(index)
            .event()
            .is_some_and(|event| event.is_update())
    };
    let mut original = Session::default();
    for index in 0..session.len() {
        let is_kept = match session.class(index) {
            Class::Event => live.contains(&index) && (!changes_view(session, index) || is_update(index)),
            _ => true,
        };
        if is_kept {
            original.push_from(session, index);
        }
    }
    if let Some(origin) = session.origin() {
        original.set_origin(origin.clone());
    }
    original
}

fn no_match(candidates: &[Option<MessageFacts>]) -> Error {
    let mut roles: BTreeMap<&str, usize> = BTreeMap::new();
    let mut categories: BTreeMap<&str, usize> = BTreeMap::new();
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    for candidate in candidates.iter().flatten() {
        *roles.entry(&candidate.role).or_default() += 1;
        *categories.entry(candidate.category.name()).or_default() += 1;
        for tool in candidate.tools() {
            *tools.entry(tool).or_default() += 1;
        }
    }
    let listed = |names: BTreeMap<&str, usize>| {
        let each = names
            .into_iter()
            .map(|(name, count)| format!("{} ({count})", name.escape_debug()));
        each.collect::<Vec<_>>().join(", ")
    };
    let error = Error::new(ErrorKind::No, "no message matches");
    match roles.is_empty() {
        true => error.hint("the view has no messages"),
        false => {
            let tools = match tools.is_empty() {
                true => String::new(),
                false => format!("; tools: {}", listed(tools)),
            };
            let names = format!("{}; categories: {}", listed(roles), listed(categories));
            error.hint(format!("roles in view: {names}{tools}"))
        }
    }
}

/// For each call and result, the calling message: the nearest earlier one with its id, or without an id the last one.
fn callers(candidates: &[Option<MessageFacts>]) -> Vec<Option<usize>> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut last = None;
    let mut callers = vec![None; candidates.len()];
    for (index, candidate) in candidates.iter().enumerate() {
        let Some(candidate) = candidate else { continue };
        if let Some(calls) = &candidate.calls {
            last = Some(index);
            callers[index] = last;
            by_id.extend(calls.iter().map(|(id, _)| (id.as_str(), index)));
        } else if let Some(id) = &candidate.answers {
            callers[index] = match id {
                Some(id) => by_id.get(id.as_str()).copied(),
                None => last,
            };
        }
    }
    callers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        let mut session = Session::default();
        for line in [
            r#"{"role":"system","content":"terse"}"#,
            r#"{"role":"user","content":"q"}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"b","content":"r"}"#,
            r#"{"role":"tool","tool_call_id":"a","content":"r","category":"context"}"#,
            r#"{"role":"assistant","content":"done"}"#,
            r#"{"role":"user","content":"note","category":"context"}"#,
        ] {
            session.push_new(line.as_bytes());
        }
        session
    }

    fn chosen(roles: &[&str], categories: &[Category]) -> Vec<usize> {
        let selection = Selection {
            roles: roles.iter().map(ToString::to_string).collect(),
            categories: categories.to_vec(),
            ..Selection::default()
        };
        indices(&selection)
    }

    fn indices(selection: &Selection) -> Vec<usize> {
        let session = session();
        let view = View::replay(&session);
        let chosen = selection.chosen(&session, &view.items);
        (0..chosen.len()).filter(|index| chosen[*index]).collect()
    }

    #[test]
    fn exchanges_tools_texts_and_ids() {
        let all = Selection::default();
        let of = |exchanges| {
            indices(&Selection {
                exchanges: Some(exchanges),
                ..all.clone()
            })
        };
        assert_eq!(of(Exchanges::First(1)), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(of(Exchanges::Last(1)), [1, 2, 3, 4, 5, 6]);
        assert_eq!(of(Exchanges::Last(9)), [0, 1, 2, 3, 4, 5, 6]);
        let named = |tool: &str| {
            indices(&Selection {
                tools: vec![tool.to_string()],
                ..all.clone()
            })
        };
        assert_eq!(named("f"), [2, 3, 4]);
        assert_eq!(named("g"), [0usize; 0]);
        let text = |text: &str| {
            indices(&Selection {
                text: Some(text.to_string()),
                ..all.clone()
            })
        };
        assert_eq!(text("DONE"), [5]);
        assert_eq!(text("r"), [0, 2, 3, 4]);
        let ids = vec![session().id(4).unwrap(), session().id(6).unwrap()];
        assert_eq!(indices(&Selection { ids, ..all }), [2, 3, 4, 6]);
    }

    #[test]
    fn a_call_and_its_results_are_chosen_together() {
        assert_eq!(chosen(&["user"], &[]), [1, 6]);
        assert_eq!(chosen(&["tool"], &[]), [2, 3, 4]);
        assert_eq!(chosen(&["assistant"], &[]), [2, 3, 4, 5]);
        assert_eq!(chosen(&["user", "system"], &[]), [0, 1, 6]);
        // One of two results selects the call, which selects the other result.
        assert_eq!(chosen(&[], &[Category::Context]), [2, 3, 4, 6]);
        assert_eq!(chosen(&["user"], &[Category::Context]), [6]);
        assert_eq!(chosen(&["nobody"], &[]), [0usize; 0]);
    }

    #[test]
    fn a_selection_keeps_the_header_and_the_selected_messages() {
        let mut session = Session::default();
        session.push_new(br#"{"type":"session","version":1,"id":"s"}"#);
        let messages = self::session();
        (0..messages.len()).for_each(|index| session.push_from(&messages, index));
        session.push_new(br#"{"type":"meta","id":"evt_1","at":"2026-01-01T00:00:00Z","set":{"title":"t"}}"#);
        let selection = |role: &str| Selection {
            roles: vec![role.to_string()],
            ..Selection::default()
        };
        let narrowed = selection("tool").narrowed(&session).unwrap();
        assert_eq!(narrowed.header_text("title").as_deref(), Some("t"));
        let lines = |session: &Session, from: usize, to: usize| -> Vec<Vec<u8>> {
            (from..to).map(|index| session.full(index).to_vec()).collect()
        };
        assert_eq!(lines(&narrowed, 0, 1), lines(&session, 0, 1));
        assert_eq!(lines(&narrowed, 1, 4), lines(&session, 3, 6));
        assert_eq!(narrowed.messages().count(), 3);
        let error = selection("nobody").narrowed(&session).unwrap_err();
        assert_eq!(error.kind, ErrorKind::No);
        let hint = "roles in view: assistant (2), system (1), tool (2), user (2); \
                    categories: context (2), dialog (3), system (1), system_output (1); tools: f (2)";
        assert_eq!(error.hint.as_deref(), Some(hint));
    }
}
