//! Tests continued sessions, and full sessions.

use super::pending::{MarkerKind, Planned};
use super::*;
use std::collections::HashSet;

fn successor(parent: &str, id: &str, texts: &[&str]) -> Successor {
    let header =
        format!("{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\",\"continued_from\":\"{parent}\"}}");
    let named =
        |text: &&str| format!("{{\"role\":\"user\",\"content\":\"{text}\",\"id\":\"{text}\"}}").into_bytes();
    Successor {
        id: id.to_string(),
        lines: std::iter::once(header.into_bytes())
            .chain(texts.iter().map(named))
            .collect(),
        stamp: stamp(&format!("evt_{id}")),
    }
}

fn go_on(store: &Store, parent: &str, next: &Successor) -> Result<Continued> {
    store.continue_session(parent, &mut Report::default(), &mut |_| Ok(Some(next.clone())))
}

#[test]
fn a_continuation_exists_before_anything_links_to_it() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    store.alias_add("chat", "one").unwrap();
    assert_eq!(
        kind(go_on(&store, "gone", &successor("gone", "two", &[]))),
        ErrorKind::NotFound
    );
    // A crash in between: the new session exists, but nothing links to it.
    let next = successor("one", "two", &["b"]);
    let planned = Planned::of("two", &next.lines);
    store.mark(MarkerKind::Continue, "one", &[planned]).unwrap();
    store.create_session("two", &next.lines).unwrap();
    let more = successor("one", "two", &["b", "c"]);
    let aliases = vec!["chat".to_string()];
    assert_eq!(
        go_on(&store, "one", &more).unwrap(),
        Continued::Now("two".into(), aliases)
    );
    assert_eq!(
        go_on(&store, "one", &more).unwrap(),
        Continued::Before("two".into())
    );
    let lines = read(&store, "one").0;
    assert_eq!(
        lines.iter().filter(|line| line.contains("continued_to")).count(),
        1,
        "{lines:?}"
    );
    assert_eq!(store.resolve("chat").unwrap(), "two");
    // Messages that arrived in between are included once.
    assert_eq!(read(&store, "two").0.len(), 3);
    begin(&store, "three", &["x"]);
    begin(&store, "four", &["x"]);
    assert_eq!(
        kind(go_on(&store, "four", &successor("four", "three", &[]))),
        ErrorKind::Exists
    );
    assert_eq!(read(&store, "four").0.len(), 2);
    assert_eq!(
        store
            .successor_id("four", &Session::default(), ["three".into(), "five".into()])
            .unwrap(),
        "five"
    );
}

#[test]
fn aliases_left_by_an_interrupted_run_are_moved() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    store.alias_add("chat", "one").unwrap();
    go_on(&store, "one", &successor("one", "two", &[])).unwrap();
    for again in 0..2 {
        store.alias_remove("chat").unwrap();
        store.alias_add("chat", "one").unwrap();
        store.alias_add(&format!("old{again}"), "one").unwrap();
        match again {
            0 => store.move_alias("chat", "one").unwrap(),
            _ => drop(go_on(&store, "one", &successor("one", "two", &[])).unwrap()),
        }
        assert_eq!(store.resolve("chat").unwrap(), "two");
        // An alias assigned later refers to the session that it was assigned to.
        assert_eq!(store.resolve(&format!("old{again}")).unwrap(), "one");
    }
}

fn entries(texts: &[&str]) -> Vec<BoundedLine> {
    texts.iter().map(|text| (message(text), true)).collect()
}

