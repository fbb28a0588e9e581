use super::super::penguiflow::{PenguiflowOptions, PenguiflowStrategy, estimate, trim};
use super::super::{CompatHistory, Precedence};
use super::{Tally, json, kept, list, session};
use crate::error::ErrorKind;
use crate::filter::compact::event::ItemChange;
use crate::model::retention::Overflow;
use crate::model::session::Session;
use crate::model::view::View;
use crate::sample_data;
use serde_json::{Value, json as value};

/// Builds a session from a memory: a user and an assistant message per turn, with the zone in the metadata.
fn memory(state: &Value) -> (Session, Vec<Value>) {
    let mut all = Session::default();
    let mut turns = Vec::new();
    for zone in ["backlog", "pending", "turns"] {
        for turn in list(&state[zone]) {
            let own = value!({"zone": zone, "trajectory_digest": turn["trajectory_digest"]});
            all.push_new(
                value!({"role": "user", "content": turn["user_message"]})
                    .to_string()
                    .as_bytes(),
            );
            let answer = value!({
                "role": "assistant", "content": turn["assistant_response"], "metadata": {"penguiflow": own}
            });
            all.push_new(answer.to_string().as_bytes());
            turns.push(turn.clone());
        }
    }
    let summary = state["summary"].as_str().unwrap();
    if !summary.is_empty() {
        all.push_new(
            value!({"type": "summary", "id": "evt_1", "content": summary})
                .to_string()
                .as_bytes(),
        );
    }
    (all, turns)
}

fn options(config: &Value) -> PenguiflowOptions {
    let budget = &config["budget"];
    let number = |name: &str| budget[name].as_u64().unwrap();
    PenguiflowOptions {
        strategy: match config["strategy"].as_str().unwrap() {
            "truncation" => PenguiflowStrategy::Truncation,
            _ => PenguiflowStrategy::RollingSummary,
        },
        zone: number("full_zone_turns") as usize,
        summary: number("summary_max_tokens"),
        total: number("total_max_tokens"),
        overflow: Overflow::from_name(budget["overflow_policy"].as_str().unwrap()).unwrap(),
        digests: config["include_trajectory_digest"] == true,
        degraded: false,
    }
}

/// Returns the last characters, as PenguiFlow shortens.
fn tail(text: &str, most: u64) -> String {
    let length = text.chars().count() as u64;
    let left = (length * most / estimate(text)).max(1);
    text.chars().skip((length - left) as usize).collect()
}

/// Returns the remaining turns of each zone and the summary.
fn after(state: &Value, options: &PenguiflowOptions, rules: Precedence) -> (Value, bool) {
    let (session, turns) = memory(state);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let choice = trim(&history, options, rules, &tail).unwrap();
    let stays = kept(&history, &choice);
    let item = |turn: usize| history.item(2 * turn);
    let backlog = list(&state["backlog"]).len();
    let of = |keeps: &dyn Fn(usize) -> bool| {
        (0..turns.len())
            .filter(|turn| keeps(*turn))
            .map(|turn| turns[turn].clone())
            .collect::<Vec<_>>()
    };
    let pending = |turn: usize| choice.summarised.contains(&item(turn));
    // Without a new summary, pending turns remain pending.
    let waits = |turn: usize| {
        choice.summarised.is_empty() && turn >= backlog && turn < backlog + list(&state["pending"]).len()
    };
    let recent = |turn: usize| stays.contains(&(2 * turn)) && turn >= backlog && !waits(turn);
    let summaries: Vec<(usize, String)> = history
        .summaries()
        .map(|(at, text)| (at, text.into_owned()))
        .collect();
    let summary = match (summaries.first(), &choice.reshaping.summary) {
        (_, Some(summary)) => summary.content.clone(),
        (Some((at, text)), None) if choice.reshaping.changes[*at] == ItemChange::Keep => text.clone(),
        _ => String::new(),
    };
    let waiting = |turn: usize| pending(turn) || (waits(turn) && stays.contains(&(2 * turn)));
    (
        value!({"turns": of(&recent), "pending": of(&waiting), "summary": summary}),
        choice.fits,
    )
}

