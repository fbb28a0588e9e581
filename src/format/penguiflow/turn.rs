//! A PenguiFlow turn: user message, answer, and a digest of the tool calls between them.

use super::{digest, python};
use crate::error::{Error, Position, Result};
use crate::format::report::Report;
use crate::model::json::{self, Dialect, ObjectBuilder, push_text, quoted};
use crate::model::message::{Message, Role};
use crate::model::named_enum::named_enum;
use crate::model::record::Record;
use crate::model::scope::float_text;
use crate::model::time;
use std::borrow::Cow;

named_enum! {
    /// Position of a turn in a memory, oldest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum TurnZone {
        /// Waits for a summary until the memory recovers.
        Backlog = "backlog",
        /// Waits for a summary.
        Pending = "pending",
        /// Kept in full.
        Turns = "turns",
    }
}

/// The members of a turn, in file order.
const MEMBERS: [&str; 6] = [
    "user_message", "assistant_response", "trajectory_digest", "artifacts_shown", "artifacts_hidden_refs",
    "ts",
];

/// A turn and its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PenguiflowTurn {
    /// The user message, as a JSON string.
    pub user: Vec<u8>,
    /// The answer, as a JSON string.
    pub answer: Vec<u8>,
    /// The digest of tool calls, an object.
    pub digest: Option<Vec<u8>>,
    /// Its zone; `None` if it was not read from a memory.
    pub zone: Option<TurnZone>,
    /// Whether it has an answer.
    pub is_answered: bool,
    /// The content of `metadata.penguiflow`.
    noted: Vec<u8>,
    ts: Vec<u8>,
}

/// The `metadata.penguiflow` of a message.
pub(super) fn noted<'a>(message: &Message<'a>) -> Option<&'a [u8]> {
    json::member(message.metadata?, "penguiflow")
}

/// The artifacts of the turn that ends with a message: names of shown ones, and references to hidden ones.
pub fn artifacts(message: &Message<'_>) -> Vec<String> {
    let Some(noted) = noted(message) else {
        return Vec::new();
    };
    let shown = json::member(noted, MEMBERS[3]).and_then(|raw| json::members(raw, Dialect::Strict));
    let hidden = json::member(noted, MEMBERS[4]).and_then(|raw| json::elements(raw, Dialect::Strict));
    let text = |raw: &[u8]| match json::text(raw) {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(raw).into_owned(),
    };
    let shown = shown.unwrap_or_default().into_iter();
    let shown = shown.map(|(name, raw)| format!("(artifact {name}) {}", text(raw)));
    let hidden = hidden.unwrap_or_default().into_iter();
    shown
        .chain(hidden.map(|raw| format!("(hidden artifact) {}", text(raw))))
        .collect()
}

/// The zone in a message's metadata, which marks the end of a turn.
pub(super) fn zone(message: &Message<'_>) -> Option<TurnZone> {
    json::member_text(noted(message)?, "zone").and_then(|name| TurnZone::from_name(&name))
}

/// A message's text as a JSON string; unchanged if it is one.
fn message_text(message: &Message<'_>) -> Vec<u8> {
    match message.content {
        Some(content) if content.first() == Some(&b'"') => content.to_vec(),
        _ => quoted(&message.text()),
    }
}

