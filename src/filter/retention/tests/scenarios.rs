//! Replays the recorded steps of PenguiFlow's memory, each from the state recorded before it.

use super::super::{Cost, Enforced, RetentionPart, RetentionState, TurnEstimate, turn_size};
use super::different::DIFFERENT;
use crate::error::Error;
use crate::format::DocumentSource;
use crate::format::penguiflow::{self, PenguiflowState, reply, request};
use crate::format::report::Report;
use crate::model::health::Health;
use crate::model::retention::{RetentionPolicy, RetentionStrategy};
use crate::model::time;
use crate::model::view::View;
use serde_json::{Value, json};

type Turns = RetentionState<Value>;

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn at(seconds: f64) -> String {
    time::from_epoch(seconds).unwrap()
}

/// Parses a document with the format's reader, which measures and encodes the turns.
fn state_of(state: &Value, config: &Value) -> PenguiflowState {
    let mut state = state.clone();
    state["config_snapshot"] = config.clone();
    let bytes = state.to_string();
    let mut sessions =
        penguiflow::read(&DocumentSource::alone(bytes.as_bytes()), &mut Report::default()).unwrap();
    let session = sessions.remove(0);
    PenguiflowState::of(&session, &View::replay(&session)).unwrap()
}

fn size(turn: &Value, digests: bool) -> u64 {
    let state = json!({"version": 1, "health": "healthy", "turns": [turn]});
    let state = state_of(&state, &json!({"strategy": "truncation"}));
    turn_size(&state.turns[0].turn.sorted(digests))
}

fn config(value: &Value) -> Result<RetentionPolicy, Error> {
    penguiflow::memory(value.to_string().as_bytes())
}

/// Builds the recorded memory.
fn retention_state(state: &Value, extra: &Value, memory: RetentionPolicy) -> Turns {
    let failures = extra["retry_count"].as_u64().unwrap_or(0);
    let health = state["health"].as_str().unwrap();
    let tried = extra["last_degraded_attempt_ts"]
        .as_f64()
        .filter(|seconds| *seconds > 0.0);
    let degraded = ["degraded", "recovering"].contains(&health);
    let health = Health {
        failures,
        degraded,
        next_attempt_at: tried
            .filter(|_| degraded)
            .map(|seconds| at(seconds + memory.rest.as_secs_f64())),
        ..Health::default()
    };
    let mut retention = RetentionState::new(memory)
        .unwrap()
        .with_health(health, state["health"] == "recovering")
        .with_summary(state["summary"].as_str().unwrap());
    for (part, name) in [
        (RetentionPart::Backlog, "backlog"),
        (RetentionPart::Pending, "pending"),
        (RetentionPart::Recent, "turns"),
    ] {
        for turn in list(&state[name]) {
            let size = size(&turn, memory.digests);
            retention.load(part, turn, size);
        }
    }
    retention
}

fn now_of(retention: &Turns) -> Value {
    let turns = |part| retention.turns(part).cloned().collect::<Vec<_>>();
    json!({
        "version": 1, "health": retention.state().name(), "summary": retention.summary(), "turns": turns(RetentionPart::Recent),
        "pending": turns(RetentionPart::Pending), "backlog": turns(RetentionPart::Backlog),
    })
}

/// The summary or error of a recorded summarizer call.
fn answer(call: &Value) -> Result<String, String> {
    match &call["response"] {
        Value::Null => Err(call["raises"].as_str().unwrap_or_default().to_string()),
        response => match response["summary"].as_str() {
            // The scenarios' summarizer output is stored unchanged.
            Some(text) if !reply::is_blank(text) => Ok(text.to_string()),
            _ => Err("no summary".to_string()),
        },
    }
}

fn is_open(call: &Value) -> bool {
    call.get("response").is_none_or(Value::is_null) && call.get("raises").is_none_or(Value::is_null)
}

struct Step<'s> {
    scenario: &'s str,
    step: &'s Value,
    memory: RetentionPolicy,
    config: &'s Value,
    /// The clock, advanced by finished waits.
    now: f64,
    cost: TurnEstimate,
}

