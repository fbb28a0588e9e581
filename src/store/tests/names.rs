//! Tests names: resolution order, uniqueness and removal.

use super::*;

#[test]
fn a_name_is_found_in_order() {
    let (_dir, store) = store();
    assert_eq!(kind(store.resolve("@last")), ErrorKind::NotFound);
    for id in ["abc1", "abc2", "abd", "key_a_3ab"] {
        begin(&store, id, &[]);
    }
    store.alias_add("main", "abc1").unwrap();
    store.alias_add("ab", "abc2").unwrap();
    store.alias_claim("both", &["abc1".into(), "abd".into()]).unwrap();
    assert_eq!(store.resolve("abc1").unwrap(), "abc1");
    assert_eq!(store.resolve("main").unwrap(), "abc1");
    assert_eq!(
        store.resolve("ab").unwrap(),
        "abc2",
        "an alias goes before the beginning of an id"
    );
    assert_eq!(store.resolve("a:b").unwrap(), "key_a_3ab");
    assert_eq!(store.resolve("abd").unwrap(), "abd");
    assert_eq!(store.resolve("key").unwrap(), "key_a_3ab");
    let ambiguous = store.resolve("abc").unwrap_err();
    assert_eq!(ambiguous.kind, ErrorKind::NotFound);
    assert!(ambiguous.message.contains("abc1, abc2"), "{}", ambiguous.message);
    let claimed = store.resolve("both").unwrap_err();
    assert_eq!(claimed.kind, ErrorKind::Exists);
    assert!(claimed.message.contains("abc1, abd"), "{}", claimed.message);
    let wrong = store.resolve("mian").unwrap_err();
    assert_eq!(wrong.kind, ErrorKind::NotFound);
    assert!(wrong.hint.unwrap().contains("main"));
    for nothing in ["", "x", "@first", "../abd", "a/b\n"] {
        assert_eq!(kind(store.resolve(nothing)), ErrorKind::NotFound, "{nothing:?}");
    }
    store.remove("abc1", NOW).unwrap();
    assert!(
        store
            .resolve("main")
            .unwrap_err()
            .message
            .contains("alias of missing session abc1")
    );
    let future = std::time::SystemTime::now() + Duration::from_secs(60);
    File::open(log_path(&store, "abc2"))
        .unwrap()
        .set_modified(future)
        .unwrap();
    assert_eq!(store.resolve("@last").unwrap(), "abc2");
}

#[test]
fn ids_are_those_of_logs() {
    let (_dir, store) = store();
    assert!(store.ids().unwrap().is_empty());
    begin(&store, "one", &[]);
    for name in [".stage-1-1", ".one.jsonl.new", "a b.jsonl", "one.txt"] {
        fs::write(store.path().join("sessions").join(name), "").unwrap();
    }
    fs::create_dir(store.path().join("sessions/folder.jsonl")).unwrap();
    let ids = store.ids().unwrap();
    assert_eq!(ids.len(), 1);
    assert_eq!(
        (&ids[0].id[..], ids[0].bytes),
        ("one", fs::metadata(log_path(&store, "one")).unwrap().len())
    );
}

#[test]
fn a_name_is_assigned_once() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    begin(&store, "two", &[]);
    let before = fs::read(log_path(&store, "one")).unwrap();
    assert_eq!(kind(store.create_session("one", &[])), ErrorKind::Exists);
    assert_eq!(fs::read(log_path(&store, "one")).unwrap(), before);
    store.alias_add("name", "one").unwrap();
    store.alias_add("name", "one").unwrap();
    assert_eq!(kind(store.alias_add("name", "two")), ErrorKind::Exists);
    assert_eq!(kind(store.alias_add("two", "one")), ErrorKind::Exists);
    assert_eq!(kind(store.alias_add("other", "three")), ErrorKind::NotFound);
    assert_eq!(kind(store.create_session("name", &[])), ErrorKind::Exists);
    store.alias_remove("name").unwrap();
    store.alias_add("name", "two").unwrap();
    store.alias_add("agent:main/ü", "one").unwrap();
    let all = [
        ("agent:main/ü".to_string(), vec!["one".to_string()]),
        ("name".to_string(), vec!["two".to_string()]),
    ];
    assert_eq!(store.aliases().unwrap(), all);
    for bad in ["", "@x", "a\nb", &"é".repeat(60)] {
        assert_eq!(kind(store.alias_add(bad, "one")), ErrorKind::Unsafe, "{bad:?}");
    }
    store.alias_remove("name").unwrap();
    assert_eq!(kind(store.alias_remove("name")), ErrorKind::NotFound);
    assert_eq!(store.alias_ids("name").unwrap(), None);
    assert_eq!(
        fs::read_dir(store.path().join("aliases")).unwrap().count(),
        1,
        "nothing is left over"
    );
}

#[test]
fn a_removed_session_can_be_restored() {
    let (_dir, store) = store();
    assert_eq!(kind(store.remove("a.b", NOW)), ErrorKind::NotFound);
    for text in ["first", "second"] {
        begin(&store, "a.b", &[text]);
        store.remove("a.b", NOW).unwrap();
    }
    assert_eq!(
        store.trash().unwrap(),
        vec![("a.b".to_string(), NOW.to_string()); 2]
    );
    assert!(store.path().join("trash/a.b.20261120T180203Z.2.jsonl").exists());
    store.restore_removed("a.b").unwrap();
    assert!(read(&store, "a.b").0[1].contains("second"));
    assert_eq!(kind(store.restore_removed("a.b")), ErrorKind::Exists);
    assert_eq!(kind(store.restore_removed("other")), ErrorKind::NotFound);
    assert_eq!(kind(store.remove("a.b", "today")), ErrorKind::Usage);
    store.purge("a.b").unwrap();
    assert_eq!(store.trash().unwrap(), []);
    assert_eq!(kind(store.resolve("a.b")), ErrorKind::NotFound);
    assert_eq!(kind(store.purge("a.b")), ErrorKind::NotFound);
}
