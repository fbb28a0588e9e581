//! Entry point of `convo`: parses the command line, runs the command and returns its exit status.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod args;
mod commands;
mod completion;
mod config;
mod context;
mod edit;
mod environment;
mod errors;
mod flat_tables;
mod homes;
mod input;
mod key_args;
mod output;
mod overviews;
mod owner;
mod pipe;
mod prices;
mod programs;
mod provider_request;
mod selected_messages;
mod selecting;
mod terminal;
mod usage_errors;
mod writing;
mod written_value;

use args::Global;
use clap::FromArgMatches;
use commands::CommandSpec;
use context::Context;
use convo::tokens::external::guarded;
use output::{Color, Output};
use programs::{counter_program, plugin_command};
use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match run(&arguments) {
        Ok(status) => ExitCode::from(status),
        Err(error) if output::closed(&error) => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(failed(&error)),
    }
}

/// Runs the command or plugin; returns the worst status of the run.
fn run(arguments: &[OsString]) -> anyhow::Result<u8> {
    if let Some(shell) = std::env::var_os(completion::VARIABLE).and_then(completion::shell) {
        return completion::answer(shell, arguments);
    }
    let first = arguments
        .get(1)
        .and_then(|argument| argument.to_str())
        .unwrap_or_default();
    // Build only the command in first place, so that `convo` starts fast in shell loops.
    if let Some(spec) = commands::find(first) {
        if let Some((ready, global)) = spec.plain(&arguments[2..]) {
            return execute(spec, &global, ready, arguments);
        }
        // The process ends with the command: giving memory back piece by piece would cost a tenth of the start.
        let mut command = ManuallyDrop::new(spec.alone());
        let expanded = (spec.expanded)(&arguments[1..]);
        let given = expanded.as_deref().unwrap_or(&arguments[1..]);
        return match command.try_get_matches_from_mut(given).map(ManuallyDrop::new) {
            Ok(mut matches) => {
                let global = Global::from_arg_matches_mut(&mut matches).unwrap_or_default();
                execute(
                    spec,
                    &global,
                    |context| (spec.run)(&mut matches, context),
                    arguments,
                )
            }
            Err(error) => {
                let error = usage_errors::of_negative_value(error, &mut command, given);
                Output::usage(&error, spec.name)
            }
        };
    }
    if !first.is_empty() && !first.starts_with('-') && first != commands::HELP {
        return plugin_command::run(first, &arguments[2..], &Global::default());
    }
    let expanded = commands::expanded(arguments);
    let given = expanded.as_deref().unwrap_or(arguments);
    let mut command = commands::command_line();
    let matches = match command.try_get_matches_from_mut(given) {
        Ok(matches) => matches,
        Err(error) => {
            let error = usage_errors::of_negative_value(error, &mut command, given);
            return Output::usage(&error, "");
        }
    };
    match matches.subcommand() {
        // `help COMMAND` runs `COMMAND --help`, for built-in commands and plugins.
        Some((commands::HELP, inner)) => {
            let requested = inner.get_many::<OsString>("command").unwrap_or_default();
            let asking = [&arguments[0]].into_iter().chain(requested).cloned();
            run(&asking.chain(["--help".into()]).collect::<Vec<_>>())
        }
        Some((name, inner)) => match commands::find(name) {
            Some(spec) => {
                let global = Global::from_arg_matches(&matches).unwrap_or_default();
                let mut inner = inner.clone();
                execute(
                    spec,
                    &global,
                    |context| (spec.run)(&mut inner, context),
                    arguments,
                )
            }
            None => {
                let rest: Vec<OsString> = inner
                    .get_many::<OsString>("")
                    .unwrap_or_default()
                    .cloned()
                    .collect();
                plugin_command::run(
                    name,
                    &rest,
                    &Global::from_arg_matches(&matches).unwrap_or_default(),
                )
            }
        },
        None => Output::short_help(&mut commands::command_line()),
    }
}

/// Runs a command with the options of the whole program.
fn execute(
    spec: &CommandSpec,
    global: &Global,
    run: impl FnOnce(&Context) -> anyhow::Result<()>,
    arguments: &[OsString],
) -> anyhow::Result<u8> {
    let context = Context::new(global)?;
    if global.verbose {
        for (old, new) in spec.renamed(arguments) {
            context.output.detail(&old, &format!("renamed to {new}"));
        }
    }
    let done = guarded(|| run(&context)).unwrap_or_else(|error| Err(error.into()));
    counter_program::end();
    match done {
        Ok(()) => Ok(context.output.status()),
        Err(error) if output::closed(&error) => Err(error),
        Err(error) => Ok(context.output.fail(&error)),
    }
}

/// Reports an error that occurred before the context existed; returns the exit status.
fn failed(error: &anyhow::Error) -> u8 {
    Output::new(false, false, Color::Auto).fail(error)
}
