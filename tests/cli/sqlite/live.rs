//! Tests databases that programs are writing, or were writing when they were killed.

use super::homes::{THEN, add, opencode, path, say, settle};
use crate::env::Env;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The content and time of every file of a directory.
fn state(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let about = |path: &PathBuf| std::fs::metadata(path).unwrap().modified().unwrap();
    entries
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), (std::fs::read(&path).unwrap(), about(&path))))
        .collect()
}

#[test]
fn reading_a_database_changes_nothing_next_to_it() {
    let (env, mut database) = opencode();
    let dir = path(&env).parent().unwrap().to_path_buf();
    let read = |env: &Env| {
        let before = state(&dir);
        env.run(&["list", "--agents", "--no-cache"]).fine();
        env.run(&["show", "opencode:ses_one"]).fine();
        env.run(&["search", "lease"]).fine();
        assert!(state(&dir) == before, "{:?}", before.keys());
    };
    settle(&env);
    assert_eq!(state(&dir).len(), 3);
    read(&env);
    // During an uncommitted change.
    let transaction = database.transaction().unwrap();
    add(&transaction, "ses_late", None, THEN, "Too late.");
    read(&env);
    env.run(&["show", "opencode:ses_late"]).status(66);
    transaction.commit().unwrap();
    read(&env);
    env.run(&["show", "opencode:ses_late"]).fine();
    for how in ["FULL", "TRUNCATE"] {
        let checkpoint = format!("PRAGMA wal_checkpoint({how})");
        database.query_row(&checkpoint, [], |_| Ok(())).unwrap();
        read(&env);
    }
    say(&database, "ses_one", THEN, "user", "Once more.");
    // The files that a killed program leaves, with and without the index of the write-ahead log.
    let copy: Vec<_> = state(&dir).into_iter().collect();
    database.close().unwrap();
    for (path, (bytes, _)) in &copy {
        std::fs::write(path, bytes).unwrap();
    }
    read(&env);
    assert!(
        env.run(&["show", "opencode:ses_one"])
            .fine()
            .out()
            .contains("Once more.")
    );
    std::fs::remove_file(dir.join("opencode.db-shm")).unwrap();
    read(&env);
    assert_eq!(state(&dir).len(), 2);
    assert!(
        env.run(&["show", "opencode:ses_one"])
            .fine()
            .out()
            .contains("Once more.")
    );
}

#[test]
fn a_database_is_read_while_its_program_writes() {
    let (env, mut database) = opencode();
    database
        .query_row("PRAGMA wal_autocheckpoint = 20", [], |_| Ok(()))
        .unwrap();
    let (ended, end) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut nth = 0;
            while let Err(std::sync::mpsc::TryRecvError::Empty) = end.try_recv() {
                // Each change has two rows, which readers must see together.
                let transaction = database.transaction().unwrap();
                say(&transaction, "ses_one", THEN + nth, "user", "first half");
                say(&transaction, "ses_one", THEN + nth, "user", "second half");
                transaction.commit().unwrap();
                nth += 1;
            }
        });
        for _ in 0..10 {
            let run = env.run(&["cat", "opencode:ses_one"]).fine();
            let count = |text: &str| run.out().matches(text).count();
            assert_eq!(count("first half"), count("second half"));
        }
        drop(ended);
    });
}
