//! Timestamps: the clock, and parsing of the time formats of other systems.

use crate::error::{Error, ErrorKind, Result};
use jiff::{Timestamp, civil, tz::TimeZone};
use std::time::Duration;

/// The system clock, or the fixed time in `CONVO_NOW`.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    fixed: Option<Timestamp>,
}

impl Clock {
    /// From the value of `CONVO_NOW`: RFC 3339, or seconds since 1970.
    pub fn new(now: Option<&str>) -> Result<Clock> {
        let Some(text) = now else {
            return Ok(Clock { fixed: None });
        };
        let fixed = match text.parse::<i64>() {
            Ok(seconds) => Timestamp::from_second(seconds).ok(),
            Err(_) => text.parse().ok(),
        };
        match fixed {
            Some(_) => Ok(Clock { fixed }),
            None => Err(Error::new(
                ErrorKind::Config,
                format!("CONVO_NOW: expected a time, got '{text}'"),
            )
            .hint("use RFC 3339, e.g. 2026-11-20T18:02:03Z, or seconds since 1970")),
        }
    }

    /// Whether `CONVO_NOW` fixes the time; filters use the clock only in that case.
    pub fn is_fixed(&self) -> bool {
        self.fixed.is_some()
    }

    /// The current time.
    pub fn timestamp(&self) -> Timestamp {
        self.fixed.unwrap_or_else(Timestamp::now)
    }

    /// The current time to the second, in UTC: `2026-11-20T18:02:03Z`.
    pub fn now(&self) -> String {
        self.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// The stem of a new session's id: `session_20261120_180203`.
    pub fn session_stem(&self) -> String {
        self.timestamp().strftime("session_%Y%m%d_%H%M%S").to_string()
    }
}

/// A parsed time of another system.
#[derive(Debug, PartialEq, Eq)]
pub struct ParsedTime {
    /// RFC 3339 with an offset.
    pub time: String,
    /// Whether the text had no zone, so that the local one was used.
    pub naive: bool,
}

/// Parses the forms of ISO 8601 that programs write: with or without zone, date only, basic format, a space in place of
/// the `T`. A fraction and an offset are kept as written; a time without a zone gets the local one. `None` if the text
/// is not a time.
pub fn read(text: &str) -> Option<ParsedTime> {
    let text = text.trim();
    if is_rfc3339(text) {
        return Some(ParsedTime {
            time: text.to_string(),
            naive: false,
        });
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        let digits = text
            .bytes()
            .skip(10)
            .skip_while(|b| *b != b'.')
            .skip(1)
            .take_while(u8::is_ascii_digit)
            .count();
        let fraction = if digits == 0 {
            String::new()
        } else {
            moment.strftime("%.f").to_string()
        };
        return Some(ParsedTime {
            time: format!("{}{fraction}Z", moment.strftime("%Y-%m-%dT%H:%M:%S")),
            naive: false,
        });
    }
    let local: civil::DateTime = text
        .parse()
        .ok()
        .or_else(|| text.parse::<civil::Date>().ok().map(Into::into))?;
    let zoned = local.to_zoned(TimeZone::system()).ok()?;
    let fraction = match text.find('.') {
        Some(dot) => {
            let digits: String = text[dot + 1..].chars().take_while(char::is_ascii_digit).collect();
            format!(".{digits}")
        }
        None => String::new(),
    };
    let seconds = zoned.offset().seconds();
    let offset = if seconds == 0 {
        "Z".to_string()
    } else {
        zoned.strftime("%:z").to_string()
    };
    Some(ParsedTime {
        time: format!("{}{fraction}{offset}", local.strftime("%Y-%m-%dT%H:%M:%S")),
        naive: true,
    })
}

/// Whether the text is RFC 3339 as Go and the native format accept it: upper-case `T`, offset, a real date.
pub fn is_rfc3339(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = bytes.len() >= 20
        && bytes[..19]
            .iter()
            .zip(b"0000-00-00T00:00:00")
            .all(|(byte, pattern)| match pattern {
                b'0' => byte.is_ascii_digit(),
                _ => byte == pattern,
            });
    if !shape {
        return false;
    }
    let mut zone = &bytes[19..];
    if zone[0] == b'.' {
        let digits = zone[1..].iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            return false;
        }
        zone = &zone[1 + digits..];
    }
    let number = |two: &[u8]| u32::from(two[0] - b'0') * 10 + u32::from(two[1] - b'0');
    let zone_ok = match zone {
        b"Z" => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] if [h1, h2, m1, m2].iter().all(|b| b.is_ascii_digit()) => {
            number(&[*h1, *h2]) < 24 && number(&[*m1, *m2]) < 60
        }
        _ => false,
    };
    zone_ok
        && number(&bytes[11..13]) < 24
        && number(&bytes[14..16]) < 60
        && number(&bytes[17..19]) < 60
        && text[..10].parse::<civil::Date>().is_ok()
}

