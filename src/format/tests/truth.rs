//! Compares the sample files with the counts in `truth.json`. `CONVO_FIXTURES` names the directory; the default is
//! `../shared/fixtures`, next to this crate.

use crate::format::report::Report;
use crate::format::sessions::{Neighbor, SessionInput, SessionReader};
use crate::format::{DocumentSource, Format, ReadFn, convert};
use crate::model::event::Action;
use crate::model::json;
use crate::model::message::Message;
use crate::model::session::{Class, Session};
use crate::model::view::View;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// A file and its expected content.
pub struct Truth {
    /// Its name in `truth.json`.
    pub name: String,
    pub path: PathBuf,
    /// Its members of `truth.json`.
    pub expected: Value,
}

/// The directory of a format's files.
pub fn dir(format: &str) -> PathBuf {
    crate::sample_data::path("wild").join(format)
}

/// A file in the directory of one format that has another format.
pub const ALIKE: (&str, &str) = ("wild/sts/syn-pi-with-harness.jsonl", "pi");

/// The files of a format, sorted by name; directories and databases are skipped.
pub fn files(format: &str) -> Vec<Truth> {
    let dir = dir(format);
    let text = std::fs::read(dir.join("truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&text).unwrap();
    let files = truth["files"].as_object().unwrap();
    files
        .iter()
        .filter(|(name, _)| !name.ends_with('/') && !name.ends_with(".db") && !name.ends_with(".vscdb"))
        // Skip files of another format.
        .filter(|(_, expected)| expected["format"].is_null())
        .map(|(name, expected)| Truth {
            name: name.clone(),
            path: dir.join(name),
            expected: expected.clone(),
        })
        .collect()
}

/// The sessions of a file.
pub fn read(format: Format, path: &Path, report: &mut Report) -> crate::error::Result<Vec<Session>> {
    let name = path.file_name().and_then(|name| name.to_str());
    let bytes = std::fs::read(path).unwrap();
    if let ReadFn::Sessions(open) = format.spec().read {
        let mut reader = open(SessionInput {
            name: name.map(str::to_string),
            head: Vec::new(),
            rest: Box::new(std::io::Cursor::new(bytes)),
            returns: false,
            neighbor: Some(neighbor(path)),
        })?;
        return all(reader.as_mut(), report);
    }
    let neighbor = neighbor(path);
    let source = DocumentSource {
        name,
        bytes: &bytes,
        neighbor: &*neighbor,
    };
    convert(format, &source, report)
}

/// Reads the files next to a file.
pub fn neighbor(path: &Path) -> Neighbor {
    let dir = path.parent().unwrap().to_path_buf();
    Box::new(move |name| Ok(std::fs::read(dir.join(name)).ok()))
}

pub fn all(reader: &mut dyn SessionReader, report: &mut Report) -> crate::error::Result<Vec<Session>> {
    let mut sessions = Vec::new();
    while let Some(session) = reader.next(report)? {
        sessions.push(session);
    }
    Ok(sessions)
}

/// Converts a usage object to the names in `truth.json`.
pub type Usage = fn(&Value) -> BTreeMap<&'static str, u64>;

/// The usage as Anthropic reports it.
pub fn anthropic_usage(usage: &Value) -> BTreeMap<&'static str, u64> {
    with_cache(
        usage,
        [
            "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens", "",
        ],
    )
}

/// The input, cache reads, cache writes, the output and reasoning of a usage object, from members at these paths.
pub fn members(usage: &Value, paths: [&str; 5]) -> BTreeMap<&'static str, u64> {
    let names = ["input_total", "cache_read", "cache_write", "output", "reasoning"];
    let number = |path: &str| usage.pointer(&format!("/{path}")).and_then(Value::as_u64);
    let numbers = paths.map(|path| path.split(' ').filter_map(number).sum());
    names.into_iter().zip(numbers).collect()
}

/// The same if the input excludes cached tokens.
fn with_cache(usage: &Value, paths: [&str; 5]) -> BTreeMap<&'static str, u64> {
    let mut members = members(usage, paths);
    let cached = members["cache_read"] + members["cache_write"];
    *members.get_mut("input_total").unwrap() += cached;
    members
}

/// The kind of session according to its header; the first one of a file is always a main session.
fn kind(nth: usize, session: &Session) -> &'static str {
    let header = session.header();
    let metadata = header.iter().find(|(name, _)| name == "metadata");
    let lineage = metadata.and_then(|(_, raw)| json::member(raw, "lineage"));
    let kind = lineage
        .and_then(|raw| json::member(raw, "kind"))
        .and_then(json::text);
    match kind.as_deref() {
        Some("branch") if nth > 0 => "branch",
        Some("sidechain") if nth > 0 => "sidechain",
        _ => "main",
    }
}

