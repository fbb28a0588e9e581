//! Key data of a session for the header of its page and for an index.

use super::chart;
use super::escape::{escaped, unescaped};
use super::outline::{HtmlOutline, beginning};
use crate::format::native;
use crate::model::json::{self, ObjectBuilder};
use crate::model::lineage::Lineage;
use crate::model::session::Session;
use crate::model::title::Title;
use crate::model::view::{Item, View};
use crate::model::visible::thousands;
use crate::model::{header, time};

/// The name of the meta element with the data, which the index reads.
pub const NAME: &str = "convo-session";

/// Maximum characters of a title derived from a question.
const TITLE: usize = 120;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageData {
    /// The id of the session.
    pub id: String,
    /// Its title, or the start of its first question.
    pub title: String,
    /// The program that wrote it.
    pub program: String,
    /// The working directory.
    pub project: String,
    /// The first model.
    pub model: String,
    /// First and last time, RFC 3339.
    pub start: String,
    /// The last time; see `start`.
    pub end: String,
    /// The parent session, if it is a branch.
    pub parent: String,
    /// Messages in the view.
    pub messages: u64,
    /// Tokens in the view.
    pub tokens: u64,
    /// Whether tokens are estimated.
    pub is_estimated: bool,
    /// Hidden messages.
    pub hidden: u64,
    /// The name of the source file.
    pub file: String,
}

impl PageData {
    /// Collects the data of a view.
    pub fn of(session: &Session, view: &View, outline: &HtmlOutline) -> PageData {
        let header = session.header();
        let raw = |name: &str| header::member(header, name);
        let text = |raw: Option<&[u8]>| raw.and_then(json::text).unwrap_or_default().into_owned();
        let metadata = |name| raw("metadata").and_then(|raw| json::member(raw, name));
        let id = text(raw("id"));
        let title = Title::of(session, Some(text(raw("title"))), view);
        let title = title
            .map(|title| beginning(&title.text, TITLE))
            .filter(|title| !title.is_empty());
        let shown = view.items.iter().filter(|item| !matches!(item, Item::Summary(_)));
        let messages = shown.count() as u64;
        let (start, end) = outline.times.clone().unwrap_or_default();
        let source = raw("source").and_then(|raw| json::member(raw, "format"));
        let model = text(metadata("model"));
        PageData {
            title: title.unwrap_or_else(|| {
                if id.is_empty() {
                    "Session".to_string()
                } else {
                    id.clone()
                }
            }),
            program: native::program(session).map_or_else(|| text(source), str::to_string),
            project: text(metadata("cwd")),
            model: outline.models.first().cloned().unwrap_or(model),
            start: if start.is_empty() {
                text(raw("created_at"))
            } else {
                start
            },
            end,
            parent: Lineage::of(session)
                .and_then(|lineage| lineage.parent)
                .unwrap_or_default(),
            messages,
            tokens: outline.tokens,
            is_estimated: !outline.is_recorded,
            hidden: (session.messages().count() as u64).saturating_sub(messages),
            file: text(raw("source").and_then(|raw| json::member(raw, "name"))),
            id,
        }
    }

    /// The data as lines for the header of a page.
    pub fn lines(&self, outline: &HtmlOutline) -> Vec<String> {
        let mut lines = Vec::new();
        let mut text = |text: &str, named: &str| {
            if !text.is_empty() {
                lines.push(format!("{named}{}", escaped(text)));
            }
        };
        text(&self.id, "");
        text(&self.program, "");
        text(&self.project, "");
        text(&self.file, "file ");
        text(&outline.models.join(", "), "");
        lines.extend(self.span());
        lines.push(format!("{} messages", thousands(self.messages)));
        if self.hidden > 0 {
            lines.push(format!("{} hidden", thousands(self.hidden)));
        }
        lines.push(self.size() + " tokens");
        lines
    }

    /// Start time and duration of the session.
    fn span(&self) -> Option<String> {
        let start = time::seconds(&self.start)?;
        let end = time::seconds(&self.end).unwrap_or(start);
        let length = match end > start {
            true => format!(", {}", chart::duration(end - start)),
            false => String::new(),
        };
        Some(format!(
            "<time datetime=\"{}\">{}</time> UTC{length}",
            escaped(&self.start),
            chart::moment(start)
        ))
    }

    /// The number of tokens, marked if estimated.
    pub fn size(&self) -> String {
        let about = if self.is_estimated { "~" } else { "" };
        format!("{about}{}", thousands(self.tokens))
    }

    /// Encodes the data as JSON.
    pub fn encoded(&self) -> String {
        let mut built = ObjectBuilder::default();
        for (name, value) in self.texts() {
            if !value.is_empty() {
                built.text(name, value);
            }
        }
        built.raw("messages", self.messages.to_string());
        built.raw("tokens", self.tokens.to_string());
        built.raw("estimated", self.is_estimated.to_string());
        String::from_utf8_lossy(&built.finish()).into_owned()
    }

    fn texts(&self) -> [(&'static str, &String); 8] {
        [
            ("id", &self.id),
            ("title", &self.title),
            ("program", &self.program),
            ("project", &self.project),
            ("model", &self.model),
            ("start", &self.start),
            ("end", &self.end),
            ("parent", &self.parent),
        ]
    }

    /// Reads the data from the start of a page; `None` for any other file.
    pub fn read(page: &str) -> Option<PageData> {
        let (_, rest) = page.split_once(&format!("<meta name=\"{NAME}\" content=\""))?;
        let (raw, _) = rest.split_once("\">")?;
        let raw = unescaped(raw).into_bytes();
        let text = |name| json::member_text(&raw, name).unwrap_or_default().into_owned();
        let number = |name| -> Option<u64> { json::number(json::member(&raw, name)?) };
        Some(PageData {
            id: text("id"),
            title: text("title"),
            program: text("program"),
            project: text("project"),
            model: text("model"),
            start: text("start"),
            end: text("end"),
            parent: text("parent"),
            messages: number("messages")?,
            tokens: number("tokens").unwrap_or(0),
            is_estimated: json::member(&raw, "estimated") == Some(b"true"),
            ..PageData::default()
        })
    }
}
