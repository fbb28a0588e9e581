//! `convo tag`.

use crate::env::{CHAT, Env};

#[test]
fn tags_are_added_removed_listed_and_restored() {
    let env = Env::with_chat();
    let tags = || env.run(&["tag", "trip"]).fine().out().replace('\n', " ");
    assert_eq!(tags(), "");
    env.run(&["tag", "trip", "+work", "+home.2026"])
        .status(0)
        .says("trip: tags: work, home.2026");
    assert_eq!(tags(), "work home.2026 ");
    // The order is kept; an existing tag is not added again.
    env.run(&["tag", "trip", "+a", "+work", "-home.2026"]).status(0);
    assert_eq!(tags(), "work a ");
    env.run(&["tag", "trip", "+a", "-b"])
        .status(0)
        .says("unchanged: tags: work, a");
    // Letters of options are valid tags.
    env.run(&["tag", "-q", "trip", "+q", "+n"]).fine();
    env.run(&["tag", "trip", "-q", "-n", "-work"])
        .status(0)
        .says("tags: a");
    env.run(&["new", "-q", "--id", "other"]).status(0);
    env.run(&["tag", "-q", "other", "+a", "+b"]).fine();
    env.run(&["tag"]).fine().gives("a\t2\nb\t1\n");
    let all = env.run(&["tag", "--json"]).fine().objects();
    assert_eq!((&all[0]["tag"], &all[0]["sessions"]), (&"a".into(), &2.into()));
    let one = env.run(&["tag", "--json", "other"]).fine().objects();
    assert_eq!(one[0]["tags"], serde_json::json!(["a", "b"]));
    env.run(&["tag", "other", "-a", "-b"]).status(0).says("no tags");
    env.run(&["restore", "-q", "other"]).fine();
    env.run(&["tag", "other"]).fine().gives("a\nb\n");
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn invalid_tags_are_refused() {
    let env = Env::with_chat();
    for bad in [
        "work",
        "+",
        "-",
        "+Work",
        "+a b",
        "+.a",
        "+\u{e9}",
        "--json",
        &format!("+{}", "x".repeat(65)),
    ] {
        env.run(&["tag", "trip", "+a", bad]).status(2);
        assert_eq!(env.run(&["tag", "trip"]).fine().out(), "", "{bad}");
    }
    env.run(&["tag", "nobody", "+a"]).status(66);
}

#[test]
fn a_dry_run_and_a_stream_leave_the_store_unchanged() {
    let env = Env::with_chat();
    env.run(&["tag", "--dry-run", "trip", "+a"])
        .status(0)
        .says("would change: tags: a");
    env.run(&["tag", "trip"]).fine().gives("");
    let run = env.pipe(&["tag", "-", "+a"], CHAT).fine();
    env.pipe(&["tag", "-"], &run.stdout).fine().gives("a\n");
}
