//! An input as sessions.

use super::layout::{Layout, Places, Slot, holds};
use super::spelling::{self, Spelling};
use super::{Kind, row};
use crate::error::{self, Error, Result};
use crate::format::document::{self, Cut, Piece};
use crate::format::kit::records::passthrough;
use crate::format::native::HeaderBuilder;
use crate::format::report::{Loss, Report};
use crate::format::request::piece::{quoted, rest_object};
use crate::format::{Input, SessionReader, Source};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::origin::Origin;
use crate::model::session::Session;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Opens an input: many objects with lists one after another, anything else as one list.
pub fn open(kind: &'static Kind, input: Input) -> Result<Box<dyn SessionReader>> {
    let cut = Cut {
        is: Box::new(holds),
        read: Box::new(move |piece, report| {
            if document_of(piece.bytes).is_some() {
                return read(kind, &piece, true, report);
            }
            let what = match json::value_end(piece.bytes, 0, Dialect::Python) {
                Err(fault) => fault.what,
                Ok(_) => "not an object with messages",
            };
            report.damage(piece.place, what);
            Vec::new()
        }),
    };
    let input = match document::open_pieces(cut, input)? {
        Ok(reader) => return Ok(reader),
        Err(input) => input,
    };
    let (name, returns) = (input.name.clone(), input.returns);
    Ok(Box::new(Whole {
        kind,
        name,
        returns,
        input: Some(input),
        sessions: Vec::new().into_iter(),
    }))
}

/// An input that is one list, read when it is asked for.
struct Whole {
    kind: &'static Kind,
    name: Option<String>,
    returns: bool,
    input: Option<Input>,
    sessions: std::vec::IntoIter<Session>,
}

impl SessionReader for Whole {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        let Some(input) = self.input.take() else {
            return Ok(Iterator::next(&mut self.sessions));
        };
        let bytes = input.whole()?;
        let piece = Piece {
            name: self.name.as_deref(),
            bytes: &bytes,
            place: error::Place { line: 1, offset: 0 },
            made: 0,
        };
        let mut sessions = read(self.kind, &piece, false, report);
        if sessions.is_empty() {
            return Err(Error::new(error::Kind::Data, "contains no messages"));
        }
        if self.returns {
            let origin = Arc::new(Origin {
                lead: Vec::new(),
                bytes,
            });
            sessions
                .iter_mut()
                .for_each(|session| session.set_origin(origin.clone()));
        }
        self.sessions = sessions.into_iter();
        Ok(Iterator::next(&mut self.sessions))
    }
}

/// The elements of one session of a list.
#[derive(Default)]
pub struct Group<'a> {
    /// The session that its rows name.
    pub named: Option<Cow<'a, str>>,
    /// Numbers of the elements.
    pub slots: Vec<usize>,
}

/// The sessions of a list, in the order in which they begin.
pub fn groups<'a>(kind: &Kind, layout: &Layout<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known: HashMap<Option<Cow<'_, str>>, usize> = HashMap::new();
    for (nth, slot) in layout.elements.iter().enumerate() {
        let named = row_of(kind, slot.bytes).map(|row| row.session);
        let at = *known.entry(named.clone()).or_insert_with(|| {
            groups.push(Group {
                named,
                slots: Vec::new(),
            });
            groups.len() - 1
        });
        groups[at].slots.push(nth);
    }
    if groups.is_empty() && layout.broken.is_none() {
        groups.push(Group::default());
    }
    groups
}

fn row_of<'a>(kind: &Kind, element: &'a [u8]) -> Option<row::Row<'a>> {
    kind.rows.then(|| row::of(element)).flatten()
}

/// The lines of one element, and whether they are messages.
pub struct Lines {
    /// Each without its ending.
    pub bodies: Vec<Vec<u8>>,
    /// Whether they are messages; else there is one line that carries the element.
    pub messages: bool,
    /// What is wrong, and how far behind the element's beginning.
    pub fault: Option<(usize, String)>,
    /// Numbers that JSON does not have.
    pub replaced: u64,
}

/// What is known of the elements before.
#[derive(Default)]
pub struct Seen {
    ids: HashSet<Vec<u8>>,
    /// Whether the element before ends with what the model or a tool said.
    open: bool,
}

