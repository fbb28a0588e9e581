//! Options that select the messages to print.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use convo::filter::select::{Exchanges, Selection};
use convo::model::message::Category;

/// The messages to print.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Filter")]
pub struct Selecting {
    /// Print only the newest N exchanges
    ///
    /// An exchange is a user message and everything up to the next one.
    #[arg(short = 'n', long, value_name = "N", value_parser = count)]
    last: Option<usize>,
    /// Print only the oldest N exchanges
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "last", hide_short_help = true)]
    first: Option<usize>,
    /// Print only messages of this role: user, assistant, ... (repeatable)
    ///
    /// A tool call and its results are printed together if one of them matches. If no message matches, the exit status
    /// is 1, and the roles, categories and tools in the view are listed.
    #[arg(short, long, value_name = "ROLE", value_parser = NonEmptyStringValueParser::new())]
    role: Vec<String>,
    /// Print only messages of this category (repeatable)
    ///
    /// Categories: system, context, dialog, system_output. With --role, prints the messages that match both.
    #[arg(long, value_name = "CATEGORY", value_parser = category)]
    category: Vec<Category>,
    /// Print only calls of this tool and their results (repeatable)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), hide_short_help = true)]
    tool: Vec<String>,
    /// Print only messages that contain TEXT, ignoring case
    ///
    /// Searches the text, and the names and arguments of tool calls.
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new(), hide_short_help = true)]
    grep: Option<String>,
    /// Print only the message with this id (repeatable)
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new(), hide_short_help = true)]
    message: Vec<String>,
}

/// Parses a number of exchanges.
fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of exchanges from 1".to_string()),
        Ok(count) => Ok(count),
    }
}

/// Parses the name of a category.
pub fn category(name: &str) -> Result<Category, String> {
    Category::from_name(name)
        .ok_or_else(|| format!("expected one of {}", Category::ALL.map(Category::name).join(", ")))
}

impl Selecting {
    /// The filter; none if every message matches.
    pub fn selection(&self) -> Option<Selection> {
        let selection = Selection {
            roles: self.role.clone(),
            categories: self.category.clone(),
            tools: self.tool.clone(),
            ids: self.message.clone(),
            text: self.grep.clone(),
            exchanges: match (self.first, self.last) {
                (Some(count), _) => Some(Exchanges::First(count)),
                (None, count) => count.map(Exchanges::Last),
            },
        };
        Some(selection).filter(|selection| !selection.is_empty())
    }
}
