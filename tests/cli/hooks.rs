//! Tests `[hooks]` of the configuration: commands that run after a change of a stored session.

use crate::env::{CHAT, Env, Run};
use std::time::{Duration, Instant};

fn config(env: &Env, text: &str) {
    let dir = env.root().join("config/convo");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), text).unwrap();
}

/// Configures hooks that write their input and environment to files with their names.
fn with_hooks() -> Env {
    let env = Env::with_chat();
    let line = |kind: &str| format!("{kind} = \"cat >> {kind}.jsonl; env > {kind}.env\"\n");
    let lines: String = ["append", "compact", "summarize", "health"].map(line).concat();
    config(&env, &format!("[hooks]\n{lines}"));
    env
}

fn calls(env: &Env, kind: &str) -> Vec<serde_json::Value> {
    match std::fs::read_to_string(env.work().join(format!("{kind}.jsonl"))) {
        Ok(text) => text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
        Err(_) => Vec::new(),
    }
}

#[test]
fn an_append_runs_its_hook_with_the_record() {
    let env = with_hooks();
    let mut append = env.command(&["append", "trip", "Thanks; $(touch PWNED) `touch PWNED`"]);
    for key in [
        "CONVO_LLM_KEY", "CONVO_LLM_KEY_FILE", "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
    ] {
        append.env(key, "sk-secret");
    }
    env.wait(append).fine();
    let calls = calls(&env, "append");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["schema"], "convo.hook/1");
    assert_eq!(calls[0]["hook"], "append");
    assert_eq!(calls[0]["session"], "trip");
    assert_eq!(calls[0]["at"], "2026-11-20T18:02:03Z");
    assert_eq!(
        calls[0]["records"][0]["content"],
        "Thanks; $(touch PWNED) `touch PWNED`"
    );
    let environment = env.read("append.env");
    let has = |line: &str| environment.lines().any(|own| own == line);
    assert!(
        has("CONVO_SESSION=trip") && has("CONVO_HOOK=append"),
        "{environment}"
    );
    assert!(
        has(&format!("CONVO_STORE={}", env.store().display())),
        "{environment}"
    );
    assert!(environment.contains("\nCONVO=/") || environment.starts_with("CONVO=/"));
    assert!(!environment.contains("sk-secret"), "{environment}");
    assert!(!env.work().join("PWNED").exists());
}

#[test]
fn a_stream_runs_hooks_for_each_session() {
    let env = with_hooks();
    let stream = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n";
    env.pipe(&["append", "-q", "trip", "--stream"], stream).fine();
    let records = |call: &serde_json::Value| call["records"].as_array().unwrap().len();
    let all = calls(&env, "append");
    assert_eq!(all.iter().map(records).sum::<usize>(), 2);
    std::fs::remove_file(env.work().join("append.jsonl")).unwrap();
    env.pipe(
        &["append", "-q", "trip", "--stream", "--max-messages", "10"],
        format!("{stream}{stream}"),
    )
    .fine();
    let all = calls(&env, "append");
    assert_eq!(all.iter().map(records).sum::<usize>(), 4);
    let of = |id: &str| {
        all.iter()
            .filter(|call| call["session"] == id)
            .map(records)
            .sum::<usize>()
    };
    assert_eq!((of("trip"), of("trip.1")), (1, 3), "{all:?}");
}

