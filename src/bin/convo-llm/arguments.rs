//! The command line of `convo llm`. The plugin and `convo generate`, which writes its manual page, both compile this file;
//! so it depends on clap and the library alone.

use clap::{Args, Parser, ValueEnum, ValueHint};
use convo::model::time;
use std::path::PathBuf;
use std::time::Duration;

/// Send a session to a model and print the reply
///
/// Reads a session in any format from standard input and prints the reply as records for `convo append --stream`, or as text on a
/// terminal. Answers `convo summarize --with llm` with a summary. Stores nothing; on failure, prints no reply and exits with 69.
///
/// Model, URL and key come from options, CONVO_LLM_* variables or the table `[llm]` of the configuration file, in this order. The key
/// is never an argument. OPENAI_API_KEY and ANTHROPIC_API_KEY are sent only to their own services or to OPENAI_BASE_URL and
/// ANTHROPIC_BASE_URL.
///
/// Honors HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY except for this machine; follows no redirects.
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
pub struct LlmArguments {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    #[command(flatten)]
    pub tools: ToolArgs,
    #[command(flatten)]
    pub waiting: RequestRetries,
    #[command(flatten)]
    pub showing: ReplyOutputArgs,
    /// Input format [default: detected]
    #[arg(short, long, value_name = "FORMAT", hide_short_help = true)]
    pub from: Option<String>,
}

/// The API of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InterfaceArg {
    /// POST /v1/chat/completions: OpenAI, Ollama, vLLM, llama.cpp and most others
    OpenaiChat,
    /// POST /v1/responses
    OpenaiResponses,
    /// POST /v1/messages
    Anthropic,
}

/// The model to use.
#[derive(Args, Debug)]
#[command(next_help_heading = "Model")]
pub struct ModelArgs {
    /// Model name
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Base URL including /v1, or the complete endpoint
    ///
    /// Default: the service of the API.
    #[arg(short, long, value_name = "URL", value_hint = ValueHint::Url)]
    pub base_url: Option<String>,
    /// API: openai-chat, openai-responses, anthropic
    ///
    /// Default: from the URL, then from the model name, then openai-chat.
    #[arg(short, long, value_name = "API", value_enum, hide_possible_values = true)]
    pub api: Option<InterfaceArg>,
    /// Allow a key over plain HTTP to another machine
    ///
    /// Otherwise the run is refused with status 77. Also CONVO_LLM_INSECURE_HTTP=1.
    #[arg(long, hide_short_help = true)]
    pub insecure_http: bool,
    /// File with the API key
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,
    /// Trust only these CA certificates (PEM) [default: SSL_CERT_FILE, else Mozilla's]
    #[arg(long, value_name = "FILE", hide_short_help = true, value_hint = ValueHint::FilePath)]
    pub ca_file: Option<PathBuf>,
    /// Add a request header (repeatable); keys are rejected
    #[arg(long, value_name = "NAME=VALUE", hide_short_help = true, value_parser = header)]
    pub header: Vec<(String, String)>,
}

/// Members of the request.
#[derive(Args, Debug)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    /// Maximum length of the reply, in tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_tokens: Option<u64>,
    /// Sampling temperature
    #[arg(long, value_name = "NUMBER", value_parser = temperature)]
    pub temperature: Option<String>,
    /// File with instructions to send before the session's own
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub system: Option<PathBuf>,
    /// Set a request member: JSON or text (repeatable)
    ///
    /// Overrides defaults; null removes a member.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
    pub param: Vec<(String, String)>,
}

