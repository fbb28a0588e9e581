//! Damaged inputs of every format: readers report the damage, do not panic, and keep the undamaged messages.

use super::{RICH, session};
use crate::error::ErrorKind;
use crate::format::detect::{self, Hints};
use crate::format::report::Report;
use crate::format::{DocumentSource, Format, WritePurpose, WriteTarget, convert, write};
use crate::model::json::{self, Dialect};
use crate::model::session::Session;
use crate::model::view::View;

/// A session whose messages each contain a unique word.
const TALK: &str = r#"{"type":"session","version":1,"id":"talk","created_at":"2026-01-02T03:04:00Z"}
{"role":"system","content":"alpha","id":"m0","timestamp":"2026-01-02T03:04:00Z"}
{"role":"user","content":"bravo","id":"m1","timestamp":"2026-01-02T03:04:01Z"}
{"role":"assistant","content":"charlie","id":"m2","timestamp":"2026-01-02T03:04:02Z","tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"at\":\"delta\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"echo","id":"m3","timestamp":"2026-01-02T03:04:03Z"}
{"role":"assistant","content":"foxtrot","id":"m4","timestamp":"2026-01-02T03:04:04Z"}
{"role":"user","content":"golf","id":"m5","timestamp":"2026-01-02T03:04:05Z"}
{"role":"assistant","content":"hotel","id":"m6","timestamp":"2026-01-02T03:04:06Z"}
"#;

/// These words.
const WORDS: [&str; 8] = [
    "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel",
];

/// Inputs for formats that cannot be written.
const SAMPLES: &[(&str, &str)] = &[
    (
        "chatgpt-export",
        r#"[{"title":"talk","id":"talk","mapping":{
"m0":{"id":"m0","parent":null,"message":{"author":{"role":"system"},"content":{"content_type":"text","parts":["alpha"]}}},
"m1":{"id":"m1","parent":"m0","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["bravo"]}}},
"m2":{"id":"m2","parent":"m1","message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["charlie"]}}},
"c2":{"id":"c2","parent":"m2","message":{"author":{"role":"assistant"},"recipient":"look","content":{"content_type":"code","text":"delta"}}},
"m3":{"id":"m3","parent":"c2","message":{"author":{"role":"tool"},"content":{"content_type":"execution_output","text":"echo"}}},
"m4":{"id":"m4","parent":"m3","message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["foxtrot"]}}}
},"current_node":"m4"},
{"title":"more","id":"more","mapping":{
"m5":{"id":"m5","parent":null,"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["golf"]}}},
"m6":{"id":"m6","parent":"m5","message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["hotel"]}}}
},"current_node":"m6"}]
"#,
    ),
    (
        "claude-ai-export",
        r#"[{"uuid":"talk","name":"alpha","chat_messages":[
{"uuid":"m1","sender":"human","text":"bravo"},
{"uuid":"m2","sender":"assistant","text":"","content":[
{"type":"text","text":"charlie"},
{"type":"tool_use","id":"c","name":"look","input":{"at":"delta"}},
{"type":"tool_result","tool_use_id":"c","content":"echo"},
{"type":"text","text":"foxtrot"}]}]},
{"uuid":"more","chat_messages":[
{"uuid":"m5","sender":"human","text":"golf"},
{"uuid":"m6","sender":"assistant","text":"hotel"}]}]
"#,
    ),
];

/// An input for each format that is read.
pub(super) fn samples() -> Vec<(Format, Vec<u8>)> {
    let talk = session(TALK);
    let view = View::replay(&talk);
    let mut samples = Vec::new();
    for format in Format::ALL.into_iter().filter(|format| format.is_read()) {
        let mut bytes = Vec::new();
        if format == Format::Native {
            bytes = TALK.as_bytes().to_vec();
        } else if format.spec().write.is_some() {
            let mut report = Report::default();
            write(
                format,
                &talk,
                &view,
                WritePurpose::Export,
                &mut bytes,
                &mut report,
            )
            .unwrap();
        } else {
            let sample = SAMPLES.iter().find(|(name, _)| *name == format.name());
            bytes.extend_from_slice(
                sample
                    .unwrap_or_else(|| panic!("no sample of {}", format.name()))
                    .1
                    .as_bytes(),
            );
        }
        samples.push((format, bytes));
    }
    samples
}

/// Reads bytes, as lines or as a document: the sessions and whether damage was reported, or the error.
fn read(format: Format, bytes: &[u8], lines: bool) -> Result<(Vec<Session>, bool), String> {
    detect::detect(&bytes[..bytes.len().min(detect::HEAD)], true, Hints::default());
    let mut report = Report::default();
    if format.is_lines() {
        let text = String::from_utf8_lossy(bytes);
        let session = session(&text);
        let unreadable = |line| session.class(line) == crate::model::session::Class::Unreadable;
        let damaged = (0..session.len()).any(unreadable);
        return Ok((vec![session], damaged));
    }
    let mut source = DocumentSource::alone(bytes);
    source.name = Some(if lines { "talk.jsonl" } else { "talk.json" });
    match convert(format, &source, &mut report) {
        Ok(sessions) => Ok((sessions, report.is_damaged())),
        Err(error) => {
            assert!(!error.message.is_empty());
            assert!(
                matches!(error.kind, ErrorKind::Data | ErrorKind::Unsafe),
                "{}: {error:?}",
                format.name()
            );
            Err(error.message)
        }
    }
}

