//! Renders the messages of sessions as text.

use super::calls::{self, FOLDED};
use super::canvas::Canvas;
use super::markdown;
use crate::output::in_line;
use crate::terminal::palette::ColorRole;
use crate::terminal::time_format::Times;
use convo::filter::restore;
use convo::filter::select::Selection;
use convo::format::annotations;
use convo::model::calls::{has_failed, output};
use convo::model::display_role::{Tools, reasoning_texts};
use convo::model::json;
use convo::model::message::{Message, MessagePart, Role};
use convo::model::note::{Note, SessionNotes};
use convo::model::session::{Class, Session};
use convo::model::view::{Item, View};
use convo::store::foreign::hides;
use std::collections::HashMap;
use std::ops::Range;

/// Style of the text.
#[derive(Clone, Copy)]
pub struct PageStyle {
    /// For a person at a terminal: local times, and results below their calls.
    pub on_terminal: bool,
    /// Whether to render Markdown.
    pub markdown: bool,
    /// Whether to show everything unfolded.
    pub full: bool,
    /// Whether to show hidden messages.
    pub all: bool,
}

/// Sessions rendered as text.
pub struct SessionPage {
    pub(super) canvas: Canvas,
    pub(super) style: PageStyle,
    pub(super) times: Times,
    /// Selected messages; none for all.
    selection: Option<Selection>,
    tools: Tools,
    notes: SessionNotes,
    /// The working directory of the session.
    pub(super) directory: Option<String>,
    /// Label of the last message: day and minute, model, role and name.
    pub(super) last: LastHeading,
}

#[derive(Default)]
pub struct LastHeading {
    pub day: String,
    minute: String,
    model: String,
    label: String,
}

impl SessionPage {
    pub fn new(canvas: Canvas, style: PageStyle, times: Times, selection: Option<Selection>) -> SessionPage {
        SessionPage {
            canvas,
            style,
            times,
            selection,
            tools: Tools::default(),
            notes: SessionNotes::default(),
            directory: None,
            last: LastHeading::default(),
        }
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        &self.canvas.text
    }

    /// Adds a session.
    pub fn session(&mut self, session: &Session, view: &View, label: &str) -> convo::Result<()> {
        let items = self.items(session, view);
        let shown = self.chosen(session, &items)?;
        self.start(session, view, label);
        self.note_hidden(session, &items);
        self.messages(session, &items, &shown);
        let damaged = (0..session.len())
            .filter(|index| session.class(*index) == Class::Unreadable)
            .count();
        if damaged > 0 {
            let ending = if damaged == 1 { "" } else { "s" };
            self.note(&format!(
                "({damaged} damaged line{ending}; locate with: convo fsck)"
            ));
        }
        Ok(())
    }

    /// Adds records of a followed session: for a new session its view, otherwise every message.
    pub fn continued(&mut self, session: &Session, records: Range<usize>, label: &str, is_new: bool) {
        let view = View::replay(session);
        let mut items = match is_new {
            true => self.items(session, &view),
            false => {
                let messages = session.messages().map(|(index, _)| index);
                let new = messages.filter(|index| records.contains(index));
                new.map(|index| (Item::Line(index), true)).collect()
            }
        };
        items.retain(|(item, _)| item.line().is_none_or(|index| index < records.end));
        if is_new {
            self.start(session, &view, label);
        }
        if let Ok(shown) = self.chosen(session, &items) {
            self.messages(session, &items, &shown);
        }
    }

