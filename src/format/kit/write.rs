//! Writes sessions as documents or lines, both new ones and those read from the format.

use super::any_codec::{AnyCodec, NewElements};
use super::codec::{DocumentLayout, lines_of};
use super::frame::ElementEdit;
use super::link::{link, unite};
use super::records::{self, ElementGroup, annotated_messages, groups};
use super::source::SourceElements;
use super::write_back::write_back;
use super::{losses, residue};
use crate::error::Result;
use crate::format::indent::indented;
use crate::format::report::{Loss, Report};
use crate::format::request::order;
use crate::format::{EditedSession, WritePurpose, WriteTarget, written};
use crate::model::json::{self, Dialect, array};
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;
use std::borrow::Cow;
use std::io::Write;

/// Writes the session of a complete document, or writes it back to that document.
pub fn write_whole(
    codec: &'static dyn AnyCodec,
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    if session.origin().is_none() || purpose != WritePurpose::Return {
        return write(codec, session, view, WriteTarget(purpose, out, report));
    }
    let returned = EditedSession {
        session,
        view,
        changed: true,
    };
    write_back(codec, &[returned], out, report)
}

/// Writes a session in its original layout and variant.
pub fn write(
    codec: &'static dyn AnyCodec,
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let own = header_metadata(codec, session);
    let codec = own.map_or(codec, |own| {
        let name = variant(codec, &own);
        let mut variants = codec.variants().into_iter();
        variants.find(|codec| codec.variant() == name).unwrap_or(codec)
    });
    write_as(codec, None, (session, view), WriteTarget(purpose, out, report))
}

/// Writes a session in this layout and variant.
pub fn write_as(
    codec: &dyn AnyCodec,
    layout: Option<DocumentLayout>,
    (session, view): (&Session, &View),
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    // A request has no document around the list, unless the format always has one.
    let is_bare = purpose == WritePurpose::Context && codec.constants().layout == DocumentLayout::List;
    let own = header_metadata(codec, session);
    let own = own.as_deref();
    let form = own.and_then(|own| json::member(own, "form")).and_then(json::text);
    let form = form.and_then(|form| DocumentLayout::from_name(&form));
    let layout = layout
        .or(form.filter(|_| !is_bare))
        .unwrap_or(codec.constants().layout);
    let mut about = own
        .and_then(|own| json::member(own, "session"))
        .filter(|_| !is_bare)
        .map(<[u8]>::to_vec);
    let own = own.filter(|own| variant(codec, own) == codec.variant());
    if purpose == WritePurpose::Export {
        count_losses(codec, session, about.as_deref(), own.is_some(), report);
    }
    let has_about = match layout {
        _ if about.is_some() => false,
        DocumentLayout::List => false,
        // A log without a line that describes the session.
        DocumentLayout::Lines => form != Some(DocumentLayout::Lines),
        DocumentLayout::Document => true,
    };
    let new = NewElements {
        session,
        view,
        purpose,
        about: has_about.then_some(layout),
    };
    let (elements, new_about) = match own {
        Some(_) => edited_elements(codec, layout, &mut about, new, report)?,
        None => converted_elements(codec, new, report),
    };
    let elements = match codec.constants().groups_elements {
        true => {
            let joined = elements
                .iter()
                .filter_map(|group| json::elements(group, Dialect::Strict));
            joined.flatten().map(<[u8]>::to_vec).collect()
        }
        false => elements,
    };
    // Passthrough records are not counted.
    let messages = elements.iter().filter(|raw| json::member(raw, "role").is_some());
    let count = messages.count().to_string();
    let mut built = about.or(new_about).unwrap_or_default();
    if let Some(name) = codec.constants().count_member.filter(|_| !built.is_empty()) {
        built = json::with_members(&built, &[(name, Some(count.as_bytes()))]).unwrap_or(built);
    }
    let line = |bytes: &[u8], out: &mut dyn Write| written(out.write_all(&[bytes, b"\n"].concat()));
    match layout {
        DocumentLayout::List if elements.is_empty() => line(b"[]", out),
        DocumentLayout::List => line(&[b"[\n", &elements.join(&b",\n"[..])[..], b"\n]"].concat(), out),
        DocumentLayout::Document => {
            let with_list = json::with_members(&built, &[(codec.list(), Some(&array(&elements)))]);
            let document = with_list.unwrap_or(built);
            match codec.constants().indents {
                true => line(&indented(&document, 0), out),
                false => line(&document, out),
            }
        }
        DocumentLayout::Lines => {
            let first = Some(built).filter(|built| !matches!(&built[..], b"" | b"{}"));
            let lines: Vec<Vec<u8>> = first.into_iter().chain(elements).collect();
            codec.check_lines(&lines, report);
            lines.iter().try_for_each(|bytes| line(bytes, out))
        }
    }
}

/// Counts what the format cannot represent; `about` describes the session, and `is_own` is true if it was read from this
/// format.
fn count_losses(
    codec: &dyn AnyCodec,
    session: &Session,
    about: Option<&[u8]>,
    is_own: bool,
    report: &mut Report,
) {
    match is_own {
        true => {
            let info = codec.info(about.unwrap_or(b"{}"));
            let extra = session
                .header_text("title")
                .filter(|_| !codec.constants().has_title);
            let title = info.title.or(extra);
            losses::count_header_losses(
                session,
                title.as_deref(),
                codec.constants().represented,
                codec.constants().name,
                report,
            );
            losses::events(session, codec.constants().name, report);
        }
        false => {
            let keeps = |body: &[u8]| {
                losses::keeps_header(
                    body,
                    codec.constants().header,
                    codec.constants().represented,
                    codec.constants().name,
                )
            };
            let is_summary = |index: usize| {
                let event = session.record(index);
                let event = event.event();
                codec.constants().summaries && event.is_some_and(|event| event.name() == "summary")
            };
            losses::records(session, keeps, is_summary, report);
        }
    }
}

