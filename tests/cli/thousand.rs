//! Maintains a PicoClaw directory with many operations and verifies it after each one with an independent reader.
//! `CONVO_OPERATIONS` sets the number, e.g. 1,000.

use crate::env::Env;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The content of a session as PicoClaw shows it: role and text of each message, and the sidecar's data.
#[derive(Debug, Default, PartialEq)]
struct Session {
    view: Vec<(String, String)>,
    skip: usize,
    summary: String,
    raw: usize,
}

/// Reads a session by PicoClaw's documented rules, without code of this program: splits lines at newlines, ignores
/// empty ones, skips the first `skip`, and hides lines that are not messages or contain only reasoning.
fn read(dir: &Path, name: &str) -> Session {
    let log = fs::read(dir.join(format!("{name}.jsonl"))).unwrap_or_default();
    let sidecar = fs::read(dir.join(format!("{name}.meta.json")));
    let sidecar: Value = sidecar.map_or(Value::Null, |bytes| {
        serde_json::from_slice(&bytes).expect("a sidecar")
    });
    let skip = sidecar["skip"].as_u64().unwrap_or(0) as usize;
    let lines: Vec<&[u8]> = log
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.is_empty())
        .collect();
    assert!(lines.iter().all(|line| line.len() < 10_485_760));
    let shown = |line: &&[u8]| {
        let line: Value = serde_json::from_slice(line).ok()?;
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_string();
        let reasoning = text("role") == "assistant"
            && text("content").trim().is_empty()
            && !text("reasoning_content").trim().is_empty()
            && line["tool_calls"].as_array().is_none_or(Vec::is_empty);
        (line["role"].is_string() && line["content"].is_string() && !reasoning)
            .then(|| (text("role"), text("content")))
    };
    Session {
        view: lines.iter().skip(skip).filter_map(shown).collect(),
        skip,
        summary: sidecar["summary"].as_str().unwrap_or_default().to_string(),
        raw: lines.len(),
    }
}

/// The messages and the summary of a stream.
fn of_stream(text: &str) -> (Vec<(String, String)>, Option<String>) {
    let (mut view, mut summary) = (Vec::new(), None);
    for line in text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
    {
        let content = || line["content"].as_str().unwrap_or_default().to_string();
        if let Some(role) = line["role"].as_str() {
            view.push((role.to_string(), content()));
        } else if line["type"] == "summary" {
            summary = Some(content());
        }
    }
    (view, summary)
}

/// Pseudorandom numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

struct Run<'e> {
    env: &'e Env,
    dice: Dice,
    /// The expected content of each session.
    known: [Session; 3],
    count: u64,
}

const NAMES: [&str; 3] = ["one", "agent_main_x", "three"];
const KEYS: [&str; 3] = ["one", "agent:main:x", "three"];

