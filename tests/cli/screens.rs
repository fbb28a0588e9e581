//! Tests `show` in a pseudo terminal: layout, colors and pager.

use crate::env::{CHAT, Env, settings};

/// Markdown, wide and combining characters, file changes, failures, and two days.
fn session() -> String {
    let call = |id: &str, name: &str, arguments: serde_json::Value| serde_json::json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let markdown = "# Plan\n\nA **bold** word, `code` and a [link](https://example.com/a).\n\n\
        1. First point that is long enough to be wrapped on a terminal of eighty columns, and then some\n\
        2. Second\n   - nested\n\n> quoted\n> text\n\n```rust\nfn main() {}\n```\n\n\
        | Name | Count |\n|---|---|\n| alpha | 1 |\n| \u{6f22}\u{5b57} | 22 |\n\nhttps://example.com/b &#27;[31m <b>tag</b>";
    let result: Vec<String> = (1..=9).map(|line| format!("line {line}")).collect();
    let lines = [
        serde_json::json!({"type": "session", "version": 1, "id": "4c2ddfdc-aaaa-bbbb-cccc-0123456789ab", "title": "Create \u{6f22}\u{5b57} and e\u{301}\u{1f600} files",
            "created_at": "2025-12-11T20:37:00Z", "metadata": {"cwd": "/home/ann/private", "claude-code": {"sessionId": "x"}}}),
        serde_json::json!({"role": "user", "id": "m1", "timestamp": "2025-12-11T20:37:01Z", "content": "create hello.py,\nmd and js \u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57} e\u{301}e\u{301} \u{1f600}"}),
        serde_json::json!({"role": "assistant", "id": "m2", "timestamp": "2025-12-11T20:37:09Z", "model": "claude-sonnet-4-5", "content": markdown,
        "tool_calls": [
            call("c1", "Write", serde_json::json!({"file_path": "/home/ann/private/hello.py", "content": "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"})),
            call("c2", "Edit", serde_json::json!({"file_path": "/home/ann/private/a.rs", "old_string": "one\ntwo\n", "new_string": "one\n2\n"})),
            call("c3", "Bash", serde_json::json!({"command": "cargo test", "timeout": 5})),
            call("c4", "weather", serde_json::json!({"city": "Paris", "days": [1, 2]})),
        ]}),
        serde_json::json!({"role": "tool", "id": "m3", "tool_call_id": "c1", "content": "File created successfully"}),
        serde_json::json!({"role": "tool", "id": "m4", "tool_call_id": "c2", "content": "ok"}),
        serde_json::json!({"role": "tool", "id": "m5", "tool_call_id": "c3", "content": result.join("\n"), "metadata": {"is_error": true}}),
        serde_json::json!({"role": "tool", "id": "m6", "tool_call_id": "c4", "content": "\u{5d0}\u{5d1}\u{5d2} \u{202e}abc \u{1b}[2J\ttab"}),
        serde_json::json!({"role": "assistant", "id": "m7", "timestamp": "2025-12-11T20:37:30Z", "content": "Done."}),
        serde_json::json!({"role": "user", "id": "m8", "timestamp": "2025-12-12T08:05:00Z", "content": "Thanks."}),
        serde_json::json!({"role": "assistant", "id": "m9", "timestamp": "2025-12-12T08:06:00Z", "content": "-", "reasoning": [{"type": "text", "text": "Hm."}]}),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_session_fits_every_width() {
    let env = Env::new();
    env.write("s.jsonl", session());
    for columns in [20, 40, 80, 120, 200] {
        let line = "NO_COLOR=1 convo show s.jsonl";
        let run = env.terminal((columns, 400), line);
        for line in run.out().lines() {
            let width = textwrap::core::display_width(line);
            assert!(width <= columns, "{width} columns of {columns}: {line:?}\n{run}");
        }
        let is_bad = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!run.out().contains(is_bad), "{run}");
        settings().bind(|| insta::assert_snapshot!(format!("screen_show_{columns}"), run.to_string()));
    }
}

/// Unformatted, one line each, with complete ids and UTC times.
#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_pipe_receives_plain_text() {
    let env = Env::new();
    env.write("s.jsonl", session());
    snapshot!("show_piped", env.shell("TZ=Asia/Tokyo convo show s.jsonl | cat"));
    let run = env.terminal((80, 400), "NO_COLOR=1 convo show --plain s.jsonl");
    assert!(run.out().contains("A **bold** word, `code`"), "{run}");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn full_folds_nothing() {
    let env = Env::new();
    env.write("s.jsonl", session());
    let run = env.terminal((80, 400), "NO_COLOR=1 convo show --full s.jsonl");
    for text in ["+ j", "line 9", "timeout: 5", "  one\n"] {
        assert!(run.out().contains(text), "{text}: {run}");
    }
    assert!(!run.out().contains("more line"), "{run}");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn the_configuration_changes_color_roles() {
    let env = Env::new();
    env.write("s.jsonl", session());
    let run = env.terminal((80, 400), "convo show s.jsonl");
    for text in [
        "\u{1b}[1;32muser\u{1b}[0m",
        "\u{1b}[1;34massistant\u{1b}[0m",
        "\u{1b}[36mWrite\u{1b}[0m",
        "\u{1b}[32m+ a\u{1b}[0m",
        "\u{1b}[31mfailed\u{1b}[0m",
        "\u{1b}[1mbold\u{1b}[0m",
    ] {
        assert!(run.out().contains(text), "{text:?}: {run}");
    }
    env.write("c.toml", "[colors]\nuser = \"bold yellow\"\ntool = \"none\"\n");
    let line = "convo --config c.toml show s.jsonl";
    let run = env.terminal((80, 400), line);
    assert!(run.out().contains("\u{1b}[1;33muser\u{1b}[0m"), "{run}");
    assert!(run.out().contains("\u{2022} Write hello.py"), "{run}");
    for set in ["NO_COLOR=1", "TERM=dumb"] {
        let run = env.terminal((80, 400), &format!("{set} convo show s.jsonl"));
        assert!(!run.out().contains('\u{1b}'), "{set}: {run}");
    }
    for wrong in ["user = \"pink\"", "users = \"red\""] {
        env.write("c.toml", format!("[colors]\n{wrong}\n"));
        env.shell(line).status(78).says("[colors] in the configuration");
    }
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_pager_shows_long_output() {
    let env = Env::new();
    env.write("s.jsonl", session());
    let paged = |rows, line: &str| env.terminal((80, rows), line);
    let pager = "export CONVO_PAGER='sed s/^/P:/'; ";
    let run = paged(10, &format!("{pager} convo show s.jsonl"));
    assert!(run.out().starts_with("P:"), "{run}");
    for (rows, line) in [
        (400, "convo show s.jsonl"),
        (10, "convo show --no-pager s.jsonl"),
        (10, "CONVO_PAGER= convo show s.jsonl"),
        (10, "convo show -h"),
        (10, "convo show --help --no-pager"),
    ] {
        let run = paged(rows, &format!("{pager} {line}"));
        assert!(!run.out().contains("P:"), "{line}: {run}");
    }
    let help = paged(10, &format!("{pager} convo show --help"));
    assert!(help.out().contains("P:"), "{help}");
}

/// The text is printed with the command's own status, and no message about the pager.
#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_pager_that_fails_loses_nothing() {
    let env = Env::with_chat();
    let whole = "convo --color never show --plain --no-pager";
    let expected = env.terminal((80, 5), &format!("{whole} trip"));
    for pager in [
        "no-such-pager", "no-such-pager; exit 127", "kill -9 $$", "exec false",
    ] {
        let line = format!("CONVO_PAGER='{pager}' convo --color never show --plain trip");
        let run = env.terminal((80, 5), &line);
        let shown = run.out().lines().filter(|line| !line.contains("no-such-pager:"));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            expected.out().lines().collect::<Vec<_>>(),
            "{pager}: {run}"
        );
        assert_eq!(run.status, 0, "{pager}");
    }
    env.write("bad.jsonl", format!("{CHAT}broken\n"));
    let line = "CONVO_PAGER='head -c 1' convo show bad.jsonl";
    assert_eq!(env.terminal((80, 5), line).status, 65);
}

/// One line of five megabytes, with and without possible line breaks.
#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_very_long_line_is_shown() {
    let env = Env::new();
    for text in ["x".repeat(1_500_000), "word ".repeat(300_000)] {
        // The role comes first because detection uses the beginning of the input.
        let lines = [
            format!(r#"{{"role":"user","content":"{text}"}}"#),
            format!(r#"{{"role":"tool","tool_call_id":"c","content":"{text}"}}"#),
        ];
        env.write("long.jsonl", lines.map(|line| format!("{line}\n")).concat());
        let run = env.terminal((80, 24), "LC_ALL=C convo show --no-pager long.jsonl | wc -c");
        let bytes: usize = run.out().trim().parse().unwrap_or_else(|_| panic!("{run}"));
        assert!((1_500_000..1_600_000).contains(&bytes), "{bytes}");
        let line = "convo --color never show --no-pager long.jsonl";
        let run = env.terminal((80, 24), line);
        assert!(run.out().lines().all(|line| line.len() <= 90), "too wide");
    }
}

/// Tables with hints for people; tab-separated values for programs.
#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn reports_are_tables_on_a_terminal() {
    let env = Env::new();
    env.write("s.jsonl", session());
    let run = env.terminal((80, 50), "NO_COLOR=1 convo migrate s.jsonl");
    assert!(run.out().contains("OUTCOME   FILE"), "{run}");
    assert!(run.out().contains("list sessions with: convo list"), "{run}");
    let run = env.run(&["migrate", "s.jsonl"]).status(0);
    assert!(run.out().starts_with("skipped\ts.jsonl\t4c2ddfdc-"), "{run}");
    assert!(!run.stderr.contains("list sessions"), "{run}");
    let line = "NO_COLOR=1 convo compact -n s.jsonl --budget 300";
    let run = env.terminal((80, 50), line);
    assert!(run.out().contains("DECISION"), "{run}");
    assert!(run.out().lines().all(|line| line.len() <= 84), "{run}");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn lists_are_tables_on_a_terminal_and_plain_in_a_pipe() {
    let env = Env::with_chat();
    env.write("s.jsonl", session());
    env.write("t.jsonl", session());
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    env.run(&["alias", "add", "holiday", "trip"]).status(0);
    for (line, header, row) in [
        ("convo restore -l trip", "EVENT", "evt_"),
        ("convo alias list", "ALIAS    SESSION", "holiday  trip"),
        (
            "convo detect s.jsonl t.jsonl", "INPUT    FORMAT", "t.jsonl  native",
        ),
        ("convo split -n s.jsonl --per-day", "ID ", "4c2ddfdc.2 "),
    ] {
        let run = env.terminal((60, 50), &format!("NO_COLOR=1 {line}"));
        let mut lines = run.out().lines();
        assert!(lines.next().unwrap().starts_with(header), "{line}: {run}");
        assert!(run.out().contains(row), "{line}: {run}");
        assert!(
            lines.all(|line| textwrap::core::display_width(line) <= 60),
            "{line}: {run}"
        );
        let pager = format!("CONVO_PAGER='sed s/^/P:/' NO_COLOR=1 {line}");
        let paged = env.terminal((60, 1), &pager);
        assert!(paged.out().starts_with("P:"), "{line}: {paged}");
        let piped = env.shell(line).status(0);
        assert!(!piped.out().contains(header), "{line}: {piped}");
        assert!(piped.out().contains('\t'), "{line}: {piped}");
    }
    let count = "CONVO_PAGER='sed s/^/P:/' NO_COLOR=1 convo count s.jsonl";
    let paged = env.terminal((80, 5), count);
    assert!(paged.out().starts_with("P:4c2ddfdc"), "{paged}");
}

/// A session without a title is shown with its first question.
#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_session_without_a_title_has_the_title_of_the_list() {
    let env = Env::new();
    let lines = [
        r##"{"type":"session","version":1,"id":"4c2ddfdc-aaaa-bbbb-cccc-0123456789ab"}"##,
        r##"{"role":"user","id":"m1","content":"# AGENTS.md\n\nRules"}"##,
        r##"{"role":"user","id":"m2","content":"Why does the build fail?\nSee the log."}"##,
    ];
    env.write("s.jsonl", lines.map(|line| format!("{line}\n")).concat());
    let run = env.terminal((80, 50), "NO_COLOR=1 convo show s.jsonl");
    let start = "Why does the build fail?\n4c2ddfdc \u{b7} 2 messages";
    assert!(run.out().starts_with(start), "{run}");
}
