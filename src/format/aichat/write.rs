//! Writes a session as a file: unchanged elements keep their lines, others are encoded as aichat does.

use super::element::element;
use super::read::{self, ReadElement};
use super::{COMPRESSED, LIVE, NAME, encode, layout, yaml};
use crate::error::{Error, Position, Result};
use crate::format::kit::{losses, records};
use crate::format::report::Report;
use crate::format::request::order;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{DocumentSource, EditedSession, WritePurpose, WriteTarget, native, written};
use crate::model::json::{self, Dialect, ObjectBuilder, array};
use crate::model::message::{Message, Role};
use crate::model::record::mark_length;
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
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
            let name = session
                .record(index)
                .event()
                .map(|event| event.name().into_owned());
            matches!(
                name.as_deref(),
                Some("truncate" | "compact" | "summary" | "restore")
            )
        };
        losses::records(session, is_lossless, keeps_event, report);
    }
    if let Some(origin) = session.origin().filter(|_| was_read_from_file(session)) {
        let built = with_changes(session, view, &origin.bytes, purpose, report)?;
        return written(out.write_all(&built));
    }
    let own = session.metadata(NAME);
    let mut text = String::new();
    let settings = own
        .as_deref()
        .and_then(|own| json::members(own, Dialect::Strict))
        .unwrap_or_default();
    // aichat requires CLIENT:MODEL, and other formats have no client.
    let given = Workspace::of(session).model.filter(|model| model.contains(&b':'));
    let own = settings.iter().find(|(name, _)| name == "model");
    match given.as_deref().or(own.map(|(_, model)| *model)) {
        Some(model) => text.push_str(&encode::member("model", model)),
        None if purpose == WritePurpose::Export => {
            let what = "no model written, but aichat requires one; add --model CLIENT:MODEL";
            report.note(Position::default(), what);
        }
        None => {}
    }
    let others = |name: &str| name != TRAILING_MEMBER && name != "model";
    for (name, value) in settings.iter().filter(|(name, _)| others(name)) {
        text.push_str(&encode::member(name, value));
    }
    let lists = lists(session, view, &[], b"", purpose, report);
    text.push_str(&listed(COMPRESSED, &lists[0], 0));
    text.push_str(&listed(LIVE, &lists[1], 0));
    for (name, value) in settings.iter().filter(|(name, _)| name == TRAILING_MEMBER) {
        text.push_str(&encode::member(name, value));
    }
    checked(&text, &lists)?;
    written(out.write_all(text.as_bytes()))
}

/// The member that aichat writes after the messages.
const TRAILING_MEMBER: &str = "data_urls";

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

/// Whether a session was read from a file of this format.
fn was_read_from_file(session: &Session) -> bool {
    native::source_format(session).is_some_and(|format| format == NAME)
}

/// The session's file with its lists replaced and all other bytes unchanged.
fn with_changes(
    session: &Session,
    view: &View,
    file: &[u8],
    purpose: WritePurpose,
    report: &mut Report,
) -> Result<Vec<u8>> {
    let (_, elements) = read::session(&DocumentSource::alone(file), &mut Report::default())?;
    let mut lists = lists(session, view, &elements, file, purpose, report);
    let skipped = mark_length(file);
    let bytes = &file[skipped..];
    let sections = layout::sections(bytes);
    keep_others((session, view), &elements, file, &mut lists, |element| {
        let mut compressed = sections.iter().filter(|section| section.name == Some(COMPRESSED));
        compressed.any(|section| section.bytes.contains(&(element.bytes.start - skipped)))
    });
    let mut built = file[..skipped].to_vec();
    let has = |name: &str| sections.iter().any(|section| section.name == Some(name));
    for section in &sections {
        let own = match section.name {
            Some(COMPRESSED) => &lists[0],
            Some(LIVE) => &lists[1],
            _ => {
                built.extend_from_slice(&bytes[section.bytes.clone()]);
                continue;
            }
        };
        let name = section.name.unwrap_or_default();
        if name == LIVE && !has(COMPRESSED) {
            built.extend_from_slice(listed(COMPRESSED, &lists[0], 0).as_bytes());
        }
        // Keep the indentation of the dashes.
        let first = section.elements.first().map(|first| first.bytes.start);
        let indent = first.map_or(0, |first| {
            bytes[first..].iter().take_while(|byte| **byte == b' ').count()
        });
        match first.filter(|_| !own.is_empty()) {
            Some(first) => built.extend_from_slice(&bytes[section.bytes.start..first]),
            None => {
                built.extend_from_slice(listed(name, own, indent).as_bytes());
                continue;
            }
        }
        for one in own {
            if !built.ends_with(b"\n") {
                built.push(b'\n');
            }
            built.extend_from_slice(&one.lines(indent));
        }
    }
    let text = String::from_utf8_lossy(&built).into_owned();
    checked(&text, &lists)?;
    Ok(built)
}

