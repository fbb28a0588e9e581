//! Tests arbitrary bytes: unchanged lines keep their bytes, and reading never panics.

use crate::env::Env;
use convo::format::native::NativeReader;
use convo::format::report::Report;
use convo::format::{DocumentSource, Format, Reader, Sessions, Stream, WritePurpose, convert, detect, write};
use convo::model::stats::Stats;
use convo::model::view::View;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;
use std::io::Cursor;

/// Messages with encodings that parsing and re-encoding would change.
const ODD: [&str; 16] = [
    r#"{"role":"user","content":"plain"}"#,
    r#"{"role" :"user" , "content":  "spaces"  }"#,
    "{\t\"content\":\"turned\",\"role\":\"assistant\"}",
    r#"{"role":"user","content":"big","n":123456789012345678901234567890}"#,
    r#"{"role":"user","content":"float","n":[1e400,-0.0,1.10,1E5]}"#,
    r#"{"role":"user","role":"assistant","content":"twice","content":"again"}"#,
    r#"{"role":"user","content":"lone \ud800 surrogate \udc00"}"#,
    r#"{"role":"user","content":"escaped \u0041\/\u000a"}"#,
    r#"{"role":"user","content":"A","id":"m","metadata":{"a":{"b":[[[[{}]]]]}}}"#,
    r#"{"role":"system","content":"rule"}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{ \"a\" : 1.0 }"}}]}"#,
    r#"{"role":"tool","tool_call_id":"c","content":"result"}"#,
    r#"{"role":"user","content":[{"type":"text","text":"part"},{"type":"odd","x":1e999}]}"#,
    r#"{"type":"unheard-of","id":"evt_1","at":"2026-01-01T00:00:00Z","x":1e400}"#,
    r#"{"role":"user","content":"é \u00e9 日本 \u{202e}"}"#,
    r#"{"role":"user","content":"seal?","metadata":{"_crc":"xyz"}}"#,
];

/// Lines that are not valid records.
const UNREADABLE: [&[u8]; 11] = [
    b"garbage",
    b"{}",
    b"null",
    b"[1,2]",
    b"{\"role\":\"us",
    b"{\"role\":\"user\",\"content\":\"\xff\xfe\"}",
    b"\xef\xbb\xbf{\"role\":\"user\"}",
    b"{\"role\":\"user\"} trailing",
    b"{\"role\":\"user\",}",
    b"\x00\x00\x00",
    b"{'role':'user'}",
];

/// Bytes that a test failure prints as text.
#[derive(Clone)]
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => prop::sample::select(&ODD[..]).prop_map(|line| line.as_bytes().to_vec()),
        2 => "[ -~é日]{0,30}".prop_map(|text| serde_json::json!({"role": "user", "content": text}).to_string().into_bytes()),
        2 => prop::sample::select(&UNREADABLE[..]).prop_map(<[u8]>::to_vec),
        1 => vec(any::<u8>(), 0..40).prop_map(|mut bytes| {
            bytes.retain(|byte| *byte != b'\n');
            bytes
        }),
        1 => Just(Vec::new()),
        1 => Just(b"  \t".to_vec()),
    ]
}

