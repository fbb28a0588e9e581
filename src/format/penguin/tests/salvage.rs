//! A damaged byte affects at most the message that contains it.

use super::super::notice::{is_lost, is_session_name};
use super::{document, lines, message, read_files, whats};
use crate::model::json;
use crate::model::session::Session;
use std::ops::Range;

/// A message in Penguin's encoding.
fn document_message(nth: usize) -> String {
    // A changed byte cannot turn one id into another.
    let id = nth * 0x1111_1111;
    format!(
        r#"{{
      "role": "assistant",
      "content": [
        {{
          "type": "text",
          "text": "one {nth}, \"two\" {{ [ \u00e9"
        }}
      ],
      "category": "DIALOG",
      "id": "msg_{id:08x}",
      "timestamp": "2026-01-02T03:04:{nth:02}Z",
      "metadata": {{
        "tool_calls": [
          {{
            "id": "c{nth}",
            "function": {{
              "name": "f",
              "arguments": "{{\"role\":1}}"
            }}
          }}
        ],
        "inner": {{
          "role": "user",
          "content": "no message",
          "category": "DIALOG"
        }}
      }},
      "tokens": {nth},
      "agent_id": null,
      "message_type": "message"
    }}"#
    )
}

/// A session with this number of messages, on several lines or on one, and the ranges of the messages.
fn session(messages: usize, lines: bool) -> (String, Vec<Range<usize>>) {
    let spell = |text: &str| match lines {
        true => text.to_string(),
        false => String::from_utf8(json::compact(text.as_bytes()).0).unwrap(),
    };
    let mut text = spell(
        r#"{
  "id": "session_x",
  "created_at": "2026-01-02T03:04:05Z",
  "metadata": {
    "title": "T"
  },
  "messages": [
    "#,
    );
    let mut places = Vec::new();
    for nth in 0..messages {
        if nth > 0 {
            text.push_str(&spell(",\n    "));
        }
        let start = text.len();
        text.push_str(&spell(&document_message(nth)));
        places.push(start..text.len());
    }
    text.push_str(&spell(
        r#"
  ],
  "tool_call_records": [
    {
      "record_type": "call"
    }
  ]
}"#,
    ));
    (text, places)
}

