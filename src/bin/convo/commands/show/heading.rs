//! Renders the heading of a session: its title and key facts.

use super::page::SessionPage;
use crate::output::{count_of, in_line};
use crate::terminal::measure::{cut, short_id, thousands};
use crate::terminal::palette::ColorRole;
use convo::filter::overview::Title;
use convo::filter::retention;
use convo::format::native;
use convo::model::health::Health;
use convo::model::session::Session;
use convo::model::view::{Item, View};
use convo::tokens::counter::named_by;
use convo::tokens::usage::of_item;
use convo::tokens::{Counter, Tokenizer};

/// Largest view, in bytes, whose tokens are counted before it is shown; counting more takes too long.
const MAX_COUNTED: usize = 2 << 20;

impl SessionPage {
    pub(super) fn heading(&mut self, session: &Session, view: &View, label: &str) {
        let id = session.header_text("id").unwrap_or_else(|| label.to_string());
        let mut title = session.header_text("title").unwrap_or_default();
        if self.style.on_terminal && title.is_empty() {
            // A title derived from a prompt may have any length.
            let derived = Title::of(session, None, view).map(|title| in_line(&title.text));
            let width = self.canvas.width.unwrap_or(usize::MAX);
            title = derived.map_or(title, |derived| cut(&derived, width));
        }
        let heading = in_line(if title.is_empty() { &id } else { &title });
        let heading = self.canvas.paint(ColorRole::Title, &heading);
        self.canvas.wrapped("", "", &heading);
        let messages = view
            .items
            .iter()
            .filter(|item| !matches!(item, Item::Summary(_)))
            .count() as u64;
        let mut facts = Vec::new();
        if self.style.on_terminal {
            facts.extend((!title.is_empty()).then(|| short_id(&id)));
            facts.extend(native::program(session).map(str::to_string));
            let ending = if messages == 1 { "" } else { "s" };
            facts.push(format!("{} message{ending}", thousands(messages)));
            facts.extend(tokens(session, view).map(|tokens| format!("{} tokens", thousands(tokens))));
            let project = self.directory.as_deref().and_then(|path| path.rsplit('/').next());
            facts.extend(project.filter(|name| !name.is_empty()).map(in_line));
        } else {
            facts.extend((!title.is_empty()).then(|| in_line(&id)));
            facts.push(count_of(messages, "message"));
        }
        facts.extend(session.header_text("key").map(|key| in_line(&key)));
        facts.extend(self.date(session, view));
        facts.extend(
            session
                .header_text("continued_from")
                .map(|from| format!("continues {}", in_line(&from))),
        );
        if let Ok(Some((pending, backlog))) = retention::waiting_turns(session)
            && pending + backlog > 0
        {
            let turns = count_of((pending + backlog) as u64, "turn");
            facts.push(format!("{turns} awaiting a summary"));
        }
        let failures = Health::of(session).failures;
        if failures > 0 {
            let failed = if failures == 1 { "summary" } else { "summaries" };
            facts.push(format!("{failures} {failed} failed"));
        }
        let facts = self.canvas.paint(ColorRole::Dim, &facts.join(" · "));
        self.canvas.wrapped("", "", &facts);
    }

    /// When the session began: on a terminal the day of its first shown message.
    fn date(&mut self, session: &Session, view: &View) -> Option<String> {
        let created = session.header_text("created_at");
        if !self.style.on_terminal {
            return created.map(|time| self.times.machine(&time));
        }
        let first = view
            .messages(session)
            .find_map(|message| message.timestamp().map(String::from));
        let day = self.times.day(&first.or(created)?)?;
        self.last.day.clone_from(&day);
        Some(format!("{day} {}", self.times.zone()))
    }
}

/// Counts the tokens of the view.
fn tokens(session: &Session, view: &View) -> Option<u64> {
    let bytes: usize = view.items.iter().map(|item| item.body(session).len()).sum();
    if bytes > MAX_COUNTED {
        return None;
    }
    let named = named_by(session).and_then(|name| Tokenizer::named(&name).ok());
    let counter = Counter::of(named.unwrap_or(Tokenizer::DEFAULT), session);
    Some(
        view.items
            .iter()
            .map(|item| of_item(session, item, counter))
            .sum(),
    )
}
