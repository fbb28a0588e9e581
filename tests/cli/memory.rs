//! Tests stored sessions with a retention policy.

use crate::env::Env;
use serde_json::Value;

fn messages(env: &Env, id: &str) -> Vec<Value> {
    let view = env.run(&["context", id]).fine().objects();
    view.into_iter()
        .filter(|line| line.get("role").is_some())
        .collect()
}

fn exchange(env: &Env, id: &str, nth: usize) {
    let question = format!("question {nth}: what do apples, pears and plums cost in the town of Nowhere?");
    env.run(&["append", id, &question]).fine();
    let answer = format!("answer {nth}: apples cost one euro, pears a little more, plums are out of season.");
    env.run(&["append", id, "-r", "assistant", &answer]).status(0);
}

#[test]
fn append_respects_the_total_and_restore_undoes_it() {
    let env = Env::new();
    env.run(&[
        "new",
        "--id",
        "m",
        "--system",
        "Be brief.",
        "--memory",
        "keep_last=2,summary=50,total=120",
    ])
    .fine();
    for nth in 0..4 {
        exchange(&env, "m", nth);
    }
    let left: Vec<String> = messages(&env, "m")
        .iter()
        .map(|line| line["content"].as_str().unwrap().chars().take(10).collect())
        .collect();
    assert_eq!(
        left,
        [
            "Be brief.", "question 2", "answer 2: ", "question 3", "answer 3: "
        ]
        .map(str::to_string)
    );
    let log = env.run(&["cat", "m"]).fine();
    assert_eq!(
        log.out().matches(r#""role":"user""#).count(),
        4,
        "nothing leaves the log"
    );
    env.run(&["restore", "m"]).status(0);
    assert_eq!(messages(&env, "m").len(), 7);
    env.run(&["fsck"]).status(0);
}

#[test]
fn a_summary_covers_the_backlog_and_cron_can_run_it() {
    let env = Env::new();
    env.run(&[
        "new",
        "--id",
        "m",
        "--memory",
        "rolling_summary,keep_last=1,summary=60,total=0,retry_attempts=1,rest=60s",
    ])
    .fine();
    for nth in 0..3 {
        exchange(&env, "m", nth);
    }
    let counted = |what: &str| env.run(&["count", "--json", "m"]).fine().objects()[0]["memory"][what].clone();
    assert_eq!((counted("pending"), counted("backlog")), (2.into(), 0.into()));
    let summarize = |now: &str, with: &str, status: i32| {
        let mut command = env.command(&["summarize", "m", "--if-due", "--with", with]);
        command.env("CONVO_NOW", now);
        env.feed(command, b"").status(status)
    };
    summarize("2030-01-01T00:00:00Z", "cmd:false", 69);
    summarize("2030-01-01T00:00:01Z", "cmd:false", 0).says("skipped until 2030-01-01T00:00:02Z");
    summarize("2030-01-01T00:00:02Z", "cmd:false", 69);
    assert_eq!((counted("pending"), counted("backlog")), (0.into(), 2.into()));
    let listed = env.run(&["list", "--json"]).fine().objects().remove(0);
    assert_eq!((&listed["backlog"], &listed["failures"]), (&2.into(), &2.into()));
    // The first attempt in degraded mode is due at once, the next one after the backoff.
    summarize("2030-01-01T00:00:02Z", "cmd:false", 69).says("next attempt at 2030-01-01T00:01:02Z");
    exchange(&env, "m", 3);
    assert_eq!(counted("backlog"), 3);
    assert_eq!(messages(&env, "m").len(), 8, "what waits is never hidden");
    summarize("2030-01-01T00:01:02Z", "cmd:echo prices were asked for", 0);
    assert_eq!((counted("pending"), counted("backlog")), (0.into(), 0.into()));
    assert_eq!(messages(&env, "m").len(), 2);
    summarize("2030-01-01T00:01:03Z", "cmd:echo again", 0).says("no exchange awaits a summary");
}

#[test]
fn the_error_policy_refuses_a_message() {
    let env = Env::new();
    env.run(&[
        "new",
        "--id",
        "m",
        "--memory",
        "overflow=error,summary=10,total=30",
    ])
    .fine();
    env.run(&[
        "append",
        "m",
        "a question that is a good deal longer than all that there is room for in here, I think, so no",
    ])
    .fine();
    let before = env.run(&["cat", "m"]).fine().stdout;
    env.run(&["append", "m", "-r", "assistant", "no, there is no room"])
        .status(1)
        .says("raise the total");
    assert_eq!(env.run(&["cat", "m"]).fine().stdout, before);
    env.run(&["new", "--memory", "total=999"])
        .status(2)
        .says("(default)")
        .says("total=999,summary=249");
    env.run(&["new", "--memory", "rolling_summary,summary=0"])
        .status(2);
    env.run(&["new", "--memory", "keep=1"]).status(2);
    env.run(&["new", "--id", "plain"]).fine();
    env.run(&["append", "plain", "x", "--memory", "keep_last=1"])
        .status(2);
}

#[test]
fn a_further_answer_also_enforces_the_total() {
    let env = Env::new();
    env.run(&["new", "--id", "m", "--memory", "keep_last=2,summary=50,total=120"])
        .fine();
    for turn in ["one", "two"] {
        env.run(&[
            "append",
            "-q",
            "m",
            &format!("{turn}: a question of some length, so that it takes room"),
        ])
        .fine();
        env.run(&[
            "append",
            "-q",
            "m",
            "-r",
            "assistant",
            &format!("{turn}: answered"),
        ])
        .fine();
    }
    let tokens = || {
        let counted = env.run(&["count", "--json", "m"]).fine().objects().remove(0);
        counted["memory"]["tokens"].as_u64().unwrap()
    };
    let mut most = tokens();
    for nth in 0..7 {
        env.run(&[
            "append",
            "-q",
            "m",
            "-r",
            "assistant",
            &format!("{nth} more, and it is answered"),
        ])
        .status(0);
        most = most.max(tokens());
    }
    // The older turn was dropped; with it there would be more.
    assert!(most > 100 && tokens() <= 120 && most <= 120, "{most}");
    // The newest turn is kept even if it exceeds the total, with a notice.
    for nth in 0..4 {
        let run = env.run(&["append", "-q", "m", "-r", "assistant", &format!("{nth} and more")]);
        assert!(matches!(run.status, 0 | 1), "{run}");
    }
    env.run(&["append", "m", "-r", "assistant", "the last"])
        .status(1)
        .says("the view exceeds the total of the retention policy");
}

#[test]
fn concurrent_appends_lose_nothing() {
    let env = Env::new();
    env.run(&["new", "--id", "m", "--memory", "keep_last=2,summary=50,total=120"])
        .fine();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let line = format!(
                "for i in 0 1 2 3; do \"$0\" append -q m \"$i of {writer}: a question of some length, so that it takes room\" && \
                 \"$0\" append -q m -r assistant \"$i of {writer}: answered\" || exit 1; done"
            );
            let mut command = env.program("sh");
            command.args(["-c", &line]).arg(env!("CARGO_BIN_EXE_convo"));
            command.spawn().unwrap()
        })
        .collect();
    for writer in writers {
        env.ended(writer).status(0);
    }
    let log = env.run(&["cat", "m"]).fine().objects();
    assert_eq!(log.iter().filter(|line| line.get("role").is_some()).count(), 32);
    let counted = env.run(&["count", "--json", "m"]).fine().objects().remove(0);
    assert!(counted["memory"]["tokens"].as_u64().unwrap() <= 120, "{counted}");
    env.run(&["fsck"]).status(0);
}
