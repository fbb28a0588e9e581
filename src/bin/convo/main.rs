//! The program: parse, run, status.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod args;
mod change;
mod commands;
mod context;
mod incoming;
mod output;
mod plugin;

use args::Global;
use clap::FromArgMatches;
use commands::Verb;
use context::Context;
use convo::error::{Error, Kind};
use output::{Color, Output};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match run(&arguments) {
        Ok(status) => ExitCode::from(status),
        Err(error) if output::closed(&error) => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(failed(&error)),
    }
}

/// Parses, and runs the verb or the plugin; the status is the worst that the run met.
fn run(arguments: &[OsString]) -> anyhow::Result<u8> {
    let first = arguments
        .get(1)
        .and_then(|argument| argument.to_str())
        .unwrap_or_default();
    // A verb in the first place is all that is built: the program starts on every line of a shell loop.
    let command = match commands::find(first) {
        Some(verb) => commands::root().subcommand(verb.command()),
        None if !first.is_empty() && !first.starts_with('-') && first != "help" => {
            return plugin::run(first, &arguments[2..], &Global::default());
        }
        None => commands::whole(),
    };
    let matches = match command.try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return Output::usage(&error),
    };
    let global = Global::from_arg_matches(&matches).unwrap_or_default();
    match matches.subcommand() {
        Some((name, inner)) => match commands::find(name) {
            Some(Verb { run, .. }) => {
                let context = Context::new(&global)?;
                match run(inner, &context) {
                    Ok(()) => Ok(context.output.status()),
                    Err(error) if output::closed(&error) => Err(error),
                    Err(error) => Ok(context.output.fail(&error)),
                }
            }
            None => {
                let rest: Vec<OsString> = inner
                    .get_many::<OsString>("")
                    .unwrap_or_default()
                    .cloned()
                    .collect();
                plugin::run(name, &rest, &global)
            }
        },
        None => Output::short_help(&mut commands::whole()),
    }
}

/// Tells of an error that ended the run before there was a context.
fn failed(error: &anyhow::Error) -> u8 {
    let output = Output::new(false, false, Color::Auto);
    match error.downcast_ref::<Error>() {
        Some(error) => output.error(error),
        None => output.error(&Error::new(Kind::InputOutput, format!("{error:#}"))),
    }
    output.status()
}