/// The lines that an element is read as.
pub fn lines(kind: &Kind, form: &'static str, slot: &Slot<'_>, seen: &mut Seen) -> Lines {
    let row = row_of(kind, slot.bytes);
    let raw = row.as_ref().map_or(slot.bytes, |row| &row.message);
    let mut lines = Lines {
        bodies: Vec::new(),
        messages: false,
        fault: None,
        replaced: 0,
    };
    let end = json::value_end(raw, 0, Dialect::Python);
    if end != Ok(raw.len()) {
        let (offset, what) = match end {
            Ok(end) => (end, "unexpected text after the value"),
            Err(fault) => (fault.offset.min(raw.len()), fault.what),
        };
        lines.fault = Some((offset, what.to_string()));
        let text = String::from_utf8_lossy(raw).replace(['\n', '\r'], " ");
        lines.bodies.push(text.into_bytes());
        return lines;
    }
    let (body, replaced) = match json::value_end(raw, 0, Dialect::Strict) {
        // What stands on one line stays the bytes that it is.
        Ok(_) if memchr::memchr2(b'\n', b'\r', raw).is_none() => (raw.to_vec(), 0),
        _ => json::compact(raw),
    };
    lines.replaced = replaced;
    if replaced > 0 {
        let what = "NaN or Infinity, which JSON does not allow, replaced by null";
        lines.fault = Some((0, what.to_string()));
    }
    let body = String::from_utf8(body).unwrap_or_else(|error| {
        lines.fault = Some((0, "bytes that are not UTF-8 replaced by U+FFFD".to_string()));
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    });
    let drafts = (kind.read)(body.as_bytes()).filter(|drafts| !drafts.is_empty());
    let Some(mut drafts) = drafts else {
        lines.bodies.push(passthrough(kind.name, body.as_bytes()));
        if !(kind.others)(body.as_bytes()) {
            let what = "not a message; kept unchanged";
            lines.fault = Some((0, what.to_string()));
        }
        return lines;
    };
    if let Some(fault) = (kind.fault)(body.as_bytes()) {
        lines.fault = Some((0, fault));
    }
    for draft in &mut drafts {
        let repeats = draft.get("id").is_some_and(|id| seen.ids.contains(id));
        if repeats {
            draft.take("id");
        } else if let Some(id) = draft.get("id") {
            seen.ids.insert(id.to_vec());
        }
    }
    let said = |role: &str| role == "assistant" || role == "tool";
    let goes_on = kind.joins && seen.open && said(drafts[0].role());
    seen.open = drafts.last().is_some_and(|draft| said(draft.role()));
    let made = spelling::made(kind, &drafts, &mut Spelling::silent(form));
    if let Some(first) = drafts.first_mut() {
        if goes_on {
            first.note("apart", Some(b"true".to_vec()));
        }
        if made.len() != 1 || !json::same(&made[0], body.as_bytes()) {
            first.note("raw", Some(body.into_bytes()));
        }
    }
    lines.messages = true;
    lines.bodies = drafts.iter().map(|draft| draft.body_of(kind.name)).collect();
    lines
}

/// The form of a list: that of the first of its messages.
pub fn form(kind: &Kind, layout: &Layout<'_>, group: &Group<'_>) -> &'static str {
    let messages = group.slots.iter().map(|slot| layout.elements[*slot].bytes);
    let mut forms = messages.filter_map(|bytes| {
        let row = row_of(kind, bytes);
        let raw = row.as_ref().map_or(bytes, |row| &row.message);
        (json::value_end(raw, 0, Dialect::Python) == Ok(raw.len())).then(|| (kind.form)(raw))
    });
    forms.next().unwrap_or(kind.usual())
}

/// Reads a list; `many` tells that there may be others beside it.
fn read(kind: &Kind, piece: &Piece<'_>, many: bool, report: &mut Report) -> Vec<Session> {
    let layout = Layout::of(piece.bytes);
    let mut places = Places::of(piece.bytes, piece.place);
    let groups = groups(kind, &layout);
    let many = many || groups.len() > 1;
    let mut told: Vec<(usize, String)> = Vec::new();
    let mut sessions = Vec::new();
    // Sessions of one table lie among one another, and places are counted forward.
    let starts: Vec<_> = layout
        .elements
        .iter()
        .map(|slot| places.at(slot.offset))
        .collect();
    for group in &groups {
        let form = form(kind, &layout, group);
        let mut session = Session::default();
        let nth = piece.made + sessions.len() + 1;
        session.push_new(&header(kind, piece, &layout, group, form, many.then_some(nth)));
        let mut seen = Seen::default();
        for at in &group.slots {
            let slot = &layout.elements[*at];
            let lines = lines(kind, form, slot, &mut seen);
            report.lose(Loss::Number, lines.replaced);
            told.extend(lines.fault.map(|(offset, what)| (slot.offset + offset, what)));
            for body in lines.bodies {
                session.push_made(body, starts[*at]);
            }
        }
        sessions.push(session);
    }
    told.extend(layout.broken);
    told.sort_by_key(|(offset, _)| *offset);
    let mut places = Places::of(piece.bytes, piece.place);
    for (offset, what) in told {
        report.damage(places.at(offset), what);
    }
    sessions
}

fn header(
    kind: &Kind,
    piece: &Piece<'_>,
    layout: &Layout<'_>,
    group: &Group<'_>,
    form: &str,
    nth: Option<usize>,
) -> Vec<u8> {
    let source = Source {
        name: piece.name,
        ..Source::alone(piece.bytes)
    };
    let document = document_of(piece.bytes);
    let own = document
        .and_then(|object| json::member(object, "id"))
        .and_then(json::text);
    let named = group.named.clone().or(own).filter(|name| !name.is_empty());
    let name = match (named, nth) {
        (Some(named), _) => named.into_owned(),
        (None, nth) => {
            let stem = source.name_or_hash();
            nth.map_or(stem.clone(), |nth| format!("{stem}#{nth}"))
        }
    };
    let title = document
        .and_then(|object| json::member(object, "title"))
        .and_then(json::text);
    let mut header = HeaderBuilder::default();
    header.text("title", title.as_deref());
    let id = header.named(kind.format, &source, Some(&name), 0);
    let mut notes = ObjectBuilder::default();
    if form != kind.usual() {
        notes.text("form", form);
    }
    if layout.lines {
        notes.text("input", "lines");
    }
    if let Some(rest) = document.and_then(|object| rest_object(object, &[super::layout::LIST])) {
        let rest = json::compact(&rest).0;
        notes.raw("document", String::from_utf8_lossy(&rest).as_bytes());
    } else if document.is_some() {
        notes.raw("document", "{}");
    }
    if let Some(session) = &group.named {
        notes.raw("session", quoted(session));
    }
    if !notes.is_empty() {
        let mut metadata = ObjectBuilder::default();
        metadata.raw(kind.name, notes.finish());
        header.raw("metadata", metadata.finish());
    }
    header.finish(&id)
}

/// The object that holds the list.
fn document_of(bytes: &[u8]) -> Option<&[u8]> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    let whole = text.starts_with(b"{") && json::value_end(text, 0, Dialect::Python) == Ok(text.len());
    (whole && holds(text)).then_some(text)
}
