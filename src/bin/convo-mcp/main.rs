//! The plugin `convo mcp`: offers sessions to models over the Model Context Protocol. Its tools run the program.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod arguments;
mod output;
mod protocol;
mod run;
mod tools;

use arguments::McpArguments;
use clap::Parser;
use output::Output;
use run::CommandRunner;
use std::io::{BufRead, ErrorKind};
use std::process::ExitCode;

/// Maximum size of a client message in bytes; longer ones are rejected.
const LONGEST: u64 = 1024 * 1024;

fn main() -> ExitCode {
    let output = Output;
    let arguments = match McpArguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ExitCode::from(output.usage(&error)),
    };
    let program = CommandRunner::new(&arguments);
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = std::io::Read::take(&mut input, LONGEST).read_until(b'\n', &mut line);
        match read {
            Ok(0) => return ExitCode::SUCCESS,
            Ok(_) if line.len() as u64 == LONGEST && !line.ends_with(b"\n") => {
                output.error("message longer than 1 MiB");
                return ExitCode::from(65);
            }
            Ok(_) => {}
            Err(error) => {
                output.error(&format!("cannot read: {error}"));
                return ExitCode::from(74);
            }
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some(answer) = protocol::answer(&line, &program) else {
            continue;
        };
        match output.line(&answer) {
            Ok(()) => {}
            // The client closed its end.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Err(error) => {
                output.error(&format!("cannot write: {error}"));
                return ExitCode::from(74);
            }
        }
    }
}
