//! Messages chosen by role and category, for the commands that print them.

use clap::Args;
use convo::filter::select::Selection;
use convo::model::message::Category;

/// Which messages are printed.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Filter")]
pub struct Selecting {
    /// Print only messages of this role: user, assistant, ... (repeatable)
    ///
    /// A tool call and its results are printed together if one of them matches. If no message matches, the exit status
    /// is 1, and the roles and categories in the view are listed.
    #[arg(short, long, value_name = "ROLE", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    role: Vec<String>,
    /// Print only messages of this category (repeatable)
    ///
    /// Categories: system, context, dialog, system_output. With --role, prints the messages that match both.
    #[arg(long, value_name = "CATEGORY", value_parser = category)]
    category: Vec<Category>,
}

/// A category by name.
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
        };
        Some(selection).filter(|selection| !selection.is_empty())
    }
}
