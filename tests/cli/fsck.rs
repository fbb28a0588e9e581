//! `convo fsck`.

use crate::env::Env;

#[test]
fn all_is_well() {
    let env = Env::with_chat();
    snapshot!("fsck", env.run(&["fsck"]).status(0));
    env.run(&["fsck", "-q", "trip"]).fine();
    env.run(&["fsck", "--repair", "-q"]).fine();
    assert!(!env.store().join("quarantine").exists());
}

/// A log with a flipped bit, a line of somebody's, and a fragment at its end.
fn damaged() -> (Env, Vec<u8>) {
    let env = Env::with_chat();
    let mut log = std::fs::read(env.log("trip")).unwrap();
    let at = log.windows(5).position(|word| word == b"Paris").unwrap();
    log[at] ^= 4;
    log.extend_from_slice(b"by hand\n{\"role\":\"user\",\"content\":\"foreign\"}\n{\"role\":\"us");
    std::fs::write(env.log("trip"), &log).unwrap();
    (env, log)
}

#[test]
fn damage_is_told_and_mended() {
    let (env, bad) = damaged();
    snapshot!("fsck_damaged", env.run(&["fsck"]).status(1));
    snapshot!("fsck_json", env.run(&["fsck", "--json"]).status(1));
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), bad);
    snapshot!("fsck_repair", env.run(&["fsck", "--repair"]).status(0));
    let copy = env.store().join("quarantine/trip.20261120T180203Z.copy");
    assert_eq!(std::fs::read(copy).unwrap(), bad);
    let kept = std::fs::read_to_string(env.store().join("quarantine/trip.jsonl")).unwrap();
    snapshot!("fsck_quarantine", kept);
    let mended = std::fs::read(env.log("trip")).unwrap();
    snapshot!("fsck_again", env.run(&["fsck", "--repair"]).status(0));
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), mended);
    env.run(&["cat", "trip"]).fine();
    env.run(&["append", "trip", "next"]).fine();
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn what_cannot_be_mended_stays_and_is_told() {
    let env = Env::with_chat();
    std::fs::write(env.store().join("notes"), "mine").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", env.log("evil")).unwrap();
    snapshot!("fsck_left", env.run(&["fsck", "--repair"]).status(1));
    snapshot!(
        "fsck_left_json",
        env.run(&["fsck", "--repair", "--json"]).status(1)
    );
    assert!(env.store().join("notes").exists());
}

#[test]
fn control_characters_do_nothing() {
    let env = Env::with_chat();
    std::fs::write(env.store().join("a\u{1b}[2Jb\nc"), "").unwrap();
    let run = env.run(&["fsck"]).status(1);
    assert!(
        !run.out().contains('\u{1b}') && run.out().lines().count() == 1,
        "{run}"
    );
}

#[test]
fn usage() {
    let env = Env::with_chat();
    env.run(&["fsck", "nobody"]).status(66);
    env.run(&["fsck", "--force"]).status(2);
    snapshot!("fsck_path", env.run(&["fsck", "./trip.jsonl"]).status(2).stderr);
    Env::new().run(&["fsck"]).status(66);
}
