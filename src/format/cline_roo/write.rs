//! A session as a history: Roo's keeps what leaves it, and says so; any other holds what is in view.

use super::NAME;
use super::read::{self, is_tagged};
use super::tags::{self, Summary};
use crate::error::{Error, Kind, Place, Result};
use crate::format::kit::losses;
use crate::format::kit::{Edit, Frame};
use crate::format::listing::{Made, Piece, Unit, weave};
use crate::format::native::source_format;
use crate::format::report::{Loss, Report};
use crate::format::request::piece::array;
use crate::format::request::{self, Api};
use crate::format::workspace::Member;
use crate::format::{Purpose, Source, written};
use crate::model::json::{self, Dialect};
use crate::model::message::Role;
use crate::model::record::Record;
use crate::model::session::{Class, Session};
use crate::model::time;
use crate::model::view::{Item, View};
use std::collections::HashMap;
use std::io::Write;

/// Writes a session as a history.
pub fn write(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let origin = session.origin().filter(|_| purpose == Purpose::Return);
    let is_roo = |carried: &Vec<(Vec<Vec<u8>>, _)>| {
        let mut raws = carried.iter().flat_map(|(raws, _)| raws);
        raws.any(|raw| is_tagged(raw))
    };
    let roo = carried(session).filter(|carried| origin.is_none() && is_roo(carried));
    if purpose == Purpose::Export {
        tell_lines(session, roo.is_some(), report);
    }
    let whole = match origin {
        Some(origin) => {
            let listing = read::listing(&origin.bytes)?;
            let source = Source::alone(&origin.bytes);
            let before = read::history(&source, &listing, None, &mut Report::default());
            // What hides elements of Cline's is one line more, behind all of them.
            let own = before.units.last().map_or(1, |unit| unit.lines.end);
            let own = own + usize::from(session.len() > own && is_own_event(session, own));
            let history = Before {
                own,
                roo: before.is_roo(),
                elements: (0..listing.elements.len())
                    .map(|nth| listing.element(nth))
                    .collect(),
                units: before.units,
            };
            listing.splice_laid_out(&history.after(session, view, report)?)
        }
        None => match roo {
            Some(carried) => again(carried, session, view, report)?,
            None => array(fresh(session, view, purpose, report)),
        },
    };
    written(out.write_all(&whole))?;
    match origin {
        Some(_) => Ok(()),
        None => written(out.write_all(b"\n")),
    }
}

/// Whether a line is an event that says what this format hides.
fn is_own_event(session: &Session, index: usize) -> bool {
    let record = session.record(index);
    let is =
        |name, value: &str| json::member(record.body, name).and_then(json::text).as_deref() == Some(value);
    session.class(index) == Class::Event && is("type", "compact") && is("strategy", NAME)
}

/// A history that a session was read from.
struct Before<'a> {
    /// Lines of the session that come from it.
    own: usize,
    roo: bool,
    elements: Vec<&'a [u8]>,
    units: Vec<Unit>,
}

