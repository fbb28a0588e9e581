//! Sessions as documents and lines. One that came from such gets back the elements that it had, as the bytes that they
//! were where these are at hand.

use super::NAME;
use super::change;
use super::element::Element;
use super::fresh::{self, Source};
use super::held::{self, Held, Layout};
use super::read;
use super::spell;
use crate::error::{Error, Kind, Place, Result};
use crate::format::exported::{Listing, Slot, replaced};
use crate::format::grouped::{self, Unit, units};
use crate::format::report::{Loss, Report};
use crate::format::request::piece::{add_rest, array};
use crate::format::{Purpose, Returned, written};
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::Session;
use crate::model::view::View;
use std::io::Write;

/// Writes one session, in the form that it had; as a document when it had none.
pub fn write(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let form = own(session).and_then(|own| {
        json::member(&own, "form")
            .and_then(json::text)
            .map(|form| form.into_owned())
    });
    let layout = Layout::ALL
        .into_iter()
        .find(|layout| form.as_deref() == Some(layout.name()));
    let source = Source {
        session,
        view,
        purpose,
    };
    laid(&source, layout.unwrap_or_default(), out, report)
}

/// Writes one session as lines.
pub fn write_lines(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let source = Source {
        session,
        view,
        purpose,
    };
    laid(&source, Layout::Lines, out, report)
}

fn laid(source: &Source<'_>, layout: Layout, out: &mut dyn Write, report: &mut Report) -> Result<()> {
    let Source {
        session,
        view,
        purpose,
    } = *source;
    let own = own(session);
    let elements = match &own {
        Some(_) => {
            if purpose == Purpose::Export {
                tell_events(session, report);
            }
            let held = kept(session);
            let slots = change::slots(source, &held, report);
            let element = |slot| match slot {
                Slot::Kept(nth) => held.raws[nth].clone(),
                Slot::Instead(_, made) | Slot::New(made) => made,
            };
            slots.into_iter().map(element).collect()
        }
        None => fresh::elements(source, &(0..view.items.len()).collect::<Vec<_>>(), &mut 0, report),
    };
    let about = own.as_ref().and_then(|own| json::member(own, "session"));
    let is_message = |raw: &&Vec<u8>| json::member(raw, "role").is_some();
    let messages = elements.iter().filter(is_message).count();
    let count = messages.to_string();
    if layout == Layout::Lines {
        let mut lines = Vec::new();
        let same = own.as_ref().and_then(|own| json::member(own, "form")) == Some(b"\"lines\"");
        match about {
            Some(about) => lines.push(counted(about, about, &count)),
            // It came as lines, and the first of them told nothing.
            None if same => {}
            None => lines.push(fresh::first_line(session, messages)),
        }
        if own.is_none() && purpose == Purpose::Export {
            fresh::tell_lines(session, report);
        }
        lines.extend(elements);
        lines.iter_mut().for_each(|line| line.push(b'\n'));
        warn(&lines, report);
        return lines.iter().try_for_each(|line| written(out.write_all(line)));
    }
    if layout == Layout::List {
        return written(out.write_all(&[array(&elements).as_slice(), b"\n"].concat()));
    }
    let mut told = Report::default();
    let mut document = match about {
        Some(about) => {
            let mut document = ObjectBuilder::default();
            add_rest(&mut document, about, &["message_count"]);
            document
        }
        None => fresh::about(session, view, &mut told),
    };
    if own.is_none() && purpose == Purpose::Export {
        told.losses
            .into_iter()
            .for_each(|(loss, times)| report.lose(loss, times));
    }
    document
        .raw(read::LIST, array(&elements))
        .raw("message_count", count);
    written(out.write_all(&[document.finish().as_slice(), b"\n"].concat()))
}