impl Run<'_> {
    fn dir(&self) -> std::path::PathBuf {
        self.env.work().join("s")
    }

    /// Runs the program on a session's log; 65 reports damage left by another program.
    fn command(&self, nth: usize, arguments: &[&str]) -> crate::env::Run {
        let path = format!("s/{}.jsonl", NAMES[nth]);
        let run = self.env.run(&[&[arguments[0], &path], &arguments[1..]].concat());
        assert!(matches!(run.status, 0 | 65), "{run}");
        run
    }

    fn exchange(&mut self, nth: usize) {
        let long = "and a long story ".repeat(self.dice.below(30) as usize);
        for role in ["user", "assistant"] {
            self.count += 1;
            let text = format!("{role} says {} <&> {long}", self.count)
                .trim_end()
                .to_string();
            self.command(nth, &["append", "-i", "-r", role, &text]);
            self.known[nth].view.push((role.to_string(), text));
        }
    }

    /// Damages the log as other programs do: a partial line, or an invalid one.
    fn damage(&mut self, nth: usize) {
        let path = self.dir().join(format!("{}.jsonl", NAMES[nth]));
        let mut log = fs::read(&path).unwrap();
        if log.last().is_some_and(|last| *last != b'\n') {
            return;
        }
        log.extend_from_slice(match self.dice.below(3) {
            0 => b"{\"role\":\"user\",\"content\":\"half",
            1 => b"no json at all\n",
            _ => b"{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":\"only thinking\"}\n",
        });
        fs::write(path, log).unwrap();
    }

    /// Runs one operation; returns its name.
    fn operate(&mut self, nth: usize) -> &'static str {
        match self.dice.below(20) {
            0..=7 => {
                self.exchange(nth);
                "append"
            }
            8..=9 => {
                let keep = self.dice.below(5) as usize;
                self.command(nth, &["truncate", "-i", "--keep-last", &keep.to_string()]);
                let view = &mut self.known[nth].view;
                view.drain(..view.len().saturating_sub(2 * keep));
                "truncate"
            }
            10..=12 => {
                let budget = (100 + self.dice.below(400)).to_string();
                let options = ["compact", "--budget", &budget, "--best-effort"];
                let path = format!("s/{}.jsonl", NAMES[nth]);
                // As a filter it prints the result.
                let filter = self
                    .env
                    .run(&[&[options[0], path.as_str(), "-q"], &options[1..]].concat());
                let run = self
                    .env
                    .run(&[&[options[0], path.as_str(), "-i"], &options[1..]].concat());
                assert!(matches!(run.status, 0 | 1 | 65), "{run}");
                let (view, summary) = of_stream(filter.out());
                self.known[nth].view = view;
                if let Some(summary) = summary {
                    self.known[nth].summary = summary;
                }
                "compact"
            }
            13..=14 => {
                self.command(nth, &["gc", "-i"]);
                self.known[nth].skip = 0;
                "gc"
            }
            15..=16 => {
                let alias = format!("alias {}", self.dice.below(4));
                let holder = |env: &Env| env.run(&["alias", "--picoclaw", "s", "resolve", &alias]);
                let before = holder(self.env);
                if before.status == 0 {
                    self.env
                        .run(&["alias", "--picoclaw", "s", "remove", &alias])
                        .status(0);
                    assert_eq!(holder(self.env).status, 66);
                } else {
                    self.env
                        .run(&["alias", "--picoclaw", "s", "add", &alias, KEYS[nth]])
                        .status(0);
                    assert_eq!(holder(self.env).out().trim_end(), KEYS[nth]);
                }
                "alias"
            }
            17 => {
                let before = read(&self.dir(), NAMES[nth]);
                let run = self.env.run(&["fsck", "-q", "--repair", "s"]);
                assert!(matches!(run.status, 0 | 1), "{run}"); // 1: a damaged line remains
                assert_eq!(read(&self.dir(), NAMES[nth]).view, before.view);
                "fsck"
            }
            _ => {
                self.damage(nth);
                "damage"
            }
        }
    }
}

#[test]
fn a_directory_is_maintained() {
    let wanted = std::env::var("CONVO_OPERATIONS").ok();
    let operations: u64 = wanted.map_or(60, |number| number.parse().expect("a number"));
    let env = Env::new();
    for (name, key) in NAMES.iter().zip(KEYS) {
        env.write(&format!("s/{name}.jsonl"), "");
        let sidecar = format!("{{\"key\":\"{key}\",\"summary\":\"\",\"skip\":0,\"count\":0,\"x\":[1]}}");
        env.write(&format!("s/{name}.meta.json"), sidecar);
    }
    let mut run = Run {
        env: &env,
        dice: Dice(0x9E37_79B9_7F4A_7C15),
        known: Default::default(),
        count: 0,
    };
    let mut done = std::collections::BTreeMap::<&str, u64>::new();
    for operation in 0..operations {
        let nth = run.dice.below(3) as usize;
        let name = run.operate(nth);
        *done.entry(name).or_default() += 1;
        for (nth, file) in NAMES.iter().enumerate() {
            let is = read(&run.dir(), file);
            let known = &run.known[nth];
            let at = format!("operation {operation} ({name}), session {file}");
            assert_eq!(is.view, known.view, "{at}");
            assert_eq!(is.summary, known.summary, "{at}");
            assert!(is.skip <= is.raw, "{at}: {} of {}", is.skip, is.raw);
            if name == "gc" && known.skip == 0 && is.skip == 0 {
                assert!(
                    !fs::read_to_string(run.dir().join(format!("{file}.jsonl")))
                        .unwrap()
                        .contains("\"-\"}"),
                    "{at}"
                );
            }
        }
        // This program shows the same.
        let shown = env.run(&["context", "-q", &format!("s/{}.jsonl", NAMES[nth])]);
        assert_eq!(
            of_stream(shown.out()).0,
            run.known[nth].view,
            "operation {operation} ({name})"
        );
    }
    // No message is lost: it is in a log or an archive, in its original form or compacted.
    let mut all = String::new();
    for name in NAMES {
        all += &fs::read_to_string(run.dir().join(format!("{name}.jsonl"))).unwrap();
        all +=
            &fs::read_to_string(run.dir().join(format!(".convo/archive/{name}.jsonl"))).unwrap_or_default();
    }
    for nth in 1..=run.count {
        assert!(all.contains(&format!("says {nth} ")), "{nth} of {}", run.count);
    }
    let left = fs::read_dir(run.dir()).unwrap().count();
    assert_eq!(left, 6 + usize::from(run.dir().join(".convo").exists()));
    eprintln!("{operations} operations, {} messages: {done:?}", run.count);
}
