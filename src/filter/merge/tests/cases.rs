//! One case per rule.

use super::*;

const O: &str = "{\"type\":\"session\",\"version\":1,\"id\":\"s\",\"title\":\"T\"}\n{\"role\":\"user\",\"content\":\"x\",\"id\":\"x\"}\n";

fn user(id: &str, minute: u32) -> String {
    format!(
        "{{\"role\":\"user\",\"content\":\"{id}\",\"id\":\"{id}\",\"timestamp\":\"2026-11-01T10:{minute:02}:00Z\"}}\n"
    )
}

fn event(name: &str, id: &str, minute: u32, more: &str) -> String {
    format!("{{\"type\":\"{name}\",\"id\":\"{id}\",\"at\":\"2026-11-01T10:{minute:02}:00Z\",{more}}}\n")
}

fn united(base: &str, a: &str, b: &str) -> (String, MergeTotals, Vec<Conflict>) {
    merged(base, a, b, &MergeOptions::default())
}

/// Ids of the lines of a result, in order.
fn ids(text: &str) -> String {
    let id = |line: &str| {
        let raw = crate::model::json::member(line.as_bytes(), "id")
            .unwrap_or(b"\"-\"")
            .to_vec();
        let id = String::from_utf8(raw).unwrap().replace('"', "");
        match id.split_once('_') {
            Some((kind, _)) => kind.to_string(),
            None => id,
        }
    };
    text.lines().map(id).collect::<Vec<_>>().join(" ")
}

#[test]
fn messages_of_one_side_are_added_at_their_position() {
    let b = O.to_string() + &user("b1", 1) + &user("b2", 2);
    let (text, totals, _) = united("", O, &b);
    assert_eq!(text, b);
    assert_eq!((totals.from_a, totals.from_b, totals.both), (0, 2, 2));
    // Between common records, after the last one before it.
    let a = b.clone() + &user("a3", 3);
    let b = O.to_string() + &user("b1", 1) + &user("n", 1) + &user("b2", 2);
    assert_eq!(ids(&united("", &a, &b).0), "s x b1 n b2 a3");
}

