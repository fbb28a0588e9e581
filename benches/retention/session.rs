//! An invented session, and the facts to search for afterwards.

use crate::chance::{Chance, word};
use convo::model::json;
use convo::model::session::Session;
use jiff::civil::{Date, date};

/// The kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Date,
    RelativeDate,
    Name,
    Number,
    Path,
    Decision,
}

impl Kind {
    pub const ALL: [Kind; 6] = [
        Kind::Date,
        Kind::RelativeDate,
        Kind::Name,
        Kind::Number,
        Kind::Path,
        Kind::Decision,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Date => "dates",
            Kind::RelativeDate => "relative",
            Kind::Name => "names",
            Kind::Number => "numbers",
            Kind::Path => "paths",
            Kind::Decision => "decisions",
        }
    }
}

/// A fact that is stated once and asked for later.
pub struct Fact {
    pub kind: Kind,
    /// Words that must be kept.
    pub text: String,
    /// The text with its date as a summary shows it, if different.
    pub dated: Option<String>,
}

/// An exchange with a tool: the calling message, and the result.
pub struct Call {
    pub caller: String,
    pub result: String,
}

pub struct Made {
    pub lines: Vec<String>,
    pub facts: Vec<Fact>,
    pub calls: Vec<Call>,
    pub chance: Chance,
    /// Number of requested turns.
    turns: usize,
}

impl Made {
    pub fn new(seed: u64, turns: usize) -> Made {
        Made {
            lines: Vec::new(),
            facts: Vec::new(),
            calls: Vec::new(),
            chance: Chance::new(seed.wrapping_mul(8191) ^ turns as u64),
            turns,
        }
    }

    pub fn is_full(&self) -> bool {
        self.lines.len() >= self.turns
    }

    /// The day of the next message; all messages span about fifty days.
    pub fn day(&self) -> Date {
        let first = date(2026, 3, 2);
        let passed = (self.lines.len() * 50 / self.turns.max(1)) as i64;
        first.saturating_add(jiff::Span::new().days(passed))
    }

    /// Adds a message with these members after role, id and time; returns its id.
    fn add(&mut self, role: &str, members: &str) -> String {
        let id = format!("m{}", self.lines.len());
        let line = format!(
            r#"{{"role":"{role}","id":"{id}","timestamp":"{}T{:02}:30:00Z",{members}}}"#,
            self.day(),
            8 + self.lines.len() % 12
        );
        self.lines.push(line);
        id
    }

    pub fn say(&mut self, role: &str, text: &str) {
        self.add(role, &format!(r#""content":{}"#, raw(text)));
    }

    /// Adds a call with its result.
    pub fn call(&mut self, tool: &str, arguments: &str, result: &str) {
        let nth = self.calls.len();
        let calls = format!(
            r#""content":null,"tool_calls":[{{"id":"call_{nth}","type":"function","function":{{"name":"{tool}","arguments":{}}}}}]"#,
            raw(arguments)
        );
        let caller = self.add("assistant", &calls);
        let result = self.add(
            "tool",
            &format!(r#""tool_call_id":"call_{nth}","content":{}"#, raw(result)),
        );
        self.calls.push(Call { caller, result });
    }

    pub fn fact(&mut self, kind: Kind, text: String) {
        self.facts.push(Fact {
            kind,
            text,
            dated: None,
        });
    }

    /// A phrase with a relative date, and the day that it means.
    pub fn relative(&mut self, phrase: &str, days: i64) {
        let meant = self.day().saturating_add(jiff::Span::new().days(days));
        self.facts.push(Fact {
            kind: Kind::RelativeDate,
            text: phrase.to_string(),
            dated: Some(format!("{phrase} [={:02}-{:02}]", meant.month(), meant.day())),
        });
    }

    /// A number of invented words.
    pub fn words(&mut self, number: usize) -> String {
        const JOINTS: [&str; 9] = [
            "the", "a", "and the", "with", "of the", "near", "in that", "or", "by",
        ];
        let mut text = String::new();
        for nth in 0..number {
            if nth > 0 {
                text.push(' ');
            }
            text.push_str(self.chance.one(&JOINTS));
            text.push(' ');
            text.push_str(&word(&mut self.chance, 0));
        }
        text
    }

    /// An invented name.
    pub fn name(&mut self) -> String {
        let word = word(&mut self.chance, 5);
        word[..1].to_uppercase() + &word[1..]
    }

    /// The session, with user messages inserted before line number `at`.
    pub fn session(&self, at: usize, planted: &[String]) -> Session {
        let mut session = Session::default();
        session.push_new(br#"{"type":"session","version":1,"id":"bench"}"#);
        for (nth, line) in self.lines.iter().enumerate() {
            if nth == at {
                for (rule, text) in planted.iter().enumerate() {
                    let day = self.day_of(at);
                    let line = format!(
                        r#"{{"role":"user","id":"rule{rule}","timestamp":"{day}T08:00:00Z","content":{}}}"#,
                        raw(text)
                    );
                    session.push_new(line.as_bytes());
                }
            }
            session.push_new(line.as_bytes());
        }
        session
    }

    /// The lines that identify a call's result.
    pub fn result_lines(&self, call: &Call) -> Vec<String> {
        let at: usize = call.result[1..].parse().unwrap_or_default();
        let content = json::member(self.lines[at].as_bytes(), "content").and_then(json::text);
        let lines = content.as_deref().unwrap_or_default().lines();
        lines
            .map(|line| line.trim().to_string())
            .filter(|line| line.len() > 12)
            .collect()
    }

    fn day_of(&self, line: usize) -> String {
        let raw = json::member(self.lines[line].as_bytes(), "timestamp").and_then(json::text);
        raw.map_or_else(String::new, |time| time[..10].to_string())
    }

    /// The nearest user message at or after this line, so that calls and results are not separated.
    pub fn place(&self, at: usize) -> usize {
        let is_user = |line: &&String| line.starts_with(r#"{"role":"user""#);
        let rest = self.lines[at..].iter().position(|line| is_user(&line));
        rest.map_or(0, |after| at + after)
    }
}

fn raw(text: &str) -> String {
    let mut raw = Vec::new();
    json::push_text(&mut raw, text);
    String::from_utf8_lossy(&raw).into_owned()
}