/// Adds elements that are not messages, are damaged, or were compressed without a summary to their list, each after its
/// predecessor.
fn keep_others(
    (session, view): (&Session, &View),
    elements: &[ReadElement],
    file: &[u8],
    lists: &mut [Vec<NewElement>; 2],
    is_compressed: impl Fn(&ReadElement) -> bool,
) {
    // The first element of a list may be the summary.
    let is_summary = |line: usize| {
        session
            .record(line)
            .event()
            .is_some_and(|event| event.name() != "foreign")
    };
    let shown: HashSet<usize> = view.items.iter().filter_map(Item::line).collect();
    let is_summarized = view.items.iter().any(|item| item.summary(session).is_some());
    for (nth, element) in elements.iter().enumerate() {
        let line = element.lines.start;
        let is_kept = match session.class(line) {
            Class::Event => !is_summary(line),
            _ => {
                let is_hidden = !element.lines.clone().any(|line| shown.contains(&line));
                is_hidden && !is_summarized && is_compressed(element)
            }
        };
        if !is_kept {
            continue;
        }
        let list = &mut lists[usize::from(!is_compressed(element))];
        let before = list
            .iter()
            .rposition(|built| matches!(built, NewElement::Lines(before, _) if *before < nth));
        let summary = list.first().is_some_and(
            |built| matches!(built, NewElement::Value(raw) if json::member(raw, "role") == Some(b"\"system\"")),
        );
        let at = before.map_or(usize::from(summary), |before| before + 1);
        list.insert(at, NewElement::Lines(nth, file[element.bytes.clone()].to_vec()));
    }
}

/// An element of a list to write.
enum NewElement {
    /// An original element: its index, and its lines.
    Lines(usize, Vec<u8>),
    Value(Vec<u8>),
}

impl NewElement {
    fn lines(&self, indent: usize) -> Vec<u8> {
        match self {
            NewElement::Lines(_, lines) => lines.clone(),
            NewElement::Value(value) => encode::element(value, indent).into_bytes(),
        }
    }
}

/// The lines of a list; none for an empty list of compressed messages.
fn listed(name: &str, list: &[NewElement], indent: usize) -> String {
    if list.is_empty() {
        return match name {
            COMPRESSED => String::new(),
            _ => format!("{name}: []\n"),
        };
    }
    let mut text = format!("{name}:\n");
    for one in list {
        text.push_str(&String::from_utf8_lossy(&one.lines(indent)));
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

/// Whether two values are equal. YAML has no escapes for characters that JSON may escape.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let decoded = |value: &[u8]| serde_json::from_slice::<serde_json::Value>(value).ok();
    json::same(one, other) || decoded(one).is_some_and(|one| decoded(other) == Some(one))
}

/// Checks that the new elements are read back unchanged.
fn checked(text: &str, lists: &[Vec<NewElement>; 2]) -> Result<()> {
    let sections = layout::sections(text.as_bytes());
    for (name, list) in [(COMPRESSED, &lists[0]), (LIVE, &lists[1])] {
        let named = sections.iter().filter(|section| section.name == Some(name));
        let elements: Vec<_> = named.flat_map(|section| &section.elements).collect();
        let same = elements.len() == list.len()
            && list.iter().zip(elements).all(|(built, element)| match built {
                NewElement::Lines(..) => true,
                NewElement::Value(value) => {
                    let again = text
                        .get(element.bytes.clone())
                        .and_then(|text| yaml::value(text).ok());
                    again.is_some_and(|again| is_same(&again, &array([value])))
                }
            });
        if !same {
            let what = "the generated file does not match the session; nothing was written";
            return Err(Error::data(what));
        }
    }
    Ok(())
}

/// The compressed and the live elements.
fn lists(
    session: &Session,
    view: &View,
    elements: &[ReadElement],
    bytes: &[u8],
    purpose: WritePurpose,
    report: &mut Report,
) -> [Vec<NewElement>; 2] {
    let writing = ListWriter {
        elements,
        bytes,
        purpose,
    };
    let summary = view
        .items
        .iter()
        .find_map(|item| Some((item, item.summary(session)?)));
    let identity: Vec<Option<usize>> = view.items.iter().map(Item::line).collect();
    let shown = |_: usize| true;
    let Some((item, text)) = summary else {
        let live = writing.elements_of(session, view, &identity, shown, report);
        return [Vec::new(), live];
    };
    // Visible system messages are included in the summary, as aichat does, and kept among the messages that it covers.
    let own = match item {
        Item::Summary(line) => elements
            .iter()
            .position(|element| element.lines == (*line..*line + 1)),
        _ => None,
    };
    let leading = view.items.iter().take_while(|item| {
        item.summary(session).is_some() || item.traits(session).is_some_and(|traits| is_rule(traits.role))
    });
    let leading = leading.count();
    let rules: Vec<&Item> = match own {
        Some(_) => Vec::new(),
        None => view.items[..leading]
            .iter()
            .filter(|item| item.summary(session).is_none())
            .collect(),
    };
    let taken: HashSet<usize> = rules.iter().filter_map(|item| item.line()).collect();
    let first = match own {
        Some(nth) => NewElement::Lines(nth, bytes[elements[nth].bytes.clone()].to_vec()),
        None => {
            let mut texts: Vec<String> = rules
                .iter()
                .filter_map(|item| Some(item.message(session)?.text().into_owned()))
                .collect();
            texts.push(text.into_owned());
            let mut message = ObjectBuilder::default();
            message
                .text("role", "system")
                .text("content", &texts.join("\n\n"));
            NewElement::Value(message.finish())
        }
    };
    let is_taken = |nth: usize| view.items[nth].line().is_none_or(|line| !taken.contains(&line));
    let live = writing.elements_of(session, view, &identity, is_taken, report);
    // All other messages.
    let seen: HashSet<usize> = view
        .items
        .iter()
        .filter_map(Item::line)
        .filter(|line| !taken.contains(line))
        .collect();
    let (mut hidden, mut lines) = (Session::default(), Vec::new());
    for index in (0..session.len()).filter(|index| !seen.contains(index)) {
        if matches!(session.class(index), Class::Message(_)) {
            hidden.push_from(session, index);
            lines.push(Some(index));
        }
    }
    let all = View::after(&hidden, Vec::new());
    let compressed = writing.elements_of(&hidden, &all, &lines, shown, report);
    [compressed, [vec![first], live].into_iter().flatten().collect()]
}

fn is_rule(role: Role) -> bool {
    matches!(role, Role::System | Role::Developer)
}

struct ListWriter<'w> {
    elements: &'w [ReadElement],
    bytes: &'w [u8],
    purpose: WritePurpose,
}