impl Before<'_> {
    /// The elements that show the session as it is in view now.
    fn after(&self, session: &Session, view: &View, report: &mut Report) -> Result<Vec<Edit>> {
        let made = spoken(session, view, Purpose::Return, report);
        let event = |item: &Item| matches!(item, Item::Summary(line) if *line >= self.own);
        let summary = view.items.iter().position(event);
        let pieces = weave(session, self.own, view, &self.units, made);
        let events = session.live_events().into_iter();
        let events = events.filter(|line| *line < self.own && View::is_moved_by(session, *line));
        let mut shown = vec![false; self.units.len()];
        for item in &View::after(session, events.collect()).items {
            let (Item::Line(line) | Item::Edited(line, _) | Item::Summary(line)) = item else {
                continue;
            };
            let unit = self.units.partition_point(|unit| unit.lines.end <= *line);
            if let Some(shown) = shown.get_mut(unit) {
                *shown = true;
            }
        }
        let of = |piece: &Piece| match piece {
            Piece::Old(unit) => Some(*unit),
            Piece::New(_, unit) => *unit,
        };
        if self.roo {
            let summary = summary.map(|item| {
                let text = view.items[item].summary(session).unwrap_or_default().into_owned();
                let stamp = json::member(view.items[item].body(session), "at").and_then(milliseconds);
                // A summary is told by its place among what is made.
                let piece = pieces
                    .iter()
                    .position(|piece| matches!(piece, Piece::New(raws, None) if raws.iter().any(|raw| tags::summary_text(raw).is_some())));
                Summary {
                    text,
                    piece: piece.unwrap_or(usize::MAX),
                    stamp,
                }
            });
            return Ok(tags::tagged(pieces, &self.elements, &self.units, &shown, summary));
        }
        let mut wanted = (0..self.units.len()).filter(|unit| shown[*unit]);
        let mut there = pieces.iter().filter_map(of).filter(|unit| shown[*unit]);
        let same = wanted.by_ref().eq(there.by_ref());
        let ends = pieces
            .iter()
            .rposition(|piece| of(piece).is_some())
            .map_or(0, |last| last + 1);
        if !same || summary.is_some() || pieces[..ends].iter().any(|piece| of(piece).is_none()) {
            let what = "Cline records omitted messages in other files; only appending is supported";
            let hint = "write a new history: convo COMMAND ... FILE | convo cat --to cline-roo > NEW";
            return Err(Error::new(Kind::Usage, what).hint(hint));
        }
        Ok(pieces
            .into_iter()
            .flat_map(|piece| match piece {
                Piece::Old(unit) => self.units[unit]
                    .elements
                    .clone()
                    .map(Edit::Keep)
                    .collect::<Vec<_>>(),
                Piece::New(raws, _) => raws.into_iter().map(Edit::Insert).collect(),
            })
            .collect())
    }
}

/// Elements, and the lines that they became.
type Carried = Vec<(Vec<Vec<u8>>, std::ops::Range<usize>)>;

/// The elements that the lines of a session were, up to what happened to it since; none of one that came from elsewhere.
fn carried(session: &Session) -> Option<Carried> {
    let own = |body: &[u8]| -> Option<Vec<u8>> {
        let raw = json::member(json::member(json::member(body, "metadata")?, NAME)?, "raw")?;
        Some(raw.to_vec())
    };
    if !came_from(session) {
        return None;
    }
    let whole = View::after(session, Vec::new());
    let mut made = spoken(session, &whole, Purpose::Return, &mut Report::default())
        .into_iter()
        .peekable();
    let mut carried = Carried::new();
    for index in 0..session.len() {
        let record = session.record(index);
        match session.class(index) {
            Class::Message(_) => {
                let line = |made: &Made| made.items.first().and_then(|item| whole.items[*item].line());
                if let Some(made) = made.next_if(|made| line(made) == Some(index)) {
                    carried.push((made.raws, index..index + made.items.len()));
                }
            }
            Class::Event => {
                let is = |name, value: &str| {
                    json::member(record.body, name).and_then(json::text).as_deref() == Some(value)
                };
                let raw = match (is("format", NAME), own(record.body)) {
                    (true, _) => json::member(record.body, "raw").map(<[u8]>::to_vec),
                    (false, raw) => raw,
                };
                match raw {
                    Some(raw) => carried.push((vec![raw], index..index + 1)),
                    None if is("strategy", NAME) => {}
                    // From here on it is what happened since.
                    None => break,
                }
            }
            _ => {}
        }
    }
    Some(carried)
}

/// A history of Roo's made of its lines, with what happened since.
fn again(carried: Carried, session: &Session, view: &View, report: &mut Report) -> Result<Vec<u8>> {
    let raws: Vec<Vec<u8>> = carried.iter().flat_map(|(raws, _)| raws.clone()).collect();
    let document = array(&raws);
    let Some(listing) = Frame::of(&document, None) else {
        return Err(Error::new(Kind::Data, "the elements are not valid JSON"));
    };
    let mut units = Vec::new();
    let mut at = 0;
    for (raws, lines) in &carried {
        units.push(Unit {
            elements: at..at + raws.len(),
            lines: lines.clone(),
        });
        at += raws.len();
    }
    let end = units.last().map_or(0, |unit| unit.lines.end);
    let left_out = (end..session.len())
        .take_while(|index| is_own_event(session, *index))
        .count();
    let before = Before {
        own: end + left_out,
        roo: true,
        elements: (0..listing.elements.len())
            .map(|nth| listing.element(nth))
            .collect(),
        units,
    };
    Ok(listing.splice_laid_out(&before.after(session, view, report)?))
}

