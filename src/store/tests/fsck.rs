//! Tests that damage is found with its line and repaired without changing valid lines.

use super::pending::{MarkerKind, Planned};
use super::*;
use crate::store::fsck::{FoundProblem, FsckOptions, Problem};
use proptest::prelude::*;
use std::cell::Cell;

pub(super) fn look(store: &Store, repair: bool) -> Vec<FoundProblem> {
    let built = Cell::new(0);
    let stamp = |_: &str| {
        built.set(built.get() + 1);
        Ok(stamp(&format!("evt_{}", built.get())))
    };
    let check = FsckOptions {
        ids: None,
        repair: if repair { Some(&stamp) } else { None },
        link: &[],
        force: false,
    };
    let mut found = Vec::new();
    store.check(&check, &mut |one| found.push(one)).unwrap();
    found
}

fn problems(found: &[FoundProblem]) -> Vec<(Problem, u64)> {
    found
        .iter()
        .map(|found| (found.problem, found.place.line))
        .collect()
}

/// Replaces the content of a log.
fn damage(store: &Store, bytes: &[u8]) {
    fs::write(log_path(store, "one"), bytes).unwrap();
}

fn log(store: &Store) -> Vec<u8> {
    fs::read(log_path(store, "one")).unwrap()
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

#[test]
fn every_flipped_bit_is_found_on_its_line_and_flipped_back() {
    let (_dir, store) = store();
    begin(&store, "one", &["a", "J*"]);
    let good = log(&store);
    assert_eq!(look(&store, false), []);
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        damage(&store, &bad);
        let found = look(&store, false);
        assert!(!found.is_empty(), "bit {bit}");
        assert_eq!(log(&store), bad, "looking changes nothing");
        let line = 1 + lines(&good[..bit / 8 + 1]).len() as u64 - 1;
        // A version that became a later one can only be judged by a later program.
        if found[0].problem == Problem::Header {
            continue;
        }
        // If a new newline splits a line, either part may be reported.
        assert!(
            (line..line + 2).contains(&found[0].place.line),
            "bit {bit}: {found:?}"
        );
        // A repair syncs several times, so only some bits are repaired here; other tests cover every bit.
        if bit % 7 > 0 {
            continue;
        }
        let _ = fs::remove_dir_all(store.path().join("quarantine"));
        look(&store, true);
        assert_eq!(log(&store), good, "bit {bit}: {found:?}");
        assert_eq!(look(&store, true), []);
    }
}

#[test]
fn duplicated_and_misplaced_lines_are_repaired() {
    let (_dir, store) = store();
    begin(&store, "one", &["a", "b", "c", "d"]);
    let good = log(&store);
    let all = lines(&good);
    for at in 1..all.len() {
        let mut twice = all.clone();
        twice.insert(at, all[at - 1]);
        let mut turned = all.clone();
        turned.swap(at - 1, at);
        for bad in [twice, turned] {
            damage(&store, &bad.concat());
            assert!(!look(&store, false).is_empty());
            look(&store, true);
            assert_eq!(
                String::from_utf8(log(&store)).unwrap(),
                String::from_utf8(good.clone()).unwrap(),
                "{at}"
            );
        }
        if at < all.len() - 1 {
            let mut missing = all.clone();
            missing.remove(at);
            damage(&store, &missing.concat());
            assert_eq!(
                problems(&look(&store, false)),
                [(Problem::Checksum, at as u64 + 1)]
            );
            look(&store, true);
            assert!(missing.iter().all(|line| lines(&log(&store)).contains(line)));
            assert_eq!(look(&store, false), []);
        }
    }
}

#[test]
fn a_truncated_line_of_any_length_is_quarantined() {
    let (_dir, store) = store();
    begin(&store, "one", &["a", "b"]);
    let good = log(&store);
    let start = good.len() - lines(&good).last().unwrap().len();
    for end in start + 1..good.len() {
        let _ = fs::remove_dir_all(store.path().join("quarantine"));
        damage(&store, &good[..end]);
        assert_eq!(
            problems(&look(&store, false)),
            [(Problem::TruncatedTail, 3)],
            "{end}"
        );
        look(&store, true);
        let kept = fs::read(store.path().join("quarantine/one.jsonl")).unwrap_or_default();
        if end == good.len() - 1 {
            assert_eq!(log(&store), good);
        } else {
            assert_eq!(log(&store), &good[..start], "{end}");
            assert!(kept.ends_with(&[&good[start..end], b"\n"].concat()));
        }
        assert_eq!(look(&store, false), []);
    }
}

