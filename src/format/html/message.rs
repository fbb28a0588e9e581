//! Writes messages as HTML articles.

use super::escape::escaped;
use super::media::PageImages;
use super::outline::HtmlOutline;
use super::{call, chart, media, prose};
use crate::format::page::{PageOptions, PageThinking};
use crate::model::display_role::{self, Tools};
use crate::model::message::{Message, MessagePart, Role};
use crate::model::note::{Note, SessionNotes};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::model::visible::thousands;
use crate::model::{json, time};
use std::collections::HashMap;
use std::ops::Range;

/// Maximum bytes of instructions that are not collapsed.
const INSTRUCTIONS: usize = 1000;

/// A message and the position of its article.
struct PageMessage<'a> {
    pub message: &'a Message<'a>,
    /// Its line.
    body: &'a [u8],
    /// Index of its entry.
    nth: usize,
}

/// Writes the messages of a session in order.
pub struct Articles<'a> {
    session: &'a Session,
    view: &'a View,
    outline: &'a HtmlOutline,
    tools: Tools,
    notes: SessionNotes,
    directory: Option<&'a str>,
    options: PageOptions,
    images: PageImages,
}

impl<'a> Articles<'a> {
    /// For a view; `directory` is the working directory.
    pub fn new(
        session: &'a Session,
        view: &'a View,
        outline: &'a HtmlOutline,
        directory: Option<&'a str>,
        options: PageOptions,
    ) -> Self {
        Articles {
            session,
            view,
            outline,
            tools: Tools::default(),
            notes: SessionNotes::of(session),
            directory,
            images: PageImages::new(options.largest_image),
            options,
        }
    }

    /// Writes the messages of a page, calling `flush` from time to time.
    pub fn push<E>(
        &mut self,
        range: Range<usize>,
        out: &mut String,
        mut flush: impl FnMut(&mut String) -> Result<(), E>,
    ) -> Result<(), E> {
        self.images = PageImages::new(self.options.largest_image);
        let mut nth = range.start;
        while nth < range.end {
            let next = self.article(nth, range.end, out);
            // The article includes the results of its calls, so their changes come after it.
            for entry in &self.outline.entries[nth + 1..next] {
                push_changes(out, &entry.changes);
            }
            nth = next;
            if out.len() > 256 << 10 {
                flush(out)?;
            }
        }
        if range.end == self.outline.entries.len() {
            push_changes(out, &self.outline.last_changes);
        }
        Ok(())
    }

