//! Tools: what is offered to a model, and the commands that answer its calls.

use crate::arguments::Tools;
use crate::command::{self, Outcome};
use crate::interrupt::Interrupt;
use convo::error::{Error, Kind, Result};
use convo::model::json::{self, Dialect, ObjectBuilder};
use convo::model::message::ToolCall;
use std::time::Duration;

/// A tool as it is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    name: String,
    description: Option<String>,
    /// A JSON schema of its arguments.
    parameters: Vec<u8>,
    /// The command that answers its calls.
    command: Option<String>,
}

/// What a tool takes of which nothing is said: any object.
const OPEN: &[u8] = br#"{"type":"object","properties":{}}"#;

impl Offer {
    /// A tool of which only the name is known.
    pub fn open(name: &str) -> Offer {
        Offer {
            name: name.to_string(),
            description: None,
            parameters: OPEN.to_vec(),
            command: None,
        }
    }

    fn function(&self, parameters: &str) -> ObjectBuilder {
        let mut function = ObjectBuilder::default();
        function.text("name", &self.name);
        if let Some(description) = &self.description {
            function.text("description", description);
        }
        function.raw(parameters, &self.parameters);
        function
    }

    /// In the shape of OpenAI Chat.
    pub fn chat(&self) -> Vec<u8> {
        let mut tool = ObjectBuilder::default();
        tool.text("type", "function")
            .raw("function", self.function("parameters").finish());
        tool.finish()
    }

    /// In the shape of the Responses interface.
    pub fn responses(&self) -> Vec<u8> {
        let mut tool = self.function("parameters");
        tool.text("type", "function");
        tool.finish()
    }

    /// In the shape of the Anthropic interface.
    pub fn anthropic(&self) -> Vec<u8> {
        self.function("input_schema").finish()
    }
}

/// The tools of a run.
#[derive(Debug)]
pub struct Toolbox {
    pub offers: Vec<Offer>,
    timeout: Duration,
    /// There where a command may run.
    interrupt: Option<Interrupt>,
}

impl Toolbox {
    /// From the command line; files of schemas are read.
    pub fn new(arguments: &Tools) -> Result<Toolbox> {
        let mut offers: Vec<Offer> = Vec::new();
        for (name, command) in &arguments.commands {
            if offers.iter().any(|offer| offer.name == *name) {
                return Err(Error::new(Kind::Usage, format!("--tool {name} is there twice")));
            }
            offers.push(Offer {
                command: Some(command.clone()),
                ..Offer::open(name)
            });
        }
        for (name, file) in &arguments.schemas {
            let known = offers.iter().position(|offer| offer.name == *name);
            let at = known.unwrap_or_else(|| {
                offers.push(Offer::open(name));
                offers.len() - 1
            });
            describe(&mut offers[at], file)?;
        }
        let interrupt = match arguments.commands.is_empty() {
            true => None,
            false => {
                Some(Interrupt::new().map_err(|error| Error::io("signals cannot be listened to", error))?)
            }
        };
        Ok(Toolbox {
            offers,
            timeout: arguments.tool_timeout,
            interrupt,
        })
    }

    /// Whether calls are answered here: all of them, or none. One of a tool that nobody offered gets an answer, which says so.
    pub fn answers(&self, calls: &[ToolCall<'_>]) -> bool {
        let some = self.offers.iter().any(|offer| offer.command.is_some());
        let left = |call: &ToolCall<'_>| {
            let offer = self.offers.iter().find(|offer| offer.name == call.name);
            offer.is_some_and(|offer| offer.command.is_none())
        };
        some && !calls.iter().any(left)
    }

    /// Runs the command of a call; the result as a record.
    pub fn run(&self, call: &ToolCall<'_>) -> Vec<u8> {
        let offer = self.offers.iter().find(|offer| offer.name == call.name);
        let command = offer.and_then(|offer| offer.command.as_deref());
        let outcome = match command.zip(self.interrupt.as_ref()) {
            Some((command, interrupt)) => {
                // Models leave out an object that is empty.
                let given = match call.arguments.trim() {
                    "" => "{}",
                    given => given,
                };
                command::run(command, &call.name, given, self.timeout, interrupt)
            }
            None => Outcome {
                text: format!("there is no tool {:?}", call.name),
                failed: true,
            },
        };
        let mut record = ObjectBuilder::default();
        record
            .text("role", "tool")
            .text("tool_call_id", &call.id)
            .text("name", &call.name)
            .text("content", &outcome.text);
        if outcome.failed {
            record.raw("metadata", r#"{"is_error":true}"#);
        }
        record.finish()
    }
}

/// Most bytes of a file with a schema.
const MOST: u64 = 1 << 20;

fn describe(offer: &mut Offer, file: &str) -> Result<()> {
    let wrong = |what: &str| Error::new(Kind::Data, format!("the schema in {file} {what}"));
    let about = std::fs::metadata(file).map_err(|error| Error::io(format!("cannot read {file}"), error))?;
    if about.len() > MOST {
        return Err(wrong("is too long"));
    }
    let bytes = std::fs::read(file).map_err(|error| Error::io(format!("cannot read {file}"), error))?;
    let raw = bytes.trim_ascii();
    match json::value_end(raw, 0, Dialect::Strict) {
        Ok(end) if end == raw.len() && raw.starts_with(b"{") => {}
        Ok(_) => return Err(wrong("is no JSON object")),
        Err(fault) => return Err(wrong(&format!("is no JSON: {}", fault.what))),
    }
    let (raw, _) = json::compact(raw);
    // As the interfaces spell tools: the schema in a member of its own, or the whole of it in `function`.
    let whole = json::member(&raw, "function").unwrap_or(&raw);
    let inner = ["parameters", "input_schema"]
        .iter()
        .find_map(|name| json::member(whole, name))
        .filter(|inner| inner.starts_with(b"{"));
    let description = json::member(whole, "description").and_then(json::text);
    offer.description = description.map(|text| text.into_owned());
    offer.parameters = inner.unwrap_or(whole).to_vec();
    Ok(())
}
