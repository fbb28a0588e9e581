//! Failed attempts, and retries with backoff.

use crate::output::Output;
use crate::settings::LlmSettings;
use convo::error::{Error, ErrorKind, Result};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use std::time::Duration;

/// A failed attempt.
#[derive(Debug)]
pub struct RequestFailure {
    pub what: String,
    pub hint: Option<String>,
    /// Whether a retry may succeed.
    pub is_retryable: bool,
    /// How long to wait, as the service requested.
    pub after: Option<Duration>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// A local error, e.g. of writing, not an error of the service.
    own: Option<Box<Error>>,
}

impl RequestFailure {
    /// A failure that a retry would repeat.
    pub fn new(what: impl Into<String>) -> RequestFailure {
        RequestFailure {
            what: what.into(),
            hint: None,
            is_retryable: false,
            after: None,
            status: None,
            own: None,
        }
    }

    /// A temporary failure.
    pub fn retryable(what: impl Into<String>) -> RequestFailure {
        RequestFailure {
            is_retryable: true,
            ..RequestFailure::new(what)
        }
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> RequestFailure {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the requested waiting time.
    pub fn after(mut self, after: Option<Duration>) -> RequestFailure {
        self.after = after;
        self
    }
}

impl From<Error> for RequestFailure {
    fn from(error: Error) -> RequestFailure {
        RequestFailure {
            own: Some(Box::new(error)),
            ..RequestFailure::new("")
        }
    }
}

impl From<RequestFailure> for Error {
    fn from(failure: RequestFailure) -> Error {
        if let Some(own) = failure.own {
            return *own;
        }
        let error = Error::new(ErrorKind::Unavailable, failure.what);
        match failure.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// Maximum delay between attempts unless the service requests more.
const LONGEST: Duration = Duration::from_secs(60);

/// Retries until success, a permanent failure, or the maximum number of attempts.
pub fn retried<T>(
    settings: &LlmSettings,
    output: &Output,
    mut attempt: impl FnMut() -> std::result::Result<T, RequestFailure>,
) -> Result<T> {
    let mut wait = settings.backoff;
    for left in (0..=settings.retries).rev() {
        let mut failure = match attempt() {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        if left == 0 || !failure.is_retryable {
            return Err(failure.into());
        }
        let requested = failure.after.filter(|requested| *requested > settings.max_wait);
        if let Some(requested) = requested {
            failure.what += &format!("; retry after {}", span(requested));
            let hint = format!("wait as long with --max-wait {}s", requested.as_secs() + 1);
            return Err(failure.hint(hint).into());
        }
        let pause = failure.after.unwrap_or(wait);
        output.print_notice(&format!("{}; retrying in {}", failure.what, span(pause)));
        std::thread::sleep(pause);
        wait = (wait * 2).min(LONGEST);
    }
    Err(Error::new(ErrorKind::Unavailable, "no request was sent"))
}

/// Formats a duration.
pub fn span(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (seconds, 0) => format!("{seconds} s"),
        (0, milliseconds) => format!("{milliseconds} ms"),
        (seconds, milliseconds) => format!("{seconds}.{milliseconds:03} s"),
    }
}

/// Parses `Retry-After`: seconds, or a date, which is compared with the reply's own date if present, because clocks
/// differ. Source: RFC 9110, 10.2.3.
pub fn later(text: &str, date: Option<&str>) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let moment = |text: &str| Some(rfc2822::parse(text.trim()).ok()?.timestamp());
    let then = moment(text)?;
    let now = date.and_then(moment).unwrap_or_else(Timestamp::now);
    let seconds = then.as_second() - now.as_second();
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_seconds_or_a_date() {
        let date = Some("Wed, 21 Oct 2026 07:28:00 GMT");
        assert_eq!(later("7", None), Some(Duration::from_secs(7)));
        assert_eq!(later(" 0.5 ", None), Some(Duration::from_millis(500)));
        let then = "Wed, 21 Oct 2026 07:28:42 GMT";
        assert_eq!(later(then, date), Some(Duration::from_secs(42)));
        assert_eq!(later("Wed, 21 Oct 2026 07:27:00 GMT", date), Some(Duration::ZERO));
        assert_eq!(later("Mon, 01 Jan 2001 00:00:00 GMT", None), Some(Duration::ZERO));
        for wrong in ["", "soon", "-1", "1e400", "NaN", "Wed, 99 Oct 2026 07:28:42 GMT"] {
            assert_eq!(later(wrong, date), None, "{wrong}");
        }
    }
}
