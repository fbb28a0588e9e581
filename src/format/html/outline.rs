//! Computes the layout of pages: position, size and time of every message, and its page.

use crate::format::request::token_figures::Figures;
use crate::model::message::{Message, Role};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::model::{json, time, title};

/// Roles of the charts, in the order of a bar's segments.
pub const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

/// Bytes per token for estimates, if no count is recorded.
const BYTES: u64 = 4;

/// Maximum characters of a question in the outline.
const QUESTION: usize = 90;

/// Events that change the view.
const CHANGES: [&str; 4] = ["truncate", "compact", "summary", "restore"];

/// A message of the view.
pub struct OutlineEntry {
    /// Its anchor: the number of the message in the log, which does not change.
    pub anchor: String,
    /// Index of its role in [`ROLES`].
    pub role: usize,
    pub tokens: u64,
    /// Seconds since 1970.
    pub time: Option<i64>,
    /// The start of a user's question.
    pub question: Option<String>,
    pub is_hidden: bool,
    /// The events before it that changed the view: type and id.
    pub changes: Vec<String>,
    /// Whether it must be on the same page as the previous message.
    follows: bool,
    /// Length of its line in bytes.
    bytes: usize,
}

/// The messages of a view.
#[derive(Default)]
pub struct HtmlOutline {
    /// In order, one per item.
    pub entries: Vec<OutlineEntry>,
    /// Index of the first message of each page.
    pub starts: Vec<usize>,
    /// Model names, in order of appearance.
    pub models: Vec<String>,
    /// Tokens in the view.
    pub tokens: u64,
    /// Whether all token counts are recorded.
    pub is_recorded: bool,
    /// The events after the last message that changed the view.
    pub last_changes: Vec<String>,
    /// First and last time, as written.
    pub times: Option<(String, String)>,
}

/// The maximum size of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageLimit {
    pub messages: usize,
    /// Bytes of the lines of messages.
    pub bytes: usize,
}

impl PageLimit {
    /// Everything on one page.
    pub const NONE: PageLimit = PageLimit {
        messages: usize::MAX,
        bytes: usize::MAX,
    };
    /// A size that browsers handle well.
    pub const PAGE: PageLimit = PageLimit {
        messages: 1000,
        bytes: 4 << 20,
    };
}

impl HtmlOutline {
    /// For a view, with this page size.
    pub fn of(session: &Session, view: &View, limit: PageLimit) -> HtmlOutline {
        let numbers: Vec<usize> = session.messages().map(|(index, _)| index).collect();
        let mut outline = HtmlOutline {
            is_recorded: true,
            ..HtmlOutline::default()
        };
        let mut others = 0;
        for item in &view.items {
            let number = item.line().and_then(|line| numbers.binary_search(&line).ok());
            let anchor = match number {
                Some(number) => format!("m{}", number + 1),
                None => {
                    others += 1;
                    format!("s{others}")
                }
            };
            let entry = outline.entry(session, item, anchor);
            outline.tokens += entry.tokens;
            outline.entries.push(entry);
        }
        outline.paginate(limit);
        outline
    }

    fn entry(&mut self, session: &Session, item: &Item, anchor: String) -> OutlineEntry {
        let body = item.body(session);
        let mut entry = OutlineEntry {
            anchor,
            role: 0,
            tokens: 0,
            time: None,
            question: None,
            is_hidden: false,
            changes: Vec::new(),
            follows: false,
            bytes: body.len(),
        };
        let Some(message) = item.message(session) else {
            let text = item.summary(session).unwrap_or_default();
            entry.tokens = text.len() as u64 / BYTES;
            self.is_recorded = false;
            return entry;
        };
        entry.role = match message.role() {
            Role::System | Role::Developer => 0,
            Role::User => 1,
            Role::Assistant | Role::Other => 2,
            Role::Tool => 3,
        };
        entry.follows = message.role() == Role::Tool;
        entry.tokens = recorded(&message, body).unwrap_or_else(|| {
            self.is_recorded = false;
            let read = [message.content, message.tool_calls, message.reasoning];
            read.iter().flatten().map(|raw| raw.len() as u64).sum::<u64>() / BYTES
        });
        if let Some(written) = message.timestamp() {
            entry.time = time::seconds(&written);
            if entry.time.is_some() {
                let first = self.times.take().map(|(first, _)| first);
                self.times = Some((first.unwrap_or_else(|| written.to_string()), written.into_owned()));
            }
        }
        if let Some(model) = json::member_text(body, "model")
            && !self.models.iter().any(|known| *known == model)
        {
            self.models.push(model.into_owned());
        }
        if entry.role == 1 {
            let text = message.text();
            entry.question = title::question(&text).map(|text| beginning(text, QUESTION));
        }
        entry
    }

    /// Marks hidden messages, and the positions of the events that hid them. `view` must have all messages.
    pub fn mark_changes(&mut self, session: &Session, view: &View, in_view: &[bool]) {
        for (entry, in_view) in self.entries.iter_mut().zip(in_view) {
            entry.is_hidden = !in_view;
            if entry.is_hidden {
                self.tokens -= entry.tokens;
            }
        }
        let changes = (0..session.len()).filter_map(|index| {
            let record = session.record(index);
            let event = record.event()?;
            let name = event.name();
            let is_change = CHANGES.contains(&name.as_ref());
            is_change.then(|| (index, format!("{name} {}", event.id().unwrap_or_default())))
        });
        let mut place = 0;
        for (line, change) in changes {
            let is_earlier = |item: &Item| item.line().is_none_or(|own| own <= line);
            place += view.items[place..]
                .iter()
                .take_while(|item| is_earlier(item))
                .count();
            match self.entries.get_mut(place) {
                Some(entry) => entry.changes.push(change),
                None => self.last_changes.push(change),
            }
        }
    }

    /// Starts a page when the previous one is full, but not between a call and its result.
    fn paginate(&mut self, limit: PageLimit) {
        self.starts.push(0);
        let (mut messages, mut bytes) = (0, 0);
        for (nth, entry) in self.entries.iter().enumerate() {
            let is_full = messages >= limit.messages || bytes + entry.bytes > limit.bytes;
            if is_full && messages > 0 && !entry.follows {
                self.starts.push(nth);
                (messages, bytes) = (0, 0);
            }
            messages += 1;
            bytes += entry.bytes;
        }
    }

    /// The messages of a page.
    pub fn on_page(&self, page: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(page + 1).copied();
        self.starts[page]..end.unwrap_or(self.entries.len())
    }

    /// The page of a message.
    pub fn page_of(&self, entry: usize) -> usize {
        self.starts.partition_point(|start| *start <= entry) - 1
    }
}

/// The recorded tokens of a message: its own count, else the output tokens of its usage.
fn recorded(message: &Message<'_>, body: &[u8]) -> Option<u64> {
    let own = || json::number(message.tokens?);
    let figures = || Figures::of(json::member(body, "usage")?);
    own().or_else(|| figures().map(|figures| figures.output))
}

/// The first line of a text, truncated to `most` characters.
pub fn beginning(text: &str, most: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}\u{2026}", line[..end].trim_end()),
        None => line.to_string(),
    }
}
