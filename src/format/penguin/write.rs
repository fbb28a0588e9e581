//! Writes a session as a Penguin document. Data read from Penguin is restored; data that Penguin cannot represent is
//! stored in the metadata. Events are applied to the view, and the active summary becomes a context message.

use super::super::{WritePurpose, WriteTarget, report::Loss, report::Report, written};
use super::element::{Elements, local_time, numbered};
use super::header::RECORDS;
use super::link::Link;
use super::member::{is_words, non_null};
use super::native_metadata::{self, MEMBER, in_order};
use super::serialize;
use super::times::{local_text, moment};
use super::totals::DocumentTotals;
use crate::error::Result;
use crate::model::json::{self, Dialect, ObjectBuilder, quoted};
use crate::model::record::Record;
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use crate::model::{header, key, time};
use jiff::Timestamp;
use std::borrow::Cow;

/// How a document is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions<'s> {
    /// Time of the change, RFC 3339: used as the time of last activity, and for messages without a time.
    pub now: Option<&'s str>,
    /// The source document, and the number of session lines read from it: unchanged messages are copied from there.
    pub source: Option<(&'s [u8], usize)>,
}

/// The header of a session, by member.
struct Header<'s> {
    members: &'s [(String, Vec<u8>)],
}

impl Header<'_> {
    fn get(&self, name: &str) -> Option<&[u8]> {
        non_null(header::member(self.members, name))
    }

    fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name).and_then(json::text)
    }

    /// A member that the reader stored.
    fn stored(&self, name: &str) -> Option<&[u8]> {
        json::member(json::member(self.get("metadata")?, "penguin")?, name)
    }

    fn was_read_from_penguin(&self) -> bool {
        let source = self
            .get("source")
            .and_then(|source| json::member(source, "format"));
        source == Some(br#""penguin""#)
    }
}

/// Penguin's name for a session, which is also the file name without `.json`: the key, or the id if the key is not a
/// valid file name. `None` if there is neither.
pub fn name_of(session: &Session) -> Option<String> {
    let header = Header {
        members: session.header(),
    };
    id_of(&header)
}

fn id_of(header: &Header) -> Option<String> {
    let id = header.text("id").map(Cow::into_owned);
    let key = header.text("key");
    let fits = |key: &str| {
        !key.is_empty()
            && key.len() <= LONGEST
            && !key.starts_with('.')
            && !key.contains(['/', '\\'])
            && !key.contains(char::is_control)
    };
    match key.filter(|key| fits(key)) {
        Some(key) if id.as_ref().is_none_or(|id| key::id_for_key(&key) == *id) => Some(key.into_owned()),
        _ => id,
    }
}

/// Maximum length of a name in bytes, so that its extensions fit in a file name.
const LONGEST: usize = 200;

/// Header members that have an equivalent in the document, or are never written.
const PLACED: [&str; 11] = [
    "type", "version", "id", "key", "created_at", "title", "continued_from", "continuation_index",
    "continued_to", "source", "metadata",
];

/// Writes the view of a session.
pub fn write(
    session: &Session,
    view: &View,
    save: &WriteOptions<'_>,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let link = Link::of(session);
    if purpose == WritePurpose::Export {
        count_lines(session, view, link.as_ref(), report);
    }
    // Losses of members added by other formats, or irrelevant for a model, are not reported.
    let mut quiet = Report::default();
    let counted = match purpose {
        WritePurpose::Export => report,
        WritePurpose::Context | WritePurpose::Return => &mut quiet,
    };
    let header = Header {
        members: session.header(),
    };
    let first = first_time(session, &header);
    let now = save.now.and_then(time::local);
    let mut elements = Elements::new(now.clone(), first, counted);
    let mut list = Vec::new();
    for element in in_view(session, view, save, &mut elements) {
        list.extend_from_slice(if list.is_empty() { b"" } else { b"," });
        serialize::new_line(&mut list, 2);
        match element {
            WrittenElement::Copied(raw) => list.extend_from_slice(raw),
            WrittenElement::Generated(raw) => serialize::push(&mut list, &raw, 2),
        }
    }
    let mut sums = elements.sums;
    sums.newest = newest(session, view);
    let as_read = save.now.is_none()
        && header
            .stored("as_read")
            .is_some_and(|noted| json::same(noted, &sums.noted()));
    let active = match as_read {
        true => header.stored("last_active").and_then(local_text),
        false => now.or_else(|| last_active(&header, sums.newest)),
    };
    let sums = (!as_read).then_some(sums);
    let id = id_of(&header).unwrap_or_else(|| derived_id(&list));
    let created = save.source.and_then(|(bytes, _)| source_time(&header, bytes));
    let times = (created, active);
    let front = front(
        &header,
        &id,
        link.as_ref(),
        times,
        sums,
        save.now.is_some(),
        counted,
    );
    let mut text = Vec::new();
    serialize::push(&mut text, &front, 0);
    text.truncate(text.len() - "\n}".len());
    text.push(b',');
    serialize::new_line(&mut text, 1);
    text.extend_from_slice(b"\"messages\": [");
    if !list.is_empty() {
        serialize::new_line(&mut list, 1);
    }
    list.extend_from_slice(b"],");
    written(out.write_all(&text))?;
    written(out.write_all(&list))?;
    text.clear();
    serialize::push(&mut text, &trailing_members(&header), 0);
    written(out.write_all(&text[1..]))
}