/// A file of lines with both line endings, optionally with byte order mark, header or missing final newline.
fn file() -> impl Strategy<Value = Bytes> {
    let lines = vec((line(), prop::bool::weighted(0.2)), 0..25);
    (lines, any::<bool>(), prop::bool::weighted(0.2), any::<bool>()).prop_map(
        |(lines, header, mark, ended)| {
            let mut bytes = Vec::new();
            if mark {
                bytes.extend_from_slice(b"\xef\xbb\xbf");
            }
            if header {
                bytes.extend_from_slice(b"{\"type\":\"session\", \"version\":1,\"id\":\"x\",\"n\":1e400}\n");
            }
            for (line, crlf) in lines {
                bytes.extend_from_slice(&line);
                bytes.extend_from_slice(if crlf { b"\r\n" } else { b"\n" });
            }
            if !ended {
                bytes.pop();
            }
            Bytes(bytes)
        },
    )
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The nonblank lines without line endings and byte order mark.
fn copied(bytes: &[u8]) -> Vec<&[u8]> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    text.split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.trim_ascii().is_empty())
        .collect()
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn read_formats() -> Vec<Format> {
    Format::ALL
        .into_iter()
        .filter(|format| format.is_read())
        .collect()
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn reading_returns_every_byte_once(Bytes(bytes) in file()) {
        let mut reader = NativeReader::new(Vec::new(), Cursor::new(&bytes));
        let (mut whole, mut report) = (Vec::new(), Report::default());
        while let Some(record) = reader.next(&mut report).unwrap() {
            prop_assert_eq!(record.place.offset, whole.len() as u64);
            whole.extend_from_slice(record.full);
        }
        prop_assert_eq!(whole, bytes);
    }

    #[test]
    fn no_reader_panics(
        Bytes(bytes) in prop_oneof![file(), vec(any::<u8>(), 0..300).prop_map(Bytes), document()],
        to in any::<prop::sample::Index>(),
    ) {
        let written: Vec<Format> = Format::ALL.into_iter().filter(|to| to.is_written() && *to != Format::Native).collect();
        let to = written[to.index(written.len())];
        let _ = detect::detect(&bytes, true, detect::Hints::default());
        for format in Format::ALL.into_iter().filter(|format| format.is_read()) {
            let mut report = Report::default();
            let mut sessions = Vec::new();
            if format.is_lines() {
                let mut reader = Sessions::new(Stream::Records(Box::new(NativeReader::new(Vec::new(), Cursor::new(&bytes)))));
                while let Ok(Some(session)) = reader.next(&mut report) {
                    sessions.push(session);
                }
            } else if let Ok(converted) = convert(format, &DocumentSource::alone(&bytes), &mut report) {
                sessions = converted;
            }
            for session in &sessions {
                let view = View::replay(session);
                let _ = Stats::of(session);
                let _ = write(to, session, &view, WritePurpose::Export, &mut Vec::new(), &mut report);
            }
        }
    }
}

/// Documents of supported systems with a random part replaced.
fn document() -> impl Strategy<Value = Bytes> {
    let whole = prop::sample::select(vec![
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}"#,
        r#"{"system":"s","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r"}]},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"t","name":"f","input":{"n":1}}]}]}"#,
        r#"{"instructions":"s","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"reasoning","id":"r","summary":[]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"r"}]}"#,
        r#"{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}]}"#,
        r#"{"key":"a:b","messages":[{"role":"user","content":"hi","created_at":"2026-03-01T09:00:00Z","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}],"summary":"s","created":"2026-03-01T09:00:00Z","updated":"2026-03-01T09:00:00Z"}"#,
        r#"{"session_id":"session_20260820_110001_21636369","created_at":"2026-08-20T11:00:02.5","last_active":"2026-08-20T11:00:33","messages":[{"id":"msg_1","role":"user","content":"hi","category":"DIALOG","timestamp":"2026-08-20T11:00:02","tokens":1,"metadata":{}}],"metadata":{"title":"t"},"tool_call_records":[],"tool_result_records":[]}"#,
        r#"{"session":{"session_id":"s","messages":[{"role":"user","content":NaN,"category":3}],"metadata":null}}"#,
    ]);
    (
        whole,
        any::<prop::sample::Index>(),
        0usize..12,
        vec(any::<u8>(), 0..6),
    )
        .prop_map(|(whole, at, length, with)| {
            let mut bytes = whole.as_bytes().to_vec();
            let at = at.index(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, with);
            Bytes(bytes)
        })
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn cat_is_the_identity(Bytes(bytes) in file()) {
        let env = Env::new();
        env.write("x.jsonl", &bytes);
        let file = env.run(&["cat", "-q", "--from", "native", "./x.jsonl"]);
        prop_assert_eq!(&file.stdout, &bytes, "{}", &file);
        prop_assert!([0, 65].contains(&file.status));
        let pipe = env.pipe(&["cat", "-q", "--from", "native"], &bytes);
        prop_assert_eq!(&pipe.stdout, &bytes);
        prop_assert_eq!(pipe.status, file.status);
    }

    #[test]
    fn truncate_keeps_lines_unchanged(Bytes(bytes) in file(), keep in 0usize..4) {
        let env = Env::new();
        let run = env.pipe(&["truncate", "-q", "--from", "native", "--keep-last", &keep.to_string()], &bytes);
        prop_assert!([0, 65].contains(&run.status), "{}", &run);
        let mut before = lines(&bytes).into_iter();
        for line in lines(&run.stdout) {
            let open = line.strip_suffix(b"\n").unwrap_or(line);
            prop_assert!(before.any(|old| old == line || old == open), "{:?} is new", String::from_utf8_lossy(line));
        }
        // A cut must keep damaged lines. A byte order mark moved to the front would be interpreted as one.
        prop_assume!(!lines(&bytes).iter().skip(1).any(|line| line.starts_with(b"\xef\xbb\xbf")));
        let unreadable = |bytes: &[u8]| {
            copied(bytes).iter().filter(|line| !line.starts_with(b"{\"") && !line.starts_with(b"{\t")).count()
        };
        prop_assert_eq!(unreadable(&run.stdout), unreadable(&bytes));
    }

    #[test]
    fn migrate_and_cat_preserve_every_line(Bytes(bytes) in file()) {
        let env = Env::new();
        env.write("x.jsonl", &bytes);
        let run = env.run(&["migrate", "-q", "--from", "native", "x.jsonl"]);
        prop_assert!([0, 65].contains(&run.status), "{}", &run);
        if run.out().starts_with("damaged") || run.out().starts_with("not-a-session") {
            prop_assert!(!env.log("x").exists());
            return Ok(());
        }
        let back = env.run(&["cat", "-q", "x"]);
        prop_assert_eq!(back.status, run.status);
        let (before, mut after) = (copied(&bytes), copied(&back.stdout));
        if after.len() == before.len() + 1 {
            let header = after.remove(0);
            let built = header.starts_with(b"{\"type\":\"session\"");
            prop_assert!(built, "{:?}", String::from_utf8_lossy(header));
        }
        let shown = |lines: &[&[u8]]| lines.iter().map(|line| Bytes(line.to_vec())).collect::<Vec<_>>();
        prop_assert!(after == before, "{:?}", shown(&after));
        // Again from the stored bytes.
        let again = env.pipe(&["cat", "-q", "--from", "native"], &back.stdout);
        prop_assert_eq!(again.stdout, back.stdout);
    }

    /// In a few formats each: a test of the library reads such bytes in every format.
    #[test]
    fn the_program_does_not_panic(
        Bytes(bytes) in prop_oneof![vec(any::<u8>(), 0..200).prop_map(Bytes), document()],
        formats in subsequence(read_formats(), 4),
    ) {
        let env = Env::new();
        for format in formats {
            let run = env.pipe(&["cat", "-q", "--from", format.name()], &bytes);
            prop_assert!([0, 65].contains(&run.status), "{}: {}", format.name(), &run);
        }
    }
}