#[test]
fn compactions_summaries_and_health() {
    let env = with_hooks();
    for nth in 0..4 {
        let text = format!(
            "Question {nth}: {}",
            "which of the stones is the oldest? ".repeat(20)
        );
        env.run(&["append", "-q", "trip", &text]).fine();
        let text = format!("Answer {nth}: {}", "the grey one at the river. ".repeat(20));
        env.run(&["append", "-q", "trip", "-r", "assistant", &text])
            .fine();
    }
    env.run(&["compact", "-q", "trip", "--keep-last", "1"]).fine();
    assert_eq!(calls(&env, "compact").len(), 1);
    assert_eq!(calls(&env, "compact")[0]["records"][0]["type"], "compact");
    env.run(&["restore", "-q", "trip"]).fine();
    assert_eq!(calls(&env, "health").len(), 0);
    let summarize = |with: &str| env.run(&["summarize", "-q", "trip", "--keep-last", "1", "--with", with]);
    summarize("cmd:cat >/dev/null; exit 3").status(69);
    let health = calls(&env, "health");
    assert_eq!(health.len(), 1, "{health:?}");
    assert_eq!(
        (&health[0]["from"], &health[0]["to"]),
        (&"healthy".into(), &"retry".into())
    );
    assert_eq!(health[0]["failures"], 1);
    assert!(
        health[0]["why"].as_str().unwrap().contains("status 3"),
        "{health:?}"
    );
    assert!(calls(&env, "summarize").is_empty());
    env.run(&["summarize", "-q", "trip", "--keep-last", "1", "--with", "extract"])
        .status(0);
    assert_eq!(calls(&env, "summarize").len(), 1);
    let health = calls(&env, "health");
    assert_eq!(health.len(), 2, "{health:?}");
    assert_eq!(
        (&health[1]["from"], &health[1]["to"]),
        (&"retry".into(), &"healthy".into())
    );
}

#[test]
fn a_failing_or_missing_hook_is_a_warning() {
    let env = Env::with_chat();
    let warned = |run: Run, why: &str| {
        let run = run.status(0);
        assert!(run.stderr.contains("hook 'append' failed: "), "{run}");
        assert!(run.stderr.contains(why), "{run}");
        assert!(run.stderr.contains("the change is stored"), "{run}");
    };
    config(&env, "[hooks]\nappend = \"echo 'no disk' >&2; exit 4\"\n");
    warned(env.run(&["append", "trip", "one"]), "status 4: no disk");
    config(&env, "[hooks]\nappend = \"/nonexistent/hook\"\n");
    warned(env.run(&["append", "trip", "two"]), "status 127");
    config(&env, "hook-timeout = \"100ms\"\n[hooks]\nappend = \"sleep 30\"\n");
    let began = Instant::now();
    warned(env.run(&["append", "trip", "three"]), "timed out after 100 ms");
    assert!(began.elapsed() < Duration::from_secs(10));
    let log = std::fs::read_to_string(env.log("trip")).unwrap();
    assert!(
        ["one", "two", "three"]
            .iter()
            .all(|text| log.contains(&format!("\"content\":\"{text}\"")))
    );
    // A hook may exit without reading its input.
    config(&env, "[hooks]\nappend = \"exec true\"\n");
    env.run(&["append", "trip", "four"]).fine();
    for wrong in [
        "[hooks]\ntruncate = \"true\"\n",
        "[hooks]\nappend = 5\n",
        "hook-timeout = \"soon\"\n",
        "hooks = \"true\"\n",
    ] {
        config(&env, wrong);
        env.run(&["append", "trip", "five"]).status(78);
    }
}

#[test]
fn filters_and_changes_by_a_hook_run_no_hooks() {
    let env = with_hooks();
    env.pipe(&["append", "-", "more"], CHAT).fine();
    env.pipe(&["compact", "--keep-last", "1"], CHAT).status(0);
    env.run(&["append", "trip", "more", "--stdout"]).fine();
    env.run(&["append", "trip", "more", "--dry-run"]).status(0);
    assert!(calls(&env, "append").is_empty() && calls(&env, "compact").is_empty());
    config(
        &env,
        "[hooks]\nappend = \"echo x >> runs; \\\"$CONVO\\\" append \\\"$CONVO_SESSION\\\" 'from the hook'\"\n",
    );
    env.run(&["append", "trip", "more"]).fine();
    assert_eq!(env.read("runs"), "x\n");
    assert!(
        std::fs::read_to_string(env.log("trip"))
            .unwrap()
            .contains("from the hook")
    );
}
