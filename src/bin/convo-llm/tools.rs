//! Tools offered to a model, and the commands that answer their calls.

use crate::arguments::ToolArgs;
use crate::command::{self, CommandOutcome, ShellCommand};
use crate::interrupt::Interrupt;
use crate::key;
use convo::error::{Error, Result};
use convo::model::json::{self, Dialect, ObjectBuilder};
use convo::model::message::ToolCall;
use std::time::Duration;

/// A tool as offered to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOffer {
    name: String,
    description: Option<String>,
    /// The JSON schema of its parameters.
    parameters: Vec<u8>,
    /// The command that answers its calls.
    command: Option<String>,
}

/// The schema of a tool without one: any object.
const OPEN: &[u8] = br#"{"type":"object","properties":{}}"#;

impl ToolOffer {
    /// A tool known only by name.
    pub fn open(name: &str) -> ToolOffer {
        ToolOffer {
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

    /// Encodes the tool for the OpenAI Chat API.
    pub fn chat(&self) -> Vec<u8> {
        let mut tool = ObjectBuilder::default();
        tool.text("type", "function")
            .raw("function", self.function("parameters").finish());
        tool.finish()
    }

    /// Encodes the tool for the Responses API.
    pub fn responses(&self) -> Vec<u8> {
        let mut tool = self.function("parameters");
        tool.text("type", "function");
        tool.finish()
    }

    /// Encodes the tool for the Anthropic API.
    pub fn anthropic(&self) -> Vec<u8> {
        self.function("input_schema").finish()
    }
}

/// The tools of a run.
#[derive(Debug)]
pub struct Toolbox {
    pub offers: Vec<ToolOffer>,
    timeout: Duration,
    /// Environment variables withheld from commands.
    withheld: Vec<&'static str>,
    limits: CallLimits,
    /// Present if a command may run.
    interrupt: Option<Interrupt>,
}

/// Limits on the number of calls to run, because a reply may contain any number of them.
#[derive(Clone, Copy, Debug)]
struct CallLimits {
    per_reply: usize,
    per_run: usize,
}

impl Toolbox {
    /// Creates the tools from the command line, and reads schema files.
    pub fn new(arguments: &ToolArgs) -> Result<Toolbox> {
        let mut offers: Vec<ToolOffer> = Vec::new();
        for (name, command) in &arguments.commands {
            if offers.iter().any(|offer| offer.name == *name) {
                return Err(Error::usage(format!("--tool {name}: given twice")));
            }
            offers.push(ToolOffer {
                command: Some(command.clone()),
                ..ToolOffer::open(name)
            });
        }
        for (name, file) in &arguments.schemas {
            let known = offers.iter().position(|offer| offer.name == *name);
            let at = known.unwrap_or_else(|| {
                offers.push(ToolOffer::open(name));
                offers.len() - 1
            });
            describe(&mut offers[at], file)?;
        }
        let interrupt = match arguments.commands.is_empty() {
            true => None,
            false => Some(Interrupt::new().map_err(|error| Error::io("cannot handle signals", error))?),
        };
        let is_passed = |name: &&str| !arguments.environment.iter().any(|passed| passed == name);
        Ok(Toolbox {
            offers,
            timeout: arguments.tool_timeout,
            withheld: key::VARIABLES.into_iter().filter(is_passed).collect(),
            limits: CallLimits {
                per_reply: arguments.max_calls as usize,
                per_run: arguments.max_total_calls as usize,
            },
            interrupt,
        })
    }

    /// Whether commands answer these calls: all or none. A call of an unknown tool is answered with an error.
    pub fn answers(&self, calls: &[ToolCall<'_>]) -> bool {
        let some = self.offers.iter().any(|offer| offer.command.is_some());
        let left = |call: &ToolCall<'_>| {
            let offer = self.offers.iter().find(|offer| offer.name == call.name);
            offer.is_some_and(|offer| offer.command.is_none())
        };
        some && !calls.iter().any(left)
    }

    /// Answers the calls of one reply with records; `answered` counts the calls of the whole run. A call over a limit
    /// is answered with an error and not run, so that the history is valid.
    pub fn run_all(&self, calls: &[ToolCall<'_>], answered: &mut usize) -> Vec<Vec<u8>> {
        let mut records = Vec::with_capacity(calls.len());
        for (place, call) in calls.iter().enumerate() {
            let limit = match *answered {
                _ if place >= self.limits.per_reply => Some(("reply", self.limits.per_reply)),
                run if run >= self.limits.per_run => Some(("run", self.limits.per_run)),
                _ => None,
            };
            let outcome = match limit {
                Some((scope, limit)) => CommandOutcome {
                    text: format!("not run: more than {limit} calls in one {scope}"),
                    failed: true,
                },
                None => {
                    *answered += 1;
                    self.run(call)
                }
            };
            records.push(record(call, &outcome));
        }
        records
    }

    /// How many calls of a reply exceed the limits.
    pub fn over_limit(&self, calls: usize, answered: usize) -> usize {
        let room = self.limits.per_run.saturating_sub(answered);
        calls.saturating_sub(self.limits.per_reply.min(room))
    }

    fn run(&self, call: &ToolCall<'_>) -> CommandOutcome {
        let offer = self.offers.iter().find(|offer| offer.name == call.name);
        let line = offer.and_then(|offer| offer.command.as_deref());
        let Some((line, interrupt)) = line.zip(self.interrupt.as_ref()) else {
            return CommandOutcome {
                text: format!("no such tool: {:?}", call.name),
                failed: true,
            };
        };
        // Models omit empty arguments.
        let arguments = match call.arguments.trim() {
            "" => "{}",
            arguments => arguments,
        };
        let command = ShellCommand {
            line,
            tool: &call.name,
            timeout: self.timeout,
            withheld: &self.withheld,
        };
        command::run(&command, arguments, interrupt)
    }
}

/// Encodes the result of a call as a record.
fn record(call: &ToolCall<'_>, outcome: &CommandOutcome) -> Vec<u8> {
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
/// Maximum size of a schema file in bytes.
const MAXIMUM: u64 = 1 << 20;

fn describe(offer: &mut ToolOffer, file: &str) -> Result<()> {
    let wrong = |what: &str| Error::data(format!("{file}: {what}"));
    let about = std::fs::metadata(file).map_err(|error| Error::io(format!("cannot read {file}"), error))?;
    if about.len() > MAXIMUM {
        return Err(wrong("schema too long"));
    }
    let bytes = std::fs::read(file).map_err(|error| Error::io(format!("cannot read {file}"), error))?;
    let raw = bytes.trim_ascii();
    match json::value_end(raw, 0, Dialect::Strict) {
        Ok(end) if end == raw.len() && raw.starts_with(b"{") => {}
        Ok(_) => return Err(wrong("not a JSON object")),
        Err(fault) => return Err(wrong(&format!("not valid JSON: {}", fault.what))),
    }
    let (raw, _) = json::compact(raw);
    // APIs wrap the schema in a member, or all of it in `function`.
    let whole = json::member(&raw, "function").unwrap_or(&raw);
    let inner = ["parameters", "input_schema"]
        .iter()
        .find_map(|name| json::member(whole, name))
        .filter(|inner| inner.starts_with(b"{"));
    let description = json::member_text(whole, "description");
    offer.description = description.map(|text| text.into_owned());
    offer.parameters = inner.unwrap_or(whole).to_vec();
    Ok(())
}
