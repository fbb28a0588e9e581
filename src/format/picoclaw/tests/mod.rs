//! Tests of the reader: small sessions, arbitrary bytes, and sample files if available.

mod arbitrary;
mod fixtures;
mod sequences;
mod written;

use super::*;
use crate::error::ErrorKind;
use crate::model::key::Derive;
use crate::model::record::RecordKind as Line;
use crate::model::view::View;
use std::collections::BTreeMap;

pub(super) type TestDir = BTreeMap<String, Vec<u8>>;

/// A session that was read, and the report.
pub(super) struct Read {
    pub session: Session,
    pub report: Report,
}

pub(super) fn read_in(dir: &TestDir, name: Option<&str>, bytes: &[u8]) -> Result<Read> {
    let neighbor = |name: &str| Ok(dir.get(name).cloned());
    let mut report = Report::default();
    let mut sessions = read(
        &DocumentSource {
            name,
            bytes,
            neighbor: &neighbor,
        },
        &mut report,
    )?;
    assert_eq!(sessions.len(), 1);
    let read = Read {
        session: sessions.remove(0),
        report,
    };
    read.check();
    Ok(read)
}

pub(super) fn read_pair(lines: &str, sidecar: &str) -> Read {
    let dir = TestDir::from([("s.meta.json".to_string(), sidecar.as_bytes().to_vec())]);
    read_in(&dir, Some("s.jsonl"), lines.as_bytes()).unwrap()
}

impl Read {
    /// Invariants of every session that was read.
    fn check(&self) {
        let session = &self.session;
        assert!(session.record(0).event().is_some_and(|event| event.is_header()));
        let mut ids = std::collections::HashSet::new();
        for index in 0..session.len() {
            assert_eq!(
                session.full(index).iter().filter(|byte| **byte == b'\n').count(),
                1
            );
            assert!(session.full(index).ends_with(b"\n"));
            assert!(!matches!(session.record(index).kind, Line::Blank));
            assert!(session.id(index).as_ref().is_none_or(|id| ids.insert(id.clone())));
        }
        assert_eq!(View::replay(session).dangling, Vec::new());
    }

    /// Role and text of the messages in view.
    pub fn view(&self) -> Vec<(String, String)> {
        let view = View::replay(&self.session);
        view.messages(&self.session)
            .map(|m| (m.role_name().into_owned(), m.text().into_owned()))
            .collect()
    }

    pub fn texts(&self) -> Vec<String> {
        self.view().into_iter().map(|(_, text)| text).collect()
    }

    pub fn summary(&self) -> String {
        let view = View::replay(&self.session);
        view.items
            .iter()
            .find_map(|item| item.summary(&self.session))
            .unwrap_or_default()
            .into_owned()
    }

    /// Source lines that were reported as not being messages.
    pub fn rejected(&self) -> Vec<u64> {
        let rejected = self
            .report
            .findings
            .iter()
            .filter(|f| f.damage && f.what.starts_with("not a message"));
        rejected.map(|finding| finding.place.line).collect()
    }

    fn findings(&self) -> String {
        self.report
            .findings
            .iter()
            .map(|f| format!("{}:{}\n", f.place.line, f.what))
            .collect()
    }

    fn log(&self) -> Vec<String> {
        (0..self.session.len())
            .map(|i| {
                String::from_utf8_lossy(self.session.full(i))
                    .trim_end()
                    .to_string()
            })
            .collect()
    }
}

fn message(role: &str, text: &str) -> String {
    format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\n")
}

fn thought() -> String {
    "{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":\"r\"}\n".to_string()
}

