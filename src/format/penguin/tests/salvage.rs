//! One damaged byte costs at most the message that it is in.

use super::{lines, read_files, whats};
use crate::model::json;
use crate::model::session::Session;
use std::ops::Range;

/// A message, spelled as Penguin does it.
fn spelled(nth: usize) -> String {
    // No byte makes one of another.
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
          "content": "no message"
        }}
      }},
      "tokens": {nth},
      "agent_id": null,
      "message_type": "message"
    }}"#
    )
}

/// A session of so many messages, in lines or in one, and where the messages are in it.
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
        text.push_str(&spell(&spelled(nth)));
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

/// Lines of messages.
fn said(session: &Session) -> Vec<String> {
    lines(session).split_off(1)
}

/// Damages one byte and reads the file with a copy of its first ten messages.
fn damaged(text: &str, places: &[Range<usize>], bak: &str, all: &[String], at: usize, byte: u8) {
    let mut bytes = text.as_bytes().to_vec();
    bytes[at] = byte;
    let files = [
        ("session_x.json", bytes.as_slice()),
        ("session_x.json.bak", bak.as_bytes()),
    ];
    let (session, report) = read_files("session_x.json", &files);
    let found = said(&session.unwrap());
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
fn one_damaged_byte_costs_at_most_the_message_that_it_is_in() {
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
        let all = said(&whole.unwrap());
        assert_eq!(all.len(), 12);
        for _ in 0..250 {
            let (at, byte) = (random(text.len()), random(256) as u8);
            damaged(&text, &places, &bak, &all, at, byte);
        }
        // What means something, around the messages; and what ends one that no copy has.
        for at in 0..text.len() {
            let bytes = match places.iter().position(|place| place.contains(&at)) {
                None => &b"{}[]\",: 5"[..],
                Some(10) => b"}",
                Some(_) => continue,
            };
            for byte in bytes {
                damaged(&text, &places, &bak, &all, at, *byte);
            }
        }
    }
}