const DIFFERENT: [(&str, &str); 4] = [
    (
        "truncation_overflow_truncate_oldest-2 truncation_overflow_truncate_oldest-5 truncation_total_below_floor-1",
        "P9: the newest turn stays",
    ),
    (
        "truncation_overflow_error-2 truncation_overflow_error-3 truncation_overflow_error-4 \
         truncation_overflow_error-5",
        "P6: what is refused changes nothing",
    ),
    (
        "rolling_overflow_summary_alone_over-2",
        "the summary is shortened before turns go",
    ),
    (
        "rolling_overflow_truncate_summary_ok-2",
        "the caller shortens by whole sentences; here, with PenguiFlow's own shortening, the result is the same",
    ),
];

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn trimming_agrees_with_penguiflow() {
    let dir = sample_data::path("penguiflow/scenarios");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut tally = Tally::of("penguiflow scenarios");
    let mut others = 0;
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let scenario = json(&file);
        let steps = list(&scenario["steps"]);
        let empty = value!({"summary": "", "turns": [], "pending": [], "backlog": []});
        for (nth, step) in steps.iter().enumerate() {
            let before = nth.checked_sub(1).map_or(&empty, |at| &steps[at]["state"]);
            let called = !list(&step["summarizer_calls"]).is_empty();
            // Summarizer calls and recovery are not trimming.
            let answered = called && step["not_in_state"]["task_in_flight"] != true;
            let sick = step["health"] != "healthy"
                || nth
                    .checked_sub(1)
                    .is_some_and(|at| steps[at]["health"] != "healthy");
            let config = &scenario["config"];
            if step["op"] != "add_turn" || config["strategy"] == "none" || sick {
                others += 1;
                continue;
            }
            let mut state = before.clone();
            state["turns"].as_array_mut().unwrap().push(step["arg"].clone());
            let options = options(config);
            if options.check().is_err() {
                others += 1;
                continue;
            }
            let (mut left, fits) = after(&state, &options, Precedence::Convo);
            let mut expected = step["state"].clone();
            if answered {
                // Answered at once: the summary replaces the pending turns.
                left["pending"] = value!([]);
                left["summary"] = expected["summary"].clone();
            }
            for name in ["version", "health", "config_snapshot", "backlog"] {
                expected.as_object_mut().unwrap().remove(name);
            }
            let id = format!("{name}-{}", nth + 1);
            if step["mark"] == "match" {
                assert_eq!((&left, fits), (&expected, true), "{id}");
                tally.agree();
                continue;
            }
            let differs = left != expected || !fits;
            if called {
                // Only the handling of the answer differs.
                assert!(!differs, "{id}");
                others += 1;
                continue;
            }
            assert!(
                left["turns"].as_array().unwrap().last() == Some(&step["arg"]),
                "{id}"
            );
            match scenario["config"]["budget"]["overflow_policy"].as_str().unwrap() {
                "error" => assert_eq!((&left["turns"], fits), (&state["turns"], false), "{id}"),
                "truncate_summary" => assert!(!differs, "{id}"),
                _ => assert_ne!(after(&state, &options, Precedence::Theirs).0, left, "{id}"),
            }
            tally.differ(&id);
        }
    }
    eprintln!("penguiflow scenarios: {others} steps are no trimming");
    tally.close(&DIFFERENT);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn estimates_agree_with_penguiflow() {
    let path = sample_data::path("penguiflow/tables/token_estimator.json");
    let mut tally = Tally::of("penguiflow estimates");
    for row in list(&json(&path)["rows"]) {
        let Some(text) = row["text"].as_str() else {
            continue;
        };
        assert_eq!(Some(estimate(text)), row["tokens"].as_u64());
        tally.agree();
    }
    tally.close(&[]);
    // The estimate decides: with one token less, a turn is dropped.
    let dir = sample_data::path("penguiflow/scenarios");
    let (mut contexts, names) = (
        0,
        [
            "truncation_basic", "truncation_no_digest", "rolling_pending_in_flight",
        ],
    );
    for name in names {
        let scenario = json(&dir.join(format!("{name}.json")));
        for step in list(&scenario["steps"])
            .iter()
            .filter(|step| step["op"] == "add_turn")
        {
            let size = step["estimate_tokens"].as_u64().unwrap();
            let state = &step["state"];
            let room = |total| PenguiflowOptions {
                total,
                summary: 1,
                ..options(&scenario["config"])
            };
            let (left, fits) = after(state, &room(size), Precedence::Theirs);
            assert!(
                fits && left["turns"] == state["turns"] && left["pending"] == state["pending"],
                "{name} {step}"
            );
            let (left, _) = after(state, &room(size - 1), Precedence::Theirs);
            assert!(
                left["turns"] != state["turns"] || left["pending"] != state["pending"],
                "{name} {step}"
            );
            contexts += 1;
        }
    }
    eprintln!("penguiflow estimates: {contexts} contexts agree to the token");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn invalid_configurations_are_refused() {
    let path = sample_data::path("penguiflow/tables/validation.json");
    let mut tally = Tally::of("penguiflow configurations");
    for row in list(&json(&path)["rows"]) {
        if row["what"] != "MemoryBudget" {
            continue; // other tests cover keys, retries and names
        }
        let given = |name: &str, default: u64| match row["args"].get(name) {
            Some(value) => value.as_u64(),
            None => Some(default),
        };
        let numbers = (
            given("full_zone_turns", 5),
            given("summary_max_tokens", 1000),
            given("total_max_tokens", 10_000),
        );
        // Invalid numbers are rejected when options are parsed.
        let accepted = match numbers {
            (Some(zone), Some(summary), Some(total)) => {
                let options = PenguiflowOptions {
                    zone: zone as usize,
                    summary,
                    total,
                    ..PenguiflowOptions::default()
                };
                options.check().is_ok()
            }
            _ => false,
        };
        assert_eq!(accepted, row["error"].is_null(), "{row}");
        tally.agree();
    }
    tally.close(&[]);
    let rolling = PenguiflowOptions {
        strategy: PenguiflowStrategy::RollingSummary,
        summary: 0,
        ..PenguiflowOptions::default()
    };
    assert_eq!(rolling.check().unwrap_err().kind, ErrorKind::Config);
}

#[test]
fn a_pass_without_effect_terminates() {
    // P1: a short summary and one turn that alone exceeds the total.
    let turn =
        |text: &str| value!({"user_message": text, "assistant_response": "", "trajectory_digest": null});
    let state = value!({"summary": "short", "turns": [turn(&"x".repeat(400))], "pending": [], "backlog": []});
    let options = PenguiflowOptions {
        strategy: PenguiflowStrategy::RollingSummary,
        zone: 3,
        summary: 20,
        total: 60,
        overflow: Overflow::TruncateSummary,
        ..PenguiflowOptions::default()
    };
    let (left, fits) = after(&state, &options, Precedence::Convo);
    assert_eq!((left["turns"].as_array().unwrap().len(), fits), (1, false));
    assert_eq!(left["summary"], "short");
    assert_eq!(after(&state, &options, Precedence::Theirs).0["turns"], value!([]));
}

#[test]
fn calls_of_a_turn_count_against_the_budget() {
    let call = value!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let tool = |text: &str| {
        vec![
            value!({"role": "user", "content": "u"}),
            value!({"role": "assistant", "content": "a"}),
            value!({"role": "user", "content": "u"}),
            value!({"role": "assistant", "content": null, "tool_calls": [call]}),
            value!({"role": "tool", "tool_call_id": "a", "content": text}),
            value!({"role": "assistant", "content": "a"}),
        ]
    };
    let run = |text: &str, digests: bool| {
        let session = session(&tool(text));
        let view = View::replay(&session);
        let history = CompatHistory::of(&session, &view);
        let options = PenguiflowOptions {
            total: 100,
            summary: 10,
            digests,
            ..PenguiflowOptions::default()
        };
        kept(
            &history,
            &trim(&history, &options, Precedence::Convo, &tail).unwrap(),
        )
        .len()
    };
    assert_eq!(run(&"x".repeat(300), true), 4);
    assert_eq!(run(&"x".repeat(300), false), 6);
    assert_eq!(run("x", true), 6);
}

#[test]
fn a_long_summary_is_shortened_before_turns_are_dropped() {
    let turn =
        |text: &str| value!({"user_message": text, "assistant_response": "", "trajectory_digest": null});
    let turns = [turn("one"), turn("two")];
    let state = value!({"summary": "s".repeat(2000), "turns": turns, "pending": [], "backlog": []});
    let options = PenguiflowOptions {
        strategy: PenguiflowStrategy::RollingSummary,
        summary: 20,
        total: 80,
        ..PenguiflowOptions::default()
    };
    let (left, fits) = after(&state, &options, Precedence::Convo);
    assert_eq!((&left["turns"], fits), (&value!(turns), true));
    assert_eq!(left["summary"].as_str().unwrap().len(), 79);
    assert_eq!(after(&state, &options, Precedence::Theirs).0["turns"], value!([]));
}
