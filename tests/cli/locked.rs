//! Tests reading a session whose lock another process holds.

use crate::env::Env;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

const READERS: [&[&str]; 8] = [
    &["cat", "trip"],
    &["show", "trip"],
    &["context", "trip"],
    &["context", "--budget", "1000", "trip"],
    &["count", "trip"],
    &["list"],
    &["restore", "--list", "trip"],
    &["fsck"],
];

/// A held lock and a partial line after it do not affect readers.
#[test]
fn readers_do_not_wait_for_a_lock() {
    let env = Env::with_chat();
    let before = READERS.map(|arguments| env.run(arguments).status(0));
    let mut log = OpenOptions::new()
        .read(true)
        .append(true)
        .open(env.log("trip"))
        .unwrap();
    log.lock().unwrap();
    for half in ["", "{\"role\":\"user\",\"content\":\"half of"] {
        log.write_all(half.as_bytes()).unwrap();
        for (arguments, before) in READERS.iter().zip(&before) {
            let began = Instant::now();
            let run = env.run(arguments).status(0);
            assert!(began.elapsed() < Duration::from_secs(5), "{arguments:?} waited");
            assert_eq!(
                (run.out(), &run.stderr),
                (before.out(), &before.stderr),
                "{arguments:?}, half a line: {half:?}"
            );
        }
    }
    env.run(&["--lock-timeout", "0", "append", "trip", "x"])
        .status(75);
    drop(log);
    env.run(&["cat", "trip"]).status(65);
}
