//! Options that select the messages to drop or to keep.

use super::{InputLocation, category};
use crate::errors::named;
use crate::input::regular;
use crate::output::path_name;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use convo::error::{Error, Result};
use convo::filter::drop::DropSelection;
use convo::filter::select::Selection;
use convo::model::message::Category;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Conditions of messages.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = true)]
#[command(next_help_heading = "Messages")]
pub struct MessageConditions {
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
    /// The messages whose ids are the lines of FILE, or of - for standard input
    ///
    /// Every id must be in the view. Empty lines and lines that begin with # are ignored, and so is what follows an id on
    /// its line.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    plan: Option<PathBuf>,
}

/// Parses a number, or an inclusive range `A..B`, `A..` or `..B`.
fn exchanges(text: &str) -> std::result::Result<RangeInclusive<usize>, String> {
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

impl MessageConditions {
    /// Returns the selection; with `keeps`, all other messages are dropped.
    ///
    /// # Errors
    /// If the plan cannot be read or contains no id, or if the plan and an input are both standard input.
    pub fn choice(&self, inputs: &[InputLocation], keeps: bool) -> Result<DropSelection> {
        if self.plan.as_deref() == Some(Path::new("-")) && inputs.contains(&InputLocation::Stdin) {
            let error = Error::usage("--plan - and the input both read standard input");
            return Err(error.hint("give the plan or the session as a file"));
        }
        let planned = self.plan.as_deref().map(planned).transpose()?;
        Ok(DropSelection {
            planned: planned.unwrap_or_default(),
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
        })
    }
}

/// Reads the ids of a plan, with their line numbers.
fn planned(path: &Path) -> Result<Vec<(String, usize)>> {
    let label = path_name(path);
    let text = match path == Path::new("-") {
        true => io::read_to_string(io::stdin()),
        false => regular::read_text(path),
    }
    .map_err(|error| named(Error::io("cannot read the plan", error), &label))?;
    let ids = text.lines().zip(1..).filter_map(|(line, number)| {
        let id = line.split_whitespace().next()?;
        (!id.starts_with('#')).then(|| (id.to_string(), number))
    });
    let ids: Vec<_> = ids.collect();
    match ids.is_empty() {
        true => Err(named(Error::usage("the plan has no ids"), &label)),
        false => Ok(ids),
    }
}
