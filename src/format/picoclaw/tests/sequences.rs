//! Applies sequences of operations to a session, and reads the files after each.

use super::super::line::MessageLine;
use super::super::member::ParseRules;
use super::super::raw::lines;
use super::fixtures::{fixtures, json_lines, texts};
use super::read_pair;
use serde_json::{Value, json as value};

/// The session directory after each operation; the skip count of a truncation is taken from the fixture, because it is
/// tested with the writer.
#[derive(Default)]
struct Directory {
    lines: String,
    skip: u64,
    summary: String,
}

impl Directory {
    fn write(&mut self, messages: &Value) {
        for message in messages.as_array().unwrap() {
            let raw = message.to_string();
            if !MessageLine::read(raw.as_bytes(), ParseRules::Log)
                .unwrap()
                .is_reasoning_only()
            {
                self.lines.push_str(&raw);
                self.lines.push('\n');
            }
        }
    }

    fn apply(&mut self, operation: &Value) {
        let after = &operation["after"];
        match operation["op"].as_str().unwrap() {
            "append" => self.write(&operation["messages"]),
            "append_thought" => self.write(&value!([operation["message"]])),
            "raw_append" => self.lines.push_str(operation["bytes"].as_str().unwrap()),
            "set_summary" => self.summary = operation["text"].as_str().unwrap().to_string(),
            "set_history" => {
                self.lines.clear();
                self.write(&operation["messages"]);
            }
            "compact" if self.skip > 0 => {
                let text = |one: &Value| value!({"role": "user", "content": one});
                self.lines.clear();
                self.write(&after["visible"].as_array().unwrap().iter().map(text).collect());
            }
            "compact" | "truncate" => {}
            other => panic!("{other}"),
        }
        self.skip = after["skip"].as_u64().unwrap();
    }
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn views_are_equal_after_every_step() {
    let root = fixtures();
    let sequences = json_lines(&root.join("sequences.jsonl"));
    let mut steps = 0;
    for sequence in &sequences {
        let mut directory = Directory::default();
        for operation in sequence["ops"].as_array().unwrap() {
            directory.apply(operation);
            let sidecar = value!({"key": "s", "skip": directory.skip, "summary": directory.summary});
            let read = read_pair(&directory.lines, &sidecar.to_string());
            let at = format!("{} {operation}", sequence["name"]);
            let after = &operation["after"];
            assert_eq!(
                lines(directory.lines.as_bytes()).count() as u64,
                after["raw_lines"].as_u64().unwrap(),
                "{at}"
            );
            assert_eq!(read.summary(), after["summary"].as_str().unwrap(), "{at}");
            // `null` and `{}` are empty messages for PicoClaw, but damaged lines for convo.
            let without_empty =
                |texts: Vec<String>| texts.into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>();
            assert_eq!(
                without_empty(read.texts()),
                without_empty(texts(&after["visible"])),
                "{at}"
            );
            steps += 1;
        }
    }
    eprintln!("{} sequences with {steps} steps agree", sequences.len());
    assert!(steps > 100);
}
