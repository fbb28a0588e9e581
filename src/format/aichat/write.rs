//! Writes a session as a file: unchanged elements keep their lines, others are encoded as aichat does.

use super::element::element;
use super::layout::{self, COMPRESSED, LIVE, ListElement, Section};
use super::message::NAME;
use super::read::{self, ReadElement};
use super::{encode, yaml};
use crate::error::{Error, Position, Result};
use crate::format::kit::{losses, records};
use crate::format::report::Report;
use crate::format::request::order;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{DocumentSource, EditedSession, WritePurpose, WriteTarget, native, written};
use crate::model::json::{self, Dialect, ObjectBuilder, array};
use crate::model::message::Category;
use crate::model::record::mark_length;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;

/// Writes the view of a session.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    if purpose == WritePurpose::Export {
        let keeps_event = |index: usize| {
            let event = session.record(index).event().map(|event| event.name());
            matches!(
                event.as_deref(),
                Some("truncate" | "compact" | "summary" | "restore")
            )
        };
        losses::records(session, is_lossless, keeps_event, report);
    }
    let is_own = native::source_format(session).is_some_and(|format| format == NAME);
    let read = |file: &[u8]| read::session(&DocumentSource::alone(file), &mut Report::default());
    let origin = session.origin().filter(|_| is_own);
    let whole = origin.map(|origin| Ok((Cow::Borrowed(&origin.bytes[..]), read(&origin.bytes)?)));
    let whole = whole
        .transpose()?
        .filter(|(_, (read, _))| purpose == WritePurpose::Return || begins_with(session, read));
    let (file, (_, elements)) = match whole {
        Some(whole) => whole,
        None => {
            let file = empty_file(session, purpose, report).into_bytes();
            let elements = read(&file)?;
            (Cow::Owned(file), elements)
        }
    };
    let writer = ListWriter {
        session,
        view,
        file: &file,
        elements: &elements,
        purpose,
    };
    let mut lists = writer.lists(report);
    writer.keep_others(&mut lists);
    let built = with_lists(&file, &lists)?;
    check(&built, &lists)?;
    written(out.write_all(&built))
}

/// Whether a session has all lines of its file, apart from the header, which names the file. A selection lacks some, and is
/// written as a new file.
fn begins_with(session: &Session, file: &Session) -> bool {
    session.len() >= file.len()
        && (1..file.len()).all(|line| session.record(line).body == file.record(line).body)
}

/// Writes a session back to its file.
pub fn write_back(sessions: &[EditedSession<'_>], out: &mut dyn Write, report: &mut Report) -> Result<()> {
    for returned in sessions {
        match returned.session.origin().filter(|_| !returned.changed) {
            Some(origin) => written(out.write_all(&origin.bytes))?,
            None => write(
                returned.session,
                returned.view,
                WriteTarget(WritePurpose::Return, out, report),
            )?,
        }
    }
    Ok(())
}

/// The member that aichat writes after the messages.
const TRAILING_MEMBER: &str = "data_urls";

/// A file without messages, for a session that has none.
fn empty_file(session: &Session, purpose: WritePurpose, report: &mut Report) -> String {
    let own = session.metadata(NAME).unwrap_or_default();
    let settings = json::members(&own, Dialect::Strict).unwrap_or_default();
    let mut text = String::new();
    // aichat requires CLIENT:MODEL, and other formats have no client.
    let given = Workspace::of(session).model.filter(|model| model.contains(&b':'));
    match given.as_deref().or(json::member(&own, "model")) {
        Some(model) => text.push_str(&encode::member("model", model)),
        None if purpose == WritePurpose::Export => {
            let what = "no model written, but aichat requires one; add --model CLIENT:MODEL";
            report.note(Position::default(), what);
        }
        None => {}
    }
    let (after, before): (Vec<_>, Vec<_>) = { settings.iter() }
        .filter(|(name, _)| name != "model")
        .partition(|(name, _)| name == TRAILING_MEMBER);
    let members = |members: Vec<&(Cow<'_, str>, &[u8])>| -> String {
        let members = members.into_iter();
        members.map(|(name, value)| encode::member(name, value)).collect()
    };
    text + &members(before) + LIVE + ": []\n" + &members(after)
}

/// An element of a list to write.
enum NewElement<'f> {
    /// An original element: its index, and its lines.
    Lines(usize, &'f [u8]),
    Value(Vec<u8>),
}

/// The compressed and the live elements.
type Lists<'f> = [Vec<NewElement<'f>>; 2];

