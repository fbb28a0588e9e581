//! Tests with the Penguin sample data, if available.

use super::{lines, read};
use crate::error::Result;
use crate::format::DocumentSource;
use crate::format::report::Report;
use crate::model::json;
use crate::model::session::Session;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(super) fn dir() -> PathBuf {
    crate::sample_data::path("penguin")
}

pub(super) fn read_path(path: &Path) -> (Result<Session>, Report) {
    let name = path.file_name().unwrap().to_str().unwrap();
    let (dir, mut report) = (path.parent().unwrap(), Report::default());
    let neighbor = |name: &str| Ok(std::fs::read(dir.join(name)).ok());
    let bytes = std::fs::read(path).unwrap();
    let source = DocumentSource {
        name: Some(name),
        bytes: &bytes,
        neighbor: &neighbor,
    };
    (
        read(&source, &mut report).map(|mut sessions| sessions.remove(0)),
        report,
    )
}

fn contents(session: &Session) -> Vec<Value> {
    let content = |(index, _)| session.record(index).message().unwrap().content.unwrap().to_vec();
    session
        .messages()
        .map(|at| serde_json::from_slice(&content(at)).unwrap())
        .collect()
}

/// Bytes of a string, with lone surrogates as three bytes each.
fn wtf8(raw: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = raw;
    while let Some(at) = rest.find("\\u") {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let unit = u32::from_str_radix(&rest[at + 2..at + 6], 16).unwrap();
        assert!((0xd800..0xe000).contains(&unit));
        out.extend([0xe0 | unit >> 12, 0x80 | unit >> 6 & 0x3f, 0x80 | unit & 0x3f].map(|byte| byte as u8));
        rest = &rest[at + 6..];
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

/// Compares role, category, content, and id or time, of every message with the expected rows.
fn agree_with_rows(session: &Session, rows: &[Value]) {
    assert_eq!(session.messages().count(), rows.len());
    for (((index, _), row), content) in session.messages().zip(rows).zip(contents(session)) {
        let record = session.record(index);
        let message = record.message().unwrap();
        assert_eq!(message.role_name(), row["role"].as_str().unwrap());
        assert_eq!(content, row["content"]);
        if let Some(id) = row["id"].as_str() {
            assert_eq!(message.id().unwrap(), id);
        }
        if let Some(time) = row["timestamp"].as_str() {
            assert!(message.timestamp().unwrap().starts_with(time));
        }
        let category = row["category"].as_str().unwrap();
        match message.category.and_then(json::text) {
            Some(name) => assert_eq!(name, category.to_lowercase()),
            None => {
                let kept = message.metadata.and_then(|raw| json::member(raw, "penguin"));
                let kept = kept
                    .and_then(|raw| json::member(raw, "category"))
                    .and_then(json::text);
                assert_eq!(kept.unwrap(), category);
            }
        }
    }
}

fn agree_with_session(session: &Session, expected: &Value) {
    let text = |name: &str| session.header_text(name).unwrap_or_default();
    assert_eq!(text("id"), expected["id"].as_str().unwrap());
    assert!(text("created_at").starts_with(expected["created_at"].as_str().unwrap()));
    let header = session.header();
    let metadata = header
        .iter()
        .find(|(name, _)| name == "metadata")
        .map(|(_, raw)| raw.as_slice())
        .unwrap();
    let penguin: Value = serde_json::from_slice(json::member(metadata, "penguin").unwrap()).unwrap();
    assert_eq!(penguin["last_active"], expected["last_active"]);
    // Restores the session's metadata from the header.
    let mut kept = penguin["metadata"].as_object().cloned().unwrap_or_default();
    for name in ["title", "continued_from", "continuation_index"] {
        if let Some((_, raw)) = header.iter().find(|(known, _)| known == name) {
            kept.insert(name.to_string(), serde_json::from_slice(raw).unwrap());
        }
    }
    match expected.get("metadata") {
        Some(metadata) => assert_eq!(Value::from(kept), *metadata),
        None => {
            assert_eq!(kept["title"], expected["title"]);
            assert_eq!(kept["tags"], expected["tags"]);
        }
    }
    for name in [
        "tool_call_records", "tool_result_records", "llm_request_lifecycles",
    ] {
        if let Some(number) = expected.get(name).and_then(Value::as_u64) {
            assert_eq!(penguin[name].as_array().unwrap().len() as u64, number);
        } else if let Some(records) = expected.get(name) {
            assert_eq!(penguin[name], *records);
        }
    }
    agree_with_rows(session, expected["rows"].as_array().unwrap());
}

fn tolerances(dir: &Path, expected: &Value) -> usize {
    let files = expected["files"].as_array().unwrap();
    for file in files {
        let name = file["file"].as_str().unwrap();
        let (session, report) = read_path(&dir.join("conversations").join(name));
        let recovered = file["convo"]["recovered"].as_u64().unwrap() as usize;
        let warn = file["convo"]["warn"].as_bool().unwrap();
        let Ok(session) = session else {
            assert_eq!((recovered, warn), (0, true), "{name}");
            continue;
        };
        assert_eq!(report.is_damaged(), warn, "{name}: {:?}", report.findings);
        assert_eq!(session.messages().count(), recovered, "{name}");
        for (index, _) in session.messages() {
            let record = session.record(index);
            let message = record.message().unwrap();
            assert_eq!(message.role_name(), "user", "{name}");
            assert_eq!(
                message.category(),
                crate::model::message::Category::Dialog,
                "{name}"
            );
            let content: Value = serde_json::from_slice(message.content.unwrap()).unwrap();
            match name.rsplit('_').next().unwrap() {
                "nocontent.json" => assert!(content.is_null()),
                "invalidutf8.json" => assert!(content.as_str().unwrap().contains('\u{fffd}'), "{content}"),
                "duplicateids.json" if index == 2 => assert_eq!(content, "second with same id"),
                _ => assert!(
                    content.as_str().is_some_and(|text| text.starts_with("hi")),
                    "{name}: {content}"
                ),
            }
        }
    }
    files.len()
}

fn large(session: &Session, facts: &Value) {
    assert_eq!(session.header_text("id").as_deref(), facts["id"].as_str());
    assert_eq!(
        session.messages().count() as u64,
        facts["messages"].as_u64().unwrap()
    );
    let ids: Vec<_> = (0..session.len()).map(|index| session.id(index)).collect();
    assert_eq!(ids[1].as_deref(), facts["first_id"].as_str());
    assert_eq!(ids.last().unwrap().as_deref(), facts["last_id"].as_str());
    let (mut tokens, mut characters, mut bytes) = (0, 0, 0);
    let mut counts = std::collections::HashMap::<String, u64>::new();
    for (index, traits) in session.messages() {
        let record = session.record(index);
        let message = record.message().unwrap();
        tokens += json::member(record.body, "tokens")
            .map_or(0, |raw| std::str::from_utf8(raw).unwrap().parse().unwrap());
        characters += message.text().chars().count() as u64;
        bytes += message.text().len() as u64;
        *counts.entry(message.role_name().into_owned()).or_default() += 1;
        *counts.entry(traits.category.name().to_uppercase()).or_default() += 1;
    }
    let sums = ["tokens_sum", "content_chars", "content_utf8"].map(|name| facts[name].as_u64().unwrap());
    assert_eq!([tokens, characters, bytes], sums);
    for (name, count) in [&facts["roles"], &facts["categories"]]
        .into_iter()
        .flat_map(|of| of.as_object().unwrap())
    {
        assert_eq!(counts[name], count.as_u64().unwrap(), "{name}");
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
#[allow(clippy::print_stderr)]
fn the_collection_has_its_expected_counts() {
    let dir = dir();
    let (mut cases, mut files) = (0, 0);
    let mut dirs: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    dirs.sort();
    for dir in dirs {
        let case = dir.file_name().unwrap().to_str().unwrap().to_string();
        if ![
            "01", "02", "03", "04", "05", "10", "12", "13", "14", "15", "18", "22",
        ]
        .contains(&&case[..2])
        {
            continue;
        }
        let expected: Value =
            serde_json::from_slice(&std::fs::read(dir.join("expected.json")).unwrap()).unwrap();
        let path = |id: &Value| {
            dir.join("conversations")
                .join(format!("{}.json", id.as_str().unwrap()))
        };
        cases += 1;
        match &case[..2] {
            "15" => files += tolerances(&dir, &expected),
            "18" => {
                let (session, report) = read_path(&path(&expected["facts"]["id"]));
                assert!(!report.is_damaged(), "{case}");
                large(&session.unwrap(), &expected["facts"]);
                files += 1;
            }
            "14" => {
                let (session, report) = read_path(&path(&expected["id"]));
                let (session, damaged) = (session.unwrap(), report.is_damaged());
                assert!(damaged && report.losses.is_empty(), "{case}");
                let all = lines(&session).concat();
                for number in expected["numbers"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|number| number.as_str().unwrap())
                {
                    assert!(
                        all.contains(number) || number.ends_with("Infinity") || number == "NaN",
                        "{number}"
                    );
                }
                for ((index, _), hex) in session
                    .messages()
                    .zip(expected["contents_wtf8_hex"].as_array().unwrap())
                {
                    let record = session.record(index);
                    let raw = std::str::from_utf8(record.message().unwrap().content.unwrap()).unwrap();
                    assert_eq!(
                        crate::model::key::hex(&wtf8(raw.trim_matches('"'))),
                        hex.as_str().unwrap()
                    );
                }
                files += 1;
            }
            "05" | "10" => {
                let (session, report) = read_path(&path(&expected["id"]));
                let session = session.unwrap();
                assert_eq!(
                    report.is_damaged(),
                    case.starts_with("05"),
                    "{case}: {:?}",
                    report.findings
                );
                assert_eq!(
                    contents(&session),
                    *expected["best"].as_array().unwrap(),
                    "{case}"
                );
                let backup = expected["newer_copy"].as_str().unwrap_or(".json.bak");
                assert!(
                    report
                        .findings
                        .iter()
                        .any(|finding| finding.what.contains(backup)),
                    "{case}"
                );
                files += 1;
            }
            _ => {
                for expected in expected["sessions"].as_array().unwrap() {
                    let path = match expected["file"].as_str() {
                        Some(file) => dir.join("conversations").join(file),
                        None => path(&expected["id"]),
                    };
                    let (session, report) = read_path(&path);
                    assert!(!report.is_damaged(), "{case}: {:?}", report.findings);
                    agree_with_session(&session.unwrap(), expected);
                    files += 1;
                }
            }
        }
    }
    eprintln!("Penguin: {cases} cases, {files} files agree");
    assert!(cases > 0);
}