/// The view as a history of its own; a summary is one as Roo has it.
fn fresh(session: &Session, view: &View, purpose: Purpose, report: &mut Report) -> Vec<Vec<u8>> {
    let mut raws: Vec<Vec<u8>> = Vec::new();
    for made in spoken(session, view, purpose, report) {
        let is_summary = made.raws.iter().any(|raw| tags::summary_text(raw).is_some());
        for raw in made.raws {
            // Tags of what is not there hide nothing, and would if it came again.
            let parents = ["condenseParent", "truncationParent"];
            let tagged = parents.iter().any(|name| json::member(&raw, name).is_some());
            let raw = match tagged {
                true => json::with_members(&raw, &[(parents[0], None), (parents[1], None)]).unwrap_or(raw),
                false => raw,
            };
            // What is sent begins with the last summary.
            let at = if is_summary { 0 } else { raws.len() };
            raws.insert(at, raw);
        }
    }
    raws
}

fn milliseconds(time: &[u8]) -> Option<String> {
    let time = json::text(time)?;
    time::milliseconds(&time).map(|milliseconds| milliseconds.to_string())
}

/// The items of a view as elements.
fn spoken(session: &Session, view: &View, purpose: Purpose, report: &mut Report) -> Vec<Made> {
    let mut lines = Session::default();
    let mut thoughts: HashMap<usize, Vec<Vec<u8>>> = HashMap::new();
    let mut before_is_own = false;
    for (nth, item) in view.items.iter().enumerate() {
        if item.summary(session).is_some() {
            lines.push_new(br#"{"role":"user","content":"summary","metadata":{"anthropic":{"apart":true}}}"#);
            before_is_own = true;
            continue;
        }
        let own = note(item.body(session));
        let more = own.is_some_and(|own| json::member(own, "more").is_some());
        let follows = nth > 0
            && item
                .line()
                .is_some_and(|line| view.items[nth - 1].line() == line.checked_sub(1));
        let apart = match own {
            Some(_) => !(more && follows),
            // What is told at different times stays apart, for an element has one time; results of one time go together.
            None => {
                let time = |body| json::member(body, "timestamp");
                let result = json::member(item.body(session), "role") == Some(b"\"tool\"");
                let before = nth
                    .checked_sub(1)
                    .map(|before| time(view.items[before].body(session)));
                before_is_own || !result || before != Some(time(item.body(session)))
            }
        };
        let (body, reasoned) = prepared(item.body(session), apart, purpose, report);
        if !reasoned.is_empty() {
            thoughts.insert(nth, reasoned);
        }
        before_is_own = own.is_some();
        lines.push_new(&body);
    }
    let all = View::after(&lines, Vec::new());
    let request = request::built_of(Api::Anthropic, came_from(session), &lines, &all, purpose, report);
    let made = request.elements.into_iter().map(|element| {
        let first = element.items.first().copied().unwrap_or_default();
        if let Some(text) = view.items.get(first).and_then(|item| item.summary(session)) {
            let body = view.items[first].body(session);
            // One that came from here is as it was.
            let raw = json::member(body, "metadata")
                .and_then(|raw| json::member(raw, NAME))
                .and_then(|raw| json::member(raw, "raw"));
            let stamp = json::member(body, "at").and_then(milliseconds);
            let raw = raw.map_or_else(|| tags::summary(&text, stamp.as_deref()).0, <[u8]>::to_vec);
            return Made {
                raws: vec![raw],
                items: element.items,
            };
        }
        let mut raws: Vec<Vec<u8>> = element
            .items
            .iter()
            .filter_map(|item| thoughts.remove(item))
            .flatten()
            .collect();
        raws.push(element.raw);
        Made {
            raws,
            items: element.items,
        }
    });
    made.collect()
}

/// Whether a session was read from this format.
fn came_from(session: &Session) -> bool {
    source_format(session).as_deref() == Some(NAME)
}

/// What a message notes of the element that it was.
fn note(body: &[u8]) -> Option<&[u8]> {
    json::member(json::member(body, "metadata")?, NAME)
}

/// A message as the interface is to see it, its element's members beside it; and thoughts that are elements of their own.
fn prepared(body: &[u8], apart: bool, purpose: Purpose, report: &mut Report) -> (Vec<u8>, Vec<Vec<u8>>) {
    let own = note(body);
    let record = Record::parse(body, Place { line: 0, offset: 1 });
    let Some(message) = record.message() else {
        return (body.to_vec(), Vec::new());
    };
    let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
    if !matches!(message.role(), Role::User | Role::Assistant | Role::Tool) {
        // Whoever else speaks has no other place.
        changes.push(("role", Some(b"\"user\"".to_vec())));
        report.lose(Loss::Category, u64::from(purpose == Purpose::Export));
    }
    if own.is_some() {
        changes.extend(["id", "usage", "model", "category"].map(|name| (name, None)));
    }
    let stamp = message.timestamp.and_then(milliseconds);
    if own.is_some() || stamp.is_some() {
        changes.push(("timestamp", None));
    }
    let parts = message
        .reasoning
        .and_then(|raw| json::elements(raw, Dialect::Strict));
    let is_element = |part: &&[u8]| own.is_some() && json::member(part, "type") == Some(b"\"reasoning\"");
    let (thoughts, rest): (Vec<&[u8]>, Vec<&[u8]>) = parts
        .unwrap_or_default()
        .into_iter()
        .partition(|part| is_element(part));
    if !thoughts.is_empty() {
        changes.push(("reasoning", (!rest.is_empty()).then(|| array(rest))));
    }
    let metadata = message
        .metadata
        .filter(|raw| raw.starts_with(b"{"))
        .unwrap_or(b"{}");
    let members = match own {
        Some(own) => json::member(own, "members").map(<[u8]>::to_vec),
        None => stamp.map(|stamp| format!("{{\"ts\":{stamp}}}").into_bytes()),
    };
    let members = members.filter(|members| members != b"{}");
    let interface = json::member(metadata, Api::Anthropic.name()).filter(|raw| raw.starts_with(b"{"));
    let interface = json::with_members(
        interface.unwrap_or(b"{}"),
        &[
            ("members", members.as_deref()),
            ("apart", apart.then_some(b"true".as_slice())),
        ],
    );
    if let Ok(interface) = interface {
        let changed = [(NAME, None), (Api::Anthropic.name(), Some(interface.as_slice()))];
        changes.push(("metadata", json::with_members(metadata, &changed).ok()));
    }
    let changes: Vec<(&str, Option<&[u8]>)> = changes
        .iter()
        .map(|(name, value)| (*name, value.as_deref()))
        .collect();
    let body = json::with_members(body, &changes).unwrap_or_else(|_| body.to_vec());
    (body, thoughts.into_iter().map(<[u8]>::to_vec).collect())
}

/// Counts the lines that a history has no place for.
fn tell_lines(session: &Session, roo: bool, report: &mut Report) {
    let kept = ["type", "version", "id", "key", "created_at", "source"];
    // The directory of its own sessions is in their text.
    let placed: &[Member] = match came_from(session) {
        true => &[Member::Directory],
        false => &[],
    };
    let is_kept = |index: usize| {
        let body = session.record(index).body;
        let is = |name| json::member(body, name).and_then(json::text).as_deref() == Some(NAME);
        let summary = json::member(body, "type") == Some(b"\"summary\"");
        // What Cline leaves out it says in another file; Roo on the elements themselves.
        is("format") || (roo && is("strategy")) || is("by") || summary
    };
    let keeps = |body: &[u8]| losses::keeps_header(body, &kept, placed, "");
    losses::records(session, keeps, is_kept, report);
}
