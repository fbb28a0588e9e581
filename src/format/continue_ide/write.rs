//! A session as a document: what a summary stands for stays ahead of it, what is cut off leaves.

use super::item;
use super::read;
use super::{NAME, spell};
use crate::error::Result;
use crate::format::indent::indented;
use crate::format::kit::losses;
use crate::format::kit::{Edit, Frame};
use crate::format::listing::{Made, Piece, Unit, weave};
use crate::format::native::source_format;
use crate::format::report::{Loss, Report};
use crate::format::request::order;
use crate::format::request::piece::{array, quoted, rest};
use crate::format::workspace::{Member, Workspace};
use crate::format::{Purpose, Source, written};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::message::{Message, Role};
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// Writes a session as a document.
pub fn write(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    if purpose == Purpose::Export {
        tell_lines(session, report);
    }
    if let Some(origin) = session.origin().filter(|_| purpose == Purpose::Return) {
        let (document, listing) = read::listing(&origin.bytes)?;
        let source = Source::alone(&origin.bytes);
        let before = read::history(&source, document, &listing, None, &mut Report::default());
        let before = Before {
            own: before.session.len(),
            elements: (0..listing.elements.len())
                .map(|nth| listing.element(nth))
                .collect(),
            units: before.units,
        };
        let after = listing.splice_laid_out(&before.after(session, view, purpose, report));
        written(out.write_all(&origin.bytes[..origin.bytes.len() - document.len()]))?;
        return written(out.write_all(&after));
    }
    let (raws, units, own) = carried(session);
    let list = array(&raws);
    // Whatever it came from, what happened since is done to the items that its lines are.
    let made = match Frame::of(&list, None) {
        Some(listing) => {
            let before = Before {
                own,
                elements: (0..listing.elements.len())
                    .map(|nth| listing.element(nth))
                    .collect(),
                units,
            };
            listing.splice_laid_out(&before.after(session, view, purpose, report))
        }
        None => b"[]".to_vec(),
    };
    let document = document(session, view, &made);
    written(out.write_all(&indented(&document, 0)))?;
    written(out.write_all(b"\n"))
}

/// A history that a session was read from.
struct Before<'a> {
    /// Lines of the session that come from it.
    own: usize,
    elements: Vec<&'a [u8]>,
    units: Vec<Unit>,
}

impl Before<'_> {
    /// The items that show the session as it is in view now.
    fn after(&self, session: &Session, view: &View, purpose: Purpose, report: &mut Report) -> Vec<Edit> {
        let made = items(session, view, purpose, report);
        let pieces = weave(session, self.own, view, &self.units, made);
        let new = |item: &&Item| matches!(item, Item::Summary(line) if *line >= self.own);
        let text = view.items.iter().find(new).and_then(|item| item.summary(session));
        let of = |piece: &Piece| match piece {
            Piece::Old(unit) => Some(*unit),
            Piece::New(_, unit) => *unit,
        };
        let mut there = vec![false; self.units.len()];
        pieces.iter().filter_map(of).for_each(|unit| there[unit] = true);
        let olds = |unit: usize| self.units[unit].elements.clone().map(Edit::Keep);
        let mut out: Vec<Edit> = Vec::new();
        if let Some(text) = text {
            // What is sent begins behind the item that has the summary: nothing in view may stand ahead of it.
            let shown = self.shown(session);
            let in_view = |piece: &Piece| of(piece).is_none_or(|unit| shown[unit]);
            let first = pieces.iter().position(in_view).unwrap_or(pieces.len());
            let next = pieces[first..].iter().find_map(of).unwrap_or(self.units.len());
            out.extend((0..next).flat_map(olds));
            match out.pop() {
                Some(Edit::Keep(nth)) => out.push(Edit::Insert(with_summary(self.elements[nth], &text))),
                _ => out.push(Edit::Insert(with_summary(
                    br#"{"message":{"role":"assistant","content":""},"contextItems":[]}"#,
                    &text,
                ))),
            }
            let rest = pieces
                .into_iter()
                .filter(|piece| of(piece).is_none_or(|unit| unit >= next));
            out.extend(rest.flat_map(|piece| self.elements_of(piece)));
            return out;
        }
        out.extend(pieces.into_iter().flat_map(|piece| self.elements_of(piece)));
        out
    }

    fn elements_of(&self, piece: Piece) -> Vec<Edit> {
        match piece {
            Piece::Old(unit) => self.units[unit].elements.clone().map(Edit::Keep).collect(),
            Piece::New(raws, _) => raws.into_iter().map(Edit::Insert).collect(),
        }
    }

    /// Which units were in view.
    fn shown(&self, session: &Session) -> Vec<bool> {
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
        shown
    }
}

