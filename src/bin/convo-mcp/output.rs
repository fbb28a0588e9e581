//! The only file of the plugin that prints: answers on standard output, messages on standard error.

use serde_json::Value;
use std::io::{self, Write};

/// Where answers and messages go.
pub struct Output;

impl Output {
    /// Writes and flushes an answer as one line.
    pub fn line(&self, answer: &Value) -> io::Result<()> {
        let mut out = io::stdout();
        writeln!(out, "{answer}")?;
        out.flush()
    }

    /// A message about the input.
    pub fn error(&self, problem: &str) {
        eprintln!("convo: mcp: {problem}");
    }

    /// Prints help, the version or an error of the arguments; returns the status.
    pub fn usage(&self, error: &clap::Error) -> u8 {
        if !error.use_stderr() {
            // A closed pipe is not an error.
            let _ = error.print();
            return 0;
        }
        let text = error.render().to_string();
        eprint!("convo: {}", text.strip_prefix("error: ").unwrap_or(&text));
        2
    }
}