fn add(roles: &mut Map<String, Value>, role: &str) {
    let count = roles.get(role).and_then(Value::as_u64).unwrap_or(0);
    roles.insert(role.to_string(), json!(count + 1));
}

/// Counts the content of sessions, in the form of `truth.json`.
pub fn counts(sessions: &[Session], usage: Usage) -> Value {
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    let mut roles: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let (mut calls, mut results): (Vec<String>, Vec<String>) = Default::default();
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (nth, session) in sessions.iter().enumerate() {
        let kind = kind(nth, session);
        let (sessions, messages) = match kind {
            "branch" => ("branch_sessions", "branch_messages"),
            "sidechain" => ("sidechain_sessions", "sidechain_messages"),
            _ => ("sessions", "messages"),
        };
        *counted.entry(sessions).or_default() += 1;
        for index in 0..session.len() {
            let record = session.record(index);
            match session.class(index) {
                Class::Message(_) => {
                    let message = record.message().unwrap();
                    add(roles.entry(messages).or_default(), &message.role_name());
                    reasoning(message, &mut counted);
                    calls.extend(message.tool_calls().iter().map(|call| call.id.to_string()));
                    if message.role_name() == "tool" {
                        results.push(message.tool_call_id().unwrap_or_default().to_string());
                    }
                    if let Some(raw) = json::member(record.body, "usage") {
                        for (name, count) in usage(&serde_json::from_slice(raw).unwrap()) {
                            *sums.entry(name).or_default() += count;
                        }
                    }
                }
                Class::Unreadable => *counted.entry("bad_lines").or_default() += 1,
                Class::Event => {
                    let event = record.event().unwrap();
                    let summary = match event.action() {
                        Action::Summary(_) => true,
                        Action::Compact(compact) => matches!(compact.summary, Some(Some(_))),
                        _ => false,
                    };
                    *counted.entry("summaries").or_default() += u64::from(summary);
                    // The usage of a summary counts too.
                    if let Some(raw) = json::member(record.body, "usage").filter(|_| summary) {
                        for (name, count) in usage(&serde_json::from_slice(raw).unwrap()) {
                            *sums.entry(name).or_default() += count;
                        }
                    }
                    *counted.entry("foreign_records").or_default() += u64::from(event.name() == "foreign");
                }
                Class::Header | Class::Blank => {}
            }
        }
        if kind == "main" {
            let view = View::replay(session);
            assert!(view.dangling.is_empty(), "{:?}", view.dangling);
            for message in view.messages(session) {
                add(roles.entry("view").or_default(), &message.role_name());
            }
        }
    }
    let known = |ids: &[String]| -> HashSet<String> { ids.iter().cloned().collect() };
    let orphans = |ids: &[String], others: HashSet<String>| {
        ids.iter().filter(|id| !others.contains(*id)).count() as u64
    };
    counted.insert("tool_calls", calls.len() as u64);
    counted.insert("tool_results", results.len() as u64);
    counted.insert("orphan_calls", orphans(&calls, known(&results)));
    counted.insert("orphan_results", orphans(&results, known(&calls)));
    let mut all = Map::new();
    for (name, count) in counted {
        all.insert(name.to_string(), json!(count));
    }
    for (name, roles) in roles {
        all.insert(name.to_string(), Value::Object(roles));
    }
    all.insert("usage".to_string(), json!(sums));
    Value::Object(all)
}

fn reasoning(message: &Message<'_>, counted: &mut BTreeMap<&str, u64>) {
    for part in json::items(message.reasoning) {
        let signs = [
            "signature", "encrypted_content", "thoughtSignature", "thinkingSignature", "data",
        ];
        let filled = |name: &&str| json::member_text(part, name).is_some_and(|text| !text.is_empty());
        *counted.entry("reasoning").or_default() += 1;
        *counted.entry("signed_reasoning").or_default() += u64::from(signs.iter().any(filled));
    }
}

/// The members of `truth.json` that are counted.
const COUNTED: [&str; 17] = [
    "sessions", "branch_sessions", "sidechain_sessions", "messages", "branch_messages", "sidechain_messages",
    "view", "tool_calls", "tool_results", "orphan_calls", "orphan_results", "reasoning", "signed_reasoning",
    "summaries", "bad_lines", "foreign_records", "usage",
];

/// The differences from the expected values; values that `truth.json` does not have are not compared.
pub fn differences(expected: &Value, counted: &Value) -> Vec<String> {
    let nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Object(members) => members.values().all(|value| value.as_u64() == Some(0)),
        _ => false,
    };
    let same = |one: &Value, other: &Value| one == other || (nothing(one) && nothing(other));
    COUNTED
        .iter()
        .filter(|name| !expected[**name].is_null() && !same(&expected[**name], &counted[**name]))
        .map(|name| format!("{name}: {} and not {}", counted[*name], expected[*name]))
        .collect()
}