/// An element of `messages` to write.
enum WrittenElement<'s> {
    /// Unchanged bytes of the document.
    Copied(&'s [u8]),
    /// A new element, not formatted yet.
    Generated(Vec<u8>),
}

/// The elements of `messages`: the view, and original elements between its messages that were not messages.
fn in_view<'s>(
    session: &Session,
    view: &View,
    save: &WriteOptions<'s>,
    elements: &mut Elements<'_>,
) -> Vec<WrittenElement<'s>> {
    let mut all = Vec::with_capacity(view.items.len());
    let mut next = 0;
    let mut between = |all: &mut Vec<WrittenElement<'s>>, to: usize, elements: &mut Elements<'_>| {
        for index in next..to {
            if session.class(index) == Class::Event {
                all.extend(
                    elements
                        .foreign(session.record(index).body)
                        .map(WrittenElement::Generated),
                );
            }
        }
        next = to.max(next);
    };
    for item in &view.items {
        if let Some(index) = item.line() {
            between(&mut all, index, elements);
        }
        if let Some(raw) = copied(session, item, save) {
            if let Some(message) = item.message(session) {
                elements.pass(&message, raw);
            }
            all.push(WrittenElement::Copied(raw));
            continue;
        }
        all.extend(elements.item(session, item).map(WrittenElement::Generated));
    }
    between(&mut all, session.len(), elements);
    all
}

/// The unchanged message in the source document.
fn copied<'s>(session: &Session, item: &Item, save: &WriteOptions<'s>) -> Option<&'s [u8]> {
    let (source, lines) = save.source?;
    let Item::Line(index) = item else { return None };
    if *index >= lines {
        return None;
    }
    let at = usize::try_from(session.record(*index).place.offset).ok()?;
    let end = json::value_end(source, at, Dialect::Python).ok()?;
    source.get(at..end).filter(|raw| raw.first() == Some(&b'{'))
}

/// Counts the losses of damaged lines and events; the effects of events on the view are represented.
fn count_lines(session: &Session, view: &View, link: Option<&Link>, report: &mut Report) {
    let summary = view.items.iter().find_map(|item| match item {
        Item::Summary(event) => Some(*event),
        _ => None,
    });
    for index in 0..session.len() {
        match session.class(index) {
            Class::Event => {
                let record = session.record(index);
                let name = record.event().map(|event| event.name()).unwrap_or_default();
                let is_penguins =
                    |record: &Record<'_>| json::member(record.body, "format") == Some(br#""penguin""#);
                let comes = match name.as_ref() {
                    "meta" => true,
                    "foreign" => is_penguins(&record),
                    "summary" => summary == Some(index),
                    "link" => link.is_some_and(|link| link.event == index),
                    _ => false,
                };
                report.count_loss(Loss::Event, u64::from(!comes));
            }
            Class::Unreadable => report.count_loss(Loss::Unreadable, 1),
            Class::Header | Class::Message(_) | Class::Blank => {}
        }
    }
}

/// The local time of the first line with a time, including the header.
fn first_time(session: &Session, header: &Header) -> Option<String> {
    header.get("created_at").and_then(local_text).or_else(|| {
        session
            .messages()
            .find_map(|(index, _)| local_text(session.record(index).message()?.timestamp?))
    })
}

/// The latest time of the visible messages and of the events that changed them.
fn newest(session: &Session, view: &View) -> Option<Timestamp> {
    let messages = view
        .items
        .iter()
        .filter_map(|item| moment(item.message(session)?.timestamp?));
    let done = session.live_events().into_iter();
    let done = done.filter_map(|index| moment(json::member(session.record(index).body, "at")?));
    messages.chain(done).max()
}

/// The time of last activity: that in the document, or the latest time in the session if that is later.
fn last_active(header: &Header, newest: Option<Timestamp>) -> Option<String> {
    let kept = header.stored("last_active").and_then(moment);
    let created = || header.get("created_at").and_then(moment);
    let last = newest.max(kept).or_else(created)?;
    time::local(&last.to_string())
}

/// An id for a session without one, derived from its messages.
fn derived_id(list: &[u8]) -> String {
    key::id_from("session_", list)
}

/// The creation time as in the source document, if the header still has the same time.
fn source_time<'d>(header: &Header, document: &'d [u8]) -> Option<&'d [u8]> {
    let raw = json::member(document, "created_at")?;
    let same = match header.text("created_at") {
        Some(time) => time::read(&json::text(raw)?)?.time == *time,
        None => header.stored("created_at") == Some(raw),
    };
    same.then_some(raw)
}

