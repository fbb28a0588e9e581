//! `convo fsck`.

use crate::env::Env;

#[test]
fn a_sound_store_has_no_problems() {
    let env = Env::with_chat();
    snapshot!("fsck", env.run(&["fsck"]).status(0));
    env.run(&["fsck", "-q", "trip"]).fine();
    env.run(&["fsck", "--repair", "-q"]).fine();
    assert!(!env.store().join("quarantine").exists());
}

/// A log with a flipped bit, an unchecked line, and a fragment at its end.
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
fn damage_is_reported_and_repaired() {
    let (env, bad) = damaged();
    snapshot!("fsck_damaged", env.run(&["fsck"]).status(1));
    snapshot!("fsck_json", env.run(&["fsck", "--json"]).status(1));
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), bad);
    snapshot!("fsck_repair", env.run(&["fsck", "--repair"]).status(0));
    let copy = env.store().join("quarantine/trip.20261120T180203Z.copy");
    assert_eq!(std::fs::read(copy).unwrap(), bad);
    let kept = std::fs::read_to_string(env.store().join("quarantine/trip.jsonl")).unwrap();
    snapshot!("fsck_quarantine", kept);
    let repaired = std::fs::read(env.log("trip")).unwrap();
    snapshot!("fsck_again", env.run(&["fsck", "--repair"]).status(0));
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), repaired);
    env.run(&["cat", "trip"]).fine();
    env.run(&["append", "trip", "next"]).fine();
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn unrepairable_problems_are_kept_and_reported() {
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
fn control_characters_are_escaped() {
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

fn bend(env: &Env, id: &str, line: usize) {
    let log = std::fs::read_to_string(env.log(id)).unwrap();
    let mut lines: Vec<String> = log.lines().map(str::to_string).collect();
    lines[line - 1] = lines[line - 1].replace("e", "ö");
    std::fs::write(env.log(id), lines.join("\n") + "\n").unwrap();
}

/// The other sessions are processed.
#[test]
fn a_locked_session_does_not_block_the_others() {
    let env = Env::with_chat();
    env.run(&["new", "--id", "zoo"]).status(0);
    env.run(&["append", "zoo", "hello"]).fine();
    bend(&env, "trip", 2);
    bend(&env, "zoo", 2);
    let lock = std::fs::File::open(env.log("trip")).unwrap();
    lock.lock().unwrap();
    let run = env.run(&["fsck", "--repair", "--lock-timeout", "0"]).status(75);
    assert!(
        run.out().contains("zoo:2: ") && run.stderr.contains("zoo: repaired"),
        "{run}"
    );
    drop(lock);
    env.run(&["fsck", "--repair"]).status(0);
    env.run(&["fsck", "-q"]).fine();
}

/// A header is always first, however it was damaged.
#[test]
fn a_repaired_header_is_the_first_line() {
    let env = Env::with_chat();
    bend(&env, "trip", 1);
    env.run(&["fsck", "--repair", "-q"]).status(0);
    // An unreadable header is kept and replaced with a new one.
    env.run(&["fsck", "-q"]).fine();
    let cat = env.run(&["cat", "trip"]).fine();
    assert!(
        cat.out()
            .starts_with("{\"type\":\"session\",\"version\":1,\"id\":\"trip\"}"),
        "{cat}"
    );
    let broken = Env::with_chat();
    let log = std::fs::read_to_string(broken.log("trip")).unwrap();
    std::fs::write(
        broken.log("trip"),
        log.replace("\"title\":\"Trip\"", "\"title\":\"Tour\""),
    )
    .unwrap();
    broken.run(&["fsck", "--repair", "-q"]).status(0);
    broken.run(&["fsck", "-q"]).fine();
    assert_eq!(broken.run(&["list"]).fine().out().lines().count(), 1);
    assert!(
        broken
            .run(&["cat", "trip"])
            .fine()
            .out()
            .starts_with("{\"type\":\"session\"")
    );
}

/// Only a repair event may restart the checksum chain.
#[test]
fn a_chain_member_of_a_message_does_not_break_the_chain() {
    let env = Env::with_chat();
    let line = |nth: u32| {
        format!(
            "{{\"role\":\"user\",\"id\":\"x{nth}\",\"timestamp\":\"2026-11-20T18:02:03Z\",\"content\":\"m\",\"_chain\":\"00000000\"}}\n"
        )
    };
    let lines: String = (1..5).map(line).collect();
    env.pipe(&["append", "trip", "--stream", "-q"], lines).fine();
    env.run(&["fsck", "-q"]).fine();
    let log = std::fs::read_to_string(env.log("trip")).unwrap();
    let without: String = log
        .split_inclusive('\n')
        .filter(|line| !line.contains("\"x2\""))
        .collect();
    std::fs::write(env.log("trip"), without).unwrap();
    env.run(&["fsck", "-q"]).status(1);
}

/// A link in place of a directory is reported, and everything else is checked.
#[test]
fn links_in_place_of_directories_hide_no_damage() {
    let env = Env::with_chat();
    bend(&env, "trip", 2);
    for name in ["archive", "quarantine", "aliases"] {
        std::os::unix::fs::symlink("/tmp", env.store().join(name)).unwrap();
    }
    let run = env.run(&["fsck"]).status(1);
    assert!(
        run.out().contains("trip:2: ") && run.out().matches("stranger").count() == 3,
        "{run}"
    );
}

/// Checks the archive: lines left by an interrupted gc, and a missing archive.
#[test]
fn the_archive_is_checked() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    env.run(&["gc", "-q"]).fine();
    let path = env.store().join("archive/trip.jsonl");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [&whole[..], b"{\"type\":\"archive\",\"id\":\"e"].concat()).unwrap();
    snapshot!("fsck_archive", env.run(&["fsck", "--repair"]).status(0));
    assert_eq!(std::fs::read(&path).unwrap(), whole);
    for damaged in [
        whole[..whole.len() - 9].to_vec(),
        String::from_utf8(whole)
            .unwrap()
            .replace("\"left\":\"2026", "\"left\":\"2016")
            .into_bytes(),
    ] {
        std::fs::write(&path, damaged).unwrap();
        env.run(&["fsck", "-q"]).status(1);
    }
    std::fs::remove_file(&path).unwrap();
    env.run(&["fsck"]).status(1);
}

#[test]
fn another_continuation_of_a_session_is_a_branch() {
    let env = Env::with_chat();
    env.run(&["continue", "trip"]).fine();
    let sibling = r#"{"type":"session","version":1,"id":"sib","continued_from":"trip"}"#;
    std::fs::write(env.store().join("sessions/sib.jsonl"), format!("{sibling}\n")).unwrap();
    let before = std::fs::read(env.log("trip")).unwrap();
    env.run(&["fsck", "--repair"]).status(0);
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), before);
}
