//! The messages to drop or to keep.

use super::category;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use convo::filter::drop::Choice;
use convo::filter::select::Selection;
use convo::model::message::Category;
use std::ops::RangeInclusive;

/// Conditions of messages.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = true)]
#[command(next_help_heading = "Messages")]
pub struct Choosing {
    /// Messages of exchanges by number, e.g. 3..5,8 or 7..
    ///
    /// Numbers count the exchanges in the view from 1, as `count --by exchange` lists them. Messages before the
    /// first question belong to exchange 1.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = exchanges)]
    exchange: Vec<RangeInclusive<usize>>,
    /// Messages of this role: user, assistant, tool, ... (repeatable)
    #[arg(short, long, value_name = "ROLE", value_parser = NonEmptyStringValueParser::new())]
    role: Vec<String>,
    /// Messages of this category (repeatable)
    #[arg(long, value_name = "CATEGORY", value_parser = category, hide_short_help = true)]
    category: Vec<Category>,
    /// Calls of this tool and their results (repeatable)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    tool: Vec<String>,
    /// Messages that contain TEXT, ignoring case
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    grep: Option<String>,
    /// The message with this id (repeatable)
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    message: Vec<String>,
}

/// A number, or a range `A..B`, `A..` or `..B` with both ends.
fn exchanges(text: &str) -> Result<RangeInclusive<usize>, String> {
    let number = |digits: &str| match digits.parse() {
        Ok(0) | Err(_) => Err("expected numbers from 1, e.g. 3..5,8".to_string()),
        Ok(number) => Ok(number),
    };
    let (first, last) = match text.split_once("..") {
        None => (number(text)?, number(text)?),
        Some(("", "")) => return Err("expected numbers from 1, e.g. 3..5,8".to_string()),
        Some((first, "")) => (number(first)?, usize::MAX),
        Some(("", last)) => (1, number(last)?),
        Some((first, last)) => (number(first)?, number(last)?),
    };
    match first <= last {
        true => Ok(first..=last),
        false => Err(format!("{first} is after {last}")),
    }
}

impl Choosing {
    /// The choice; `keeps`: all other messages are dropped.
    pub fn choice(&self, keeps: bool) -> Choice {
        Choice {
            selection: Selection {
                roles: self.role.clone(),
                categories: self.category.clone(),
                tools: self.tool.clone(),
                ids: self.message.clone(),
                text: self.grep.clone(),
                exchanges: None,
            },
            exchanges: self.exchange.clone(),
            keeps,
        }
    }
}
