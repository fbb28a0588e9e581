//! Tests readers next to writers: they do not wait, and never see half of a change.

use super::*;
use crate::store::mark::RangeMark;
use std::sync::atomic::AtomicBool;

/// Holds the lock of its log.
fn locked(store: &Store) -> File {
    let mut options = OpenOptions::new();
    let log = options
        .read(true)
        .append(true)
        .open(log_path(store, "one"))
        .unwrap();
    log.lock().unwrap();
    log
}

#[test]
fn a_locked_log_is_read_at_once() {
    let (_dir, store) = store();
    begin(&store, "one", &["a", "b"]);
    let before = read(&store, "one").0;
    let log = locked(&store);
    let (lines, report) = read(&store, "one");
    assert_eq!((lines, report.findings.len()), (before, 0));
    // A change is planned from the result of a change in progress.
    assert_eq!(
        kind(store.load_with_length("one", &mut Report::default())),
        ErrorKind::Locked
    );
    drop(log);
    assert_eq!(read(&store, "one").0.len(), 3);
}

#[test]
fn an_unfinished_write_is_invisible_at_any_length() {
    let (_dir, store) = store();
    begin(&store, "one", &["a", "b"]);
    let before = read(&store, "one").0;
    let old = fs::read(log_path(&store, "one")).unwrap();
    store
        .append("one", &[&message("c"), &message("d"), &message("e")])
        .unwrap();
    let new = fs::read(log_path(&store, "one")).unwrap();
    for length in old.len()..=new.len() {
        fs::write(log_path(&store, "one"), &old).unwrap();
        let log = locked(&store);
        let mark = RangeMark::set(&log, old.len() as u64);
        (&log).write_all(&new[old.len()..length]).unwrap();
        let (lines, report) = read(&store, "one");
        assert_eq!((lines, report.findings.len()), (before.clone(), 0), "{length}");
        drop(mark);
        if length == new.len() {
            assert_eq!(read(&store, "one").0.len(), 6);
        }
    }
}

#[test]
fn a_partial_line_without_a_lock_is_damage() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    let long = message(&"x".repeat(600_000));
    for line in [message("by hand"), long] {
        let before = fs::read(log_path(&store, "one")).unwrap();
        let lines = read(&store, "one").0.len();
        for (length, seen) in [(1, 0), (line.len() / 2, 0), (line.len() - 1, 0), (line.len(), 1)] {
            fs::write(log_path(&store, "one"), &before).unwrap();
            let mut log = locked(&store);
            log.write_all(&line[..length]).unwrap();
            let (now, report) = read(&store, "one");
            assert_eq!((now.len(), report.findings.len()), (lines + seen, 0), "{length}");
            drop(log);
            // No process is writing: this is the final state.
            let (now, report) = read(&store, "one");
            assert_eq!(
                (now.len(), report.findings.len()),
                (lines + 1, 1 - seen),
                "{length}"
            );
        }
        store.append("one", &[&message("b")]).unwrap();
    }
}

#[test]
fn readers_see_complete_groups_during_writes() {
    let (_dir, store) = store();
    begin(&store, "one", &[]);
    let (store, writes) = (&store, &AtomicBool::new(true));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                let mut seen = 0;
                while writes.load(Ordering::Relaxed) {
                    let (lines, report) = read(store, "one");
                    assert!(report.findings.is_empty(), "{:?}", report.findings);
                    assert_eq!((lines.len() - 1) % 3, 0, "half a group");
                    assert!(lines.len() >= seen, "what was there is gone");
                    seen = lines.len();
                }
            });
        }
        scope.spawn(move || {
            let mut writer = Store::open(store.path()).unwrap();
            writer.lock_timeout = Duration::from_secs(60);
            let text = "x".repeat(5000);
            for _ in 0..100 {
                let line = message(&text);
                writer.append("one", &[&line, &line, &line]).unwrap();
            }
            writes.store(false, Ordering::Relaxed);
        });
    });
    assert_eq!(read(store, "one").0.len(), 301);
}
