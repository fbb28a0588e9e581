//! Names, appends, trash and continuations of stored sessions.

use super::*;
use std::sync::atomic::AtomicUsize;

/// A store in which threads wait for each other.
fn patient_store() -> (tempfile::TempDir, Store) {
    let (dir, mut store) = store();
    store.lock_timeout = LOCK_TIMEOUT;
    (dir, store)
}

fn begin(store: &Store, id: &str, messages: &[&str]) {
    let lines: Vec<_> = std::iter::once(header(id))
        .chain(messages.iter().map(|text| message(text)))
        .collect();
    store.create_session(id, &lines).unwrap();
}

fn texts(store: &Store, id: &str) -> Vec<String> {
    let session = store.load(id, &mut Report::default()).unwrap();
    let line = |index| String::from_utf8_lossy(session.record(index).body).into_owned();
    (0..session.len()).map(line).collect()
}

#[test]
fn sessions_are_created_once_and_appended() {
    let (_dir, store) = patient_store();
    let store = &store;
    assert!(!store.has("one").unwrap());
    assert_eq!(
        kind(store.load("one", &mut Report::default())),
        ErrorKind::NotFound
    );
    assert_eq!(kind(store.append("one", &[b"{}"])), ErrorKind::NotFound);
    begin(store, "one", &["a"]);
    assert_eq!(kind(store.create_session("one", &[])), ErrorKind::Exists);
    assert_eq!(kind(store.create_session("../x", &[])), ErrorKind::Unsafe);
    assert_eq!(kind(store.has("a b")), ErrorKind::Unsafe);
    store.append("one", &[&message("b"), b"by hand"]).unwrap();
    assert_eq!(
        kind(store.append("one", &[&message("c"), b"{\n}"])),
        ErrorKind::Data
    );
    let mut report = Report::default();
    let (session, length) = store.load_with_length("one", &mut report).unwrap();
    assert_eq!((session.len(), report.findings.len()), (4, 1));
    assert_eq!(store.size("one").unwrap(), length);
    assert_eq!(
        texts(store, "one")[2..],
        [String::from_utf8(message("b")).unwrap(), "by hand".into()]
    );
    // A line read elsewhere loses its checksum.
    let sealed = br#"{"role":"user","content":"x","_crc":"00000000"}"#;
    store.append("one", &[sealed]).unwrap();
    assert_eq!(texts(store, "one")[4], r#"{"role":"user","content":"x"}"#);
    let newer = br#"{"type":"session","version":99,"id":"new"}"#.to_vec();
    store.create_session("new", &[newer]).unwrap();
    assert_eq!(kind(store.load("new", &mut Report::default())), ErrorKind::Data);
}

#[test]
fn an_append_requires_the_length_that_was_read() {
    let (_dir, store) = patient_store();
    let store = &store;
    begin(store, "one", &[]);
    let (_, length) = store.load_with_length("one", &mut Report::default()).unwrap();
    assert!(store.append_to("one", &[&message("a")], length).unwrap());
    assert!(!store.append_to("one", &[&message("b")], length).unwrap());
    assert_eq!(texts(store, "one").len(), 2);
    assert_eq!(
        kind(store.append_to("two", &[&message("a")], 0)),
        ErrorKind::NotFound
    );
    // Concurrent calls: each reported line exists, and nothing else.
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let (_, length) = store.load_with_length("one", &mut Report::default()).unwrap();
                    match store.append_to("one", &[&message("x")], length) {
                        Ok(true) => drop(done.fetch_add(1, Ordering::Relaxed)),
                        Ok(false) => {}
                        Err(error) => assert_eq!(error.kind, ErrorKind::Locked),
                    }
                }
            });
        }
    });
    assert_eq!(texts(store, "one").len(), 2 + done.load(Ordering::Relaxed));
}

#[test]
fn names_resolve_to_sessions() {
    let (_dir, store) = patient_store();
    let store = &store;
    assert_eq!(kind(store.resolve("@last")), ErrorKind::NotFound);
    for id in ["abc1", "abc2", "abd", "key_a_3ab"] {
        begin(store, id, &[]);
    }
    store.alias_add("main", "abc1").unwrap();
    store.alias_add("main", "abc1").unwrap();
    store.alias_add("ab", "abc2").unwrap();
    for (name, id) in [
        ("abc1", "abc1"),
        ("main", "abc1"),
        ("ab", "abc2"),
        ("a:b", "key_a_3ab"),
        ("abd", "abd"),
        ("key", "key_a_3ab"),
    ] {
        assert_eq!(store.resolve(name).unwrap(), id);
    }
    assert_eq!(store.exactly("key").unwrap(), None);
    assert_eq!(
        store.session_by_id_or_key("a:b").unwrap().as_deref(),
        Some("key_a_3ab")
    );
    let ambiguous = store.resolve("abc").unwrap_err();
    assert!(ambiguous.message.contains("abc1, abc2"), "{}", ambiguous.message);
    assert!(store.resolve("mian").unwrap_err().hint.unwrap().contains("main"));
    assert_eq!(kind(store.alias_add("main", "abd")), ErrorKind::Exists);
    assert_eq!(kind(store.alias_add("abd", "abc1")), ErrorKind::Exists);
    assert_eq!(kind(store.alias_add("a:b", "abc1")), ErrorKind::Exists);
    assert_eq!(kind(store.alias_add("x", "nobody")), ErrorKind::NotFound);
    assert_eq!(kind(store.alias_add("@x", "abd")), ErrorKind::Unsafe);
    assert_eq!(kind(store.create_session("main", &[])), ErrorKind::Exists);
    store.alias_move("main", "abd").unwrap();
    assert_eq!(store.resolve("main").unwrap(), "abd");
    store.alias_move("new", "abd").unwrap();
    assert_eq!(kind(store.alias_move("abc2", "abd")), ErrorKind::Exists);
    store.alias_remove("new").unwrap();
    assert_eq!(kind(store.alias_remove("new")), ErrorKind::NotFound);
    let all = [("ab", "abc2"), ("main", "abd")];
    let all: Vec<_> = all
        .iter()
        .map(|(name, id)| (name.to_string(), vec![id.to_string()]))
        .collect();
    assert_eq!(store.aliases().unwrap(), all);
    let mut ids: Vec<_> = store.ids().unwrap().into_iter().map(|entry| entry.id).collect();
    ids.sort();
    assert_eq!(ids, ["abc1", "abc2", "abd", "key_a_3ab"]);
}

