//! The retention periods after which programs delete sessions automatically.

/// Seconds per day.
pub(super) const DAY: i64 = 86_400;

/// Seconds per week.
pub const WEEK: i64 = 7 * DAY;

/// How long a program keeps sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The period in seconds.
    pub seconds: i64,
    /// The setting that changes it.
    pub setting: &'static str,
    /// The value of the setting; `None` if the default applies.
    pub value: Option<String>,
    /// The start of the period: `mtime` of the file, or `lastUpdated` of the session.
    pub by: &'static str,
}

impl Retention {
    /// Returns the time from which a session may be deleted, from the time of its file and that of its newest record.
    /// All times are in seconds since 1970.
    pub fn due(&self, modified: i64, updated: Option<i64>) -> i64 {
        let from = match self.by {
            "mtime" => modified,
            _ => updated.unwrap_or(modified),
        };
        from.saturating_add(self.seconds)
    }

    /// Formats the period: `30d`, `12h`.
    pub fn shown(&self) -> String {
        match self.seconds % DAY {
            0 => format!("{}d", self.seconds / DAY),
            _ => format!("{}h", self.seconds / 3600),
        }
    }
}

/// Parses a period of a settings file: a number and `h`, `d`, `w`, or `m` for months of 30 days; returns seconds.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at(
        text.len()
            .checked_sub(1)
            .filter(|at| text.is_char_boundary(*at))?,
    );
    let unit = match unit {
        "h" => 3600,
        "d" => DAY,
        "w" => WEEK,
        "m" => 30 * DAY,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_settings() {
        assert_eq!(seconds("30d"), Some(30 * DAY));
        assert_eq!(seconds("12h"), Some(43_200));
        for bad in ["", "d", "30", "30 d", "\u{e9}", "99999999999999999d"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
        let retention = Retention {
            seconds: 30 * DAY,
            setting: "x",
            value: None,
            by: "mtime",
        };
        assert_eq!(
            (retention.shown(), retention.due(5, Some(1))),
            ("30d".to_string(), 30 * DAY + 5)
        );
    }
}