#[test]
fn unrepairable_problems_are_reported_and_unchanged() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    let event = br#"{"type":"restore","id":"r1","at":"2026-11-20T18:02:03Z","of":"gone"}"#;
    let cut = br#"{"type":"truncate","id":"t1","at":"2026-11-20T18:02:03Z","before":"gone"}"#;
    let message = br#"{"role":"user","content":"x","id":"m"}"#;
    store
        .append("one", &[event, cut, message, message, &header("two")])
        .unwrap();
    let orphan = [br#"{"type":"session","version":1,"id":"two","continued_from":"nobody"}"#.to_vec()];
    store.create_session("two", &orphan).unwrap();
    let before = log(&store);
    let expected = [
        (Problem::DanglingEvent, 3),
        (Problem::DanglingEvent, 4),
        (Problem::DuplicateId, 6),
        (Problem::Header, 7),
        (Problem::BrokenLink, 0),
    ];
    for repair in [false, true, false] {
        assert_eq!(problems(&look(&store, repair)), expected);
        assert_eq!(log(&store), before);
    }
}

#[test]
fn a_missing_header_is_created() {
    let (_dir, store) = store();
    store
        .create_session("one", &[super::message("a"), super::message("b")])
        .unwrap();
    let before = log(&store);
    assert_eq!(problems(&look(&store, false)), [(Problem::Header, 1)]);
    look(&store, true);
    assert_eq!(look(&store, false), []);
    let after = log(&store);
    assert_eq!(
        lines(&after)[0],
        br#"{"type":"session","version":1,"id":"one","_crc":"cf368685"}"#
            .iter()
            .chain(b"\n")
            .copied()
            .collect::<Vec<u8>>()
    );
    assert!(lines(&before).iter().all(|line| lines(&after).contains(line)));
}

#[test]
fn links_and_aliases() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    let child = [br#"{"type":"session","version":1,"id":"two","continued_from":"one"}"#.to_vec()];
    // A run that was interrupted after it created the session.
    store
        .mark(MarkerKind::Continue, "one", &[Planned::of("two", &child)])
        .unwrap();
    store.create_session("two", &child).unwrap();
    begin(&store, "gone", &["b"]);
    begin(&store, "binned", &["b"]);
    for (alias, id) in [("kept", "one"), ("lost", "gone"), ("waits", "binned")] {
        store.alias_add(alias, id).unwrap();
    }
    fs::remove_file(log_path(&store, "gone")).unwrap();
    store.remove("binned", NOW).unwrap();
    let kinds: Vec<Problem> = look(&store, false).iter().map(|found| found.problem).collect();
    assert_eq!(kinds, [Problem::MissingLink, Problem::Alias]);
    look(&store, true);
    assert_eq!(look(&store, false), []);
    assert!(read(&store, "one").0[2].contains(r#""type":"link""#));
    assert!(store.marks().unwrap().is_empty());
    let names: Vec<String> = store
        .aliases()
        .unwrap()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["kept", "waits"]);
    let kept = fs::read_to_string(store.path().join("quarantine/@aliases.jsonl")).unwrap();
    assert!(
        kept.contains(r#""alias":"lost""#) && kept.ends_with("gone\n"),
        "{kept}"
    );
}

#[test]
fn permissions_and_unexpected_files_are_reported() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    let root = store.path().to_path_buf();
    let inside = |name: &str| root.join("sessions").join(name);
    fs::set_permissions(inside("one.jsonl"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o750)).unwrap();
    fs::write(inside(".one.jsonl.new"), "half").unwrap();
    fs::write(inside(".stage-99999999-0-0"), "half").unwrap();
    symlink("/etc/passwd", inside("evil.jsonl")).unwrap();
    fs::write(root.join("notes"), "mine").unwrap();
    fs::write(inside("not an id.jsonl"), "mine").unwrap();
    let in_use = store.batch().unwrap();
    let _staged = in_use.stage("new", [header("new")]).unwrap();
    let kinds = |found: &[FoundProblem]| {
        let mut kinds: Vec<Problem> = found.iter().map(|found| found.problem).collect();
        kinds.sort();
        kinds
    };
    use Problem::{Permissions, Temporary, UnexpectedFile};
    // Files of an active batch are not leftovers; a new batch removes those of dead ones.
    fs::write(inside(".stage-99999999-0-0"), "half").unwrap();
    let expected = [
        Temporary, Temporary, Permissions, Permissions, UnexpectedFile, UnexpectedFile, UnexpectedFile,
    ];
    let found = look(&store, false);
    assert!(kinds(&found).starts_with(&expected[..4]), "{found:?}");
    look(&store, true);
    let left = look(&store, false);
    assert_eq!(
        kinds(&left),
        [UnexpectedFile, UnexpectedFile, UnexpectedFile],
        "{left:?}"
    );
    assert_eq!(fs::read_to_string(root.join("notes")).unwrap(), "mine");
    assert_eq!(
        fs::metadata(inside("one.jsonl")).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs::metadata("/etc/passwd").unwrap().permissions().mode() & 0o444,
        0o444
    );
}

#[derive(Clone, Debug)]
enum Blow {
    Byte(usize, u8),
    Remove(usize),
    Double(usize),
    Swap(usize),
    Insert(usize, Vec<u8>),
    Cut(usize),
}

fn blow() -> impl Strategy<Value = Blow> {
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Blow::Byte(at, byte)),
        any::<usize>().prop_map(Blow::Remove),
        any::<usize>().prop_map(Blow::Double),
        any::<usize>().prop_map(Blow::Swap),
        (any::<usize>(), proptest::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(at, bytes)| Blow::Insert(at, bytes)),
        (0usize..30).prop_map(Blow::Cut),
    ]
}

