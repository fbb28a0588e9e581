//! The tokens of a session by role, category, tool and exchange, in the log and in the view.

use super::counter::Counter;
use crate::model::exchange::Cuts;
use crate::model::message::{Message, Role};
use crate::model::session::{Class, Session};
use crate::model::summary;
use crate::model::view::{Item, View};
use std::collections::{BTreeMap, HashMap};

/// The grouping of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// By role.
    Role,
    /// By category.
    Category,
    /// By tool: calls and their results.
    Tool,
    /// By exchange of the log.
    Exchange,
}

/// Number of messages and their tokens. For a tool: number of calls, and tokens of calls and results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenFigure {
    /// Messages, or calls.
    pub messages: u64,
    /// Tokens.
    pub tokens: u64,
}

/// One group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageGroup {
    /// Role, category or tool; for an exchange, its number from 1.
    pub name: String,
    /// For an exchange, the line index of its first message.
    pub first: Option<usize>,
    /// In the log.
    pub log: TokenFigure,
    /// In the view.
    pub view: TokenFigure,
}

/// The group of summaries, which are not messages of the log.
pub const SUMMARY: &str = "summary";

/// The group of messages outside of exchanges: those of category system.
pub const RULES: &str = "rules";

/// Tokens of an item of a view.
pub fn of_item(session: &Session, item: &Item, counter: Counter) -> u64 {
    if let Item::Summary(_) = item {
        // By default, it is sent as a system message.
        let quoted = summary::quoted(&item.summary(session).unwrap_or_default());
        return counter.tokenizer().message_tokens(Role::System.name(), &quoted);
    }
    let message = item.message(session);
    message.map_or(0, |message| counter.message(&message))
}

/// The token usage of a session.
#[derive(Debug)]
pub struct TokenUsage<'s> {
    session: &'s Session,
    counter: Counter,
    /// Tokens by line index; 0 for lines that are not messages.
    lines: Vec<u64>,
    view: View,
}

