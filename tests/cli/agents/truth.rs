//! Compares the homes of the sample data with their documented content.

use crate::env::{Env, Run};
use crate::sample_data;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Expected differences, by program or name and member, with the reason.
const DEVIATIONS: [(&str, &str); 4] = [
    (
        "opencode:s_stage0_large updated",
        "the time of its last message counts",
    ),
    (
        "opencode:ses_019e998f144b7d0975547d0ed3 messages",
        "the program orders parts by their ids, which are not in order in the sample",
    ),
    (
        "gemini-cli:eae05d18-0d74-4354-814e-0227a736ad82 title",
        "the program's own summary is its title",
    ),
    ("aichat:syn-compressed model", "the model of the session is known"),
];

/// Expected differences without the plugin that reads databases.
const WITHOUT_PLUGIN: [(&str, &str); 9] = [
    ("llm", "its sessions are in a database"),
    ("opencode", "most of its sessions are in a database"),
    ("goose", "most of its sessions are in a database"),
    ("opencode:ses_019e998f144b7d0975547d0ed3", "in a database"),
    ("goose:20260601_2", "in a database"),
    ("goose:20260601_1", "in a database"),
    ("llm:01k3c6c18c9d2fe89035cdffd4", "in a database"),
    ("llm:01k0416ed6dc7ee00d92479b40", "in a database"),
    (
        "opencode:s_stage0_small",
        "the file is listed, since the database is not read",
    ),
];

/// Programs whose formats were added after the sample data was created.
const READ_SINCE: [&str; 2] = ["copilot-cli", "qwen-code"];

pub struct Sample {
    pub env: Env,
    pub truth: Value,
    /// Whether the plugin that reads databases is installed.
    has_plugin: bool,
}

impl Sample {
    /// Copies the homes with their times; the plugin that reads databases is not installed.
    pub fn new() -> Sample {
        let env = Env::new();
        let source = sample_data::path("homes");
        let home = env.root().join("home");
        std::fs::remove_dir(&home).unwrap();
        copy(&source.join("home"), &home);
        let times = std::fs::read_to_string(source.join("mtimes.tsv")).unwrap();
        for line in times.lines() {
            let (path, time) = line.split_once('\t').unwrap();
            let time: jiff::Timestamp = time.parse().unwrap();
            let file = std::fs::File::options()
                .write(true)
                .open(home.join(path))
                .unwrap();
            file.set_modified(time.into()).unwrap();
        }
        let truth = std::fs::read(source.join("truth.json")).unwrap();
        Sample {
            env,
            truth: serde_json::from_slice(&truth).unwrap(),
            has_plugin: false,
        }
    }

    /// Installs the plugin that reads databases.
    #[cfg(feature = "sqlite")]
    pub fn with_plugin() -> Sample {
        Sample {
            has_plugin: true,
            ..Sample::new()
        }
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        let mut command = match self.has_plugin {
            true => self.env.command(arguments),
            false => self.env.command_without_plugins(arguments),
        };
        command
            .env("CONVO_NOW", self.truth["now"].as_str().unwrap())
            .env("USERPROFILE", self.env.root().join("home"))
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME");
        self.env.wait(command)
    }

    fn path(&self, path: &str) -> String {
        self.env.root().join("home").join(path).display().to_string()
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(std::fs::copy(&path, to).unwrap()),
        }
    }
}

/// Collects the members that differ.
fn compare(name: &str, known: &Value, found: &Value, differing: &mut Vec<String>) -> usize {
    let members = known.as_object().unwrap();
    for (member, value) in members {
        // Unknown in the sample data.
        if member == "bytes" && value.is_null() {
            continue;
        }
        if found[member] != *value {
            differing.push(format!("{name} {member}: {} and not {value}", found[member]));
        }
    }
    members.len()
}

