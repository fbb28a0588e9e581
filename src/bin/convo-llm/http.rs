//! Sends one request over HTTP and reads the response or its error.

use crate::environment::variable;
use crate::retry::{RequestFailure, later};
use crate::settings::{LlmSettings, is_here};
use convo::error::{Error, ErrorKind, Result};
use convo::format::request::Api;
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use ureq::http::{HeaderMap, Response, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Proxy, Timeout};

/// Maximum size of a reply in bytes.
const MAXIMUM: u64 = 64 << 20;

/// Maximum size of an error body in bytes.
const MOST_OF_ERROR: u64 = 64 << 10;

/// The version of the Anthropic API.
const VERSION: &str = "2023-06-01";

/// A service and its HTTP client.
pub struct Service<'s> {
    settings: &'s LlmSettings,
    agent: Agent,
}

impl<'s> Service<'s> {
    /// Creates the client: reads CA certificates and looks up a proxy, but sends nothing.
    pub fn new(settings: &'s LlmSettings) -> Result<Service<'s>> {
        let roots = match &settings.ca_file {
            Some(path) => authorities(path)?,
            None => RootCerts::WebPki,
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect could send the key to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(settings.connect_timeout))
            .timeout_global(Some(settings.timeout))
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .proxy(proxy(&settings.url)?)
            .user_agent(concat!("convo-llm/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Service {
            settings,
            agent: config.new_agent(),
        })
    }

    /// Posts a body; returns a reader for a successful response.
    pub fn post(&self, body: &[u8], stream: bool) -> std::result::Result<ResponseBody, RequestFailure> {
        let settings = self.settings;
        let accept = if stream {
            "text/event-stream"
        } else {
            "application/json"
        };
        let mut request = self
            .agent
            .post(&settings.url)
            .header("content-type", "application/json")
            .header("accept", accept);
        for (name, value) in &settings.headers {
            request = request.header(name, value);
        }
        if settings.api == Api::Anthropic && !settings.headers.iter().any(|(name, _)| is_version(name)) {
            request = request.header("anthropic-version", VERSION);
        }
        match (&settings.key, settings.api) {
            (Some(key), Api::Anthropic) => request = request.header("x-api-key", key.reveal()),
            (Some(key), _) => request = request.header("authorization", format!("Bearer {}", key.reveal())),
            (None, _) => {}
        }
        // A reply in one piece may take long to begin.
        let idle = stream.then_some(settings.idle_timeout);
        let request = request.config().timeout_per_read(idle).build();
        let response = request.send(body).map_err(|error| self.failed(error))?;
        match response.status().as_u16() {
            200..=299 => Ok(ResponseBody {
                body: response.into_body().into_with_config().limit(MAXIMUM).reader(),
            }),
            status => Err(self.refused(status, response)),
        }
    }

    /// Converts a transport error.
    pub fn failed(&self, error: ureq::Error) -> RequestFailure {
        let host = self.settings.host();
        let after = |time: Duration| format!("{} ms", time.as_millis());
        let settings = self.settings;
        match error {
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => RequestFailure::retryable(format!(
                "no connection to {host} within {}",
                after(settings.connect_timeout)
            )),
            ureq::Error::Timeout(Timeout::PerRead) => RequestFailure::retryable(format!(
                "no data from {host} for {}",
                after(settings.idle_timeout)
            )),
            ureq::Error::Timeout(_) => {
                let what = format!("no complete reply from {host} within {}", after(settings.timeout));
                RequestFailure::new(what).hint("raise --timeout")
            }
            ureq::Error::HostNotFound => RequestFailure::retryable(format!("{host}: unknown host")),
            ureq::Error::ConnectionFailed => RequestFailure::retryable(format!("no connection to {host}")),
            ureq::Error::BodyExceedsLimit(_) => {
                RequestFailure::new(format!("the reply from {host} is longer than {MAXIMUM} bytes"))
            }
            ureq::Error::Rustls(error) => untrusted(&host, &error.to_string()),
            ureq::Error::Tls(what) => untrusted(&host, what),
            ureq::Error::Io(error)
                if error.kind() == std::io::ErrorKind::InvalidData
                    && settings.url.scheme_str() == Some("https") =>
            {
                untrusted(&host, &error.to_string())
            }
            ureq::Error::Io(error) => {
                RequestFailure::retryable(format!("the connection to {host} failed: {error}"))
            }
            ureq::Error::ConnectProxyFailed(why) => RequestFailure::new(format!("the proxy refused: {why}")),
            // The library parses a server-provided URL only for a redirect; a retry would fail in the same way.
            ureq::Error::Protocol(error) if error.to_string().contains("header") => {
                RequestFailure::new(format!("{host} sent an invalid header: {error}"))
            }
            ureq::Error::Protocol(error) => {
                RequestFailure::retryable(format!("incomplete reply from {host}: {error}"))
            }
            error => RequestFailure::new(format!("request to {host} failed: {error}")),
        }
    }

    /// Converts an unsuccessful HTTP status.
    fn refused(&self, status: u16, response: Response<Body>) -> RequestFailure {
        let host = self.settings.host();
        let headers = response.headers().clone();
        if (300..400).contains(&status) {
            let place = headers.get("location").and_then(|value| value.to_str().ok());
            let place = place.and_then(|text| text.parse::<Uri>().ok());
            let elsewhere = place.as_ref().and_then(Uri::host).unwrap_or("another address");
            let what =
                format!("{host} redirects to {elsewhere} (status {status}); redirects are not followed");
            return RequestFailure::new(what).hint("give the final address with --base-url");
        }
        let mut body = Vec::new();
        // A partial error body is better than none.
        let _ = response
            .into_body()
            .into_with_config()
            .limit(MOST_OF_ERROR)
            .reader()
            .read_to_end(&mut body);
        let reason = crate::service_error::of_error(&body);
        let reason = match (&self.settings.key, reason) {
            (Some(key), Some(reason)) => Some(key.out_of(&reason)),
            (_, reason) => reason,
        };
        let what = match reason {
            Some(reason) => format!("{host}: status {status}: {reason}"),
            None => format!("{host}: status {status}"),
        };
        let mut failure = match status {
            _ if header(&headers, "x-should-retry") == Some("false") => RequestFailure::new(what),
            // Waiting does not restore a quota.
            429 if crate::service_error::is_quota(&body) => RequestFailure::new(what),
            408 | 425 | 429 | 500..=599 => RequestFailure::retryable(what).after(requested_wait(&headers)),
            _ => RequestFailure::new(what),
        };
        if status == 401 && self.settings.key.is_none() {
            failure = failure.hint("give a key with CONVO_LLM_KEY or --key-file");
        }
        failure.status = Some(status);
        failure
    }
}

fn is_version(name: &str) -> bool {
    name.eq_ignore_ascii_case("anthropic-version")
}

/// The body of a response, read as it arrives.
pub struct ResponseBody {
    body: ureq::BodyReader<'static>,
}

impl ResponseBody {
    /// Reads available bytes; 0 at the end.
    pub fn read(
        &mut self,
        buffer: &mut [u8],
        service: &Service<'_>,
    ) -> std::result::Result<usize, RequestFailure> {
        loop {
            match self.body.read(buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(service.failed(ureq::Error::from(error))),
                Ok(read) => return Ok(read),
            }
        }
    }
}

fn untrusted(host: &str, why: &str) -> RequestFailure {
    let failure = RequestFailure::new(format!("no secure connection to {host}: {why}"));
    failure.hint("trust a CA of your own with --ca-file")
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// How long the service asks the client to wait.
fn requested_wait(headers: &HeaderMap) -> Option<Duration> {
    later(header(headers, "retry-after")?, header(headers, "date"))
}

fn authorities(path: &Path) -> Result<RootCerts> {
    let name = path.to_string_lossy();
    let pem = std::fs::read(path).map_err(|error| {
        Error::io(format!("{name}: cannot read CA certificates"), error).kind(ErrorKind::Config)
    })?;
    let mut found = Vec::new();
    for item in parse_pem(&pem) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(Error::new(ErrorKind::Config, format!("{name}: {error}"))),
        }
    }
    if found.is_empty() {
        return Err(Error::new(
            ErrorKind::Config,
            format!("{name}: contains no certificate"),
        ));
    }
    Ok(RootCerts::new_with_certs(&found))
}

/// The proxy for a URL from the environment. This machine is always reached directly.
fn proxy(url: &Uri) -> Result<Option<Proxy>> {
    if is_here(url.host().unwrap_or_default()) {
        return Ok(None);
    }
    let names: &[&str] = match url.scheme_str() {
        Some("http") => &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
        _ => &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
    };
    let Some((name, value)) = names.iter().find_map(|name| Some((name, variable(name)?))) else {
        return Ok(None);
    };
    let proxy = Proxy::new(&value)
        .map_err(|_| Error::new(ErrorKind::Config, format!("{name}: not a proxy address")))?;
    // Only the library parses NO_PROXY, and only when it reads the proxy too.
    let excepted = Proxy::try_from_env().is_some_and(|known| known.is_no_proxy(url));
    Ok((!excepted).then_some(proxy))
}
