//! `convo remove`.

use crate::env::{CHAT, Env};

#[test]
fn a_session_is_moved_to_the_trash_and_reported() {
    let env = Env::with_chat();
    env.run(&["alias", "add", "-q", "work", "trip"]).fine();
    snapshot!("remove", env.run(&["remove", "work"]).status(0));
    env.run(&["cat", "trip"]).status(66);
    snapshot!("remove_alias_left", env.run(&["cat", "work"]).status(66));
    assert!(env.store().join("trash/trip.20261120T180203Z.jsonl").is_file());
}

/// The undo command that `remove` prints works.
#[test]
fn restore_recovers_a_removed_session() {
    let env = Env::with_chat();
    env.run(&["alias", "add", "-q", "work", "trip"]).fine();
    let reported = env.run(&["remove", "trip"]).status(0).stderr;
    assert!(
        reported.contains("recover with: convo restore trip"),
        "{reported}"
    );
    env.run(&["restore", "trip"]).status(0);
    env.run(&["cat", "work"]).fine().gives(CHAT);
}

#[test]
fn purge_deletes_permanently() {
    let env = Env::with_chat();
    snapshot!("remove_purge", env.run(&["remove", "--purge", "trip"]));
    assert!(
        !env.files()
            .iter()
            .any(|file| file.starts_with("store/") && file.contains("trip")),
        "{:?}",
        env.files()
    );
    env.run(&["restore", "trip"]).status(66);
    env.run(&["remove", "--purge", "trip"]).status(66);
}

#[test]
fn purge_deletes_from_the_trash() {
    let env = Env::with_chat();
    env.run(&["remove", "-q", "trip"]).fine();
    env.run(&["remove", "-q", "--purge", "trip"]).fine();
    assert!(!env.files().iter().any(|file| file.starts_with("store/trash/")));
}

#[test]
fn errors() {
    let env = Env::with_chat();
    env.write("trip.jsonl", CHAT);
    snapshot!("remove_nobody", env.run(&["remove", "nobody"]).status(66).stderr);
    snapshot!(
        "remove_path",
        env.run(&["remove", "./trip.jsonl"]).status(2).stderr
    );
    env.run(&["remove"]).status(2);
    env.run(&["remove", "-"]).status(2);
    env.run(&["remove", "nobody", "trip"]).status(66);
    env.run(&["cat", "trip"]).status(66);
    assert_eq!(env.read("trip.jsonl"), CHAT);
}

/// If the trash has something with exactly this name, a session for which the name is only a prefix is never selected
/// or purged.
#[test]
fn a_full_name_precedes_a_prefix() {
    let env = Env::with_chat();
    env.run(&["new", "--id", "trip2"]).status(0);
    env.run(&["remove", "-q", "trip"]).fine();
    snapshot!("remove_again", env.run(&["remove", "trip"]).status(66).stderr);
    env.run(&["restore", "-q", "trip"]).fine();
    env.run(&["cat", "trip"]).fine().gives(CHAT);
    env.run(&["remove", "-q", "trip"]).fine();
    env.run(&["remove", "-q", "--purge", "trip"]).fine();
    snapshot!(
        "remove_purge_prefix",
        env.run(&["remove", "--purge", "tri"]).status(66).stderr
    );
    assert!(env.log("trip2").exists());
}

#[test]
fn an_interrupted_purge_is_completed() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    env.run(&["gc", "-q"]).fine();
    std::fs::remove_file(env.log("trip")).unwrap();
    env.run(&["fsck", "-q"]).status(1);
    env.run(&["remove", "-q", "--purge", "trip"]).fine();
    env.run(&["fsck", "-q"]).fine();
}

/// An id that looks like another id with a time.
#[test]
fn a_purge_deletes_nothing_of_another_session() {
    let env = Env::with_chat();
    let other = "trip.20261120T180203Z";
    env.write(
        "other.jsonl",
        CHAT.replace("\"id\":\"trip\"", &format!("\"id\":\"{other}\"")),
    );
    env.run(&["migrate", "-q", "other.jsonl"]).fine();
    env.run(&["truncate", "-q", other, "--keep-last", "1"]).fine();
    env.run(&["gc", "-q"]).fine();
    env.run(&["remove", "-q", "--purge", "trip"]).fine();
    assert!(env.store().join(format!("archive/{other}.jsonl")).exists());
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn purge_refuses_aliases_and_keys() {
    let env = Env::with_chat();
    env.run(&["new", "-q", "--id", "other", "--key", "tele:1"]).fine();
    // An alias that is the beginning of another id.
    env.run(&["alias", "add", "-q", "tri", "other"]).fine();
    for name in ["tri", "tele:1"] {
        env.run(&["remove", "--purge", name])
            .status(66)
            .says(&format!("{name}: --purge requires a full id"))
            .says("did you mean 'other'?");
    }
    env.run(&["remove", "-q", "--purge", "@id:other"]).fine();
    env.run(&["alias", "list"]).fine().gives("");
    env.run(&["remove", "-q", "trip"]).fine();
    env.run(&["remove", "-q", "--purge", "@id:trip"]).fine();
    env.run(&["restore", "trip"]).status(66);
}
