//! Finds the matching lines of a session.

use super::pattern::{self, Pattern};
use super::texts::{TextKind, each_text};
use crate::filter::overview::Title;
use crate::model::event::Action;
use crate::model::message::Message;
use crate::model::record::RecordKind;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The query.
#[derive(Clone, Debug)]
pub struct Query {
    /// The pattern.
    pub pattern: Pattern,
    /// Kinds of text; empty: all but titles.
    pub parts: Vec<TextKind>,
    /// Roles, one of which the message has; empty: any.
    pub roles: Vec<String>,
    /// Tools, one of which the message calls or answers; empty: any message.
    pub tools: Vec<String>,
    /// Only the view that a model would receive.
    pub live: bool,
    /// Lines around each match, within the same text.
    pub around: usize,
}

/// A text with matching lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundText {
    /// Number of the message in the session, from 1; for a summary, that of the message before it.
    pub position: u64,
    /// The id of the message, if the record has one.
    pub message: Option<String>,
    /// The role as written.
    pub role: String,
    /// The kind of text.
    pub part: TextKind,
    /// The tool of a call or result.
    pub tool: Option<String>,
    /// The time of the message as written.
    pub timestamp: Option<String>,
    /// Offset of the record in its input.
    pub offset: u64,
    /// Whether a model would receive the message.
    pub live: bool,
    /// The matching lines and the lines around them, in order.
    pub lines: Vec<TextLine>,
}

/// A line of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine {
    /// Its number in the text, from 1.
    pub number: usize,
    /// The line, without line break.
    pub text: String,
    /// The byte ranges of the matches; `None` for a context line.
    pub spans: Option<Vec<Range<usize>>>,
}

impl FoundText {
    /// Number of matching lines.
    pub fn count(&self) -> usize {
        self.lines.iter().filter(|line| line.spans.is_some()).count()
    }
}

impl Query {
    fn wants(&self, part: TextKind) -> bool {
        match self.parts.as_slice() {
            [] => part != TextKind::Title,
            parts => parts.contains(&part),
        }
    }

    fn has_role(&self, role: &str) -> bool {
        self.roles.is_empty() || self.roles.iter().any(|own| own == role)
    }

    fn has_tool(&self, tool: Option<&str>) -> bool {
        self.tools.is_empty() || tool.is_some_and(|tool| self.tools.iter().any(|own| own == tool))
    }
}

/// A search in one session.
struct SessionSearch<'q> {
    query: &'q Query,
    /// Number of matching lines that may still be found.
    left: usize,
    /// Tools by the ids of their calls.
    tools: HashMap<String, String>,
    found: Vec<FoundText>,
}

/// The texts of a session with matching lines, in order; at most `most` lines match.
pub fn find(session: &Session, query: &Query, most: usize) -> Vec<FoundText> {
    let mut search = SessionSearch {
        query,
        // Hidden matches are removed later, so they must not count.
        left: if query.live { usize::MAX } else { most },
        tools: HashMap::new(),
        found: Vec::new(),
    };
    if query.parts.contains(&TextKind::Title) {
        search.title(session);
    }
    let mut position = 0;
    // If the search can end here, no view is needed.
    let mut lines = Vec::new();
    for index in 0..session.len() {
        if search.left == 0 {
            break;
        }
        let record = session.record(index);
        let known = search.found.len();
        match &record.kind {
            RecordKind::Message(message) => {
                position += 1;
                search.message(message, record.body, position);
            }
            RecordKind::Event(event)
                if query.wants(TextKind::Summary) && query.pattern.prefilter().may_match(record.body) =>
            {
                let text = match event.action() {
                    Action::Summary(summary) => Some(summary.content),
                    Action::Compact(compact) => compact.summary.flatten().map(|standing| standing.content()),
                    _ => None,
                };
                if let Some(text) = text.filter(|_| query.tools.is_empty()) {
                    let role = event_role(record.body);
                    if query.has_role(&role) {
                        search.text(&FoundText::new(position, &role, TextKind::Summary), &text);
                    }
                }
            }
            RecordKind::Unreadable(_)
                if query.tools.is_empty() && query.roles.is_empty() && query.wants(TextKind::Text) =>
            {
                let text = crate::model::json::unescape(record.body);
                search.text(&FoundText::new(position, "", TextKind::Text), &text);
            }
            _ => {}
        }
        for found in &mut search.found[known..] {
            found.offset = record.place.offset;
            lines.push(index);
        }
    }
    let mut found = search.found;
    let titles = found.len() - lines.len();
    if !lines.is_empty() {
        let view = View::replay(session);
        let live: HashSet<usize> = view.items.iter().filter_map(shown_line).collect();
        for (found, line) in found[titles..].iter_mut().zip(lines) {
            found.live = live.contains(&line);
        }
    }
    if query.live {
        found.retain(|found| found.live);
        limit(&mut found, most);
    }
    found
}

