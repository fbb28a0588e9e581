//! What happened to a session: the header and the events that move its view.

use super::json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The version of the format that this program writes, and the highest that it reads.
pub const VERSION: u64 = 1;

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

    /// Whether this line begins a session.
    pub fn is_header(&self) -> bool {
        self.kind == br#""session""# || self.name() == "session"
    }

    /// The event's id.
    pub fn id(&self) -> Option<Cow<'a, str>> {
        self.id.and_then(json::text)
    }

    /// What the event does; an event whose members do not fit its type is [`Action::Unknown`].
    pub fn action(&self) -> Action<'a> {
        fn read<'a, T: Deserialize<'a>>(raw: &'a [u8], action: fn(T) -> Action<'a>) -> Action<'a> {
            serde_json::from_slice(raw).map_or(Action::Unknown, action)
        }
        match self.name().as_ref() {
            "session" => Action::Session,
            "meta" => read(self.raw, Action::Meta),
            "truncate" => read(self.raw, Action::Truncate),
            "compact" => read(self.raw, Action::Compact),
            "summary" => read(self.raw, Action::Summary),
            "restore" => read(self.raw, Action::Restore),
            _ => Action::Unknown,
        }
    }
}

/// An event's meaning.
#[derive(Debug)]
pub enum Action<'a> {
    /// Begins a session.
    Session,
    /// Changes members of the header.
    Meta(Meta<'a>),
    /// A logical cut.
    Truncate(Truncate<'a>),
    /// Drops, edits and inserts.
    Compact(Compact<'a>),
    /// Text that stands for messages.
    Summary(Summary<'a>),
    /// Takes another event back.
    Restore(Restore<'a>),
    /// No effect on the view: carried along.
    Unknown,
}

/// `meta`: members of the header that were set and unset.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Meta<'a> {
    /// Object of members to set.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub set: Option<&'a RawValue>,
    /// Names of members to take away.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub unset: Vec<Cow<'a, str>>,
}

/// `truncate`: messages ahead of one leave the view.
#[derive(Debug, Deserialize, Serialize)]
pub struct Truncate<'a> {
    /// Id of the first message that stays; none: all so far leave.
    #[serde(borrow)]
    pub before: Option<Cow<'a, str>>,
    /// Which message of that id is meant, from 1, when the id repeats; absent: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u64>,
    /// Whether messages of the category `system` stay.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub keep_system: bool,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_true(value: &bool) -> bool {
    *value
}

/// `compact`: what a compaction dropped, edited and inserted.
#[derive(Debug, Deserialize, Serialize)]
pub struct Compact<'a> {
    /// Ids, or ranges of ids with both ends.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<Span<'a>>,
    /// Objects with `id` and the members that replace the message's.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub edit: Vec<&'a RawValue>,
    /// Messages that were put in.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub insert: Vec<Insert<'a>>,
}

/// A message, or a range of messages with both ends, by id.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Span<'a> {
    /// One.
    One(#[serde(borrow)] Cow<'a, str>),
    /// From the first to the last.
    Range(#[serde(borrow)] [Cow<'a, str>; 2]),
}

/// A message that a compaction puts in.
#[derive(Debug, Deserialize, Serialize)]
pub struct Insert<'a> {
    /// Id of the message that it stands before; none: at the end.
    #[serde(borrow)]
    pub before: Option<Cow<'a, str>>,
    /// The message.
    #[serde(borrow)]
    pub message: &'a RawValue,
}

/// `summary`: text that stands for messages, and replaces the summary before it.
#[derive(Debug, Deserialize, Serialize)]
pub struct Summary<'a> {
    /// The text.
    #[serde(borrow)]
    pub content: Cow<'a, str>,
    /// First and last message that it stands for; absent when it stands for messages that are gone.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub covers: Option<[Cow<'a, str>; 2]>,
}

/// `restore`: an event that counts as never written.
#[derive(Debug, Deserialize, Serialize)]
pub struct Restore<'a> {
    /// Its id.
    #[serde(borrow)]
    pub of: Cow<'a, str>,
}

/// The members of a header that commands ask for.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Header<'a> {
    /// Version of the format.
    #[serde(default)]
    pub version: Option<u64>,
    /// Id of the session.
    #[serde(borrow, default)]
    pub id: Option<Cow<'a, str>>,
    /// When it began.
    #[serde(borrow, default)]
    pub created_at: Option<Cow<'a, str>>,
    /// What people call it.
    #[serde(borrow, default)]
    pub title: Option<Cow<'a, str>>,
    /// The key it has elsewhere.
    #[serde(borrow, default)]
    pub key: Option<Cow<'a, str>>,
    /// The session that it continues.
    #[serde(borrow, default)]
    pub continued_from: Option<Cow<'a, str>>,
    /// Where it was migrated from.
    #[serde(borrow, default)]
    pub source: Option<&'a RawValue>,
    /// Free.
    #[serde(borrow, default)]
    pub metadata: Option<&'a RawValue>,
}
