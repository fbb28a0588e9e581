//! Compares the reader with recorded results of PicoClaw, if available: `CONVO_FIXTURES` names the directory; the
//! default is `../shared/fixtures`, next to this crate.

use super::super::line::MessageLine;
use super::super::member::ParseRules;
use super::super::raw::{RawLine, lines};
use super::{Read, TestDir, read_in};
use crate::model::message::Message;
use crate::model::record::mark_length;
use crate::model::view::View;
use serde_json::{Value, from_slice, json as value};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn fixtures() -> PathBuf {
    crate::sample_data::path("picoclaw")
}

fn dir_at(path: &Path) -> TestDir {
    let files = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file());
    files
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                fs::read(&path).unwrap(),
            )
        })
        .collect()
}

pub(super) fn json_lines(path: &Path) -> Vec<Value> {
    let all = fs::read(path).unwrap();
    all.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| from_slice(line).unwrap())
        .collect()
}

pub(super) fn base64(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        bits = bits << 6 | digits.iter().position(|digit| *digit == byte).unwrap() as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

pub(super) fn texts(list: &Value) -> Vec<String> {
    let text = |one: &Value| one["content"].as_str().or(one.as_str()).unwrap().to_string();
    list.as_array().unwrap().iter().map(text).collect()
}

/// The decoded message with PicoClaw's members.
fn as_picoclaw(message: &Message<'_>, full: &[u8]) -> Value {
    let line: Value = from_slice(&utf16_safe(full)).unwrap();
    let mut out = value!({"role": message.role_name(), "content": message.text()});
    let own = &line["metadata"]["picoclaw"];
    let calls: Vec<Value> = message
        .tool_calls()
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let mut out = value!({"id": call.id});
            let native = &line["tool_calls"][index];
            if native.get("function").is_some() {
                out["type"] = native["type"].clone();
                out["function"] = value!({"name": call.name, "arguments": call.arguments});
            }
            for (name, rest) in own["calls"][index].as_object().into_iter().flatten() {
                let place = if name == "extra_content" {
                    &mut out
                } else {
                    &mut out["function"]
                };
                place[name] = rest.clone();
            }
            out
        })
        .collect();
    let members = [
        (
            "tool_calls",
            if calls.is_empty() {
                Value::Null
            } else {
                Value::Array(calls)
            },
        ),
        ("tool_call_id", line["tool_call_id"].clone()),
        ("created_at", line["timestamp"].clone()),
        ("model_name", line["model"].clone()),
        ("reasoning_content", line["reasoning"][0]["text"].clone()),
        ("media", own["media"].clone()),
        ("attachments", own["attachments"].clone()),
        ("system_parts", own["system_parts"].clone()),
    ];
    for (name, member) in members {
        if !member.is_null() {
            out[name] = member;
        }
    }
    out
}

/// The line without lone surrogates, which `serde_json` rejects.
fn utf16_safe(full: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(full).replace(r"\ud800", "?").into_bytes()
}

fn picoclaw_view(read: &Read) -> Vec<Value> {
    let view = View::replay(&read.session);
    let items = view
        .items
        .iter()
        .filter_map(|item| item.message(&read.session).map(|message| (item, message)));
    items
        .map(|(item, message)| as_picoclaw(&message, item.body(&read.session)))
        .collect()
}

/// Converts line numbers to raw line numbers, as PicoClaw counts; without `null` and `{}`, which it reads as messages.
fn raw_numbers(bytes: &[u8], rejected: &[u64]) -> Vec<u64> {
    let counts = |raw: &RawLine<'_>| {
        let empty = matches!(raw.text, b"null" | b"{}");
        rejected.contains(&raw.place.line) && !empty
    };
    lines(bytes)
        .zip(1..)
        .filter(|(raw, _)| counts(raw))
        .map(|(_, number)| number)
        .collect()
}

