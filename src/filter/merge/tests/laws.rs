//! Checks the laws of merging with random logs that change independently.

use super::*;
use crate::model::json;
use crate::model::view::View;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;
use std::fmt::Write;

/// An action on a log.
#[derive(Clone, Debug)]
enum Act {
    Say(u8),
    Call,
    Bare(u8),
    Damage(u8),
    Title,
    Note,
    Cut(u8),
    Compact(u8),
    Insert(u8),
    Change(u8),
    Delete(u8),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => any::<u8>().prop_map(Act::Say),
        3 => Just(Act::Call),
        1 => (0..3u8).prop_map(Act::Bare),
        1 => (0..3u8).prop_map(Act::Damage),
        1 => Just(Act::Title),
        1 => Just(Act::Note),
        1 => any::<u8>().prop_map(Act::Cut),
        1 => any::<u8>().prop_map(Act::Compact),
        1 => any::<u8>().prop_map(Act::Insert),
        1 => any::<u8>().prop_map(Act::Change),
        1 => any::<u8>().prop_map(Act::Delete),
    ]
}

fn acts(most: usize) -> impl Strategy<Value = Vec<Act>> {
    proptest::collection::vec(act(), 0..most)
}

/// Applies the actions of one side; `side` makes its ids unique.
fn played(lines: &mut Vec<String>, acts: &[Act], side: &str, deletes: bool) {
    for (nth, act) in acts.iter().enumerate() {
        let minute = lines.len() % 60;
        let message = |role: &str, more: &str| {
            format!(
                r#"{{"role":"{role}","content":"{side}{nth}","id":"{side}{nth}"{more},"timestamp":"2026-11-01T10:{minute:02}:00Z"}}"#
            )
        };
        let event = |name: &str, more: &str| {
            format!(r#"{{"type":"{name}","id":"e{side}{nth}","at":"2026-11-01T10:{minute:02}:00Z",{more}}}"#)
        };
        // No command separates a call from its results.
        let is_alone = |line: &str| !line.contains("tool_call");
        let messages: Vec<usize> = (1..lines.len())
            .filter(|at| lines[*at].starts_with("{\"role") && is_alone(&lines[*at]))
            .collect();
        let pick = |choice: u8| {
            let at = *messages.get(usize::from(choice) % messages.len().max(1))?;
            let id = json::member_text(lines[at].as_bytes(), "id")?;
            Some((at, id.into_owned()))
        };
        let line = match act {
            Act::Say(choice) => message(if choice % 2 == 0 { "user" } else { "assistant" }, ""),
            Act::Call => {
                let call = format!(
                    r#","tool_calls":[{{"id":"c{side}{nth}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]"#
                );
                lines.push(message("assistant", &call));
                format!(
                    r#"{{"role":"tool","tool_call_id":"c{side}{nth}","content":"r","id":"r{side}{nth}"}}"#
                )
            }
            Act::Bare(text) => format!(r#"{{"role":"user","content":"same {text}"}}"#),
            Act::Damage(text) => format!("not json {text}"),
            Act::Title => event("meta", &format!(r#""set":{{"title":"{side}{nth}"}}"#)),
            Act::Note => event("note", r#""text":"n""#),
            Act::Cut(choice) => match pick(*choice) {
                Some((_, id)) => event("truncate", &format!(r#""before":"{id}""#)),
                None => event("truncate", r#""before":null"#),
            },
            Act::Compact(choice) => match pick(*choice) {
                Some((_, id)) => event("compact", &format!(r#""drop":["{id}"]"#)),
                None => continue,
            },
            Act::Insert(choice) => {
                let at = 1 + usize::from(*choice) % lines.len();
                let is_result = lines.get(at).is_some_and(|line| line.contains("tool_call_id"));
                let at = at + usize::from(is_result);
                // At the same time as the line before.
                let now = format!("T10:{minute:02}");
                let before = lines[..at]
                    .iter()
                    .rev()
                    .find_map(|line| Some(&line[line.find("T10:")?..][..6]));
                let line = message("user", "").replace(&now, before.unwrap_or("T10:00"));
                lines.insert(at, line);
                continue;
            }
            Act::Change(choice) => {
                if let Some((at, _)) = pick(*choice) {
                    let text = format!("\"changed by {side}{nth}\"");
                    let changed =
                        json::with_members(lines[at].as_bytes(), &[("content", Some(text.as_bytes()))]);
                    lines[at] = String::from_utf8(changed.unwrap()).unwrap();
                }
                continue;
            }
            Act::Delete(choice) => {
                if let Some((at, _)) = pick(*choice).filter(|_| deletes) {
                    lines.remove(at);
                }
                continue;
            }
        };
        lines.push(line);
    }
}

/// The base log, and two logs derived from it.
fn logs(o: &[Act], a: &[Act], b: &[Act], deletes: bool) -> [String; 3] {
    let header = r#"{"type":"session","version":1,"id":"s","created_at":"2026-11-01T10:00:00Z"}"#;
    let mut base = vec![header.to_string()];
    played(&mut base, o, "o", false);
    let [mut left, mut right] = [base.clone(), base.clone()];
    played(&mut left, a, "a", deletes);
    played(&mut right, b, "b", deletes);
    [base, left, right].map(|lines| {
        lines.iter().fold(String::new(), |mut text, line| {
            let _ = writeln!(text, "{line}");
            text
        })
    })
}

/// The records of a text, including versions that lost a conflict, but without generated ones.
fn records(text: &str) -> BTreeSet<Vec<u8>> {
    let of = |line: &str| {
        let raw = line.as_bytes();
        let is = |name: &str| json::member_text(raw, "type").as_deref() == Some(name);
        let built = json::member(raw, "id").is_some_and(|id| id.starts_with(b"\"branch_"));
        match json::member(raw, "theirs").filter(|_| is("conflict")) {
            Some(theirs) => Some(theirs.to_vec()),
            None => (!built && !is("restore")).then(|| raw.to_vec()),
        }
    };
    text.lines().filter_map(of).collect()
}

fn ids(text: &str) -> BTreeSet<String> {
    let id = |line: &str| Some(json::text(json::member(line.as_bytes(), "id")?)?.into_owned());
    text.lines().filter_map(id).collect()
}

fn united(base: &str, a: &str, b: &str) -> String {
    merged(base, a, b, &MergeOptions::default()).0
}

/// The check findings of a text's sessions; branches include the messages before them.
fn findings(text: &str) -> BTreeSet<String> {
    use crate::check::{CheckOptions, structure};
    let sessions = sessions(text);
    let mut found = BTreeSet::new();
    for (nth, session) in sessions.iter().enumerate() {
        let whole = crate::filter::branch::complete_branch(&sessions[..nth], session.clone());
        found.extend(
            structure(&whole, &View::replay(&whole), &CheckOptions::default())
                .into_iter()
                .map(|finding| finding.rule.id.to_string()),
        );
    }
    found
}

/// Whether both sides added an equal line without an id.
fn coincide(o: &str, a: &str, b: &str) -> bool {
    let count = |text: &str, line: &str| text.lines().filter(|other| *other == line).count();
    let added = |text: &str, line: &str| count(text, line) > count(o, line);
    let mut bare = a.lines().filter(|line| ids(line).is_empty());
    bare.any(|line| added(a, line) && added(b, line))
}

/// The number of random pairs; an environment variable increases it.
fn pairs() -> u32 {
    let requested = std::env::var("CONVO_MERGE_PAIRS").ok();
    requested.and_then(|count| count.parse().ok()).unwrap_or(192)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(8), ..ProptestConfig::with_cases(pairs()) })]

    #[test]
    fn merging_loses_nothing_and_satisfies_the_laws(o in acts(12), a in acts(10), b in acts(10)) {
        let [o, a, b] = logs(&o, &a, &b, false);
        prop_assert_eq!(&united(&o, &a, &a), &a);
        prop_assert_eq!(&united(&o, &a, &o), &a);
        prop_assert_eq!(&united(&o, &o, &b), &b);
        for base in ["", &o[..]] {
            let (ab, ba) = (united(base, &a, &b), united(base, &b, &a));
            prop_assert!(ids(&ab).is_superset(&(&ids(&a) | &ids(&b))));
            prop_assert_eq!(records(&ab), records(&ba));
            prop_assert_eq!(&united(base, &a, &ab), &ab, "again");
            prop_assert_eq!(&united(base, &ab, &ab), &ab);
            // All records of either side, except a version that only the other side changed.
            let old = records(&o);
            for (side, other) in [(&a, &b), (&b, &a)] {
                for record in records(side) {
                    let replaced = !base.is_empty() && old.contains(&record) && !records(other).contains(&record);
                    prop_assert!(replaced || records(&ab).contains(&record), "{}", String::from_utf8_lossy(&record));
                }
            }
            // Equal lines without an id that both sides added count as one line, wherever each side has it.
            let new = match coincide(&o, &a, &b) {
                true => BTreeSet::new(),
                false => &findings(&ab) - &(&findings(&a) | &findings(&b)),
            };
            prop_assert!(new.is_empty(), "{new:?} in {ab}");
        }
    }

    #[test]
    fn requested_deletions_are_applied(o in acts(12), a in acts(10)) {
        let [o, a, _] = logs(&o, &a, &[], true);
        let options = MergeOptions { deletions: true, ..MergeOptions::default() };
        prop_assert_eq!(&merged(&o, &a, &o, &options).0, &a);
        prop_assert_eq!(&merged(&o, &o, &a, &options).0, &a);
        prop_assert_eq!(&merged(&o, &a, &a, &options).0, &a);
    }
}
