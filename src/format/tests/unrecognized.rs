//! Elements with the envelope of a format and content that it does not have: they are damage, never empty messages.

use super::in_place::{is_in, open};
use super::small::messages;
use crate::format::Format;
use std::collections::HashSet;
use std::path::PathBuf;

/// Documents of formats (`# NAME`), and elements (`> `) that are inserted at their `@`.
const CASES: &str = include_str!("unrecognized.txt");

/// Formats without such elements, with the reason.
const NONE: [(Format, &str); 3] = [
    (Format::Native, "other lines are kept as events"),
    (Format::Jsonl, "other lines are kept as events"),
    (Format::Aider, "all lines are text"),
];

/// Formats that read no message from such an element; others read a message without content.
const UNREAD: [Format; 5] = [
    Format::Sts,
    Format::CopilotCli,
    Format::Grok,
    Format::Atif,
    Format::Kimi,
];

/// The number of messages of a document, and its damage.
fn read(format: Format, document: &str) -> (usize, Vec<String>) {
    let file = open(format, PathBuf::from("some.json"), document.into()).unwrap();
    let damage = file.report.findings.iter().filter(|finding| finding.damage);
    let damage = damage.map(|finding| finding.what.to_string()).collect();
    let messages = file.sessions.iter().flat_map(messages);
    (messages.count(), damage)
}

/// How an element next to an understood one is read incorrectly.
fn wrong(format: Format, document: &str, element: &str) -> Option<String> {
    let with = |element: &str| read(format, &document.replacen('@', element, 1));
    let (alone, unharmed) = read(format, &document.replace(",@", "").replace("@\n", ""));
    let (messages, damage) = with(element);
    let is_hologram = element.contains("hologram");
    let is_reported = damage.iter().any(|what| !is_hologram || what.contains("type"));
    let is_right = match UNREAD.contains(&format) {
        true => messages == alone,
        false => messages >= alone,
    };
    // Next to a known part, the message is readable.
    let part = r#"[{"type":"hologram""#;
    let is_mixed = element.contains(part) && format != Format::OpenaiResponses;
    let mixed = with(&element.replace(part, &part.replacen('[', r#"[{"type":"text","text":"b"},"#, 1)));
    let is_readable = !is_mixed || mixed == (alone + 1, Vec::new());
    let is_fine = alone > 0 && unharmed.is_empty() && is_reported && is_right && is_readable;
    (!is_fine).then(|| format!("{alone} {unharmed:?}, {messages} {damage:?}, mixed {mixed:?}"))
}

#[test]
fn content_that_is_not_understood_is_damage() {
    let mut found = Vec::new();
    let mut listed = HashSet::new();
    for case in CASES.split("# ").skip(1) {
        let (name, case) = case.split_once('\n').unwrap();
        let (document, elements) = case.split_once("\n> ").unwrap();
        let format = Format::from_name(name).unwrap();
        listed.insert(format);
        for element in elements.trim_end().split("\n> ") {
            let wrong = wrong(format, &format!("{document}\n"), &element.replace("\\n", "\n"));
            found.extend(wrong.map(|wrong| format!("{name}: {element}: {wrong}")));
        }
    }
    let is_listed = |format: &Format| format.is_read() == (listed.contains(format) || is_in(&NONE, *format));
    let unlisted = Format::ALL.into_iter().filter(|format| !is_listed(format));
    found.extend(unlisted.map(|format| format!("{} is not listed", format.name())));
    assert!(found.is_empty(), "{}", found.join("\n"));
}
