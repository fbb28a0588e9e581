//! Tests of framing tokens.

use super::*;
use crate::error::Position;
use crate::model::record::Record;
use crate::tokens::Tokenizer;

/// One token per byte, so that counted texts can be read from the sum.
fn sum(line: &str) -> u64 {
    let record = Record::parse(line.as_bytes(), Position::default());
    sent(record.message().unwrap(), ImageRule::OpenAi, &|text| {
        text.len() as u64
    })
}

/// Framing tokens of a message of role user.
const USER: u64 = FRAME + 4;

#[test]
fn names_calls_and_results() {
    assert_eq!(sum(r#"{"role":"user","content":"12345"}"#), USER + 5);
    assert_eq!(
        sum(r#"{"role":"user","content":"12345","name":"bob"}"#),
        USER + 5 + NAME + 3
    );
    assert_eq!(sum(r#"{"role":"user","content":null}"#), USER);
    assert_eq!(sum(r#"{"role":"user"}"#), USER);
    let call = r#"{"role":"user","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}}]}"#;
    assert_eq!(sum(call), USER + CALL + 2 + 4 + 7);
    let custom =
        r#"{"role":"user","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"run","input":"ls"}}]}"#;
    assert_eq!(sum(custom), USER + CALL + 2 + 3 + 2);
    assert_eq!(
        sum(r#"{"role":"tool","tool_call_id":"c1","content":"22 C"}"#),
        FRAME + 4 + 2 + 4
    );
    // Data that is not sent costs nothing.
    assert_eq!(
        sum(r#"{"role":"user","content":"1","id":"msg_1","timestamp":"t","metadata":{"a":"b"},"x":"y"}"#),
        USER + 1
    );
}

#[test]
fn parts_of_every_kind() {
    let part = |part: &str| sum(&format!(r#"{{"role":"user","content":[{part}]}}"#)) - USER;
    assert_eq!(
        part(r#"{"type":"text","text":"123"},{"type":"text","text":"45"}"#),
        5
    );
    assert_eq!(part(r#"{"type":"input_text","text":"123"}"#), 3);
    assert_eq!(part(r#"{"type":"refusal","refusal":"no"}"#), 2);
    assert_eq!(
        part(r#"{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}"#),
        765
    );
    assert_eq!(
        part(r#"{"type":"image_url","image_url":{"url":"https://example.org/a.png","detail":"low"}}"#),
        85
    );
    // 16,000 bytes of MP3 are a second.
    let sound = "A".repeat(16_000 / 3 * 4);
    assert_eq!(
        part(&format!(
            r#"{{"type":"input_audio","input_audio":{{"data":"{sound}","format":"mp3"}}}}"#
        )),
        10
    );
    assert_eq!(part(r#"{"type":"audio","audio":{"id":"audio_1"}}"#), 600);
    assert_eq!(part(r#"{"type":"file","file":{"file_id":"file_1"}}"#), 3000);
    assert_eq!(
        part(r#"{"type":"file","file":{"file_data":"data:text/plain;base64,aGVsbG8="}}"#),
        5
    );
    assert_eq!(
        part(r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hello"}}"#),
        5
    );
    assert_eq!(
        part(r#"{"type":"thinking","thinking":"why","signature":"AAAAAAAA"}"#),
        3
    );
    let result = r#"{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"123"},{"type":"image_url","image_url":"x"}]}"#;
    assert_eq!(part(result), 2 + 3 + 765);
    assert_eq!(
        part(r#"{"type":"odd","a":"bc","d":[1,"e"]}"#),
        4 + 3 + 1 + 2 + 1 + 7
    );
    assert_eq!(part(r#"7"#), 1);
}

#[test]
fn data_in_unknown_parts_counts_no_tokens() {
    let data = "QUJD".repeat(100_000);
    for raw in [
        format!(r#"{{"type":"odd","blob":"{data}"}}"#),
        format!(r#"{{"type":"odd","deep":{{"list":["{data}","data:x;base64,AAAA"]}}}}"#),
        format!(r#"["{data}"]"#),
    ] {
        let line = format!(r#"{{"role":"user","content":[{raw}]}}"#);
        assert!(sum(&line) < 60, "{}", sum(&line));
    }
    let prose = "what was message_tokens, ".repeat(1000);
    let line = format!(r#"{{"role":"user","content":[{{"type":"odd","note":"{prose}"}}]}}"#);
    assert!(sum(&line) > 15_000);
}

#[test]
fn reasoning_counts_as_its_text() {
    let of = |parts: &str| {
        sum(&format!(
            r#"{{"role":"user","content":"","reasoning":[{parts}]}}"#
        )) - USER
    };
    assert_eq!(
        of(r#"{"type":"text","text":"why","signature":"AAAAAAAAAAAAAAAA"}"#),
        3
    );
    assert_eq!(
        of(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"so"}]}"#),
        2
    );
    assert_eq!(of(r#"{"type":"redacted","data":"AAAA"}"#), 0);
    let sealed = "A".repeat(4000);
    assert_eq!(
        of(&format!(
            r#"{{"type":"reasoning","summary":[],"encrypted_content":"{sealed}"}}"#
        )),
        587
    );
    assert_eq!(of(""), 0);
}

/// The example of OpenAI's cookbook, "How to count tokens with tiktoken": 129 tokens with `cl100k_base`, 3 of which
/// start the answer. Here, the same sum for our own messages.
#[test]
fn a_message_is_three_tokens_and_its_parts() {
    let tokenizer = Tokenizer::named("cl100k_base").unwrap();
    for (role, content) in [
        ("system", "You are terse."),
        ("user", "Weather in Paris?"),
        ("assistant", ""),
    ] {
        let line = format!(r#"{{"role":"{role}","content":"{content}"}}"#);
        let record = Record::parse(line.as_bytes(), Position::default());
        let expected = 3 + 1 + tokenizer.count(content);
        assert_eq!(tokenizer.message(record.message().unwrap()), expected, "{line}");
        assert_eq!(tokenizer.message_tokens(role, content), expected);
    }
}
