//! Options of HTML pages.

use clap::Args;
use convo::error::{Error, Kind, Result};
use convo::format::Format;
use convo::format::page::{PageOptions, Theme, Thinking};

/// Contents of HTML pages.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Pages (--to html)")]
pub struct PageArgs {
    /// Include hidden messages, marked, and the changes of the view
    #[arg(long, hide_short_help = true)]
    hidden: bool,
    /// Reasoning: fold, show, drop [default: fold]
    #[arg(long, value_name = "HOW", value_parser = thinking, hide_short_help = true)]
    thinking: Option<Thinking>,
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
    /// The first option that is given.
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

    /// The options of pages in this format.
    ///
    /// # Errors
    /// [`Kind::Usage`] for an option that has no effect in another format.
    pub fn options(&self, to: Format) -> Result<PageOptions> {
        if let Some(name) = self.given().filter(|_| to != Format::Html) {
            let what = format!("{name} requires --to html");
            return Err(Error::new(Kind::Usage, what).hint(format!("add --to html, or omit {name}")));
        }
        let defaults = PageOptions::default();
        let lines = self.tool_output.map(|lines| lines as usize);
        Ok(PageOptions {
            hidden: self.hidden,
            thinking: self.thinking.unwrap_or(defaults.thinking),
            largest_image: self.max_image.unwrap_or(defaults.largest_image),
            tool_lines: lines.unwrap_or(defaults.tool_lines),
            theme: self.theme.unwrap_or(defaults.theme),
            script: !self.no_script,
            ..defaults
        })
    }
}

fn thinking(text: &str) -> std::result::Result<Thinking, &'static str> {
    match text {
        "fold" => Ok(Thinking::Fold),
        "show" => Ok(Thinking::Show),
        "drop" => Ok(Thinking::Drop),
        _ => Err("expected fold, show or drop"),
    }
}

fn theme(text: &str) -> std::result::Result<Theme, &'static str> {
    match text {
        "auto" => Ok(Theme::Auto),
        "light" => Ok(Theme::Light),
        "dark" => Ok(Theme::Dark),
        _ => Err("expected auto, light or dark"),
    }
}

/// Bytes: a number, with K or M for KiB or MiB; none: 0.
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
