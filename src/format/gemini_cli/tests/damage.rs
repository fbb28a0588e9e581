//! Malicious logs, and generated sessions.

use super::{sessions, shown, with, written};
use crate::format::tests::bed::dropping;
use crate::format::tests::in_place;
use crate::format::{Format, WritePurpose};
use crate::model::session::Session;
use proptest::prelude::*;

fn line(kind: u8, id: u8) -> String {
    match kind % 10 {
        0 => format!(r#"{{"$rewindTo":"{id}"}}"#),
        1 => format!(
            r#"{{"$set":{{"messages":[{},{}]}}}}"#,
            line(5, id),
            line(6, id / 2)
        ),
        2 => r#"{"$set":{"lastUpdated":"x"}}"#.to_string(),
        3 => format!(r#"{{"id":"{id}","type":"info","content":"{id}"}}"#),
        4 => format!(r#"{{"id":"{id}","type":"user","content":"/{id}"}}"#),
        5 => format!(r#"{{"id":"{id}","type":"user","content":[{{"text":"{id}"}}]}}"#),
        6 => format!(
            r#"{{"id":"{id}","type":"gemini","content":"","toolCalls":[{{"id":"c{id}","name":"f","args":{{}},"result":[{{"functionResponse":{{"id":"c{id}","name":"f","response":{{"output":"{id}"}}}}}}],"status":"success"}},{{"id":"d","name":"f"}}]}}"#
        ),
        7 => "torn{".to_string(),
        8 => format!(
            r#"{{"id":"{id}_response","type":"user","content":[{{"functionResponse":{{"id":"c{id}","name":"f","response":{{"output":"{id}"}}}}}}]}}"#
        ),
        _ => format!(
            r#"{{"id":"{id}","type":"gemini","content":[{{"functionCall":{{"name":"f","args":{{}}}}}}]}}"#
        ),
    }
}

fn log(lines: &[(u8, u8)]) -> Vec<u8> {
    let mut log = String::from("{\"sessionId\":\"s\",\"projectHash\":\"p\"}\n");
    for (kind, id) in lines {
        log += &line(*kind, *id);
        log.push('\n');
    }
    log.into_bytes()
}

/// Drops messages, writing both in place and to a new log.
fn dropped_is_gone(lines: &[(u8, u8)], from: usize, count: usize, grows: bool) {
    let visible = |session: &Session| vec!["a message".to_string(); shown(session).len()];
    let file = in_place::opened(Format::GeminiCli, log(lines));
    let session = &file.sessions[0];
    let ids = session.messages().filter_map(|(index, _)| session.id(index));
    let mut changed = dropping(session, ids.skip(from).take(count));
    if grows {
        changed = with(&changed, &[r#"{"role":"user","content":"new","id":"1"}"#]);
    }
    let after = in_place::hold_change(&file, changed.clone(), visible);
    assert!(after.starts_with(&log(lines)));
    // And as a new log.
    let (own, _) = written(&changed, WritePurpose::Export);
    let again = visible(&sessions(&own).0[0]);
    assert_eq!(again, visible(&changed), "{}", String::from_utf8_lossy(&own));
}

#[test]
fn a_result_of_a_dropped_call_is_not_a_repetition() {
    let lines = [(1, 1), (8, 5), (8, 1), (4, 2), (6, 5)];
    dropped_is_gone(&lines, 6, 1, false);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn generated_logs_satisfy_all_laws(lines in prop::collection::vec((0u8..10, 0u8..6), 0..24)) {
        in_place::hold(Format::GeminiCli, log(&lines));
    }

    #[test]
    fn dropped_messages_are_removed_and_others_kept(
        lines in prop::collection::vec((0u8..10, 0u8..6), 0..24),
        from in 0usize..8,
        count in 1usize..8,
        grows in any::<bool>(),
    ) {
        dropped_is_gone(&lines, from, count, grows);
    }
}

#[test]
fn many_rewinds_take_less_than_quadratic_time() {
    let many = 20_000;
    let mut lines: Vec<(u8, u8)> = Vec::new();
    for nth in 0..many {
        lines.extend([(5, 1), (7, 0), (u8::from(nth % 2 == 0) * 5, 1)]);
    }
    let (all, report) = sessions(&log(&lines));
    assert_eq!(all.len(), 1);
    assert_eq!(report.findings.len(), many);
}