/// Keeps the first matching lines.
fn limit(found: &mut Vec<FoundText>, most: usize) {
    let mut left = most;
    for found in found.iter_mut() {
        found.lines.retain(|line| {
            let keeps = left > 0;
            left -= usize::from(keeps && line.spans.is_some());
            keeps
        });
    }
    found.retain(|found| found.count() > 0);
}

/// The line of an item.
fn shown_line(item: &Item) -> Option<usize> {
    match item {
        Item::Summary(line) => Some(*line),
        item => item.line(),
    }
}

/// The role of a summary.
fn event_role(body: &[u8]) -> String {
    let role = crate::model::json::member(body, "role").and_then(crate::model::json::text);
    role.map_or_else(|| "system".to_string(), |role| role.into_owned())
}

impl FoundText {
    fn new(position: u64, role: &str, part: TextKind) -> FoundText {
        FoundText {
            position,
            message: None,
            role: role.to_string(),
            part,
            tool: None,
            timestamp: None,
            offset: 0,
            live: true,
            lines: Vec::new(),
        }
    }
}

impl SessionSearch<'_> {
    fn title(&mut self, session: &Session) {
        let title = Title::of(session, session.header_text("title"), &View::default());
        if let Some(title) = title.filter(|_| self.query.roles.is_empty() && self.query.tools.is_empty()) {
            self.text(&FoundText::new(0, "", TextKind::Title), &title.text);
        }
    }

    fn message(&mut self, message: &Message<'_>, body: &[u8], position: u64) {
        let query = self.query;
        if !query.tools.is_empty() && message.calls_tools() {
            let calls = message.tool_calls().into_iter();
            self.tools
                .extend(calls.map(|call| (call.id.into_owned(), call.name.into_owned())));
        }
        if !query.pattern.prefilter().may_match(body) {
            return;
        }
        let role = message.role_name();
        if !query.has_role(&role) {
            return;
        }
        let answered = || {
            let id = message.tool_call_id()?;
            self.tools.get(id.as_ref()).cloned()
        };
        let answered = match query.tools.is_empty() {
            true => message
                .name
                .and_then(crate::model::json::text)
                .map(|name| name.into_owned()),
            false => answered(),
        };
        let base = FoundText {
            message: message.id().map(|id| id.into_owned()),
            timestamp: message.timestamp().map(|time| time.into_owned()),
            ..FoundText::new(position, &role, TextKind::Text)
        };
        each_text(message, &mut |part, tool, text| {
            let tool = match part {
                TextKind::Result => answered.as_deref(),
                _ => tool,
            };
            if query.wants(part) && query.has_tool(tool) {
                let found = FoundText {
                    part,
                    tool: tool.map(str::to_string),
                    ..base.clone()
                };
                self.text(&found, text);
            }
        });
    }

    /// Adds the matching lines of a text.
    fn text(&mut self, base: &FoundText, text: &str) {
        let mut lines: Vec<TextLine> = Vec::new();
        let left = &mut self.left;
        self.query.pattern.lines(text, |number, line, spans| {
            if *left == 0 {
                return false;
            }
            *left -= 1;
            lines.push(TextLine {
                number,
                text: line.to_string(),
                spans: Some(spans),
            });
            true
        });
        if lines.is_empty() {
            return;
        }
        if self.query.around > 0 {
            lines = with_neighbors(lines, text, self.query.around);
        }
        self.found.push(FoundText {
            lines,
            ..base.clone()
        });
    }
}