impl Step<'_> {
    /// Requests one summary, if due, and applies the recorded answer.
    fn ask(&self, retention: &mut Turns, nth: usize) -> Option<Result<Enforced<Value>, Error>> {
        let waited = retention
            .health()
            .next_attempt_at
            .clone()
            .filter(|_| !retention.health().degraded);
        let now = waited.unwrap_or_else(|| at(self.now));
        let request = retention.request(&now)?;
        let call = &list(&self.step["summarizer_calls"])[nth];
        self.same_request(&request, call, retention);
        if is_open(call) {
            return None;
        }
        Some(match answer(call) {
            Ok(summary) => retention.apply(&request, &summary, &now, &self.cost),
            Err(why) => {
                retention.fail(&now, &why);
                Err(Error::new(crate::error::ErrorKind::Unavailable, why))
            }
        })
    }

    fn same_request(
        &self,
        requested: &super::super::RetentionRequest<Value>,
        call: &Value,
        retention: &Turns,
    ) {
        let document = json!({"version": 1, "health": "healthy", "pending": requested.turns});
        let turns = state_of(&document, self.config).turns;
        let built = request(
            &requested.previous_summary,
            turns.iter().map(|placed| &placed.turn),
            retention.memory().digests,
        );
        let built: Value = serde_json::from_slice(&built).unwrap();
        // Oldest first, except where the recorded one lost its oldest turns.
        if self.scenario != "rolling_degraded_recovery-6" {
            assert_eq!(built, call["request"], "{}", self.scenario);
        }
    }

    /// Compares everything recorded of the state after the step.
    fn same_state(&self, retention: &Turns) -> Result<(), String> {
        let mut expected = self.step["state"].clone();
        expected.as_object_mut().unwrap().remove("config_snapshot");
        let now = now_of(retention);
        if now != expected {
            return Err(format!("{now}\nexpected {expected}"));
        }
        let tokens = retention.tokens(&self.cost);
        if Some(tokens) != self.step["estimate_tokens"].as_u64() {
            return Err(format!(
                "{tokens} tokens, expected {}",
                self.step["estimate_tokens"]
            ));
        }
        let context = String::from_utf8(state_of(&now, self.config).context()).unwrap();
        let context: Value = serde_json::from_str(&context).unwrap();
        if context != self.step["llm_context"] {
            return Err(format!("{context}\nexpected {}", self.step["llm_context"]));
        }
        Ok(())
    }

    /// Compares the recorded waits with the times until the next attempt.
    fn same_waits(&self, waits: &[f64]) -> Result<(), String> {
        let recorded: Vec<f64> = list(&self.step["sleeps"])
            .iter()
            .filter_map(Value::as_f64)
            .collect();
        (waits == recorded)
            .then_some(())
            .ok_or_else(|| format!("waits {waits:?}, recorded {recorded:?}"))
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_recorded_step_is_replayed() {
    let mut files: Vec<_> = std::fs::read_dir(crate::sample_data::path("penguiflow/scenarios"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let (mut agree, mut differ, mut ensuing, mut wrong) = (0, 0, 0, Vec::new());
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let scenario: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let config_value = &scenario["config"];
        let memory = config(config_value);
        let steps = list(&scenario["steps"]);
        let empty = json!({"health": "healthy", "summary": "", "turns": [], "pending": [], "backlog": []});
        for (nth, step) in steps.iter().enumerate() {
            let id = format!("{name}-{}", nth + 1);
            let reported = DIFFERENT.iter().any(|(known, _)| *known == id);
            if let Err(error) = &memory {
                assert!(reported && error.kind.status() == 78, "{id}");
                differ += 1;
                continue;
            }
            let memory = *memory.as_ref().unwrap();
            let before = nth.checked_sub(1).map(|at| &steps[at]);
            let mut retention = retention_state(
                before.map_or(&empty, |step| &step["state"]),
                &before.map_or(json!({}), |step| step["not_in_state"].clone()),
                memory,
            );
            let run = Step {
                scenario: &id,
                step,
                memory,
                config: config_value,
                now: step["not_in_state"]["clock"].as_f64().unwrap(),
                cost: TurnEstimate {
                    shows_nothing: memory.strategy == RetentionStrategy::None,
                },
            };
            let in_flight = before.is_some_and(|step| step["not_in_state"]["task_in_flight"] == true);
            let done = carry_out(&run, &mut retention, in_flight, before);
            match run.same_state(&retention).and(done) {
                Ok(()) if !reported => {
                    // A step after one that differs starts from the recorded state and may match.
                    ensuing += usize::from(step["mark"] != "match");
                    agree += 1;
                }
                Ok(()) => wrong.push(format!("{id}: expected to differ, and agrees")),
                Err(_) if reported => {
                    instead(&id, &run, &retention);
                    differ += 1;
                }
                Err(what) => wrong.push(format!("{id}: {what}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    eprintln!(
        "penguiflow scenarios: {agree} steps agree ({ensuing} of them after one that differs), {differ} differ as expected, none fails"
    );
    assert_eq!(agree + differ, 94);
}

/// Executes a step. Returns an error that was not recorded.
fn carry_out(
    run: &Step<'_>,
    retention: &mut Turns,
    in_flight: bool,
    before: Option<&Value>,
) -> Result<(), String> {
    let step = run.step;
    let was = now_of(retention);
    match step["op"].as_str().unwrap() {
        "add_turn" => {
            let turn = step["arg"].clone();
            let size = size(&turn, run.memory.digests);
            match retention.add(turn, size, &run.cost) {
                Err(error) => {
                    assert_eq!(now_of(retention), was, "{}", run.scenario);
                    return Err(error.message);
                }
                Ok(enforced) if !enforced.fits => return Err("over the total".to_string()),
                Ok(_) => {}
            }
            if !in_flight && retention.is_due(&at(run.now + 1e6)) {
                let now = at(run.now);
                let due = retention.is_due(&now) || !retention.health().degraded;
                if due {
                    let failed = retention.health().failures;
                    let answered = run.ask(retention, 0);
                    let answered = answered.map(|answered| answered.map(drop).map_err(|error| error.message));
                    let call = list(&step["summarizer_calls"]).into_iter().next();
                    let recorded = call
                        .filter(|call| !is_open(call))
                        .map(|call| answer(&call).map(drop));
                    if answered != recorded {
                        return Err(format!("answered {answered:?}, recorded {recorded:?}"));
                    }
                    let waits: Vec<f64> = (retention.health().failures > failed
                        && !retention.health().degraded)
                        .then(|| {
                            run.memory
                                .policy()
                                .wait(retention.health().failures)
                                .as_secs_f64()
                        })
                        .into_iter()
                        .collect();
                    return run.same_waits(&waits);
                }
            }
            Ok(())
        }
        "from_dict" => {
            *retention = super::scenarios::retention_state(&step["arg"], &json!({}), run.memory);
            Ok(())
        }
        "idle" => match retention.is_due(retention.health().next_attempt_at.as_deref().unwrap_or_default()) {
            true => Err("it is due".to_string()),
            false => Ok(()),
        },
        "summariser_released" => {
            // Requested in an earlier step; only the effect of the answer was recorded.
            let Some(requested) = in_flight.then(|| retention.clone()) else {
                return Ok(());
            };
            let mut requested = requested;
            let request = match requested.request(&at(run.now)) {
                Some(request) if before.is_some() => request,
                _ => return Err("nothing was asked".to_string()),
            };
            let summary = step["state"]["summary"].as_str().unwrap();
            let request = match run.scenario {
                "rolling_pending_in_flight-6" => request.first(1),
                _ => request,
            };
            retention
                .apply(&request, summary, &at(run.now), &run.cost)
                .map(drop)
                .map_err(|error| error.message)
        }
        "flush" => {
            let calls = list(&step["summarizer_calls"]);
            let (mut nth, mut waits) = (0, Vec::new());
            let mut now = run.now;
            // The wait requested by the previous step is over.
            let until = retention.health().clone();
            assert!(until.next_attempt_at.is_none() || retention.health().degraded);
            let memory = run.memory;
            let mut failures = until.failures;
            let flushed = retention.flush(
                at(now),
                &run.cost,
                |request| {
                    let Some(call) = calls.get(nth) else {
                        return Err("not recorded".to_string());
                    };
                    let _ = request;
                    nth += 1;
                    let answer = answer(call);
                    if answer.is_err() {
                        failures += 1;
                        waits.push(memory.policy().wait(failures).as_secs_f64());
                    }
                    answer
                },
                |_| now += 1.0,
            );
            flushed.map_err(|error| error.message)?;
            if nth < calls.len() {
                return Err("not all was asked".to_string());
            }
            run.same_waits(&waits)?;
            match step["raised"].as_str() {
                Some(raised) => Err(raised.to_string()),
                None => Ok(()),
            }
        }
        other => panic!("{other}"),
    }
}

/// Checks the expected difference from the recording.
fn instead(id: &str, run: &Step<'_>, retention: &Turns) {
    let now = now_of(retention);
    let recorded = &run.step["state"];
    let total = run.memory.total;
    let reason = DIFFERENT.iter().find(|(known, _)| *known == id).unwrap().1;
    match &reason[..reason.find(':').unwrap()] {
        "P2" if id.ends_with("-6") => assert_eq!(list(&now["pending"]).len(), 2, "{id}"),
        "P5" => assert_eq!(now["health"], "retry", "{id}"),
        "P6" => assert!(
            retention.tokens(&run.cost) > total || list(&now["turns"]).last() != Some(&run.step["arg"]),
            "{id}"
        ),
        "P7" | "P17" if id.ends_with("-2") => {
            assert_eq!(
                (&now["health"], retention.health().failures),
                (&json!("retry"), 1),
                "{id}"
            );
            assert_eq!(
                (list(&now["pending"]).len(), &now["summary"]),
                (1, &json!("")),
                "{id}"
            );
        }
        "P8" | "P9, P8" => {
            let summary = now["summary"].as_str().unwrap();
            assert!(run.cost.summary(summary) <= run.memory.summary, "{id}: {summary}");
            let tag = |tag: &str| summary.contains(tag);
            assert_eq!(tag("<session_summary>"), tag("</session_summary>"), "{id}");
            assert!(retention.tokens(&run.cost) <= total, "{id}");
            assert_eq!(
                list(&now["turns"]).last(),
                list(&json!([run.step["arg"]]))
                    .last()
                    .filter(|turn| !turn.is_null())
                    .or(list(&recorded["turns"]).last()),
                "{id}"
            );
        }
        "P9" => {
            assert_eq!(list(&now["turns"]), [run.step["arg"].clone()], "{id}");
            assert!(retention.tokens(&run.cost) > total, "{id}");
        }
        "P10" => {
            let waiting = list(&now["backlog"]).len() + list(&now["pending"]).len();
            assert!(
                waiting > list(&recorded["backlog"]).len() || id.ends_with("-7"),
                "{id}: {now}"
            );
        }
        _ => {}
    }
}