#[test]
fn skip_counts_lines_and_not_messages() {
    let lines = [
        message("system", "rules"),
        "torn\n".into(),
        "\r\n\n".into(),
        message("developer", "more"),
        message("user", "old"),
        thought(),
        "torn\n".into(),
        message("user", "new"),
        message("system", "late"),
    ]
    .concat();
    let read = read_pair(
        &lines,
        r#"{"key":"s","skip":5,"summary":"sum","updated_at":"2026-01-02T00:00:00Z"}"#,
    );
    assert_eq!(read.texts(), ["new", "late"]);
    assert_eq!(read.summary(), "sum");
    assert_eq!(read.rejected(), [8]);
    assert_eq!(
        read.findings()
            .matches("1 of the lines that the sidecar skips")
            .count(),
        1
    );
    let log = read.log();
    let id = |line: &str| Derive::default().id(line.trim_end().as_bytes());
    let (rules, old, new) = (
        id(&message("system", "rules")),
        id(&message("user", "old")),
        id(&message("user", "new")),
    );
    let at = r#""at":"2026-01-02T00:00:00Z""#;
    assert!(log[log.len() - 3].ends_with(&format!(
        r#"{at},"content":"sum","covers":["{rules}","{old}"],"by":"picoclaw"}}"#
    )));
    assert!(log[log.len() - 2].ends_with(&format!(r#"{at},"before":"{new}","keep_system":false}}"#)));
    let hidden = format!(r#"{at},"strategy":"picoclaw","drop":["{}"]}}"#, id(&thought()));
    assert!(log[log.len() - 1].ends_with(&hidden), "{log:#?}");
}

#[test]
fn a_skip_past_the_last_message_hides_everything() {
    let lines = [message("user", "a"), message("system", "b"), thought()].concat();
    for skip in [2, 3] {
        let read = read_pair(&lines, &format!(r#"{{"skip":{skip}}}"#));
        assert!(read.texts().is_empty() && !read.report.is_damaged());
    }
    let beyond = read_pair(&lines, r#"{"skip":4}"#);
    assert!(beyond.texts().is_empty() && beyond.report.is_damaged());
    assert_eq!(read_pair(&lines, r#"{"skip":-1}"#).texts(), ["a", "b"]);
}

#[test]
fn lines_that_are_not_messages_are_preserved_and_hidden() {
    let rejected = [
        "torn",
        "null",
        "{}",
        "[]",
        r#"{"role":"user","content":[{"type":"text","text":"parts"}]}"#,
        r#"{"role":"user","content":"x","tool_calls":[{"id":7}]}"#,
        r#"{"type":"truncate","id":"evt_1","before":null}"#,
        r#"{"type":"session","id":"other"}"#,
    ];
    let lines = format!(
        "{}{}\n{}",
        message("user", "a"),
        rejected.join("\n"),
        message("user", "b")
    );
    let read = read_pair(&lines, "{}");
    assert_eq!(read.texts(), ["a", "b"]);
    assert_eq!(read.rejected(), (2..10).collect::<Vec<u64>>());
    let log = read.log();
    for (index, raw) in rejected.iter().enumerate() {
        let line = &log[index + 2];
        if index < 4 {
            assert_eq!(line, raw.trim_end());
        } else {
            assert_eq!(json::member(line.as_bytes(), "type"), Some(&br#""foreign""#[..]));
            assert_eq!(
                json::text(json::member(line.as_bytes(), "raw").unwrap()).unwrap(),
                *raw
            );
        }
    }
    // Without any message, only the file name identifies a session.
    let none = rejected.join("\n");
    assert!(read_in(&TestDir::new(), Some("x.jsonl"), none.as_bytes()).is_ok());
    for name in [None, Some("x.json"), Some("x.log")] {
        let error = read_in(&TestDir::new(), name, none.as_bytes()).err().unwrap();
        assert_eq!(error.kind, ErrorKind::Data);
    }
}

#[test]
fn positions_refer_to_the_source() {
    let lines = format!(
        "\u{feff}{}\n{{\"role\":\"user\",\"content\":7}}",
        message("user", "a")
    );
    let read = read_pair(&lines, "{}");
    let place = |index: usize| {
        (
            read.session.record(index).place.line,
            read.session.record(index).place.offset,
        )
    };
    assert_eq!((place(1), place(2)), ((1, 3), (3, 34)));
    let finding = &read.report.findings[0];
    assert_eq!((finding.place.line, finding.place.offset), (3, 34 + 25));
    assert_eq!(read.texts(), ["a"]);

    let mark = read_pair(
        &format!("\u{feff}\n{}", message("user", "a")),
        r#"{"key":"s","skip":1}"#,
    );
    assert_eq!(
        (mark.texts(), mark.report.findings.len()),
        (vec!["a".to_string()], 0),
        "it counts as a line"
    );
    assert_eq!(mark.session.len(), 3, "header, message, cut");

    let rejected = read_pair("\u{feff}{\"role\":7}\n\u{feff}{\"role\":\"user\"}\n", "{}");
    assert_eq!(rejected.rejected(), [1, 2]);
    assert_eq!(rejected.report.findings[0].place.offset, 3 + 8);
}

#[test]
fn a_sidecar_may_be_missing_or_damaged() {
    let lines = message("user", "a");
    let broken = read_pair(&lines, "{\"skip\":1,");
    assert_eq!(
        (broken.texts(), broken.report.is_damaged()),
        (vec!["a".to_string()], true)
    );
    let wrong = read_pair(&lines, r#"{"skip":"1","key":"s"}"#);
    assert_eq!(
        (wrong.texts(), wrong.report.is_damaged()),
        (vec!["a".to_string()], true)
    );
    let missing = read_in(&TestDir::new(), Some("a_b.jsonl"), lines.as_bytes()).unwrap();
    assert_eq!(missing.session.header_text("key").as_deref(), Some("a_b"));
    assert!(missing.report.findings.is_empty());
    let other = read_pair(&lines, r#"{"key":"else"}"#);
    assert_eq!(other.session.header_text("key").as_deref(), Some("else"));
    assert!(other.findings().contains("does not match the file name") && !other.report.is_damaged());
    assert!(read_pair(&lines, r#"{"key":"s"}"#).report.findings.is_empty());
}

#[test]
fn either_file_of_a_pair_leads_to_the_same_session() {
    let lines = [message("user", "a"), message("user", "b")].concat();
    let sidecar = r#"{"key":"s","skip":1,"summary":"sum"}"#;
    let dir = TestDir::from([
        ("s.jsonl".to_string(), lines.clone().into_bytes()),
        ("s.meta.json".to_string(), sidecar.as_bytes().to_vec()),
    ]);
    let by_log = read_in(&dir, Some("s.jsonl"), lines.as_bytes()).unwrap();
    let by_sidecar = read_in(&dir, Some("s.meta.json"), sidecar.as_bytes()).unwrap();
    assert_eq!(by_log.log(), by_sidecar.log());
    let alone = read_in(&TestDir::new(), Some("s.meta.json"), sidecar.as_bytes()).unwrap();
    assert_eq!((alone.summary(), alone.texts().len()), ("sum".to_string(), 0));
    // On a pipe, this is not a legacy session even though it has a summary.
    let piped = read_in(&TestDir::new(), None, br#"{"key":"k","summary":"sum","skip":0}"#).unwrap();
    assert!(piped.log()[0].contains(r#""key":"k""#) && !piped.log()[0].contains("members"));
    assert!(read_in(&TestDir::new(), Some("s.meta.json"), br#"{"foo":1}"#).is_err());
}

#[test]
fn a_document_with_damaged_messages_is_read() {
    let document = concat!(
        "{\n \"key\": \"a:b\", \"created\": \"soon\", \"updated\": \"2026-01-02T03:04:05+08:00\",\n \"theme\": [1, 2],\n",
        " \"messages\": [\n  {\"role\": \"user\",\n   \"content\": [{\"type\": \"text\", \"text\": \"parts\"}]},\n",
        "  {\"role\": 5},\n  null,\n  {\"role\": \"assistant\", \"content\": \"b\"}\n ],\n \"summary\": \"s\"\n}"
    );
    let read = read_in(&TestDir::new(), Some("other.json"), document.as_bytes()).unwrap();
    assert_eq!(
        (read.texts(), read.summary()),
        (vec!["parts".to_string(), "b".to_string()], "s".to_string())
    );
    assert_eq!(read.rejected(), [7, 8]);
    assert_eq!(read.report.findings[0].place.line, 2);
    let log = read.log();
    assert!(log[0].starts_with(r#"{"type":"session","version":1,"id":"key_a_3ab","key":"a:b","source":{"#));
    assert!(log[0].ends_with(concat!(
        r#""metadata":{"picoclaw":{"updated":"2026-01-02T03:04:05+08:00","created":"soon","#,
        r#""members":{"theme":[1,2]}}}}"#
    )));
    assert!(log[2].contains(r#"{"type":"foreign","format":"picoclaw","raw":"{\"role\": 5}"}"#));
    assert!(
        log.last()
            .unwrap()
            .contains(r#""at":"2026-01-02T03:04:05+08:00""#)
    );
    for none in [
        r#"{"foo":1}"#, "null", "[]", "", "{\"messages\":[}", r#"{"messages":5}"#, "[{\"role\":\"user\"}]",
    ] {
        for name in [None, Some("x.json")] {
            assert!(read_in(&TestDir::new(), name, none.as_bytes()).is_err(), "{none}");
        }
    }
}

#[test]
fn keys_and_ids_derive_from_the_file_name_or_content() {
    let id = |name: Option<&str>, bytes: &str| {
        let read = read_in(&TestDir::new(), name, bytes.as_bytes()).unwrap();
        (
            read.session.header_text("id").unwrap(),
            read.session.header_text("key"),
        )
    };
    let document = r#"{"messages":[]}"#;
    assert_eq!(id(Some("u.JSON"), document), ("u".into(), Some("u".into())));
    assert_eq!(
        id(Some("u.json.migrated"), document),
        ("u".into(), Some("u".into()))
    );
    assert_eq!(
        id(Some("a b.jsonl"), ""),
        ("key_a_20b".into(), Some("a b".into()))
    );
    let dir = TestDir::from(
        [".meta.json", "x.meta.json"].map(|name| (name.to_string(), br#"{"key":""}"#.to_vec())),
    );
    for (name, key) in [(".jsonl", ""), ("x.jsonl", "x")] {
        let read = read_in(&dir, Some(name), b"").unwrap();
        assert_eq!(read.session.header_text("key").as_deref(), Some(key));
    }
    let lines = message("user", "a");
    let digest = key::sha256(lines.as_bytes());
    assert_eq!(id(None, &lines), (format!("session_{}", &digest[..16]), None));
}

#[test]
fn invalid_bytes_are_read_as_in_go() {
    let mut bytes = b"{\"role\":\"user\",\"content\":\"a\xe2\x82b\"}\n".to_vec();
    bytes.extend_from_slice(br#"{"role":"user","content":"\ud800"}"#);
    let read = read_in(&TestDir::new(), Some("s.jsonl"), &bytes).unwrap();
    assert_eq!(read.texts(), ["a\u{fffd}\u{fffd}b", "\u{fffd}"]);
    assert!(read.log()[2].contains(r"\ud800"));
    let places: Vec<u64> = read
        .report
        .findings
        .iter()
        .map(|finding| finding.place.offset)
        .collect();
    assert_eq!(places, [27]);
}

#[test]
fn aliases_are_trimmed_and_unique() {
    let header = br#"{"type":"session","key":"k","metadata":{"picoclaw":{"aliases":[" a ","k","a","","b\u0021",null]}}}"#;
    assert_eq!(aliases(header), ["a", "b!"]);
    assert!(aliases(b"{\"type\":\"session\"}").is_empty());
    assert!(aliases(b"").is_empty());
}

#[test]
fn nesting_depth_is_unlimited() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let lines = format!("{{\"role\":\"user\",\"content\":\"a\",\"x\":{deep}}}\n{deep}\n");
    let read = read_pair(&lines, &format!("{{\"key\":\"s\",\"x\":{deep}}}"));
    assert_eq!((read.texts(), read.rejected()), (vec!["a".to_string()], vec![2]));
}

#[test]
fn members_unknown_to_picoclaw_are_preserved() {
    let read = read_pair(
        "{\"role\":\"user\",\"content\":\"a\",\"id\":\"m1\",\"n\":123456789012345678901234567890}\n",
        "{}",
    );
    let metadata = json::member(read.session.record(1).body, "metadata").unwrap();
    let members = br#"{"picoclaw":{"members":{"id":"m1","n":123456789012345678901234567890}}}"#;
    assert_eq!(metadata, members);
}
