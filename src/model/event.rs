//! Events: the header and the records that change a session's view.

use super::json::{self, Dialect, ObjectBuilder};
use std::borrow::Cow;

/// The format version that this program writes, and the highest that it reads.
pub const VERSION: u64 = 1;

/// The time of an event whose source has none.
pub const EPOCH: &str = "1970-01-01T00:00:00Z";

/// The same time as a JSON string with milliseconds, as several programs write times.
pub const EPOCH_MILLIS: &[u8] = b"\"1970-01-01T00:00:00.000Z\"";

/// Id and time of a new event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// `evt_` and 16 hex digits.
    pub id: String,
    /// RFC 3339.
    pub at: String,
}

impl Stamp {
    /// Begins the line of an event of this type.
    pub fn event(&self, kind: &str) -> ObjectBuilder {
        let mut event = begin(kind, &self.id);
        event.text("at", &self.at);
        event
    }
}

/// Begins the line of an event of this type; its time and further members follow.
pub fn begin(kind: &str, id: &str) -> ObjectBuilder {
    let mut event = ObjectBuilder::default();
    event.text("type", kind).text("id", id);
    event
}

/// Begins the header of a session; further members follow.
pub fn begin_session(id: &str) -> ObjectBuilder {
    let mut header = ObjectBuilder::default();
    header
        .text("type", "session")
        .raw("version", VERSION.to_string())
        .text("id", id);
    header
}

/// An event line: its type and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The type's raw string.
    pub kind: &'a [u8],
    /// `id`, raw.
    pub id: Option<&'a [u8]>,
    /// The whole object.
    pub raw: &'a [u8],
}

impl<'a> Event<'a> {
    /// Name of the type.
    pub fn name(&self) -> Cow<'a, str> {
        json::text(self.kind).unwrap_or_default()
    }

    /// Whether this event is a session header.
    pub fn is_header(&self) -> bool {
        self.kind == br#""session""# || self.name() == "session"
    }

    /// Whether `convo migrate` wrote this event because the source of the session changed.
    pub fn is_update(&self) -> bool {
        json::member(self.raw, "by") == Some(br#""migrate""#)
            && matches!(self.name().as_ref(), "compact" | "meta" | "restore")
    }

    /// The event's id.
    pub fn id(&self) -> Option<Cow<'a, str>> {
        self.id.and_then(json::text)
    }

    /// What the event does; an event whose members do not fit its type is [`Action::Unknown`].
    pub fn action(&self) -> Action<'a> {
        let action = match self.name().as_ref() {
            "session" => Some(Action::Session),
            "meta" => self.meta().map(Action::Meta),
            "truncate" => self.truncate().map(Action::Truncate),
            "compact" => self.compact().map(Action::Compact),
            "summary" => self.summary().map(Action::Summary),
            "restore" => self.restored().map(|of| Action::Restore(Restore { of })),
            "attempt" => self.attempt().map(Action::Attempt),
            _ => None,
        };
        action.unwrap_or(Action::Unknown)
    }

    /// For a `restore` event: the id of the event that it undoes.
    pub fn restored(&self) -> Option<Cow<'a, str>> {
        (self.name() == "restore").then(|| self.text("of")).flatten()
    }

    /// For a `gc` event: ids of earlier `gc` events whose archived lines it destroyed.
    pub fn destroyed(&self) -> Vec<String> {
        let ids = self.list("destroyed").unwrap_or_default().into_iter();
        ids.filter_map(json::text).map(Cow::into_owned).collect()
    }

    fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        json::member_text(self.raw, name)
    }

    /// The elements of an array: empty if absent, `None` if the member is not an array.
    fn list(&self, name: &str) -> Option<Vec<&'a [u8]>> {
        list(json::member(self.raw, name))
    }

    fn meta(&self) -> Option<Meta<'a>> {
        let unset: Option<Vec<_>> = self.list("unset")?.into_iter().map(json::text).collect();
        Some(Meta {
            set: json::member(self.raw, "set"),
            unset: unset?,
        })
    }

    fn truncate(&self) -> Option<Truncate<'a>> {
        let before = match json::member(self.raw, "before")? {
            b"null" => None,
            raw => Some(json::text(raw)?),
        };
        let nth = match json::member(self.raw, "nth") {
            Some(raw) => Some(json::number(raw)?),
            None => None,
        };
        Some(Truncate {
            before,
            nth,
            keep_system: json::member(self.raw, "keep_system") != Some(b"false"),
        })
    }

    fn compact(&self) -> Option<Compact<'a>> {
        let [drop, edit, insert, summary] = json::several(self.raw, ["drop", "edit", "insert", "summary"]);
        let drop: Option<Vec<_>> = list(drop)?.into_iter().map(MessageRange::read).collect();
        let edit: Option<Vec<_>> = list(edit)?.into_iter().map(MessageEdit::read).collect();
        let insert: Option<Vec<_>> = list(insert)?.into_iter().map(Insert::read).collect();
        let summary = match summary {
            None => None,
            Some(b"null") => Some(None),
            Some(raw) => Some(Some(CompactionSummary::read(raw)?)),
        };
        Some(Compact {
            drop: drop?,
            edit: edit?,
            insert: insert?,
            summary,
        })
    }

    /// Only attempts at a summary are known.
    fn attempt(&self) -> Option<Attempt<'a>> {
        if self.text("of")? != "summary" {
            return None;
        }
        Some(Attempt {
            at: self.text("at"),
            failures: json::member(self.raw, "failures").and_then(json::number)?,
            degraded: self.text("health").as_deref() == Some("degraded"),
            next_attempt_at: self.text("next_attempt_at"),
            why: self.text("why"),
        })
    }

    fn summary(&self) -> Option<Summary<'a>> {
        let covers = match json::member(self.raw, "covers") {
            None | Some(b"null") => None,
            Some(raw) => Some(pair(raw)?),
        };
        let nth = match json::member(self.raw, "nth").map(|raw| json::elements(raw, Dialect::Strict)) {
            Some(Some(both)) => match both.as_slice() {
                [first, last] => [json::number(first)?, json::number(last)?],
                _ => return None,
            },
            Some(None) => return None,
            None => [1, 1],
        };
        Some(Summary {
            content: self.text("content")?,
            covers,
            nth,
            here: json::member(self.raw, "here") == Some(b"true"),
        })
    }
}