/// An item with a summary on it; it takes the place of one that it had.
fn with_summary(item: &[u8], text: &str) -> Vec<u8> {
    let item = json::compact(item).0;
    let made = json::with_members(&item, &[("conversationSummary", Some(&quoted(text)))]);
    made.unwrap_or(item)
}

/// The items that the lines of a session are, up to what happened to it since; and how many lines these are.
fn carried(session: &Session) -> (Vec<Vec<u8>>, Vec<Unit>, usize) {
    let is = |body: &[u8], name, value: &str| {
        json::member(body, name).and_then(json::text).as_deref() == Some(value)
    };
    if !came_from(session) {
        return (Vec::new(), Vec::new(), 0);
    }
    let whole = View::after(session, Vec::new());
    let made = items(session, &whole, Purpose::Return, &mut Report::default());
    let mut made = made.into_iter().peekable();
    let (mut raws, mut units) = (Vec::new(), Vec::<Unit>::new());
    let mut own = session.len();
    for index in 0..session.len() {
        let body = session.record(index).body;
        let start = raws.len();
        match session.class(index) {
            Class::Message(_) => {
                let line = |made: &Made| made.items.first().and_then(|item| whole.items[*item].line());
                let Some(made) = made.next_if(|made| line(made) == Some(index)) else {
                    continue;
                };
                let lines = index..index + made.items.len();
                raws.extend(made.raws);
                units.push(Unit {
                    elements: start..raws.len(),
                    lines,
                });
            }
            Class::Event if is(body, "type", "foreign") && is(body, "format", NAME) => {
                raws.extend(json::member(body, "raw").map(<[u8]>::to_vec));
                units.push(Unit {
                    elements: start..raws.len(),
                    lines: index..index + 1,
                });
            }
            Class::Event if is(body, "type", "summary") && is(body, "by", NAME) => {
                if let Some(unit) = units.last_mut() {
                    unit.lines.end = index + 1;
                }
            }
            Class::Event => {
                own = index;
                break;
            }
            _ => {}
        }
    }
    (raws, units, own)
}

/// Whether a session was read from this format.
fn came_from(session: &Session) -> bool {
    source_format(session).as_deref() == Some(NAME)
}

/// The view as items; what a summary says is not among them.
fn items(session: &Session, view: &View, purpose: Purpose, report: &mut Report) -> Vec<Made> {
    let order = order(session, view, came_from(session), &mut Report::default());
    let body = |item: usize| view.items[item].body(session);
    // Results that stand in no item of their own yet, or in the state of their call alone; one that is said otherwise now
    // changes that state too, for the program sends what it finds there.
    let mut answers: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    for (result, (caller, nth)) in &order.calls {
        let edited = matches!(view.items[*result], Item::Edited(..));
        if edited || spell::note(body(*result)).is_none() || spell::is_state(body(*result)) {
            answers.entry(*caller).or_default().push((*nth, *result));
        }
    }
    let mut told: HashSet<usize> = HashSet::new();
    let mut made = Vec::new();
    for item in order.items.iter().copied() {
        if told.contains(&item) {
            continue;
        }
        if view.items[item].summary(session).is_some() {
            // One that came from here stands on its item.
            let own = matches!(view.items[item], Item::Summary(line) if came_from(session) && is_own(session, line));
            if own {
                made.push(Made {
                    raws: Vec::new(),
                    items: vec![item],
                });
            }
            continue;
        }
        let mut results = answers.remove(&item).unwrap_or_default();
        results.sort_unstable();
        let all: Vec<usize> = std::iter::once(item)
            .chain(results.iter().map(|(_, result)| *result))
            .collect();
        told.extend(all.iter().copied());
        if purpose == Purpose::Export {
            for item in &all {
                if let Some(message) = view.items[*item].message(session) {
                    tell(&message, body(*item), report);
                }
            }
        }
        let bodies: Vec<&[u8]> = all.iter().map(|item| body(*item)).collect();
        let raws = match kept(&bodies) {
            Some(raws) => raws,
            None => spell::items(&bodies, report),
        };
        made.push(Made { raws, items: all });
    }
    made
}

