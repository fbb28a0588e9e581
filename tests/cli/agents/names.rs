//! Tests names of sessions in homes as operands.

use super::{FIRST, OTHER, SECOND, claude, home, homes, put};
use crate::env::Env;

#[test]
fn every_command_reads_a_session_in_a_home_by_name() {
    let env = homes();
    let name = format!("claude-code:{FIRST}");
    let path = home(&env).join(format!(".claude/projects/-src-a-b--c/{FIRST}.jsonl"));
    let path = path.to_str().unwrap();
    for command in [
        "show", "cat", "count", "context", "detect", "truncate --keep-last 1", "compact --budget 9k",
        "check", "title", "list",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let (named, direct) = (
            env.run(&[&words[..], &[&name]].concat()),
            env.run(&[&words[..], &[path]].concat()),
        );
        assert_eq!(
            (named.status, named.out()),
            (direct.status, direct.out()),
            "{command}: {named}"
        );
        assert!(!named.out().is_empty(), "{command}: {named}");
    }
    let title = |name: &str| env.run(&["title", name]).fine().out().trim().to_string();
    for (name, expected) in [
        (format!("claude:{}", &FIRST[..36]), "Who holds the lease?"),
        (format!("home:claude:{SECOND}"), "And the port?"),
        (format!("claude:{FIRST}.agent-12ab"), "Look into lease.rs"),
        ("claude:@last".to_string(), "Who holds the lease?"),
        ("any:@last".to_string(), "Rename the lease."),
        ("claude:@last:/src/api".to_string(), "And the port?"),
        ("any:@last:/src/a b#c".to_string(), "Who holds the lease?"),
        ("pi:77aa".to_string(), "Rename the lease."),
    ] {
        assert_eq!(title(&name), expected, "{name}");
    }
    env.run(&["migrate", "-q", &name]).status(0);
    env.run(&["search", "-c", "lease", &name]).fine();
}

#[test]
fn unknown_and_ambiguous_names_have_candidates() {
    let env = homes();
    env.run(&["show", "claude:zz99"]).status(66).says("convo: claude:zz99: no such session\nhint: list sessions with: convo list --agents --program claude-code");
    env.run(&["show", "claude:5d1"])
        .status(66)
        .says("give at least 4 characters of the id");
    let run = env
        .run(&["show", "claude:5d1f0a4e"])
        .status(66)
        .says("ambiguous: 2 sessions");
    run.says(&format!(
        "choose one of: claude-code:{FIRST}, claude-code:{SECOND}"
    ));
    env.run(&["show", "claude:@last:/nowhere"])
        .status(66)
        .says("no such session");
    env.run(&["show", "openclaw:c0ffee"])
        .status(65)
        .says("sessions of openclaw are not supported");
    env.run(&["show", "home:trip"])
        .status(2)
        .says("expected home:PROGRAM:ID");
    // Two programs use the same id.
    put(
        &env,
        format!(".claude/projects/-src/{OTHER}.jsonl"),
        &claude(OTHER, "/src", "Both"),
        1,
    );
    env.run(&["show", &format!("any:{OTHER}")])
        .status(66)
        .says("ambiguous: 2 sessions");
    env.run(&["title", &format!("pi:{OTHER}")])
        .fine()
        .gives("Rename the lease.\n");
}

#[test]
fn a_session_of_the_store_with_exactly_this_name_wins() {
    let env = homes();
    env.run(&["new", "-q", "--id", "own", "--title", "Mine"])
        .status(0);
    env.run(&["alias", "add", "pi:@last", "own", "-q"]).status(0);
    env.run(&["title", "pi:@last"]).fine().gives("Mine\n");
    env.run(&["title", "home:pi:@last"])
        .fine()
        .gives("Rename the lease.\n");
}

