//! Tests requests: they contain every message once, in chunks within the limit.

use super::{SummaryOptions, SummaryRequestOptions, asked, in_chunks};
use crate::model::json::{self, Dialect};
use crate::model::session::Session;

fn session() -> Session {
    let mut session = Session::default();
    session.push_new(br#"{"type":"session","version":1,"id":"s"}"#);
    for nth in 0..12 {
        let words = "word ".repeat(if nth == 5 { 400 } else { 20 });
        let lines = [
            format!(
                r#"{{"role":"user","content":"Q{nth}. {words}","id":"u{nth}","timestamp":"2026-01-01T00:00:00Z"}}"#
            ),
            format!(
                r#"{{"role":"assistant","content":null,"id":"c{nth}","tool_calls":[{{"id":"t{nth}","type":"function","function":{{"name":"read","arguments":"{{\"n\":{nth}}}"}}}}]}}"#
            ),
            format!(r#"{{"role":"tool","tool_call_id":"t{nth}","content":"R{nth}. {words}","id":"r{nth}"}}"#),
            format!(
                r#"{{"role":"assistant","content":"A{nth}.","id":"a{nth}","reasoning":[{{"type":"text","text":"secret"}}]}}"#
            ),
        ];
        lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    }
    session
}

/// The messages of each chunk: id, content, and part number.
fn messages(options: &SummaryOptions) -> Vec<Vec<(String, String, Option<String>)>> {
    let request = asked(&session(), options);
    let piece = |nth: usize| {
        let line = request.line(nth, Some("so far"));
        let raw = json::member(&line, "messages").unwrap();
        let text = |raw: &[u8], name: &str| json::member_string(raw, name);
        let one = |raw: &[u8]| {
            let part = json::member(raw, "part").map(|raw| String::from_utf8_lossy(raw).into_owned());
            (text(raw, "id").unwrap(), text(raw, "content").unwrap(), part)
        };
        json::elements(raw, Dialect::Strict)
            .unwrap()
            .into_iter()
            .map(one)
            .collect()
    };
    (0..request.chunk_count()).map(piece).collect()
}

#[test]
fn one_chunk_contains_everything_except_reasoning() {
    let request = asked(&session(), &SummaryOptions::default());
    assert_eq!(request.chunk_count(), 1);
    assert_eq!(request.ids.len(), 40);
    assert_eq!(request.covers, ["u0".to_string(), "a9".to_string()]);
    let line = String::from_utf8(request.line(0, Some("ignored"))).unwrap();
    assert!(line.contains(r#""previous_summary":null"#) && line.contains(r#""chunk":[1,1]"#));
    assert!(!line.contains("secret"));
    assert!(line.contains(r#""arguments":"{\"n\":3}""#) && line.contains(r#""tool_call_id":"t3""#));
}

#[test]
fn chunks_end_between_exchanges_and_cover_everything_once() {
    let whole = messages(&SummaryOptions::default());
    let options = SummaryOptions {
        request: in_chunks(400),
        summary_budget: Some(100),
        ..SummaryOptions::default()
    };
    let pieces = messages(&options);
    assert!(pieces.len() > 4, "{}", pieces.len());
    // In a chunk without divided messages, exchanges are complete.
    for piece in &pieces {
        let whole: Vec<_> = piece.iter().filter(|(_, _, part)| part.is_none()).collect();
        if whole.len() == piece.len() {
            let kinds: Vec<&str> = whole.iter().map(|(id, _, _)| &id[..1]).collect();
            assert!(
                kinds.starts_with(&["u"]) && kinds.ends_with(&["a"]) || kinds == ["c"] || kinds == ["a"],
                "{kinds:?}"
            );
        }
    }
    // The parts of divided messages add up to the originals.
    let mut joined: Vec<(String, String)> = Vec::new();
    for (id, content, part) in pieces.into_iter().flatten() {
        match joined.last_mut() {
            Some((last, text)) if *last == id && part.is_some() => text.push_str(&content),
            _ => joined.push((id, content)),
        }
    }
    let whole: Vec<(String, String)> = whole
        .into_iter()
        .flatten()
        .map(|(id, content, _)| (id, content))
        .collect();
    assert_eq!(joined, whole);
}

#[test]
fn a_later_chunk_includes_the_previous_answer() {
    let options = SummaryOptions {
        request: in_chunks(400),
        summary_budget: Some(100),
        ..SummaryOptions::default()
    };
    let request = asked(&session(), &options);
    let line = String::from_utf8(request.line(1, Some("so far"))).unwrap();
    assert!(line.contains(r#""previous_summary":"so far""#) && line.contains(r#""chunk":[2,"#));
    let error = super::build_request(
        &session(),
        super::counter(&session()),
        &SummaryOptions {
            request: SummaryRequestOptions {
                chunk: Some(150),
                ..SummaryRequestOptions::default()
            },
            ..options
        },
    )
    .unwrap_err();
    assert!(error.message.starts_with("--chunk 150 is too small"), "{error:?}");
}

#[test]
fn results_are_whole_unless_their_length_is_limited() {
    let mut session = session();
    let result = format!("begun {}ended", "0123456789 ".repeat(2000));
    let line = format!(r#"{{"role":"tool","tool_call_id":"t3","content":"{result}","id":"r3"}}"#);
    let mut lines: Vec<Vec<u8>> = (0..session.len()).map(|at| session.full(at).to_vec()).collect();
    let at = lines
        .iter()
        .position(|line| json::member(line, "id") == Some(b"\"r3\""));
    lines[at.unwrap()] = line.into_bytes();
    session = Session::default();
    lines.iter().for_each(|line| session.push_new(line));
    let given = |tool_max: Option<usize>, chunk: Option<u64>| {
        let request = asked(
            &session,
            &SummaryOptions {
                request: SummaryRequestOptions {
                    tool_max,
                    ..in_chunks(chunk)
                },
                summary_budget: Some(100),
                ..SummaryOptions::default()
            },
        );
        let lines: Vec<String> = (0..request.chunk_count())
            .map(|piece| String::from_utf8(request.line(piece, None)).unwrap())
            .collect();
        (request.sha256, lines)
    };
    let (sha256, whole) = given(None, None);
    assert!(whole[0].contains(&result), "a result is shortened unasked");
    let (same, short) = given(Some(300), None);
    assert_eq!(same, sha256, "the fingerprint is that of the whole lines");
    let has_mark = |text: &str| text.contains("\\n[convo: 21,714 of 22,011 bytes elided]\\n");
    assert!(has_mark(&short[0]), "{}", short[0]);
    assert!(short[0].contains("begun 01234") && short[0].contains("ended"));
    assert!(
        short[0].contains(&"word ".repeat(400)),
        "what a user says is no result"
    );
    // The shortened result is what is divided into chunks.
    let (_, pieces) = given(Some(300), Some(400));
    assert!(pieces.len() > 1 && pieces.iter().any(|piece| has_mark(piece)));
}
