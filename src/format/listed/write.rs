//! Sessions as lists: anew, and back into the one that they came from.

use super::layout::{Layout, Placed};
use super::read::{self, Group, Seen};
use super::spelling::{self, Spelling};
use super::{Kind, row};
use crate::error::Result;
use crate::format::kit::{losses, records};
use crate::format::report::{Loss, Report};
use crate::format::request::piece::{Said, rest};
use crate::format::{Purpose, Returned, written};
use crate::model::json;
use crate::model::message::Role;
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;

/// Writes one session's view; `form` is the form of the elements, else that which they had.
pub fn write(
    kind: &Kind,
    form: Option<&'static str>,
    (session, view): (&Session, &View),
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    if purpose == Purpose::Export {
        let keeps_event = |index: usize| foreign(kind, session, index).is_some();
        losses::records(session, |body| is_carried(kind, body), keeps_event, report);
    }
    let note = note(kind, session);
    let own = note.as_deref().unwrap_or(b"{}");
    let had = json::member(own, "form").and_then(json::text);
    let had = had.and_then(|had| kind.forms.iter().copied().find(|form| *form == had));
    let mut spelling = Spelling {
        form: form.or(had).unwrap_or(kind.usual()),
        purpose,
        report: std::mem::take(report),
    };
    let mut elements = Vec::new();
    let bodies = Bodies::of(session, view, &mut spelling);
    let mut begun = 0;
    let mut next = 0;
    for (at, item) in view.items.iter().enumerate() {
        let Some(line) = item.line() else { continue };
        for index in next..line {
            if let Some(raw) = foreign(kind, session, index) {
                elements.extend(bodies.spell(kind, begun..at, &mut spelling));
                elements.push(raw);
                begun = at;
            }
        }
        next = next.max(line + 1);
    }
    elements.extend(bodies.spell(kind, begun..view.items.len(), &mut spelling));
    elements.extend((next..session.len()).filter_map(|index| foreign(kind, session, index)));
    *report = spelling.report;
    let lines = json::member(own, "input") == Some(b"\"lines\"") && purpose != Purpose::Context;
    if lines {
        for element in &elements {
            written(out.write_all(element))?;
            written(out.write_all(b"\n"))?;
        }
        return Ok(());
    }
    let (open, close) = match json::member(own, "document").filter(|_| purpose != Purpose::Context) {
        Some(document) => {
            let mut open = document[..document.len() - 1].to_vec();
            if open.len() > 1 {
                open.push(b',');
            }
            json::push_text(&mut open, super::layout::LIST);
            open.extend_from_slice(b":[");
            (open, &b"]}\n"[..])
        }
        None => (b"[".to_vec(), &b"]\n"[..]),
    };
    written(out.write_all(&open))?;
    for (nth, element) in elements.iter().enumerate() {
        written(out.write_all(if nth == 0 { b"\n" } else { b",\n" }))?;
        written(out.write_all(element))?;
    }
    if !elements.is_empty() {
        written(out.write_all(b"\n"))?;
    }
    written(out.write_all(close))
}