impl PenguiflowTurn {
    /// Builds a turn from messages.
    pub fn of(messages: &[Message<'_>]) -> PenguiflowTurn {
        let by = |role: Role| messages.iter().filter(move |message| message.role() == role);
        let mut users = by(Role::User);
        let user = match (users.next(), users.next()) {
            (None, _) => quoted(""),
            (Some(one), None) => message_text(one),
            _ => {
                let texts: Vec<_> = by(Role::User).map(|message| message.text()).collect();
                quoted(&texts.join("\n\n"))
            }
        };
        let answer = by(Role::Assistant)
            .rev()
            .find(|message| !message.text().is_empty());
        let noted = messages.iter().rev().find_map(noted);
        let recorded = noted.and_then(|noted| json::member(noted, "trajectory_digest"));
        let zone = messages.iter().rev().find_map(zone);
        let ts = noted.and_then(|noted| json::member(noted, "ts"));
        PenguiflowTurn {
            user,
            answer: answer.map_or_else(|| quoted(""), message_text),
            digest: match (recorded, zone) {
                (Some(recorded), _) => (recorded != b"null").then(|| recorded.to_vec()),
                (None, Some(_)) => None,
                (None, None) => digest::of(messages),
            },
            zone,
            is_answered: zone.is_some() || answer.is_some(),
            noted: noted.unwrap_or(b"{}").to_vec(),
            ts: match ts {
                Some(raw) => raw.to_vec(),
                None => {
                    let time = messages.iter().rev().find_map(Message::timestamp);
                    let seconds = time.and_then(|time| time::epoch(&time)).unwrap_or(0.0);
                    float_text(seconds).into_bytes()
                }
            },
        }
    }

    /// Appends the turn as in a document: unchanged if it was read from one, else in Python's encoding.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self.unchanged_turn() {
            Some(raw) => out.extend_from_slice(raw.as_bytes()),
            None => self.encode(out),
        }
    }

    /// The original turn, if its messages are unchanged.
    fn unchanged_turn(&self) -> Option<Cow<'_, str>> {
        let raw = json::member_text(&self.noted, "raw")?;
        let read = TurnMembers::of(raw.as_bytes())?;
        (read.user == self.user && read.answer == self.answer).then_some(raw)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let noted = |name: &str| json::member(&self.noted, name);
        let values = [
            &self.user[..],
            &self.answer,
            self.digest.as_deref().unwrap_or(b"null"),
            noted(MEMBERS[3]).unwrap_or(b"{}"),
            noted(MEMBERS[4]).unwrap_or(b"[]"),
            &self.ts,
        ];
        out.push(b'{');
        for (nth, (name, value)) in MEMBERS.iter().zip(values).enumerate() {
            if nth > 0 {
                out.extend_from_slice(b", ");
            }
            push_text(out, name);
            out.extend_from_slice(b": ");
            python::push(out, value);
        }
        let others = noted("members").and_then(|raw| json::members(raw, Dialect::Strict));
        for (name, value) in others.unwrap_or_default() {
            out.extend_from_slice(b", ");
            push_text(out, &name);
            out.extend_from_slice(b": ");
            python::push(out, value);
        }
        out.push(b'}');
    }

    /// The turn as a model receives it.
    pub fn shown(&self, digests: bool) -> Vec<u8> {
        let mut out = b"{\"user\": ".to_vec();
        python::push(&mut out, &self.user);
        out.extend_from_slice(b", \"assistant\": ");
        python::push(&mut out, &self.answer);
        if let Some(digest) = self.digest.as_ref().filter(|_| digests) {
            out.extend_from_slice(b", \"trajectory_digest\": ");
            python::push(&mut out, digest);
        }
        out.push(b'}');
        out
    }

    /// The turn with sorted members, as a summarizer receives it and as its tokens are counted.
    pub fn sorted(&self, digests: bool) -> Vec<u8> {
        let mut out = b"{\"assistant\": ".to_vec();
        python::push(&mut out, &self.answer);
        if let Some(digest) = self.digest.as_ref().filter(|_| digests) {
            out.extend_from_slice(b", \"trajectory_digest\": ");
            python::push_sorted(&mut out, digest);
        }
        out.extend_from_slice(b", \"user\": ");
        python::push(&mut out, &self.user);
        out.push(b'}');
        out
    }
}

/// The parsed members of a turn.
struct TurnMembers<'a> {
    user: Vec<u8>,
    answer: Vec<u8>,
    /// Members that should be strings but are not.
    untexted: Vec<&'static str>,
    members: Vec<(Cow<'a, str>, &'a [u8])>,
}

impl<'a> TurnMembers<'a> {
    fn of(raw: &'a [u8]) -> Option<TurnMembers<'a>> {
        let members = json::members(raw, Dialect::Python)?;
        let mut untexted = Vec::new();
        let mut text = |name: &'static str| match value(&members, name) {
            None => quoted(""),
            Some(raw) if raw.first() == Some(&b'"') => raw.to_vec(),
            Some(raw) => {
                untexted.push(name);
                quoted(&String::from_utf8_lossy(&json::compact(raw).0))
            }
        };
        Some(TurnMembers {
            user: text(MEMBERS[0]),
            answer: text(MEMBERS[1]),
            untexted,
            members,
        })
    }
}

/// A member that is present and not null.
fn value<'a>(members: &[(Cow<'_, str>, &'a [u8])], name: &str) -> Option<&'a [u8]> {
    let found = members.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| *value).filter(|value| *value != b"null")
}

/// The seconds of a `ts`, and whether it was a string.
fn seconds(raw: &[u8]) -> Option<(f64, bool)> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match raw.first()? {
        b'"' => Some((number(&json::text(raw)?)?, true)),
        b'-' | b'0'..=b'9' => Some((number(std::str::from_utf8(raw).ok()?)?, false)),
        b'N' => Some((f64::NAN, false)),
        b'I' => Some((f64::INFINITY, false)),
        _ => None,
    }
}

