//! Adds absolute dates after relative ones, so that a sentence read weeks later still identifies its day.

use crate::model::named_enum::named_enum;
use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use std::borrow::Cow;

named_enum! {
    /// How dates are shown.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Dates {
        /// Day lines, and absolute dates after relative ones. An absolute date omits the year if it is the message's
        /// own, and is omitted entirely for the message's own day.
        #[default]
        Short = "short",
        /// Like `Short`, but with complete dates.
        Full = "full",
        /// No day lines and no absolute dates.
        Off = "off",
    }
}

/// The day of a timestamp in its own time zone: the first ten characters of `2026-03-11T09:00:00+01:00`.
pub fn day(timestamp: &str) -> Option<Date> {
    let (day, rest) = timestamp.trim_start().split_at_checked(10)?;
    let shape = day
        .bytes()
        .zip(*b"0000-00-00")
        .all(|(byte, pattern)| match pattern {
            b'0' => byte.is_ascii_digit(),
            _ => byte == pattern,
        });
    let ends = rest.is_empty() || rest.starts_with(['T', 't', ' ']);
    day.parse().ok().filter(|_| shape && ends)
}

/// Adds absolute dates to a text, relative to this day.
pub fn mark(text: &str, day: Date, dates: Dates) -> Cow<'_, str> {
    let found = relative(text, day);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut done = 0;
    for (end, when) in found {
        if let Some(mark) = when.mark(day, dates) {
            out.push_str(&text[done..end]);
            out.push_str(&mark);
            done = end;
        }
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Reverts [`mark`]: removes exactly the dates that it would add.
pub fn unmark(text: &str, day: Date) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (end, when) in relative(text, day) {
        let marks = [Dates::Full, Dates::Short].map(|dates| when.mark(day, dates));
        let mark = marks
            .into_iter()
            .flatten()
            .find(|mark| text[end..].starts_with(mark));
        if let Some(mark) = mark {
            out.push_str(&text[done..end]);
            done = end + mark.len();
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Finds the relative dates in a text: the end of each, and its meaning relative to this day.
fn relative(text: &str, day: Date) -> Vec<(usize, DateSpec)> {
    let lower = text.to_ascii_lowercase();
    let words = words(&lower);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        // The longest phrase has four words: "the day before yesterday".
        let may_start = starts_date(words[at].text) && !is_of_title(text, &words[at]);
        let most = (words.len() - at).min(if may_start { 4 } else { 0 });
        let longest = (1..=most)
            .rev()
            .filter(|length| together(text, &words[at..at + length]))
            .find_map(|length| when(&words[at..at + length], day).map(|when| (length, when)));
        match longest {
            Some((length, when)) => {
                at += length;
                found.push((words[at - 1].end(), when));
            }
            None => at += 1,
        }
    }
    found
}

/// Whether a relative date can begin with a word.
fn starts_date(word: &str) -> bool {
    let named = matches!(
        word,
        "today" | "tonight" | "this" | "yesterday" | "last" | "tomorrow" | "the" | "day" | "next" | "in"
    );
    named || number(word).is_some()
}

/// Whether a word within a sentence begins with a capital letter, like one of a title: "the movie Yesterday".
fn is_of_title(text: &str, word: &DateWord<'_>) -> bool {
    let before = text[..word.start].trim_end_matches(' ').chars().next_back();
    let mut letters = text[word.start..word.end()].chars();
    before.is_some_and(char::is_alphanumeric)
        && letters.next().is_some_and(char::is_uppercase)
        && letters.any(char::is_lowercase)
}

/// A day, a range of days, or a less precise date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DateSpec {
    Day(Date),
    Days(Date, Date),
    Week(Date),
    /// Year and month.
    Month(i16, i8),
    Year(i16),
}

impl DateSpec {
    fn mark(self, own: Date, dates: Dates) -> Option<String> {
        self.show(own, dates).map(|date| format!(" [={date}]"))
    }

    fn show(self, own: Date, dates: Dates) -> Option<String> {
        let year = match self {
            DateSpec::Day(day) | DateSpec::Days(day, _) | DateSpec::Week(day) => day.year(),
            DateSpec::Month(year, _) | DateSpec::Year(year) => year,
        };
        // Years before 1 cannot be written in four digits.
        if year < 1 {
            return None;
        }
        match (self, dates) {
            (_, Dates::Off) => None,
            (DateSpec::Day(day), Dates::Short) if day == own => None,
            (DateSpec::Day(day), Dates::Short) if day.year() == own.year() => {
                Some(format!("{:02}-{:02}", day.month(), day.day()))
            }
            (DateSpec::Day(day), _) => Some(day.to_string()),
            (DateSpec::Days(first, last), _) => Some(format!("{first}/{last}")),
            (DateSpec::Week(day), _) => {
                let week = day.iso_week_date();
                Some(format!("{:04}-W{:02}", week.year(), week.week()))
            }
            (DateSpec::Month(year, month), _) => Some(format!("{year:04}-{month:02}")),
            (DateSpec::Year(year), _) => Some(format!("{year:04}")),
        }
    }
}

/// A word in lower case with its position.
struct DateWord<'t> {
    text: &'t str,
    start: usize,
}

