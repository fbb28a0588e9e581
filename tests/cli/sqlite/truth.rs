//! Compares the output for public databases with their documented content.

use super::convo;
use crate::env::Env;
use crate::sample_data;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::path::PathBuf;

/// The databases of a system, and their documentation.
pub fn files(system: &str) -> Vec<(PathBuf, Value)> {
    let dir = sample_data::path("wild").join(system);
    let truth: Value = serde_json::from_slice(&std::fs::read(dir.join("truth.json")).unwrap()).unwrap();
    let files = truth["files"].as_object().unwrap();
    files
        .iter()
        .filter(|(name, _)| name.ends_with(".db"))
        .map(|(name, expected)| (dir.join(name), expected.clone()))
        .collect()
}

fn count(roles: &mut Map<String, Value>, role: &str, more: u64) {
    let known = roles.get(role).and_then(Value::as_u64).unwrap_or(0);
    roles.insert(role.to_string(), json!(known + more));
}

/// Counts the output in the terms of `truth.json`.
pub fn counts(env: &Env, stream: &str) -> Value {
    let mut counted: Map<String, Value> = Map::new();
    for name in [
        "tool_calls", "tool_results", "reasoning", "signed_reasoning", "summaries", "bad_lines",
    ] {
        counted.insert(name.to_string(), json!(0));
    }
    let (mut roles, mut view, mut usage) = (Map::new(), Map::new(), Map::new());
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for line in crate::env::objects(stream) {
        if line["type"] == "session" {
            let kind = match line["metadata"]["lineage"]["kind"].as_str() {
                Some("branch") => "branch_sessions",
                _ => "sessions",
            };
            count(&mut counted, kind, 1);
        }
        if line["type"] == "foreign" {
            count(&mut counted, "foreign_records", 1);
        }
        let Some(role) = line["role"].as_str() else {
            continue;
        };
        count(&mut roles, role, 1);
        let ids = line["tool_calls"].as_array().into_iter().flatten();
        calls.extend(ids.map(|call| call["id"].clone()));
        if role == "tool" {
            results.push(line["tool_call_id"].clone());
        }
        for part in line["reasoning"].as_array().into_iter().flatten() {
            count(&mut counted, "reasoning", 1);
            let signed = part["signature"].is_string() || part["encrypted_content"].is_string();
            count(&mut counted, "signed_reasoning", u64::from(signed));
        }
        for (name, own) in [("input_total", "input_tokens"), ("output", "output_tokens")] {
            count(&mut usage, name, line["usage"][own].as_u64().unwrap_or(0));
        }
    }
    for reported in env.pipe(&["count", "--json"], stream).fine().objects() {
        for (role, number) in reported["view"]["roles"].as_object().unwrap() {
            count(&mut view, role, number.as_u64().unwrap());
        }
    }
    let orphans = |ids: &[Value], others: &[Value]| {
        let others: HashSet<String> = others.iter().map(Value::to_string).collect();
        ids.iter().filter(|id| !others.contains(&id.to_string())).count()
    };
    counted.insert("orphan_calls".to_string(), json!(orphans(&calls, &results)));
    counted.insert("orphan_results".to_string(), json!(orphans(&results, &calls)));
    counted.insert("tool_calls".to_string(), json!(calls.len()));
    counted.insert("tool_results".to_string(), json!(results.len()));
    for (name, members) in [("messages", roles), ("view", view), ("usage", usage)] {
        counted.insert(name.to_string(), Value::Object(members));
    }
    Value::Object(counted)
}

/// Compares every database of a system with its documentation.
pub fn hold(system: &str) {
    let mut equal = 0;
    for (path, expected) in files(system) {
        let env = Env::new();
        let run = convo(&env, &[path.to_str().unwrap()]).fine();
        let counted = counts(&env, run.out());
        for (name, value) in expected.as_object().unwrap() {
            let same = match (name.as_str(), value) {
                ("origin" | "bytes" | "sha256" | "schema", _) => true,
                // Visible in the view and in the annotations of messages.
                ("hidden_from_agent" | "hidden_from_user", _) => true,
                ("usage", Value::Object(members)) => members.iter().all(|(name, value)| {
                    counted["usage"][name].as_u64().unwrap_or(0) == value.as_u64().unwrap()
                }),
                (_, Value::Number(number)) => counted[name].as_u64().unwrap_or(0) == number.as_u64().unwrap(),
                (_, value) => counted[name] == *value,
            };
            assert!(
                same,
                "{}: {name}: {} and not {value}",
                path.display(),
                counted[name]
            );
        }
        // A repeated run prints the same, and the output is a valid stream.
        convo(&env, &[path.to_str().unwrap()]).fine().gives(run.out());
        env.pipe(&["cat"], run.out()).fine().gives(run.out());
        equal += 1;
    }
    eprintln!("{system}: {equal} databases are what truth.json says");
}
