//! `convo alias`.

use crate::env::{CHAT, Env};

#[test]
fn an_alias_is_added_resolved_and_removed() {
    let env = Env::with_chat();
    let add = env.run(&["alias", "add", "work", "tri"]).status(0).gives("");
    assert_eq!(add.stderr, "convo: work: alias added for trip\n");
    env.run(&["alias", "resolve", "work"]).fine().gives("trip\n");
    env.run(&["cat", "work"]).fine().gives(CHAT);
    env.run(&["alias", "list"]).fine().gives("work\ttrip\n");
    env.run(&["alias", "add", "trip", "other"])
        .status(66)
        .says("hint: the new alias comes first: convo alias add other trip");
    snapshot!("alias_list_json", env.run(&["alias", "list", "--json"]).fine());
    env.run(&["alias", "remove", "work"])
        .status(0)
        .says("convo: work: alias removed\n");
    env.run(&["alias", "resolve", "work"]).status(66);
    env.run(&["cat", "trip"]).fine().gives(CHAT);
}

#[test]
fn an_existing_name_is_73() {
    let env = Env::with_chat();
    env.run(&["new", "--id", "other"]).fine();
    env.run(&["alias", "add", "-q", "work", "trip"]).fine();
    env.run(&["alias", "add", "-q", "work", "trip"]).fine();
    snapshot!(
        "alias_taken",
        env.run(&["alias", "add", "work", "other"]).status(73)
    );
    snapshot!(
        "alias_own_name",
        env.run(&["alias", "add", "other", "trip"]).status(73)
    );
    env.run(&["alias", "resolve", "work"]).fine().gives("trip\n");
}

#[test]
fn unusual_names_remain_distinct() {
    let env = Env::with_chat();
    let names = ["a:b", "a\\b", "a_b", "A_B", "ä b", "-x", "..\\..\\etc"];
    for (nth, name) in names.iter().enumerate() {
        let id = format!("s{nth}");
        env.run(&["new", "--id", &id]).fine();
        env.run(&["alias", "add", "-q", "--", name, &id]).fine();
    }
    for (nth, name) in names.iter().enumerate() {
        env.run(&["alias", "resolve", "--", name])
            .fine()
            .gives(format!("s{nth}\n"));
    }
    assert!(
        env.files()
            .iter()
            .all(|file| file.starts_with("store/") || file == "work/trip.jsonl")
    );
}

#[test]
fn a_name_that_reads_as_a_path_is_refused() {
    let env = Env::with_chat();
    let before = env.files();
    for name in ["a/b", "../../etc/passwd", "x.jsonl", "-"] {
        env.run(&["alias", "add", "--", name, "trip"])
            .status(2)
            .says("invalid name: looks like a path");
    }
    assert_eq!(env.files(), before);
}

#[test]
fn unsafe_names_are_refused() {
    let env = Env::with_chat();
    let before = env.files();
    let long = "x".repeat(300);
    let mut reported = String::new();
    for name in ["", "@last", "a\nb", "a\u{1b}b", &long] {
        reported += &env.run(&["alias", "add", name, "trip"]).status(77).to_string();
    }
    snapshot!("alias_unsafe", reported);
    assert_eq!(env.files(), before);
}

#[test]
fn errors() {
    let env = Env::with_chat();
    let runs = [
        env.run(&["alias", "add", "x", "nobody"]).status(66),
        env.run(&["alias", "remove", "x"]).status(66),
        env.run(&["alias", "resolve", "x"]).status(66),
    ];
    let all: Vec<String> = runs.iter().map(ToString::to_string).collect();
    snapshot!("alias_errors", all.join("\n"));
    env.run(&["alias"]).status(2);
    env.run(&["alias", "add", "x"]).status(2);
    env.run(&["alias", "list"]).fine().gives("");
}

#[test]
fn a_name_can_be_moved() {
    let env = Env::with_chat();
    env.run(&["new", "--id", "other", "--alias", "work"]).fine();
    env.run(&["alias", "add", "work", "trip"]).status(73);
    let moved = env.run(&["alias", "add", "--move", "work", "trip"]).status(0);
    assert_eq!(moved.stderr, "convo: work: alias added for trip\n");
    env.run(&["alias", "add", "--move", "-q", "work", "trip"]).fine();
    env.run(&["alias", "resolve", "work"]).fine().gives("trip\n");
    env.run(&["alias", "add", "--move", "-q", "new", "trip"]).fine();
    env.run(&["alias", "list", "work"])
        .fine()
        .gives("new\ttrip\nwork\ttrip\n");
    env.run(&["alias", "list", "other"]).fine().gives("");
    env.run(&["alias", "list", "nobody"]).status(66);
    env.run(&["alias", "add", "--move", "other", "trip"]).status(73);
    env.run(&["alias", "add", "--move", "x", "nobody"]).status(66);
}

#[test]
fn an_alias_that_hides_other_sessions_is_reported() {
    let env = Env::with_chat();
    env.run(&["new", "--id", "tripod"]).fine();
    for (id, what) in [
        (
            "tripod",
            "tri: also a prefix of session trip; the alias takes precedence",
        ),
        ("other", "tri: also a prefix of 2 other sessions"),
    ] {
        env.run(&["new", "--id", id, "--if-missing"]).fine();
        env.run(&["alias", "add", "--move", "tri", id])
            .status(0)
            .says(what);
    }
    let run = env.run(&["alias", "add", "od", "tripod"]).status(0);
    assert!(!run.stderr.contains("prefix"), "{run}");
}
