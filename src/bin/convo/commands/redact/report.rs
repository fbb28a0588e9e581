//! Findings, without their values.

use crate::context::Context;
use crate::output::counted;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use convo::error::Kind;
use convo::filter::redact::{Finding, Outcome, Redactor};
use convo::model::message::Message;
use convo::model::record::{Kind as RecordKind, Record};
use std::collections::BTreeMap;

const COLUMNS: [Column; 6] = [
    Column::text("LEVEL"),
    Column::text("KIND"),
    Column::rest("WHERE"),
    Column::text("IN"),
    Column::number("LENGTH"),
    Column::text("HASH"),
];

/// Findings in the inputs so far.
pub struct Report {
    json: bool,
    rows: Vec<Row>,
}

struct Row {
    input: String,
    line: u64,
    id: Option<String>,
    place: String,
    finding: Finding,
}

impl Report {
    pub fn new(json: bool) -> Report {
        Report {
            json,
            rows: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds the findings of a line; `line` is the text before redaction.
    pub fn add(&mut self, input: &str, number: u64, line: &[u8], outcome: Outcome) {
        if outcome.findings.is_empty() {
            return;
        }
        let record = Record::parse(
            line,
            convo::error::Place {
                line: number,
                offset: 1,
            },
        );
        let message = match &record.kind {
            RecordKind::Message(message) => Some(message),
            _ => None,
        };
        let id = message.and_then(Message::id).map(|id| id.into_owned());
        let place = message.map_or(String::new(), place);
        // In a document, the line of a finding is not that of its beginning; the pointer gives its place.
        self.rows.extend(outcome.findings.into_iter().map(|finding| Row {
            input: input.to_string(),
            line: number,
            id: id.clone(),
            place: place.clone(),
            finding,
        }));
    }

    /// Prints the findings; status 1 when there is one.
    pub fn print(self, context: &Context) -> anyhow::Result<()> {
        if !self.rows.is_empty() {
            context.output.note_status(Kind::No);
        }
        if self.json {
            return context.output.rows(false, self.rows.iter().map(Row::object));
        }
        if context.output.is_quiet() {
            return Ok(());
        }
        let times = Times::new(crate::args::TimeOptions::default(), &context.clock);
        let rows = self.rows.into_iter().map(Row::cells);
        Table::new(&COLUMNS, &times).print(&context.output, rows)
    }

    /// Reports the number of replacements by kind.
    pub fn tell(&self, context: &Context, label: &str, redactor: &Redactor) {
        let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
        for row in &self.rows {
            *kinds.entry(row.finding.secret.kind).or_default() += 1;
        }
        let mut parts: Vec<String> = kinds
            .iter()
            .map(|(kind, count)| format!("{kind} ({count})"))
            .collect();
        let what = match parts.is_empty() {
            true => "found nothing to redact".to_string(),
            false => format!("redacted {}", parts.join(", ")),
        };
        parts.clear();
        if redactor.signed() > 0 {
            parts.push(format!("dropped {}", counted(redactor.signed(), "signed part")));
        }
        if redactor.opaque() > 0 {
            parts.push(format!(
                "could not read {}",
                counted(redactor.opaque(), "encrypted part")
            ));
        }
        parts.insert(0, what);
        context.output.tell(label, &parts.join("; "));
    }
}

/// The tool or role that a message is of.
fn place(message: &Message<'_>) -> String {
    let role = message.role_name();
    let tool = message.name.and_then(convo::model::json::text);
    match tool {
        Some(tool) if role == "tool" => format!("tool {tool}"),
        _ => role.into_owned(),
    }
}

impl Row {
    fn cells(self) -> Vec<Cell> {
        let secret = &self.finding.secret;
        // The hash of what can be guessed would confirm a guess.
        let hash = if secret.is_guessable() {
            "-"
        } else {
            &secret.sha256[..8]
        };
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
        let hash = (!secret.is_guessable()).then_some(&secret.sha256);
        serde_json::json!({
            "schema": "convo.redact/1", "input": self.input, "line": self.line, "id": self.id,
            "pointer": self.finding.pointer, "start": self.finding.range.start, "end": self.finding.range.end,
            "kind": secret.kind, "level": secret.level.name(), "length": secret.length, "sha256": hash,
            "layers": secret.layers,
        })
        .to_string()
    }
}
