//! Options of HTML pages.

use clap::Args;
use convo::error::{Error, Result};
use convo::format::page::{PageOptions, PageThinking, Theme};
use convo::format::{Format, training};

/// Contents of HTML pages.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Pages (--to html)")]
pub struct PageArgs {
    /// Include hidden messages, marked, and the changes of the view
    #[arg(long, hide_short_help = true)]
    hidden: bool,
    /// Reasoning: fold, show, drop [default: fold]
    ///
    /// Of training data (cat --to openai-finetune, trl): drop, inline (in <think>), field (reasoning_content) [default: drop].
    #[arg(long, value_name = "HOW", value_parser = thinking, hide_short_help = true)]
    thinking: Option<Reasoning>,
    /// Largest image on a page, or none [default: 256K]
    ///
    /// Of a larger image, the page has the type, the size and the SHA-256. A page has at most 8 MiB of images.
    #[arg(long, value_name = "SIZE", value_parser = size, hide_short_help = true)]
    max_image: Option<usize>,
    /// Lines of a tool result on a page [default: 400]
    #[arg(long, value_name = "LINES", hide_short_help = true)]
    tool_output: Option<u32>,
    /// Colors: auto, light, dark [default: auto]
    ///
    /// auto: as the reader's system prefers.
    #[arg(long, value_name = "COLORS", value_parser = theme, hide_short_help = true)]
    theme: Option<Theme>,
    /// Write pages without the script of the filter and the keys
    #[arg(long, hide_short_help = true)]
    no_script: bool,
}

impl PageArgs {
    /// The name of the first option given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--hidden", self.hidden),
            ("--thinking", self.thinking.is_some()),
            ("--max-image", self.max_image.is_some()),
            ("--tool-output", self.tool_output.is_some()),
            ("--theme", self.theme.is_some()),
            ("--no-script", self.no_script),
        ];
        let given = options.into_iter().find(|(_, is_given)| *is_given);
        given.map(|(name, _)| name)
    }

    /// Splits off how training data encodes reasoning, and returns it with the other options.
    ///
    /// # Errors
    /// A usage error for a value that is only valid for pages.
    pub fn take_training(mut self) -> Result<(Option<training::TrainingThinking>, PageArgs)> {
        match self.thinking.take() {
            None => Ok((None, self)),
            Some(Reasoning {
                training: Some(how), ..
            }) => Ok((Some(how), self)),
            Some(_) => {
                let error = Error::usage("--thinking fold and show require --to html");
                Err(error.hint("use drop, inline or field"))
            }
        }
    }

    /// Returns the page options for this format.
    ///
    /// # Errors
    /// A usage error for an option that requires another format.
    pub fn options(&self, to: Format) -> Result<PageOptions> {
        if let Some(name) = self.given().filter(|_| to != Format::Html) {
            let what = format!("{name} requires --to html");
            return Err(Error::usage(what).hint(format!("add --to html, or omit {name}")));
        }
        let thinking = match self.thinking {
            None => None,
            Some(Reasoning { page: Some(page), .. }) => Some(page),
            Some(_) => {
                let what = "--thinking inline and field require --to openai-finetune or --to trl";
                return Err(Error::usage(what));
            }
        };
        let defaults = PageOptions::default();
        let lines = self.tool_output.map(|lines| lines as usize);
        Ok(PageOptions {
            hidden: self.hidden,
            thinking: thinking.unwrap_or(defaults.thinking),
            largest_image: self.max_image.unwrap_or(defaults.largest_image),
            tool_lines: lines.unwrap_or(defaults.tool_lines),
            theme: self.theme.unwrap_or(defaults.theme),
            script: !self.no_script,
            ..defaults
        })
    }
}

/// How reasoning is written, on pages and in training data; none if not supported there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reasoning {
    page: Option<PageThinking>,
    training: Option<training::TrainingThinking>,
}

fn thinking(text: &str) -> std::result::Result<Reasoning, &'static str> {
    let (page, training) = match text {
        "fold" => (Some(PageThinking::Fold), None),
        "show" => (Some(PageThinking::Show), None),
        "drop" => (Some(PageThinking::Drop), Some(training::TrainingThinking::Drop)),
        "inline" => (None, Some(training::TrainingThinking::Inline)),
        "field" => (None, Some(training::TrainingThinking::Field)),
        _ => return Err("expected fold, show or drop; of training data drop, inline or field"),
    };
    Ok(Reasoning { page, training })
}

fn theme(text: &str) -> std::result::Result<Theme, &'static str> {
    Theme::from_name(text).ok_or("expected auto, light or dark")
}

/// Parses a size in bytes: a number, with K or M for KiB or MiB; 'none' is 0.
fn size(text: &str) -> std::result::Result<usize, &'static str> {
    let (number, unit) = match text.as_bytes().last() {
        _ if text == "none" => ("0", 1),
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let bytes = number
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_mul(unit));
    bytes.ok_or("expected a number of bytes such as 65536, 64K or 1M, or none")
}