#[test]
fn a_second_continuation_becomes_a_branch() {
    let a = O.to_string() + &user("a1", 1) + &user("a2", 2);
    let b = O.to_string() + &user("b1", 1) + &event("note", "e", 2, "\"text\":\"n\"");
    let (text, totals, conflicts) = united(O, &a, &b);
    assert_eq!(ids(&text), "s x a1 a2 branch b1 e");
    assert!(
        text.contains(r#""metadata":{"lineage":{"kind":"branch","parent":"s","at":"x"}}"#),
        "{text}"
    );
    assert_eq!((totals.branches, conflicts.len()), (1, 0));
    // A clone with both and one with only its own lines, in either order.
    assert_eq!(united("", &a, &text).0, text);
    let (other, ..) = united("", &b, &text);
    assert_eq!(ids(&other), "s x b1 e branch a1 a2");
    assert_eq!(united("", &text, &other).0, text);
    assert_eq!(united("", &other, &text).0, other);
    // The second clone continues what is a branch in the first.
    let longer = b.clone() + &user("b3", 3);
    assert_eq!(ids(&united("", &text, &longer).0), "s x a1 a2 branch b1 e b3");
    assert_eq!(ids(&united("", &longer, &text).0), "s x b1 e b3 branch a1 a2");
}

#[test]
fn exchanges_are_ordered_by_time_on_request() {
    let answer = |id: &str| format!("{{\"role\":\"assistant\",\"content\":\"{id}\",\"id\":\"{id}\"}}\n");
    let a = O.to_string() + &user("a1", 1) + &answer("a2") + &user("a5", 5);
    let b = O.to_string() + &user("b3", 3) + &answer("b4") + &user("b7", 7);
    let options = MergeOptions {
        interleave: true,
        ..MergeOptions::default()
    };
    assert_eq!(ids(&merged(O, &a, &b, &options).0), "s x a1 a2 b3 b4 a5 b7");
}

#[test]
fn a_change_on_one_side_is_applied() {
    let new = O.replace("\"x\",\"id\"", "\"changed\",\"id\"");
    for (a, b) in [(&new[..], O), (O, &new[..])] {
        let (text, _, conflicts) = united(O, a, b);
        assert_eq!(text, new);
        assert!(conflicts.is_empty());
    }
    let redacted = O.replace("\"x\",\"id\"", "\"[REDACTED:jwt:01234567]\",\"id\"");
    for (a, b) in [(&redacted[..], O), (O, &redacted[..])] {
        assert_eq!(united("", a, b).0, redacted);
    }
}

#[test]
fn a_change_on_both_sides_is_a_conflict() {
    let [a, b] = ["ours", "theirs"].map(|text| O.replace("\"x\",\"id\"", &format!("\"{text}\",\"id\"")));
    let (text, _, conflicts) = united(O, &a, &b);
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].of, "x");
    assert!(text.starts_with(&a), "{text}");
    let last = text.lines().last().unwrap();
    assert!(
        last.contains(r#""of":"x","theirs":{"role":"user","content":"theirs","id":"x"}"#),
        "{text}"
    );
    // A repeated merge reports the same conflict once.
    let (again, _, conflicts) = united("", &text, &b);
    assert_eq!((again, conflicts.len()), (text.clone(), 1));
    assert_eq!(united("", &a, &text).0, text);
    for (prefer, whole) in [(Prefer::Ours, &a), (Prefer::Theirs, &b)] {
        let options = MergeOptions {
            prefer,
            ..MergeOptions::default()
        };
        assert_eq!(&merged(O, &a, &b, &options).0, whole);
    }
    // A resolved conflict does not occur again.
    let id = conflicts[0].id.clone().unwrap();
    let session = sessions(&text).remove(0);
    let stamp = |_: &str| Ok(crate::filter::Stamp::default());
    let plan = resolve(&session, "x", Version::Ours, stamp).unwrap();
    let crate::filter::Plan::Lines(lines, _) = plan else {
        panic!("{plan:?}")
    };
    let decided = text + std::str::from_utf8(&lines[0]).unwrap() + "\n";
    let (again, _, conflicts) = united("", &decided, &b);
    assert_eq!((again, conflicts.len()), (decided.clone(), 0));
    let session = sessions(&decided).remove(0);
    let plan = resolve(&session, &id, Version::Theirs, stamp).unwrap();
    assert!(matches!(plan, crate::filter::Plan::Nothing(_)), "{plan:?}");
}

#[test]
fn deletions_on_one_side_apply_only_on_request() {
    let o = O.to_string() + &user("m", 1) + &user("n", 2);
    let a = O.to_string() + &user("n", 2);
    for (a, b) in [(&a, &o), (&o, &a)] {
        let (text, totals, _) = united(&o, a, b);
        assert_eq!(ids(&text), "s x m n");
        assert_eq!(totals.kept, 1);
        let options = MergeOptions {
            deletions: true,
            ..MergeOptions::default()
        };
        let (text, totals, _) = merged(&o, a, b, &options);
        assert_eq!((ids(&text).as_str(), totals.deleted), ("s x n", 1));
    }
}

