//! Runs a command that answers a tool call.

use crate::interrupt::Interrupt;
use crate::process::{self, RunLimits, describe_failure};
use std::process::Command;
use std::time::Duration;

/// The result of a command.
#[derive(Debug)]
pub struct CommandOutcome {
    pub text: String,
    /// Whether to mark the result as an error.
    pub failed: bool,
}

impl CommandOutcome {
    fn failed(text: String) -> CommandOutcome {
        CommandOutcome { text, failed: true }
    }
}

/// Maximum size of a result in bytes: more would exceed any context window.
const MAXIMUM: usize = 4 << 20;

/// How many trailing bytes of standard error to include in a result.
const TAIL: usize = 2048;

/// A shell command that answers the calls of a tool.
pub struct ShellCommand<'t> {
    pub line: &'t str,
    /// Name of the tool, which the command receives as CONVO_TOOL.
    pub tool: &'t str,
    pub timeout: Duration,
    /// Environment variables to withhold, because a model chooses the arguments and reads the output.
    pub withheld: &'t [&'static str],
}

/// Runs a command with the arguments on its standard input. Ends this program if it is interrupted.
pub fn run(command: &ShellCommand<'_>, arguments: &str, interrupt: &Interrupt) -> CommandOutcome {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command.line).env("CONVO_TOOL", command.tool);
    for name in command.withheld {
        shell.env_remove(name);
    }
    let limits = RunLimits {
        timeout: command.timeout,
        most: MAXIMUM,
        tail: TAIL,
        ends_children: true,
        listen: &mut |_| {},
    };
    let ended = match process::run(
        &mut shell,
        format!("{arguments}\n").into_bytes(),
        interrupt,
        limits,
    ) {
        Ok(ended) => ended,
        Err(error) => return CommandOutcome::failed(format!("cannot start: {error}")),
    };
    if let Some(interrupted) = ended.interrupted {
        interrupted.end_program();
    }
    if ended.output.len() > MAXIMUM {
        return CommandOutcome::failed(format!("result longer than {MAXIMUM} bytes"));
    }
    let given = text(ended.output);
    let why = match ended.status {
        _ if ended.is_late => format!("timed out after {} ms", command.timeout.as_millis()),
        Some(status) if status.success() => {
            return CommandOutcome {
                text: given,
                failed: false,
            };
        }
        Some(status) => describe_failure(status),
        None => "ended for an unknown reason".to_string(),
    };
    let stderr = text(ended.stderr);
    let parts = [given.trim_end(), &why, stderr.trim_end()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    CommandOutcome::failed(parts.join("\n"))
}

/// Decodes text without one trailing newline; invalid UTF-8 becomes U+FFFD.
fn text(bytes: Vec<u8>) -> String {
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if text.ends_with('\n') {
        text.pop();
    }
    text
}
