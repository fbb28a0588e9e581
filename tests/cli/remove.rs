//! `convo remove`.

use crate::env::{CHAT, Env};

#[test]
fn to_the_trash_and_told() {
    let env = Env::with_chat();
    env.run(&["alias", "add", "-q", "work", "trip"]).fine();
    snapshot!("remove", env.run(&["remove", "work"]).status(0));
    env.run(&["cat", "trip"]).status(66);
    snapshot!("remove_alias_left", env.run(&["cat", "work"]).status(66));
    assert!(env.store().join("trash/trip.20261120T180203Z.jsonl").is_file());
}

/// The way back that `remove` itself names.
#[test]
fn restore_brings_it_back() {
    let env = Env::with_chat();
    env.run(&["alias", "add", "-q", "work", "trip"]).fine();
    let told = env.run(&["remove", "trip"]).status(0).stderr;
    assert!(told.contains("`convo restore trip` brings it back"), "{told}");
    env.run(&["restore", "trip"]).status(0);
    env.run(&["cat", "work"]).fine().gives(CHAT);
}

#[test]
fn purge_destroys() {
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
fn purge_reaches_into_the_trash() {
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
