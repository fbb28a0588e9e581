//! Concurrency: eight appending processes while others cut, restore, gc and repair, next to a program that appends
//! without the lock; and appenders that are killed at random. Every acknowledged message must exist exactly once.

use super::Faults;
use super::chance::Chance;
use super::check::shown;
use super::log::{self, Seal};
use super::place::{CONVO, Place};
use super::report::Tally;
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const WRITERS: usize = 8;

/// Longest time that writers continue until a gc has archived messages: on a fast machine they end before its first run.
const PATIENCE: Duration = Duration::from_secs(60);

/// Concurrent appenders with cuts, and a foreign writer in the second half.
pub fn run(faults: &Faults, tally: &Tally) {
    let each = if faults.long { 1000 } else { 100 };
    for foreign in [false, true] {
        together(tally, each / 2, foreign);
    }
}

fn session() -> Place {
    let place = Place::new();
    place.sets_up(&["new", "--id", "chat"]);
    place
}

/// Other content that a log may have besides valid, checked lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Besides {
    Nothing,
    /// Lines of a program that writes no checksums.
    Foreign,
    /// Partial lines left by processes killed during a write.
    Torn,
}

/// Checks that every acknowledged text exists once; returns the number of partial lines.
fn judge(place: &Place, acknowledged: &[String], besides: Besides) -> Result<usize, String> {
    let log = std::fs::read(place.log("chat")).unwrap();
    let lines = log::lines(&log);
    let mut found: HashMap<String, usize> = HashMap::new();
    // Archived lines count too.
    let archive = std::fs::read(place.store().join("archive/chat.jsonl")).unwrap_or_default();
    for (line, _) in log::lines(&archive) {
        let value = serde_json::from_slice::<serde_json::Value>(line).unwrap_or_default();
        if let Some(text) = value["content"].as_str() {
            *found.entry(text.to_string()).or_default() += 1;
        }
    }
    let (mut wrong, mut torn) = (Vec::new(), 0);
    for (number, (line, seal)) in lines.iter().enumerate() {
        // Seen before its writer had written all of it: a blank line is not damage.
        if line.trim_ascii().is_empty() && besides == Besides::Foreign {
            continue;
        }
        let value = serde_json::from_slice::<serde_json::Value>(line);
        let begins = b"{\"role\":\"user\"";
        let begins = line.starts_with(begins) || begins.starts_with(line);
        let is_torn = value.is_err() && *seal == Seal::Missing && begins;
        if is_torn && besides == Besides::Torn {
            torn += 1;
        } else if value.is_err()
            || *seal == Seal::Wrong
            || besides == Besides::Nothing && *seal != Seal::Right
        {
            wrong.push(format!(
                "line {}: {seal:?} {}",
                number + 1,
                String::from_utf8_lossy(line)
            ));
        }
        if let Some(text) = value
            .ok()
            .and_then(|value| value["content"].as_str().map(str::to_string))
        {
            *found.entry(text).or_default() += 1;
        }
    }
    let missing: Vec<_> = acknowledged
        .iter()
        .filter(|text| found.get(*text) != Some(&1))
        .collect();
    if !missing.is_empty() {
        let times: Vec<_> = missing
            .iter()
            .take(5)
            .map(|text| (text, found.get(*text)))
            .collect();
        return Err(format!(
            "{} acknowledged are not there once: {times:?}",
            missing.len()
        ));
    }
    if !wrong.is_empty() {
        return Err(format!(
            "{} lines are wrong: {}",
            wrong.len(),
            wrong[..wrong.len().min(3)].join("; ")
        ));
    }
    Ok(torn)
}

