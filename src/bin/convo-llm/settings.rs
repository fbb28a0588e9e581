//! Service, model and limits: options, then the environment, then the table `[llm]` of the configuration file.

use crate::arguments::{self, InterfaceArg, LlmArguments};
use crate::environment::variable;
use crate::key::{self, ApiKey};
use convo::error::{Error, ErrorKind, Result};
use convo::filter::toml_error;
use convo::format::request::Api;
use convo::model::json::{self, Dialect, quoted};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::http::Uri;

/// The settings of a run.
#[derive(Debug)]
pub struct LlmSettings {
    pub api: Api,
    /// The request URL.
    pub url: Uri,
    pub model: String,
    pub key: Option<ApiKey>,
    pub ca_file: Option<PathBuf>,
    pub headers: Vec<(String, String)>,
    pub max_tokens: Option<u64>,
    pub temperature: Option<String>,
    /// Additional request members as JSON; `None` removes a member.
    pub parameters: Vec<(String, Option<Vec<u8>>)>,
    pub timeout: Duration,
    pub connect_timeout: Duration,
    pub idle_timeout: Duration,
    pub retries: u32,
    pub backoff: Duration,
    pub max_wait: Duration,
}

/// The table `[llm]`; each key is also an option.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table", rename_all = "kebab-case")]
struct LlmTable {
    api: Option<String>,
    base_url: Option<String>,
    model: Option<String>,
    insecure_http: Option<bool>,
    key_file: Option<PathBuf>,
    ca_file: Option<PathBuf>,
    max_tokens: Option<u64>,
    temperature: Option<f64>,
    timeout: Option<String>,
    connect_timeout: Option<String>,
    idle_timeout: Option<String>,
    retries: Option<u32>,
    backoff: Option<String>,
    max_wait: Option<String>,
}

/// The config file; convo parses its other tables.
#[derive(Debug, Default, Deserialize)]
struct ConfigFile {
    #[serde(default)]
    llm: LlmTable,
}

/// Default base URLs.
const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com";

impl LlmSettings {
    /// Merges command line, environment and config file. `warn` receives warnings.
    pub fn new(arguments: &LlmArguments, warn: &dyn Fn(&str)) -> Result<LlmSettings> {
        let table = table()?;
        let (requested, waiting) = (&arguments.model, &arguments.waiting);
        let model = text(&requested.model, "MODEL", table.model).ok_or_else(|| {
            let hint = "use --model, CONVO_LLM_MODEL or model in [llm] of the configuration file";
            Error::new(ErrorKind::Config, "no model given").hint(hint)
        })?;
        let named = match requested.api {
            Some(api) => Some(api),
            None => variable("CONVO_LLM_API")
                .or(table.api)
                .map(interface)
                .transpose()?,
        };
        let base = text(&requested.base_url, "BASE_URL", table.base_url);
        let place = RequestTarget::find(named, base, &model)?;
        let key_file = requested.key_file.clone();
        let key_file = key_file
            .or(variable("CONVO_LLM_KEY_FILE").map(PathBuf::from))
            .or(table.key_file);
        let key = key::find(key_file.as_deref(), place.own_key, warn)?;
        let host = place.url.host().unwrap_or_default();
        if key.is_none() && matches!(host, "api.openai.com" | "api.anthropic.com") {
            let error = Error::new(ErrorKind::Config, format!("{host}: no API key"));
            let hint = format!("set CONVO_LLM_KEY or {}, or use --key-file", place.usual_key());
            return Err(error.hint(hint));
        }
        if key.is_some() && place.url.scheme_str() == Some("http") && !is_here(host) {
            let is_allowed = requested.insecure_http
                || variable("CONVO_LLM_INSECURE_HTTP").is_some_and(|set| set == "1")
                || table.insecure_http.unwrap_or_default();
            if !is_allowed {
                let error = Error::new(
                    ErrorKind::Unsafe,
                    format!("{host}: a key over plain HTTP to another machine"),
                );
                return Err(error.hint("use an https:// address, or accept the risk with --insecure-http"));
            }
        }
        let ca_file = requested
            .ca_file
            .clone()
            .or(variable("CONVO_LLM_CA_FILE").map(PathBuf::from));
        let ca_file = ca_file
            .or(table.ca_file)
            .or(variable("SSL_CERT_FILE").map(PathBuf::from));
        let temperature = match (&arguments.request.temperature, table.temperature) {
            (Some(given), _) => Some(given.clone()),
            (None, known) => variable("CONVO_LLM_TEMPERATURE")
                .or(known.map(|number| number.to_string()))
                .map(|text| arguments::temperature(&text).map_err(|why| wrong("temperature", &why)))
                .transpose()?,
        };
        let time = |name, given, known: Option<String>, default| duration(name, given, known, default);
        Ok(LlmSettings {
            api: place.api,
            url: place.url,
            model,
            key,
            ca_file,
            headers: requested.header.clone(),
            max_tokens: number("max-tokens", arguments.request.max_tokens, table.max_tokens)?,
            temperature,
            parameters: arguments.request.param.iter().map(parameter).collect(),
            timeout: time("timeout", waiting.timeout, table.timeout, 600)?,
            connect_timeout: time(
                "connect-timeout", waiting.connect_timeout, table.connect_timeout, 10,
            )?,
            idle_timeout: time("idle-timeout", waiting.idle_timeout, table.idle_timeout, 120)?,
            retries: number("retries", waiting.retries, table.retries)?.unwrap_or(3),
            backoff: time("backoff", waiting.backoff, table.backoff, 1)?,
            max_wait: time("max-wait", waiting.max_wait, table.max_wait, 60)?,
        })
    }