impl TokenUsage<'_> {
    /// Counts every message of the session once.
    pub fn of(session: &Session, counter: Counter) -> TokenUsage<'_> {
        let tokens = |index: usize| match session.class(index) {
            Class::Message(_) => session
                .record(index)
                .message()
                .map_or(0, |message| counter.message(message)),
            _ => 0,
        };
        TokenUsage {
            session,
            counter,
            lines: (0..session.len()).map(tokens).collect(),
            view: View::replay(session),
        }
    }

    /// The counter.
    pub const fn counter(&self) -> Counter {
        self.counter
    }

    /// The total of all messages.
    pub fn total(&self) -> UsageGroup {
        let mut total = UsageGroup::default();
        for (index, _) in self.session.messages() {
            total.log.add(1, self.lines[index]);
        }
        for item in &self.view.items {
            total.view.add(1, self.tokens(item));
        }
        total
    }

    /// Tokens of an item of the view.
    fn tokens(&self, item: &Item) -> u64 {
        match item {
            Item::Line(index) => self.lines[*index],
            other => of_item(self.session, other, self.counter),
        }
    }

    /// The groups sorted by name; exchanges in log order.
    pub fn groups(&self, by: GroupBy) -> Vec<UsageGroup> {
        match by {
            GroupBy::Role => self.named(|message| message.role_name().into_owned()),
            GroupBy::Category => self.named(|message| message.category().name().to_string()),
            GroupBy::Tool => self.tools(),
            GroupBy::Exchange => self.exchanges(),
        }
    }

    fn named(&self, name: impl Fn(&Message<'_>) -> String) -> Vec<UsageGroup> {
        let mut groups: BTreeMap<String, UsageGroup> = BTreeMap::new();
        for (index, _) in self.session.messages() {
            if let Some(message) = self.session.record(index).message() {
                groups
                    .entry(name(message))
                    .or_default()
                    .log
                    .add(1, self.lines[index]);
            }
        }
        for item in &self.view.items {
            let name = item
                .message(self.session)
                .map_or_else(|| SUMMARY.to_string(), |message| name(&message));
            groups.entry(name).or_default().view.add(1, self.tokens(item));
        }
        with_names(groups)
    }

    fn tools(&self) -> Vec<UsageGroup> {
        let mut groups = BTreeMap::new();
        for (view, figure) in [
            (&View::whole(self.session), TokenFigure::in_log as UsagePlace),
            (&self.view, TokenFigure::in_view),
        ] {
            // The tool of each call so far; a repeated id refers to the later call.
            let mut called: HashMap<String, String> = HashMap::new();
            for item in &view.items {
                let Some(message) = item.message(self.session) else {
                    continue;
                };
                for call in message.tool_calls() {
                    let name = call.name.clone().into_owned();
                    let group = groups.entry(name.clone()).or_default();
                    figure(group).add(1, self.counter.tokenizer().call(&call));
                    called.insert(call.id.into_owned(), name);
                }
                if message.role() == Role::Tool {
                    let id = message.tool_call_id().unwrap_or_default();
                    let own = || {
                        message
                            .name
                            .and_then(crate::model::json::text)
                            .unwrap_or_default()
                            .into_owned()
                    };
                    let name = called.get(id.as_ref()).cloned().unwrap_or_else(own);
                    figure(groups.entry(name).or_default()).add(0, self.tokens(item));
                }
            }
        }
        with_names(groups)
    }

    fn exchanges(&self) -> Vec<UsageGroup> {
        let log = View::whole(self.session);
        let cuts = Cuts::of(self.session, &log);
        let mut groups: Vec<UsageGroup> = Vec::new();
        let mut rules = UsageGroup {
            name: RULES.to_string(),
            ..UsageGroup::default()
        };
        // The group of each line: its index in `groups`, or none for system messages.
        let mut group_of: HashMap<usize, Option<usize>> = HashMap::new();
        for (item, (index, _)) in self.session.messages().enumerate() {
            let within = cuts.atom(item).is_some();
            if within && (cuts.begins(item) || groups.is_empty()) {
                let name = (groups.len() + 1).to_string();
                groups.push(UsageGroup {
                    name,
                    first: Some(index),
                    ..UsageGroup::default()
                });
            }
            let place = if within { groups.len().checked_sub(1) } else { None };
            group_of.insert(index, place);
            let group = place.map_or(&mut rules, |place| &mut groups[place]);
            group.log.add(1, self.lines[index]);
        }
        let mut summary = UsageGroup {
            name: SUMMARY.to_string(),
            ..UsageGroup::default()
        };
        let mut last = None;
        for item in &self.view.items {
            let group = match item {
                Item::Line(index) | Item::Edited(index, _) => {
                    last = group_of.get(index).copied().flatten();
                    last.map_or(&mut rules, |place| &mut groups[place])
                }
                // An inserted message belongs to the exchange at its position.
                Item::Inserted(_) => last.map_or(&mut summary, |place| &mut groups[place]),
                Item::Summary(_) => &mut summary,
            };
            group.view.add(1, self.tokens(item));
        }
        let some = |group: &UsageGroup| group.log.messages + group.view.messages > 0;
        let before = [rules, summary].into_iter().filter(some);
        before.chain(groups).collect()
    }
}

type UsagePlace = fn(&mut UsageGroup) -> &mut TokenFigure;

impl TokenFigure {
    fn add(&mut self, messages: u64, tokens: u64) {
        self.messages += messages;
        self.tokens += tokens;
    }

    fn in_log(group: &mut UsageGroup) -> &mut TokenFigure {
        &mut group.log
    }

    fn in_view(group: &mut UsageGroup) -> &mut TokenFigure {
        &mut group.view
    }
}

fn with_names(groups: BTreeMap<String, UsageGroup>) -> Vec<UsageGroup> {
    groups
        .into_iter()
        .map(|(name, group)| UsageGroup { name, ..group })
        .collect()
}
