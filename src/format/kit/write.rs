//! Sessions as documents and lines: new ones, those that were read from the format, and those that are edited in place.

use super::changes::{Change, Next, own_view};
use super::codec::{Codec, Layout};
use super::frame::{Edit, Frame, replaced};
use super::losses;
use super::read;
use super::records::{self, ElementGroup, groups, said};
use super::residue::{residue, restore};
use super::session;
use super::source::Source;
use crate::error::{Error, Kind, Result};
use crate::format::report::{Loss, Report};
use crate::format::request::piece::{Said, array};
use crate::format::{Purpose, Returned, written};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;
use std::collections::HashMap;
use std::io::Write;

/// A format that the kit writes.
pub trait Editor: Codec {
    /// What new elements are made with, such as a clock.
    type Context;

    /// The context of elements after those of a source.
    fn context(&self, about: Option<&[u8]>, source: &Source) -> Self::Context;
    /// The context of a new session.
    fn new_context(&self, session: &Session, view: &View) -> Self::Context;
    /// The elements that give a session this view.
    fn edit(&self, edits: &Edits<'_, Self>, context: &mut Self::Context, report: &mut Report) -> Vec<Edit>
    where
        Self: Sized;
    /// Whether messages of this role have a place.
    fn has_role(&self, role: Role) -> bool;
    /// Whether a message belongs to the element of the message before it.
    fn joins(&self, before: Role, role: Role) -> bool;
    /// A new element; none of messages that make no element.
    fn new_element(
        &self,
        messages: &[Said<'_>],
        purpose: Purpose,
        context: &mut Self::Context,
        report: &mut Report,
    ) -> Option<Vec<u8>>;
    /// The elements of a summary after these new elements.
    fn new_summary(&self, text: &str, before: &[Vec<u8>], context: &mut Self::Context) -> Vec<Vec<u8>>;
    /// The members next to the list of a new session.
    fn new_about(
        &self,
        session: &Session,
        view: &View,
        context: &Self::Context,
        layout: Layout,
    ) -> ObjectBuilder;
    /// Counts what a new element cannot represent of a message; `joined` if it is not the first one of its element.
    fn losses(&self, message: &Said<'_>, joined: bool, report: &mut Report);
    /// Looks at the lines of a session before they are written.
    fn check_lines(&self, _lines: &[Vec<u8>], _report: &mut Report) {}
}

/// The changes that the elements of a source need.
pub struct Edits<'c, C: Codec> {
    /// The format.
    pub codec: &'c C,
    /// The session.
    pub session: &'c Session,
    /// Its view.
    pub view: &'c View,
    /// What it is written for.
    pub purpose: Purpose,
    /// The elements.
    pub source: &'c Source,
    /// The view that the source gives by itself.
    pub own: View,
    /// The change of each element.
    pub changes: Vec<Change>,
    outline: C::Outline,
    /// The first line of each element.
    first: HashMap<usize, usize>,
}

impl<'c, C: Editor> Edits<'c, C> {
    fn new(codec: &'c C, session: &'c Session, view: &'c View, purpose: Purpose, source: &'c Source) -> Self {
        let own = own_view(session, |index| records::is_own(session, index, C::NAME));
        Edits {
            codec,
            session,
            view,
            purpose,
            source,
            changes: source.elements.changes(&own, view),
            own,
            outline: codec.outline(&source.raws),
            first: source.elements.first_lines(),
        }
    }

    /// The elements in their order, new items where the view has them.
    pub fn order(&self) -> Vec<Next> {
        let is_summary = |item: &_| self.source.is_summary(item);
        self.source.elements.order(self.view, &self.changes, is_summary)
    }

    /// Whether the last summary of the source is in the view.
    pub fn keeps_summary(&self) -> bool {
        self.view.items.iter().any(|item| self.source.is_summary(item))
    }

    /// An element of which these items are in the view.
    pub fn edited(&self, nth: usize, items: &[usize], report: &mut Report) -> Option<Vec<u8>> {
        let raw = &self.source.raws[nth];
        let id = self.session.id(*self.first.get(&nth)?)?;
        let bodies: Vec<&[u8]> = items
            .iter()
            .map(|item| self.view.items[*item].body(self.session))
            .collect();
        let now = self.codec.encode(&said(&bodies, C::NAME), report)?;
        let then = session::encoded(self.codec, &self.outline, nth, raw, &id);
        Some(match then.and_then(|then| residue(raw, &then)) {
            Some(residue) => restore(&now, &residue),
            None => now,
        })
    }

    /// New elements of these items.
    pub fn new_elements(
        &self,
        items: &[usize],
        context: &mut C::Context,
        report: &mut Report,
    ) -> Vec<Vec<u8>> {
        new_elements(
            self.codec,
            (self.session, self.view),
            items,
            self.purpose,
            context,
            report,
        )
    }
}

/// New elements of these items of a view.
fn new_elements<C: Editor>(
    codec: &C,
    (session, view): (&Session, &View),
    items: &[usize],
    purpose: Purpose,
    context: &mut C::Context,
    report: &mut Report,
) -> Vec<Vec<u8>> {
    let mut elements = Vec::new();
    let mut group: Vec<&[u8]> = Vec::new();
    let mut before = None;
    let close = |group: &mut Vec<&[u8]>, elements: &mut Vec<_>, context: &mut _, report: &mut _| {
        let bodies = std::mem::take(group);
        if !bodies.is_empty() {
            elements.extend(codec.new_element(&said(&bodies, C::NAME), purpose, context, report));
        }
    };
    for item in items.iter().map(|nth| &view.items[*nth]) {
        if let Some(text) = item.summary(session) {
            close(&mut group, &mut elements, context, report);
            let summary = codec.new_summary(&text, &elements, context);
            elements.extend(summary);
        }
        let Some(message) = item.message(session) else {
            continue;
        };
        let role = message.role();
        if !codec.has_role(role) {
            report.lose(Loss::Message, 1);
            continue;
        }
        let joins = before.is_some_and(|before| codec.joins(before, role)) && !group.is_empty();
        if !joins {
            close(&mut group, &mut elements, context, report);
        }
        before = Some(role);
        let body = item.body(session);
        if purpose == Purpose::Export {
            codec.losses(&Said::of(0, body, message, C::NAME), joins, report);
        }
        group.push(body);
    }
    close(&mut group, &mut elements, context, report);
    elements
}

/// Writes a session in the layout that it had, or as a document.
pub fn write<C: Editor>(
    codec: &C,
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    write_as(codec, None, (session, view), purpose, out, report)
}

/// Writes a session in this layout.
pub fn write_as<C: Editor>(
    codec: &C,
    layout: Option<Layout>,
    (session, view): (&Session, &View),
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let own = own_header(session, C::NAME);
    let form = own
        .as_ref()
        .and_then(|own| json::member(own, "form"))
        .and_then(json::text);
    let form = form.and_then(|form| Layout::from_name(&form));
    let layout = layout.or(form).unwrap_or_default();
    let about = own.as_ref().and_then(|own| json::member(own, "session"));
    if purpose == Purpose::Export {
        match &own {
            Some(_) => losses::events(session, C::NAME, report),
            None => {
                let keeps = |body: &[u8]| losses::keeps_header(body, &losses::HEADER, C::PLACED, "");
                losses::records(session, keeps, |_| false, report);
            }
        }
    }
    let (elements, context) = match &own {
        Some(_) => {
            let source = source_of(codec, session, report, layout);
            let mut context = codec.context(about, &source);
            let edits = Edits::new(codec, session, view, purpose, &source);
            let edits = codec.edit(&edits, &mut context, report).into_iter();
            let element = |edit| match edit {
                Edit::Keep(nth) => source.raws[nth].clone(),
                Edit::Replace(_, made) | Edit::Insert(made) => made,
            };
            (edits.map(element).collect::<Vec<_>>(), context)
        }
        None => {
            let mut context = codec.new_context(session, view);
            let items: Vec<usize> = (0..view.items.len()).collect();
            let elements = new_elements(codec, (session, view), &items, purpose, &mut context, report);
            (elements, context)
        }
    };
    // A passthrough record is not counted.
    let messages = elements.iter().filter(|raw| json::member(raw, "role").is_some());
    let count = messages.count().to_string();
    let mut built = match (about, layout) {
        (Some(about), _) => about.to_vec(),
        // The lines of a session that has no line for itself.
        (None, Layout::Lines) if form == Some(Layout::Lines) => Vec::new(),
        (None, Layout::List) => Vec::new(),
        (None, layout) => codec.new_about(session, view, &context, layout).finish(),
    };
    if let Some(name) = C::COUNT.filter(|_| !built.is_empty()) {
        built = json::with_members(&built, &[(name, Some(count.as_bytes()))]).unwrap_or(built);
    }
    let line = |bytes: &[u8], out: &mut dyn Write| written(out.write_all(&[bytes, b"\n"].concat()));
    match layout {
        Layout::List => line(&array(&elements), out),
        Layout::Document => {
            let with_list = json::with_members(&built, &[(C::LIST, Some(&array(&elements)))]);
            line(&with_list.unwrap_or(built), out)
        }
        Layout::Lines => {
            let first = Some(built).filter(|built| !built.is_empty());
            let lines: Vec<Vec<u8>> = first.into_iter().chain(elements).collect();
            codec.check_lines(&lines, report);
            lines.iter().try_for_each(|bytes| line(bytes, out))
        }
    }
}

/// Writes sessions back into what they came from.
pub fn back<C: Editor>(
    codec: &C,
    sessions: &[Returned<'_>],
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let Some((first, origin)) = sessions
        .first()
        .and_then(|first| Some((first, first.session.origin()?)))
    else {
        return Ok(());
    };
    written(out.write_all(&origin.lead))?;
    let bytes = &origin.bytes;
    let parsed = if first.changed {
        read::reparse(codec, origin)
    } else {
        None
    };
    let Some(read::Reparsed {
        source,
        about,
        document,
    }) = parsed
    else {
        return written(out.write_all(bytes));
    };
    let mut context = codec.context(about.as_deref(), &source);
    let edits = Edits::new(codec, first.session, first.view, Purpose::Return, &source);
    let edits = codec.edit(&edits, &mut context, report);
    if edits.iter().all(|edit| matches!(edit, Edit::Keep(_))) {
        return written(out.write_all(bytes));
    }
    let added = edits
        .iter()
        .filter(|edit| matches!(edit, Edit::Insert(_)))
        .count() as u64;
    let Some(value) = document else {
        return lines_back(codec, bytes, edits, added, out, report);
    };
    let frame = Frame::parse(bytes, value, C::LIST);
    if !frame.can_splice() {
        let what = "a truncated or damaged document cannot be rewritten in place";
        return Err(Error::new(Kind::Data, what).hint(format!(
            "write the readable messages to a new file: convo cat --to {} FILE > NEW",
            C::NAME
        )));
    }
    let after = frame.splice(&edits);
    written(out.write_all(&counted::<C>(&after, added)))
}

/// Writes lines back.
fn lines_back<C: Editor>(
    codec: &C,
    bytes: &[u8],
    edits: Vec<Edit>,
    added: u64,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let before: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for edit in edits {
        let line = match edit {
            Edit::Keep(nth) if codec.begins(before[nth].trim_ascii()) => counted::<C>(before[nth], added),
            Edit::Keep(nth) => before[nth].to_vec(),
            Edit::Replace(nth, made) => {
                let line = before[nth];
                let lead = line.len() - line.trim_ascii_start().len();
                let end = line.trim_ascii_end().len();
                [&line[..lead.min(end)], &made, &line[end..]].concat()
            }
            Edit::Insert(made) => [made.as_slice(), b"\n"].concat(),
        };
        // The line before may have been the last one, without an ending.
        if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
            last.push(b'\n');
        }
        lines.push(line);
    }
    codec.check_lines(&lines, report);
    lines.iter().try_for_each(|line| written(out.write_all(line)))
}

/// The bytes of an object with the number of its elements raised.
fn counted<C: Codec>(bytes: &[u8], added: u64) -> Vec<u8> {
    let count = C::COUNT.and_then(|name| json::member(bytes.trim_ascii(), name));
    let number = count.and_then(|raw| std::str::from_utf8(raw).ok()?.parse::<u64>().ok());
    match (count, number) {
        (Some(raw), Some(number)) if added > 0 => {
            replaced(bytes, raw, (number + added).to_string().as_bytes())
        }
        _ => bytes.to_vec(),
    }
}

/// What the header of a session keeps of its source.
fn own_header(session: &Session, name: &str) -> Option<Vec<u8>> {
    let header = session.header();
    let (_, metadata) = header.iter().find(|(known, _)| known == "metadata")?;
    let own = json::member(metadata, name)?;
    json::member(own, "form").map(|_| own.to_vec())
}

/// The elements that the records of a session were read from.
fn source_of<C: Codec>(codec: &C, session: &Session, report: &mut Report, layout: Layout) -> Source {
    let mut source = Source::default();
    for group in groups(session, C::NAME, ["residue", "raw"]) {
        match group {
            ElementGroup::Messages(lines) => {
                let note = records::note(session.record(lines[0]).body, C::NAME).unwrap_or(b"{}");
                let raw = match json::member(note, "raw") {
                    Some(raw) => Some(raw.to_vec()),
                    None => {
                        let bodies: Vec<&[u8]> =
                            lines.iter().map(|line| session.record(*line).body).collect();
                        let encoded = codec.encode(&said(&bodies, C::NAME), &mut Report::default());
                        let residue = json::member(note, "residue").unwrap_or(b"null");
                        encoded.map(|encoded| restore(&encoded, residue))
                    }
                };
                let Some(raw) = raw else { continue };
                let nth = source.raws.len();
                source
                    .elements
                    .of
                    .extend(lines.into_iter().map(|line| (line, nth)));
                source.raws.push(raw);
            }
            ElementGroup::Event(line, raw) => {
                if records::is_own(session, line, C::NAME) {
                    source.summaries.push((source.raws.len(), line));
                }
                match json::text(&raw) {
                    None => source.raws.push(raw),
                    // A damaged element is the text that it was; there is no place for it in a list.
                    Some(text) if layout == Layout::Lines => source.raws.push(text.into_owned().into_bytes()),
                    Some(_) => report.lose(Loss::Unreadable, 1),
                }
            }
            ElementGroup::Damaged(line) if layout == Layout::Lines => {
                source.raws.push(session.record(line).body.to_vec());
            }
            ElementGroup::Damaged(_) => report.lose(Loss::Unreadable, 1),
        }
    }
    source.elements.count = source.raws.len();
    source
}
