//! `convo title`.

use crate::env::{BARE, CHAT, Env};

#[test]
fn a_title_is_set_printed_removed_and_restored() {
    let env = Env::with_chat();
    let title = || env.run(&["title", "trip"]).fine().out().to_string();
    assert_eq!(title(), "Trip\n");
    env.run(&["title", "trip", "Paris"])
        .status(0)
        .says("trip: title set to 'Paris'");
    assert_eq!(title(), "Paris\n");
    env.run(&["rename", "trip", "Rome"]).status(0);
    assert_eq!(title(), "Rome\n");
    let list = env.run(&["list"]).fine();
    assert!(list.out().ends_with("\tRome\n"), "{list}");
    // Without a title, the first question serves as one.
    env.run(&["title", "trip", ""]).status(0).says("title removed");
    assert_eq!(title(), "Weather in Paris?\n");
    let json = env.run(&["title", "trip", "--json"]).fine().objects();
    assert_eq!(
        (&json[0]["title"], &json[0]["title_from"]),
        (&"Weather in Paris?".into(), &"question".into())
    );
    env.run(&["title", "trip", " "]).status(0).says("unchanged");
    // Each change can be undone.
    for expected in ["Rome\n", "Paris\n", "Trip\n"] {
        env.run(&["restore", "-q", "trip"]).fine();
        assert_eq!(title(), expected);
    }
    env.run(&["restore", "trip"]).status(1).says("nothing to undo");
    env.run(&["title", "nobody", "x"]).status(66);
    env.run(&["title"]).status(2);
}

#[test]
fn a_change_of_the_view_and_one_of_the_title_are_undone_in_order() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    env.run(&["title", "-q", "trip", "Rome"]).fine();
    env.run(&["restore", "-q", "trip"]).fine();
    env.run(&["title", "trip"]).fine().gives("Trip\n");
    assert_eq!(env.run(&["list", "--json"]).fine().objects()[0]["view"], 3);
    env.run(&["restore", "-q", "trip"]).fine();
    assert_eq!(env.run(&["list", "--json"]).fine().objects()[0]["view"], 7);
}

#[test]
fn a_stream_and_a_file_get_a_title() {
    let env = Env::new();
    let run = env.pipe(&["title", "-", "Rome"], CHAT).fine();
    env.pipe(&["title", "-"], &run.stdout).fine().gives("Rome\n");
    env.write("a.jsonl", CHAT);
    env.run(&["title", "-q", "-i", "a.jsonl", "Rome"]).fine();
    env.run(&["title", "a.jsonl"]).fine().gives("Rome\n");
    let run = env.run(&["title", "-n", "a.jsonl", "Oslo"]).status(0);
    assert!(run.out().contains("\"set\":{\"title\":\"Oslo\"}"), "{run}");
    env.run(&["title", "a.jsonl"]).fine().gives("Rome\n");
    // Bare messages have no place for a title.
    env.pipe(&["title", "-", "Rome"], BARE)
        .status(1)
        .says("no header");
}

#[test]
fn a_format_without_a_title_is_refused() {
    let env = Env::new();
    let log = crate::list::agent_log("s", "shop", "Sort");
    env.write("a.jsonl", &log);
    env.run(&["title", "-i", "a.jsonl", "Rome"])
        .status(1)
        .says("claude-code files cannot store this title");
    assert_eq!(env.read("a.jsonl"), log);
}

#[test]
fn unusual_titles_are_stored_and_printed_safely() {
    let env = Env::with_chat();
    for title in [
        "one\ttwo\u{1b}[2J",
        &"x".repeat(10_000),
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd}",
        "-n",
    ] {
        env.run(&["title", "-q", "trip", "--", title]).fine();
        env.run(&["title", "trip"]).fine().gives(format!("{title}\n"));
        let list = env.run(&["list"]).fine();
        assert_eq!(
            (list.out().lines().count(), list.out().matches('\t').count()),
            (1, 3),
            "{list}"
        );
    }
    env.run(&["fsck", "-q"]).fine();
}