proptest! {
    #[test]
    fn a_repair_removes_every_problem_and_keeps_good_lines(blows in proptest::collection::vec(blow(), 1..4)) {
        let (_dir, store) = store();
        begin(&store, "one", &["a", "b", "c"]);
        store.append("one", &[b"by hand", br#"{"type":"note","id":"n1","at":"x"}"#]).unwrap();
        store.append("one", &[&message("d"), &message("e")]).unwrap();
        let good = log(&store);
        let mut bad = good.clone();
        for blow in blows {
            let count = lines(&bad).len().max(1);
            let of = |at: usize| at % count;
            let all: Vec<Vec<u8>> = lines(&bad).into_iter().map(<[u8]>::to_vec).collect();
            let mut new = all.clone();
            match blow {
                Blow::Byte(at, byte) if !bad.is_empty() => {
                    let at = at % bad.len();
                    bad[at] = byte;
                    continue;
                }
                Blow::Remove(at) if !new.is_empty() => drop(new.remove(of(at))),
                Blow::Double(at) if !new.is_empty() => new.insert(of(at), all[of(at)].clone()),
                Blow::Swap(at) if new.len() > 1 => new.swap(of(at), (of(at) + 1) % count),
                Blow::Insert(at, bytes) => new.insert(at % (new.len() + 1), bytes),
                Blow::Cut(bytes) => {
                    bad.truncate(bad.len().saturating_sub(bytes));
                    continue;
                }
                _ => {}
            }
            bad = new.concat();
        }
        damage(&store, &bad);
        let found = look(&store, true);
        prop_assume!(found.iter().all(|found| !found.what.contains("version")));
        let repaired = log(&store);
        let left: Vec<_> = look(&store, false).into_iter().filter(|found| !matches!(
            found.problem, Problem::Header | Problem::DuplicateId | Problem::DanglingEvent | Problem::BrokenLink
        )).collect();
        prop_assert_eq!(&left, &[], "{}", String::from_utf8_lossy(&repaired));
        // Every unmodified line still exists.
        let new = lines(&repaired);
        for line in lines(&bad).into_iter().filter(|line| line.ends_with(b"}\n") && lines(&good).contains(line)) {
            prop_assert!(new.contains(&line), "{}", String::from_utf8_lossy(line));
        }
        // All bytes are preserved somewhere.
        if repaired != bad {
            let copies = fs::read_dir(store.path().join("quarantine")).unwrap();
            let same = copies.filter(|copy| fs::read(copy.as_ref().unwrap().path()).unwrap() == bad).count();
            prop_assert_eq!(same, 1);
        }
        look(&store, true);
        prop_assert_eq!(&log(&store), &repaired);
        // The next append has a valid checksum.
        store.append("one", &[&message("next")]).unwrap();
        prop_assert!(!look(&store, false).iter().any(|found| found.problem == Problem::Checksum));
    }
}
