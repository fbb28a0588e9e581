//! Measures the throughput of `redact` on session logs: without a secret, and with one in every line; one thread.
//!
//!     cargo bench --bench redact -- [FILE]...
//!
//! Prints the best of five runs in megabytes per second. Without files: 64 MB of messages and tool results with the
//! source code of this program.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use convo::filter::redact::{Redactor, RedactorOptions};
use std::path::Path;
use std::time::Instant;

const SECRET: &str = "glpat-mNKwz8T823VS9aNuUE2l";

fn main() {
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|name| !name.starts_with("--"))
        .collect();
    for name in &named {
        measure(name, &std::fs::read(name).unwrap());
    }
    if named.is_empty() {
        measure("without a secret", &log(""));
        measure("a secret in every line", &log(SECRET));
    }
}

fn measure(what: &str, log: &[u8]) {
    let mut best = f64::MAX;
    let mut findings = 0;
    for _ in 0..5 {
        let mut redactor = Redactor::new(RedactorOptions::default());
        let began = Instant::now();
        let lines = log.split(|byte| *byte == b'\n');
        findings = lines.map(|line| redactor.redact(line).findings.len()).sum();
        best = best.min(began.elapsed().as_secs_f64());
    }
    println!(
        "{what}\t{:.0} MB/s\t{findings} findings",
        log.len() as f64 / 1e6 / best
    );
}

/// Log lines of about 1 KB, with the source code of this program as tool results.
fn log(secret: &str) -> Vec<u8> {
    let mut texts = Vec::new();
    collect(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model"),
        &mut texts,
    );
    collect(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store"),
        &mut texts,
    );
    let mut log = Vec::new();
    for nth in 0.. {
        let text: &String = &texts[nth % texts.len()];
        let lines: Vec<&str> = text.lines().collect();
        for piece in lines.chunks(24) {
            let line = serde_json::json!({
                "type": "user", "sessionId": "9eda1058", "uuid": nth, "usage": {"input_tokens": 1203, "output_tokens": 17},
                "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": piece.join("\n")}]},
                "cwd": format!("/home/ann/{secret}"),
            });
            log.extend(line.to_string().bytes());
            log.push(b'\n');
        }
        if log.len() > 64_000_000 {
            return log;
        }
    }
    log
}

fn collect(dir: &Path, texts: &mut Vec<String>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true => collect(&path, texts),
            false => texts.push(std::fs::read_to_string(path).unwrap()),
        }
    }
}
