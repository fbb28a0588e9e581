//! Computes the PenguiFlow memory of a session: turns by zone, summary and health.

use super::read::{BASE_ATTEMPT, BY};
use super::turn::{self, PenguiflowTurn, TurnZone};
use super::{config, reply};
use crate::error::Result;
use crate::model::exchange::Cuts;
use crate::model::header;
use crate::model::health::{self, Health};
use crate::model::json::{self, quoted};
use crate::model::message::{Category, Message, Role};
use crate::model::retention::{RetentionPolicy, RetentionStrategy};
use crate::model::session::Session;
use crate::model::view::{Item, View};

/// A turn with its view items.
#[derive(Clone, Debug)]
pub struct PlacedTurn {
    /// The zone in the memory.
    pub zone: TurnZone,
    /// The turn.
    pub turn: PenguiflowTurn,
    /// Indexes into the view's items.
    pub items: Vec<usize>,
}

/// The PenguiFlow memory of a session.
#[derive(Clone, Debug)]
pub struct PenguiflowState {
    /// Its retention policy.
    pub memory: RetentionPolicy,
    /// Its summarizer status.
    pub health: health::HealthState,
    /// The summary, as a JSON string.
    pub summary: Vec<u8>,
    /// The turns, oldest first: backlog and pending before those kept in full.
    pub turns: Vec<PlacedTurn>,
    /// Items of an unanswered turn.
    pub open: Vec<usize>,
    /// Turns that the strategy drops.
    pub dropped: Vec<PlacedTurn>,
    /// Items that PenguiFlow cannot represent.
    pub unplaced: Vec<usize>,
    /// The messages of the unanswered turn.
    pub(super) open_messages: Vec<Vec<u8>>,
    pub(super) snapshot: Option<Vec<u8>>,
    noted: Option<Vec<u8>>,
    /// The last failed attempt, if this program recorded one.
    pub(super) attempt: Option<Vec<u8>>,
}

impl PenguiflowState {
    /// Computes the memory of a session.
    ///
    /// # Errors
    ///
    /// PenguiFlow would reject the retention policy.
    pub fn of(session: &Session, view: &View) -> Result<PenguiflowState> {
        let header = session.header();
        let member = |name: &str| header::member(header, name);
        let noted = member("metadata").and_then(|metadata| json::member(metadata, "penguiflow"));
        let memory = match (noted.and_then(config::noted_memory), member("memory")) {
            (Some(memory), _) => memory?,
            (None, Some(raw)) => RetentionPolicy::read(raw)?,
            (None, None) => RetentionPolicy::default(),
        };
        let before = noted
            .and_then(|noted| json::member(noted, "health"))
            .and_then(json::text)
            .and_then(|name| health::HealthState::from_name(&name));
        let attempts = Health::of(session);
        let attempt = attempts.line.map(|line| session.record(line).body.to_vec());
        let summary = VisibleSummary::of(session, view);
        let is_base = |attempt: &[u8]| {
            let id = json::member(attempt, "id");
            id.is_some() && id == noted.and_then(|noted| json::member(noted, "attempt"))
        };
        let health = match (&attempt, before) {
            (Some(attempt), Some(before)) if is_base(attempt) => before,
            // A later failure was an attempt by this program.
            (Some(_), _) => without_clock(&attempts),
            (None, Some(before)) if summary.is_own || summary.raw == EMPTY => before,
            (None, _) => health::HealthState::Healthy,
        };
        let mut state = PenguiflowState {
            memory,
            health,
            summary: summary.raw,
            turns: Vec::new(),
            open: Vec::new(),
            dropped: Vec::new(),
            unplaced: Vec::new(),
            open_messages: Vec::new(),
            snapshot: match noted {
                Some(noted) => json::member(noted, "config_snapshot").map(<[u8]>::to_vec),
                None => Some(config::snapshot(&memory, None)),
            },
            noted: noted.map(<[u8]>::to_vec),
            attempt: attempt.filter(|attempt| !is_generated(attempt)),
        };
        state.place(session, view);
        if before.is_some_and(|before| before != health) {
            state.move_with_health();
        }
        Ok(state)
    }

    /// Assigns exchanges to zones: each to its original zone, and new turns to the zone that the strategy requires.
    fn place(&mut self, session: &Session, view: &View) {
        let mut new = 0;
        for items in self.exchanges(session, view) {
            let messages: Vec<Message<'_>> = items
                .iter()
                .filter_map(|item| view.items[*item].message(session))
                .collect();
            let turn = PenguiflowTurn::of(&messages);
            if !turn.is_answered {
                self.open.extend(items);
                continue;
            }
            new += usize::from(turn.zone.is_none());
            let zone = turn.zone.unwrap_or(TurnZone::Turns);
            self.turns.push(PlacedTurn { zone, turn, items });
        }
        let body = |item: &usize| json::compact(view.items[*item].body(session)).0;
        self.open_messages = self.open.iter().map(body).collect();
        if new > 0 {
            self.evict();
        }
        // The zones are in chronological order, whatever the order of lines.
        self.turns.sort_by_key(|placed| placed.zone);
    }