/// An RFC 3339 time as local time without zone, to the microsecond, without a zero fraction.
pub fn local(time: &str) -> Option<String> {
    let moment = time.parse::<Timestamp>().ok()?;
    let local = moment.to_zoned(TimeZone::system()).datetime();
    let text = local.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    match local.subsec_nanosecond() / 1000 {
        0 => Some(text),
        micros => Some(format!("{text}.{micros:06}")),
    }
}

/// The instant of an RFC 3339 time, to compare times of different zones.
pub fn moment(time: &str) -> Option<Timestamp> {
    time.parse().ok()
}

/// An RFC 3339 time in seconds since 1970, to compare times of different zones.
pub fn seconds(time: &str) -> Option<i64> {
    time.parse::<Timestamp>().ok().map(Timestamp::as_second)
}

/// Whether one RFC 3339 time is before the other; `None` if either is invalid.
pub fn is_before(one: &str, other: &str) -> Option<bool> {
    Some(one.parse::<Timestamp>().ok()? < other.parse::<Timestamp>().ok()?)
}

/// The time after a delay, in UTC, with milliseconds if there are any, and at most the latest representable time.
/// `None` if the text is not a time.
pub fn later(time: &str, by: Duration) -> Option<String> {
    let moment = time.parse::<Timestamp>().ok()?;
    let moment = moment.checked_add(by).unwrap_or(Timestamp::MAX);
    Some(to_milliseconds(moment))
}

fn to_milliseconds(moment: Timestamp) -> String {
    let fraction = match moment.subsec_millisecond() {
        0 => String::new(),
        milliseconds => format!(".{milliseconds:03}"),
    };
    format!("{}{fraction}Z", moment.strftime("%Y-%m-%dT%H:%M:%S"))
}

/// An RFC 3339 time in seconds since 1970 with a fraction.
pub fn epoch(time: &str) -> Option<f64> {
    let moment = time.parse::<Timestamp>().ok()?;
    // Whole microseconds are exact; a sum of seconds and a fraction is not.
    Some(moment.as_microsecond() as f64 / 1e6)
}

/// Seconds since 1970 as RFC 3339 in UTC, to the microsecond; `None` if out of range.
pub fn from_epoch(seconds: f64) -> Option<String> {
    let microseconds = (seconds * 1e6).round();
    if !seconds.is_finite() || microseconds.abs() > 2.6e17 {
        return None;
    }
    let moment = Timestamp::from_microsecond(microseconds as i64).ok()?;
    Some(moment.strftime("%Y-%m-%dT%H:%M:%S%.fZ").to_string())
}

/// Decimal seconds since 1970 as RFC 3339 in UTC: keeps the digits of the fraction, unless it is zero. `None` if not a
/// number, or out of range.
pub fn from_digits(seconds: &str) -> Option<String> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return from_epoch(seconds.parse().ok()?);
    }
    let moment = Timestamp::from_second(whole.parse().ok()?).ok()?;
    let time = moment.strftime("%Y-%m-%dT%H:%M:%S");
    // More than nanoseconds cannot be represented.
    let fraction = &fraction[..fraction.len().min(9)];
    Some(match fraction.bytes().all(|byte| byte == b'0') {
        true => format!("{time}Z"),
        false => format!("{time}.{fraction}Z"),
    })
}

