//! Model requests recorded in a log, without duplicates, with their token usage.

use super::request::token_figures::Figures;
use super::{claude_code, codex, native};
use crate::model::header::member;
use crate::model::json;
use crate::model::message::{Message, Role};
use crate::model::session::Session;

/// A request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedRequest {
    /// Identifies copies of the request in any log.
    pub key: String,
    /// RFC 3339.
    pub time: Option<String>,
    /// The model; empty if it is not recorded.
    pub model: String,
    /// Token usage.
    pub figures: Figures,
    /// Tokens written to a cache with a lifetime of one hour.
    pub written_1h: u64,
    /// Recorded cost in dollars.
    pub cost: Option<f64>,
    /// The line of its message; 0 if no message has the usage.
    pub line: usize,
    /// Whether the usage is estimated.
    pub estimated: bool,
}

/// Ids of at least this length are globally unique.
const UNIQUE: usize = 16;

/// The model name of messages that were not written by a model.
const SYNTHETIC: &str = "<synthetic>";

/// The requests of a session, in order, including those of hidden messages.
pub fn requests(session: &Session) -> Vec<RecordedRequest> {
    let id = session.header_text("id").unwrap_or_default();
    let mut found = Vec::new();
    let mut own = RequestKey { session: &id, nth: 0 };
    for (index, _) in session.messages() {
        let record = session.record(index);
        let Some(message) = record.message() else { continue };
        let Some(usage) = json::member(record.body, "usage").filter(|raw| raw.starts_with(b"{")) else {
            continue;
        };
        let name = message.id();
        let key = claude_code::request_id(message)
            .or_else(|| name.filter(|id| id.len() >= UNIQUE).map(String::from));
        let time = message.timestamp().map(String::from);
        let text = |raw: Option<&[u8]>| raw.and_then(json::text).unwrap_or_default().into_owned();
        let request = own.request(key, time, text(json::member(record.body, "model")), usage);
        found.extend(request.map(|request| RecordedRequest {
            line: index,
            ..request
        }));
    }
    // A log that only has totals has no message with usage.
    if found.is_empty() && native::source_format(session).as_deref() == Some("codex") {
        for (time, model, usage) in codex::totals(session) {
            found.extend(own.request(None, time, model, &usage));
        }
    }
    found
}

/// Estimated requests of a session that records none: one for each assistant message, with all previous messages as
/// input. `tokens` counts the tokens of a message.
pub fn estimated(session: &Session, tokens: impl Fn(&Message<'_>) -> u64) -> Vec<RecordedRequest> {
    let id = session.header_text("id").unwrap_or_default();
    let model = {
        let header = session.header();
        let metadata = member(header, "metadata");
        metadata.and_then(|raw| Some(json::member_text(raw, "model")?.into_owned()))
    };
    let mut found = Vec::new();
    let mut before = 0;
    for (line, _) in session.messages() {
        let record = session.record(line);
        let Some(message) = record.message() else { continue };
        let tokens = tokens(message);
        if message.role() == Role::Assistant {
            let own = json::member_string(record.body, "model");
            found.push(RecordedRequest {
                key: match message.id().filter(|id| id.len() >= UNIQUE) {
                    Some(id) => id.into_owned(),
                    None => format!("{id} {}", found.len()),
                },
                time: message.timestamp().map(String::from),
                model: own.or_else(|| model.clone()).unwrap_or_default(),
                figures: Figures {
                    input: before,
                    output: tokens,
                    ..Figures::default()
                },
                line,
                estimated: true,
                ..RecordedRequest::default()
            });
        }
        before += tokens;
    }
    found
}

/// Identifies requests without globally unique ids.
struct RequestKey<'s> {
    session: &'s str,
    nth: usize,
}

impl RequestKey<'_> {
    fn request(
        &mut self,
        key: Option<String>,
        time: Option<String>,
        model: String,
        usage: &[u8],
    ) -> Option<RecordedRequest> {
        let figures = Figures::of(usage)?;
        self.nth += 1;
        if model == SYNTHETIC {
            return None;
        }
        let cost = json::member(usage, "cost");
        let cost = cost.and_then(|raw| json::member(raw, "total").or(Some(raw)));
        let written = json::member(usage, "cache_creation");
        let written = written.and_then(|raw| json::member(raw, "ephemeral_1h_input_tokens"));
        Some(RecordedRequest {
            key: key.unwrap_or_else(|| format!("{} {} {figures:?}", self.session, self.nth)),
            time,
            model,
            figures,
            written_1h: written.and_then(json::number).unwrap_or(0.0) as u64,
            cost: cost
                .and_then(json::number::<f64>)
                .filter(|cost| cost.is_finite() && *cost > 0.0),
            ..RecordedRequest::default()
        })
    }
}