    /// The items of each exchange. A turn read from a memory ends its exchange, and context messages after an answer
    /// belong to the next question.
    fn exchanges(&mut self, session: &Session, view: &View) -> Vec<Vec<usize>> {
        let cuts = Cuts::of(session, view);
        let mut exchanges: Vec<Vec<usize>> = Vec::new();
        let mut closed = true;
        let (mut answered, mut waits) = (false, false);
        for (index, item) in view.items.iter().enumerate() {
            let Some(message) = item.message(session) else {
                continue;
            };
            if message.category() == Category::System {
                self.unplaced.push(index);
                continue;
            }
            let is_context = message.role() == Role::User && message.category() == Category::Context;
            if closed || cuts.begins(index) && !waits || is_context && answered {
                exchanges.push(Vec::new());
                waits = true;
            }
            waits &= is_context;
            answered = message.role() == Role::Assistant && message.tool_calls().is_empty();
            if let Some(exchange) = exchanges.last_mut() {
                exchange.push(index);
            }
            closed = turn::zone(&message).is_some();
        }
        exchanges
    }

    /// Moves the oldest turns beyond the limit to the zone that the strategy requires.
    fn evict(&mut self) {
        let whole = self
            .turns
            .iter()
            .filter(|placed| placed.zone == TurnZone::Turns)
            .count() as u64;
        let mut beyond = match self.memory.strategy {
            RetentionStrategy::None => 0,
            _ => whole.saturating_sub(self.memory.keep_last),
        };
        let to = match (self.memory.strategy, self.health) {
            (RetentionStrategy::Truncation, _) => None,
            (_, health::HealthState::Degraded) => Some(TurnZone::Backlog),
            _ => Some(TurnZone::Pending),
        };
        for mut placed in std::mem::take(&mut self.turns) {
            if placed.zone == TurnZone::Turns && beyond > 0 {
                beyond -= 1;
                match to {
                    Some(zone) => placed.zone = zone,
                    None => {
                        self.dropped.push(placed);
                        continue;
                    }
                }
            }
            self.turns.push(placed);
        }
    }

    /// Moves waiting turns to the zone for the health: the backlog while degraded, pending for the next summary
    /// otherwise.
    fn move_with_health(&mut self) {
        let (from, to) = match self.health {
            health::HealthState::Degraded => (TurnZone::Pending, TurnZone::Backlog),
            health::HealthState::Healthy | health::HealthState::Retry => {
                (TurnZone::Backlog, TurnZone::Pending)
            }
            health::HealthState::Recovering => return,
        };
        for placed in self.turns.iter_mut().filter(|placed| placed.zone == from) {
            placed.zone = to;
        }
    }

    /// The turns of a zone.
    pub fn of_zone(&self, zone: TurnZone) -> impl Iterator<Item = &PenguiflowTurn> {
        let turns = self.turns.iter().filter(move |placed| placed.zone == zone);
        turns.map(|placed| &placed.turn)
    }

    /// Whether a model receives the summary and the turns waiting for one.
    pub fn shows_summary(&self) -> bool {
        self.memory.strategy == RetentionStrategy::RollingSummary
            && self.health != health::HealthState::Degraded
    }

    /// Whether the session was read from a PenguiFlow document.
    pub fn is_own(&self) -> bool {
        self.noted.is_some()
    }

    /// A member of the header's `metadata.penguiflow`.
    pub(super) fn noted(&self, name: &str) -> Option<&[u8]> {
        json::member(self.noted.as_deref()?, name)
    }

    /// The summary in a document; a value that is not a string is unchanged.
    pub(super) fn source_summary(&self) -> &[u8] {
        let kept = self
            .noted("summary")
            .filter(|raw| json::text(&self.summary).is_some_and(|text| text.as_bytes() == *raw));
        kept.unwrap_or(&self.summary)
    }
}

/// The state without considering the current time.
fn without_clock(health: &Health) -> health::HealthState {
    match (health.failures, health.degraded) {
        (0, _) => health::HealthState::Healthy,
        (_, true) => health::HealthState::Degraded,
        (_, false) => health::HealthState::Retry,
    }
}

fn is_generated(attempt: &[u8]) -> bool {
    json::member_text(attempt, "id").as_deref() == Some(BASE_ATTEMPT)
}

const EMPTY: &[u8] = b"\"\"";

/// The visible summary: PenguiFlow's own unchanged, others wrapped in PenguiFlow's tags.
struct VisibleSummary {
    raw: Vec<u8>,
    is_own: bool,
}

impl VisibleSummary {
    fn of(session: &Session, view: &View) -> VisibleSummary {
        let mut reported = VisibleSummary {
            raw: EMPTY.to_vec(),
            is_own: false,
        };
        for item in &view.items {
            let (Some(text), Item::Summary(line)) = (item.summary(session), item) else {
                continue;
            };
            let record = session.record(*line);
            let event = record.event().map(|event| event.raw).unwrap_or_default();
            reported.is_own = json::member_text(event, "by").as_deref() == Some(BY);
            reported.raw = match json::member(event, "content") {
                Some(content) if reported.is_own => content.to_vec(),
                _ => quoted(&reply::wrapped(&text)),
            };
        }
        reported
    }
}