impl DateWord<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

fn words(text: &str) -> Vec<DateWord<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let belongs = c.is_alphanumeric() || c == '_';
        match start {
            None if belongs => start = Some(at),
            Some(from) if !belongs => {
                start = None;
                found.push(DateWord {
                    text: &text[from..at],
                    start: from,
                });
            }
            _ => {}
        }
    }
    found
}

/// Whether only white space lies between the words.
fn together(text: &str, words: &[DateWord<'_>]) -> bool {
    let mut pairs = words.windows(2);
    pairs.all(|pair| {
        text[pair[0].end()..pair[1].start]
            .chars()
            .all(char::is_whitespace)
    })
}

/// The meaning of exactly these words relative to this day.
fn when(words: &[DateWord<'_>], day: Date) -> Option<DateSpec> {
    let mut texts = [""; 4];
    for (text, word) in texts.iter_mut().zip(words) {
        *text = word.text;
    }
    match &texts[..words.len()] {
        ["today" | "tonight"] | ["this", "morning" | "afternoon" | "evening"] => away(day, 0),
        ["yesterday"] | ["last", "night"] => away(day, -1),
        ["tomorrow"] => away(day, 1),
        ["the", "day", "before", "yesterday"] | ["day", "before", "yesterday"] => away(day, -2),
        ["the", "day", "after", "tomorrow"] | ["day", "after", "tomorrow"] => away(day, 2),
        ["last", "weekend"] => {
            let saturday = day.nth_weekday(-1, Weekday::Saturday).ok()?;
            Some(DateSpec::Days(saturday, saturday.tomorrow().ok()?))
        }
        [
            direction @ ("last" | "this" | "next"),
            unit @ ("week" | "month" | "year"),
        ] => {
            let step = match *direction {
                "last" => -1,
                "next" => 1,
                _ => 0,
            };
            distant(day, step, unit)
        }
        [direction @ ("last" | "next"), name] => {
            let nth = if *direction == "last" { -1 } else { 1 };
            day.nth_weekday(nth, weekday(name)?).ok().map(DateSpec::Day)
        }
        [count, unit, "ago"] => distant(day, -number(count)?, singular(unit)),
        ["in", count, unit] if singular(unit) != "year" => distant(day, number(count)?, singular(unit)),
        _ => None,
    }
}

fn away(day: Date, days: i64) -> Option<DateSpec> {
    day.checked_add(days.days()).ok().map(DateSpec::Day)
}

fn distant(day: Date, step: i64, unit: &str) -> Option<DateSpec> {
    match unit {
        "day" => away(day, step),
        "week" => day.checked_add(step.weeks()).ok().map(DateSpec::Week),
        "month" => {
            let months = i64::from(day.year()) * 12 + i64::from(day.month()) - 1 + step;
            let year = i16::try_from(months.div_euclid(12))
                .ok()
                .filter(|year| *year >= 0)?;
            Some(DateSpec::Month(year, months.rem_euclid(12) as i8 + 1))
        }
        "year" => {
            let year = i16::try_from(i64::from(day.year()) + step).ok();
            year.filter(|year| (0..=9999).contains(year)).map(DateSpec::Year)
        }
        _ => None,
    }
}

fn singular(unit: &str) -> &str {
    match unit {
        "days" => "day",
        "weeks" => "week",
        "months" => "month",
        "years" => "year",
        other => other,
    }
}

fn number(text: &str) -> Option<i64> {
    const NAMES: [&str; 10] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    if matches!(text, "a" | "an") {
        return Some(1);
    }
    match NAMES.iter().position(|name| *name == text) {
        Some(at) => Some(at as i64 + 1),
        // Five digits exceed any calendar here and cannot overflow the sum.
        None if text.len() <= 5 && text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}

fn weekday(name: &str) -> Option<Weekday> {
    Some(match name {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}
