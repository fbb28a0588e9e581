//! Tests that a change in place of a damaged input with two documents repeats and loses no message.

use super::bed::{cut, shown};
use super::damage;
use super::in_place::{open, opened};
use crate::error::ErrorKind;
use crate::format::Format;
use crate::model::session::Session;
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Two documents of each format of the kit that is changed in place, one after the other.
fn inputs() -> Vec<(Format, Vec<u8>)> {
    let others = [Format::Aichat, Format::ClaudeCode, Format::Codex, Format::Pi];
    let is_changed = |format: Format| {
        let spec = format.spec();
        spec.write_back.is_some() && spec.api.is_none() && !others.contains(&format)
    };
    let samples = damage::samples().into_iter();
    let inputs = samples
        .filter(|(format, _)| is_changed(*format))
        .map(|(format, one)| {
            let two = String::from_utf8(one.clone()).unwrap();
            let two = two.replace("alpha", "india").replace("bravo", "juliett");
            let two = two.replace("charlie", "kilo").replace("hotel", "lima");
            (format, [one, two.into_bytes()].concat())
        });
    inputs.collect()
}

/// Describes the first session that, truncated to its last message and written, does not result in exactly the remaining
/// messages; `None` if there is none. A refused change is correct.
fn wrong(format: Format, bytes: &[u8]) -> Option<String> {
    let file = open(format, PathBuf::from("some.json"), bytes.to_vec()).ok()?;
    // A program that records a cut as a summary has one more text.
    let all = |sessions: &[Session]| -> Vec<String> {
        let all = sessions.iter().flat_map(shown);
        all.filter(|text| !text.starts_with("summary: ")).collect()
    };
    for nth in 0..file.sessions.len() {
        let Some(changed) = cut(&file.sessions[nth], 1) else {
            continue;
        };
        let mut sessions = file.sessions.clone();
        sessions[nth] = changed;
        let after = match file.written(&sessions, |changed| changed == nth) {
            Ok(after) => after,
            Err(error) if matches!(error.kind, ErrorKind::Data | ErrorKind::Usage) => continue,
            Err(error) => return Some(format!("{error:?}")),
        };
        let again = open(format, PathBuf::from("some.json"), after.clone());
        let again = again.map(|again| all(&again.sessions)).unwrap_or_default();
        let wanted = all(&sessions);
        if again != wanted {
            let (before, after) = (String::from_utf8_lossy(bytes), String::from_utf8_lossy(&after));
            return Some(format!(
                "session {nth}: {again:?} and not {wanted:?}\n{before}\n{after}"
            ));
        }
    }
    None
}

static INPUTS: LazyLock<Vec<(Format, Vec<u8>)>> = LazyLock::new(inputs);

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_after_damage_repeats_and_loses_no_message(
        at in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"{}[]\",:~\n".to_vec()),
    ) {
        for (format, mut bytes) in INPUTS.iter().cloned() {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let found = wrong(format, &bytes);
            prop_assert!(found.is_none(), "{} at {at}: {}", format.name(), found.unwrap_or_default());
        }
    }
}

/// Else the test before would pass if every change were refused.
#[test]
fn one_of_two_undamaged_documents_is_changed() {
    let inputs = inputs();
    let is_changed = |(format, bytes): &&(Format, Vec<u8>)| {
        let file = open(*format, PathBuf::from("some.json"), bytes.clone()).unwrap();
        (0..file.sessions.len()).any(|nth| {
            let mut sessions = file.sessions.clone();
            let Some(changed) = cut(&sessions[nth], 1) else {
                return false;
            };
            sessions[nth] = changed;
            file.written(&sessions, |changed| changed == nth).is_ok()
        })
    };
    let changed = inputs.iter().filter(is_changed).count();
    assert!(changed * 2 > inputs.len(), "{changed} of {}", inputs.len());
}

/// The first document ends after its first byte, so the rest of its line precedes the second one.
#[test]
fn a_rest_of_a_document_is_not_read_as_lines() {
    let bytes = br#"{}id":"a","messages":[{"id":"a0","role":"user","parts":[{"type":"text","text":"alpha"}]}]}
{"id":"b","messages":[{"id":"b0","role":"user","parts":[{"type":"text","text":"echo"}]},{"id":"b1","role":"assistant","parts":[{"type":"text","text":"foxtrot"}]},{"id":"b2","role":"user","parts":[{"type":"text","text":"golf"}]}]}
"#;
    let file = open(Format::VercelUi, PathBuf::from("some.json"), bytes.to_vec()).unwrap();
    let mut sessions = file.sessions.clone();
    sessions[1] = cut(&sessions[1], 1).unwrap();
    let after = file.written(&sessions, |nth| nth == 1).unwrap();
    let wanted = String::from_utf8_lossy(bytes).replace(
        r#"{"id":"b0","role":"user","parts":[{"type":"text","text":"echo"}]},{"id":"b1","role":"assistant","parts":[{"type":"text","text":"foxtrot"}]},"#,
        "",
    );
    assert_eq!(String::from_utf8_lossy(&after), wanted);
}

/// The remaining log would be read as a document that the damaged line begins.
#[test]
fn a_log_is_not_cut_to_start_with_a_damaged_line() {
    let lines = [
        r#"{"role":"user","message":{"content":"alpha"}}"#,
        r#"{"role":"assistant","message":{"content":"bravo"},"#,
        r#"{"role":"user","message":{"content":"charlie"}}"#,
        r#"{"role":"assistant","message":{"content":"delta"}}"#,
    ];
    let file = opened(Format::Cursor, lines.join("\n"));
    let error = file
        .written(&[cut(&file.sessions[0], 1).unwrap()], |_| true)
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Data, "{error:?}");
}