    /// The host name, for messages.
    pub fn host(&self) -> String {
        let authority = self.url.authority();
        authority.map(ToString::to_string).unwrap_or_default()
    }
}

struct RequestTarget {
    api: Api,
    url: Uri,
    /// The variable with the usual key of this service; none for any other host.
    own_key: Option<&'static str>,
}

impl RequestTarget {
    /// Determines the API: as given, else from the URL, else from the model name.
    fn find(named: Option<InterfaceArg>, base: Option<String>, model: &str) -> Result<RequestTarget> {
        let named = named.map(|interface| match interface {
            InterfaceArg::OpenaiChat => Api::OpenaiChat,
            InterfaceArg::OpenaiResponses => Api::OpenaiResponses,
            InterfaceArg::Anthropic => Api::Anthropic,
        });
        if let Some(base) = base {
            let base = address(&base)?;
            let api = named.unwrap_or_else(|| api_of_url(&base));
            let own_key = match base.host() {
                Some("api.openai.com") => Some("OPENAI_API_KEY"),
                Some("api.anthropic.com") => Some("ANTHROPIC_API_KEY"),
                _ => None,
            };
            return Ok(RequestTarget {
                api,
                url: complete_url(api, &base)?,
                own_key,
            });
        }
        let claude = model.starts_with("claude") && variable("OPENAI_BASE_URL").is_none();
        let api = named.unwrap_or(if claude { Api::Anthropic } else { Api::OpenaiChat });
        let (usual, default, own_key) = match api {
            Api::Anthropic => ("ANTHROPIC_BASE_URL", ANTHROPIC, "ANTHROPIC_API_KEY"),
            _ => ("OPENAI_BASE_URL", OPENAI, "OPENAI_API_KEY"),
        };
        let base = address(&variable(usual).unwrap_or_else(|| default.to_string()))?;
        Ok(RequestTarget {
            api,
            url: complete_url(api, &base)?,
            own_key: Some(own_key),
        })
    }

    fn usual_key(&self) -> &'static str {
        self.own_key.unwrap_or("OPENAI_API_KEY")
    }
}

/// Parses a URL and checks its scheme.
fn address(text: &str) -> Result<Uri> {
    let wrong = |what: &str| {
        Error::new(ErrorKind::Config, format!("base URL: {what}"))
            .hint("use an address such as https://host/v1 or http://127.0.0.1:11434/v1")
    };
    let uri: Uri = text.trim().parse().map_err(|_| wrong("not an address"))?;
    match (uri.scheme_str(), uri.authority()) {
        (_, Some(authority)) if authority.as_str().contains('@') => {
            Err(wrong("contains a user or a password, which other users can see"))
        }
        (Some("http" | "https"), Some(_)) if uri.query().is_none() => Ok(uri),
        (Some("http" | "https"), Some(_)) => Err(wrong("contains a query after '?'")),
        _ => Err(wrong("starts with neither https:// nor http://")),
    }
}

/// The API that a URL indicates.
fn api_of_url(base: &Uri) -> Api {
    let path = base.path().trim_end_matches('/');
    let host = base.host().unwrap_or_default();
    if host.ends_with("anthropic.com") || path.contains("anthropic") || path.ends_with("/messages") {
        Api::Anthropic
    } else if path.ends_with("/responses") {
        Api::OpenaiResponses
    } else {
        Api::OpenaiChat
    }
}

