//! Times on the command line: points in time, and the style of printed times.

use super::duration;
use clap::{Args, ValueEnum};
use convo::model::time;
use std::time::Duration;

/// How a terminal shows times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TimeStyle {
    /// `5m ago`, `11 Dec`.
    #[default]
    Relative,
    /// RFC 3339.
    Iso,
}

/// Times on a terminal.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct TimeOptions {
    /// Show times as: relative, iso [default: relative]
    ///
    /// Applies to a terminal. Piped times are in UTC and have the form 2026-11-20T18:02:03Z.
    #[arg(long, value_name = "STYLE", hide_possible_values = true)]
    pub time: Option<TimeStyle>,
    /// Show times in UTC [default: the local time zone]
    #[arg(long, hide_short_help = true)]
    pub utc: bool,
}

/// A point in time as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePoint {
    /// This long before now.
    Ago(Duration),
    /// Seconds since 1970.
    At(i64),
}

impl TimePoint {
    /// Whether a time is before this one; both in seconds since 1970.
    pub fn is_after(self, time: i64, now: i64) -> bool {
        match self {
            TimePoint::Ago(age) => {
                let limit = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
                now.saturating_sub(time) > limit
            }
            TimePoint::At(moment) => time < moment,
        }
    }
}

/// Parses a duration (`12h`, `7d`, `2w`), a date (`2026-11-01`, at midnight local time) or a time (RFC 3339).
pub fn when(text: &str) -> Result<TimePoint, String> {
    const EXPECTED: &str = "expected a duration, a date or an RFC 3339 time, e.g. 12h, 7d, 2026-11-01";
    // A bare number is a duration everywhere else; here it could be a year.
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number && let Ok(age) = duration(text) {
        return Ok(TimePoint::Ago(age));
    }
    let moment = (text.len() >= 10)
        .then(|| time::read(text))
        .flatten()
        .and_then(|reading| time::seconds(&reading.time));
    moment.map(TimePoint::At).ok_or_else(|| EXPECTED.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_back_and_a_date_does_not() {
        assert_eq!(when("2w"), Ok(TimePoint::Ago(Duration::from_secs(14 * 86_400))));
        assert_eq!(when("90m"), Ok(TimePoint::Ago(Duration::from_secs(5400))));
        assert_eq!(when("2026-11-01T00:00:00Z"), Ok(TimePoint::At(1_793_491_200)));
        for bad in [
            "", "7", "2026", "yesterday", "2026-13-01", "2026-11-1", "-3d", "3 d",
        ] {
            assert!(when(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_age_is_over_only_when_it_is_longer() {
        let day = TimePoint::Ago(Duration::from_secs(86_400));
        assert!(!day.is_after(0, 86_400));
        assert!(day.is_after(0, 86_401));
        assert!(!day.is_after(100, 0));
        assert!(TimePoint::At(10).is_after(9, 0));
        assert!(!TimePoint::At(10).is_after(10, 0));
    }
}