/// Matching lines together with the lines around them.
fn with_neighbors(matching: Vec<TextLine>, text: &str, around: usize) -> Vec<TextLine> {
    let mut all = Vec::new();
    let mut matching = matching.into_iter().peekable();
    let mut last: Option<usize> = None;
    for (nth, line) in pattern::lines(text).enumerate() {
        let number = nth + 1;
        if let Some(found) = matching.next_if(|found| found.number == number) {
            last = Some(number);
            all.push(found);
            continue;
        }
        let follows = last.is_some_and(|last| number - last <= around);
        let precedes = matching.peek().is_some_and(|next| next.number - number <= around);
        if follows || precedes {
            all.push(TextLine {
                number,
                text: line.to_string(),
                spans: None,
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::pattern::PatternOptions;
    use super::*;
    use crate::model::session::of_lines;

    fn session() -> Session {
        of_lines(&[
            r#"{"type":"session","version":1,"id":"s","title":"Of the lease"}"#,
            r#"{"role":"user","content":"one\ntwo lease\nthree\nfour","id":"lease-1"}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"run","arguments":"{\"cmd\":\"lease now\"}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c1","content":"no lease"}"#,
            r#"{"type":"truncate","id":"evt_1","at":"2026-01-01T00:00:00Z","before":null}"#,
            r#"{"type":"summary","id":"evt_2","at":"2026-01-01T00:00:00Z","content":"a lease was asked for"}"#,
            r#"{"role":"user","content":"thanks","timestamp":"2026-01-01T00:00:01Z"}"#,
            "not JSON, with a lease",
        ])
    }

    fn query(pattern: &str) -> Query {
        Query {
            pattern: Pattern::new(pattern, PatternOptions::default()).unwrap(),
            parts: Vec::new(),
            roles: Vec::new(),
            tools: Vec::new(),
            live: false,
            around: 0,
        }
    }

    fn shown(query: &Query, most: usize) -> Vec<String> {
        let found = find(&session(), query, most);
        let lines = |found: &FoundText| {
            let lines: Vec<String> = found
                .lines
                .iter()
                .map(|line| format!("{}{}", if line.spans.is_some() { "" } else { "-" }, line.text))
                .collect();
            format!(
                "{} {} {} {}",
                found.position,
                found.role,
                found.part.name(),
                lines.join("|")
            )
        };
        found.iter().map(lines).collect()
    }

    #[test]
    fn every_kind_of_text_is_searched_and_nothing_else() {
        let all = [
            "1 user text two lease",
            "2 assistant call lease now",
            "3 tool result no lease",
            "3 system summary a lease was asked for",
            "4  text not JSON, with a lease",
        ];
        assert_eq!(shown(&query("lease"), usize::MAX), all);
        assert_eq!(shown(&query("lease"), 2), all[..2]);
        assert_eq!(shown(&query("lease-1"), usize::MAX), [""; 0]);
        let titles = Query {
            parts: vec![TextKind::Title],
            ..query("lease")
        };
        assert_eq!(shown(&titles, usize::MAX), ["0  title Of the lease"]);
        let results = Query {
            parts: vec![TextKind::Result],
            ..query("lease")
        };
        assert_eq!(shown(&results, usize::MAX), all[2..3]);
    }

    #[test]
    fn filters_by_role_tool_and_view() {
        let users = Query {
            roles: vec!["user".to_string()],
            ..query("lease")
        };
        assert_eq!(shown(&users, usize::MAX), ["1 user text two lease"]);
        let tool = Query {
            tools: vec!["run".to_string()],
            ..query("lease")
        };
        assert_eq!(
            shown(&tool, usize::MAX),
            ["2 assistant call lease now", "3 tool result no lease"]
        );
        let other = Query {
            tools: vec!["walk".to_string()],
            ..query("lease")
        };
        assert_eq!(shown(&other, usize::MAX), [""; 0]);
        let live = Query {
            live: true,
            ..query("lease")
        };
        assert_eq!(
            shown(&live, usize::MAX),
            ["3 system summary a lease was asked for"]
        );
    }

    #[test]
    fn lines_around_a_match_are_those_of_its_text() {
        let around = Query {
            around: 1,
            ..query("lease")
        };
        assert_eq!(shown(&around, 1), ["1 user text -one|two lease|-three"]);
        let found = find(&session(), &query("lease"), 1);
        let spans = found[0].lines[0].spans.as_deref().unwrap();
        assert_eq!((spans.len(), &spans[0]), (1, &(4..9)));
    }
}