/// An RFC 3339 time in milliseconds since 1970.
pub fn milliseconds(time: &str) -> Option<i64> {
    time.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// Milliseconds since 1970 as RFC 3339 in UTC, with a fraction if it is not zero; `None` if out of range.
pub fn from_milliseconds(milliseconds: i64) -> Option<String> {
    Some(to_milliseconds(Timestamp::from_millisecond(milliseconds).ok()?))
}

/// The day of an RFC 3339 time, in UTC or in the local time zone (`TZ`).
pub fn day(time: &str, utc: bool) -> Option<civil::Date> {
    let zone = if utc { TimeZone::UTC } else { TimeZone::system() };
    Some(time.parse::<Timestamp>().ok()?.to_zoned(zone).date())
}

/// The Monday of the week of a day.
pub fn monday(day: civil::Date) -> civil::Date {
    let since = day.weekday().to_monday_zero_offset();
    day.checked_sub(jiff::Span::new().days(since)).unwrap_or(day)
}

/// The day of an RFC 3339 time in the local time zone (`TZ`): `2026-11-20`.
pub fn local_day(time: &str) -> Option<String> {
    let moment = time.parse::<Timestamp>().ok()?;
    Some(moment.to_zoned(TimeZone::system()).date().to_string())
}

/// Parses a duration: a number and `ms`, `s`, `m`, `h`, `d` or `w`; a bare number is seconds.
///
/// # Errors
/// What was expected.
pub fn duration(text: &str) -> std::result::Result<Duration, String> {
    const EXPECTED: &str = "expected a duration, e.g. 500ms, 10s, 6h, 7d";
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor: u64 = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return Err(EXPECTED.to_string()),
    };
    let number: u64 = number.parse().map_err(|_| EXPECTED.to_string())?;
    number
        .checked_mul(factor)
        .map(Duration::from_millis)
        .ok_or_else(|| "duration too long".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339_is_distinguished_from_similar_text() {
        for good in ["2026-03-01T09:00:00Z", "2026-03-01T09:00:00.123456789123+02:00"] {
            assert!(is_rfc3339(good), "{good}");
        }
        for bad in [
            "2026-03-01T09:00:00", "2026-03-01t09:00:00z", "2026-02-30T09:00:00Z", "2026-03-01T25:00:00Z",
            "2026-03-01T09:00:00.Z", "yesterday", "2026-03-01T09:00:00+2:00", "2026-03-01T09:00:00+24:00",
        ] {
            assert!(!is_rfc3339(bad), "{bad}");
        }
    }

    #[test]
    fn times_are_limited_to_the_latest_representable_one() {
        let hour = Duration::from_secs(3600);
        assert_eq!(
            later("2026-03-01T09:00:00+01:00", hour).as_deref(),
            Some("2026-03-01T09:00:00Z")
        );
        for by in [Duration::from_secs(400_000_000_000), Duration::MAX] {
            assert_eq!(
                later("2026-03-01T09:00:00Z", by).as_deref(),
                Some("9999-12-30T22:00:00.999Z")
            );
        }
        assert_eq!(later("soon", hour), None);
    }

    #[test]
    fn valid_times_keep_their_notation() {
        let same = "2026-01-02T03:04:05.678+08:00";
        assert_eq!(
            read(same),
            Some(ParsedTime {
                time: same.to_string(),
                naive: false
            })
        );
        assert!(read("2026-08-20T09:00:02.500034").is_some_and(|r| r.naive && r.time.contains("02.500034")));
        assert!(read("2026-08-20").is_some_and(|r| r.naive && r.time.starts_with("2026-08-20T00:00:00")));
        assert!(read("20260820T090002").is_some());
        assert_eq!(read("soon"), None);
    }

    #[test]
    fn epochs_have_fractions() {
        for (seconds, text) in [
            (0.0, "1970-01-01T00:00:00Z"),
            (1_765_700_001.25, "2025-12-14T08:13:21.25Z"),
            (-1.5, "1969-12-31T23:59:58.5Z"),
        ] {
            assert_eq!(from_epoch(seconds).as_deref(), Some(text));
            assert_eq!(epoch(text), Some(seconds));
        }
        for none in [f64::NAN, f64::INFINITY, 1e300, -1e18] {
            assert_eq!(from_epoch(none), None);
        }
    }

    #[test]
    fn seconds_keep_their_digits() {
        for (seconds, text) in [
            ("1784164544.946", "2026-07-16T01:15:44.946Z"),
            ("1784164500.0", "2026-07-16T01:15:00Z"),
            ("1784164500", "2026-07-16T01:15:00Z"),
            ("1780612038.7714680", "2026-06-04T22:27:18.7714680Z"),
            ("0.12345678912345", "1970-01-01T00:00:00.123456789Z"),
            ("-1.5", "1969-12-31T23:59:58.5Z"),
            ("1.5e3", "1970-01-01T00:25:00Z"),
        ] {
            assert_eq!(from_digits(seconds).as_deref(), Some(text), "{seconds}");
        }
        for none in ["", "null", ".5.", "99999999999999999999", "1e300", "NaN"] {
            assert_eq!(from_digits(none), None, "{none}");
        }
    }

    #[test]
    fn now_can_be_fixed() {
        let clock = Clock::new(Some("2026-11-20T18:02:03Z")).unwrap();
        assert_eq!(clock.now(), "2026-11-20T18:02:03Z");
        assert_eq!(clock.session_stem(), "session_20261120_180203");
        assert_eq!(Clock::new(Some("0")).unwrap().now(), "1970-01-01T00:00:00Z");
        assert!(Clock::new(Some("soon")).is_err());
    }
}
