//! The command line of `convo llm`. It is read twice: by the plugin, and by `convo generate`, which makes its manual page;
//! so it knows nothing but clap.

use clap::{Args, Parser, ValueEnum, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

/// Ask a model for a reply, or for a summary
///
/// Reads a session from standard input, in any format that convo reads, and prints the reply as message records, for
/// `convo append --stream`; on a terminal the text alone, as it comes. What `convo summarize --with llm` asks is answered
/// with a summary. Nothing is stored here, and what fails prints no reply: the status is 69.
///
/// Which model, where and with which key is said by options, by the environment (CONVO_LLM_MODEL and so on, as the options
/// are called), or by the table `[llm]` of the config file. The key comes from CONVO_LLM_KEY or a file, never from an
/// argument. OPENAI_API_KEY and ANTHROPIC_API_KEY count as well, but they are sent to their own services only, or to
/// OPENAI_BASE_URL and ANTHROPIC_BASE_URL.
///
/// HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY are heeded; this machine itself is never reached through a proxy.
/// Redirects are refused, so that a key goes where it was meant to go.
#[derive(Parser, Debug)]
#[command(
    name = "convo llm",
    bin_name = "convo llm",
    version,
    max_term_width = 110,
    before_long_help = "Examples:
  convo append chat 'And in Rome?' && convo context chat | convo llm -m gpt-4o | convo append chat --stream
  convo context chat | convo llm -m claude-sonnet-4-5
  convo context chat | convo llm -m qwen3 --base-url http://127.0.0.1:11434/v1      a local server
  convo summarize chat --with llm                                                   with CONVO_LLM_MODEL set
  convo context chat | convo llm --tool date=date --tool-schema page=page.json"
)]
pub struct Arguments {
    #[command(flatten)]
    pub model: Model,
    #[command(flatten)]
    pub request: Request,
    #[command(flatten)]
    pub tools: Tools,
    #[command(flatten)]
    pub waiting: Waiting,
    #[command(flatten)]
    pub showing: Showing,
    /// Read standard input as this format [default: detected]
    #[arg(short, long, value_name = "FORMAT", hide_short_help = true)]
    pub from: Option<String>,
}

/// An interface that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Interface {
    /// POST /v1/chat/completions: OpenAI, Ollama, vLLM, llama.cpp and most others
    OpenaiChat,
    /// POST /v1/responses
    OpenaiResponses,
    /// POST /v1/messages
    Anthropic,
}

/// Who is asked.
#[derive(Args, Debug)]
#[command(next_help_heading = "The model")]
pub struct Model {
    /// The model, as its service calls it
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Where: up to and with /v1, or the whole address
    ///
    /// By default the service that the interface is of.
    #[arg(short, long, value_name = "URL", value_hint = ValueHint::Url)]
    pub base_url: Option<String>,
    /// The interface: openai-chat, openai-responses, anthropic
    ///
    /// By default what the address shows, else what the model's name does, else openai-chat.
    #[arg(short, long, value_name = "API", value_enum, hide_possible_values = true)]
    pub api: Option<Interface>,
    /// A file with the key in it, and nothing else
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,
    /// Trust the authorities of this PEM file alone [default: SSL_CERT_FILE, else Mozilla's]
    #[arg(long, value_name = "FILE", hide_short_help = true, value_hint = ValueHint::FilePath)]
    pub ca_file: Option<PathBuf>,
    /// A header of the request (repeatable); a key is refused here
    #[arg(long, value_name = "NAME=VALUE", hide_short_help = true, value_parser = header)]
    pub header: Vec<(String, String)>,
}

/// What is sent beside the session.
#[derive(Args, Debug)]
#[command(next_help_heading = "The request")]
pub struct Request {
    /// Most tokens of a reply
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_tokens: Option<u64>,
    /// How much chance there is in it
    #[arg(long, value_name = "NUMBER", value_parser = temperature)]
    pub temperature: Option<String>,
    /// Instructions ahead of the session's own; not stored
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub system: Option<PathBuf>,
    /// Another member: JSON, or else text (repeatable)
    ///
    /// It takes the place of one that is sent by itself; null takes that out.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
    pub param: Vec<(String, String)>,
}