/// The members before the messages.
fn front(
    header: &Header,
    id: &str,
    link: Option<&Link>,
    (created, active): (Option<&[u8]>, Option<String>),
    sums: Option<DocumentTotals>,
    changed: bool,
    report: &mut Report,
) -> Vec<u8> {
    let mut preserved = ObjectBuilder::default();
    let mut front = ObjectBuilder::default();
    let kept_id = header.stored("id");
    match kept_id.filter(|raw| is_words(raw)) {
        Some(raw) => front.raw("id", raw),
        None => front.text("id", id),
    };
    report.count_loss(Loss::Id, u64::from(kept_id.is_some_and(|raw| !is_words(raw))));
    preserved.optional(
        "key",
        header
            .get("key")
            .filter(|raw| json::text(raw).as_deref() != Some(id)),
    );
    if let Some(raw) = created {
        front.raw("created_at", raw);
    } else if let Some(raw) = header.get("created_at") {
        match local_time(raw) {
            Some((time, same)) => {
                front.raw("created_at", time);
                if !same {
                    preserved.raw("created_at", raw);
                }
            }
            None => {
                preserved.raw("created_at", raw);
            }
        }
    }
    // Penguin does not read a session with an invalid time.
    let unread = |name, read: bool| u64::from(header.stored(name).is_some() && !read);
    report.count_loss(Loss::Timestamp, unread("created_at", created.is_some()));
    let active_read = header.stored("last_active").and_then(moment).is_some();
    report.count_loss(Loss::Timestamp, unread("last_active", active_read));
    if let Some(active) = active {
        front.text("last_active", &active);
    }
    front.raw(
        "metadata",
        metadata(header, link, sums, changed, preserved, report),
    );
    numbered(front.finish(), header.stored("numbers"))
}

fn metadata(
    header: &Header,
    link: Option<&Link>,
    sums: Option<DocumentTotals>,
    changed: bool,
    mut preserved: ObjectBuilder,
    report: &mut Report,
) -> Vec<u8> {
    let inner = header.stored("metadata");
    let rest = inner.and_then(in_order);
    report.count_loss(Loss::Metadata, u64::from(inner.is_some() && rest.is_none()));
    let rest = rest.unwrap_or_default().into_iter();
    let mut rest: Vec<(Cow<'_, str>, Vec<u8>)> = rest.map(|(name, value)| (name, value.to_vec())).collect();
    // Members are only added to a document of Penguin on a change, as Penguin does when it saves.
    let complete = changed || !header.was_read_from_penguin();
    // Penguin has its own names for the chain members of a continuation.
    let original = header.get("original_created_at").and_then(local_time);
    for (name, value) in [
        ("original_created_at", original.map(|(time, _)| time)),
        (
            "source_session_tokens",
            header.get("source_tokens").map(<[u8]>::to_vec),
        ),
    ] {
        if let Some(value) = value.filter(|_| !rest.iter().any(|(known, _)| known == name)) {
            rest.push((Cow::Borrowed(name), value));
        }
    }
    let count = |count: u64| count.to_string().into_bytes();
    let to = match link {
        Some(link) => Some(quoted(&link.to)),
        None => header.get("continued_to").map(<[u8]>::to_vec),
    };
    let at = link.and_then(|link| Some(quoted(link.at.as_deref()?)));
    for (name, value, add) in [
        (
            "message_count",
            sums.as_ref().map(|sums| count(sums.messages)),
            complete,
        ),
        (
            "token_count",
            sums.as_ref().map(|sums| count(sums.tokens)),
            complete,
        ),
        ("continued_to", to, true),
        ("continuation_time", at, true),
    ] {
        let Some(value) = value else { continue };
        match rest.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None if add => rest.push((Cow::Borrowed(name), value)),
            None => {}
        }
    }
    let mut taken: Vec<(&str, Vec<u8>)> = Vec::new();
    for name in ["title", "continued_from", "continuation_index"] {
        let Some(raw) = header.get(name) else { continue };
        // A text that decoding changes was also kept in its original form.
        let encoded = inner.and_then(|inner| json::member(inner, name));
        let same = encoded.is_some_and(|encoded| json::text(encoded) == json::text(raw));
        taken.push((name, encoded.filter(|_| same).unwrap_or(raw).to_vec()));
    }
    if let Some(raw) = header.get("metadata") {
        let others = json::with_members(raw, &[("penguin", None)]).unwrap_or_else(|_| raw.to_vec());
        if others != b"{}" {
            preserved.raw("metadata", others);
        }
    }
    for (name, value) in header.members {
        if !PLACED.contains(&name.as_str()) {
            preserved.raw(name, value);
        }
    }
    if !preserved.is_empty() {
        taken.push((MEMBER, preserved.finish()));
    }
    native_metadata::restore_order(rest, taken, header.stored("places"))
}

/// The members after the messages.
fn trailing_members(header: &Header) -> Vec<u8> {
    let mut back = ObjectBuilder::default();
    for name in RECORDS {
        back.raw(name, header.stored(name).unwrap_or(b"[]"));
    }
    for (name, value) in header.stored("members").and_then(in_order).unwrap_or_default() {
        back.raw(&name, value);
    }
    numbered(back.finish(), header.stored("numbers"))
}
