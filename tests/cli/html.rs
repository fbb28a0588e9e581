//! Pages for browsers: one file, or a directory of them with an index.

use crate::env::{CHAT, Env};

#[test]
fn a_page_has_every_message_once_and_the_same_bytes_each_time() {
    let env = Env::with_chat();
    let page = env.run(&["cat", "-q", "--to", "html", "trip"]).fine();
    for part in [
        "<title>Trip</title>",
        "default-src 'none'",
        "<article id=\"m2\" class=\"user\">",
        "<h2>user</h2> <time datetime=\"2026-11-01T10:00:01Z\">2026-11-01 10:00:01</time>",
        "<details class=\"tool\" id=\"m4\" data-tool=\"weather\">",
        "22 C, sunny",
        "<article id=\"m7\" class=\"assistant\">",
    ] {
        assert_eq!(page.out().matches(part).count(), 1, "{part}: {page}");
    }
    assert!(!page.out().contains("CONVO") && !page.out().contains("2026-11-20"));
    // The ending of a file is its format, and the input may be a stream without a store.
    env.run(&["cat", "-q", "trip", "-o", "page.html"]).fine();
    assert_eq!(env.read("page.html"), page.out());
    assert_eq!(
        env.pipe(&["cat", "-q", "--to", "html"], CHAT).fine().stdout,
        page.stdout
    );
    // Anchors are numbers in the log: those of a shortened view are the same.
    env.run(&["truncate", "-q", "--keep-last", "1", "trip"]).fine();
    let short = env.run(&["cat", "-q", "--to", "html", "trip"]).fine();
    assert!(!short.out().contains("id=\"m2\"") && short.out().contains("<article id=\"m6\" class=\"user\">"));
    assert!(short.out().contains("<li>4 hidden</li>"), "{short}");
}

#[test]
fn a_directory_of_pages_has_an_index() {
    let env = Env::with_chat();
    let migrate = ["migrate", "--to", "html", "--output-dir", "pages", "@all"];
    env.run(&["new", "-q", "--id", "other", "--title", "A <b>"])
        .status(0)
        .says("");
    env.run(&["append", "-q", "other", "--role", "user", "Hello"])
        .fine();
    assert_eq!(env.run(&migrate).status(0).out().matches("migrated\t").count(), 2);
    let index = env.read("pages/index.html");
    assert!(
        index.contains("<a href=\"trip.html\">Trip</a>")
            && index.contains("<a href=\"other.html\">A &lt;b&gt;</a>")
    );
    assert_eq!(env.run(&migrate).status(0).out().matches("skipped\t").count(), 2);
    // A page of a session that has grown is replaced, and the index with it.
    env.run(&["append", "-q", "other", "--role", "assistant", "Hi."])
        .fine();
    assert_eq!(env.run(&migrate).status(0).out().matches("updated\t").count(), 1);
    assert!(env.read("pages/other.html").contains("Hi."));
    assert_ne!(env.read("pages/index.html"), index);
    // A file of another origin is not.
    env.write("pages/trip.html", "mine");
    env.run(&migrate)
        .status(73)
        .says("the file trip.html has different content");
    assert_eq!(env.read("pages/trip.html"), "mine");
}

#[test]
fn one_file_holds_one_session() {
    let env = Env::with_chat();
    env.run(&["cat", "--to", "html", "trip", "trip"])
        .status(2)
        .says("html: only one session per file")
        .says("--output-dir");
}
