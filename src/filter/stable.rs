//! Normalizes a session for comparison: replaces ids, times and paths, which differ in each run, with numbers in
//! order of appearance.

use crate::model::json::{self, Dialect};
use crate::model::session::Session;
use crate::model::time;
use regex::Regex;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Members with text, in which an id is replaced only as a whole word.
const TEXTS: [&str; 10] = [
    "content", "text", "title", "name", "role", "type", "category", "model", "arguments", "thinking",
];

/// Members named like ids that are equal in each run.
const SHARED: [&str; 4] = ["model_id", "modelId", "provider_id", "providerId"];

/// Minimum length of an id that is replaced within a text.
const LONG: usize = 8;

/// Maximum depth; deeper values are kept.
const DEPTH: usize = 64;

/// The first replacement time, in milliseconds since 1970: the year 2000.
const FIRST: i64 = 946_684_800_000;

/// Addresses are matched first, so that no path begins within them.
static PIECES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let time = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?";
    let id = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|[0-9a-f]{32,}\b";
    let path = r"~?(?:/[\w.@+~%-]+)+/?|[A-Za-z]:\\[^\s<>|*?']+";
    let pattern = format!(
        r#"(?P<address>[a-z][a-z0-9+.]*://[^\s"'<>]+)|(?P<time>{time})|(?P<id>{id})|(?P<path>{path})|(?P<word>[A-Za-z0-9][\w-]{{7,}})"#
    );
    Regex::new(&pattern).ok()
});

/// Replaces ids, times and paths with numbers, equal ones with equal numbers. Lines that are not JSON are kept.
pub fn stable(session: &Session) -> Session {
    let mut numbers = StableNumbers::default();
    let lines = || (0..session.len()).map(|index| session.record(index).body);
    lines().for_each(|line| collect("", line, &mut numbers.known, 0));
    let mut stable = Session::default();
    for (index, line) in lines().enumerate() {
        let mut out = Vec::with_capacity(line.len());
        match line.first() {
            Some(b'{') if json::members(line, Dialect::Python).is_some() => {
                numbers.value("", line, &mut out, 0);
                stable.push_new(&out);
            }
            _ => stable.push_from(session, index),
        }
    }
    stable
}

fn is_id(name: &str) -> bool {
    let endings = ["_id", "Id", "_uuid", "Uuid"];
    let is_named = matches!(name, "id" | "uuid") || endings.iter().any(|ending| name.ends_with(ending));
    is_named && !SHARED.contains(&name)
}

/// Collects the values of id members.
fn collect(name: &str, raw: &[u8], known: &mut HashSet<String>, depth: usize) {
    match raw.first() {
        Some(b'"') if is_id(name) => {
            known.extend(json::text(raw).map(String::from).filter(|id| !id.is_empty()));
        }
        Some(b'{') if depth < DEPTH => {
            for (name, value) in json::members(raw, Dialect::Python).unwrap_or_default() {
                collect(&name, value, known, depth + 1);
            }
        }
        Some(b'[') if depth < DEPTH => {
            for value in json::elements(raw, Dialect::Python).unwrap_or_default() {
                collect("", value, known, depth + 1);
            }
        }
        _ => {}
    }
}

/// Assigns numbers in order of appearance.
#[derive(Default)]
struct StableNumbers {
    known: HashSet<String>,
    ids: HashMap<String, usize>,
    times: HashMap<String, usize>,
    paths: HashMap<String, usize>,
}

fn number(numbers: &mut HashMap<String, usize>, text: &str) -> usize {
    let next = numbers.len() + 1;
    *numbers.entry(text.to_string()).or_insert(next)
}

impl StableNumbers {
    fn value(&mut self, name: &str, raw: &[u8], out: &mut Vec<u8>, depth: usize) {
        match raw.first() {
            Some(b'{') if depth < DEPTH => {
                out.push(b'{');
                let members = json::members(raw, Dialect::Python).unwrap_or_default();
                for (nth, (name, value)) in members.into_iter().enumerate() {
                    if nth > 0 {
                        out.push(b',');
                    }
                    json::push_text(out, &name);
                    out.push(b':');
                    self.value(&name, value, out, depth + 1);
                }
                out.push(b'}');
            }
            Some(b'[') if depth < DEPTH => {
                out.push(b'[');
                let values = json::elements(raw, Dialect::Python).unwrap_or_default();
                for (nth, value) in values.into_iter().enumerate() {
                    if nth > 0 {
                        out.push(b',');
                    }
                    self.value(name, value, out, depth + 1);
                }
                out.push(b']');
            }
            Some(b'"') => match json::text(raw) {
                Some(text) => json::push_text(out, &self.string(name, &text)),
                None => out.extend_from_slice(raw),
            },
            _ => out.extend_from_slice(raw),
        }
    }

