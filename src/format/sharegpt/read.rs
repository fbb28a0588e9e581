//! Converts a record to a session.

use super::call::Calls;
use super::record::{Record, Spelling};
use super::{KINDS, NAME, spell, turn};
use crate::format::collection::Item;
use crate::format::content;
use crate::format::kit::records::passthrough;
use crate::format::native::HeaderBuilder;
use crate::format::report::Report;
use crate::format::request::Api;
use crate::format::request::draft::Draft;
use crate::format::request::piece::rest_object;
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::Session;

/// The session of a record; `None` if the value is not one.
pub fn sessions(item: &Item<'_>, report: &mut Report) -> Option<Vec<Session>> {
    let record = Record::of(item.bytes)?;
    let mut session = Session::default();
    session.push_new(&header(item, &record));
    if let Some(system) = record.system {
        let mut draft = Draft::new("system");
        draft
            .raw("content", system)
            .metadata(NAME, Some(br#"{"system":true}"#.to_vec()));
        item.push(&mut session, draft.body(Api::OpenaiChat));
    }
    let mut calls = Calls::of(item.number);
    let mut told = Report::default();
    for (nth, raw) in record.turns.iter().enumerate() {
        let line = line(raw, record.spelling, &mut calls, &mut told);
        let fault = match line {
            Some(_) if json::member(raw, "value").is_some() => None,
            Some(_) => content::fault(raw, &["tool_calls", "tool_call_id", "function_call"]),
            None => Some("no sender; kept unchanged".to_string()),
        };
        if let Some(fault) = fault {
            told.damage(item.place, format!("turn {}: {fault}", nth + 1));
        }
        item.push(
            &mut session,
            line.unwrap_or_else(|| passthrough(KINDS.format.name(), raw)),
        );
    }
    for name in ["chosen", "rejected"] {
        if record.members.get(name).is_some() {
            let what = format!("'{name}' is an alternative reply; kept in the metadata");
            report.note(item.place, what);
        }
    }
    for mut finding in told.findings {
        finding.place = item.place;
        report.findings.push(finding);
    }
    for (loss, times) in told.losses {
        report.lose(loss, times);
    }
    Some(vec![session])
}

/// The line for a turn; `None` if it has no sender.
fn line(raw: &[u8], spelling: Spelling, calls: &mut Calls, report: &mut Report) -> Option<Vec<u8>> {
    let mut turn = turn::draft(raw, spelling, calls, report)?;
    let body = turn::body(turn.clone());
    let again = spell::alone(&body, spelling);
    if again.is_some_and(|again| json::same(&again, raw)) {
        return Some(body);
    }
    turn.own.raw("raw", raw);
    Some(turn::body(turn))
}

fn header(item: &Item<'_>, record: &Record<'_>) -> Vec<u8> {
    let id = record
        .members
        .get("id")
        .filter(|raw| !matches!(raw[0], b'{' | b'['));
    let id = id.filter(|raw| *raw != b"null").map(|raw| match json::text(raw) {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(raw).into_owned(),
    });
    let name = id.filter(|id| !id.is_empty()).unwrap_or_else(|| item.name());
    let mut metadata = ObjectBuilder::default();
    if let Some(tools) = record.tools {
        metadata.raw("tools", tools);
    }
    let mut own = ObjectBuilder::default();
    own.text(
        "form",
        match record.spelling {
            Spelling::Turns => "turns",
            Spelling::Parts => "parts",
        },
    );
    if let Some(rest) = rest_object(item.bytes, &record.told()) {
        own.raw("members", rest);
    }
    metadata.raw(NAME, own.finish());
    item.header(&name, HeaderBuilder::default(), metadata)
}