/// Converts a turn of a document to messages. `path` is its path in the document.
///
/// # Errors
///
/// For turns that PenguiFlow would reject, with the path of the member.
pub(super) fn lines(
    raw: &[u8],
    zone: TurnZone,
    path: &str,
    place: Position,
    report: &mut Report,
) -> Result<[Vec<u8>; 2]> {
    let refused = |path: String, what: &str| Error::data(format!("{path} {what}"));
    let read = TurnMembers::of(raw).ok_or_else(|| refused(path.to_string(), "is not an object"))?;
    for name in &read.untexted {
        report.damage(
            place,
            format!("{path}.{name} is not a string; read as text, kept unchanged"),
        );
    }
    if value(&read.members, MEMBERS[0]).is_none()
        && value(&read.members, MEMBERS[1]).is_none()
        && !read.members.is_empty()
    {
        report.damage(
            place,
            format!("{path} has neither {} nor {}", MEMBERS[0], MEMBERS[1]),
        );
    }
    let digest = value(&read.members, MEMBERS[2]);
    if digest.is_some_and(|raw| raw.first() != Some(&b'{')) {
        return Err(refused(format!("{path}.{}", MEMBERS[2]), "is not an object"));
    }
    let ts = value(&read.members, MEMBERS[5]).unwrap_or(b"0.0");
    let Some((time, as_text)) = seconds(ts) else {
        return Err(refused(format!("{path}.ts"), "is not a number"));
    };
    if as_text {
        report.damage(place, format!("{path}.ts is a number in quotes; kept unchanged"));
    }
    let mut own = ObjectBuilder::default();
    own.text("zone", zone.name()).raw("ts", number_of(time));
    if let Some(digest) = digest {
        own.raw(MEMBERS[2], digest::filled(digest));
        for name in digest::untexted(digest) {
            let path = format!("{path}.{}.{name}", MEMBERS[2]);
            report.damage(place, format!("{path} is not a string; kept unchanged"));
        }
    }
    for (name, opens, empty) in [(MEMBERS[3], b'{', &b"{}"[..]), (MEMBERS[4], b'[', b"[]")] {
        let Some(raw) = value(&read.members, name) else {
            continue;
        };
        if raw.first() != Some(&opens) {
            if opens == b'{' && !python::is_false(raw) {
                return Err(refused(format!("{path}.{name}"), "is not an object"));
            }
            report.damage(place, format!("{path}.{name} is of another type; kept unchanged"));
        }
        let raw = json::compact(raw).0;
        if raw != empty {
            own.raw(name, raw);
        }
    }
    let mut others = ObjectBuilder::default();
    for (name, raw) in &read.members {
        if !MEMBERS.contains(&name.as_ref()) {
            others.raw(name, json::compact(raw).0);
        }
    }
    own.members("members", others);
    let own = own.finish();
    let time = time::from_epoch(time).filter(|_| time != 0.0);
    let pair = messages(&read, &own, time.as_deref());
    // Keep the original text if it cannot be restored.
    let mut again = Vec::new();
    turn(&pair).encode(&mut again);
    if again == raw {
        return Ok(pair);
    }
    let kept = quoted(&String::from_utf8_lossy(raw));
    let own = json::with_members(&own, &[("raw", Some(&kept))]).unwrap_or(own);
    Ok(messages(&read, &own, time.as_deref()))
}

/// A number that JSON cannot represent is only kept in the original text.
fn number_of(seconds: f64) -> Vec<u8> {
    let seconds = if seconds.is_finite() { seconds } else { 0.0 };
    float_text(seconds).into_bytes()
}

fn messages(read: &TurnMembers<'_>, own: &[u8], time: Option<&str>) -> [Vec<u8>; 2] {
    let line = |role: &str, content: &[u8], own: Option<&[u8]>| {
        let mut message = ObjectBuilder::default();
        message.text("role", role).raw("content", content);
        if let Some(time) = time {
            message.text("timestamp", time);
        }
        if let Some(own) = own {
            message.raw("metadata", [br#"{"penguiflow":"#, own, b"}"].concat());
        }
        message.finish()
    };
    [
        line("user", &read.user, None),
        line("assistant", &read.answer, Some(own)),
    ]
}

/// The turn of these lines.
pub(super) fn turn(lines: &[Vec<u8>]) -> PenguiflowTurn {
    let place = Position { line: 1, offset: 1 };
    let records: Vec<Record<'_>> = lines.iter().map(|line| Record::parse(line, place)).collect();
    let messages: Vec<Message<'_>> = records
        .iter()
        .filter_map(|record| record.message().copied())
        .collect();
    PenguiflowTurn::of(&messages)
}