/// Writes a session back into what it came from.
pub fn back(sessions: &[Returned<'_>], out: &mut dyn Write, report: &mut Report) -> Result<()> {
    let Some((first, origin)) = sessions
        .first()
        .and_then(|first| Some((first, first.session.origin()?)))
    else {
        return Ok(());
    };
    written(out.write_all(&origin.lead))?;
    let again = if first.changed { read::again(origin) } else { None };
    let Some((held, value)) = again else {
        return written(out.write_all(&origin.bytes));
    };
    let source = Source {
        session: first.session,
        view: first.view,
        purpose: Purpose::Return,
    };
    let slots = change::slots(&source, &held, report);
    if slots.iter().all(|slot| matches!(slot, Slot::Kept(_))) {
        return written(out.write_all(&origin.bytes));
    }
    let more = slots.iter().filter(|slot| matches!(slot, Slot::New(_))).count();
    let Some(value) = value else {
        return lines_back(&origin.bytes, slots, more, out, report);
    };
    let listing = Listing::of(&value.bytes, value.value.clone(), read::LIST);
    let after = listing.written(&value.bytes, &slots).ok_or_else(|| {
        let error = Error::new(
            Kind::Data,
            "a truncated or damaged document cannot be rewritten in place",
        );
        error.hint("write the readable messages to a new file: convo cat --to goose FILE > NEW")
    })?;
    let count = listing.get("message_count").and_then(number);
    let document = after.trim_ascii();
    let after = match count {
        Some(count) => counted(&after, document, &(count + more as u64).to_string()),
        None => after,
    };
    written(out.write_all(&after))
}

/// Writes the elements of lines back.
fn lines_back(
    bytes: &[u8],
    slots: Vec<Slot>,
    more: usize,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let before: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for slot in slots {
        let line = match slot {
            Slot::Kept(nth) => {
                let line = before[nth];
                match json::member(line.trim_ascii(), "message_count").and_then(number) {
                    Some(count) if more > 0 && json::member(line.trim_ascii(), "role").is_none() => {
                        counted(line, line.trim_ascii(), &(count + more as u64).to_string())
                    }
                    _ => line.to_vec(),
                }
            }
            Slot::Instead(nth, made) => {
                let line = before[nth];
                let lead = line.len() - line.trim_ascii_start().len();
                let end = line.trim_ascii_end().len();
                [&line[..lead.min(end)], &made, &line[end..]].concat()
            }
            Slot::New(made) => [made.as_slice(), b"\n"].concat(),
        };
        // The line before may have been the last, without an ending.
        if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
            last.push(b'\n');
        }
        lines.push(line);
    }
    warn(&lines, report);
    lines.iter().try_for_each(|line| written(out.write_all(line)))
}

fn number(raw: &[u8]) -> Option<u64> {
    std::str::from_utf8(raw).ok()?.parse().ok()
}

/// The bytes with the number of messages in an object that stands in them.
fn counted(bytes: &[u8], object: &[u8], count: &str) -> Vec<u8> {
    match json::member(object, "message_count") {
        Some(raw) => {
            let at = raw.as_ptr() as usize - object.as_ptr() as usize;
            let from = object.as_ptr() as usize - bytes.as_ptr() as usize;
            replaced(bytes, &bytes[from + at..from + at + raw.len()], count.as_bytes())
        }
        None => bytes.to_vec(),
    }
}

/// What the readers of lines pass over without a word. Source: goose, session/legacy.rs.
const LONGEST: usize = 5 * 1024 * 1024;
const MOST: usize = 10_000;
const LARGEST: usize = 50 * 1024 * 1024;

/// Tells of what goose would not read.
fn warn(lines: &[Vec<u8>], report: &mut Report) {
    let long = lines.iter().filter(|line| line.len() > LONGEST).count();
    let place = Place::default();
    if long > 0 {
        report.note(
            place,
            format!("{long} lines are longer than 5 MiB, which goose skips"),
        );
    }
    if lines.len() > MOST + 1 {
        report.note(place, "more than 10,000 messages, which is all that goose reads");
    }
    if lines.iter().map(Vec::len).sum::<usize>() > LARGEST {
        report.note(place, "more than 50 MiB, which goose does not read");
    }
}

/// What the header of a session keeps of where it came from.
fn own(session: &Session) -> Option<Vec<u8>> {
    let header = session.header();
    let (_, metadata) = header.iter().find(|(name, _)| name == "metadata")?;
    let own = json::member(metadata, NAME)?;
    json::member(own, "form").map(|_| own.to_vec())
}

/// The elements that the records of a session were.
fn kept(session: &Session) -> Held {
    let mut held = Held::default();
    for unit in units(session, NAME, ["message", "raw"]) {
        match unit {
            Unit::Element(lines) => {
                let note = grouped::note(session.record(lines[0]).body, NAME).unwrap_or(b"{}");
                let bodies: Vec<&[u8]> = lines.iter().map(|line| session.record(*line).body).collect();
                let raw = json::member(note, "raw").map(<[u8]>::to_vec);
                let Some(made) = raw.or_else(|| spell::element(&bodies, &mut Report::default())) else {
                    continue;
                };
                for line in lines {
                    held.elements.of.insert(line, held.raws.len());
                }
                held.raws.push(made);
            }
            Unit::Carried(line, raw) => {
                if held::is_own(session, line) && Element::of(&raw).is_some() {
                    held.summary = Some((held.raws.len(), line));
                }
                held.raws.push(match json::text(&raw) {
                    // What was damaged is the text that it was.
                    Some(text) => text.into_owned().into_bytes(),
                    None => raw,
                });
            }
            Unit::Unreadable(line) => held.raws.push(session.record(line).body.to_vec()),
        }
    }
    held.elements.count = held.raws.len();
    held
}

/// Counts the events that a session has no place for.
fn tell_events(session: &Session, report: &mut Report) {
    for index in 0..session.len() {
        let record = session.record(index);
        let Some(event) = record.event() else { continue };
        let own = match event.name().as_ref() {
            "session" | "truncate" | "restore" | "compact" | "summary" => true,
            "foreign" => json::member(event.raw, "format").and_then(json::text).as_deref() == Some(NAME),
            _ => false,
        };
        report.lose(Loss::Event, u64::from(!own));
    }
}
