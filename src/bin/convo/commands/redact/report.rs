//! Reports findings without their values.

use crate::context::Context;
use crate::output::count_of;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use convo::error::ErrorKind;
use convo::filter::redact::{Redactor, RedactorOptions, SecretFinding};
use convo::model::json;
use convo::model::message::Message;
use convo::model::record::{Record, RecordKind};
use std::collections::BTreeMap;

const COLUMNS: [Column; 6] = [
    Column::text("LEVEL"),
    Column::text("KIND"),
    Column::rest("WHERE"),
    Column::text("IN"),
    Column::number("LENGTH"),
    Column::text("HASH"),
];

const PLAN: [Column; 3] = [
    Column::rest("FILE"),
    Column::number("LINES"),
    Column::text("FINDINGS"),
];

/// Findings in the inputs so far.
#[derive(Default)]
pub struct RedactionReport {
    rows: Vec<FindingRow>,
    /// The id of the session that contains the lines, if they name it.
    session: Option<String>,
}

struct FindingRow {
    input: String,
    session: Option<String>,
    line: u64,
    id: Option<String>,
    place: String,
    finding: SecretFinding,
}

impl RedactionReport {
    /// Adds the findings of a line; `line` is the text before redaction.
    pub fn add(&mut self, input: &str, number: u64, line: &[u8], findings: Vec<SecretFinding>) {
        if number == 1 || line.starts_with(SESSION) {
            self.session = session(line).or(self.session.take());
        }
        if findings.is_empty() {
            return;
        }
        let record = Record::parse(
            line,
            convo::error::Position {
                line: number,
                offset: 1,
            },
        );
        let message = match &record.kind {
            RecordKind::Message(message) => Some(message),
            _ => None,
        };
        let id = message.and_then(Message::id).map(|id| id.into_owned());
        let place = message.map_or_else(|| role_in_format(line), message_location);
        let session = self.session.clone().or_else(|| text(line, "sessionId"));
        // In a document, only the first line number is known; the pointer gives the position.
        self.rows.extend(findings.into_iter().map(|finding| FindingRow {
            input: input.to_string(),
            session: session.clone(),
            line: number,
            id: id.clone(),
            place: place.clone(),
            finding,
        }));
    }

    /// Adds the findings of another input.
    pub fn extend(&mut self, other: RedactionReport) {
        self.rows.extend(other.rows);
    }

    /// Counts the findings by kind in these inputs.
    pub fn kinds(&self, is_of: impl Fn(&str) -> bool) -> BTreeMap<&'static str, u64> {
        kinds(self.rows.iter().filter(|row| is_of(&row.input)))
    }

    /// Prints each file that would change, with its number of changed lines and kinds of findings.
    pub fn print_plan(self, context: &Context) -> anyhow::Result<()> {
        let times = Times::new(crate::args::TimeOptions::default(), &context.clock);
        let rows = self
            .rows
            .chunk_by(|one, next| one.input == next.input)
            .map(|rows| {
                let lines = rows.chunk_by(|one, next| one.line == next.line).count();
                vec![
                    Cell::Text(rows[0].input.clone()),
                    Cell::Number(Some(lines as u64)),
                    Cell::Text(describe_kinds(&kinds(rows))),
                ]
            });
        Table::new(&PLAN, &times).print(&context.output, rows)
    }

    /// Prints the findings; the status is 1 if there are any.
    pub fn print(self, context: &Context, json: bool) -> anyhow::Result<()> {
        if !self.rows.is_empty() {
            context.output.note_status(ErrorKind::No);
        }
        if json {
            return context
                .output
                .rows(false, self.rows.iter().map(FindingRow::object));
        }
        if context.output.is_quiet() {
            return Ok(());
        }
        let times = Times::new(crate::args::TimeOptions::default(), &context.clock);
        let rows = self.rows.into_iter().map(FindingRow::cells);
        Table::new(&COLUMNS, &times).print(&context.output, rows)
    }

    /// Summarizes the report: replacements by kind, and signed and encrypted parts.
    pub fn words(&self, redactor: &Redactor, options: &RedactorOptions) -> String {
        let mut words = match describe_kinds(&kinds(&self.rows)) {
            kinds if kinds.is_empty() => "found nothing to redact".to_string(),
            kinds => format!("redacted {kinds}"),
        };
        let mut add = |verb: &str, count: u64, what: &str| {
            if count > 0 {
                words.push_str(&format!("; {verb} {}", count_of(count, what)));
            }
        };
        add("dropped", redactor.signed(), "signed part");
        let opaque = if options.drop_opaque {
            "dropped"
        } else {
            "could not read"
        };
        add(opaque, redactor.opaque(), "encrypted part");
        words
    }
}

fn kinds<'r>(rows: impl IntoIterator<Item = &'r FindingRow>) -> BTreeMap<&'static str, u64> {
    let mut kinds = BTreeMap::new();
    for row in rows {
        *kinds.entry(row.finding.secret.kind).or_default() += 1;
    }
    kinds
}

fn describe_kinds(kinds: &BTreeMap<&str, u64>) -> String {
    let parts: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| format!("{kind} ({count})"))
        .collect();
    parts.join(", ")
}

/// The first bytes of a session in a record stream.
const SESSION: &[u8] = b"{\"type\":\"session\"";

fn text(line: &[u8], name: &str) -> Option<String> {
    json::member_string(line, name)
}

/// The id of the session that starts at this line.
fn session(line: &[u8]) -> Option<String> {
    match text(line, "type").as_deref() {
        Some("session") => text(line, "id"),
        Some("session_meta") => text(json::member(line, "payload")?, "id"),
        _ => None,
    }
}

/// The role of a message in another format.
fn role_in_format(line: &[u8]) -> String {
    let role = |name| json::member(line, name).and_then(|inner| text(inner, "role"));
    role("message").or_else(|| role("payload")).unwrap_or_default()
}

/// The tool or role of a message.
fn message_location(message: &Message<'_>) -> String {
    let role = message.role_name();
    let tool = message.name.and_then(convo::model::json::text);
    match tool {
        Some(tool) if role == "tool" => format!("tool {tool}"),
        _ => role.into_owned(),
    }
}

impl FindingRow {
    fn cells(self) -> Vec<Cell> {
        let secret = &self.finding.secret;
        let hash = secret.sha256.as_deref().map_or("-", |hash| &hash[..8]);
        vec![
            Cell::Text(secret.level.name().to_string()),
            Cell::Text(secret.kind.to_string()),
            Cell::Text(format!("{}:{}", self.input, self.line)),
            Cell::Text(if self.place.is_empty() {
                "-".to_string()
            } else {
                self.place
            }),
            Cell::Number(Some(secret.length as u64)),
            Cell::Text(hash.to_string()),
        ]
    }

    fn object(&self) -> String {
        let secret = &self.finding.secret;
        serde_json::json!({
            "schema": "convo.redact/1", "input": self.input, "session": self.session, "line": self.line, "id": self.id,
            "pointer": self.finding.pointer, "start": self.finding.range.start, "end": self.finding.range.end,
            "kind": secret.kind, "level": secret.level.name(), "length": secret.length, "sha256": secret.sha256,
            "layers": secret.layers,
        })
        .to_string()
    }
}