#[test]
fn a_running_session_is_not_changed_in_place() {
    let env = homes();
    let name = format!("claude-code:{FIRST}");
    let path = home(&env).join(format!(".claude/projects/-src-a-b--c/{FIRST}.jsonl"));
    let before = std::fs::read(&path).unwrap();
    let own = std::process::id();
    let mark = put(
        &env,
        format!(".claude/sessions/{own}.json"),
        &format!(r#"{{"pid":{own},"sessionId":"{FIRST}"}}"#),
        0,
    );
    for options in [&["-i"][..], &["-i", "--force"]] {
        let run = env
            .run(&[&["truncate", "--keep-last", "0"], options, &[&name]].concat())
            .status(75);
        run.says("session is running: a living process");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    // Without -i the result is printed; with -i a session that is not in use is changed.
    env.run(&["truncate", "--keep-last", "0", &name]).status(0);
    std::fs::remove_file(mark).unwrap();
    env.run(&["drop", "--role", "assistant", "-i", &name, "-q"])
        .status(0);
    assert!(std::fs::read(&path).unwrap() != before);
    let recent = format!("claude-code:{SECOND}");
    put(
        &env,
        format!(".claude/projects/-src-a-b--c/{SECOND}.jsonl"),
        &claude(SECOND, "/src", "x"),
        0,
    );
    env.run(&["drop", "--role", "assistant", "-i", &recent])
        .status(75)
        .says("a change in the last 2 minutes");
    env.run(&["drop", "--role", "assistant", "-i", "--force", &recent, "-q"])
        .status(0);
}

#[test]
fn one_of_many_sessions_in_a_file_is_selected_by_number() {
    let env = Env::new();
    let text = "# aider chat started at 2026-06-02 10:01:00\n\n#### Which port?\n\n8080.\n\n# aider chat started at 2026-06-03 10:02:00\n\n#### Which host?\n\nlocalhost.\n";
    let path = put(&env, ".aider.chat.history.md", text, 1);
    let run = env.run(&["list", "--agents", "--columns", "name,title"]).fine();
    run.gives("aider:20260603T100200\tWhich host?\naider:20260602T100100\tWhich port?\n");
    let run = env
        .run(&["show", "aider:20260603T100200"])
        .status(2)
        .says("one of 2 sessions in one file");
    run.says(&format!("select it with: --session 2 {}", path.display()));
    env.run(&["search", "-l", "8080"])
        .fine()
        .gives("aider:20260602T100100\n");
}

#[test]
fn names_are_completed() {
    let env = homes();
    let mut command = env.command(&["--", "convo", "show", "claude-code:"]);
    command.env("COMPLETE", "fish").env("_CLAP_COMPLETE_INDEX", "2");
    let run = env.wait(command).fine();
    for name in [
        "claude-code:@last",
        &format!("claude-code:{FIRST}"),
        &format!("claude-code:{SECOND}"),
    ] {
        assert!(
            run.out()
                .lines()
                .any(|line| line.split('\t').next() == Some(name)),
            "{name}: {run}"
        );
    }
}

#[test]
fn a_line_that_a_running_program_is_writing_is_not_damage() {
    let env = homes();
    let name = format!("claude-code:{FIRST}");
    let whole = claude(FIRST, "/src/a b#c", "Who holds the lease?");
    let torn = format!("{whole}{}", &whole[..100]);
    let path = |days: u64| {
        put(
            &env,
            format!(".claude/projects/-src-a-b--c/{FIRST}.jsonl"),
            &torn,
            days,
        )
    };
    path(0);
    for command in ["cat", "show", "count", "check"] {
        let run = env.run(&[command, &name]).status(0);
        assert!(!run.out().is_empty(), "{command}");
    }
    let project = env.work().display().to_string();
    env.run(&["handoff", &name, "--to", "codex", "--project", &project])
        .status(0);
    // The program ended long ago, or another file is meant.
    let path = path(3);
    env.run(&["cat", &name]).status(65);
    put(&env, path.strip_prefix(home(&env)).unwrap(), &torn, 0);
    env.run(&["cat", path.to_str().unwrap()]).status(65);
    // A complete line without a newline is read.
    put(&env, path.strip_prefix(home(&env)).unwrap(), whole.trim_end(), 0);
    assert_eq!(
        env.run(&["cat", "--to", "native", &name]).fine().objects().len(),
        3
    );
}

#[test]
fn two_files_of_one_session_are_named_by_their_paths() {
    let env = homes();
    let copy = put(
        &env,
        format!(".claude/projects/-src-copy/{FIRST}.jsonl"),
        &claude(FIRST, "/src/a b#c", "Who holds the lease?"),
        3,
    );
    let run = env
        .run(&["cat", &format!("claude:{FIRST}")])
        .status(66)
        .says("ambiguous: 2 sessions");
    let other = home(&env).join(format!(".claude/projects/-src-a-b--c/{FIRST}.jsonl"));
    for path in [&copy, &other] {
        // The path is an operand.
        assert!(run.stderr.contains(path.to_str().unwrap()), "{run}");
        env.run(&["cat", path.to_str().unwrap()]).fine();
    }
}

#[test]
fn the_newest_session_may_be_in_an_unreadable_directory() {
    let env = homes();
    env.run(&["title", "claude:@last:/"])
        .fine()
        .gives("And the port?\n");
    let link = home(&env).join(".claude/projects/loop");
    std::os::unix::fs::symlink("loop", &link).unwrap();
    for name in ["claude:@last", "any:@last", "claude:@last:/src/api"] {
        env.run(&["title", name]).status(74).says(link.to_str().unwrap());
    }
    env.run(&["title", &format!("claude:{FIRST}")]).fine();
    env.run(&["title", "pi:@last"]).fine();
}