/// Formats and their usage. `NO_USAGE` is for those whose messages have none.
const HELD: [(Format, Usage); 20] = [
    (Format::ClaudeCode, anthropic_usage),
    (Format::Pi, |usage| {
        with_cache(usage, ["input", "cacheRead", "cacheWrite", "output", ""])
    }),
    (Format::GeminiCli, |usage| {
        members(usage, ["input", "cached", "", "output", "thoughts"])
    }),
    (Format::Opencode, |usage| {
        with_cache(
            usage,
            ["input", "cache/read", "cache/write", "output", "reasoning"],
        )
    }),
    (Format::Goose, anthropic_usage),
    (Format::ClineRoo, NO_USAGE),
    (Format::Langchain, |usage| {
        let [read, write] = [
            "input_token_details/cache_read",
            "input_token_details/cache_creation",
        ];
        let reasoning = "output_token_details/reasoning";
        members(usage, ["input_tokens", read, write, "output_tokens", reasoning])
    }),
    (Format::VercelUi, NO_USAGE),
    (Format::ChatgptExport, NO_USAGE),
    (Format::ClaudeAiExport, NO_USAGE),
    (Format::Sharegpt, NO_USAGE),
    (Format::Sts, NO_USAGE),
    (Format::Cursor, NO_USAGE),
    (Format::Droid, NO_USAGE),
    (Format::Cline, |usage| {
        members(
            usage,
            [
                "inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens", "",
            ],
        )
    }),
    (Format::QwenCode, |usage| {
        let [read, reasoning] = ["cachedContentTokenCount", "thoughtsTokenCount"];
        members(
            usage,
            ["promptTokenCount", read, "", "candidatesTokenCount", reasoning],
        )
    }),
    // Messages have the output only.
    (Format::CopilotCli, |usage| {
        members(usage, ["", "", "", "outputTokens", ""])
    }),
    (Format::Grok, NO_USAGE),
    (Format::Atif, |usage| {
        let [write, reasoning] = ["extra/cache_creation_input_tokens", "extra/reasoning_tokens"];
        members(
            usage,
            [
                "prompt_tokens", "cached_tokens", write, "completion_tokens", reasoning,
            ],
        )
    }),
    (Format::Kimi, |usage| {
        let [read, write] = [
            "inputCacheRead input_cache_read",
            "inputCacheCreation input_cache_creation",
        ];
        with_cache(usage, ["inputOther input_other", read, write, "output", ""])
    }),
];

const NO_USAGE: Usage = |_| BTreeMap::new();

/// Formats with a test of their own, because they adapt the expected counts, and APIs.
const ADAPTED: [Format; 8] = [
    Format::OpenaiChat,
    Format::OpenaiResponses,
    Format::Anthropic,
    Format::Gemini,
    Format::Codex,
    Format::Aider,
    Format::Continue,
    Format::Aichat,
];

/// A figure of one file that is not compared, with the reason.
const NOT_COMPARED: [(Format, &str, &str, &str); 3] = [
    (
        Format::ClaudeCode,
        "stage0_all_event_types.jsonl",
        "foreign_records",
        "some attachments are messages",
    ),
    (
        Format::CopilotCli,
        "syn-compaction-subagent-rewind.jsonl",
        "usage",
        "totals are in the last event",
    ),
    (
        Format::QwenCode,
        "syn-compression.jsonl",
        "signed_reasoning",
        "the signature belongs to a call",
    ),
];

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_has_its_expected_counts() {
    HELD.iter().for_each(|(format, usage)| hold(*format, *usage));
    let is_tested = |format: &Format| ADAPTED.contains(format) || HELD.iter().any(|(held, _)| held == format);
    let has_files = |format: &Format| dir(format.name()).join("truth.json").exists();
    let untested: Vec<_> = { Format::ALL.iter() }
        .filter(|format| has_files(format) && !is_tested(format))
        .collect();
    assert!(untested.is_empty(), "{untested:?}");
}

/// Compares every file of a format with `truth.json`; prints their number.
pub fn hold(format: Format, usage: Usage) {
    let (mut equal, mut wrong) = (0, Vec::new());
    for mut truth in files(format.name()) {
        for (_, _, figure, _) in { NOT_COMPARED.iter() }
            .filter(|(known, name, ..)| (*known, *name) == (format, truth.name.as_str()))
        {
            truth.expected[*figure] = Value::Null;
        }
        let sessions = match read(format, &truth.path, &mut Report::default()) {
            // Files next to sessions that are not sessions.
            Err(_) if truth.expected["sessions"] == 0 => Vec::new(),
            sessions => sessions.unwrap(),
        };
        let differences = differences(&truth.expected, &counts(&sessions, usage));
        match differences.is_empty() {
            true => equal += 1,
            false => wrong.push(format!("{}: {}", truth.name, differences.join("; "))),
        }
    }
    eprintln!("{}: {equal} files are what truth.json says", format.name());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
