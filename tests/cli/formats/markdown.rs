//! Tests Markdown transcripts.

use crate::env::{CHAT, Env};

#[test]
fn sessions_follow_one_another() {
    let env = Env::new();
    env.write(
        "two.jsonl",
        format!("{CHAT}{}", CHAT.replace("\"Trip\"", "\"Again\"")),
    );
    let page = env.run(&["cat", "-q", "--to", "markdown", "two.jsonl"]).fine();
    let titles: Vec<_> = page.out().lines().filter(|line| line.starts_with("# ")).collect();
    assert_eq!(titles, ["# Trip", "# Again"]);
    assert!(page.out().contains("\n\n# Again\n"), "{page}");
    assert!(
        page.out()
            .contains("call `weather` · `c1`\n\n```json\n{\"city\":\"Paris\"}\n```\n"),
        "{page}"
    );
    assert!(page.out().contains("## tool `weather`\n"), "{page}");
}

#[test]
fn losses_of_a_page_are_reported() {
    let env = Env::new();
    let run = env.pipe(&["cat", "--to", "markdown"], CHAT).status(0);
    run.says("markdown cannot represent: ids (");
    env.pipe(&["cat", "--strict", "--to", "markdown"], CHAT)
        .status(65);
    env.pipe(&["cat", "--from", "markdown"], CHAT).status(2);
}

#[test]
fn each_session_is_a_separate_file() {
    let env = Env::new();
    env.write("chat.jsonl", CHAT);
    env.run(&["migrate", "--to", "markdown", "--out", "pages", "chat.jsonl"])
        .status(0);
    assert!(env.read("pages/trip.md").starts_with("# Trip\n"));
}