/// Writes sessions back into the list that they share.
pub fn back(kind: &Kind, sessions: &[Returned<'_>], out: &mut dyn Write, report: &mut Report) -> Result<()> {
    let Some(origin) = sessions.first().and_then(|first| first.session.origin()) else {
        return Ok(());
    };
    written(out.write_all(&origin.lead))?;
    if sessions.iter().all(|session| !session.changed) {
        return written(out.write_all(&origin.bytes));
    }
    let layout = Layout::of(&origin.bytes);
    let groups = read::groups(kind, &layout);
    // Each with the number of the element that it stands at, or behind.
    let mut placed: Vec<(usize, Placed)> = Vec::new();
    for (group, returned) in groups.iter().zip(sessions) {
        match returned.changed {
            false => placed.extend(group.slots.iter().map(|slot| (*slot, Placed::Stays(*slot)))),
            true => place(kind, &layout, group, returned, &mut placed, report),
        }
    }
    placed.sort_by_key(|(at, _)| *at);
    let placed: Vec<Placed> = placed.into_iter().map(|(_, element)| element).collect();
    written(out.write_all(&layout.with(&placed)))
}

/// Where the messages of an element stand among the lines of its session.
struct Held {
    slot: usize,
    lines: Range<usize>,
}

/// Puts the elements of a session that changed where they are to stand.
fn place(
    kind: &Kind,
    layout: &Layout<'_>,
    group: &Group<'_>,
    returned: &Returned<'_>,
    placed: &mut Vec<(usize, Placed)>,
    report: &mut Report,
) {
    let form = read::form(kind, layout, group);
    let mut seen = Seen::default();
    let mut held: Vec<Held> = Vec::new();
    // Behind the header.
    let mut line = 1;
    for slot in &group.slots {
        let lines = read::lines(kind, form, &layout.elements[*slot], &mut seen);
        let next = line + lines.bodies.len();
        match lines.messages {
            true => held.push(Held {
                slot: *slot,
                lines: line..next,
            }),
            // What is no message stays where it is.
            false => placed.push((*slot, Placed::Stays(*slot))),
        }
        line = next;
    }
    let of_line = |line: usize| {
        let at = held.partition_point(|held| held.lines.end <= line);
        held.get(at).filter(|held| held.lines.contains(&line))
    };
    let mut spelling = Spelling {
        form,
        purpose: Purpose::Return,
        report: std::mem::take(report),
    };
    let items = &returned.view.items;
    let bodies = Bodies::of(returned.session, returned.view, &mut spelling);
    let like = group.slots.first().map(|slot| layout.elements[*slot].bytes);
    let (mut at, mut anchor) = (0, 0);
    while at < items.len() {
        let own = items[at].line().and_then(of_line);
        // Results that were added belong into the element of their calls.
        let results = |from: usize| {
            let result = |item: &&Item| {
                let tool = item
                    .traits(returned.session)
                    .is_some_and(|traits| traits.role == Role::Tool);
                tool && item.line().is_some_and(|line| of_line(line).is_none())
            };
            items[from..].iter().take_while(result).count() * usize::from(kind.joins)
        };
        if let Some(held) = own
            && is_whole(&items[at..], &held.lines)
            && results(at + held.lines.len()) == 0
        {
            anchor = anchor.max(held.slot);
            placed.push((anchor, Placed::Stays(held.slot)));
            at += held.lines.len();
            continue;
        }
        // What is left of one element, or what was added, becomes elements of its own.
        let number = own.map(|held| held.slot);
        let same = |item: &Item| {
            let own = item.line().and_then(of_line);
            own.map(|held| held.slot) == number
        };
        let length = items[at..].iter().take_while(|item| same(item)).count();
        let length = length + results(at + length);
        let added = number.is_none() && items[at].line().is_some();
        anchor = anchor.max(match number {
            Some(slot) => slot,
            None if added => usize::MAX,
            None => anchor,
        });
        for raw in bodies.spell(kind, at..at + length, &mut spelling) {
            let raw = match like.filter(|_| group.named.is_some()) {
                Some(like) => row::like(like, &raw),
                None => raw,
            };
            placed.push((anchor, Placed::Made(raw)));
        }
        at += length;
    }
    *report = spelling.report;
}

/// Whether items begin with all of these lines, untouched.
fn is_whole(items: &[Item], lines: &Range<usize>) -> bool {
    items.len() >= lines.len()
        && lines
            .clone()
            .zip(items)
            .all(|(line, item)| matches!(item, Item::Line(index) if *index == line))
}

/// The items of a view as bodies of messages.
struct Bodies<'s>(Vec<Cow<'s, [u8]>>);

impl<'s> Bodies<'s> {
    fn of(session: &'s Session, view: &'s View, spelling: &mut Spelling) -> Bodies<'s> {
        let body = |item: &'s Item| match item.summary_message(session) {
            Some(message) => {
                if spelling.purpose == Purpose::Export {
                    spelling.report.lose(Loss::Summary, 1);
                }
                Cow::Owned(message)
            }
            None => Cow::Borrowed(item.body(session)),
        };
        Bodies(view.items.iter().map(body).collect())
    }

    fn spell(&self, kind: &Kind, range: Range<usize>, spelling: &mut Spelling) -> Vec<Vec<u8>> {
        let records: Vec<_> = self.0[range].iter().map(|body| spelling::record(body)).collect();
        let said: Vec<_> = records
            .iter()
            .enumerate()
            .filter_map(|(item, record)| Some(Said::of(item, record.body, *record.message()?, kind.name)))
            .collect();
        spelling::spell(kind, &said, spelling)
    }
}

/// What was noted on the header of a session that came in this format.
fn note(kind: &Kind, session: &Session) -> Option<Vec<u8>> {
    let header = session.header();
    let (_, metadata) = header.iter().find(|(name, _)| name == "metadata")?;
    json::member(metadata, kind.name).map(<[u8]>::to_vec)
}

/// The element of a passthrough record.
fn foreign(kind: &Kind, session: &Session, index: usize) -> Option<Vec<u8>> {
    let body = session.record(index).body;
    let is_own = session.class(index) == Class::Event && records::is_passthrough(body, kind.name);
    json::member(body, "raw").filter(|_| is_own).map(<[u8]>::to_vec)
}

/// Whether a header says nothing that is lost: where it came from, and what the list had beside its elements.
fn is_carried(kind: &Kind, header: &[u8]) -> bool {
    let metadata = json::member(header, "metadata").unwrap_or(b"{}");
    let own = json::member(metadata, kind.name).unwrap_or(b"{}");
    let document = json::member(own, "document").unwrap_or(b"{}");
    rest(header, &["type", "version", "id", "key", "source"]).all(|(name, value)| match name.as_ref() {
        "title" => json::member(document, "title") == Some(value),
        "metadata" => rest(value, &[kind.name]).next().is_none(),
        _ => false,
    })
}