    /// Writes the article of a message, including the results of its calls; returns the index of the next message.
    fn article(&mut self, nth: usize, end: usize, out: &mut String) -> usize {
        let (session, view) = (self.session, self.view);
        push_changes(out, &self.outline.entries[nth].changes);
        let item = &view.items[nth];
        let Some(message) = item.message(session) else {
            self.summary(item, nth, out);
            return nth + 1;
        };
        let shown = PageMessage {
            message: &message,
            body: item.body(session),
            nth,
        };
        self.tools.note(&message);
        let mut results: Vec<(usize, Message<'_>)> = Vec::new();
        if message.calls_tools() {
            let following = (nth + 1..end).map_while(|later| {
                let message = view.items[later].message(session)?;
                (message.role() == Role::Tool).then_some((later, message))
            });
            results.extend(following);
        }
        // A result without a call, or for a call that already has a result, is a separate article.
        let mut first: HashMap<String, usize> = HashMap::new();
        for (place, (_, result)) in results.iter().enumerate() {
            let id = result.tool_call_id().unwrap_or_default().into_owned();
            first.entry(id).or_insert(place);
        }
        self.start(&shown, out);
        self.content(&shown, out);
        let mut is_used = vec![false; results.len()];
        for written in message.tool_calls() {
            let place = first.remove(written.id.as_ref());
            let result = place.map(|place| {
                is_used[place] = true;
                let (later, result) = &results[place];
                (self.outline.entries[*later].anchor.as_str(), result)
            });
            let lines = self.options.tool_lines;
            call::push(out, &written, result, (self.directory, lines), &mut self.images);
        }
        self.notes_on(nth, out);
        let used = results.iter().zip(&is_used).filter(|(_, is_used)| **is_used);
        used.for_each(|((later, _), _)| self.notes_on(*later, out));
        out.push_str("</article>\n");
        for ((later, result), _) in results.iter().zip(is_used).filter(|(_, is_used)| !is_used) {
            let shown = PageMessage {
                message: result,
                body: view.items[*later].body(session),
                nth: *later,
            };
            self.start(&shown, out);
            self.content(&shown, out);
            self.notes_on(*later, out);
            out.push_str("</article>\n");
        }
        nth + 1 + results.len()
    }

    /// Writes the notes on the session.
    pub fn push_notes(&self, out: &mut String) {
        self.notes.on_session.iter().for_each(|note| push_note(out, note));
    }

    /// Writes the notes on a message.
    fn notes_on(&self, nth: usize, out: &mut String) {
        let notes = self.notes.on(self.view.items[nth].line());
        notes.iter().for_each(|note| push_note(out, note));
    }

    fn summary(&self, item: &Item, nth: usize, out: &mut String) {
        let entry = &self.outline.entries[nth];
        out.push_str(&format!(
            "<article id=\"{0}\" class=\"summary\"><header><h2>summary</h2> <a class=\"self\" href=\"#{0}\">#{0}</a></header>\n",
            entry.anchor
        ));
        text(out, &item.summary(self.session).unwrap_or_default());
        out.push_str("</article>\n");
    }

    /// Writes the start and heading of an article.
    fn start(&self, shown: &PageMessage<'_>, out: &mut String) {
        let (message, entry) = (shown.message, &self.outline.entries[shown.nth]);
        let class = match message.role() {
            Role::System | Role::Developer => "system",
            Role::Other => "other",
            role => role.name(),
        };
        let class = format!("{class}{}", if entry.is_hidden { " gone" } else { "" });
        let anchor = &entry.anchor;
        let role = escaped(&message.role_name());
        out.push_str(&format!(
            "<article id=\"{anchor}\" class=\"{class}\"><header><h2>{role}</h2>"
        ));
        if entry.is_hidden {
            out.push_str(" <em>hidden</em>");
        }
        if let Some(name) = self.tools.name(message) {
            out.push_str(&format!(" <b>{}</b>", escaped(&name)));
        }
        if let Some(written) = message.timestamp() {
            match time::seconds(&written) {
                Some(seconds) => out.push_str(&format!(
                    " <time datetime=\"{}\">{}</time>",
                    escaped(&written),
                    chart::moment(seconds)
                )),
                None => out.push_str(&format!(" <span>{}</span>", escaped(&written))),
            }
        }
        if let Some(model) = json::member_text(shown.body, "model") {
            out.push_str(&format!(" <code>{}</code>", escaped(&model)));
        }
        let about = if self.outline.is_recorded { "" } else { "~" };
        let tokens = thousands(entry.tokens);
        let number = chart::number(entry);
        out.push_str(&format!(
            " <small>{about}{tokens} tokens</small> <a class=\"self\" href=\"#{anchor}\">#{number}</a></header>\n"
        ));
    }

    fn content(&mut self, shown: &PageMessage<'_>, out: &mut String) {
        let message = shown.message;
        if message.role() == Role::Tool {
            let name = self.tools.name(message);
            let lines = self.options.tool_lines;
            return call::alone(out, message, (name.as_deref(), lines), &mut self.images);
        }
        let reasoning_parts = match self.options.thinking {
            PageThinking::Drop => Vec::new(),
            _ => display_role::reasoning_texts(message),
        };
        let open = if self.options.thinking == PageThinking::Show {
            " open"
        } else {
            ""
        };
        for reasoning in reasoning_parts {
            match reasoning.filter(|text| !text.trim().is_empty()) {
                Some(reasoning) => {
                    out.push_str(&format!(
                        "<details class=\"thinking\"{open}><summary>thinking</summary>\n"
                    ));
                    text(out, &reasoning);
                    out.push_str("</details>\n");
                }
                None => {
                    let bytes = message.reasoning.map_or(0, <[u8]>::len) as u64;
                    let bytes = thousands(bytes);
                    out.push_str(&format!(
                        "<p class=\"mark\">thinking, encrypted, {bytes} bytes</p>\n"
                    ));
                }
            }
        }
        let is_long = |text: &str| {
            let role = message.role();
            text.len() > INSTRUCTIONS && matches!(role, Role::System | Role::Developer)
        };
        for part in message.parts() {
            match part {
                MessagePart::Text(written) if written.is_empty() => {}
                MessagePart::Text(written) if is_long(&written) => {
                    let bytes = thousands(written.len() as u64);
                    out.push_str(&format!(
                        "<details><summary>instructions, {bytes} bytes</summary>\n"
                    ));
                    text(out, &written);
                    out.push_str("</details>\n");
                }
                MessagePart::Text(written) => text(out, &written),
                MessagePart::Other(kind, raw) => media::push(out, &kind, raw, &mut self.images),
            }
        }
        if let Some(refusal) = json::member_text(shown.body, "refusal") {
            out.push_str("<p class=\"mark\">refusal</p>\n");
            text(out, &refusal);
        }
    }
}

/// Writes changes of the view.
fn push_changes(out: &mut String, changes: &[String]) {
    for change in changes {
        out.push_str(&format!("<p class=\"change\">{}</p>\n", escaped(change)));
    }
}

/// Writes a note.
fn push_note(out: &mut String, note: &Note) {
    out.push_str("<div class=\"note\" dir=\"auto\"><b>note</b>\n");
    prose::push(out, &note.text);
    out.push_str("</div>\n");
}

/// Writes text of a user or model.
fn text(out: &mut String, written: &str) {
    out.push_str("<div class=\"text\" dir=\"auto\">\n");
    prose::push(out, written);
    out.push_str("</div>\n");
}
