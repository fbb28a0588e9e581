//! The tools: a definition for the model, and the command line that answers a call.

use serde_json::{Map, Value, json};

/// How to convert a parameter to arguments. The option is `--` and the parameter's name.
enum ParameterKind {
    /// `--option VALUE`.
    Text,
    /// `--option N`, at least 1.
    Number,
    /// `--option` if true.
    Flag,
    /// A search pattern, before the sessions.
    Pattern,
    /// The name of a session.
    Session,
    /// Names of sessions, possibly none.
    Sessions,
}

struct Parameter {
    name: &'static str,
    kind: ParameterKind,
    about: &'static str,
}

/// A tool, named like its command.
pub struct Tool {
    pub name: &'static str,
    about: &'static str,
    fixed: &'static [&'static str],
    parameters: &'static [Parameter],
}

/// The command line of a call.
#[derive(Debug, PartialEq, Eq)]
pub struct CommandCall {
    pub options: Vec<String>,
    pub pattern: Option<String>,
    pub sessions: Vec<String>,
}

const fn parameter(name: &'static str, kind: ParameterKind, about: &'static str) -> Parameter {
    Parameter { name, kind, about }
}

const SESSION: Parameter = parameter(
    "session",
    ParameterKind::Session,
    "Id of a session or its beginning, an alias, or @last; for a session of another program PROGRAM:ID",
);
const PROJECT: Parameter = parameter(
    "project",
    ParameterKind::Text,
    "Only sessions of this project: directory or its last part",
);
const SINCE: Parameter = parameter(
    "since",
    ParameterKind::Text,
    "Only sessions changed since then, e.g. 7d, 2w, 2026-11-01",
);
const UNTIL: Parameter = parameter(
    "until",
    ParameterKind::Text,
    "Only sessions last changed before then",
);
const PROGRAM: Parameter = parameter(
    "program",
    ParameterKind::Text,
    "Only sessions of these programs, e.g. codex,pi",
);

/// Every tool.
#[rustfmt::skip] // a row per parameter
pub const ALL: [Tool; 4] = [
    Tool {
        name: "list",
        about: "List sessions, newest first: id, messages, time of the last change, title. Lists the store; with agents, \
                the sessions that other programs keep on this machine.",
        fixed: &["--limit=50"],
        parameters: &[
            parameter("agents", ParameterKind::Flag, "List the sessions that other programs keep on this machine"),
            PROJECT,
            PROGRAM,
            SINCE,
            UNTIL,
            parameter("tag", ParameterKind::Text, "Only sessions with this tag"),
            parameter("limit", ParameterKind::Number, "List at most so many sessions (default 50)"),
        ],
    },
    Tool {
        name: "search",
        about: "Search the text of sessions: messages, reasoning, tool calls and their results. Prints session, place, message and \
                matching line. Without sessions, searches the store and the sessions of other programs.",
        fixed: &["--max-count=20"],
        parameters: &[
            parameter("pattern", ParameterKind::Pattern, "Text to search for"),
            parameter("regex", ParameterKind::Flag, "Read the pattern as a regular expression"),
            parameter("ignore_case", ParameterKind::Flag, "Ignore case"),
            parameter("rank", ParameterKind::Flag, "Read the pattern as a question, and print the sessions that fit it best"),
            parameter("role", ParameterKind::Text, "Only messages of these roles, e.g. user,assistant"),
            parameter("in", ParameterKind::Text, "Only these parts, e.g. text,call,result"),
            parameter("context", ParameterKind::Number, "Print so many lines around each match"),
            parameter("max_count", ParameterKind::Number, "At most so many lines per session (default 20)"),
            PROJECT,
            PROGRAM,
            SINCE,
            UNTIL,
            parameter("sessions", ParameterKind::Sessions, "Only these sessions, by name"),
        ],
    },
    Tool {
        name: "show",
        about: "Print a session as text: the messages that a model would receive, with tool calls and shortened results.",
        fixed: &["--plain"],
        parameters: &[
            SESSION,
            parameter("last", ParameterKind::Number, "Only the newest exchanges: so many questions with their answers"),
            parameter("role", ParameterKind::Text, "Only messages of this role: user, assistant, tool, system"),
            parameter("full", ParameterKind::Flag, "Print tool results and arguments completely"),
            parameter("hidden", ParameterKind::Flag, "Also messages that a truncation or compaction hides"),
        ],
    },
    Tool {
        name: "count",
        about: "Count the messages, exchanges and tokens of a session: what a model would receive, and the whole log.",
        fixed: &[],
        parameters: &[
            SESSION,
            parameter("by", ParameterKind::Text, "Break tokens down by role, category, tool or exchange"),
        ],
    },
];