fn is_known(sample: &Sample, difference: &str) -> bool {
    let without = WITHOUT_PLUGIN.iter().filter(|_| !sample.has_plugin);
    let known = DEVIATIONS.iter().chain(without).map(|(start, _)| *start);
    known.chain(READ_SINCE).any(|start| {
        let after = difference.strip_prefix(start);
        after.is_some_and(|after| {
            after.is_empty() || after.starts_with(' ') || (start.contains(' ') && after.starts_with(':'))
        })
    })
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn homes_and_sessions_match_the_expected_lists() {
    homes_and_sessions(&Sample::new());
}

/// Compares the homes and sessions printed by `agents` and `list`.
pub fn homes_and_sessions(sample: &Sample) {
    let (mut members, mut differing) = (0, Vec::new());
    let run = sample.run(&["agents", "--json"]).status(0);
    let mut found: BTreeMap<String, Value> = run
        .objects()
        .into_iter()
        .map(|home| (home["root"].as_str().unwrap().to_string(), home))
        .collect();
    for known in sample.truth["agents"].as_array().unwrap() {
        let mut known = known.clone();
        let root = sample.path(known["root"].as_str().unwrap());
        known["root"] = root.as_str().into();
        let home = found.remove(&root).unwrap_or_else(|| panic!("no home at {root}"));
        members += compare(known["program"].as_str().unwrap(), &known, &home, &mut differing);
    }
    assert!(found.is_empty(), "{found:?}");
    let run = sample.run(&["list", "--agents", "--json"]).status(0);
    let mut found: BTreeMap<String, Value> = run
        .objects()
        .into_iter()
        .map(|one| (one["name"].as_str().unwrap().to_string(), one))
        .collect();
    for known in sample.truth["list"].as_array().unwrap() {
        let mut known = known.clone();
        let name = known["name"].as_str().unwrap().to_string();
        known["path"] = sample.path(known["path"].as_str().unwrap()).into();
        if known["project"] == "@HOME@" {
            known["project"] = sample.path("").trim_end_matches('/').into();
        }
        match found.remove(&name) {
            Some(session) => members += compare(&name, &known, &session, &mut differing),
            None => differing.push(name),
        }
    }
    found.retain(|_, session| !READ_SINCE.contains(&session["program"].as_str().unwrap()));
    assert!(found.is_empty(), "{found:?}");
    let unknown: Vec<&String> = differing
        .iter()
        .filter(|difference| !is_known(sample, difference))
        .collect();
    eprintln!("{members} members, {} known to differ", differing.len());
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn searches_find_the_expected_matches() {
    searches(&Sample::new());
}

/// Compares the results of every search.
pub fn searches(sample: &Sample) {
    let mut count = 0;
    for search in sample.truth["search"].as_array().unwrap() {
        let words: Vec<&str> = search["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap())
            .collect();
        let Some(hits) = search["hits"].as_array() else {
            let run = sample.run(&[&["search", "-q"], &words[..]].concat()).fine();
            assert_eq!(run.out().lines().next(), search["first"].as_str(), "{words:?}");
            continue;
        };
        let run = sample.run(&[&["search", "--json"], &words[..]].concat());
        let line = |hit: &Value, name: &str| {
            ["role", "part", "text"]
                .iter()
                .fold(hit[name].as_str().unwrap().to_string(), |line, member| {
                    line + "\t" + hit[member].as_str().unwrap()
                })
        };
        let hits_found = run.objects();
        let is_old = |hit: &&Value| {
            let program = hit["name"].as_str().unwrap().split(':').next().unwrap();
            !READ_SINCE.contains(&program)
        };
        let found = hits_found.iter().filter(is_old);
        let mut found: Vec<String> = found.map(|hit| line(hit, "name")).collect();
        let is_read = |hit: &&Value| !is_known(sample, hit["session"].as_str().unwrap());
        let mut known: Vec<String> = hits
            .iter()
            .filter(is_read)
            .map(|hit| line(hit, "session"))
            .collect();
        found.sort();
        known.sort();
        assert_eq!(found, known, "{words:?}");
        assert_eq!(run.status, i32::from(known.is_empty()), "{words:?}: {run}");
        count += known.len();
    }
    eprintln!("{count} matching lines");
    assert!(count > 10);
}