/// "Any byte line that is not touched comes out identical through `cat`, `truncate` and `migrate`."
#[test]
fn carriage_returns_survive_the_store() {
    let env = Env::new();
    let lines = "{\"role\":\"user\",\"content\":\"x\"}\r\nunreadable\r\n";
    env.write("x.jsonl", lines);
    env.run(&["migrate", "-q", "x.jsonl"]).status(65);
    let back = env.run(&["cat", "-q", "x"]).status(65);
    assert!(back.out().ends_with(lines), "{:?}", back.out());
}

#[test]
fn a_byte_order_mark_is_only_at_the_start_of_an_output() {
    let env = Env::new();
    let message = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}");
    env.write("one.jsonl", message("one"));
    env.write("two.jsonl", format!("\u{feff}{}\n", message("two")));
    for arguments in [
        &["cat", "one.jsonl", "two.jsonl"][..],
        &["redact", "one.jsonl", "two.jsonl"],
        &["join", "one.jsonl", "two.jsonl"],
        &["context", "--to", "native", "one.jsonl", "two.jsonl"],
        &["truncate", "--keep-messages", "5", "one.jsonl", "two.jsonl"],
        &["cat", "--pack", "two.jsonl"],
    ] {
        let run = env.run(&[arguments, &["-q"]].concat()).fine();
        assert!(!run.out().contains('\u{feff}'), "{arguments:?}: {run}");
        // The final newline that the first file lacks is added.
        assert!(
            run.out().lines().all(|line| line.ends_with('}')),
            "{arguments:?}: {run}"
        );
        env.pipe(&["cat", "-q", "--strict"], run.out()).fine();
    }
    let run = env.run(&["cat", "two.jsonl"]).fine();
    assert!(run.out().starts_with('\u{feff}'), "{run}");
}