/// What the model may call.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tools")]
pub struct Tools {
    /// Offer a tool whose calls a command answers (repeatable)
    ///
    /// The shell runs it: the arguments are JSON on its standard input, what it prints is the result. With another status than
    /// 0 the result is marked as an error and ends with what it said on standard error. The model is asked again with the
    /// results, until it calls nothing more.
    #[arg(long = "tool", value_name = "NAME=COMMAND", value_parser = named)]
    pub commands: Vec<(String, String)>,
    /// What a tool takes, as JSON schema (repeatable)
    ///
    /// Or an object with description and parameters, as the interfaces spell tools. Without a --tool of this name it is offered all the same, and its calls come back as records.
    #[arg(long = "tool-schema", value_name = "NAME=FILE", value_parser = named)]
    pub schemas: Vec<(String, String)>,
    /// How long a command may take
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, hide_short_help = true)]
    pub tool_timeout: Duration,
    /// How often the model is asked at most
    ///
    /// What was said by then is printed, every call answered, and the status is 1.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: u32,
}

/// How long, and how often.
#[derive(Args, Debug)]
#[command(next_help_heading = "Waiting")]
pub struct Waiting {
    /// How long a reply may take [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// How long it may take to get through [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub connect_timeout: Option<Duration>,
    /// How long nothing may come of a reply that is streamed [default: 2m]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub idle_timeout: Option<Duration>,
    /// How often to ask again when it fails [default: 3]
    ///
    /// Asked again is a service that is busy (429), fails (5xx) or cannot be reached, and one whose reply was cut off while
    /// nothing of it was shown.
    #[arg(long, value_name = "N")]
    pub retries: Option<u32>,
    /// How long to wait before that; each further time doubles it [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub backoff: Option<Duration>,
    /// How long to wait at most when the service says how long [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub max_wait: Option<Duration>,
}

/// What is printed.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct Showing {
    /// Have the reply sent piece by piece [default: on a terminal]
    #[arg(long, overrides_with = "no_stream")]
    pub stream: bool,
    /// Have it sent as a whole
    #[arg(long)]
    pub no_stream: bool,
    /// Print records [default: unless it is a terminal]
    #[arg(long, conflicts_with = "text")]
    pub json: bool,
    /// Print the text alone
    #[arg(long)]
    pub text: bool,
    /// Print the text as it comes too, as JSON lines
    ///
    /// Lines {"type":"partial","text":"..."}, then the records; only these are to be kept. Also CONVO_PARTIAL=1.
    #[arg(long, conflicts_with = "text")]
    pub partial: bool,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// A span of time: a number and `ms`, `s`, `m` or `h`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "a time is a number and ms, s, m or h".to_string();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor: u64 = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    match number.checked_mul(factor) {
        Some(0) => Err("it must be more than nothing".to_string()),
        Some(time) if time <= LONGEST => Ok(Duration::from_millis(time)),
        _ => Err("too long".to_string()),
    }
}

/// A week, in milliseconds: no more can be meant.
const LONGEST: u64 = 7 * 86_400_000;

/// Reads a temperature; it stays as it is spelled.
pub fn temperature(text: &str) -> Result<String, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number.to_string()),
        _ => Err("this must be a number from 0 on".to_string()),
    }
}

fn named(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("this must be NAME=...")?;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(letter) {
        return Err("a tool's name is up to 64 letters, digits, _ and -".to_string());
    }
    match value.trim() {
        "" => Err("behind = there must be something".to_string()),
        value => Ok((name.to_string(), value.to_string())),
    }
}

fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("this must be NAME=VALUE".to_string()),
    }
}

/// Headers that carry a key: arguments are seen by everybody on the machine.
const SECRET: [&str; 6] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
];

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = parameter(text)?;
    let token = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if !name.bytes().all(token) || !value.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return Err("no such header can be sent".to_string());
    }
    if SECRET.contains(&name.to_ascii_lowercase().as_str()) {
        return Err("others see arguments: a key belongs in CONVO_LLM_KEY or --key-file".to_string());
    }
    Ok((name, value))
}
