//! Tests splits of small sessions; `properties.rs` has random ones.

mod properties;

use super::*;
use crate::model::json;
use crate::model::session::of_lines as session;
use crate::tokens::Tokenizer;
use std::time::Duration;

const HEADER: &str =
    r#"{"type":"session","version":1,"id":"s","title":"T","key":"k","created_at":"2026-01-01T00:00:00Z"}"#;

/// Builds a session with one message per letter: `s`ystem, `u`ser, `a`ssistant, `c`all, `t`ool, `e`vent message; a
/// digit sets the hour of the following messages.
fn talk(letters: &str) -> Session {
    let mut lines = vec![HEADER.to_string()];
    let mut time = String::new();
    for (nth, letter) in letters.chars().enumerate() {
        let line = match letter {
            's' => r#""role":"system","content":"rules""#,
            'u' => r#""role":"user","content":"question""#,
            'a' => r#""role":"assistant","content":"answer""#,
            'e' => r#""role":"user","content":"it happened","category":"context""#,
            'c' => {
                r#""role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]"#
            }
            't' => r#""role":"tool","tool_call_id":"c","content":"result""#,
            hour => {
                time = format!(
                    r#","timestamp":"2026-01-01T{:02}:00:00Z""#,
                    hour.to_digit(10).unwrap() * 4
                );
                continue;
            }
        };
        lines.push(format!(r#"{{{line},"id":"m{nth}"{time}}}"#));
    }
    session(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn plan<'s>(session: &'s Session, ways: &SplitConditions) -> PlannedSplit<'s> {
    PlannedSplit::plan(session, ways, CopyPolicy::System, None).unwrap()
}

/// The letters of the parts, with copies in brackets.
fn cut(letters: &str, ways: &SplitConditions, carry: CopyPolicy) -> String {
    let session = talk(letters);
    let split = PlannedSplit::plan(&session, ways, carry, None).unwrap();
    let letter = |id: &str| letters.chars().nth(id[1..].parse().unwrap()).unwrap().to_string();
    let pieces = (0..split.parts.len()).map(|nth| {
        let piece = split.build_part(nth).unwrap().session;
        let view = View::replay(&piece);
        let one = |message: crate::model::message::Message<'_>| {
            let of = message
                .metadata
                .and_then(|raw| json::member(raw, "copied_from"))
                .and_then(json::text);
            match of {
                Some(of) => format!("({})", letter(&of)),
                None => letter(&message.id().unwrap()),
            }
        };
        view.messages(&piece).map(one).collect::<String>()
    });
    pieces.collect::<Vec<_>>().join(" ")
}

fn at(ids: &[&str]) -> SplitConditions {
    SplitConditions {
        at: ids.iter().map(ToString::to_string).collect(),
        ..SplitConditions::default()
    }
}

fn messages(max: u64) -> SplitConditions {
    SplitConditions {
        max_messages: Some(max),
        ..SplitConditions::default()
    }
}

#[test]
fn exchanges_are_not_split() {
    assert_eq!(cut("suauctaua", &messages(5), CopyPolicy::None), "sua ucta ua");
    assert_eq!(cut("suauctaua", &messages(3), CopyPolicy::None), "sua ucta ua");
    assert_eq!(cut("suauctaua", &messages(9), CopyPolicy::None), "suauctaua");
    assert_eq!(cut("sua", &messages(1), CopyPolicy::None), "sua");
    assert_eq!(cut("", &messages(1), CopyPolicy::None), "");
    // A result after the next question keeps both exchanges together.
    assert_eq!(cut("ucutuaua", &messages(2), CopyPolicy::None), "ucut ua ua");
    let turns = SplitConditions {
        every_turns: Some(2),
        ..SplitConditions::default()
    };
    assert_eq!(cut("suauauaua", &turns, CopyPolicy::None), "suaua uaua");
}

#[test]
fn active_messages_are_copied_and_counted() {
    assert_eq!(
        cut("suaeuasua", &messages(4), CopyPolicy::System),
        "suae (s)uas (s)(s)ua".replace("(s)(s)", "(s)")
    );
    assert_eq!(
        cut("suaeuaua", &messages(4), CopyPolicy::Context),
        "suae (s)(e)ua (s)(e)ua"
    );
    let session = talk("suaua");
    let full = PlannedSplit::plan(&session, &messages(1), CopyPolicy::System, None).unwrap_err();
    assert_eq!(full.kind, crate::error::ErrorKind::Usage);
}

#[test]
fn an_oversized_exchange_is_reported() {
    let session = talk("uauctctctaua");
    let large = |split: &PlannedSplit<'_>| {
        split
            .parts
            .iter()
            .map(|part| part.is_too_large)
            .collect::<Vec<_>>()
    };
    assert_eq!(large(&plan(&session, &messages(3))), [false, true, false]);
    let tokens = SplitConditions {
        max_tokens: Some(30),
        ..SplitConditions::default()
    };
    let counter = Counter::of(Tokenizer::DEFAULT, &session);
    let split = PlannedSplit::plan(&session, &tokens, CopyPolicy::System, Some(counter)).unwrap();
    assert_eq!(large(&split), [false, true, false]);
    assert!(split.parts.iter().all(|part| part.tokens > 0));
}

