//! Reads a PenguiFlow document as a session.

use super::super::native::{self, HeaderBuilder};
use super::super::{DocumentSource, Format};
use super::turn::{self, TurnZone};
use super::{EXTRA_MEMBER, config};
use crate::error::{Error, Position, Result};
use crate::format::report::Report;
use crate::model::event;
use crate::model::health::{Health, HealthState};
use crate::model::json::{self, ArrayElements, Dialect, JsonError, Members, ObjectBuilder, quoted};
use crate::model::key;
use crate::model::record::without_mark;
use crate::model::retention::RetentionPolicy;
use crate::model::session::Session;
use std::borrow::Cow;

/// The author of summaries and attempts in a document.
pub(super) const BY: &str = "penguiflow";

/// The id of an attempt of which a document has no details.
pub(super) const BASE_ATTEMPT: &str = "evt_penguiflow";

/// A member: its value and its offset in the document.
#[derive(Clone, Copy)]
struct StateMember<'a> {
    raw: &'a [u8],
    at: usize,
}

fn refused(what: impl Into<String>) -> Error {
    Error::data(what)
}

/// Reads a document into one session.
///
/// # Errors
///
/// For documents that PenguiFlow would reject, with the path of the member.
pub fn read(source: &DocumentSource<'_>, report: &mut Report) -> Result<Vec<Session>> {
    // An empty input is a new, empty memory.
    let source = match source.bytes.trim_ascii() {
        b"" => &DocumentSource {
            bytes: &empty_memory(),
            ..*source
        },
        _ => source,
    };
    let bytes = without_mark(source.bytes);
    let mark = source.bytes.len() - bytes.len();
    let place = |at: usize| Position {
        line: 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64,
        offset: (mark + at) as u64,
    };
    if mark > 0 {
        report.damage(Position { line: 1, offset: 0 }, "byte order mark");
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        let at = place(error.valid_up_to());
        return Err(refused("not UTF-8").at("", at));
    }
    let members = members(bytes).map_err(|fault| refused(fault.what).at("", place(fault.offset)))?;
    let member = |name: &str| {
        let found = members.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| *value)
            .filter(|value| value.raw != b"null")
    };
    let version = member("version");
    if !version.is_some_and(|version| is_one(version.raw)) {
        let what = match version {
            Some(version) => format!("version is {}, expected 1", excerpt(version.raw)),
            None => "missing version".to_string(),
        };
        return Err(refused(what).at("", place(version.map_or(0, |version| version.at))));
    }
    let health = member("health");
    let state = health
        .and_then(|health| json::text(health.raw))
        .and_then(|name| HealthState::from_name(&name));
    let Some(state) = state else {
        let names = HealthState::ALL.map(HealthState::name).join(", ");
        let what = match health {
            Some(health) => format!("health is {}, expected one of {names}", excerpt(health.raw)),
            None => "missing health".to_string(),
        };
        let error = refused(what).at("", place(health.map_or(0, |health| health.at)));
        return Err(match member("etag").or(member("schema_version")) {
            Some(_) => error.hint("a key-value record of PenguiFlow, not a memory"),
            None => error,
        });
    };

    let mut turns: Vec<Vec<u8>> = Vec::new();
    for zone in TurnZone::ALL {
        let Some(list) = member(zone.name()) else { continue };
        if list.raw == b"\"\"" {
            report.damage(place(list.at), format!("{} is a string; no turns", zone.name()));
            continue;
        }
        let mut elements = match list.raw.first() {
            Some(b'[') => ArrayElements::new(list.raw, Dialect::Python).ok(),
            _ => None,
        }
        .ok_or_else(|| refused(format!("{} is not a list", zone.name())).at("", place(list.at)))?;
        let mut nth = 0;
        // Count lines once, not once per turn.
        let mut counted = (0, place(list.at).line);
        while let Ok(Some((offset, raw))) = elements.next() {
            counted.1 += list.raw[counted.0..offset]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count() as u64;
            counted.0 = offset;
            let place = Position {
                line: counted.1,
                offset: (mark + list.at + offset) as u64,
            };
            let path = format!("{}[{nth}]", zone.name());
            let lines = turn::lines(raw, zone, &path, place, report).map_err(|error| error.at("", place))?;
            turns.extend(lines);
            nth += 1;
        }
    }
    let newest = turns
        .iter()
        .rev()
        .find_map(|line| json::member(line, "timestamp"));
    let at = newest
        .and_then(json::text)
        .map_or(event::EPOCH.to_string(), |time| time.into_owned());
    let attempt = attempt(state, member(EXTRA_MEMBER), member("config_snapshot"), &at);
    let mut session = Session::default();
    session.push_new(&header(source, &members, state, attempt.as_deref()));
    let reported = member("summary").and_then(|value| summary(value, &at, place(value.at), report));
    reported
        .iter()
        .chain(&turns)
        .for_each(|line| session.push_new(line));
    if let Some(attempt) = attempt {
        session.push_new(&attempt);
    }
    let open = member(EXTRA_MEMBER).and_then(|own| json::member(own.raw, "open"));
    for message in json::items(open) {
        if json::member_text(message, "role").is_some() {
            session.push_new(&json::compact(message).0);
        }
    }
    Ok(vec![session])
}

