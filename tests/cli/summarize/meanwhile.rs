//! Tests changes by other processes while a summary is written by a program or in two steps: no acknowledged message
//! is lost, and the summary covers exactly its input or is rejected.

use super::{answered, last_event, stored, view};
use crate::ask::failing::await_file;
use crate::env::{Env, Run};
use std::process::Stdio;

/// How the summary is written.
#[derive(Clone, Copy, Debug)]
enum SummaryMethod {
    Program,
    TwoSteps,
}

const METHODS: [SummaryMethod; 2] = [SummaryMethod::Program, SummaryMethod::TwoSteps];

/// Summarizes the session `talk` and runs `meanwhile` between request and answer.
#[must_use]
fn during(env: &Env, method: SummaryMethod, meanwhile: impl FnOnce(&Env)) -> Run {
    match method {
        SummaryMethod::Program => {
            let line =
                "cmd:cat > /dev/null; touch begun; while ! test -e go; do sleep 0.01; done; echo Beans.";
            let mut command = env.command(&["summarize", "talk", "--with", line]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().unwrap();
            await_file(env, "begun");
            meanwhile(env);
            env.write("go", "");
            env.ended(child)
        }
        SummaryMethod::TwoSteps => {
            let request = env.run(&["summarize", "talk", "--request"]).fine();
            meanwhile(env);
            env.pipe(
                &["summarize", "talk", "--apply", "-"],
                answered(&request, "Beans."),
            )
        }
    }
}

/// Every line of the session, including archived ones.
fn everything(env: &Env) -> String {
    let log = env.run(&["cat", "talk"]).fine().out().to_string();
    let archive = env.store().join("archive/talk.jsonl");
    log + &std::fs::read_to_string(archive).unwrap_or_default()
}

/// The message lines.
fn messages(env: &Env) -> Vec<String> {
    let all = everything(env);
    let messages = all.lines().filter(|line| line.starts_with("{\"role\""));
    // An archived line has a checksum.
    messages
        .map(|line| {
            line.split(",\"_crc\"")
                .next()
                .unwrap()
                .trim_end_matches('}')
                .to_string()
        })
        .collect()
}

#[track_caller]
fn nothing_is_lost(env: &Env, before: &[String]) {
    let now = messages(env);
    for line in before {
        assert!(now.contains(line), "lost: {line}");
    }
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn concurrent_appends_are_kept() {
    for method in METHODS {
        let env = stored(6);
        let before = messages(&env);
        let run = during(&env, method, |env| {
            let writers = (0..4).map(|writer| {
                format!("for nth in 0 1 2 3 4; do convo append talk \"said {writer} $nth\" || echo failed; done & ")
            });
            env.shell(&format!("{}wait", writers.collect::<String>()))
                .fine()
                .gives("");
        });
        assert_eq!(run.status, 0, "{method:?}: {run}");
        nothing_is_lost(&env, &before);
        let shown = view(&env, "talk");
        assert!(shown[1].ends_with("Beans."), "{shown:?}");
        assert_eq!(shown.len(), 2 + 4 - 2 + 20 + 2, "{shown:?}");
        let context = env.run(&["context", "talk"]).fine();
        for writer in 0..4 {
            let places: Vec<usize> = (0..5)
                .map(|nth| context.out().find(&format!("\"said {writer} {nth}\"")).unwrap())
                .collect();
            assert!(places.is_sorted(), "{method:?}: {context}");
        }
    }
}

#[test]
fn a_concurrent_gc_removes_nothing_from_the_summary() {
    for method in METHODS {
        let env = stored(6);
        env.run(&["truncate", "-q", "talk", "--before", "u1"]).fine();
        let before = messages(&env);
        let run = during(&env, method, |env| {
            let log = std::fs::read(env.log("talk")).unwrap();
            env.run(&["gc", "-q", "talk"]).fine();
            assert!(
                std::fs::read(env.log("talk")).unwrap().len() < log.len(),
                "it took something out"
            );
            env.run(&["append", "talk", "By the way."]).fine();
        });
        assert_eq!(run.status, 0, "{method:?}: {run}");
        nothing_is_lost(&env, &before);
        let shown = view(&env, "talk");
        assert!(shown[1].ends_with("Beans.") && shown[2] == "u4", "{shown:?}");
        assert_eq!(shown.len(), 7, "{shown:?}");
    }
}

#[test]
fn a_concurrent_cut_into_the_range_wins() {
    for method in METHODS {
        let env = stored(6);
        let before = messages(&env);
        let mut log = Vec::new();
        let run = during(&env, method, |env| {
            env.run(&["truncate", "-q", "talk", "--keep-last", "1"]).fine();
            log = std::fs::read(env.log("talk")).unwrap();
        });
        assert_eq!(run.status, 75, "{method:?}: {run}");
        assert!(std::fs::read(env.log("talk")).unwrap() == log, "{method:?}");
        nothing_is_lost(&env, &before);
    }
}

#[test]
fn concurrently_restored_messages_are_kept() {
    for method in METHODS {
        let env = stored(6);
        env.run(&["truncate", "-q", "talk", "--before", "u1"]).fine();
        let before = messages(&env);
        let run = during(&env, method, |env| {
            env.run(&["restore", "-q", "talk"]).fine();
        });
        nothing_is_lost(&env, &before);
        let shown = view(&env, "talk");
        // Either the restored messages are in the view, or the summary is.
        let covered = last_event(&env, "talk")["type"] == "summary";
        assert_eq!(
            (run.status, covered),
            if covered { (0, true) } else { (75, false) },
            "{method:?}: {run}"
        );
        assert!(shown.contains(&"u0".to_string()), "{method:?}: {shown:?}");
        assert!(
            shown.contains(&"u4".to_string()) && shown.contains(&"a5".to_string()),
            "{shown:?}"
        );
        assert_eq!(
            shown.contains(&"u2".to_string()),
            !covered,
            "{method:?}: {shown:?}"
        );
    }
}

#[test]
fn a_removed_session_is_not_recreated() {
    for method in METHODS {
        let env = stored(6);
        let run = during(&env, method, |env| {
            env.run(&["remove", "-q", "talk"]).fine();
        });
        assert_eq!(run.status, 66, "{method:?}: {run}");
        env.run(&["restore", "-q", "talk"]).fine();
        assert_eq!(view(&env, "talk").len(), 15);
    }
}
