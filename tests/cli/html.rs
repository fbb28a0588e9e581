//! Tests HTML pages: a single file, or a directory with an index.

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
    // The file extension selects the format, and the input may be a stream without a store.
    env.run(&["cat", "-q", "trip", "-o", "page.html"]).fine();
    assert_eq!(env.read("page.html"), page.out());
    assert_eq!(
        env.pipe(&["cat", "-q", "--to", "html"], CHAT).fine().stdout,
        page.stdout
    );
    // Anchors are positions in the log, so a shortened view keeps them.
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
    // The page of a session that grew is replaced, and the index with it.
    env.run(&["append", "-q", "other", "--role", "assistant", "Hi."])
        .fine();
    assert_eq!(env.run(&migrate).status(0).out().matches("updated\t").count(), 1);
    assert!(env.read("pages/other.html").contains("Hi."));
    assert_ne!(env.read("pages/index.html"), index);
    // A file of other origin is not replaced.
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

#[test]
fn pages_have_options() {
    let env = Env::with_chat();
    let page = |options: &[&str]| {
        let run = env
            .run(&[&["cat", "-q", "--to", "html", "trip"], options].concat())
            .fine();
        run.out().to_string()
    };
    let plain = page(&[]);
    let dark = page(&["--theme", "dark", "--no-script"]);
    assert!(dark.contains("<html lang=\"en\" class=\"dark\">") && !dark.contains("<script>"));
    assert!(dark.contains("script-src 'none'") && plain.contains("<html lang=\"en\">"));
    assert!(page(&["--theme", "light"]).contains("class=\"light\""));
    // A tool result is truncated to the requested number of lines.
    assert!(!plain.contains("more lines"));
    let short = page(&["--tool-output", "0"]);
    assert!(
        short.contains("1 more lines") && !short.contains("22 C, sunny"),
        "{short}"
    );
    let line = r#"{"role":"assistant","content":"So.","reasoning":[{"type":"thinking","text":"Hm."}]}"#;
    let thinking = |how: &str| {
        let run = env
            .pipe(&["cat", "-q", "--to", "html", "--thinking", how], line)
            .fine();
        run.out().to_string()
    };
    assert!(thinking("fold").contains("<details class=\"thinking\"><summary>"));
    assert!(thinking("show").contains("<details class=\"thinking\" open><summary>"));
    assert!(!thinking("drop").contains("Hm."));
    let image = r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGODlhAQABAAAAACw="}}]}"#;
    let images = |most: &str| {
        let run = env
            .pipe(&["cat", "-q", "--to", "html", "--max-image", most], image)
            .fine();
        run.out().matches("src=\"data:image/gif").count()
    };
    assert_eq!([images("1K"), images("10"), images("none")], [1, 0, 0]);
    // An option without effect is an error.
    env.run(&["cat", "--to", "markdown", "--theme", "dark", "trip"])
        .status(2)
        .says("--theme requires --to html");
    env.run(&["migrate", "--to", "html", "--page", "5"])
        .status(2)
        .says("--page requires --to html and --output-dir");
    for wrong in [["--theme", "red"], ["--thinking", "keep"], ["--max-image", "1T"]] {
        let options = [&["cat", "--to", "html"], &wrong[..], &["trip"]].concat();
        env.run(&options).status(2).says("expected");
    }
}

#[test]
fn hidden_messages_are_marked_on_a_page() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "--keep-last", "1", "trip"]).fine();
    env.run(&["append", "-q", "trip", "--role", "user", "Thanks"])
        .fine();
    let page = env.run(&["cat", "-q", "--to", "html", "--hidden", "trip"]).fine();
    assert!(
        page.out()
            .contains("<article id=\"m2\" class=\"user gone\"><header><h2>user</h2> <em>hidden</em>"),
        "{page}"
    );
    assert!(
        page.out().contains("<article id=\"m6\" class=\"user\">"),
        "{page}"
    );
    let at = |text: &str| page.out().find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    // A change is shown at its log position: after the messages that it hid, before later ones.
    assert!(
        at("id=\"m7\"") < at("<p class=\"change\">truncate ") && at("<p class=\"change\">") < at("id=\"m8\"")
    );
    assert!(
        page.out().contains("4 messages") && page.out().contains("<li>4 hidden</li>"),
        "{page}"
    );
}

#[test]
fn secrets_on_a_page_are_reported_without_their_values() {
    let env = Env::with_chat();
    let token = format!("glpat-{}", "aB3dE5gH7jK9mN1pQ3sT");
    env.run(&["append", "-q", "trip", "--role", "user", &format!("Use {token}.")])
        .fine();
    let page = env.run(&["cat", "--to", "html", "trip"]).status(0);
    assert!(
        page.stderr
            .contains("trip: the page has 1 secret\nhint: remove secrets before"),
        "{page}"
    );
    assert!(!page.stderr.contains(&token));
    env.run(&["migrate", "--to", "html", "--output-dir", "pages", "@all"])
        .says("the page has 1 secret");
    // Messages that the page does not show are not counted.
    env.run(&["drop", "-q", "trip", "--grep", "glpat"]).fine();
    assert!(
        !env.run(&["cat", "--to", "html", "trip"])
            .stderr
            .contains("secret")
    );
    env.run(&["cat", "--to", "html", "--hidden", "trip"])
        .says("1 secret");
}

#[test]
fn show_opens_a_page_in_a_browser() {
    let env = Env::with_chat();
    let browser = env.write("browser", "#!/bin/sh\ncp \"$1\" \"$0.seen\"\n");
    let open_all = |browser: &str, names: &[&str]| {
        let mut command = env.command(&[&["show", "--open"], names].concat());
        command.env("BROWSER", browser).env("TMPDIR", env.work());
        env.wait(command)
    };
    let open = |browser: &str| open_all(browser, &["trip"]);
    std::fs::set_permissions(&browser, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = open(&format!("none:{} %s", browser.display())).status(0);
    let page = std::path::PathBuf::from(run.out().trim_end());
    let mode = std::os::unix::fs::PermissionsExt::mode(&page.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let seen = env.work().join("browser.seen");
    let whole = std::fs::read(&page).unwrap();
    assert!(whole.ends_with(b"</html>\n"));
    let is_seen = |_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::read(&seen).is_ok_and(|seen| seen == whole)
    };
    assert!((0..500).any(is_seen));
    // The page is written even without a browser.
    let run = open("none")
        .status(69)
        .says("no browser found")
        .says("set BROWSER");
    assert!(std::path::Path::new(run.out().trim_end()).exists());
    open_all(browser.to_str().unwrap(), &["trip", "trip"])
        .status(2)
        .says("--open opens one session");
}