/// An empty memory with the default policy.
fn empty_memory() -> Vec<u8> {
    let snapshot = config::snapshot(&RetentionPolicy::default(), None);
    let mut document = ObjectBuilder::default();
    document
        .raw("version", "1")
        .text("health", HealthState::Healthy.name())
        .raw("turns", "[]")
        .raw("config_snapshot", snapshot);
    let mut document = document.finish();
    document.push(b'\n');
    document
}

/// The members of a document by name.
type DocumentMembers<'a> = Vec<(Cow<'a, str>, StateMember<'a>)>;

/// The members of the document; for a repeated name, the last value at the position of the first.
fn members(bytes: &[u8]) -> std::result::Result<DocumentMembers<'_>, JsonError> {
    let mut scan = Members::new(bytes, Dialect::Python)?;
    let mut all = DocumentMembers::new();
    while let Some(member) = scan.next()? {
        let name = json::unescape(member.key);
        let value = StateMember {
            raw: member.value,
            at: member.end - member.value.len(),
        };
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => all.push((name, value)),
        }
    }
    Ok(all)
}

/// Whether this is the number 1 in any notation.
fn is_one(raw: &[u8]) -> bool {
    let number = matches!(raw.first(), Some(b'-' | b'0'..=b'9'));
    number && std::str::from_utf8(raw).is_ok_and(|text| text.parse() == Ok(1.0))
}

fn excerpt(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).chars().take(40).collect()
}

/// The header, with all data of the document other than turns and summary.
fn header(
    source: &DocumentSource<'_>,
    members: &DocumentMembers<'_>,
    state: HealthState,
    attempt: Option<&[u8]>,
) -> Vec<u8> {
    const KNOWN: [&str; 8] = [
        "version", "health", "summary", "turns", "pending", "backlog", "config_snapshot", EXTRA_MEMBER,
    ];
    let mut own = ObjectBuilder::default();
    own.text("health", state.name());
    own.optional("attempt", attempt.and_then(|attempt| json::member(attempt, "id")));
    let mut others = ObjectBuilder::default();
    for (name, value) in members {
        let raw = json::compact(value.raw).0;
        match name.as_ref() {
            "config_snapshot" => drop(own.raw("config_snapshot", raw)),
            // An unanswered turn becomes messages.
            EXTRA_MEMBER if raw.first() == Some(&b'{') => {
                let rest = json::with_members(&raw, &[("open", None), ("attempt", None)]).unwrap_or(raw);
                if rest != b"{}" {
                    own.raw(EXTRA_MEMBER, rest);
                }
            }
            name if !KNOWN.contains(&name) || name == EXTRA_MEMBER => drop(others.raw(name, raw)),
            // A value that is not a string is kept until there is another summary.
            "summary" if !matches!(raw.first(), Some(b'"' | b'n')) => drop(own.raw("summary", raw)),
            _ => {}
        }
    }
    own.members("members", others);
    if !source.bytes.ends_with(b"\n") {
        own.raw("newline", "false");
    }
    let stem = source.stem(".json");
    let key = match source.name {
        Some(_) if !stem.is_empty() => stem.to_string(),
        _ => key::id_from("session_", source.bytes),
    };
    let id = key::id_for_key(&key);
    let mut built = HeaderBuilder::default();
    built.text("key", (key != id).then_some(key.as_str()));
    built.raw("source", native::source_member(Format::Penguiflow, source, &[]));
    built.raw(
        "metadata",
        [br#"{"penguiflow":"#, own.finish().as_slice(), b"}"].concat(),
    );
    built.finish(&id)
}

/// The last failed attempt, as far as known: PenguiFlow stores neither the number of attempts nor their times.
fn attempt(
    state: HealthState,
    own: Option<StateMember<'_>>,
    snapshot: Option<StateMember<'_>>,
    at: &str,
) -> Option<Vec<u8>> {
    if state == HealthState::Healthy {
        return None;
    }
    let degraded = state != HealthState::Retry;
    let kept = own
        .and_then(|own| json::member(own.raw, "attempt"))
        .map(|raw| json::compact(raw).0)
        .filter(|raw| {
            let health = json::member_text(raw, "health");
            json::member(raw, "type") == Some(b"\"attempt\"")
                && (health.as_deref() == Some("degraded")) == degraded
        });
    if kept.is_some() {
        return kept;
    }
    let attempts = snapshot.and_then(|snapshot| config::memory(snapshot.raw).ok());
    let attempts = attempts.unwrap_or_default().retry_attempts;
    let health = Health {
        failures: if degraded { attempts.saturating_add(1) } else { 1 },
        degraded,
        ..Health::default()
    };
    Some(health.event(BASE_ATTEMPT, at, BY))
}

/// The summary as an event; `None` if it is empty.
fn summary(value: StateMember<'_>, at: &str, place: Position, report: &mut Report) -> Option<Vec<u8>> {
    let content = match value.raw.first() {
        Some(b'"') if value.raw.len() > 2 => value.raw.to_vec(),
        Some(b'"') => return None,
        _ => {
            report.damage(place, "summary is not a string; read as text, kept unchanged");
            quoted(&String::from_utf8_lossy(&json::compact(value.raw).0))
        }
    };
    Some(summary_line(&content, at))
}

/// A `summary` event for this JSON string, without the covered range, which the document does not have.
fn summary_line(content: &[u8], at: &str) -> Vec<u8> {
    let mut event = event::begin("summary", &key::id_from("evt_", content));
    event
        .text("at", at)
        .raw("content", content)
        .raw("here", "true")
        .text("by", BY);
    event.finish()
}
