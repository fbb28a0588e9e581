//! A session as a recording, and a change of one: lines that are added to a log, elements of a document.

use super::content::timestamp;
use super::kept::kept;
use super::replay::Replay;
use super::{NAME, read, spell};
use crate::error::{Place, Result};
use crate::format::kit::losses;
use crate::format::kit::{Edit, Frame};
use crate::format::listing::{Made, Piece, Unit, weave};
use crate::format::report::{Loss, Report};
use crate::format::request::order;
use crate::format::request::piece::{array, quoted, wrapped};
use crate::format::workspace::{Member, Workspace};
use crate::format::{Purpose, Returned, written};
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use crate::model::session::{Class, Session};
use crate::model::summary;
use crate::model::view::{Item, View};
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// The time of what has none.
const EPOCH: &[u8] = b"\"1970-01-01T00:00:00.000Z\"";

/// Writes the view of a session as a log.
pub fn write(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    if purpose == Purpose::Export {
        let keeps = |body: &[u8]| losses::keeps_header(body, &losses::HEADER, &[Member::Directory], NAME);
        let is_own = |index: usize| {
            let body = session.record(index).body;
            let own = |name| json::member(body, name).and_then(json::text).as_deref() == Some(NAME);
            own("format") || own("strategy")
        };
        losses::records(session, keeps, is_own, report);
    }
    let mut lines = vec![first_line(session, purpose, report)];
    let made = records(session, view, purpose, &mut Taken::default(), report);
    let mut carried = carried(session, view).into_iter().peekable();
    for made in made {
        let at = made.items.first().and_then(|item| view.items[*item].line());
        while let Some((_, raw)) = carried.next_if(|(line, _)| at.is_some_and(|at| *line < at)) {
            lines.push(raw);
        }
        lines.extend(made.raws);
    }
    lines.extend(carried.map(|(_, raw)| raw));
    for line in lines {
        written(out.write_all(&line))?;
        written(out.write_all(b"\n"))?;
    }
    Ok(())
}

