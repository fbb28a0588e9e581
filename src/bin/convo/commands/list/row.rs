//! A session of the list: what is shown of it, as a row or as an object.

use crate::table::Cell;
use convo::filter::memory;
use convo::model::chain::Links;
use convo::model::health::{Health, State};
use convo::model::json;
use convo::model::lineage::Lineage;
use convo::model::session::{Class, Session};
use convo::model::view::{Item, View};

/// Members of a session line that tell of its chain.
#[derive(Default)]
pub struct Chain {
    pub index: Option<u64>,
    pub original: Option<String>,
    pub source_tokens: Option<u64>,
    pub tokens: Option<u64>,
}

/// One line of the list.
pub struct Row {
    pub id: String,
    pub title: Option<String>,
    pub key: Option<String>,
    pub messages: usize,
    pub view: usize,
    pub created: Option<String>,
    pub updated: Option<String>,
    pub links: Links,
    /// What the session line says of the chain.
    pub chain: Chain,
    pub branched_from: Option<String>,
    pub depth: usize,
    pub aliases: Vec<String>,
    pub damaged: bool,
    pub health: Health,
    /// Turns that wait for a summary, where the session remembers by itself: pending, backlog.
    pub waiting: Option<(usize, usize)>,
}

impl Row {
    /// How the summaries of the session fare, when they do not fare well.
    fn ailing(&self, now: &str) -> Option<State> {
        Some(self.health.state(now)).filter(|state| *state != State::Healthy)
    }

    pub fn object(&self, now: &str) -> String {
        let row = self;
        serde_json::json!({
            "schema": "convo.list/1", "id": row.id, "title": row.title, "key": row.key,
            "messages": row.messages, "view": row.view, "created_at": row.created,
            "updated_at": row.updated, "continued_from": row.links.continued_from,
            "continued_to": row.links.continued_to, "continuation_index": row.chain.index,
            "original_created_at": row.chain.original, "source_tokens": row.chain.source_tokens,
            "chain_tokens": row.chain.tokens, "depth": row.depth, "aliases": row.aliases,
            "damaged": row.damaged, "health": row.health.state(now).name(), "failures": row.health.failures,
            "next_attempt_at": row.health.next_attempt_at,
            "pending": row.waiting.map(|(pending, _)| pending),
            "backlog": row.waiting.map(|(_, backlog)| backlog),
        })
        .to_string()
    }

    pub fn cells(&self, now: &str, is_terminal: bool) -> Vec<Cell> {
        let health = self.ailing(now).map(|state| state.name());
        let title = self.title.clone().unwrap_or_default();
        let title = match health.filter(|_| is_terminal) {
            Some(health) => format!("[{health}] {title}"),
            None => title,
        };
        let id = Cell::Id {
            id: self.id.clone(),
            short: self.id.len(),
            unique: 0,
            depth: self.depth,
        };
        let (view, updated) = (
            Cell::Number(Some(self.view as u64)),
            Cell::Time(self.updated.clone()),
        );
        if is_terminal {
            return vec![id, updated, view, Cell::Text(title)];
        }
        let mut cells = vec![id, view, updated, Cell::Text(title)];
        cells.extend(health.map(|health| Cell::Text(health.to_string())));
        cells
    }
}

pub fn row(session: &Session, label: &str, damaged: bool) -> Row {
    let view = View::replay(session);
    let header = session.header();
    let raw = |name: &str| header.iter().find(|(known, _)| known == name).map(|(_, raw)| raw);
    let text = |name: &str| {
        raw(name)
            .and_then(|raw| json::text(raw))
            .map(|text| text.into_owned())
    };
    let number = |name: &str| raw(name).and_then(|raw| std::str::from_utf8(raw).ok()?.parse().ok());
    Row {
        id: text("id").unwrap_or_else(|| label.to_string()),
        title: text("title")
            .filter(|title| !title.trim().is_empty())
            .or_else(|| beginning(session)),
        key: text("key"),
        messages: session.messages().count(),
        view: view
            .items
            .iter()
            .filter(|item| !matches!(item, Item::Summary(_)))
            .count(),
        created: text("created_at"),
        updated: session.newest_time(),
        links: Links::of(session),
        chain: Chain {
            index: number("continuation_index"),
            original: text("original_created_at"),
            source_tokens: number("source_tokens"),
            tokens: number("chain_tokens"),
        },
        branched_from: Lineage::of(session).and_then(|lineage| lineage.parent),
        depth: 0,
        aliases: Vec::new(),
        damaged,
        health: Health::of(session),
        waiting: memory::waiting(session).ok().flatten(),
    }
}

/// The first line of the first question, cut to 40 characters.
fn beginning(session: &Session) -> Option<String> {
    let is_user = |index: &usize| matches!(session.class(*index), Class::Message(t) if t.role == convo::model::message::Role::User);
    let first = (0..session.len()).find(is_user)?;
    let record = session.record(first);
    let text = record.message()?.text();
    let line = text.lines().find(|line| !line.trim().is_empty())?.trim();
    if line.chars().count() <= 40 {
        return Some(line.to_string());
    }
    Some(line.chars().take(37).collect::<String>() + "...")
}