/// The elements of an array: empty if absent, `None` if the value is not an array.
fn list(raw: Option<&[u8]>) -> Option<Vec<&[u8]>> {
    raw.map_or(Some(Vec::new()), |raw| json::elements(raw, Dialect::Strict))
}

fn pair(raw: &[u8]) -> Option<[Cow<'_, str>; 2]> {
    match json::elements(raw, Dialect::Strict)?.as_slice() {
        [first, last] => Some([json::text(first)?, json::text(last)?]),
        _ => None,
    }
}

/// An event's meaning.
#[derive(Debug)]
pub enum Action<'a> {
    /// The header.
    Session,
    /// Changes members of the header.
    Meta(Meta<'a>),
    /// Hides earlier messages.
    Truncate(Truncate<'a>),
    /// Drops, edits and inserts messages.
    Compact(Compact<'a>),
    /// Text that replaces messages.
    Summary(Summary<'a>),
    /// Undoes another event.
    Restore(Restore<'a>),
    /// A failed attempt at a summary; no effect on the view.
    Attempt(Attempt<'a>),
    /// Unknown event; no effect on the view, preserved.
    Unknown,
}

/// `meta`: header members that are set and unset.
#[derive(Debug)]
pub struct Meta<'a> {
    /// Object of members to set.
    pub set: Option<&'a [u8]>,
    /// Names of members to remove.
    pub unset: Vec<Cow<'a, str>>,
}

impl Meta<'_> {
    /// Header members that no event can change.
    pub const FIXED: [&'static str; 4] = ["id", "type", "version", "continued_from"];
}

/// `truncate`: hides the messages before a given one.
#[derive(Debug)]
pub struct Truncate<'a> {
    /// Id of the first message to keep; `None` hides all messages so far.
    pub before: Option<Cow<'a, str>>,
    /// Which of several messages with this id, counted from 1; absent: the first.
    pub nth: Option<u64>,
    /// Whether messages of category `system` are kept.
    pub keep_system: bool,
}

/// `compact`: what a compaction dropped, edited and inserted.
#[derive(Debug)]
pub struct Compact<'a> {
    /// Messages, or inclusive ranges of messages.
    pub drop: Vec<MessageRange<'a>>,
    /// Messages whose members are replaced.
    pub edit: Vec<MessageEdit<'a>>,
    /// Inserted messages.
    pub insert: Vec<Insert<'a>>,
    /// A summary that replaces the previous one; null removes the previous one without a replacement.
    pub summary: Option<Option<CompactionSummary<'a>>>,
}

/// A message by its id.
#[derive(Debug)]
pub struct MessageTarget<'a> {
    /// The id.
    pub id: Cow<'a, str>,
    /// Which of several messages with this id, counted from 1; absent: the first.
    pub nth: Option<u64>,
}

impl<'a> MessageTarget<'a> {
    /// Reads the members `name` and `nth`.
    fn read(raw: &'a [u8], name: &str) -> Option<MessageTarget<'a>> {
        Some(MessageTarget {
            id: json::member_text(raw, name)?,
            nth: json::member(raw, "nth").and_then(json::number),
        })
    }
}

/// A message, or an inclusive range of messages, by id.
#[derive(Debug)]
pub enum MessageRange<'a> {
    /// One message: an id, or `[id, nth]`.
    One(MessageTarget<'a>),
    /// First and last message.
    Range([Cow<'a, str>; 2]),
}

impl<'a> MessageRange<'a> {
    /// Reads an element of `drop`.
    pub fn read(raw: &'a [u8]) -> Option<MessageRange<'a>> {
        if let Some(id) = json::text(raw) {
            return Some(MessageRange::One(MessageTarget { id, nth: None }));
        }
        match json::elements(raw, Dialect::Strict)?.as_slice() {
            [first, second] => Some(match json::number(second) {
                Some(nth) => MessageRange::One(MessageTarget {
                    id: json::text(first)?,
                    nth: Some(nth),
                }),
                None => MessageRange::Range([json::text(first)?, json::text(second)?]),
            }),
            _ => None,
        }
    }
}

/// Members of a message that a compaction replaces.
#[derive(Debug)]
pub struct MessageEdit<'a> {
    /// The message.
    pub of: MessageTarget<'a>,
    /// Names of members to remove.
    pub unset: Vec<Cow<'a, str>>,
    /// Members to set.
    pub set: Vec<(Cow<'a, str>, &'a [u8])>,
}

impl<'a> MessageEdit<'a> {
    /// Members that identify the edit and are not members of the message.
    pub const OWN: [&'static str; 3] = ["id", "nth", "unset"];

    fn read(raw: &'a [u8]) -> Option<MessageEdit<'a>> {
        let mut set = json::members(raw, Dialect::Strict)?;
        set.retain(|(name, _)| !MessageEdit::OWN.contains(&name.as_ref()));
        let unset = match json::member(raw, "unset") {
            Some(names) => json::elements(names, Dialect::Strict)?,
            None => Vec::new(),
        };
        let unset: Option<Vec<_>> = unset.into_iter().map(json::text).collect();
        Some(MessageEdit {
            of: MessageTarget::read(raw, "id")?,
            unset: unset?,
            set,
        })
    }
}

/// A message that a compaction inserts.
#[derive(Debug)]
pub struct Insert<'a> {
    /// The message that it is inserted before; `None`: at the end.
    pub before: Option<MessageTarget<'a>>,
    /// The message.
    pub message: &'a [u8],
}

impl<'a> Insert<'a> {
    fn read(raw: &'a [u8]) -> Option<Insert<'a>> {
        Some(Insert {
            before: MessageTarget::read(raw, "before"),
            message: json::member(raw, "message")?,
        })
    }
}

/// The summary of a compaction. The messages that it replaces are listed in the compaction's `drop`.
#[derive(Debug)]
pub struct CompactionSummary<'a> {
    /// The message that it is inserted before; `None`: at the end.
    pub before: Option<MessageTarget<'a>>,
    /// The text as a JSON string: a long one is only decoded where it is needed.
    encoded: &'a [u8],
}

impl<'a> CompactionSummary<'a> {
    fn read(raw: &'a [u8]) -> Option<CompactionSummary<'a>> {
        Some(CompactionSummary {
            before: MessageTarget::read(raw, "before"),
            encoded: json::string_member(raw, "content")?,
        })
    }

    /// The text.
    pub fn content(&self) -> Cow<'a, str> {
        json::text(self.encoded).unwrap_or_default()
    }
}

/// `summary`: text that replaces a range of messages and the previous summary.
#[derive(Debug)]
pub struct Summary<'a> {
    /// The text.
    pub content: Cow<'a, str>,
    /// First and last message that it replaces; absent if those messages are already hidden.
    pub covers: Option<[Cow<'a, str>; 2]>,
    /// Which of several messages with these ids, counted from 1.
    pub nth: [u64; 2],
    /// Without `covers`: whether the summary takes the position of its line; otherwise it follows the leading system
    /// messages.
    pub here: bool,
}

/// `restore`: undoes an event.
#[derive(Debug)]
pub struct Restore<'a> {
    /// Id of the event.
    pub of: Cow<'a, str>,
}

/// `attempt`: a failed attempt at a summary; see [`super::health`].
#[derive(Debug)]
pub struct Attempt<'a> {
    /// Time of the attempt.
    pub at: Option<Cow<'a, str>>,
    /// Consecutive failures, including this one.
    pub failures: u64,
    /// Whether the retry limit was exceeded.
    pub degraded: bool,
    /// Earliest time of the next attempt.
    pub next_attempt_at: Option<Cow<'a, str>>,
    /// The error message.
    pub why: Option<Cow<'a, str>>,
}
