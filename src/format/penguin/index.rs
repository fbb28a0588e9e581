//! Builds the session index that Penguin stores in a directory, from the session files alone: one row per file.

use super::member::{values, without};
use super::serialize;
use crate::model::json::{self, Dialect, ObjectBuilder};
use std::collections::HashMap;

/// Strings that a row copies from the session's metadata if they are not blank.
const COPIES: [&str; 9] = [
    "directory", "title_source", "agent_mode", "parentID", "parent_id", "agent_id", "providerID", "modelID",
    "variant",
];

/// Maximum length of a generated title, in characters.
const LONGEST: usize = 40;

/// The row of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PenguinIndexRow {
    name: String,
    /// `created_at` and `last_active`, unchanged.
    times: [Option<Vec<u8>>; 2],
    messages: usize,
    tokens: u64,
    title: String,
    from: Option<String>,
    source_tokens: Option<Vec<u8>>,
    to: Option<String>,
    recovered: Option<Vec<u8>>,
    copies: Vec<(&'static str, String)>,
}

fn words(raw: Option<&[u8]>) -> Option<String> {
    let text = json::text(raw?)?;
    Some(text.trim())
        .filter(|text| !text.is_empty())
        .map(ToString::to_string)
}

impl PenguinIndexRow {
    /// From a file and its name without `.json`; `None` if Penguin would not read it as a session.
    pub fn of(name: &str, document: &[u8]) -> Option<PenguinIndexRow> {
        let document = document.trim_ascii();
        let [created, active, metadata, messages] =
            values(document, ["created_at", "last_active", "metadata", "messages"]);
        let messages = json::elements(messages?, Dialect::Python)?;
        // This checks that the file is a complete object; so far only values were parsed.
        without(document, &[])?;
        let metadata = metadata.unwrap_or(b"{}");
        let [title, from, to, tokens, source, recovered] = values(
            metadata,
            [
                "title", "continued_from", "continued_to", "token_count", "source_session_tokens",
                "recovered_from",
            ],
        );
        let sum = || {
            let tokens = |raw: &&[u8]| json::number(json::member(raw, "tokens")?);
            messages.iter().filter_map(tokens).fold(0, u64::saturating_add)
        };
        let copies = values(metadata, COPIES).into_iter().zip(COPIES);
        Some(PenguinIndexRow {
            name: name.to_string(),
            times: [created, active].map(|raw| raw.map(<[u8]>::to_vec)),
            messages: messages.len(),
            tokens: tokens.and_then(json::number).unwrap_or_else(sum),
            title: words(title)
                .or_else(|| messages.iter().find_map(|raw| title_of(raw)))
                .unwrap_or_else(|| untitled(name)),
            from: words(from),
            source_tokens: source.map(<[u8]>::to_vec),
            to: words(to),
            recovered: recovered.map(<[u8]>::to_vec),
            copies: copies
                .filter_map(|(raw, name)| Some((name, words(raw)?)))
                .collect(),
        })
    }

    fn write(&self, chain: Option<u64>) -> Vec<u8> {
        let mut row = ObjectBuilder::default();
        for (name, time) in ["created_at", "last_active"].iter().zip(&self.times) {
            row.optional(name, time.as_ref());
        }
        row.raw("message_count", self.messages.to_string())
            .raw("token_count", self.tokens.to_string())
            .text("title", &self.title);
        if let Some(from) = &self.from {
            row.text("continued_from", from);
        }
        row.optional("source_session_tokens", self.source_tokens.as_ref());
        if let Some(total) = chain {
            row.raw("total_chain_tokens", total.to_string());
        }
        if let Some(to) = &self.to {
            row.text("continued_to", to);
        }
        row.optional("recovered_from", self.recovered.as_ref());
        for (name, text) in &self.copies {
            row.text(name, text);
        }
        row.finish()
    }
}

/// Penguin's title for a session without one.
fn untitled(name: &str) -> String {
    let last = name.char_indices().rev().nth(7).map_or(0, |(at, _)| at);
    format!("Session {}", &name[last..])
}

