//! A view as other systems see it: the messages in a row. Summaries are no messages of theirs; they stay where
//! they are and only take room.

use crate::error::Place;
use crate::model::exchange::Cuts;
use crate::model::json::ObjectBuilder;
use crate::model::message::{Category, Message, Role};
use crate::model::record::Record;
use crate::model::session::{Session, Traits};
use crate::model::view::View;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// How much a message takes.
pub type Measure<'c> = &'c dyn Fn(&Message<'_>) -> u64;

/// The messages of a view, and where they may be cut.
#[derive(Debug)]
pub struct History<'v> {
    session: &'v Session,
    view: &'v View,
    /// For each message: its item in the view.
    items: Vec<usize>,
    traits: Vec<Traits>,
    cuts: Cuts,
    /// The line with which begins what the model has not seen, where that is known.
    unseen: Option<usize>,
}

impl<'v> History<'v> {
    /// Looks at a view.
    pub fn of(session: &'v Session, view: &'v View) -> Self {
        let (items, traits) = view
            .items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| item.traits(session).map(|traits| (index, traits)))
            .unzip();
        History {
            session,
            view,
            items,
            traits,
            cuts: Cuts::of(session, view),
            unseen: None,
        }
    }

    /// The same history, of which the model has not seen what begins with this line; none: as [`History::seen`] has it.
    pub fn unseen_from(self, unseen: Option<usize>) -> Self {
        History { unseen, ..self }
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

    /// Who speaks.
    pub fn role(&self, message: usize) -> Role {
        self.traits[message].role
    }

    /// Whether the message calls tools.
    pub fn calls(&self, message: usize) -> bool {
        self.traits[message].calls
    }

    /// Whether the message is a rule, which by convo's rules never leaves by itself.
    pub fn is_rule(&self, message: usize) -> bool {
        self.traits[message].is_system()
    }

    /// Whether the message has the role of instructions, whatever it is worth.
    pub fn is_system(&self, message: usize) -> bool {
        matches!(self.role(message), Role::System | Role::Developer)
    }

    /// The bytes of a message.
    pub fn body(&self, message: usize) -> &[u8] {
        self.view.items[self.items[message]].body(self.session)
    }

    /// A message; none when an edit left no message of it.
    pub fn message(&self, message: usize) -> Option<Message<'_>> {
        self.view.items[self.items[message]].message(self.session)
    }

    /// How much each message takes.
    pub fn counts(&self, measure: Measure<'_>) -> Vec<u64> {
        (0..self.len())
            .map(|index| self.message(index).as_ref().map_or(0, measure))
            .collect()
    }

    /// How much the summaries take, each as the message of a user.
    pub fn fixed(&self, measure: Measure<'_>) -> u64 {
        let texts = self.summaries().map(|(_, text)| text);
        texts.map(|text| count(&said("user", &text), measure)).sum()
    }

    /// The newest thing that the user said; what merely happened is no turn.
    pub fn newest_user(&self) -> Option<usize> {
        self.traits
            .iter()
            .rposition(|traits| traits.role == Role::User && traits.category != Category::Context)
    }

    /// How many messages the model has seen: all up to the newest that it said itself, where nothing else is known.
    pub fn seen(&self) -> usize {
        if let Some(unseen) = self.unseen {
            let line = |item: &usize| self.view.items[*item].line();
            let first = self
                .items
                .iter()
                .position(|item| line(item).is_some_and(|line| line >= unseen));
            return first.unwrap_or(self.len());
        }
        let said = self
            .traits
            .iter()
            .rposition(|traits| traits.role == Role::Assistant);
        said.map_or(0, |newest| newest + 1)
    }

    /// Whether a cut ahead of this message parts no call from its result, and no open loop.
    pub fn is_whole(&self, cut: usize) -> bool {
        self.items.get(cut).is_none_or(|item| self.cuts.is_whole(*item))
    }

    /// The first place at or behind this one where nothing is parted.
    pub fn inward(&self, mut cut: usize) -> usize {
        while !self.is_whole(cut) {
            cut += 1;
        }
        cut
    }

    /// The last place at or ahead of this one where nothing is parted.
    pub fn outward(&self, mut cut: usize) -> usize {
        while !self.is_whole(cut) {
            cut -= 1; // the first message parts nothing
        }
        cut
    }

    /// The messages with which exchanges begin, oldest first.
    pub fn exchanges(&self) -> Vec<usize> {
        let starts = self.cuts.exchange_starts();
        let message = |item: usize| self.items.partition_point(|known| *known < item);
        starts.into_iter().map(message).collect()
    }

    /// For each message whether it belongs to a call that waits for its result: one without a result in the newest
    /// exchange. Such a call is not to be touched.
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
            // Where ids are missing, results belong to calls by their places.
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

    /// Number of the atom that a message belongs to; none for system messages.
    pub fn atom(&self, message: usize) -> Option<usize> {
        self.cuts.atom(self.items[message])
    }
}

/// How much a line takes that is being made; nothing when it is no message.
pub fn count(body: &[u8], measure: Measure<'_>) -> u64 {
    let place = Place { line: 0, offset: 1 };
    Record::parse(body, place).message().map_or(0, measure)
}

/// A message of this role with this text.
pub fn said(role: &str, text: &str) -> Vec<u8> {
    let mut message = ObjectBuilder::default();
    message.text("role", role).text("content", text);
    message.finish()
}
