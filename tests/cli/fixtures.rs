//! Migrates the collection of other systems' sessions, if present, and compares the results with their documentation.
//! The collection is in `CONVO_FIXTURES`, else in `../shared/fixtures` next to the crate.

mod chains;
mod goaitools;
mod keys;
mod pairs;
mod penguin;
mod penguin_trim;
mod picoclaw;
mod picoclaw_back;

use crate::env::{Env, Run};
use crate::sample_data;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Known differences, by the beginning of the message, with the reason.
const DEVIATIONS: [(&str, &str); 3] = [
    (
        "picoclaw 40-key-collisions",
        "keys that share a file there are one session, under the key that the sidecar names",
    ),
    (
        "picoclaw 61-legacy-after \"dup/key\"",
        "its file is the one of dup:key, which the sidecar names",
    ),
    (
        "picoclaw 61-legacy-after \"parts\" resolves",
        "parts.json lies there still, and is read although PicoClaw passes over it",
    ),
];

/// The comparisons and differences so far.
#[derive(Default)]
struct Tally {
    cases: usize,
    checks: usize,
    deviations: Vec<String>,
}

impl Tally {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: impl std::fmt::Display, is: T, expected: T) {
        self.checks += 1;
        if is != expected {
            self.deviations
                .push(format!("{what}: it is {is:?}, and expected was {expected:?}"));
        }
    }

    /// Prints the result; fails for a difference without a known reason, and for a reason without a difference.
    fn end(self, name: &str) {
        eprintln!("{name}: {} cases with {} comparisons", self.cases, self.checks);
        let mut unknown = Vec::new();
        for deviation in &self.deviations {
            match DEVIATIONS.iter().find(|(known, _)| deviation.starts_with(known)) {
                Some((_, reason)) => eprintln!("  {deviation}\n    because {reason}"),
                None => unknown.push(deviation.as_str()),
            }
        }
        for (known, _) in DEVIATIONS.iter().filter(|(known, _)| known.starts_with(name)) {
            let met = self
                .deviations
                .iter()
                .any(|deviation| deviation.starts_with(known));
            assert!(met, "{known} is as expected now");
        }
        assert!(unknown.is_empty(), "{}", unknown.join("\n"));
        assert!(self.cases > 0 && self.checks > 0);
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The case directories of a collection with names and expectations.
fn cases(root: &Path) -> Vec<(String, PathBuf, Value)> {
    let mut all: Vec<_> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("expected.json").is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_string();
            let expected = json(&path.join("expected.json"));
            (name, path, expected)
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

/// A message as the program prints it: role, text, time.
type MessageText = (String, String, Option<String>);

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Parses the JSON lines of the output. Lone surrogates and invalid UTF-8, which `serde_json` rejects, are replaced.
fn lines(run: &Run) -> Vec<Value> {
    let out = String::from_utf8_lossy(&run.stdout);
    out.lines()
        .filter_map(|line| serde_json::from_str(&whole_pairs(line)).ok())
        .collect()
}

fn whole_pairs(line: &str) -> String {
    let unit = |at: usize| {
        let digits = line.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    while let Some(next) = line[at..].find('\\').map(|next| at + next) {
        out += &line[at..next];
        let (length, text) = match (unit(next), unit(next + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, &line[next..next + 12]),
            (Some(0xd800..0xe000), _) => (6, "\\ufffd"),
            _ => (2, &line[next..next + 2]),
        };
        out += text;
        at = next + length;
    }
    out + &line[at..]
}

fn messages(run: &Run) -> Vec<Value> {
    let mut lines = lines(run);
    lines.retain(|line| line.get("role").is_some());
    lines
}

fn message_texts(run: &Run) -> Vec<MessageText> {
    let time = |line: &Value| line["timestamp"].as_str().map(str::to_string);
    messages(run)
        .iter()
        .map(|line| {
            (
                line["role"].as_str().unwrap().to_string(),
                text(&line["content"]),
                time(line),
            )
        })
        .collect()
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(text).collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn files_of_interfaces() {
    for api in ["openai-chat", "openai-responses", "anthropic", "gemini"] {
        files_of(api);
    }
}

fn files_of(api: &str) {
    let root = sample_data::path(&format!("wild/{api}"));
    let truth = json(&root.join("truth.json"));
    let mut tally = Tally::default();
    for (name, facts) in truth["files"].as_object().unwrap() {
        tally.cases += 1;
        let env = Env::new();
        let run = env.run(&["count", "--json", root.join(name).to_str().unwrap()]);
        let at = format!("{api} {name}");
        let bad = facts["bad_lines"].as_u64().unwrap() > 0;
        tally.same(format!("{at} status"), run.status, if bad { 65 } else { 0 });
        let counts = run.objects();
        tally.same(
            format!("{at} sessions"),
            Some(counts.len() as u64),
            facts["sessions"].as_u64(),
        );
        for (own, of) in [("log", "messages"), ("view", "view")] {
            let mut roles = BTreeMap::<String, u64>::new();
            for (role, number) in counts
                .iter()
                .flat_map(|count| count[own]["roles"].as_object().unwrap())
            {
                *roles.entry(role.clone()).or_default() += number.as_u64().unwrap();
            }
            let expected = facts[of].as_object().unwrap().iter();
            let expected = expected.map(|(role, number)| (role.clone(), number.as_u64().unwrap()));
            tally.same(format!("{at} {of}"), roles, expected.collect());
        }
        let tools: u64 = counts
            .iter()
            .flat_map(|count| count["log"]["tools"].as_object().unwrap().values())
            .filter_map(Value::as_u64)
            .sum();
        tally.same(
            format!("{at} tool calls"),
            Some(tools),
            facts["tool_calls"].as_u64(),
        );
    }
    tally.end(api);
}