fn together(tally: &Tally, each: usize, foreign: bool) {
    let place = session();
    let acknowledged = Mutex::new(Vec::new());
    let running = AtomicUsize::new(WRITERS);
    let (place, acknowledged, running) = (&place, &acknowledged, &running);
    // A file that a foreign program has open must not be changed, so no gc can be waited for.
    let collected = || foreign || place.store().join("archive/chat.jsonl").exists();
    let begin = Instant::now();
    let add = |text: String| {
        acknowledged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text)
    };
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                for nth in 0.. {
                    if nth >= each {
                        if collected() || begin.elapsed() > PATIENCE {
                            break;
                        }
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    let text = format!("writer {writer} message {nth}");
                    // Questions and answers, so that there are exchanges to cut.
                    let role = ["user", "assistant"][nth % 2];
                    let outcome = place.convo(&["append", "chat", "-r", role, &text]);
                    tally.count(
                        if outcome.status == 0 {
                            Ok(())
                        } else {
                            Err(shown(&outcome))
                        },
                        || format!("{WRITERS} appenders, foreign writer: {foreign}: {text}"),
                    );
                    if outcome.status == 0 {
                        add(text);
                    }
                }
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
        scope.spawn(move || {
            while running.load(Ordering::Relaxed) > 0 {
                for arguments in [
                    &["truncate", "chat", "--keep-last", "3", "-q"][..],
                    &["gc", "chat", "-q"],
                    &["truncate", "chat", "--keep-last", "2", "-q"],
                    &["restore", "chat", "-q"],
                    &["fsck", "chat", "--repair", "-q"],
                ] {
                    let outcome = place.convo(arguments);
                    // Either the log changed too often, or there is nothing to undo; both are reported.
                    if ![0, 1, 75].contains(&outcome.status) {
                        tally.bad(format!("{arguments:?} beside appenders: {}", shown(&outcome)));
                    }
                }
            }
        });
        if foreign {
            scope.spawn(move || {
                for nth in 0.. {
                    if running.load(Ordering::Relaxed) == 0 {
                        break;
                    }
                    let text = format!("foreign message {nth}");
                    let mut file = OpenOptions::new().append(true).open(place.log("chat")).unwrap();
                    file.write_all(format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n").as_bytes())
                        .unwrap();
                    add(text);
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
    });
    let all = acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(why) = judge(
        place,
        &all,
        if foreign {
            Besides::Foreign
        } else {
            Besides::Nothing
        },
    ) {
        tally.bad(format!(
            "at least {WRITERS} x {each} appends, foreign writer: {foreign}: {why}"
        ));
    }
    if !collected() {
        tally.bad("no gc came to do anything beside the appenders".to_string());
    }
    let outcome = place.convo(&["cat", "chat"]);
    if outcome.status != 0 {
        tally.bad(format!("cat after the crowd: {}", shown(&outcome)));
    }
}

/// Appenders killed after a random part of the time that an append takes under this load: slowly fed streams, and
/// single appends.
pub fn killed(faults: &Faults, tally: &Tally) {
    let kills = if faults.long { 10_000 } else { 1000 };
    let place = session();
    let (place, left) = (&place, &AtomicUsize::new(kills));
    let acknowledged = &Mutex::new(Vec::new());
    let whole = duration(place);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let mut chance = Chance::new(faults.seed, &format!("killer {writer}"));
                let take =
                    || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                while let Ok(number) = take() {
                    let known = if chance.coin() {
                        stream(place, &mut chance, number, whole)
                    } else {
                        single(place, &mut chance, number, whole)
                    };
                    acknowledged
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .extend(known);
                    tally.fine(1);
                }
            });
        }
    });
    let all = acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
    if all.len() < kills / 20 {
        tally.bad(format!(
            "{} acknowledged messages in {kills} runs prove nothing",
            all.len()
        ));
    }
    let torn = judge(place, &all, Besides::Torn).unwrap_or_else(|why| {
        tally.bad(format!(
            "{kills} appenders killed at random, {} acknowledged: {why}",
            all.len()
        ));
        0
    });
    let log = std::fs::read(place.log("chat")).unwrap();
    if let Err(why) = super::check::appends(place, "chat", &log, if torn > 0 { 65 } else { 0 }) {
        tally.bad(format!("after {kills} kills: {why}"));
    }
}

/// The median duration of an append next to the other writers, from start to exit.
fn duration(place: &Place) -> Duration {
    let times = &Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                for _ in 0..5 {
                    let begin = Instant::now();
                    place.sets_up(&["append", "chat", "whole"]);
                    let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
                    times.push(begin.elapsed());
                }
            });
        }
    });
    let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
    times.sort_unstable();
    times[times.len() / 2]
}

/// A random time below `limit`.
fn random(chance: &mut Chance, limit: Duration) -> Duration {
    Duration::from_micros(chance.below(limit.as_micros() as usize) as u64)
}

fn started(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.program(CONVO);
    command.args(arguments).env_remove("CONVO_SEED");
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    piped.spawn().unwrap()
}

/// Runs a stream that prints each stored message; returns the texts printed before it was killed.
fn stream(place: &Place, chance: &mut Chance, number: usize, whole: Duration) -> Vec<String> {
    let mut child = started(place, &["append", "chat", "--stream", "--json"]);
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let reported = BufReader::new(stdout).split(b'\n').map_while(Result::ok);
        let texts = reported.filter_map(|line| {
            let value: serde_json::Value = serde_json::from_slice(&line).ok()?;
            Some(value["content"].as_str()?.to_string())
        });
        texts.collect::<Vec<String>>()
    });
    let end = Instant::now() + whole / 4 + random(chance, 2 * whole);
    for nth in 0.. {
        let line = format!("{{\"role\":\"user\",\"content\":\"stream {number} message {nth}\"}}\n");
        if Instant::now() > end || stdin.write_all(line.as_bytes()).is_err() {
            break;
        }
        std::thread::sleep(random(chance, whole / 16));
    }
    let _ = child.kill();
    let _ = child.wait();
    drop(stdin);
    reader.join().unwrap()
}

/// Appends one message; acknowledged if the process exited with 0 before it was killed.
fn single(place: &Place, chance: &mut Chance, number: usize, whole: Duration) -> Vec<String> {
    let text = format!("single {number}");
    let mut child = started(place, &["append", "chat", &text]);
    std::thread::sleep(random(chance, 2 * whole));
    let _ = child.kill();
    let status = child.wait().unwrap();
    if status.success() { vec![text] } else { Vec::new() }
}