/// A title from the first line of a user message.
fn title_of(message: &[u8]) -> Option<String> {
    let [role, content] = values(message, ["role", "content"]);
    if role.and_then(json::text).as_deref() != Some("user") {
        return None;
    }
    let content = content?;
    let text = json::text(content).or_else(|| {
        let parts = json::elements(content, Dialect::Python)?;
        let text = |part| match values(part, ["type", "text"]) {
            [Some(br#""text""#), Some(text)] => json::text(text),
            _ => None,
        };
        parts.into_iter().find_map(text)
    })?;
    let line = text.trim().lines().next()?.trim_end();
    match line.chars().count() {
        0 => None,
        count if count > LONGEST => Some(line.chars().take(LONGEST - 3).collect::<String>() + "..."),
        _ => Some(line.to_string()),
    }
}

/// The index with these rows, sorted by name.
pub fn index(mut rows: Vec<PenguinIndexRow>) -> Vec<u8> {
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    let totals = totals(&rows);
    let mut built = ObjectBuilder::default();
    for (row, total) in rows.iter().zip(totals) {
        built.raw(&row.name, row.write(row.from.as_ref().map(|_| total)));
    }
    let mut out = Vec::new();
    serialize::push(&mut out, &built.finish(), 0);
    out
}

/// For each row, the tokens of its session and all predecessors. A cycle is followed once.
fn totals(rows: &[PenguinIndexRow]) -> Vec<u64> {
    let places: HashMap<&str, usize> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| (row.name.as_str(), at))
        .collect();
    let mut totals: Vec<Option<u64>> = vec![None; rows.len()];
    let mut on_the_way = vec![false; rows.len()];
    for start in 0..rows.len() {
        let mut way = Vec::new();
        let mut next = Some(start);
        let mut total = 0;
        while let Some(at) = next {
            if let Some(known) = totals[at] {
                total = known;
                break;
            }
            if std::mem::replace(&mut on_the_way[at], true) {
                break;
            }
            way.push(at);
            next = rows[at]
                .from
                .as_deref()
                .and_then(|from| places.get(from).copied());
        }
        for at in way.into_iter().rev() {
            total = rows[at].tokens.saturating_add(total);
            totals[at] = Some(total);
            on_the_way[at] = false;
        }
    }
    totals.into_iter().map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, metadata: &str, messages: &str) -> PenguinIndexRow {
        let document =
            format!(r#"{{"id":"x","created_at":"2026","metadata":{metadata},"messages":[{messages}]}}"#);
        PenguinIndexRow::of(name, document.as_bytes()).unwrap()
    }

    #[test]
    fn a_chain_is_totaled_from_its_first_session() {
        let of = |name: &str, from: &str, tokens: u64| {
            let metadata = format!(r#"{{"continued_from":"{from}","token_count":{tokens}}}"#);
            row(name, &metadata, "")
        };
        let rows = [
            of("c", "b", 100),
            of("a", " ", 1),
            of("b", "a", 10),
            of("x", "y", 1),
            of("y", "x", 2),
            of("z", "gone", 5),
        ];
        let text = String::from_utf8(index(rows.to_vec())).unwrap();
        let total = |name: &str| {
            let row = json::member(text.as_bytes(), name).unwrap();
            json::member(row, "total_chain_tokens").map(|raw| String::from_utf8_lossy(raw).into_owned())
        };
        assert_eq!(total("a"), None);
        assert_eq!(
            [total("b"), total("c"), total("z")].map(Option::unwrap),
            ["11", "111", "5"]
        );
        assert_eq!([total("x"), total("y")].map(Option::unwrap), ["3", "2"]);
        assert!(
            text.starts_with("{\n  \"a\": {\n    \"created_at\": \"2026\",\n    \"message_count\": 0,"),
            "{text}"
        );
    }

    #[test]
    fn titles_are_shortened_as_in_penguin() {
        let user =
            |text: &str| format!(r#"{{"role":"system","content":"s"}},{{"role":"user","content":{text}}}"#);
        let title = |metadata: &str, text: &str| row("session_1_cd613e30", metadata, &user(text)).title;
        assert_eq!(title(r#"{"title":" T "}"#, r#""x""#), "T");
        assert_eq!(title(r#"{"title":" "}"#, r#""\n one\ntwo""#), "one");
        assert_eq!(title("{}", &format!("\"{}\"", "é".repeat(40))), "é".repeat(40));
        assert_eq!(
            title("{}", &format!("\"{}\"", "é".repeat(41))),
            "é".repeat(37) + "..."
        );
        assert_eq!(
            title("{}", r#"[{"type":"image"},{"type":"text","text":"p"}]"#),
            "p"
        );
        assert_eq!(title("{}", "\" \""), "Session cd613e30");
        assert_eq!(row("é", "{}", "").title, "Session é");
    }

    #[test]
    fn files_that_are_not_sessions_have_no_row() {
        for text in [
            "", "[]", "{}", r#"{"messages":[}"#, r#"{"messages":[]} x"#, r#"{"messages":[]"#,
        ] {
            assert_eq!(PenguinIndexRow::of("x", text.as_bytes()), None, "{text}");
        }
    }
}
