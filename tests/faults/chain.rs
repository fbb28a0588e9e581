//! Many appenders fill a chain of sessions concurrently, some of them killed at random. The result must be one chain
//! without forks that has every acknowledged message once, in the order of each appender.

use super::Faults;
use super::chance::Chance;
use super::check::shown;
use super::place::{CONVO, Place};
use super::report::Tally;
use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const WRITERS: usize = 8;

/// The message limit of a session.
const LIMIT: usize = 20;

pub fn run(faults: &Faults, tally: &Tally) {
    let each = if faults.long { 1000 } else { 60 };
    for kills in [false, true] {
        together(faults, tally, each, kills);
    }
}

fn together(faults: &Faults, tally: &Tally, each: usize, kills: bool) {
    let place = Place::new();
    place.sets_up(&["new", "--id", "chat", "--system", "Be brief.", "--alias", "trip"]);
    let acknowledged: Mutex<Vec<String>> = Mutex::default();
    let (place, acknowledged) = (&place, &acknowledged);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let mut chance = Chance::new(faults.seed, &format!("chain {writer}"));
                for nth in 0..each {
                    let text = format!("{writer} {nth:04}");
                    let role = ["user", "assistant"][nth % 2];
                    let name = ["chat", "trip"][nth / 2 % 2];
                    let limit = LIMIT.to_string();
                    let arguments = ["append", "-q", name, "-r", role, &text, "--boundary", &limit];
                    let done = if kills && chance.coin() {
                        killed(place, &mut chance, &arguments)
                    } else {
                        let outcome = place.convo(&arguments);
                        let right = if outcome.status == 0 {
                            Ok(())
                        } else {
                            Err(shown(&outcome))
                        };
                        tally.count(right, || {
                            format!("{WRITERS} appenders fill a chain, kills: {kills}: {text}")
                        });
                        outcome.status == 0
                    };
                    if done {
                        acknowledged
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(text);
                    }
                }
            });
        }
    });
    place.sets_up(&[
        "append", "-q", "trip", "-r", "assistant", "the last", "--boundary", "9999",
    ]);
    let all = acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(why) = judge(place, &all, kills) {
        tally.bad(format!(
            "{WRITERS} x {each} appends to a chain, kills: {kills}: {why}"
        ));
    }
}

/// Runs a command and kills it at a random time; returns whether it had finished successfully before.
fn killed(place: &Place, chance: &mut Chance, arguments: &[&str]) -> bool {
    let mut command = place.program(CONVO);
    command.args(arguments).env_remove("CONVO_SEED");
    let piped = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = piped.spawn().unwrap();
    std::thread::sleep(Duration::from_micros(chance.below(12_000) as u64));
    let _ = child.kill();
    child.wait().unwrap().success()
}

fn judge(place: &Place, acknowledged: &[String], kills: bool) -> Result<(), String> {
    let joined = place.convo(&["join", "chat", "--stdout"]);
    if joined.status != 0 && !(kills && joined.status == 65) {
        return Err(format!("join: {}", shown(&joined)));
    }
    let mut order: Vec<String> = Vec::new();
    let mut chain = 0;
    for line in String::from_utf8_lossy(&joined.stdout).lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        chain = chain.max(value["metadata"]["joined"].as_array().map_or(0, Vec::len));
        order.extend(value["content"].as_str().map(str::to_string));
    }
    let mut found: HashMap<&str, usize> = HashMap::new();
    order.iter().for_each(|text| *found.entry(text).or_default() += 1);
    let missing: Vec<_> = acknowledged
        .iter()
        .filter(|text| found.get(text.as_str()) != Some(&1))
        .take(5)
        .collect();
    if !missing.is_empty() {
        return Err(format!("acknowledged, and not there once: {missing:?}"));
    }
    for writer in 0..WRITERS {
        let own: Vec<&String> = order
            .iter()
            .filter(|text| text.starts_with(&format!("{writer} ")))
            .collect();
        if !own.is_sorted() {
            return Err(format!("the messages of appender {writer} are out of order"));
        }
    }
    let listed = place.convo(&["list", "--json"]);
    let rows: Vec<serde_json::Value> = String::from_utf8_lossy(&listed.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_default())
        .collect();
    if rows.len() != chain || chain < acknowledged.len() / LIMIT {
        return Err(format!("{} sessions, and {chain} in the chain", rows.len()));
    }
    let longest = rows.iter().filter_map(|row| row["messages"].as_u64()).max();
    if longest.is_none_or(|longest| longest > LIMIT as u64 + 1) {
        return Err(format!("a session of {longest:?} messages"));
    }
    let checked = place.convo(&["fsck"]);
    match checked.status {
        0 => Ok(()),
        // A killed writer leaves a partial line.
        1 if kills && !String::from_utf8_lossy(&checked.stdout).contains("link") => Ok(()),
        _ => Err(format!("fsck: {}", shown(&checked))),
    }
}