pub fn find(name: &str) -> Option<&'static Tool> {
    ALL.iter().find(|tool| tool.name == name)
}

impl Tool {
    /// The definition for `tools/list`.
    pub fn definition(&self) -> Value {
        let properties: Map<String, Value> = self
            .parameters
            .iter()
            .map(|parameter| (parameter.name.to_string(), parameter.schema()))
            .collect();
        let needed = self.parameters.iter().filter(|parameter| parameter.is_needed());
        json!({
            "name": self.name,
            "description": self.about,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": needed.map(|parameter| parameter.name).collect::<Vec<_>>(),
                "additionalProperties": false,
            },
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        })
    }

    /// Converts the arguments of a call to a command line.
    ///
    /// # Errors
    /// A description of invalid arguments.
    pub fn command_line(&self, arguments: &Value) -> Result<CommandCall, String> {
        let none = Map::new();
        let given = match arguments {
            Value::Null => &none,
            Value::Object(given) => given,
            _ => return Err("arguments: not an object".to_string()),
        };
        let known = |name: &String| self.parameters.iter().any(|parameter| parameter.name == name);
        if let Some(name) = given.keys().find(|name| !known(name)) {
            return Err(format!("'{name}': no such argument of {}", self.name));
        }
        let mut call = CommandCall {
            options: vec![self.name.to_string()],
            pattern: None,
            sessions: Vec::new(),
        };
        for parameter in self.parameters {
            match given.get(parameter.name).filter(|value| !value.is_null()) {
                Some(value) => parameter
                    .add(value, &mut call)
                    .ok_or_else(|| format!("{}: not {}", parameter.name, parameter.form()))?,
                None if parameter.is_needed() => return Err(format!("{}: missing", parameter.name)),
                None => {}
            }
        }
        // A ranking lists sessions, so it has no line limit.
        let is_ranking = call.options.iter().any(|option| option == "--rank");
        for option in self.fixed.iter().filter(|_| !is_ranking) {
            let name = option.split('=').next().unwrap_or(option);
            if !call
                .options
                .iter()
                .any(|given| given.starts_with(&format!("{name}=")))
            {
                call.options.push(option.to_string());
            }
        }
        Ok(call)
    }
}

impl Parameter {
    fn is_needed(&self) -> bool {
        matches!(self.kind, ParameterKind::Pattern | ParameterKind::Session)
    }

    fn schema(&self) -> Value {
        match self.kind {
            ParameterKind::Number => json!({"type": "integer", "minimum": 1, "description": self.about}),
            ParameterKind::Flag => json!({"type": "boolean", "description": self.about}),
            ParameterKind::Sessions => {
                json!({"type": "array", "items": {"type": "string"}, "description": self.about})
            }
            _ => json!({"type": "string", "description": self.about}),
        }
    }

    /// The expected type, for messages.
    fn form(&self) -> &'static str {
        match self.kind {
            ParameterKind::Number => "a positive number",
            ParameterKind::Flag => "true or false",
            ParameterKind::Sessions => "a list of names",
            _ => "a text",
        }
    }

    /// Adds a value to a command line; none if it has the wrong type.
    fn add(&self, value: &Value, call: &mut CommandCall) -> Option<()> {
        let option = format!("--{}", self.name.replace('_', "-"));
        match self.kind {
            // A single argument, so that the value cannot be parsed as an option.
            ParameterKind::Text => call.options.push(format!("{option}={}", value.as_str()?)),
            ParameterKind::Number => {
                // A client may write an integer as `1.0`.
                let number = value
                    .as_f64()
                    .filter(|number| *number >= 1.0 && number.fract() == 0.0)?;
                call.options.push(format!("{option}={number}"));
            }
            ParameterKind::Flag => call.options.extend(value.as_bool()?.then_some(option)),
            ParameterKind::Pattern => call.pattern = Some(value.as_str()?.to_string()),
            ParameterKind::Session => call.sessions.push(value.as_str()?.to_string()),
            ParameterKind::Sessions => {
                let names = value.as_array()?.iter();
                let names: Option<Vec<_>> = names.map(|name| name.as_str().map(str::to_string)).collect();
                call.sessions = names?;
            }
        }
        Some(())
    }
}