#[test]
fn a_session_accepts_messages_up_to_its_limit() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    let mut bounded = store.bounded("one", 4).unwrap();
    assert_eq!(
        bounded.append(&entries(&["b"]), false).unwrap(),
        AppendOutcome::All
    );
    let mut more = entries(&["c", "d", "e"]);
    more.insert(0, (br#"{"type":"note","id":"e"}"#.to_vec(), false));
    assert_eq!(bounded.append(&more, false).unwrap(), AppendOutcome::Until(3));
    assert_eq!(
        bounded.append(&more[3..], false).unwrap(),
        AppendOutcome::Until(0)
    );
    assert_eq!(bounded.append(&more[3..], true).unwrap(), AppendOutcome::All);
    assert_eq!(read(&store, "one").0.len(), 1 + 5 + 1);
    go_on(&store, "one", &successor("one", "two", &[])).unwrap();
    assert_eq!(
        bounded.append(&entries(&["f"]), true).unwrap(),
        AppendOutcome::ContinuedIn("two".into())
    );
}

#[test]
fn the_end_of_a_chain_is_found_from_anywhere() {
    let (_dir, store) = store();
    begin(&store, "s0", &["a"]);
    for nth in 1..6 {
        let parent = format!("s{}", nth - 1);
        go_on(&store, &parent, &successor(&parent, &format!("s{nth}"), &[])).unwrap();
        for from in [0, nth / 2, nth] {
            assert_eq!(
                store.end_of_chain(&format!("s{from}")).unwrap(),
                format!("s{nth}")
            );
        }
    }
    // A link in between that was undone does not count, whatever was cached.
    let take_back = |id: &str, of: &str| {
        let line = format!("{{\"type\":\"restore\",\"id\":\"{id}\",\"at\":\"{NOW}\",\"of\":\"{of}\"}}");
        store.append("s2", &[line.as_bytes()]).unwrap();
    };
    take_back("evt_back", "evt_s3");
    assert_eq!(store.end_of_chain("s0").unwrap(), "s2");
    assert_eq!(
        store
            .bounded("s2", 9)
            .unwrap()
            .append(&entries(&["x"]), false)
            .unwrap(),
        AppendOutcome::All
    );
    take_back("evt_again", "evt_back");
    assert_eq!(store.end_of_chain("s0").unwrap(), "s5");
    let more = store.bounded("s2", 9).unwrap().append(&entries(&["y"]), false);
    assert_eq!(more.unwrap(), AppendOutcome::ContinuedIn("s3".into()));
    // The first of several links counts.
    store
        .append("s2", &[&link::link(&stamp("evt_other"), "s0", &[])])
        .unwrap();
    assert_eq!(store.end_of_chain("s1").unwrap(), "s5");
    let again = go_on(&store, "s2", &successor("s2", "s9", &[])).unwrap();
    assert_eq!(again, Continued::Before("s3".into()));
    // It is cached, but not used after the session is gone.
    store.remove("s5", NOW).unwrap();
    assert_eq!(kind(store.end_of_chain("s0")), ErrorKind::NotFound);
    store.restore_removed("s5").unwrap();
    store.forget_counts();
    assert_eq!(store.end_of_chain("s0").unwrap(), "s5");
    store
        .append("s5", &[&link::link(&stamp("evt_round"), "s1", &[])])
        .unwrap();
    // It continues another session, whoever names it.
    assert_eq!(store.end_of_chain("s1").unwrap(), "s5");
    for (id, other) in [("r1", "r2"), ("r2", "r1")] {
        let lines = successor(other, id, &[]).lines;
        store.create_session(id, &lines).unwrap();
        store
            .append(id, &[&link::link(&stamp("evt_r"), other, &[])])
            .unwrap();
    }
    assert_eq!(kind(store.end_of_chain("r1")), ErrorKind::Data);
}

#[test]
fn a_one_sided_link_makes_no_continuation() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    // The ids that a continuation would get, and one that an event names.
    for id in ["two", "three"] {
        let lines = successor("one", id, &["evil"]).lines;
        store.create_session(id, &lines).unwrap();
    }
    begin(&store, "four", &["evil"]);
    let named = link::link(&stamp("evt_4"), "four", &[]);
    store.append("one", &[&named]).unwrap();
    assert_eq!(store.end_of_chain("one").unwrap(), "one");
    let mut bounded = store.bounded("one", 9).unwrap();
    assert_eq!(
        bounded.append(&entries(&["b"]), false).unwrap(),
        AppendOutcome::All
    );
    let session = store.load("one", &mut Report::default()).unwrap();
    let ids = ["two", "three", "four", "five"].map(String::from);
    assert_eq!(store.successor_id("one", &session, ids).unwrap(), "five");
    assert_eq!(
        kind(go_on(&store, "one", &successor("one", "two", &["b"]))),
        ErrorKind::Exists
    );
    assert!(store.marks().unwrap().is_empty());
    // A marker confirms only the session that the store was about to create, not another one with that id.
    let planned = Planned::of("two", successor("one", "two", &["b"]).lines);
    drop(store.mark(MarkerKind::Continue, "one", &[planned]).unwrap());
    assert!(!store.is_marked(MarkerKind::Continue, "one", "two").unwrap());
    assert_eq!(
        go_on(&store, "one", &successor("one", "five", &[])).unwrap(),
        Continued::Now("five".into(), Vec::new())
    );
    assert_eq!(store.end_of_chain("one").unwrap(), "five");
    let mut bounded = store.bounded("one", 9).unwrap();
    assert_eq!(
        bounded.append(&entries(&["b"]), false).unwrap(),
        AppendOutcome::ContinuedIn("five".into())
    );
}

