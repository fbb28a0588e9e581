//! Runs an external program: passes a request on standard input and reads the answer from standard output.

use crate::output::in_line;
use crate::programs::interrupt::{Interrupt, Interrupted};
use crate::programs::process::{self, RunLimits, describe_failure};
use crate::programs::{plugin, program_name};
use convo::error::{Error, ErrorKind, reason};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A program as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramName {
    /// A shell command.
    Shell(String),
    Plugin(String),
}

impl ProgramName {
    /// Parses `cmd:PROGRAM ARGS` or the name of a plugin; `others` lists the other values of the option.
    pub fn read(text: &str, others: &str) -> Result<ProgramName, String> {
        if let Some(line) = text.strip_prefix("cmd:") {
            return match line.trim() {
                "" => Err("expected a command after 'cmd:'".to_string()),
                line => Ok(ProgramName::Shell(line.to_string())),
            };
        }
        if plugin::is_name(text) {
            return Ok(ProgramName::Plugin(text.to_string()));
        }
        Err(format!("expected {others}cmd:'COMMAND' or a plugin name"))
    }

    /// The program with further arguments and the path of the store in its environment; `what` describes it if it is not found.
    pub fn program(
        &self,
        store: Option<&Path>,
        what: &str,
        arguments: &[OsString],
    ) -> convo::Result<ExternalProgram> {
        let (by, line, mut command) = match self {
            ProgramName::Shell(line) => {
                let mut command = Command::new("/bin/sh");
                // Append the arguments, unless the command places them itself with `$@`.
                let whole = match arguments {
                    [] => line.clone(),
                    _ if line.contains("$@") => line.clone(),
                    _ => format!("{line} \"$@\""),
                };
                command.arg("-c").arg(whole).arg("sh");
                (program_name::stored(line, DIGITS), Some(line.clone()), command)
            }
            ProgramName::Plugin(name) => match plugin::find(name) {
                Some(path) => (name.clone(), None, Command::new(path)),
                None => {
                    let error = Error::new(ErrorKind::Unavailable, format!("'{name}': no such {what}"));
                    let hint = format!("install convo-{name} on PATH, or use --with cmd:'COMMAND'");
                    return Err(error.hint(hint));
                }
            },
        };
        command.args(arguments);
        if let Ok(own) = std::env::current_exe() {
            command.env("CONVO", own);
        }
        if let Some(store) = store {
            command.env("CONVO_STORE", store);
        }
        let interrupt = Interrupt::new().map_err(|error| Error::io("cannot handle signals", error))?;
        Ok(ExternalProgram {
            by,
            line,
            command,
            interrupt,
        })
    }
}

/// Number of hash digits of a command line.
const DIGITS: usize = 8;

/// A program that can be run.
#[derive(Debug)]
pub struct ExternalProgram {
    /// The name stored with its answers: only the program name and a hash of the command line.
    pub by: String,
    /// Its command line, which is never reported or stored.
    line: Option<String>,
    command: Command,
    interrupt: Interrupt,
}

pub struct RunOptions<'l> {
    /// The time limit.
    pub timeout: Duration,
    /// Maximum size of the answer in bytes.
    pub most: usize,
    /// Called with each part of the answer as it arrives.
    pub listen: &'l mut dyn FnMut(&[u8]),
}

#[derive(Debug)]
pub struct ProgramAnswer {
    pub answer: Vec<u8>,
    /// The end of its standard error.
    pub stderr: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub struct ProgramFailure {
    /// A short description.
    pub why: String,
    /// The end of its standard error.
    pub stderr: String,
    /// The signal that ended the program and must end this one too.
    pub interrupted: Option<Interrupted>,
}

/// How many trailing bytes of standard error are kept.
const TAIL: usize = 4096;

impl ExternalProgram {
    /// The name in messages.
    pub fn name(&self) -> String {
        self.line.as_deref().map_or(self.by.clone(), program_name::name)
    }

    /// Sets an environment variable.
    pub fn env(&mut self, name: &str, value: &str) {
        self.command.env(name, value);
    }

    /// Removes an environment variable.
    pub fn without(&mut self, name: &str) {
        self.command.env_remove(name);
    }

    /// Runs the program with a request and returns its answer.
    pub fn ask(
        &mut self,
        request: &[u8],
        requested: RunOptions<'_>,
    ) -> Result<ProgramAnswer, ProgramFailure> {
        let failed = |why: String| ProgramFailure {
            why,
            stderr: String::new(),
            interrupted: None,
        };
        let limits = RunLimits {
            timeout: requested.timeout,
            most: requested.most,
            tail: TAIL,
            ends_children: false,
            listen: requested.listen,
        };
        let ended = process::run(&mut self.command, request.to_vec(), &self.interrupt, limits)
            .map_err(|error| failed(format!("cannot run: {}", reason(&error))))?;
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        let why = match (ended.closed, ended.status) {
            _ if ended.interrupted.is_some() => "interrupted".to_string(),
            _ if ended.output.len() > requested.most => {
                format!("output longer than {} bytes", requested.most)
            }
            _ if ended.is_late => format!("timed out after {}", span(requested.timeout)),
            (Some(Ok(())), Some(status)) if status.success() => {
                return Ok(ProgramAnswer {
                    answer: ended.output,
                    stderr,
                });
            }
            (_, Some(status)) if !status.success() => describe_failure(status),
            (Some(Err(error)), _) => format!("cannot read the output: {}", reason(&error)),
            _ => "the output is truncated".to_string(),
        };
        // A hint follows the error that it belongs to.
        let is_message = |line: &&str| !line.trim().is_empty() && !line.starts_with("hint: ");
        let last = stderr.lines().rev().find(is_message);
        let why = match last {
            Some(last) if ended.interrupted.is_none() => {
                // A plugin reports errors in the same form as this program.
                let last = last.trim().trim_start_matches("convo: ");
                let last = match &self.line {
                    Some(line) => program_name::without_arguments(last, line),
                    None => last.to_string(),
                };
                format!("{why}: {}", beginning(&in_line(&last)))
            }
            _ => why,
        };
        Err(ProgramFailure {
            why,
            stderr,
            interrupted: ended.interrupted,
        })
    }
}

/// Formats a duration.
fn span(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (seconds, 0) => format!("{seconds} s"),
        _ => format!("{} ms", time.as_millis()),
    }
}

/// Truncates a line.
fn beginning(line: &str) -> String {
    match line.char_indices().nth(200) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_string(),
    }
}
