//! Checks memory use in relation to the input size.

use super::{COMMANDS, call, calls, lines, message};
use crate::agents::{FIRST, claude, put};
use crate::env::Env;
use std::sync::LazyLock;

/// Whether a run on this input works with a limit on its address space.
fn fits(env: &Env, kilobytes: usize, command: &[&str], input: &str) -> bool {
    let command: Vec<&str> = command
        .iter()
        .map(|argument| if *argument == "@" { input } else { argument })
        .collect();
    let convo = env!("CARGO_BIN_EXE_convo");
    let line = format!(
        "ulimit -v {kilobytes}; exec {convo} {} </dev/null >/dev/null 2>/dev/null",
        command.join(" ")
    );
    let run = env.shell(&line);
    matches!(run.status, 0 | 1)
}

/// The smallest limit with which a run on this input works.
fn least(env: &Env, command: &[&str], input: &str) -> usize {
    let (mut least, mut most) = (1 << 10, 1 << 20);
    assert!(fits(env, most, command, input), "{command:?}");
    while most - least > 1 << 10 {
        let middle = least.midpoint(most);
        match fits(env, middle, command, input) {
            true => most = middle,
            false => least = middle,
        }
    }
    most
}

/// The smallest limit of each command with one short message. All shapes share it, because finding it takes most starts.
static LEAST: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let env = Env::new();
    env.write("small.jsonl", lines(1, |_| message("m")));
    let found = COMMANDS.iter().map(|command| least(&env, command, "small.jsonl"));
    found.collect()
});

/// Runs every command on a shape with a memory limit: a multiple of the input, plus a constant for one message.
fn takes_at_most(times: usize, input: &str) {
    let env = Env::new();
    env.write("large.jsonl", input);
    let over = COMMANDS
        .iter()
        .zip(&*LEAST)
        .filter(|(command, least)| !fits(&env, **least + times * input.len() / 1024, command, "large.jsonl"));
    let over: Vec<_> = over.map(|(command, _)| command).collect();
    assert!(over.is_empty(), "more than {times} times the input: {over:?}");
}

#[test]
fn newlines_take_three_times_their_memory() {
    takes_at_most(
        3,
        &(lines(1, |_| message("m")) + &"\n".repeat(1 << 20) + &message("n") + "\n"),
    );
}