/// The records that a session of this format carries along and the model is not told of, with their lines.
fn carried(session: &Session, view: &View) -> Vec<(usize, Vec<u8>)> {
    let shown: HashSet<usize> = view.items.iter().filter_map(Item::line).collect();
    let mut found = Vec::new();
    let mut last: Option<usize> = None;
    for index in 0..session.len() {
        let record = session.record(index);
        match session.class(index) {
            Class::Message(_) => last = Some(index).filter(|index| !shown.contains(index)),
            Class::Event => {
                let own =
                    |name| json::member(record.body, name).and_then(json::text).as_deref() == Some(NAME);
                let name = record.event().map(|event| event.name());
                match (name.as_deref(), json::member(record.body, "raw")) {
                    (Some("foreign"), Some(raw)) if own("format") => found.push((index, raw.to_vec())),
                    // What is hidden right behind the line that says so.
                    (Some("compact"), _) if own("strategy") => {
                        let hidden = last.take().map(|line| (line, session.record(line).body));
                        found.extend(hidden.map(|(line, body)| {
                            let own = |name| json::member(body, name).unwrap_or(EPOCH);
                            let raw = match kept(&[body]) {
                                Some((raw, 1)) => raw.to_vec(),
                                _ => spell::record(
                                    body,
                                    &[],
                                    own("id"),
                                    own("timestamp"),
                                    &mut Report::default(),
                                ),
                            };
                            (line, raw)
                        }));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found
}

/// The view as records.
fn records(
    session: &Session,
    view: &View,
    purpose: Purpose,
    taken: &mut Taken,
    report: &mut Report,
) -> Vec<Made> {
    let order = order(session, view, false, report);
    let mut answers: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    for (result, (caller, nth)) in &order.calls {
        answers.entry(*caller).or_default().push((*nth, *result));
    }
    let body = |item: usize| view.items[item].body(session);
    let mut made: Vec<Made> = Vec::new();
    let mut clock = EPOCH.to_vec();
    let mut at = 0;
    while at < order.items.len() {
        let item = order.items[at];
        if let Some(text) = view.items[item].summary(session) {
            report.lose(Loss::Summary, u64::from(purpose == Purpose::Export));
            let text = summary::quoted(&text);
            let id = new_id(text.as_bytes(), taken);
            made.push(Made {
                raws: vec![spell::text(&text, &quoted(&id), &clock)],
                items: vec![item],
            });
            at += 1;
            continue;
        }
        // As many as any record is kept for: a call and what its tools gave.
        let most = 1 + answers.get(&item).map_or(8, Vec::len);
        let group: Vec<&[u8]> = order.items[at..]
            .iter()
            .take(most)
            .map(|item| body(*item))
            .collect();
        let line = view.items[item].body(session);
        clock = timestamp(line).map_or(clock, <[u8]>::to_vec);
        if let Some((raw, count)) = kept(&group) {
            taken.ids.extend(
                json::member(raw, "id")
                    .and_then(json::text)
                    .map(|id| id.into_owned()),
            );
            made.push(Made {
                raws: vec![raw.to_vec()],
                items: order.items[at..at + count].to_vec(),
            });
            at += count;
            continue;
        }
        let items: Vec<usize> = match answers.get(&item) {
            Some(answers) => std::iter::once(item)
                .chain(answers.iter().map(|(_, result)| *result))
                .collect(),
            None => vec![item],
        };
        if purpose == Purpose::Export {
            for item in &items {
                if let Some(message) = view.items[*item].message(session) {
                    spell::tell(&message, body(*item), report);
                }
            }
        }
        let own = json::member(line, "id")
            .and_then(json::text)
            .filter(|id| !id.is_empty());
        let id = match own.filter(|id| taken.ids.insert(id.to_string())) {
            Some(id) => id.into_owned(),
            None => new_id(line, taken),
        };
        let id = quoted(&id);
        let raw = if json::member(line, "role") == Some(b"\"tool\"") {
            spell::orphan(line, &id, &clock, report)
        } else {
            let calls =
                json::member(line, "tool_calls").and_then(|raw| json::elements(raw, json::Dialect::Strict));
            let mut results: Vec<Option<&[u8]>> = vec![None; calls.map_or(0, |calls| calls.len())];
            for (nth, result) in answers.get(&item).into_iter().flatten() {
                if let Some(place) = results.get_mut(*nth) {
                    *place = Some(body(*result));
                }
            }
            spell::record(line, &results, &id, &clock, report)
        };
        at += items.len();
        made.push(Made {
            raws: vec![raw],
            items,
        });
    }
    made
}

/// Ids of records.
#[derive(Default)]
struct Taken {
    ids: HashSet<String>,
    /// For each id of a first attempt the next attempt: equal records try none twice.
    next: HashMap<String, u64>,
}

/// An id that no other record has.
fn new_id(name: &[u8], taken: &mut Taken) -> String {
    let attempt = |nth: u64| {
        let hash = key::sha256(&[format!("{nth}\n").as_bytes(), name].concat());
        format!(
            "{}-{}-4{}-8{}-{}",
            &hash[..8],
            &hash[8..12],
            &hash[13..16],
            &hash[17..20],
            &hash[20..32]
        )
    };
    let first = attempt(0);
    if taken.ids.insert(first.clone()) {
        return first;
    }
    let next = taken.next.entry(first).or_insert(1);
    loop {
        let id = attempt(*next);
        *next += 1;
        if taken.ids.insert(id.clone()) {
            return id;
        }
    }
}

/// The line that tells of the session.
fn first_line(session: &Session, purpose: Purpose, report: &mut Report) -> Vec<u8> {
    let header = session.header();
    let find = |name: &str| {
        header
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, raw)| raw.clone())
    };
    let metadata = find("metadata");
    let get = |name: &str| metadata.as_deref().and_then(|raw| json::member(raw, name));
    if let Some(told) = get(NAME).and_then(|raw| json::member(raw, "session")) {
        return told.to_vec();
    }
    let mut times = (0..session.len()).filter_map(|index| timestamp(session.record(index).body));
    let begun = find("created_at").or_else(|| times.clone().next().map(<[u8]>::to_vec));
    let begun = begun.unwrap_or_else(|| EPOCH.to_vec());
    let newest = times.next_back().map_or_else(|| begun.clone(), <[u8]>::to_vec);
    let workspace = Workspace::of(session);
    let cwd = workspace.cwd.as_deref().and_then(json::text);
    if cwd.is_none() && purpose == Purpose::Export {
        let what = "no project (metadata.cwd): Gemini CLI does not list the session";
        report.note(Place { line: 0, offset: 0 }, what);
    }
    // The program knows a project by the hash of its folder.
    let project = key::sha256(cwd.as_deref().unwrap_or("/").as_bytes());
    let id = session.header_text("id").unwrap_or_else(|| "session".to_string());
    let mut first = ObjectBuilder::default();
    first
        .text("sessionId", &id)
        .text("projectHash", &project)
        .raw("startTime", begun)
        .raw("lastUpdated", newest)
        .text("kind", "main");
    if let Some(title) = find("title") {
        first.raw("summary", title);
    }
    first.finish()
}

/// Writes sessions back to where each of them stood.
pub fn back(sessions: &[Returned<'_>], out: &mut dyn Write, report: &mut Report) -> Result<()> {
    for returned in sessions {
        let Some(origin) = returned.session.origin() else {
            continue;
        };
        written(out.write_all(&origin.lead))?;
        let bytes = match returned.changed {
            true => changed(returned, &origin.bytes, report),
            false => origin.bytes.clone(),
        };
        written(out.write_all(&bytes))?;
    }
    Ok(())
}

fn changed(returned: &Returned<'_>, bytes: &[u8], report: &mut Report) -> Vec<u8> {
    let start = Place { line: 0, offset: 0 };
    let listing = Frame::of(bytes, Some("messages")).filter(|_| read::is_recording(bytes));
    let replay = match &listing {
        Some(listing) => Replay::of_document(bytes, Some(listing), start),
        None => Replay::of_log(bytes, start),
    };
    let before = read::read(&replay, None, bytes, 1, &mut Report::default());
    let (own, units) = (before.session.len(), before.units);
    let mut taken = Taken::default();
    let made = records(
        returned.session,
        returned.view,
        Purpose::Return,
        &mut taken,
        report,
    );
    let pieces = weave(returned.session, own, returned.view, &units, made);
    let pieces = with_new_ids(pieces, &replay, &mut taken);
    match &listing {
        Some(listing) => {
            let elements = pieces.into_iter().flat_map(|piece| match piece {
                Piece::Old(unit) => vec![Edit::Keep(unit)],
                Piece::New(raws, _) => raws.into_iter().map(Edit::Insert).collect(),
            });
            listing.splice_laid_out(&elements.collect::<Vec<_>>())
        }
        None => {
            let mut out = bytes.to_vec();
            for line in lines(pieces, &replay, &units) {
                if !out.is_empty() && !out.ends_with(b"\n") {
                    out.push(b'\n');
                }
                out.extend_from_slice(&line);
                out.push(b'\n');
            }
            out
        }
    }
}

/// Gives a new record whose id is another's one of its own: it would take that one's place.
fn with_new_ids(pieces: Vec<Piece>, replay: &Replay<'_>, taken: &mut Taken) -> Vec<Piece> {
    let live: HashSet<&str> = replay.live.iter().filter_map(|live| live.id.as_deref()).collect();
    taken.ids.extend(live.iter().map(|id| (*id).to_string()));
    let mut used: HashSet<usize> = HashSet::new();
    let anew = |raw: Vec<u8>, taken: &mut Taken| {
        let id = json::member(&raw, "id").and_then(json::text);
        if id.is_none_or(|id| !live.contains(id.as_ref())) {
            return raw;
        }
        let id = quoted(&new_id(&raw, taken));
        json::with_members(&raw, &[("id", Some(&id))]).unwrap_or(raw)
    };
    let pieces = pieces.into_iter().map(|piece| match piece {
        Piece::New(raws, Some(unit)) if raws.len() == 1 && used.insert(unit) => Piece::New(raws, Some(unit)),
        Piece::New(raws, _) => Piece::New(raws.into_iter().map(|raw| anew(raw, taken)).collect(), None),
        old => old,
    });
    pieces.collect()
}

/// The lines that make a log come out as these pieces.
fn lines(pieces: Vec<Piece>, replay: &Replay<'_>, units: &[Unit]) -> Vec<Vec<u8>> {
    let of = |piece: &Piece| match piece {
        Piece::Old(unit) => Some(*unit),
        Piece::New(_, unit) => *unit,
    };
    let in_order = pieces
        .iter()
        .enumerate()
        .take_while(|(nth, piece)| of(piece) == Some(*nth))
        .count();
    let old = pieces
        .iter()
        .enumerate()
        .take_while(|(nth, piece)| **piece == Piece::Old(*nth))
        .count();
    let is_new = |piece: &Piece| matches!(piece, Piece::New(_, None));
    let id = |unit: usize| replay.live.get(unit).and_then(|live| live.id.as_deref());
    let same_id = |piece: &Piece| match piece {
        Piece::New(raws, Some(unit)) => raws
            .iter()
            .all(|raw| json::member(raw, "id").and_then(json::text).as_deref() == id(*unit)),
        _ => true,
    };
    let new = |pieces: &[Piece]| -> Vec<Vec<u8>> {
        let raws = pieces.iter().filter_map(|piece| match piece {
            Piece::New(raws, _) => Some(raws.clone()),
            Piece::Old(_) => None,
        });
        raws.flatten().collect()
    };
    let whole = in_order == units.len() && pieces[in_order..].iter().all(is_new);
    if whole && pieces.iter().all(same_id) {
        // Those that are spelled anew take their own place.
        return new(&pieces);
    }
    if old < units.len()
        && pieces[old..].iter().all(is_new)
        && let Some(id) = id(old)
    {
        let mut lines = vec![wrapped("$rewindTo", &quoted(id))];
        lines.extend(new(&pieces[old..]));
        return lines;
    }
    let raws = pieces.into_iter().flat_map(|piece| match piece {
        Piece::Old(unit) => vec![replay.live[unit].raw.trim_ascii().to_vec()],
        Piece::New(raws, _) => raws,
    });
    vec![wrapped("$set", &wrapped("messages", &array(raws)))]
}