#[test]
fn a_requested_cut_moves_to_the_start_of_its_exchange() {
    assert_eq!(cut("suauaua", &at(&["m3", "m5"]), CopyPolicy::None), "sua ua ua");
    let session = talk("suaucta");
    let split = plan(&session, &at(&["m5", "m1"]));
    assert_eq!(split.parts.len(), 2);
    assert_eq!(
        split.notes,
        [
            "moved the split point m5 to the start of its exchange",
            "not split at m1: part of the first exchange",
        ]
    );
    let error = PlannedSplit::plan(&session, &at(&["m99"]), CopyPolicy::None, None).unwrap_err();
    assert_eq!(error.kind, crate::error::ErrorKind::No);
}

#[test]
fn time_ends_a_piece() {
    let gap = |hours: u64| SplitConditions {
        gap: Some(Duration::from_secs(3600 * hours)),
        ..SplitConditions::default()
    };
    // The answer comes late, the next question soon after; then a pause.
    assert_eq!(
        cut("1ua2u5aua1ua", &gap(8), CopyPolicy::None),
        "uauaua ua".replace("ua ua", "uaua")
    );
    assert_eq!(cut("0ua3ua3ua5ua", &gap(8), CopyPolicy::None), "ua uaua ua");
    assert_eq!(cut("0ua3ua3ua5ua", &gap(9), CopyPolicy::None), "ua uauaua");
    // Messages without a time are ignored, and backward steps in time are not pauses.
    assert_eq!(cut("uaua", &gap(0), CopyPolicy::None), "uaua");
    assert_eq!(cut("5ua0ua", &gap(1), CopyPolicy::None), "uaua");
    let untimed = talk("uaua");
    assert_eq!(plan(&untimed, &gap(1)).notes.len(), 1);
}

#[test]
fn pieces_are_a_chain() {
    let session = talk("suauaua");
    let split = plan(&session, &at(&["m3", "m5"]));
    let pieces: Vec<Session> = (0..3).map(|nth| split.build_part(nth).unwrap().session).collect();
    let header = |nth: usize, name: &str| {
        let value = pieces[nth].header_member(name);
        value.map(|raw| String::from_utf8_lossy(raw).into_owned())
    };
    let links: Vec<_> = (0..3)
        .map(|nth| {
            let last = pieces[nth].record(pieces[nth].len() - 1).body;
            (
                header(nth, "id").unwrap(),
                header(nth, "continued_from"),
                json::member_string(last, "continued_to"),
            )
        })
        .collect();
    let quoted = |text: &str| Some(format!("\"{text}\""));
    assert_eq!(
        links,
        [
            (quoted("s.1").unwrap(), None, Some("s.2".to_string())),
            (quoted("s.2").unwrap(), quoted("s.1"), Some("s.3".to_string())),
            (quoted("s.3").unwrap(), quoted("s.2"), None),
        ]
    );
    assert_eq!(header(1, "continuation_index").unwrap(), "1");
    assert_eq!(header(1, "title").unwrap(), "\"T (2/3)\"");
    assert_eq!(header(1, "key"), None);
    assert_eq!(
        header(2, "metadata").unwrap(),
        r#"{"lineage":{"kind":"split","parent":"s","title":"T","part":3,"parts":3}}"#
    );
}

#[test]
fn ids_are_safe_and_in_order() {
    let lines = |id: &str| {
        let mut lines = vec![format!(r#"{{"type":"session","version":1,"id":"{id}"}}"#)];
        lines.extend((0..12).map(|_| {
            r#"{"role":"user","content":"q"}"#.to_string() + "\n" + r#"{"role":"assistant","content":"a"}"#
        }));
        lines.join("\n")
    };
    let long = "x".repeat(128);
    let odd = json::members(b"{}", json::Dialect::Strict)
        .map(|_| "a/b")
        .unwrap();
    for (id, first) in [("s", "s.01"), (odd, "key_a_2fb.01"), (long.as_str(), "hash_")] {
        let text = lines(id);
        let session = session(&text.lines().collect::<Vec<_>>());
        let turns = SplitConditions {
            every_turns: Some(1),
            ..SplitConditions::default()
        };
        let split = plan(&session, &turns);
        let ids: Vec<String> = (0..12).map(|nth| split.id(nth)).collect();
        assert!(
            ids[0].starts_with(first) && ids.iter().all(|id| key::is_id(id)),
            "{ids:?}"
        );
        assert!(ids.is_sorted());
    }
}

#[test]
fn events_are_copied_into_the_part_that_they_change() {
    let event =
        |id: &str, rest: &str| format!(r#"{{"type":"{rest},"id":"{id}","at":"2026-01-01T00:00:00Z"}}"#);
    let mut session = talk("suauaua");
    session.push_new(event("e1", r#"summary","content":"so far","covers":["m1","m2"]"#).as_bytes());
    session.push_new(
        event(
            "e2",
            r#"compact","edit":[{"id":"m4","content":"shorter"}],"drop":["m6"]"#,
        )
        .as_bytes(),
    );
    let split = plan(&session, &at(&["m3", "m5"]));
    let names = |nth: usize| {
        let piece = split.build_part(nth).unwrap().session;
        let events =
            (0..piece.len()).filter_map(|index| Some(piece.record(index).event()?.name().into_owned()));
        events.collect::<Vec<_>>().join(" ")
    };
    // Nothing in the first exchange begins an exchange any more: its summary belongs to the next one.
    assert_eq!(split.parts.len(), 2);
    assert_eq!(names(0), "session summary compact link");
    assert_eq!(names(1), "session compact");
    let restored = split.build_part(1).unwrap().session;
    assert!(restored.text().contains("\"m6\""), "what is out of view is kept");
    assert_eq!(View::replay(&restored).items.len(), 2);
}