/// Reserved but unused list capacity counts as address space: tiny lines take twelve times the input.
#[test]
fn tiny_lines_take_a_small_multiple_of_their_memory() {
    takes_at_most(
        16,
        &lines(35_000, |_| r#"{"role":"user","content":"x"}"#.to_string()),
    );
}

#[test]
fn an_ordinary_session_takes_four_times_its_memory() {
    let text = |nth: usize| "the valve in the cellar is blue and it has to be closed ".repeat(nth % 40 + 1);
    let session = lines(4000, |nth| match nth % 4 {
        0 => format!(r#"{{"role":"user","content":"{}","id":"m{nth}"}}"#, text(nth)),
        1 => calls(&[call(&format!("c{nth}"))]),
        2 => format!(
            r#"{{"role":"tool","tool_call_id":"c{}","content":"{}"}}"#,
            nth - 1,
            text(nth)
        ),
        _ => format!(
            r#"{{"role":"assistant","content":"{}","id":"m{nth}"}}"#,
            text(nth)
        ),
    });
    takes_at_most(4, &session);
}

/// The long values of a stored log are never all in memory.
#[test]
fn a_stored_log_is_read_as_a_stream() {
    let env = Env::new();
    let text = "the valve in the cellar is blue and it has to be closed ".repeat(100);
    let long = |nth: usize| match nth % 2 {
        0 => format!(r#"{{"role":"user","content":"{nth} {text}","id":"m{nth}"}}"#),
        _ => format!(r#"{{"role":"assistant","content":"{nth} {text}"}}"#),
    };
    for (name, count) in [("small", 2), ("large", 2_000)] {
        let all = lines(count, long);
        let messages = all.split_once('\n').unwrap().1;
        env.write("in.jsonl", messages);
        let run = env.shell(&format!(
            "convo -q new --id {name} && convo append {name} --stream <in.jsonl && convo truncate {name} --keep-last 1"
        ));
        assert_eq!(run.status, 0, "{run}");
    }
    // A third of the log.
    const ROOM: usize = 4 << 10;
    for command in [
        &["fsck", "--repair", "@"][..],
        &["gc", "--dry-run", "@"],
        &["gc", "@"],
        &["restore", "--list", "@"],
        &["restore", "--dry-run", "@"],
    ] {
        let least = least(&env, command, "small");
        assert!(fits(&env, least + ROOM, command, "large"), "{command:?}");
    }
    let list = env.shell("convo restore --list large");
    let rows = String::from_utf8_lossy(&list.stdout);
    assert!(rows.contains("1999 lines"), "{list}");
    let gc = rows.lines().find(|row| row.contains("1999 lines"));
    let gc = gc.and_then(|row| row.split('\t').next()).unwrap();
    let command = ["restore", "@", gc];
    let least = least(&env, &["gc", "--dry-run", "@"], "small");
    assert!(fits(&env, least + ROOM, &command, "large"));
    let log = std::fs::read(env.log("large")).unwrap();
    assert!(log.len() > 2 * (ROOM << 10), "all lines are back");
    let middle = log.len() / 2
        + log[log.len() / 2..]
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap()
        + 1;
    let next = middle + log[middle..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let garbage = [&log[..middle], b"by hand\n", &log[middle..]].concat();
    let twice = [&log[..next], &log[middle..]].concat();
    let torn = [&log[..], b"{\"role\":\"us"].concat();
    let mut zeros = log.clone();
    zeros[middle..middle + 4096].fill(0);
    let mut flipped = log.clone();
    flipped[middle + 20] ^= 1;
    for (what, damaged) in [
        ("garbage", garbage),
        ("twice", twice),
        ("torn", torn),
        ("zeros", zeros),
        ("flipped", flipped),
    ] {
        std::fs::write(env.log("large"), &damaged).unwrap();
        env.run(&["fsck", "-q"]).status(1);
        let repair = &["fsck", "--repair", "@"];
        assert!(fits(&env, least + ROOM, repair, "large"), "{what}");
        env.run(&["fsck", "-q"]).fine();
    }
}

/// A home with a session in which a text has this many bytes.
fn home_with_text(length: usize) -> Env {
    let env = Env::new();
    let text = claude(FIRST, "/src/api", "Where?").replace("It is", &"It is ".repeat(length / 6));
    put(&env, format!(".claude/projects/-src-api/{FIRST}.jsonl"), &text, 3);
    env
}

/// A session that is only displayed has no data for writing it back, whose check takes several times a line.
#[test]
fn a_hit_in_a_long_line_of_a_home_takes_a_small_multiple_of_it() {
    const LENGTH: usize = 48 << 20;
    let (small, large) = (home_with_text(6), home_with_text(LENGTH));
    for command in [
        // One hit: its line is as long as the text.
        &["search", "-l", "quorum.lease", "--regex"][..],
        &[
            "list", "--agents", "--no-cache", "--columns", "tokens", "--tokenizer", "chars4",
        ],
    ] {
        let least = least(&small, command, "");
        assert!(
            fits(&large, least + 4 * (LENGTH >> 10), command, ""),
            "{command:?}"
        );
    }
}

/// A terminal shows the characters around a match only.
#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn a_hit_in_a_long_line_on_a_terminal_takes_a_small_multiple_of_it() {
    const LENGTH: usize = 48 << 20;
    let fits = |env: &Env, kilobytes: usize| {
        let search = "script -qec 'convo search quorum.lease --regex' /dev/null";
        let line = format!("ulimit -v {kilobytes}; {search} </dev/null >/dev/null 2>&1");
        env.shell(&line).status == 0
    };
    let (small, large) = (home_with_text(6), home_with_text(LENGTH));
    let least = (1..64)
        .map(|step| step << 13)
        .find(|kilobytes| fits(&small, *kilobytes));
    assert!(fits(&large, least.unwrap() + 5 * (LENGTH >> 10)));
}

/// A list needs the beginning of a long text only.
#[test]
fn a_long_line_in_a_home_takes_little_memory() {
    const ROOM: usize = 24 << 10;
    let (small, large) = (home_with_text(6), home_with_text(48 << 20));
    for command in [&["list", "--agents", "--no-cache"][..], &["agents"]] {
        let least = least(&small, command, "");
        assert!(fits(&large, least + ROOM, command, ""), "{command:?}");
    }
    let row = |env: &Env| {
        let run = env.run(&["list", "--agents", "--json"]).fine();
        let mut row = run.objects().remove(0);
        for name in ["bytes", "path"] {
            row.as_object_mut().unwrap().remove(name).unwrap();
        }
        row
    };
    assert_eq!(row(&small), row(&large));
}

#[test]
fn blank_lines_keep_their_bytes_and_their_numbers() {
    let env = Env::new();
    let blank = "\n \n\r\n\n\t\n";
    let input = format!(
        "{}{blank}{}\n{blank}{}\n{blank}",
        lines(1, |_| message("m")),
        message("n"),
        message("o")
    );
    env.write("in.jsonl", &input);
    for command in ["cat", "truncate --keep-last 5 --log", "truncate -i --keep-last 1"] {
        let run = env.shell(&format!("convo {command} in.jsonl"));
        assert_eq!(run.status, 0, "{command}: {run}");
        let kept = if command.contains("-i") {
            env.read("in.jsonl")
        } else {
            String::from_utf8(run.stdout).unwrap()
        };
        assert!(kept.starts_with(&input), "{command}: {kept:?}");
    }
    env.write("bad.jsonl", format!("{input}oops\n"));
    let run = env.shell("convo count bad.jsonl");
    assert_eq!(run.status, 65);
    assert!(run.stderr.contains("bad.jsonl:20:"), "{run}");
}