/// Compares one state; `false` if there is no file for its key.
fn check_state(case: &str, dir: &TestDir, state: &Value) -> bool {
    let key = state["key"].as_str().unwrap();
    let stem = key.replace([':', '/', '\\'], "_");
    let (log, sidecar) = (format!("{stem}.jsonl"), format!("{stem}.meta.json"));
    let name = if dir.contains_key(&log) { &log } else { &sidecar };
    let Some(bytes) = dir.get(name) else {
        assert!(
            state["visible"].as_array().is_some_and(Vec::is_empty),
            "{case} {key}"
        );
        return false;
    };
    let read = read_in(dir, Some(name), bytes).unwrap();
    let at = format!("{case} {key:?}");
    if let Some(convo) = state.get("convo_visible") {
        assert_eq!(read.texts(), texts(convo), "{at}");
    } else {
        assert_eq!(
            picoclaw_view(&read),
            *state["visible"].as_array().unwrap(),
            "{at}"
        );
    }
    assert_eq!(
        read.summary(),
        state["summary"].as_str().unwrap_or_default(),
        "{at}"
    );
    let mut skipped: Vec<u64> = state.get("skipped_lines").map_or_else(Vec::new, |list| {
        list.as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_u64)
            .collect()
    });
    if mark_length(bytes) > 0 {
        skipped.retain(|number| *number != 1);
    }
    assert_eq!(raw_numbers(bytes, &read.rejected()), skipped, "{at}");
    let others = read
        .report
        .findings
        .iter()
        .filter(|f| f.damage && !f.what.starts_with("not a message"))
        .count();
    let expected = usize::from(case.starts_with("29-")) + usize::from(case.starts_with("36-"));
    assert_eq!(
        others, expected,
        "{at}: a broken sidecar, bad bytes: {:?}",
        read.report.findings
    );
    if let Some(meta) = state.get("meta") {
        let created = meta["created_at"]
            .as_str()
            .filter(|time| !time.starts_with("0001-"));
        assert_eq!(read.session.header_text("created_at").as_deref(), created, "{at}");
        assert_eq!(
            read.session.header_text("key").as_deref(),
            meta["key"].as_str(),
            "{at}"
        );
        let header: Value = from_slice(read.session.full(0)).unwrap();
        let own = &header["metadata"]["picoclaw"];
        assert_eq!(header.get("scope"), meta.get("scope"), "{at}");
        assert_eq!(
            (own.get("aliases"), own.get("updated_at")),
            (meta.get("aliases"), meta.get("updated_at")),
            "{at}"
        );
    }
    true
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn views_agree_with_picoclaw() {
    let root = fixtures();
    let (mut cases, mut states, mut absent) = (0, 0, 0);
    let mut run = |case: &str, dir: &TestDir, expected: &Value| {
        cases += 1;
        for state in expected["states"].as_array().into_iter().flatten() {
            if check_state(case, dir, state) {
                states += 1;
            } else {
                absent += 1;
            }
        }
    };
    for entry in fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        let case = path.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(expected) = fs::read(path.join("expected.json")) else {
            continue;
        };
        if path.join("sessions").is_dir() {
            run(
                &case,
                &dir_at(&path.join("sessions")),
                &from_slice(&expected).unwrap(),
            );
        }
    }
    let odd: Value = from_slice(&fs::read(root.join("41-odd-keys.json")).unwrap()).unwrap();
    let file = |entry: &Value| {
        let name = String::from_utf8(base64(entry["name_base64"].as_str().unwrap())).unwrap();
        (name, base64(entry["content_base64"].as_str().unwrap()))
    };
    run(
        "41-odd-keys",
        &odd["directory"].as_array().unwrap().iter().map(file).collect(),
        &odd,
    );
    eprintln!(
        "{cases} cases with {states} states that have a file agree; {absent} states are of keys without one"
    );
    assert!(cases > 20 && states > 50);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn safe_compaction_shows_the_same_in_every_state() {
    let root = fixtures().join("70-safe-compaction");
    let expected: Value = from_slice(&fs::read(root.join("expected.json")).unwrap()).unwrap();
    for state in ["0-before", "1-placeholders", "2-skip-cleared", "3-after"] {
        let dir = dir_at(&root.join(state));
        let read = read_in(&dir, Some("s.jsonl"), &dir["s.jsonl"]).unwrap();
        assert_eq!(
            read.texts(),
            texts(&expected["visible_in_every_state"]),
            "{state}"
        );
        assert_eq!(
            read.summary(),
            expected["summary_in_every_state"].as_str().unwrap(),
            "{state}"
        );
        assert!(!read.report.is_damaged(), "{state}");
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn legacy_documents_match_their_expected_records() {
    let root = fixtures();
    let dir = dir_at(&root.join("60-legacy-before/sessions"));
    let plan: Value = from_slice(&fs::read(root.join("60-legacy-before/expected.json")).unwrap()).unwrap();
    let after: Value = from_slice(&fs::read(root.join("61-legacy-after/expected.json")).unwrap()).unwrap();
    let mut compared = 0;
    for entry in plan["plan"].as_array().unwrap() {
        let name = entry["file"].as_str().unwrap();
        let Some(bytes) = dir.get(name) else { continue };
        let read = read_in(&dir, Some(name), bytes);
        if entry["convo"] == "error" {
            assert!(read.is_err(), "{name}");
            continue;
        }
        let read = read.unwrap();
        assert!(!read.report.is_damaged(), "{name}");
        let Some(key) = entry["key"].as_str() else {
            continue;
        };
        assert_eq!(read.session.header_text("key").as_deref(), Some(key), "{name}");
        let state = after["states"]
            .as_array()
            .unwrap()
            .iter()
            .find(|state| state["key"] == key);
        match state.filter(|_| entry["convo"] == "migrate" && entry["picoclaw"] == "migrated") {
            Some(state) if key != "dup/key" => {
                assert_eq!(read.texts(), texts(&state["visible"]), "{name}");
                assert_eq!(read.summary(), state["summary"].as_str().unwrap(), "{name}");
                compared += 1;
            }
            _ => {}
        }
        if name == "parts.json" {
            assert_eq!(
                (read.texts(), read.report.findings.len()),
                (vec!["parts".to_string()], 1)
            );
        }
    }
    assert_eq!(compared, 4);

    let dir = dir_at(&root.join("64-legacy-manager-save/sessions"));
    let (name, bytes) = dir.iter().next().unwrap();
    let read = read_in(&dir, Some(name), bytes).unwrap();
    let full: Value = from_slice(&fs::read(root.join("02-full-messages/expected.json")).unwrap()).unwrap();
    assert_eq!(
        picoclaw_view(&read),
        *full["states"][0]["visible"].as_array().unwrap()
    );
    assert_eq!(read.summary(), "legacy <summary>");
    assert!(read.report.findings.is_empty());
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn accepted_lines_agree_with_go() {
    let root = fixtures();
    let vectors = json_lines(&root.join("line-vectors.jsonl"));
    for vector in &vectors {
        let raw = base64(vector["line_base64"].as_str().unwrap());
        let shown = String::from_utf8_lossy(&raw).into_owned();
        let line = MessageLine::read(&raw, ParseRules::Log);
        assert_eq!(line.is_ok(), vector["accepted"] == true, "{shown}");
        let Ok(line) = line else { continue };
        assert_eq!(
            Value::Bool(line.is_reasoning_only()),
            vector["thought_only"],
            "{shown}"
        );
        let rewritten: Value = from_slice(vector["rewritten"].as_str().unwrap().as_bytes()).unwrap();
        let native = line.native("msg_1");
        let record =
            crate::model::record::Record::parse(&native, crate::error::Position { line: 1, offset: 1 });
        let message = record.message().unwrap();
        assert_eq!(
            message.role_name(),
            rewritten["role"].as_str().unwrap(),
            "{shown}"
        );
        assert_eq!(message.text(), rewritten["content"].as_str().unwrap(), "{shown}");
        assert_eq!(
            message.tool_calls().len(),
            rewritten["tool_calls"].as_array().map_or(0, Vec::len),
            "{shown}"
        );
        assert_eq!(
            message.tool_call_id().as_deref(),
            rewritten["tool_call_id"].as_str(),
            "{shown}"
        );
        assert_eq!(
            message.timestamp().is_some(),
            rewritten.get("created_at").is_some(),
            "{shown}"
        );
    }
    eprintln!("{} line vectors agree", vectors.len());
    assert!(vectors.len() >= 30);
}
