//! The plugin `convo llm`: replies and summaries by a model over HTTP. It is a plugin because an HTTP and TLS client
//! is larger than convo itself.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod arguments;
mod ask;
mod command;
mod environment;
mod http;
mod input;
#[path = "../convo/programs/interrupt.rs"]
mod interrupt;
mod key;
mod output;
#[path = "../convo/programs/process.rs"]
mod process;
mod reply;
mod request;
mod retry;
mod service_error;
mod settings;
mod stream;
mod summary;
#[path = "../convo/terminal/terminal_filter.rs"]
mod terminal_filter;
mod tool_loop;
mod tools;
mod validate_session;

use arguments::LlmArguments;
use ask::ModelClient;
use clap::Parser;
use convo::error::{Error, Result};
use environment::variable;
use input::RequestKind;
use output::{Output, OutputForm};
use settings::LlmSettings;
use std::path::Path;
use std::process::ExitCode;
use tools::Toolbox;

fn main() -> ExitCode {
    let mut output = Output::default();
    let arguments = match LlmArguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ExitCode::from(output.usage(&error)),
    };
    let showing = &arguments.showing;
    output.quiet = showing.quiet;
    if showing.partial || (variable("CONVO_PARTIAL").is_some_and(|set| set == "1") && !showing.text) {
        output.shape = OutputForm::Partial;
    } else if showing.json {
        output.shape = OutputForm::Records;
    } else if showing.text {
        output.shape = OutputForm::Text;
    }
    match run(&arguments, &output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) if output.is_closed() => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(output.error(&error)),
    }
}

fn run(arguments: &LlmArguments, output: &Output) -> Result<()> {
    let settings = LlmSettings::new(arguments, &|text| output.print_notice(text))?;
    let tools = Toolbox::new(&arguments.tools)?;
    let system = arguments
        .request
        .system
        .as_deref()
        .map(instructions)
        .transpose()?;
    let requested = input::read(arguments.from.as_deref(), output)?;
    let wanted = match (arguments.showing.stream, arguments.showing.no_stream) {
        (true, _) => true,
        (_, true) => false,
        _ => output.shape == OutputForm::Partial || output.prints_on_arrival(),
    };
    match requested {
        RequestKind::Summary(pieces) => {
            let model = ModelClient::new(&settings, output, wanted, false)?;
            let answer = summary::run(&model, &pieces, system.as_deref())?;
            output.answer(&answer)
        }
        RequestKind::Reply(session) => {
            let session = match &system {
                Some(text) => validate_session::with_instructions(&session, text),
                None => session,
            };
            let session = validate_session::ready(session, settings.api, output)?;
            let shows = output.shape != OutputForm::Records;
            let model = ModelClient::new(&settings, output, wanted, shows)?;
            tool_loop::run(&model, session, &tools, arguments.tools.max_steps)
        }
    }
}

/// Reads a file with instructions.
fn instructions(path: &Path) -> Result<String> {
    let name = path.to_string_lossy();
    let text =
        std::fs::read_to_string(path).map_err(|error| Error::io(format!("cannot read {name}"), error))?;
    match text.trim_end().to_string() {
        text if text.is_empty() => Err(Error::usage(format!("{name}: empty file"))),
        text => Ok(text),
    }
}