fn is_whole(text: &[u8]) -> bool {
    let end = json::skip_space(text, 0);
    json::value_end(text, end, Dialect::Python).is_ok_and(|end| json::skip_space(text, end) == text.len())
}

/// Whether each line of the file is a value.
fn has_lines(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.clone().count() > 2 && lines.all(is_whole)
}

#[test]
fn every_sample_is_read_completely() {
    for (format, bytes) in samples() {
        let (sessions, damaged) = read(format, &bytes, has_lines(&bytes)).unwrap();
        let text: String = sessions.iter().map(Session::text).collect();
        assert!(!damaged, "{}", format.name());
        let missing: Vec<_> = WORDS.iter().filter(|word| !text.contains(*word)).collect();
        // Data that an API cannot represent was lost in writing.
        let spare = String::from_utf8_lossy(&bytes).into_owned();
        let lost: Vec<_> = missing
            .into_iter()
            .filter(|word| spare.contains(**word))
            .collect();
        assert!(lost.is_empty(), "{}: {lost:?}", format.name());
    }
}

#[test]
fn truncation_is_reported() {
    let mut quiet = Vec::new();
    for (format, bytes) in samples() {
        for tenth in 1..10 {
            let cut = &bytes[..bytes.len() * tenth / 10];
            let last = cut.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            let json = matches!(bytes[0], b'{' | b'[');
            let fine = !json
                || match has_lines(&bytes) {
                    true => last.is_empty() || is_whole(last),
                    false => is_whole(cut),
                };
            match read(format, cut, has_lines(&bytes)) {
                Ok((_, false)) if !fine => quiet.push(format!("{} at {tenth}/10", format.name())),
                _ => {}
            }
        }
    }
    assert!(quiet.is_empty(), "{}", quiet.join("\n"));
}

#[test]
fn a_damaged_line_affects_no_other_line() {
    let mut wrong = Vec::new();
    for (format, bytes) in samples() {
        if !has_lines(&bytes) {
            continue;
        }
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let whole: String = read(format, &bytes, true)
            .unwrap()
            .0
            .iter()
            .map(Session::text)
            .collect();
        for nth in 0..lines.len() {
            let mut damaged = bytes.clone();
            let start: usize = lines[..nth].iter().map(|line| line.len()).sum();
            damaged[start + lines[nth].len() / 2] = 1;
            let outcome = read(format, &damaged, true);
            let Ok((sessions, reported)) = outcome else {
                wrong.push(format!("{} line {}: {:?}", format.name(), nth + 1, outcome.err()));
                continue;
            };
            let text: String = sessions.iter().map(Session::text).collect();
            let own = String::from_utf8_lossy(lines[nth]);
            let removed: Vec<_> = WORDS
                .iter()
                .filter(|word| whole.contains(**word) && !own.contains(**word) && !text.contains(**word))
                .collect();
            if !reported || !removed.is_empty() {
                wrong.push(format!(
                    "{} line {}: reported {reported}, gone {removed:?}",
                    format.name(),
                    nth + 1
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_formats_in_one_input_never_panic() {
    let samples = samples();
    let mut pairs = 0;
    for (format, one) in &samples {
        for (other, two) in &samples {
            let both = [&one[..], b"\n", two].concat();
            let _ = read(*format, &both, has_lines(one));
            let _ = read(*other, &both, has_lines(two));
            pairs += 1;
        }
    }
    assert_eq!(pairs, samples.len() * samples.len());
}

/// A session with all kinds of data, in every format that can be written, must be readable without a panic when
/// truncated anywhere.
#[test]
fn a_rich_session_cut_anywhere_never_panics() {
    let rich = session(RICH);
    let view = View::replay(&rich);
    for format in Format::ALL.into_iter().filter(|format| format.is_read()) {
        let Some(save) = format.spec().write else { continue };
        let mut bytes = Vec::new();
        save(
            &rich,
            &view,
            WriteTarget(WritePurpose::Export, &mut bytes, &mut Report::default()),
        )
        .unwrap();
        for at in (0..bytes.len()).step_by(13) {
            let _ = read(format, &bytes[..at], has_lines(&bytes));
        }
    }
}

#[test]
fn every_line_ends_with_a_newline() {
    let halves: [&[u8]; 4] = [
        b"{\n  \"key\": \"x\",\n  \"skip\": 0\n}",
        b"{\"role\": \"user\"",
        b"a\xff",
        b"{\"type\":\"session\",\"id\":\"s\"}\n{\"half",
    ];
    // A record stream keeps its bytes.
    let documents = Format::ALL
        .into_iter()
        .filter(|format| !matches!(format, Format::Native | Format::Jsonl));
    for format in documents {
        for half in halves {
            let sessions = convert(format, &DocumentSource::alone(half), &mut Report::default());
            for session in sessions.unwrap_or_default() {
                let ends = |line: usize| session.full(line).ends_with(b"\n");
                assert!(
                    (0..session.len()).all(ends),
                    "{}: {}",
                    format.name(),
                    session.text()
                );
            }
        }
    }
}