    fn string(&mut self, name: &str, text: &str) -> String {
        if !TEXTS.contains(&name) {
            if self.known.contains(text) {
                return self.id(text);
            }
            if time::is_rfc3339(text) {
                return self.time(text);
            }
        }
        let Some(pieces) = PIECES.as_ref() else {
            return text.to_string();
        };
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for found in pieces.captures_iter(text) {
            let Some(whole) = found.get(0) else { continue };
            out.push_str(&text[end..whole.start()]);
            end = whole.end();
            let own = whole.as_str();
            if found.name("time").is_some() {
                out.push_str(&self.time(own));
            } else if found.name("id").is_some() {
                out.push_str(&self.id(own));
            } else if found.name("path").is_some() && is_path(text, whole.start(), own) {
                // The final period may belong to the sentence.
                let path = own.trim_end_matches('.');
                let nth = number(&mut self.paths, path.trim_end_matches('/'));
                out.push_str(&format!("/path/{nth}{}", &own[path.len()..]));
            } else if own.len() >= LONG && self.known.contains(own) {
                out.push_str(&self.id(own));
            } else {
                out.push_str(own);
            }
        }
        out.push_str(&text[end..]);
        out
    }

    fn id(&mut self, id: &str) -> String {
        format!("id_{}", number(&mut self.ids, id))
    }

    fn time(&mut self, time: &str) -> String {
        let nth = number(&mut self.times, time) as i64;
        time::from_milliseconds(FIRST + nth * 1000).unwrap_or_default()
    }
}

/// Whether a match is an absolute path: not the end of a relative path and, in a longer text, not a word such as
/// `/help`.
fn is_path(text: &str, start: usize, found: &str) -> bool {
    let before = text[..start].chars().next_back();
    let begins = before.is_none_or(|c| c.is_whitespace() || "\"'`([{<=,:;|".contains(c));
    let slashes = found.trim_end_matches('/').matches(['/', '\\']).count();
    begins && (slashes > 1 || found == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        let mut session = Session::default();
        lines.iter().for_each(|line| session.push_new(line.as_bytes()));
        let text = stable(&session).text();
        text.lines().map(str::to_string).collect()
    }

    #[test]
    fn equal_ids_times_and_paths_have_equal_numbers() {
        let own = lines(&[
            r#"{"type":"session", "version":1,"id":"demo","metadata":{"cwd":"/work","tags":[],"more":{},"model_id":"gpt-4o"}}"#,
            r#"{"role":"user","content":"Read /home/me/a.rs, and/or /help. See https://e.org/a/b and m1","id":"m1","timestamp":"2026-01-08T10:00:00.5Z"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_0123","type":"function","function":{"name":"Read","arguments":"{\"path\":\"/home/me/a.rs\"}"}}],"id":"m2","timestamp":"2026-01-08T10:00:02Z"}"#,
            r#"{"role":"tool","tool_call_id":"toolu_0123","content":"toolu_0123 at 2026-01-08T10:00:02Z in /tmp/x/b.","id":"m3"}"#,
            r#"{"type":"truncate","id":"evt_1","at":"2026-01-08T10:00:00.5Z","before":"m2"}"#,
            "not json /home/me/a.rs",
        ]);
        assert_eq!(
            own,
            [
                r#"{"type":"session","version":1,"id":"id_1","metadata":{"cwd":"/path/1","tags":[],"more":{},"model_id":"gpt-4o"}}"#,
                r#"{"role":"user","content":"Read /path/2, and/or /help. See https://e.org/a/b and m1","id":"id_2","timestamp":"2000-01-01T00:00:01Z"}"#,
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"id_3","type":"function","function":{"name":"Read","arguments":"{\"path\":\"/path/2\"}"}}],"id":"id_4","timestamp":"2000-01-01T00:00:02Z"}"#,
                r#"{"role":"tool","tool_call_id":"id_3","content":"id_3 at 2000-01-01T00:00:02Z in /path/3.","id":"id_5"}"#,
                r#"{"type":"truncate","id":"id_6","at":"2000-01-01T00:00:01Z","before":"id_4"}"#,
                "not json /home/me/a.rs",
            ]
        );
    }
}