#[test]
fn a_shared_alias_resolves_to_no_session() {
    let (_dir, store) = patient_store();
    let store = &store;
    for id in ["one", "two", "key_a_3ab"] {
        begin(store, id, &[]);
    }
    let built = |ids: &[&str]| AliasClaim::Made(ids.iter().map(ToString::to_string).collect());
    assert_eq!(store.alias_share("x", "two").unwrap(), built(&["two"]));
    assert_eq!(store.resolve("x").unwrap(), "two");
    assert_eq!(store.alias_share("x", "two").unwrap(), AliasClaim::There);
    assert_eq!(store.alias_share("x", "one").unwrap(), built(&["one", "two"]));
    let claimed = store.resolve("x").unwrap_err();
    assert_eq!(
        (claimed.kind, claimed.message.contains("one, two")),
        (ErrorKind::Exists, true)
    );
    assert_eq!(
        store.alias_share("a:b", "one").unwrap(),
        AliasClaim::Own("key_a_3ab".into())
    );
    assert_eq!(store.alias_ids("a:b").unwrap(), None);
    assert_eq!(kind(store.alias_add("x", "one")), ErrorKind::Exists);
    store.alias_move("x", "one").unwrap();
    assert_eq!(store.resolve("x").unwrap(), "one");
    for nth in 0..70 {
        begin(store, &format!("s{nth}"), &[]);
        store.alias_share("many", &format!("s{nth}")).unwrap();
    }
    assert_eq!(store.alias_ids("many").unwrap().unwrap().len(), 64);
    // Concurrent calls: no claim is lost.
    std::thread::scope(|scope| {
        for nth in 0..8 {
            scope.spawn(move || {
                loop {
                    match store.alias_share("crowd", &format!("s{nth}")) {
                        Err(error) if error.kind == ErrorKind::Locked => std::thread::yield_now(),
                        done => break drop(done.unwrap()),
                    }
                }
            });
        }
    });
    assert_eq!(store.alias_ids("crowd").unwrap().unwrap().len(), 8);
}

#[test]
fn a_removed_session_can_be_restored() {
    let (_dir, store) = patient_store();
    let store = &store;
    assert_eq!(kind(store.remove("one", NOW)), ErrorKind::NotFound);
    for text in ["first", "second"] {
        begin(store, "one", &[text]);
        store.remove("one", NOW).unwrap();
    }
    assert_eq!(
        store.trash().unwrap(),
        vec![("one".to_string(), NOW.to_string()); 2]
    );
    store.restore_removed("one").unwrap();
    assert!(texts(store, "one")[1].contains("second"));
    assert_eq!(kind(store.restore_removed("one")), ErrorKind::Exists);
    assert_eq!(kind(store.restore_removed("two")), ErrorKind::NotFound);
    assert_eq!(kind(store.remove("one", "today")), ErrorKind::Usage);
    store.alias_add("name", "one").unwrap();
    store.remove("one", "2026-11-20T18:02:04Z").unwrap();
    assert!(
        store
            .resolve("name")
            .unwrap_err()
            .message
            .contains("alias of missing session one")
    );
    store.restore_removed("one").unwrap();
    assert_eq!(store.resolve("name").unwrap(), "one");
}

#[test]
fn a_session_continues_in_another() {
    let (_dir, store) = patient_store();
    let store = &store;
    begin(store, "one", &["a"]);
    begin(store, "three", &[]);
    store.alias_add("chat", "one").unwrap();
    store.alias_share("both", "one").unwrap();
    store.alias_share("both", "three").unwrap();
    let next = |id: &str, parent: &str| {
        let header =
            format!("{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\",\"continued_from\":\"{parent}\"}}");
        Successor {
            id: id.to_string(),
            lines: vec![header.into_bytes(), message("b")],
            stamp: stamp("evt_1"),
        }
    };
    let go_on = |parent: &str, successor: Option<Successor>| {
        store.continue_session(parent, &mut Report::default(), &mut |session| {
            // The plan may query the store itself.
            assert!(store.has(parent).unwrap() && !session.is_empty());
            Ok(successor.clone())
        })
    };
    assert_eq!(
        kind(go_on("gone", Some(next("two", "gone")))),
        ErrorKind::NotFound
    );
    assert_eq!(go_on("one", None).unwrap(), Continued::Not);
    assert_eq!(kind(go_on("one", Some(next("three", "one")))), ErrorKind::Exists);
    assert_eq!(texts(store, "one").len(), 2);
    let done = go_on("one", Some(next("two", "one"))).unwrap();
    assert_eq!(done, Continued::Now("two".into(), vec!["chat".into()]));
    assert_eq!(
        go_on("one", Some(next("four", "one"))).unwrap(),
        Continued::Before("two".into())
    );
    assert_eq!(store.resolve("chat").unwrap(), "two");
    assert_eq!(kind(store.resolve("both")), ErrorKind::Exists);
    assert_eq!((texts(store, "one").len(), texts(store, "two").len()), (3, 2));
}
