//! A view as a flat list of messages, as other systems see it. Summaries are not in the list; they keep their places
//! and only count toward the size.

use crate::error::Position;
use crate::model::exchange::Cuts;
use crate::model::json::ObjectBuilder;
use crate::model::message::{Category, Message, Role};
use crate::model::record::Record;
use crate::model::session::{Session, Traits};
use crate::model::view::View;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Measures the size of a message, e.g. in tokens.
pub type MeasureFn<'c> = &'c dyn Fn(&Message<'_>) -> u64;

/// The messages of a view and the places where they can be cut.
#[derive(Debug)]
pub struct CompatHistory<'v> {
    session: &'v Session,
    view: &'v View,
    /// For each message: its item in the view.
    items: Vec<usize>,
    traits: Vec<Traits>,
    cuts: Cuts,
    /// The line of the first message that the model has not seen, if known.
    unseen: Option<usize>,
}

impl<'v> CompatHistory<'v> {
    /// Lists the messages of a view.
    pub fn of(session: &'v Session, view: &'v View) -> Self {
        let (items, traits) = view
            .items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| item.traits(session).map(|traits| (index, traits)))
            .unzip();
        CompatHistory {
            session,
            view,
            items,
            traits,
            cuts: Cuts::of(session, view),
            unseen: None,
        }
    }

    /// Sets the line of the first message that the model has not seen; with none, [`CompatHistory::seen`] estimates it.
    pub fn unseen_from(self, unseen: Option<usize>) -> Self {
        CompatHistory { unseen, ..self }
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The view.
    pub fn view(&self) -> &'v View {
        self.view
    }

    /// The summaries: their items and texts.
    pub fn summaries(&self) -> impl Iterator<Item = (usize, Cow<'v, str>)> + '_ {
        let items = self.view.items.iter().enumerate();
        items.filter_map(|(at, item)| Some((at, item.summary(self.session)?)))
    }

    /// The item of a message.
    pub fn item(&self, message: usize) -> usize {
        self.items[message]
    }

    /// The role of a message.
    pub fn role(&self, message: usize) -> Role {
        self.traits[message].role
    }

    /// Whether the message calls tools.
    pub fn calls(&self, message: usize) -> bool {
        self.traits[message].calls
    }

    /// Whether the message is an instruction, which convo never drops on its own.
    pub fn is_rule(&self, message: usize) -> bool {
        self.traits[message].is_system()
    }

    /// Whether the message has a system or developer role, whatever its category.
    pub fn is_system(&self, message: usize) -> bool {
        matches!(self.role(message), Role::System | Role::Developer)
    }

    /// The bytes of a message.
    pub fn body(&self, message: usize) -> &[u8] {
        self.view.items[self.items[message]].body(self.session)
    }

    /// A message; none if an edit left an item that is not a message.
    pub fn message(&self, message: usize) -> Option<Message<'_>> {
        self.view.items[self.items[message]].message(self.session)
    }

    /// The size of each message.
    pub fn counts(&self, measure: MeasureFn<'_>) -> Vec<u64> {
        (0..self.len())
            .map(|index| self.message(index).as_ref().map_or(0, measure))
            .collect()
    }

    /// The total size of the summaries, each counted as a user message.
    pub fn fixed(&self, measure: MeasureFn<'_>) -> u64 {
        let texts = self.summaries().map(|(_, text)| text);
        texts
            .map(|text| count(&encode_message("user", &text), measure))
            .sum()
    }

    /// The newest user message; context messages do not count.
    pub fn newest_user(&self) -> Option<usize> {
        self.traits
            .iter()
            .rposition(|traits| traits.role == Role::User && traits.category != Category::Context)
    }

    /// How many messages the model has seen; if not known, all up to its newest message.
    pub fn seen(&self) -> usize {
        if let Some(unseen) = self.unseen {
            let line = |item: &usize| self.view.items[*item].line();
            let first = self
                .items
                .iter()
                .position(|item| line(item).is_some_and(|line| line >= unseen));
            return first.unwrap_or(self.len());
        }
        let reply = self
            .traits
            .iter()
            .rposition(|traits| traits.role == Role::Assistant);
        reply.map_or(0, |newest| newest + 1)
    }

    /// Whether a cut before this message separates no call from its result and interrupts no open tool loop.
    pub fn is_whole(&self, cut: usize) -> bool {
        self.items.get(cut).is_none_or(|item| self.cuts.is_whole(*item))
    }

    /// The first valid cut at or after this one.
    pub fn inward(&self, mut cut: usize) -> usize {
        while !self.is_whole(cut) {
            cut += 1;
        }
        cut
    }

    /// The last valid cut at or before this one.
    pub fn outward(&self, mut cut: usize) -> usize {
        while !self.is_whole(cut) {
            cut -= 1; // a cut before the first message is always valid
        }
        cut
    }

    /// The first message of each exchange, oldest first.
    pub fn exchanges(&self) -> Vec<usize> {
        let starts = self.cuts.exchange_starts();
        let message = |item: usize| self.items.partition_point(|known| *known < item);
        starts.into_iter().map(message).collect()
    }

    /// Marks each message of a pending call: a call of the newest exchange without a result. Pending calls must not
    /// change.
    pub fn pending(&self) -> Vec<bool> {
        let newest = self.exchanges().last().copied().unwrap_or(self.len());
        let mut answered = HashSet::new();
        let mut results: HashMap<Option<usize>, usize> = HashMap::new();
        for at in (newest..self.len()).filter(|at| self.role(*at) == Role::Tool) {
            let id = self
                .message(at)
                .and_then(|message| message.tool_call_id().map(Cow::into_owned));
            answered.extend(id);
            *results.entry(self.atom(at)).or_default() += 1;
        }
        let waits = |at: &usize| {
            let calls = self
                .message(*at)
                .map(|message| message.tool_calls())
                .unwrap_or_default();
            // Without ids, results belong to calls by position.
            let missing = results
                .get(&self.atom(*at))
                .is_none_or(|results| *results < calls.len());
            let open = |id: &str| {
                if id.is_empty() {
                    missing
                } else {
                    !answered.contains(id)
                }
            };
            calls.iter().any(|call| open(call.id.as_ref()))
        };
        let waiting = (newest..self.len()).filter(|at| self.calls(*at)).filter(waits);
        let atoms: HashSet<usize> = waiting.filter_map(|at| self.atom(at)).collect();
        let is = |at: usize| self.atom(at).is_some_and(|atom| atoms.contains(&atom));
        (0..self.len()).map(is).collect()
    }

    /// The number of the message group that a message belongs to; none for system messages.
    pub fn atom(&self, message: usize) -> Option<usize> {
        self.cuts.atom(self.items[message])
    }
}

/// The size of a new line; 0 when it is not a message.
pub fn count(body: &[u8], measure: MeasureFn<'_>) -> u64 {
    let place = Position { line: 0, offset: 1 };
    Record::parse(body, place).message().map_or(0, measure)
}

pub fn encode_message(role: &str, text: &str) -> Vec<u8> {
    let mut message = ObjectBuilder::default();
    message.text("role", role).text("content", text);
    message.finish()
}