/// Tools that the model may call.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tools")]
pub struct ToolArgs {
    /// Offer a tool that runs a shell command (repeatable)
    ///
    /// The command receives the arguments as JSON on standard input; its standard output is the result. A nonzero status marks the
    /// result as an error and appends standard error. Repeats until the model makes no further call.
    #[arg(long = "tool", value_name = "NAME=COMMAND", value_parser = named)]
    pub commands: Vec<(String, String)>,
    /// JSON schema of a tool's parameters (repeatable)
    ///
    /// Or an object with description and parameters. Without --tool, calls are returned as records.
    #[arg(long = "tool-schema", value_name = "NAME=FILE", value_parser = named)]
    pub schemas: Vec<(String, String)>,
    /// Pass this variable to tools, although it holds a key (repeatable)
    ///
    /// CONVO_LLM_KEY, CONVO_LLM_KEY_FILE, OPENAI_API_KEY and ANTHROPIC_API_KEY are removed from the environment of a tool: the model
    /// chooses its arguments and reads its output.
    #[arg(long = "tool-env", value_name = "NAME", hide_short_help = true)]
    pub environment: Vec<String>,
    /// Maximum number of calls to run per reply
    ///
    /// Further calls are answered with an error and not run.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_calls: u32,
    /// Maximum number of calls to run in all
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub max_total_calls: u32,
    /// Kill a tool after this long
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, hide_short_help = true)]
    pub tool_timeout: Duration,
    /// Maximum number of requests
    ///
    /// Then prints the messages so far, with every call answered, and exits with 1.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: u32,
}

/// Time limits and retries.
#[derive(Args, Debug)]
#[command(next_help_heading = "Timeouts and retries")]
pub struct RequestRetries {
    /// Time limit of a reply [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Time limit to connect [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub connect_timeout: Option<Duration>,
    /// Longest pause in a streamed reply [default: 2m]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub idle_timeout: Option<Duration>,
    /// Retries after a failure [default: 3]
    ///
    /// On status 429 or 5xx, connection failures, and replies cut off before any text was shown.
    #[arg(long, value_name = "N")]
    pub retries: Option<u32>,
    /// Delay before a retry; doubles each time [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub backoff: Option<Duration>,
    /// Longest Retry-After to honor [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub max_wait: Option<Duration>,
}

/// Form of the output.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct ReplyOutputArgs {
    /// Stream the reply [default: on a terminal]
    #[arg(long, overrides_with = "no_stream")]
    pub stream: bool,
    /// Request the reply in one piece
    #[arg(long)]
    pub no_stream: bool,
    /// Print records [default: unless on a terminal]
    #[arg(long, conflicts_with = "text")]
    pub json: bool,
    /// Print only text
    #[arg(long)]
    pub text: bool,
    /// Also print partial text as JSON lines
    ///
    /// {"type":"partial","text":"..."}, then the records to store. Also CONVO_PARTIAL=1.
    #[arg(long, conflicts_with = "text")]
    pub partial: bool,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// A duration of more than 0, at most a week.
pub fn duration(text: &str) -> Result<Duration, String> {
    match time::duration(text) {
        Ok(Duration::ZERO) => Err("expected more than 0".to_string()),
        Ok(time) if time > LONGEST => Err("too long".to_string()),
        duration => duration,
    }
}

/// The longest time span: a week.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// Checks a temperature; it is sent as written.
pub fn temperature(text: &str) -> Result<String, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number.to_string()),
        _ => Err("expected a number of at least 0".to_string()),
    }
}

fn named(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=...")?;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(letter) {
        return Err("a tool's name is up to 64 letters, digits, _ and -".to_string());
    }
    match value.trim() {
        "" => Err("expected a value after '='".to_string()),
        value => Ok((name.to_string(), value.to_string())),
    }
}

fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("expected NAME=VALUE".to_string()),
    }
}

/// Headers that carry a key; rejected because other users of the machine can see arguments.
const SECRET: [&str; 6] = [
    "authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie",
];

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = parameter(text)?;
    let token = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if !name.bytes().all(token) || !value.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return Err("invalid header name or value".to_string());
    }
    if SECRET.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(
            "arguments are visible to other users: give the key in CONVO_LLM_KEY or --key-file".to_string(),
        );
    }
    Ok((name, value))
}
