//! Sessions as documents. One that came from a document gets back the elements that it had, as the bytes that they were
//! where these are at hand.

use super::NAME;
use super::change;
use super::fresh::{self, Source};
use super::held::{self, Compaction, Held};
use super::make::Making;
use super::read;
use super::spell;
use crate::error::{Error, Kind, Result};
use crate::format::exported::{Listing, Slot};
use crate::format::grouped::{Unit, units};
use crate::format::report::{Loss, Report};
use crate::format::request::piece::{array, rest};
use crate::format::{Purpose, Returned, written};
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::Session;
use crate::model::view::View;
use std::borrow::Cow;
use std::io::Write;

/// Writes one session.
pub fn write(
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
    let Some(own) = own(session) else {
        return written(out.write_all(&fresh::document(&source, report)));
    };
    if purpose == Purpose::Export {
        tell_events(session, report);
    }
    let held = kept(session, report);
    let info = json::member(&own, "session").unwrap_or(b"null");
    let slots = change::slots(&source, &held, &mut making(info, &held), report);
    let elements = slots.into_iter().map(|slot| match slot {
        Slot::Kept(nth) => held.raws[nth].clone(),
        Slot::Instead(_, made) | Slot::New(made) => made,
    });
    let elements = array(elements);
    if info == b"null" {
        return written(out.write_all(&[elements.as_slice(), b"\n"].concat()));
    }
    let mut document = ObjectBuilder::default();
    document.raw("info", info).raw("messages", elements);
    let beside = json::member(&own, "members");
    for (name, value) in beside.into_iter().flat_map(|beside| rest(beside, &[])) {
        document.raw(&name, value);
    }
    written(out.write_all(&document.finish()))?;
    written(out.write_all(b"\n"))
}

/// Writes a session back into the document that it came from.
pub fn back(sessions: &[Returned<'_>], out: &mut dyn Write, report: &mut Report) -> Result<()> {
    let Some((first, origin)) = sessions
        .first()
        .and_then(|first| Some((first, first.session.origin()?)))
    else {
        return Ok(());
    };
    written(out.write_all(&origin.lead))?;
    if !first.changed {
        return written(out.write_all(&origin.bytes));
    }
    let Some((value, held)) = read::again(origin) else {
        return written(out.write_all(&origin.bytes));
    };
    let source = Source {
        session: first.session,
        view: first.view,
        purpose: Purpose::Return,
    };
    let listing = Listing::of(&value.bytes, value.value.clone(), "messages");
    let info = listing.get("info").unwrap_or(b"null");
    let slots = change::slots(&source, &held, &mut making(info, &held), report);
    let after = listing.written(&value.bytes, &slots).ok_or_else(|| {
        let error = Error::new(
            Kind::Data,
            "a truncated or damaged document cannot be rewritten in place",
        );
        error.hint("write the readable messages to a new file: convo cat --to opencode FILE > NEW")
    })?;
    written(out.write_all(&after))
}

/// What new messages of a document are made with.
fn making(info: &[u8], held: &Held) -> Making {
    let text = |name| json::member(info, name).and_then(json::text);
    // A list without a session: its messages name it.
    let named = || {
        let first = held
            .raws
            .iter()
            .find_map(|raw| json::member(json::member(raw, "info")?, "sessionID"));
        first.and_then(json::text).map(Cow::into_owned)
    };
    let session = text("id").map(Cow::into_owned).or_else(named);
    held.making(
        session.as_deref().unwrap_or("ses_unknown"),
        text("directory").as_deref().unwrap_or("/"),
    )
}

/// What the header of a session keeps of the document that it came from.
fn own(session: &Session) -> Option<Vec<u8>> {
    let header = session.header();
    let (_, metadata) = header.iter().find(|(name, _)| name == "metadata")?;
    let own = json::member(metadata, NAME)?;
    json::member(own, "session").map(|_| own.to_vec())
}

/// The elements that the records of a session were.
fn kept(session: &Session, report: &mut Report) -> Held {
    let mut held = Held::default();
    for unit in units(session, NAME, ["info", "raw"]) {
        match unit {
            Unit::Element(lines) => {
                let Some(made) = element(session, &lines) else {
                    continue;
                };
                for line in lines {
                    held.elements.of.insert(line, held.raws.len());
                }
                held.raws.push(made);
            }
            // Of an element that was damaged there is a text only.
            Unit::Carried(_, raw) if raw.starts_with(b"\"") => report.lose(Loss::Unreadable, 1),
            Unit::Carried(line, raw) => {
                if held::is_own(session, line) {
                    let answer = held.raws.len();
                    held.compactions.push(Compaction { answer, line });
                }
                held.raws.push(raw);
            }
            Unit::Unreadable(_) => report.lose(Loss::Unreadable, 1),
        }
    }
    held.elements.count = held.raws.len();
    held
}

/// The element that these lines were.
fn element(session: &Session, lines: &[usize]) -> Option<Vec<u8>> {
    let note = spell::note(session.record(*lines.first()?).body)?;
    if let Some(raw) = json::member(note, "raw") {
        return Some(raw.to_vec());
    }
    let bodies: Vec<&[u8]> = lines.iter().map(|line| session.record(*line).body).collect();
    spell::element(json::member(note, "info"), &bodies, None, &mut Report::default())
}

/// Counts the events that a document has no place for.
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
