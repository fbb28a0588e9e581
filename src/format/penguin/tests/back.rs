//! Writes the Penguin sample data back, if available, from the lines of the record stream alone.

use super::fixtures::{dir, read_path};
use super::lines;
use super::written::{session, written};
use crate::format::report::Report;
use crate::format::{Format, WritePurpose, write};
use crate::model::json;
use crate::model::view::View;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Files that are not restored byte by byte, and why.
const DIFFERENT: [(&str, &str, usize); 3] = [
    (
        "05_primary_corrupt_bak_good/conversations/session_20260820_130001_5bc8fbbc.json",
        "it is damaged: what is written is what could be read",
        1,
    ),
    ("12_", "the older form comes back as today's", 1),
    (
        "15_tolerances/",
        "written by hand: times with one digit of a fraction, no lists of records, and a defect each",
        28,
    ),
];

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path
            .parent()
            .unwrap()
            .components()
            .any(|part| part.as_os_str() == "conversations")
        {
            found.push(path);
        }
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn files_are_restored_byte_for_byte() {
    let root = dir();
    let mut all = Vec::new();
    files(&root, &mut all);
    all.sort();
    let (mut same, mut other) = (0, [0; DIFFERENT.len()]);
    let mut unknown = Vec::new();
    for path in &all {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_string();
        let (Ok(read), _) = read_path(path) else { continue };
        if name.contains("session_index") {
            continue;
        }
        let text = lines(&read);
        let text: Vec<&str> = text.iter().map(String::as_str).collect();
        let (now, report) = written(&session(&text), WritePurpose::Export);
        let lost = !report.losses.is_empty();
        match std::fs::read(path).unwrap() == now.as_bytes() {
            true if lost => unknown.push(format!("{name}: {:?}", report.losses)),
            true => same += 1,
            false => match DIFFERENT.iter().position(|(known, ..)| name.starts_with(known)) {
                Some(at) => other[at] += 1,
                None => unknown.push(name),
            },
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    eprintln!("Penguin: {same} files come back byte for byte");
    for ((name, reason, expected), count) in DIFFERENT.iter().zip(other) {
        eprintln!("  {count} of {name} do not: {reason}");
        assert_eq!(count, *expected, "{name}");
    }
    assert!(same >= 53, "{same}");
}

fn context_of(path: &Path) -> Vec<Value> {
    let (session, _) = read_path(path);
    let (session, mut out) = (session.unwrap(), Vec::new());
    let view = View::replay(&session);
    let mut report = Report::default();
    write(
        Format::PenguinContext,
        &session,
        &view,
        WritePurpose::Context,
        &mut out,
        &mut report,
    )
    .unwrap();
    assert!(report.losses.is_empty());
    serde_json::from_slice(&out).unwrap()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_model_context_agrees_with_penguin() {
    let root = dir();
    let case = root.join("03_tools");
    let expected: Value =
        serde_json::from_slice(&std::fs::read(case.join("expected.json")).unwrap()).unwrap();
    let id = expected["sessions"][0]["id"].as_str().unwrap();
    let mut shown = context_of(&case.join(format!("conversations/{id}.json")));
    // Messages on which Penguin fails are placed by time.
    let at = |text: &str, shown: &[Value]| shown.iter().position(|one| one["content"] == text).unwrap();
    assert_eq!((at("boom", &shown), at("??", &shown)), (11, 14));
    shown.retain(|one| one["content"] != "boom" && one["content"] != "??");
    let expected = expected["formatted_without_ERROR_UNKNOWN"].as_array().unwrap();
    assert_eq!(shown, *expected);
    for (one, other) in shown.iter().zip(expected) {
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(one), names(other));
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn checkpoints_are_read_as_sessions() {
    let root = dir();
    let case = root.join("17_checkpoints_workspace");
    let expected: Value =
        serde_json::from_slice(&std::fs::read(case.join("expected.json")).unwrap()).unwrap();
    let mut number = 0;
    for row in expected["checkpoints"].as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        let packed = std::fs::read(case.join(format!("checkpoints/{id}.json.gz"))).unwrap();
        let bytes = crate::format::gzip::unpack(&packed).unwrap();
        let (session, report) = super::read_files(&format!("{id}.json"), &[(&format!("{id}.json"), &bytes)]);
        let session = session.unwrap();
        assert!(!report.is_damaged(), "{:?}", report.findings);
        assert_eq!(session.header_text("id").as_deref(), Some(id));
        assert_eq!(
            Some(session.messages().count() as u64),
            row["stored_messages"].as_u64(),
            "{id}"
        );
        // An existing title is kept.
        let title = session.header_text("title");
        let had = row["type"] == "rollback" && title.as_deref() == Some("try B");
        assert!(had || title.as_deref() == row["name"].as_str(), "{id}: {title:?}");
        let header = session.record(0).body.to_vec();
        let lineage = json::member(&header, "metadata").and_then(|raw| json::member(raw, "lineage"));
        let parent = json::member_text(lineage.unwrap(), "parent");
        assert_eq!(parent.as_deref(), row["session_id"].as_str(), "{id}");
        // Lines have their positions in the document.
        for (index, _) in session.messages() {
            let at = usize::try_from(session.record(index).place.offset).unwrap();
            assert!(bytes[at..].starts_with(b"{\"role\""), "{id}");
        }
        number += 1;
    }
    eprintln!("Penguin: {number} checkpoints agree");
    assert_eq!(number, 13);
}
