//! `list` on a terminal.

use super::agent_log;
use crate::env::Env;
use textwrap::core::display_width;

/// Sessions with titles that could break a table, and a session with five subagents.
pub fn filled() -> Env {
    let env = Env::new();
    let titles = [
        "Sort the list of parcels by weight and print the ten heaviest ones of each depot",
        "\u{6f22}\u{5b57}\u{306e}\u{984c}\u{540d}\u{306f}\u{5e45}\u{304c}\u{5e83}\u{3044}\u{6f22}\u{5b57}\u{306e}\u{984c}\u{540d}\u{306f}\u{5e45}\u{304c}\u{5e83}\u{3044}",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{5e2}\u{5d5}\u{5dc}\u{5dd}",
        "one\ttwo\nthree\u{1b}[2J\u{7}\u{202e}end",
        &"x".repeat(10_000),
    ];
    for (nth, title) in titles.iter().enumerate() {
        let name = format!("{nth}.jsonl");
        env.write(
            &name,
            agent_log(
                &format!("0{nth}9e19b4-aaaa-4000-8000-000000000001"),
                "parcels",
                title,
            ),
        );
        env.run(&["migrate", "-q", &name]).fine();
    }
    for nth in 0..5 {
        let name = format!("sub{nth}.jsonl");
        let header = serde_json::json!({
            "type": "session", "version": 1, "id": format!("009e19b4-aaaa-4000-8000-000000000001_{nth}"),
            "created_at": "2025-12-11T00:00:00Z", "title": "Check the README",
            "metadata": {"lineage": {"kind": "sidechain", "parent": "009e19b4-aaaa-4000-8000-000000000001"}},
        });
        env.write(&name, format!("{header}\n"));
        env.run(&["migrate", "-q", &name]).fine();
    }
    env
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn no_line_is_wider_than_the_terminal() {
    let env = filled();
    for columns in [20, 40, 80, 120, 200] {
        let run = env.terminal((columns, 50), "convo --color never list");
        let run = run.fine();
        assert_eq!(run.out().lines().count(), 12, "{run}");
        for line in run.out().lines() {
            assert!(display_width(line) <= columns, "{columns}: {line}");
            assert!(
                !line.contains(|c: char| c.is_control() || c == '\u{202e}'),
                "{line:?}"
            );
        }
    }
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn displayed_short_ids_are_accepted_as_names() {
    let env = filled();
    let run = env.terminal((80, 50), "convo --color never list --no-header");
    let rows: Vec<&str> = run
        .out()
        .lines()
        .filter(|line| !line.contains(" sessions "))
        .collect();
    assert_eq!(rows.len(), 10, "{run}");
    for row in rows {
        let id = row.split_whitespace().find(|word| *word != "\u{2514}").unwrap();
        env.run(&["title", id]).fine();
    }
    // The session is listed before its five subagents.
    env.run(&["list", "--columns", "id", "009"])
        .fine()
        .gives("009e19b4-aaaa-4000-8000-000000000001\n");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn colors_follow_the_environment() {
    let env = filled();
    let colored = |line: &str| env.terminal((80, 50), line).fine().out().contains("\x1b[1mID");
    for (line, expected) in [
        ("convo list", true),
        ("NO_COLOR=1 convo list", false),
        ("TERM=dumb convo list", false),
        ("TERM=dumb CLICOLOR_FORCE=1 convo list", true),
        ("convo --color never list", false),
        ("NO_COLOR=1 convo --color always list", true),
    ] {
        assert_eq!(colored(line), expected, "{line}");
    }
    // Piped output has no colors, whatever the environment.
    let piped = env.shell("CLICOLOR_FORCE=1 convo list").fine();
    assert!(!piped.out().contains('\x1b'), "{piped}");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn times_are_local_unless_utc_is_requested() {
    let env = Env::new();
    env.write("a.jsonl", agent_log("a", "shop", "Sort"));
    env.run(&["migrate", "-q", "a.jsonl"]).fine();
    for (line, expected) in [
        ("convo list", "2h ago"),
        ("convo list", "times in UTC"),
        ("TZ=Asia/Tokyo convo list", "times in JST"),
        ("TZ=Asia/Tokyo convo list --time iso", "2026-11-21T01:00:00+09:00"),
        (
            "TZ=Asia/Tokyo convo list --time iso --utc",
            "2026-11-20T16:00:00Z",
        ),
        ("CONVO_NOW=2026-12-25T00:00:00Z convo list", "20 Nov"),
        ("CONVO_NOW=2028-12-25T00:00:00Z convo list", "Nov 2026"),
    ] {
        let run = env.terminal((80, 50), line);
        assert!(run.out().contains(expected), "{line}: {run}");
    }
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_terminal_of_unknown_size_has_80_columns() {
    let env = filled();
    let run = env.terminal((0, 50), "convo --color never list");
    let widest = run.out().lines().map(display_width).max();
    assert_eq!(widest, Some(80), "{run}");
}
