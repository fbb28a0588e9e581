//! The plugin `convo llm`: replies and summaries by a model over HTTP. It is a plugin because an HTTP and TLS client
//! is larger than convo itself.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod arguments;
mod ask;
mod command;
mod conversation;
mod failure;
mod http;
mod input;
#[path = "../convo/programs/interrupt.rs"]
mod interrupt;
mod key;
mod output;
mod ready;
mod reply;
mod request;
mod said;
mod settings;
mod stream;
mod summary;
#[path = "../convo/terminal/terminal_filter.rs"]
mod terminal_filter;
mod tools;

use arguments::Arguments;
use ask::Model;
use clap::Parser;
use convo::error::{Error, Kind, Result};
use input::Asked;
use output::{Output, Shape};
use settings::{Settings, variable};
use std::path::Path;
use std::process::ExitCode;
use tools::Toolbox;

fn main() -> ExitCode {
    let mut output = Output::default();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ExitCode::from(output.usage(&error)),
    };
    let showing = &arguments.showing;
    output.quiet = showing.quiet;
    if showing.partial || (variable("CONVO_PARTIAL").is_some_and(|set| set == "1") && !showing.text) {
        output.shape = Shape::Partial;
    } else if showing.json {
        output.shape = Shape::Records;
    } else if showing.text {
        output.shape = Shape::Text;
    }
    match run(&arguments, &output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) if output.is_closed() => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(output.error(&error)),
    }
}

fn run(arguments: &Arguments, output: &Output) -> Result<()> {
    let settings = Settings::new(arguments, &|text| output.tell(text))?;
    let tools = Toolbox::new(&arguments.tools)?;
    let system = arguments
        .request
        .system
        .as_deref()
        .map(instructions)
        .transpose()?;
    let asked = input::read(arguments.from.as_deref(), output)?;
    let wanted = match (arguments.showing.stream, arguments.showing.no_stream) {
        (true, _) => true,
        (_, true) => false,
        _ => output.shape == Shape::Partial || output.shows_as_it_comes(),
    };
    match asked {
        Asked::Summary(pieces) => {
            let model = Model::new(&settings, output, wanted, false)?;
            let answer = summary::run(&model, &pieces, system.as_deref())?;
            output.answer(&answer)
        }
        Asked::Reply(session) => {
            let session = match &system {
                Some(text) => ready::with_instructions(&session, text),
                None => session,
            };
            let session = ready::ready(session, settings.api, output)?;
            let shows = output.shape != Shape::Records;
            let model = Model::new(&settings, output, wanted, shows)?;
            conversation::run(&model, session, &tools, arguments.tools.max_steps)
        }
    }
}

/// Reads a file with instructions.
fn instructions(path: &Path) -> Result<String> {
    let name = path.to_string_lossy();
    let text =
        std::fs::read_to_string(path).map_err(|error| Error::io(format!("cannot read {name}"), error))?;
    match text.trim_end().to_string() {
        text if text.is_empty() => Err(Error::new(Kind::Usage, format!("{name}: empty file"))),
        text => Ok(text),
    }
}