/// A file with its lists replaced and all other bytes unchanged.
fn with_lists(file: &[u8], lists: &Lists<'_>) -> Result<Vec<u8>> {
    let sections = layout::sections(file);
    let has_compressed = sections.iter().any(|section| section.name == Some(COMPRESSED));
    let mark = mark_length(file);
    let mut built = file[..mark].to_vec();
    for section in &sections {
        // An element that was the last one of the file may lack its newline.
        if built.len() > mark && !built.ends_with(b"\n") {
            built.push(b'\n');
        }
        match section.name {
            Some(COMPRESSED) => add_list(&mut built, COMPRESSED, &lists[0], Some((section, file)))?,
            Some(LIVE) => {
                if !has_compressed {
                    add_list(&mut built, COMPRESSED, &lists[0], None)?;
                }
                add_list(&mut built, LIVE, &lists[1], Some((section, file)))?;
            }
            _ => built.extend_from_slice(&file[section.bytes.clone()]),
        }
    }
    Ok(built)
}

/// Appends a list, but not an empty one of compressed messages without comments. The lines before its first element and the
/// indentation of its dashes are those of its section.
fn add_list(
    built: &mut Vec<u8>,
    name: &str,
    list: &[NewElement<'_>],
    source: Option<(&Section<'_>, &[u8])>,
) -> Result<()> {
    let (mut before, mut indent) = (format!("{name}:\n").into_bytes(), 0);
    if let Some((section, file)) = source {
        let first = section.elements.first().map(|first| first.bytes.start);
        let lines = section.head(file);
        if first.is_none() && list.is_empty() {
            built.extend_from_slice(lines);
            return Ok(());
        }
        // It would become text before the first element, or be removed with the last one.
        if first.is_some() == list.is_empty() && section.stray_text(file).is_some() {
            return Err(Error::not_in_place(format!("{name} is not a list")));
        }
        // The first line is replaced if it has the value of an empty list, such as `[]`, or gets it.
        let below = lines.iter().skip_while(|byte| **byte != b'\n').skip(1);
        if list.is_empty() && (name == LIVE || below.clone().any(|byte| *byte == b'#')) {
            built.extend_from_slice(format!("{name}: []\n").as_bytes());
            built.extend(below);
            return Ok(());
        }
        match section.rest.is_empty() {
            true => before = lines.to_vec(),
            false => before.extend(below),
        }
        let dashes = first.map(|first| file[first..].iter().take_while(|byte| **byte == b' '));
        indent = dashes.map_or(0, Iterator::count);
    }
    if !list.is_empty() {
        built.extend_from_slice(&before);
    }
    for one in list {
        if !built.ends_with(b"\n") {
            built.push(b'\n');
        }
        match one {
            NewElement::Lines(_, lines) => built.extend_from_slice(lines),
            NewElement::Value(value) => built.extend_from_slice(encode::element(value, indent).as_bytes()),
        }
    }
    Ok(())
}

/// Checks that the new elements are read back unchanged.
fn check(built: &[u8], lists: &Lists<'_>) -> Result<()> {
    let sections = layout::sections(built);
    let is_written = |(new, element): (&NewElement<'_>, &ListElement)| match new {
        NewElement::Lines(..) => true,
        // YAML has no escapes for characters that JSON may escape.
        NewElement::Value(value) => {
            let text = std::str::from_utf8(&built[element.bytes.clone()]).ok();
            let read = text.and_then(|text| yaml::value(text).ok());
            read.is_some_and(|read| json::same_text(&read, &array([value])))
        }
    };
    for (name, list) in [COMPRESSED, LIVE].into_iter().zip(lists) {
        let elements = layout::elements(&sections, name);
        if elements.len() != list.len() || !list.iter().zip(elements).all(is_written) {
            let what = "the generated file does not match the session; nothing was written";
            return Err(Error::data(what));
        }
    }
    Ok(())
}

struct ListWriter<'w> {
    session: &'w Session,
    view: &'w View,
    file: &'w [u8],
    /// The elements of the file.
    elements: &'w [ReadElement],
    purpose: WritePurpose,
}

impl<'w> ListWriter<'w> {
    fn lines(&self, nth: usize) -> NewElement<'w> {
        NewElement::Lines(nth, &self.file[self.elements[nth].bytes.clone()])
    }

    fn lists(&self, report: &mut Report) -> Lists<'w> {
        let (session, items) = (self.session, &self.view.items);
        let mut summaries = items.iter();
        let summary = summaries.find_map(|item| Some((item, item.summary(session)?)));
        let Some((item, text)) = summary else {
            return [Vec::new(), self.elements_of(self.view, report)];
        };
        let is_original = |element: &ReadElement| matches!(item, Item::Summary(line) if element.lines == (*line..*line + 1));
        let original = self.elements.iter().position(is_original);
        // Visible system messages are included in a new summary, as aichat does; those of the log are kept among the
        // messages that it covers.
        let is_leading = |item: &&Item| {
            let role = item.traits(session).map(|traits| traits.role);
            original.is_none()
                && role.map_or(item.summary(session).is_some(), |role| {
                    role.category() == Category::System
                })
        };
        let leading = items.iter().take_while(is_leading).count();
        let (rules, others) = items.split_at(leading);
        let first = match original {
            Some(nth) => self.lines(nth),
            None => {
                let rules = rules.iter().filter(|item| item.summary(session).is_none());
                let rules = rules.filter_map(|item| item.message(session));
                let texts = rules.map(|message| message.text().into_owned());
                let texts: Vec<String> = texts.chain([text.into_owned()]).collect();
                let mut message = ObjectBuilder::default();
                message
                    .text("role", "system")
                    .text("content", &texts.join("\n\n"));
                NewElement::Value(message.finish())
            }
        };
        let shown = view_of(others.iter().cloned());
        let live = self.elements_of(&shown, report);
        let shown: HashSet<usize> = shown.items.iter().filter_map(Item::line).collect();
        let lines = session.messages().map(|(line, _)| line);
        let hidden = lines.filter(|line| !shown.contains(line)).map(Item::Line);
        let compressed = self.elements_of(&view_of(hidden), report);
        [compressed, [vec![first], live].into_iter().flatten().collect()]
    }

    /// The elements for the messages of a view.
    fn elements_of(&self, view: &View, report: &mut Report) -> Vec<NewElement<'w>> {
        let order = order(self.session, view, false, report);
        let caller = |nth: &usize| order.calls.get(nth).map(|(caller, _)| *caller);
        let is_same =
            |nth: &usize, next: &usize| caller(next).is_some_and(|of| of == *nth || caller(nth) == Some(of));
        let mut built = Vec::new();
        for group in order.items.chunk_by(is_same) {
            let items: Vec<&Item> = group.iter().map(|nth| &view.items[*nth]).collect();
            if items[0].summary(self.session).is_some() {
                continue;
            }
            if let Some(nth) = self.original(&items) {
                built.push(self.lines(nth));
                continue;
            }
            let bodies: Vec<&[u8]> = items.iter().map(|item| item.body(self.session)).collect();
            let messages = records::annotated_messages(&bodies, NAME);
            if self.purpose == WritePurpose::Export {
                for message in &messages {
                    losses::of(message, losses::UNNAMED_MEMBERS, &[NAME], report);
                }
            }
            match element(&messages, report) {
                Some(element) => built.push(NewElement::Value(element)),
                None => report.missing += messages.len() as u64,
            }
        }
        built
    }

    /// The element of the file that consists of these items, if they are unchanged.
    fn original(&self, items: &[&Item]) -> Option<usize> {
        let lines = items.iter().map(|item| match item {
            Item::Line(line) => Some(*line),
            _ => None,
        });
        let lines: Vec<usize> = lines.collect::<Option<_>>()?;
        let nth = { self.elements }.binary_search_by_key(&lines[0], |element| element.lines.start);
        nth.ok().filter(|nth| self.elements[*nth].lines.clone().eq(lines))
    }

    /// Adds elements that are not messages, are damaged, or were compressed without a summary to their list, each after
    /// its predecessor.
    fn keep_others(&self, lists: &mut Lists<'w>) {
        let shown: HashSet<usize> = self.view.items.iter().filter_map(Item::line).collect();
        let mut items = self.view.items.iter();
        let is_summarized = items.any(|item| item.summary(self.session).is_some());
        for (nth, element) in self.elements.iter().enumerate() {
            let is_kept = match self.session.record(element.lines.start).event() {
                // The first element of a list may be the summary.
                Some(event) => event.name() == "foreign",
                None => {
                    let is_shown = element.lines.clone().any(|line| shown.contains(&line));
                    element.is_compressed && !is_shown && !is_summarized
                }
            };
            if !is_kept {
                continue;
            }
            let list = &mut lists[usize::from(!element.is_compressed)];
            let is_before =
                |new: &NewElement<'_>| matches!(new, NewElement::Lines(before, _) if *before < nth);
            let is_summary = |new: &NewElement<'_>| matches!(new, NewElement::Value(raw) if json::member(raw, "role") == Some(b"\"system\""));
            let before = list.iter().rposition(is_before);
            let start = usize::from(list.first().is_some_and(is_summary));
            list.insert(before.map_or(start, |before| before + 1), self.lines(nth));
        }
    }
}

fn view_of(items: impl Iterator<Item = Item>) -> View {
    View {
        items: items.collect(),
        ..View::default()
    }
}

/// Whether a header has no data that would be lost: the title is the file name.
fn is_lossless(header: &[u8]) -> bool {
    let is_own = records::note(header, NAME).is_some();
    let title = if is_own { "title" } else { "type" };
    let members = ["type", "version", "id", "key", "source", title];
    losses::keeps_header(header, &members, &[WorkspaceMember::Model], NAME)
}