/// Lines of messages without their original times: if one time is invalid, all original texts are kept, because they
/// determine the order.
fn untimed_lines(session: &Session) -> Vec<String> {
    let mut lines = lines(session).split_off(1);
    for line in &mut lines {
        let kept = r#""penguin":{"timestamp":""#;
        if let Some(start) = line.find(kept) {
            let end = line[start + kept.len()..]
                .find("\",")
                .map(|end| start + kept.len() + end + 2);
            end.into_iter()
                .for_each(|end| line.replace_range(start + r#""penguin":{"#.len()..end, ""));
        }
    }
    lines
}

/// Damages one byte and reads the file with a backup of its first ten messages.
fn damaged(text: &str, places: &[Range<usize>], bak: &str, all: &[String], at: usize, byte: u8) {
    let mut bytes = text.as_bytes().to_vec();
    bytes[at] = byte;
    let files = [
        ("session_x.json", bytes.as_slice()),
        ("session_x.json.bak", bak.as_bytes()),
    ];
    let (session, report) = read_files("session_x.json", &files);
    let found = untimed_lines(&session.unwrap());
    let touched = places.iter().position(|place| place.contains(&at));
    let case = || {
        let around = &bytes[at.saturating_sub(40)..(at + 40).min(bytes.len())];
        format!(
            "byte {at} became {:?}: {}\n{:#?}\n{found:#?}",
            char::from(byte),
            String::from_utf8_lossy(around),
            whats(&report)
        )
    };
    for (nth, line) in all.iter().enumerate() {
        assert!(
            touched == Some(nth) || found.contains(line),
            "{nth} is lost: {}",
            case()
        );
    }
    let other = found.iter().filter(|line| !all.contains(line)).count();
    assert!(
        other <= usize::from(touched.is_some()) && found.len() <= all.len(),
        "invented: {}",
        case()
    );
    let order: Vec<_> = found
        .iter()
        .filter_map(|line| all.iter().position(|known| known == line))
        .collect();
    assert!(order.is_sorted(), "{}", case());
}

#[test]
fn one_damaged_byte_loses_at_most_its_message() {
    let mut state = 0x2026_u64;
    // Constants: Knuth's MMIX.
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for lines in [true, false] {
        let (text, places) = session(12, lines);
        let (bak, _) = session(10, lines);
        let (whole, report) = read_files("session_x.json", &[("session_x.json", text.as_bytes())]);
        assert!(!report.is_damaged(), "{:?}", whats(&report));
        let all = untimed_lines(&whole.unwrap());
        assert_eq!(all.len(), 12);
        for _ in 0..100 {
            let (at, byte) = (random(text.len()), random(256) as u8);
            damaged(&text, &places, &bak, &all, at, byte);
        }
        // Syntax characters around the messages, and the end of a message that no backup has.
        for at in 0..text.len() {
            let bytes = match places.iter().position(|place| place.contains(&at)) {
                None => &b"{}[]\",: 5"[..],
                Some(10) => b"}",
                Some(_) => continue,
            };
            // A third of them at each offset, and the next third at the next.
            for byte in bytes.iter().skip(at % 3).step_by(3) {
                damaged(&text, &places, &bak, &all, at, *byte);
            }
        }
    }
}

#[test]
fn a_damaged_message_is_taken_from_a_complete_copy() {
    let (text, places) = session(12, true);
    let (bak, _) = session(10, true);
    let at = places[5].start + text[places[5].clone()].find(",\n      \"timestamp\"").unwrap();
    let mut cut = text.into_bytes();
    cut[at] = b'}';
    let (alone, _) = read_files("session_x.json", &[("session_x.json", &cut)]);
    let alone = untimed_lines(&alone.unwrap());
    assert!(alone.len() == 12 && !alone[5].contains("timestamp"));
    let files = [
        ("session_x.json", cut.as_slice()),
        ("session_x.json.bak", bak.as_bytes()),
    ];
    let (session, report) = read_files("session_x.json", &files);
    let all = untimed_lines(&session.unwrap());
    assert!(all.len() == 12 && all[5].contains("timestamp"));
    assert!(
        report.findings[0]
            .what
            .ends_with("11 messages from it, 1 from session_x.json.bak (msg_55555555)"),
        "{:?}",
        whats(&report)
    );
    assert!(
        !whats(&report)
            .iter()
            .any(|what| what.contains("different content"))
    );
}

#[test]
fn duplicate_ids_are_distinguished_by_content() {
    let of = |texts: &[&str]| {
        let messages: Vec<String> = texts.iter().map(|text| message("m", text)).collect();
        document("s", &messages)
    };
    let truncated = of(&["one", "three"]).replace("], \"tool", "");
    let files = of(&["one", "two", "three"]);
    let (session, report) = read_files(
        "s.json",
        &[("s.json", truncated.as_bytes()), ("s.json.bak", files.as_bytes())],
    );
    assert_eq!(session.unwrap().messages().count(), 3);
    let bak = of(&["two", "two"]);
    assert!(
        !whats(&report)
            .iter()
            .any(|what| what.contains("different content"))
    );
    let (session, _) = read_files(
        "s.json",
        &[("s.json", truncated.as_bytes()), ("s.json.bak", bak.as_bytes())],
    );
    assert_eq!(session.unwrap().messages().count(), 4);
}

#[test]
fn cached_counts_do_not_make_content_different() {
    let messages = [message("a", "a"), message("b", "b")];
    let truncated = document("s", &messages).replace("], \"tool", "");
    let bak = document("s", &messages[..1]).replace("\"tokens\": 0", "\"tokens\": 7");
    let read = |bak: &str| {
        let files = [("s.json", truncated.as_bytes()), ("s.json.bak", bak.as_bytes())];
        let (_, report) = read_files("s.json", &files);
        report
            .findings
            .iter()
            .any(|finding| finding.what.contains("has different content"))
    };
    assert!(!read(&bak));
    assert!(read(
        &bak.replace("\"a\", \"category\"", "\"other\", \"category\"")
    ));
}

#[test]
fn messages_under_a_damaged_name_are_read() {
    let text = document("s", &[message("a", "a"), message("b", "b")]).replace("\"messages\"", "\"messagEs\"");
    let (session, report) = read_files("s.json", &[("s.json", text.as_bytes())]);
    let session = session.unwrap();
    assert_eq!(session.messages().count(), 2);
    assert!(!lines(&session)[0].contains("messagEs") && report.is_damaged());
}

#[test]
fn lost_files_and_session_names_are_recognized() {
    for lost in [
        "", " \n", "\0\0", "{", "{\"a\":1} x", "{}", "[]", "\u{feff}{\"a\"",
    ] {
        assert!(is_lost(lost.as_bytes()), "{lost:?}");
    }
    for whole in ["{\"a\":1}", "[1]\n", "5"] {
        assert!(!is_lost(whole.as_bytes()), "{whole:?}");
    }
    assert!(is_session_name("session_20260820_130001_5bc8fbbc.json"));
    for other in [
        "session_20260820_130001_5bc8fbbg.json",
        "session_20260820_130001.json",
        "session_20260820_130001_5bc8fbbc.jsonl",
        "session_2026082_130001_5bc8fbbc.json",
        "recovery_20260820_130001.json",
    ] {
        assert!(!is_session_name(other), "{other}");
    }
}
