//! Formats times: relative and local for people, RFC 3339 in UTC for programs.

use crate::args::{TimeOptions, TimeStyle};
use crate::output::in_line;
use convo::model::time::{self, Clock};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::sync::OnceLock;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How to format times: the reference time, the time zone and the style.
#[derive(Debug)]
pub struct Times {
    now: Timestamp,
    is_utc: bool,
    /// Determined when a time is first formatted: the database of time zones has hundreds of files.
    zone: OnceLock<TimeZone>,
    style: TimeStyle,
}

impl Times {
    /// Uses the selected options and the clock.
    pub fn new(options: TimeOptions, clock: &Clock) -> Times {
        Times {
            now: clock.timestamp(),
            is_utc: options.utc,
            zone: OnceLock::new(),
            style: options.time.unwrap_or_default(),
        }
    }

    /// Uses UTC and this reference time.
    #[cfg(test)]
    pub fn fixed(now: &str) -> Times {
        Times {
            now: now.parse().unwrap(),
            is_utc: true,
            zone: OnceLock::new(),
            style: TimeStyle::Relative,
        }
    }

    fn time_zone(&self) -> TimeZone {
        let zone = self.zone.get_or_init(|| match self.is_utc {
            true => TimeZone::UTC,
            false => TimeZone::system(),
        });
        zone.clone()
    }

    /// Formats an RFC 3339 time for people: `now`, `5m ago`, `2h ago`, `3d ago`, `11 Dec`, `Dec 2024`. Returns other
    /// text unchanged.
    pub fn shown(&self, text: &str) -> String {
        let Some(moment) = time::moment(text) else {
            return in_line(text);
        };
        let zoned = moment.to_zoned(self.time_zone());
        if self.style == TimeStyle::Iso {
            let format = match zoned.offset().seconds() {
                0 => "%Y-%m-%dT%H:%M:%SZ",
                _ => "%Y-%m-%dT%H:%M:%S%:z",
            };
            return zoned.strftime(format).to_string();
        }
        match self.now.as_second() - moment.as_second() {
            age if age.abs() < MINUTE => "now".to_string(),
            age @ 0..HOUR => format!("{}m ago", age / MINUTE),
            age @ HOUR..DAY => format!("{}h ago", age / HOUR),
            age if (DAY..7 * DAY).contains(&age) => format!("{}d ago", age / DAY),
            // Within a year, day and month are unambiguous.
            age if age.abs() < 365 * DAY => zoned.strftime("%-d %b").to_string(),
            _ => zoned.strftime("%b %Y").to_string(),
        }
    }

    /// Formats the day of a time: `11 Dec 2025`. None if the text is not a time.
    pub fn day(&self, text: &str) -> Option<String> {
        let zoned = time::moment(text)?.to_zoned(self.time_zone());
        Some(zoned.strftime("%-d %b %Y").to_string())
    }

    /// Formats hour and minute of a time: `20:37`. None if the text is not a time.
    pub fn minute(&self, text: &str) -> Option<String> {
        let zoned = time::moment(text)?.to_zoned(self.time_zone());
        Some(zoned.strftime("%H:%M").to_string())
    }

    /// The name of the time zone: `UTC`, `CET`.
    pub fn zone(&self) -> String {
        let zoned = self.now.to_zoned(self.time_zone());
        in_line(&zoned.strftime("%Z").to_string())
    }

    /// Formats a time for programs: RFC 3339 in UTC, in seconds. Returns other text unchanged.
    pub fn machine(&self, text: &str) -> String {
        machine(text)
    }
}

/// Formats a time for programs: RFC 3339 in UTC, in seconds. Returns other text unchanged.
pub fn machine(text: &str) -> String {
    // Most times already have this form.
    let bytes = text.as_bytes();
    if bytes.len() == 20 && bytes[19] == b'Z' && time::is_rfc3339(text) {
        return text.to_string();
    }
    match time::moment(text) {
        Some(moment) => moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        None => in_line(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_for_people_are_relative_and_then_dates() {
        let times = Times::fixed("2026-11-20T18:02:03Z");
        for (time, text) in [
            ("2026-11-20T18:02:03Z", "now"),
            ("2026-11-20T18:01:04Z", "now"),
            ("2026-11-20T18:02:40Z", "now"),
            ("2026-11-20T18:01:03Z", "1m ago"),
            ("2026-11-20T17:02:04Z", "59m ago"),
            ("2026-11-20T19:02:03+01:00", "now"),
            ("2026-11-20T17:02:03.999Z", "1h ago"),
            ("2026-11-19T18:02:04Z", "23h ago"),
            ("2026-11-19T18:02:03Z", "1d ago"),
            ("2026-11-13T18:02:04Z", "6d ago"),
            ("2026-11-13T18:02:03Z", "13 Nov"),
            ("2025-12-11T00:00:00Z", "11 Dec"),
            ("2025-11-20T18:02:03Z", "Nov 2025"),
            ("2024-12-11T00:00:00Z", "Dec 2024"),
            ("2026-11-20T19:00:00Z", "20 Nov"),
            ("2031-01-01T00:00:00Z", "Jan 2031"),
            ("soon\n", "soon\u{240a}"),
        ] {
            assert_eq!(times.shown(time), text, "{time}");
        }
    }

    #[test]
    fn dates_use_the_time_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(9));
        let times = Times {
            zone: OnceLock::from(zone),
            ..Times::fixed("2026-11-20T18:02:03Z")
        };
        assert_eq!(times.shown("2026-10-01T15:00:00Z"), "2 Oct");
        assert_eq!(times.day("2026-10-01T15:00:00Z").as_deref(), Some("2 Oct 2026"));
        assert_eq!(times.minute("2026-10-01T15:30:00Z").as_deref(), Some("00:30"));
        let iso = Times {
            style: TimeStyle::Iso,
            ..times
        };
        assert_eq!(iso.shown("2026-10-01T15:00:00.5Z"), "2026-10-02T00:00:00+09:00");
    }

    #[test]
    fn times_for_programs_have_one_precision() {
        for time in [
            "2026-10-01T15:00:00Z", "2026-10-01T15:00:00.123Z", "2026-10-01T17:00:00+02:00",
        ] {
            assert_eq!(machine(time), "2026-10-01T15:00:00Z");
        }
        assert_eq!(machine("soon"), "soon");
    }
}