/// Elements, and new members next to their list.
type WrittenElements = (Vec<Vec<u8>>, Option<Vec<u8>>);

/// The elements of a session that was read from this format, and new members next to them. Instructions that changed are
/// set in `about`.
fn edited_elements(
    codec: &dyn AnyCodec,
    layout: DocumentLayout,
    about: &mut Option<Vec<u8>>,
    new: NewElements<'_>,
    report: &mut Report,
) -> Result<WrittenElements> {
    let session = new.session;
    let mut source = source_of(codec, session, report, layout);
    unite(
        codec,
        &mut source.raws,
        &session.header_text("id").unwrap_or_default(),
    );
    let edited = codec.edits(about.as_deref(), &source, new, report)?;
    if let Some((name, value)) = edited.instructions {
        let member = [(name, value.as_deref())];
        let changed = about
            .as_deref()
            .and_then(|about| json::with_members(about, &member).ok());
        *about = changed.or(about.take());
    }
    let first = source.elements.first_lines();
    let list = link(codec.constants().link, &source.raws, edited.edits);
    let elements = list.iter().flat_map(|edit| {
        let raw = edit.element(&source.raws);
        // A damaged line may look like a list.
        let is_damaged = matches!(edit, ElementEdit::Keep(nth) if !first.contains_key(nth));
        let lines = if codec.constants().groups_elements || is_damaged {
            vec![raw]
        } else {
            lines_of(raw)
        };
        lines.into_iter().map(<[u8]>::to_vec)
    });
    Ok((elements.collect(), edited.about))
}

/// The elements of a session of another format, and new members next to them.
fn converted_elements(codec: &dyn AnyCodec, new: NewElements<'_>, report: &mut Report) -> WrittenElements {
    let (session, view) = (new.session, new.view);
    // Results in the element of their call must follow it.
    let mut items = match codec.joins(Role::Assistant, Role::Tool) {
        _ if codec.constants().results_follow_calls => order(session, view, false, report).items,
        true => order(session, view, false, &mut Report::default()).items,
        false => (0..view.items.len()).collect::<Vec<_>>(),
    };
    if codec.constants().summaries {
        items.sort_by_key(|nth| view.items[*nth].summary(session).is_none());
    }
    let new = codec.converted(&items, new, report);
    let elements = link(codec.constants().link, &[], new.edits);
    let elements = elements.iter().map(|edit| edit.element(&[]).to_vec()).collect();
    (elements, new.about)
}

/// The variant of a source.
fn variant<'o>(codec: &dyn AnyCodec, own: &'o [u8]) -> Cow<'o, str> {
    let variants = codec.variants();
    let named = |member| json::member_text(own, member);
    // Annotations of older versions have it as the form.
    let is_variant = |form: &Cow<'_, str>| variants.iter().any(|known| known.variant() == form);
    let named = named("variant").or_else(|| named("form").filter(is_variant));
    named.unwrap_or_else(|| variants.first().map_or("", |usual| usual.variant()).into())
}

/// The format's metadata in the header of a session.
fn header_metadata(codec: &dyn AnyCodec, session: &Session) -> Option<Vec<u8>> {
    session
        .metadata(codec.constants().name)
        .filter(|own| json::member(own, "form").is_some())
}

/// Restores the elements that the records of a session were read from.
fn source_of(
    codec: &dyn AnyCodec,
    session: &Session,
    report: &mut Report,
    layout: DocumentLayout,
) -> SourceElements {
    let mut source = SourceElements::default();
    for group in groups(session, codec.constants().name, ["residue", "raw"]) {
        match group {
            ElementGroup::Messages(lines) => {
                let note =
                    records::note(session.record(lines[0]).body, codec.constants().name).unwrap_or(b"{}");
                let raw = residue::noted(note, || {
                    let bodies: Vec<&[u8]> = lines.iter().map(|line| session.record(*line).body).collect();
                    codec.encode(
                        &annotated_messages(&bodies, codec.constants().name),
                        &mut Report::default(),
                    )
                });
                let Some(raw) = raw else { continue };
                let nth = source.raws.len();
                source
                    .elements
                    .of
                    .extend(lines.into_iter().map(|line| (line, nth)));
                source.raws.push(raw);
            }
            ElementGroup::Event(line, raw) => {
                if records::is_own(session, line, codec.constants().name) {
                    source.summaries.push((source.raws.len(), line));
                }
                match json::text(&raw) {
                    None if codec.constants().groups_elements => source.raws.push(array([raw])),
                    None => source.raws.push(raw),
                    // Write the text of a damaged element; a list cannot represent it.
                    Some(text) if layout == DocumentLayout::Lines => {
                        source.raws.push(text.into_owned().into_bytes())
                    }
                    Some(_) => report.count_loss(Loss::Unreadable, 1),
                }
            }
            ElementGroup::Summary(line) => {
                let nth = source.raws.len().saturating_sub(1);
                source.summaries.push((nth, line));
            }
            ElementGroup::Damaged(line) if layout == DocumentLayout::Lines => {
                source.raws.push(session.record(line).body.to_vec());
            }
            ElementGroup::Damaged(_) => report.count_loss(Loss::Unreadable, 1),
        }
    }
    source.elements.count = source.raws.len();
    let is_about = |body| {
        records::note(body, codec.constants().name).is_some_and(|note| json::member(note, "about").is_some())
    };
    let mut messages = session.messages().map(|(line, _)| line);
    source.instructions = messages.find(|line| is_about(session.record(*line).body));
    source
}