#[test]
fn header_members_are_merged_one_by_one() {
    let a = O.replace("\"title\":\"T\"", "\"title\":\"A\"");
    let b = O.replace("\"title\":\"T\"", "\"title\":\"T\",\"key\":\"k\"");
    let (text, _, conflicts) = united(O, &a, &b);
    assert!(
        text.starts_with(r#"{"type":"session","version":1,"id":"s","title":"A","key":"k"}"#),
        "{text}"
    );
    assert!(conflicts.is_empty());
    let c = O.replace("\"title\":\"T\"", "\"title\":\"C\"");
    let (text, _, conflicts) = united(O, &a, &c);
    assert!(
        text.contains("\"type\":\"conflict\"") && text.starts_with(&a),
        "{text}"
    );
    assert_eq!(conflicts[0].of, "s");
}

#[test]
fn meta_events_are_ordered_by_time() {
    let title = |id: &str, minute| event("meta", id, minute, &format!("\"set\":{{\"title\":\"{id}\"}}"));
    let a = O.to_string() + &title("a1", 1) + &user("a2", 2) + &title("a5", 5);
    for (minute, order, newest) in [
        (0, "s x b a1 a2 a5", "a5"),
        (3, "s x a1 b a2 a5", "a5"),
        (7, "s x a1 a2 a5 b", "b"),
    ] {
        let b = O.to_string() + &title("b", minute);
        let (text, ..) = united(O, &a, &b);
        assert_eq!(ids(&text), order);
        let session = sessions(&text).remove(0);
        assert_eq!(session.header_text("title").as_deref(), Some(newest));
        assert_eq!(united("", &a, &text).0, text);
    }
}

#[test]
fn of_two_cuts_of_the_same_messages_the_first_is_in_force() {
    let o = O.to_string() + &user("m", 1) + &user("n", 2);
    let cut = |id: &str, of: &str| event("truncate", id, 3, &format!("\"before\":\"{of}\""));
    let (a, b) = (o.clone() + &cut("ca", "m"), o.clone() + &cut("cb", "n"));
    let (text, totals, _) = united(&o, &a, &b);
    assert_eq!(ids(&text), "s x m n cb evt ca");
    assert_eq!(totals.suspended, 1);
    let view = crate::model::view::View::replay(&sessions(&text)[0]);
    assert_eq!(view.items.len(), 2);
    assert_eq!(united("", &a, &text).0, text);
    // The clone that made the other cut takes over the decision.
    let (other, totals, _) = united("", &b, &text);
    assert_eq!(totals.suspended, 0);
    assert_eq!(
        crate::model::view::View::replay(&sessions(&other)[0]).items.len(),
        2
    );
}

#[test]
fn records_without_ids_are_equal_by_bytes_and_order() {
    let yes = "{\"role\":\"user\",\"content\":\"yes\"}\n";
    let no = "{\"role\":\"user\",\"content\":\"no\"}\n";
    let (a, b) = (yes.repeat(2), yes.repeat(2) + no + yes);
    assert_eq!(united("", &a, &b).0, b);
    // Damaged lines too; the last one may lack its newline.
    let (a, b) = (format!("{yes}{{torn"), format!("{yes}{{torn\n{no}"));
    assert_eq!(united("", &a, &b).0, b);
}

#[test]
fn sessions_of_a_file_are_paired_by_id() {
    let other = |id: &str| O.replace("\"s\"", &format!("\"{id}\"")) + &user("m", 1);
    let (a, b) = (
        O.to_string() + &other("t"),
        other("t") + &user("n", 2) + &other("u"),
    );
    assert_eq!(ids(&united("", &a, &b).0), "s x t x m n u x m");
    let [a, b] = [O.replace("\"x\"", "\"y\""), other("z").replace("\"x\"", "\"w\"")];
    let (a, b) = (sessions(&a), sessions(&b));
    let error = merge(&[], &a, &b, &MergeOptions::default());
    assert!(error.unwrap_err().hint.unwrap().contains("convo join"));
    // Two forks: one session each, with different ids.
    let fork = other("fork");
    assert_eq!(ids(&united("", O, &fork).0), "s x m");
}

#[test]
fn with_appends_the_own_version_of_a_line_is_kept() {
    let options = MergeOptions {
        appends: true,
        ..MergeOptions::default()
    };
    let a = O.to_string() + &user("a1", 1);
    let b = O
        .replace("\"T\"", "\"B\"")
        .replace("\"x\",\"id\"", "\"changed\",\"id\"")
        + &user("b1", 1);
    let options = MergeOptions {
        prefer: Prefer::Theirs,
        ..options
    };
    let (text, ..) = merged(O, &a, &b, &options);
    assert!(text.starts_with(&a), "{text}");
    assert_eq!(ids(&text), "s x a1 evt evt branch b1");
    let session = sessions(&text).remove(0);
    assert_eq!(session.header_text("title").as_deref(), Some("B"));
    let view = crate::model::view::View::replay(&session);
    assert!(String::from_utf8_lossy(view.items[0].body(&session)).contains("changed"));
    // A repeated merge adds nothing to the log.
    let own = text
        .split("{\"type\":\"session\",\"version\":1,\"id\":\"branch")
        .next()
        .unwrap();
    assert_eq!(merged(O, own, &b, &options).0, text);
    // A cut of everything would hide messages of the other side.
    let cut = O.to_string() + &event("truncate", "c", 3, "\"before\":null");
    let (text, totals, _) = merged("", &a, &cut, &options);
    assert_eq!((ids(&text).as_str(), totals.suspended), ("s x a1 c evt", 1));
}