    /// Takes the text so far.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.canvas.text)
    }

    /// Starts a session with its heading and notes.
    fn start(&mut self, session: &Session, view: &View, label: &str) {
        if !self.canvas.text.is_empty() {
            self.canvas.line("");
        }
        self.tools = Tools::default();
        self.last = LastHeading::default();
        self.note_directory(session);
        self.heading(session, view, label);
        self.notes = SessionNotes::of(session);
        push_notes(&mut self.canvas, &self.notes.on_session);
    }

    /// Remembers the working directory.
    fn note_directory(&mut self, session: &Session) {
        let directory = session.metadata("cwd");
        self.directory = directory.and_then(|raw| json::text(&raw).map(|text| text.into_owned()));
    }

    /// The items, and whether each is in the view.
    fn items(&self, session: &Session, view: &View) -> Vec<(Item, bool)> {
        match self.style.all {
            true => view.with_hidden(session),
            false => view.items.iter().map(|item| (item.clone(), true)).collect(),
        }
    }

    /// Whether each item is selected.
    fn chosen(&self, session: &Session, items: &[(Item, bool)]) -> convo::Result<Vec<bool>> {
        let Some(selection) = &self.selection else {
            return Ok(vec![true; items.len()]);
        };
        let items: Vec<Item> = items.iter().map(|(item, _)| item.clone()).collect();
        let chosen = selection.chosen(session, &items);
        match chosen.contains(&true) {
            true => Ok(chosen),
            false => Err(Selection::nothing(session, &items)),
        }
    }

    /// Adds a note with the number of hidden messages and the events that hide them.
    fn note_hidden(&mut self, session: &Session, items: &[(Item, bool)]) {
        let shown = items.iter().filter(|(item, _)| item.line().is_some()).count();
        let out_of_view = session.messages().count().saturating_sub(shown);
        if out_of_view == 0 || self.style.all {
            return;
        }
        let changes = restore::changes(session).into_iter();
        let changes: Vec<_> = changes.map(|(id, kind)| format!("{kind} {id}")).collect();
        self.note(&format!(
            "({out_of_view} hidden messages: {}; show them with --hidden)",
            changes.join(", ")
        ));
    }

    fn note(&mut self, text: &str) {
        let text = self.canvas.paint(ColorRole::Dim, text);
        self.canvas.line("");
        self.canvas.wrapped("", "", &text);
        self.last.label.clear();
    }

    /// Adds the selected messages. A result that directly follows its call is shown below it.
    pub fn messages(&mut self, session: &Session, items: &[(Item, bool)], shown: &[bool]) {
        let mut done = vec![false; items.len()];
        for (nth, (item, in_view)) in items.iter().enumerate() {
            if done[nth] {
                continue;
            }
            let message = item.message(session);
            match (item.summary(session), &message) {
                _ if !shown[nth] => {}
                (Some(summary), _) => {
                    let heading = self.canvas.paint(ColorRole::System, "summary");
                    self.canvas.line(&format!("\n{heading}"));
                    self.last.label.clear();
                    self.prose(&summary);
                }
                (None, Some(message)) => {
                    let mut results = HashMap::new();
                    if self.style.on_terminal && message.calls_tools() {
                        for (later, (item, _)) in items.iter().enumerate().skip(nth + 1) {
                            let result = item.message(session).filter(|next| next.role() == Role::Tool);
                            let Some(result) = result else { break };
                            if let (true, Some(id)) = (shown[later], result.tool_call_id()) {
                                results.insert(id.into_owned(), (later, result));
                            }
                        }
                    }
                    let used = self.message((message, item.body(session)), *in_view, &results);
                    for nth in [&[nth], used.as_slice()].concat() {
                        done[nth] = true;
                        push_notes(&mut self.canvas, self.notes.on(items[nth].0.line()));
                    }
                }
                (None, None) => {}
            }
            if let Some(message) = message {
                self.tools.note(&message);
            }
        }
    }

    /// Adds one message; returns the indices of the results shown with it.
    fn message(
        &mut self,
        (message, body): (&Message<'_>, &[u8]),
        in_view: bool,
        results: &HashMap<String, (usize, Message<'_>)>,
    ) -> Vec<usize> {
        let mut used = Vec::new();
        if hides(message) {
            return used;
        }
        self.label(message, body, in_view);
        let fold = |folded| if self.style.full { usize::MAX } else { folded };
        let (few, all) = (fold(FOLDED), usize::MAX);
        for reasoning in reasoning_texts(message) {
            let text = match reasoning {
                Some(text) => format!("(thinking) {text}"),
                None => "(thinking, encrypted)".to_string(),
            };
            self.canvas.paragraph("  ", &text, few, Some(ColorRole::Dim));
        }
        for part in message.parts() {
            match part {
                MessagePart::Text(text) if text.is_empty() => {}
                MessagePart::Text(text) if message.role() == Role::Tool => {
                    let ink = has_failed(message).then_some(ColorRole::Error);
                    self.canvas.paragraph("  ", &output(&text).0, few, ink);
                }
                MessagePart::Text(text) => self.prose(&text),
                MessagePart::Other(kind, raw) => {
                    let text = format!("[{kind}, {} bytes]", raw.len());
                    self.canvas.paragraph("  ", &text, 1, Some(ColorRole::Dim));
                }
            }
        }
        if let Some(text) = message.refusal() {
            self.prose(&text);
        }
        if self.style.full {
            for artifact in annotations::artifacts(message) {
                self.canvas.paragraph("  ", &artifact, all, None);
            }
        }
        for call in message.tool_calls() {
            let result = results
                .get(call.id.as_ref())
                .filter(|(nth, _)| !used.contains(nth));
            let failed = result.is_some_and(|(_, result)| has_failed(result));
            let directory = self.directory.as_deref();
            calls::call(&mut self.canvas, &call, directory, self.style.full, failed);
            if let Some((nth, result)) = result {
                calls::result(&mut self.canvas, result, self.style.full);
                used.push(*nth);
            }
        }
        used
    }

    /// Adds the label of a message: role, time and model.
    fn label(&mut self, message: &Message<'_>, body: &[u8], in_view: bool) {
        let role = message.role();
        let mut label = message.role_name().into_owned();
        if let Some(name) = self.tools.name(message) {
            label.push(' ');
            label.push_str(&name);
        }
        let ink = match role {
            Role::User => ColorRole::User,
            Role::Assistant => ColorRole::Assistant,
            Role::Tool => ColorRole::Tool,
            Role::System | Role::Developer | Role::Other => ColorRole::System,
        };
        let mut facts = Vec::new();
        facts.extend(message.timestamp().and_then(|time| self.time(&time)));
        let model = json::member_text(body, "model");
        if let Some(model) = model.filter(|model| self.style.on_terminal && *model != self.last.model) {
            facts.push(in_line(&model));
            self.last.model = model.into_owned();
        }
        if !in_view {
            facts.push("(hidden)".to_string());
        }
        let failed = role == Role::Tool && has_failed(message);
        // Consecutive assistant messages share one label.
        let continues =
            self.style.on_terminal && role == Role::Assistant && self.last.label == label && facts.is_empty();
        self.canvas.line("");
        if !continues {
            let mut line = self.canvas.paint(ink, &in_line(&label));
            if failed {
                line.push_str(&self.canvas.paint(ColorRole::Error, " (failed)"));
            }
            for fact in facts {
                let separator = if fact.starts_with('(') && !self.style.on_terminal {
                    " "
                } else {
                    "  "
                };
                line.push_str(&self.canvas.paint(ColorRole::Dim, &format!("{separator}{fact}")));
            }
            self.canvas.wrapped("", "  ", &line);
        }
        self.last.label = label;
    }

    /// Formats the time of a message; on a terminal only what changed since the last message.
    fn time(&mut self, time: &str) -> Option<String> {
        if !self.style.on_terminal {
            return Some(self.times.machine(time));
        }
        let (Some(day), Some(minute)) = (self.times.day(time), self.times.minute(time)) else {
            return Some(in_line(time));
        };
        let is_new_day = day != self.last.day;
        if !is_new_day && minute == self.last.minute {
            return None;
        }
        let text = match is_new_day {
            true => format!("{day} {minute}"),
            false => minute.clone(),
        };
        (self.last.day, self.last.minute) = (day, minute);
        Some(text)
    }

    /// Adds text of a user or a model.
    fn prose(&mut self, text: &str) {
        match self.style.markdown {
            true => markdown::render(&mut self.canvas, "  ", text),
            false => self.canvas.paragraph("  ", text, usize::MAX, None),
        }
    }
}

/// Adds notes.
fn push_notes(canvas: &mut Canvas, notes: &[Note]) {
    for note in notes {
        let text = format!("(note) {}", note.text);
        canvas.paragraph("  ", &text, usize::MAX, Some(ColorRole::System));
    }
}