fn is_own(session: &Session, line: usize) -> bool {
    let record = session.record(line);
    json::member(record.body, "by").and_then(json::text).as_deref() == Some(NAME)
}

/// The items that were kept whole on a message, while it and its results still are what they read as.
fn kept(bodies: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
    let first = bodies.first()?;
    let raws =
        json::member(spell::note(first)?, "raw").and_then(|raw| json::elements(raw, Dialect::Strict))?;
    let states = bodies[1..].iter().filter(|body| spell::is_state(body));
    let known = |body: &[u8]| {
        json::member(body, "tool_call_id")
            .and_then(json::text)
            .map(|id| id.into_owned())
    };
    // Of the states those count that were not told by items.
    let told: HashSet<String> = states.filter_map(|body| known(body)).collect();
    let then = item::bodies(&raws, &HashSet::new(), "");
    let then: Vec<Vec<u8>> = then
        .into_iter()
        .filter(|body| known(body).is_none_or(|id| !spell::is_state(body) || told.contains(&id)))
        .collect();
    let names = ["role", "content", "tool_calls", "tool_call_id", "reasoning"];
    let same = |then: &[u8], now: &[u8]| {
        names
            .iter()
            .all(|name| json::member(then, name) == json::member(now, name))
    };
    let whole = then.len() == bodies.len() && then.iter().zip(bodies).all(|(then, now)| same(then, now));
    whole.then(|| raws.into_iter().map(<[u8]>::to_vec).collect())
}

/// The document of a session with these items.
fn document(session: &Session, view: &View, history: &[u8]) -> Vec<u8> {
    let header = session.header();
    let find = |name: &str| {
        header
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, raw)| raw.clone())
    };
    let metadata = find("metadata").unwrap_or_else(|| b"{}".to_vec());
    let mut built = ObjectBuilder::default();
    match json::member(&metadata, NAME).and_then(|raw| json::member(raw, "session")) {
        Some(own) => rest(own, &["history"]).for_each(|(name, value)| {
            built.raw(&name, value);
        }),
        None => {
            let id = session.header_text("id").unwrap_or_else(|| "session".to_string());
            let title = session
                .header_text("title")
                .unwrap_or_else(|| "New Session".to_string());
            let workspace = Workspace::of(session);
            built
                .text("sessionId", &id)
                .text("title", &title)
                .raw("workspaceDirectory", workspace.cwd.as_deref().unwrap_or(b"\"\""));
            if let Some(model) = workspace.last_model(session, view) {
                built.raw("chatModelTitle", model);
            }
        }
    }
    built.raw("history", history);
    built.finish()
}

/// Counts what a message has that an item has no place for.
fn tell(message: &Message<'_>, body: &[u8], report: &mut Report) {
    if spell::note(body).is_some() {
        return;
    }
    // The usage of a message is written.
    let lost = [Loss::Id, Loss::Timestamp, Loss::Model];
    losses::members(message, body, &lost, &["is_error"], report);
    report.lose(Loss::Name, u64::from(message.name.is_some()));
    let known = matches!(
        message.role(),
        Role::User | Role::Assistant | Role::Tool | Role::System
    );
    report.lose(Loss::Category, u64::from(!known || message.category.is_some()));
}

/// Counts the lines that a document has no place for.
fn tell_lines(session: &Session, report: &mut Report) {
    let kept: &[&str] = match came_from(session) {
        true => &["type", "version", "id", "title", "source", "created_at", "key"],
        false => &["type", "version", "id", "title", "source"],
    };
    let keeps = |body: &[u8]| losses::keeps_header(body, kept, &[Member::Directory, Member::Model], NAME);
    let is_kept = |index: usize| {
        let body = session.record(index).body;
        let is = |name, value: &str| json::member(body, name).and_then(json::text).as_deref() == Some(value);
        is("format", NAME) || is("type", "summary")
    };
    losses::records(session, keeps, is_kept, report);
}