#[test]
fn cached_counts_are_used_while_the_log_is_unchanged() {
    let (_dir, store) = store();
    begin(&store, "one", &[]);
    let long = "x".repeat(2000);
    let count = |store: &Store| {
        let mut probe = store.bounded("one", u64::MAX).unwrap();
        probe.append(&entries(&[&long]), false).unwrap();
        let counted = |limit| {
            store
                .bounded("one", limit)
                .unwrap()
                .append(&entries(&["y"]), false)
                .unwrap()
        };
        let there = read(store, "one").0.len() as u64 - 1;
        assert_eq!(counted(there), AppendOutcome::Until(0), "{there}");
        assert_eq!(counted(there + 1), AppendOutcome::All, "{there}");
    };
    let cache = store.path().join("cache/one.count");
    for _ in 0..20 {
        count(&store);
    }
    let kept = fs::read(&cache).unwrap();
    assert!(kept.len() > 20);
    // A cache that is damaged, of another log, or missing: the log is counted again.
    let mut seen = HashSet::new();
    for at in (0..kept.len()).step_by(3) {
        let mut damaged = kept.clone();
        damaged[at] ^= 1;
        fs::write(&cache, damaged).unwrap();
        count(&store);
        seen.insert(fs::read(&cache).unwrap());
    }
    assert!(seen.len() > 2);
    // A rewritten log has other messages at the same length.
    let session = store.load("one", &mut Report::default()).unwrap();
    let mut lines: Vec<Vec<u8>> = (0..session.len())
        .map(|at| session.record(at).body.to_vec())
        .collect();
    let last = 3;
    lines[last] = format!("{{\"type\":\"{}\"}}", "n".repeat(lines[last].len() - 11)).into_bytes();
    store.purge("one").unwrap();
    store.create_session("one", &lines).unwrap();
    let there = lines.len() as u64 - 2;
    let counted = |limit| {
        store
            .bounded("one", limit)
            .unwrap()
            .append(&entries(&["y"]), false)
            .unwrap()
    };
    assert_eq!(counted(there), AppendOutcome::Until(0));
    assert_eq!(counted(there + 1), AppendOutcome::All);
    // Lines appended by another program have no checksum, and count.
    let mut log = OpenOptions::new()
        .append(true)
        .open(log_path(&store, "one"))
        .unwrap();
    log.write_all(b"{\"role\":\"user\",\"content\":\"by hand\"}\n{\"role\":\"us")
        .unwrap();
    assert_eq!(counted(there + 2), AppendOutcome::Until(0));
    assert_eq!(counted(there + 3), AppendOutcome::All);
    assert_eq!(counted(there + 3), AppendOutcome::Until(0));
}
