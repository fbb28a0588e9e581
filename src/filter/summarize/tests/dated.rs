//! Tests relative dates on a Tuesday at the end of February in a leap year, and texts that are not dates.

use super::super::dates;
use super::*;

#[test]
fn relative_dates_get_their_day() {
    let day = dates::day("2028-02-29T23:59:00-11:00").unwrap();
    let cases = [
        ("I left YESTERDAY", " [=02-28]"),
        ("it was last night", " [=02-28]"),
        ("we go tomorrow", " [=03-01]"),
        ("the  day\nbefore yesterday", " [=02-27]"),
        ("the day after tomorrow", " [=03-02]"),
        ("a day ago", " [=02-28]"),
        ("sixty days ago or 60 days ago", " [=2027-12-31]"),
        ("in ten days", " [=03-10]"),
        ("last tuesday", " [=02-22]"),
        ("next Tuesday", " [=03-07]"),
        ("last Monday", " [=02-28]"),
        ("last weekend", " [=2028-02-26/2028-02-27]"),
        ("this week", " [=2028-W09]"),
        ("two weeks ago", " [=2028-W07]"),
        ("in 1 week", " [=2028-W10]"),
        ("last month", " [=2028-01]"),
        ("in eleven months, in ten months", " [=2028-12]"),
        ("three months ago", " [=2027-11]"),
        ("this year", " [=2028]"),
        ("nine years ago", " [=2019]"),
    ];
    for (text, mark) in cases {
        let marked = dates::mark(text, day, Dates::Short);
        assert_eq!(marked, format!("{text}{mark}"));
        assert_eq!(dates::unmark(&marked, day), text);
    }
    let none = [
        "yesterdays",
        "last",
        "next time",
        "in two",
        "99999999 days ago",
        "last, week",
        "in 5 years",
        "today",
        "this evening",
        "a_yesterday",
        "two ago",
        "last weekends",
        "the movie Yesterday",
        "we read The Day After Tomorrow",
    ];
    for text in none {
        assert_eq!(dates::mark(text, day, Dates::Short), text);
    }
    assert_eq!(dates::mark("Today", day, Dates::Full), "Today [=2028-02-29]");
    assert_eq!(dates::mark("yesterday", day, Dates::Off), "yesterday");
    let first = dates::day("0000-01-01").unwrap();
    assert_eq!(
        dates::mark(
            "99999 days ago, 99999 years ago, two months ago",
            first,
            Dates::Full
        )
        .matches("[=")
        .count(),
        0
    );
}

#[test]
fn a_date_mark_typed_by_a_user_is_unchanged() {
    let day = dates::day("2028-02-29").unwrap();
    for text in [
        "yesterday [=01-01]", "[=02-28]", "a [=2028] b", "yesterday, [=02-28]",
    ] {
        assert_eq!(dates::unmark(text, day), text);
    }
}

#[test]
fn a_day_is_read_from_the_front_of_a_time() {
    for good in [
        "2026-03-11", "2026-03-11T01:00:00Z", "2026-03-11 01:00", "2026-03-11T23:00:00-12:00",
    ] {
        assert_eq!(dates::day(good).unwrap().to_string(), "2026-03-11");
    }
    for bad in [
        "", "2026-02-30", "2026-3-11T", "20260311T010000Z", "2026-03-111", "soon", "日本語日本語",
    ] {
        assert_eq!(dates::day(bad), None, "{bad}");
    }
}