/// Completes the path of a base URL.
fn complete_url(api: Api, base: &Uri) -> Result<Uri> {
    let end = match api {
        Api::Anthropic => "/messages",
        Api::OpenaiResponses => "/responses",
        _ => "/chat/completions",
    };
    let path = base.path().trim_end_matches('/');
    let path = match (api, path) {
        (_, path) if path.ends_with(end) => path.to_string(),
        (_, "") => format!("/v1{end}"),
        // Anthropic's own programs use the base URL without the version.
        (Api::Anthropic, path) if !path.ends_with("/v1") => format!("{path}/v1{end}"),
        (_, path) => format!("{path}{end}"),
    };
    let scheme = base.scheme_str().unwrap_or("https");
    let authority = base.authority().map(ToString::to_string).unwrap_or_default();
    format!("{scheme}://{authority}{path}")
        .parse()
        .map_err(|_| Error::new(ErrorKind::Config, "base URL: not an address"))
}

/// Whether a host is this machine.
pub fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn parameter((name, value): &(String, String)) -> (String, Option<Vec<u8>>) {
    let raw = value.trim().as_bytes();
    if raw == b"null" {
        return (name.clone(), None);
    }
    let raw = match json::value_end(raw, 0, Dialect::Strict) {
        Ok(end) if end == raw.len() => raw.to_vec(),
        _ => quoted(value),
    };
    (name.clone(), Some(raw))
}

fn text(given: &Option<String>, name: &str, known: Option<String>) -> Option<String> {
    let given = given.clone().filter(|text| !text.is_empty());
    given.or_else(|| variable(&format!("CONVO_LLM_{name}"))).or(known)
}

fn interface(name: String) -> Result<InterfaceArg> {
    <InterfaceArg as clap::ValueEnum>::from_str(&name, false)
        .map_err(|_| wrong("api", "expected openai-chat, openai-responses or anthropic"))
}

/// The variable of an option, e.g. `CONVO_LLM_MAX_WAIT` for `max-wait`.
fn variable_of(name: &str) -> String {
    format!("CONVO_LLM_{}", name.to_ascii_uppercase().replace('-', "_"))
}

fn number<N: std::str::FromStr>(name: &str, given: Option<N>, known: Option<N>) -> Result<Option<N>> {
    if given.is_some() {
        return Ok(given);
    }
    match variable(&variable_of(name)) {
        Some(text) => text
            .parse()
            .map(Some)
            .map_err(|_| wrong(name, "expected a number")),
        None => Ok(known),
    }
}

fn duration(name: &str, given: Option<Duration>, known: Option<String>, default: u64) -> Result<Duration> {
    match (given, variable(&variable_of(name)).or(known)) {
        (Some(time), _) => Ok(time),
        (None, Some(text)) => arguments::duration(&text).map_err(|why| wrong(name, &why)),
        (None, None) => Ok(Duration::from_secs(default)),
    }
}

fn wrong(name: &str, why: &str) -> Error {
    Error::new(
        ErrorKind::Config,
        format!("{name} in the environment or the configuration file: {why}"),
    )
}

/// Reads the table from the given config file, or from the default one if it exists.
fn table() -> Result<LlmTable> {
    let named = variable("CONVO_CONFIG").map(PathBuf::from);
    let usual = || {
        let dir = variable("XDG_CONFIG_HOME").filter(|path| path.starts_with('/'));
        let dir = dir.map(PathBuf::from);
        let dir = dir.or_else(|| Some(Path::new(&variable("HOME")?).join(".config")));
        dir.map(|dir| dir.join("convo/config.toml"))
    };
    let Some(path) = named.clone().or_else(usual) else {
        return Ok(LlmTable::default());
    };
    let at = |error: Error| error.at(path.to_string_lossy(), convo::error::Position::default());
    // Opening a FIFO would block, and a device may be endless. /dev/null is an empty file.
    let is_read = |about: std::fs::Metadata| about.is_file() || path == Path::new("/dev/null");
    if std::fs::metadata(&path).is_ok_and(|about| !is_read(about)) {
        return Err(at(Error::new(ErrorKind::Config, "not a regular file")));
    }
    match std::fs::read_to_string(&path) {
        Ok(text) => toml_error::read::<ConfigFile>(&text)
            .map(|file| file.llm)
            .map_err(at),
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            Ok(LlmTable::default())
        }
        Err(error) => Err(at(Error::io("cannot read", error).kind(ErrorKind::Config))),
    }
}
