//! Tests the cache of `list`: ignored when a log has changed, and never required.

use crate::env::{CHAT, Env};
use std::path::PathBuf;
use std::time::Duration;

fn cache(env: &Env) -> PathBuf {
    env.store().join("cache/overviews")
}

/// Two sessions, `trip` and `trap`, with logs of equal size that are old enough to be cached.
fn after_coarse_time() -> Env {
    let env = Env::with_chat();
    env.write(
        "trap.jsonl",
        CHAT.replace("\"trip\"", "\"trap\"")
            .replace("\"Trip\"", "\"Trap\""),
    );
    env.run(&["migrate", "-q", "trap.jsonl"]).fine();
    let sizes = ["trip", "trap"].map(|id| env.log(id).metadata().unwrap().len());
    assert_eq!(sizes[0], sizes[1]);
    // A recently changed log is not cached, because it may change again within the same timestamp.
    env.run(&["list"]).fine();
    assert!(!cache(&env).exists());
    std::thread::sleep(Duration::from_millis(3100));
    env.run(&["list"]).fine();
    assert!(cache(&env).exists());
    env
}

/// Adds a valid checksum.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 4;
    let sum = crc32c::crc32c(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|found| found == from).unwrap();
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

fn titles(env: &Env) -> String {
    let run = env.run(&["list", "--sort", "id", "--columns", "title"]).fine();
    run.out().lines().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_session_is_reread_after_a_change_of_its_log() {
    let env = after_coarse_time();
    assert_eq!(titles(&env), "Trap Trip");
    // Cached data is shown without reading unchanged logs.
    let good = std::fs::read(cache(&env)).unwrap();
    std::fs::write(cache(&env), sealed(replaced(&good, b"Trip", b"Trek"))).unwrap();
    assert_eq!(titles(&env), "Trap Trek");
    // An event changes size and times.
    env.run(&["title", "-q", "trap", "Trop"]).fine();
    assert_eq!(titles(&env), "Trop Trek");
    // Different content with the same size and time.
    let log = env.log("trip");
    let (other, time) = (CHAT.len(), log.metadata().unwrap().modified().unwrap());
    assert!(other > 0);
    let content = std::fs::read(&log).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&log).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &content, 0).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(log.metadata().unwrap().modified().unwrap(), time);
    assert_eq!(titles(&env), "Trop Trip");
}

#[test]
fn a_bad_cache_is_ignored_and_replaced() {
    let env = after_coarse_time();
    let good = std::fs::read(cache(&env)).unwrap();
    let mut future = good.clone();
    future[8] ^= 1; // the version
    let lying = replaced(&good, b"Trip", b"Trek");
    for bad in [
        good[..good.len() / 2].to_vec(),
        Vec::new(),
        b"convokep".to_vec(),
        vec![0xff; 5000],
        lying,
        sealed(future),
        sealed(good[..good.len() - 20].to_vec()),
    ] {
        std::fs::write(cache(&env), &bad).unwrap();
        assert_eq!(titles(&env), "Trap Trip");
        assert_eq!(std::fs::read(cache(&env)).unwrap().len(), good.len());
    }
    // An unusable cache is ignored.
    std::fs::remove_dir_all(env.store().join("cache")).unwrap();
    std::fs::write(env.store().join("cache"), "").unwrap();
    assert_eq!(titles(&env), "Trap Trip");
    std::fs::remove_file(env.store().join("cache")).unwrap();
    std::os::unix::fs::symlink(env.work(), env.store().join("cache")).unwrap();
    assert_eq!(titles(&env), "Trap Trip");
    assert!(!env.work().join("overviews").exists());
}

#[test]
fn several_lists_at_once_agree() {
    let env = after_coarse_time();
    std::fs::remove_file(cache(&env)).unwrap();
    let expected = "Trap Trip";
    std::thread::scope(|scope| {
        let lists: Vec<_> = (0..4).map(|_| scope.spawn(|| titles(&env))).collect();
        for list in lists {
            assert_eq!(list.join().unwrap(), expected);
        }
    });
    assert_eq!(titles(&env), expected);
    let left = std::fs::read_dir(env.store().join("cache")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["overviews"]);
}

#[test]
fn a_purged_session_is_removed_from_the_cache() {
    let env = after_coarse_time();
    env.run(&["remove", "-q", "--purge", "trip"]).fine();
    let left = std::fs::read(cache(&env)).unwrap_or_default();
    assert!(!left.windows(4).any(|bytes| bytes == b"Trip"));
    assert_eq!(titles(&env), "Trap");
}