impl ListWriter<'_> {
    /// The elements for the items of a view; `lines` has the original line of each.
    fn elements_of(
        &self,
        session: &Session,
        view: &View,
        lines: &[Option<usize>],
        wanted: impl Fn(usize) -> bool,
        report: &mut Report,
    ) -> Vec<NewElement> {
        let order = order(session, view, false, report);
        let mut built = Vec::new();
        let mut at = 0;
        while at < order.items.len() {
            let first = order.items[at];
            let mut group = vec![first];
            while let Some(next) = order.items.get(at + group.len()) {
                match order.calls.get(next) {
                    Some((caller, _)) if *caller == first => group.push(*next),
                    _ => break,
                }
            }
            at += group.len();
            let items: Vec<&Item> = group.iter().map(|nth| &view.items[*nth]).collect();
            if !wanted(first) || items[0].summary(session).is_some() {
                continue;
            }
            let sources: Vec<usize> = group
                .iter()
                .zip(&items)
                .filter(|(_, item)| matches!(item, Item::Line(_)))
                .filter_map(|(nth, _)| lines[*nth])
                .collect();
            let whole = |element: &ReadElement| element.lines.clone().eq(sources.iter().copied());
            if let Some(nth) = self
                .elements
                .iter()
                .position(whole)
                .filter(|_| sources.len() == group.len())
            {
                built.push(NewElement::Lines(
                    nth,
                    self.bytes[self.elements[nth].bytes.clone()].to_vec(),
                ));
                continue;
            }
            let messages: Vec<Message<'_>> = items.iter().filter_map(|item| item.message(session)).collect();
            if self.purpose == WritePurpose::Export {
                for (message, item) in messages.iter().zip(&items) {
                    losses::members(
                        message,
                        item.body(session),
                        losses::UNNAMED_MEMBERS,
                        &[NAME],
                        report,
                    );
                }
            }
            match element(&messages, report) {
                Some(element) => built.push(NewElement::Value(element)),
                None => report.missing += messages.len() as u64,
            }
        }
        built
    }
}

/// Whether a header has no data that would be lost: the title is the file name.
fn is_lossless(header: &[u8]) -> bool {
    let is_own = records::note(header, NAME).is_some();
    let title = if is_own { "title" } else { "type" };
    let members = ["type", "version", "id", "key", "source", title];
    losses::keeps_header(header, &members, &[WorkspaceMember::Model], NAME)
}
