//! Tests turns that wait for a summary, whatever their size, and members of an unexpected type.

use super::{parsed, state, turn};
use crate::env::Env;
use serde_json::{Value, json};

/// The number of turns per zone, and the health.
fn zones(state: &Value) -> (usize, usize, usize, String) {
    let count = |zone: &str| state[zone].as_array().unwrap().len();
    let health = state["health"].as_str().unwrap().to_string();
    (count("turns"), count("pending"), count("backlog"), health)
}

/// Turns are counted, not tokens: pending turns are summarized when due, however short they are.
#[test]
fn a_short_pending_turn_is_summarized() {
    let env = Env::new();
    let healthy = |pending: &[Value], keep: u64| {
        let mut state = parsed(&state(&[], (keep, 100, 1000, "truncate_oldest")));
        state["pending"] = json!(pending);
        if keep > 0 {
            state["turns"] = json!([turn("c", "d"), turn("e", "f")]);
        }
        state
    };
    let mut degraded = healthy(&[], 2);
    degraded["health"] = json!("degraded");
    degraded["backlog"] = json!([turn("a", "b")]);
    let mut spoken = healthy(&[turn("a", "b")], 2);
    spoken["summary"] = json!("<session_summary>\nOld.\n</session_summary>");
    for (name, state, kept) in [
        ("one turn", healthy(&[turn("a", "b")], 2), 2),
        ("degraded", degraded, 2),
        ("with a summary", spoken, 2),
        ("a zone of 0", healthy(&[turn("a", "b")], 0), 0),
        (
            "two and a zone of 0",
            healthy(&[turn("a", "b"), turn("c", "d")], 0),
            0,
        ),
    ] {
        for with in [
            "extract",
            "cmd:cat > /dev/null; echo They greeted each other at some length.",
        ] {
            env.write("state.json", state.to_string());
            env.run(&["summarize", "-q", "-i", "state.json", "--if-due", "--with", with])
                .status(0);
            let now = parsed(&env.read("state.json"));
            assert_eq!(
                zones(&now),
                (kept, 0, 0, "healthy".to_string()),
                "{name} {with}: {now}"
            );
            assert!(
                now["summary"].as_str().unwrap().starts_with("<session_summary>"),
                "{name}: {now}"
            );
        }
        // The same in two steps.
        env.write("state.json", state.to_string());
        let request = env.run(&["summarize", "state.json", "--request"]).fine();
        let mut answer = request.objects().remove(0);
        answer["summary"] = json!("They greeted each other at some length.");
        env.write("answer.json", answer.to_string());
        env.run(&["summarize", "-q", "-i", "state.json", "--apply", "answer.json"])
            .status(0);
        let now = parsed(&env.read("state.json"));
        assert_eq!(
            zones(&now),
            (kept, 0, 0, "healthy".to_string()),
            "{name} --apply: {now}"
        );
    }
}

/// A native session with a retention policy follows the same rule.
#[test]
fn a_retention_policy_counts_turns() {
    let env = Env::new();
    for keep in ["0", "1"] {
        let memory = format!("rolling_summary,keep_last={keep}");
        env.run(&["new", "-q", "--id", keep, "--memory", &memory])
            .status(0);
        for (user, answer) in [("hi", "ok"), ("yes", "no")] {
            env.run(&["append", keep, user]).status(0);
            env.run(&["append", keep, "-r", "assistant", answer]).status(0);
        }
        let run = env.run(&["summarize", keep, "--if-due"]).status(0);
        assert!(run.stderr.contains("summarized"), "{run}");
        env.run(&["summarize", keep, "--if-due"])
            .status(0)
            .says("no exchange awaits a summary");
    }
}

#[test]
fn members_of_another_type_are_refused_reported_or_filled() {
    let env = Env::new();
    let with = |member: &str, value: Value| {
        let mut odd = turn("a", "b");
        odd[member] = value;
        state(&[odd], (5, 100, 1000, "truncate_oldest"))
    };
    let context = ["context", "--from", "penguiflow", "--to", "penguiflow-context"];
    for refused in [json!(["a"]), json!([["a", 1]]), json!("a"), json!(5), json!(true)] {
        env.pipe(&context, with("artifacts_shown", refused))
            .status(65)
            .says("turns[0].artifacts_shown is not an object");
    }
    for nothing in [json!(null), json!({})] {
        env.pipe(&context, with("artifacts_shown", nothing)).fine();
    }
    env.pipe(&context, with("artifacts_shown", json!([])))
        .status(65)
        .says("another type");
    let digest = json!({"tools_invoked": ["t"], "observations_summary": "o", "reasoning_summary": 5, "artifacts_refs": []});
    let run = env.pipe(
        &["context", "--from", "penguiflow", "--to", "penguiflow-context"],
        with("trajectory_digest", digest),
    );
    run.status(65)
        .says("turns[0].trajectory_digest.reasoning_summary is not a string; kept unchanged");
    let empty = with("trajectory_digest", json!({}));
    let run = env.pipe(&context, &empty).fine();
    let shown = parsed(run.out());
    assert_eq!(
        shown["conversation_memory"]["recent_turns"][0]["trajectory_digest"].to_string(),
        json!({"tools_invoked": [], "observations_summary": "", "reasoning_summary": null, "artifacts_refs": []}).to_string()
    );
    // Unchanged content keeps its bytes.
    env.pipe(&["cat", "--from", "penguiflow", "--to", "penguiflow"], &empty)
        .fine()
        .gives(&empty);
}
