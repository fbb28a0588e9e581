//! Parses the values of options and settings.

use crate::args::per_cent;
use convo::filter::compact::{Media, ThinkingOption};
use convo::model::message::Category;
use convo::model::retention::Overflow;

/// Parses the number of exchanges to keep; 0 if omitted.
pub fn exchanges(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("expected at least 1; drop all messages with: convo truncate --keep-last 0".to_string()),
        Ok(number) => Ok(number),
        Err(_) if text == "some" => Ok(0),
        Err(_) => Err("expected a number; without a number, give the option after the input".to_string()),
    }
}

/// Parses a category of messages that may be dropped.
pub fn category(name: &str) -> Result<Category, String> {
    match Category::from_name(name) {
        Some(Category::System) => Err("system messages are never dropped".to_string()),
        Some(category) => Ok(category),
        None => Err("expected system_output, dialog or context".to_string()),
    }
}

/// Checks that messages of this category may be dropped.
pub fn droppable(name: &str) -> Result<(), String> {
    category(name).map(drop)
}

/// Checks that a text is a category with its share of the budget.
pub fn budget_share(text: &str) -> Result<(), String> {
    category_share(text).map(drop)
}

/// Parses a category and its share of the budget.
pub fn category_share(text: &str) -> Result<(Category, u64), String> {
    let (name, share) = text
        .split_once('=')
        .ok_or("expected CATEGORY=SHARE, e.g. dialog=50%")?;
    Ok((category(name)?, per_cent(share)?))
}

/// Parses what happens to media.
pub fn media(name: &str) -> Result<Media, String> {
    Media::from_name(name).ok_or("expected keep-last, keep or drop".to_string())
}

/// Parses what happens to reasoning.
pub fn thinking(name: &str) -> Result<ThinkingOption, String> {
    ThinkingOption::from_name(name).ok_or("expected keep-open, keep or drop".to_string())
}

/// Parses what happens if a summary does not fit.
pub fn overflow(name: &str) -> Result<Overflow, String> {
    let mut all = Overflow::ALL.into_iter();
    all.find(|known| known.name().replace('_', "-") == name)
        .ok_or("expected truncate-oldest, truncate-summary or error".to_string())
}

/// Parses `MAX` or `MAX:TARGET`.
pub fn token_limit(text: &str) -> Option<(i64, i64)> {
    let (max, target) = text.split_once(':').unwrap_or((text, "0"));
    let number = |text: &str| text.parse::<u32>().ok().map(i64::from);
    Some((number(max)?, number(target)?))
}
